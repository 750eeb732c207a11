//! Reports, compared with counting position by position with another library's rules.

use crate::formats::round_trips::read;
use crate::support::{FAMOUS, run, shared_data};
use cozy_chess::{Board, Color, Piece, Rank, Square};
use lanefish::chess::Position;
use lanefish::distinct::Sketch;
use lanefish::games::Speed;
use lanefish::input::{Inputs, Shard};
use lanefish::jobs::{FileOptions, GroupCounts, RecordFile, Statistics};
use lanefish::output::ScratchSpace;
use lanefish::pipeline::RunOptions;
use lanefish::report::{
    Details, GroupValue, Histogram, Matrix, RATING_BANDS, Report, Results, Signature, score_column,
};
use lanefish::stats::GroupBy;
use lanefish::table::{Batch, Field};
use lanefish::tiers::{Analyzer, Tier};
use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

/// Files of every format, with the number of records that are taken.
const FILES: [(&str, u64); 9] = [
    ("pgn/lichess_db_1000k.pgn", 6000),
    ("epd/endgames.half_a.epd.zst", 2000),
    ("epd/terminal_and_checks.half_a.epd.zst", 2000),
    ("epd/3moves_FRC.epd.zst", 2000),
    ("epd/DFRC_openings.sample_a.epd.zst", 1000),
    ("perft/random.half_a.perft", 2000),
    ("csv/lichess_db_puzzle.half_a.csv", 1000),
    ("jsonl/derived_eval_from_lichess_pgn.jsonl.zst", 2000),
    ("pgn/awkward", 2000),
];

/// Counts by number.
type Counts = BTreeMap<i64, u64>;

fn histogram(counts: &Counts, first: i64) -> Histogram {
    let Some((&last, _)) = counts.last_key_value() else {
        return Histogram::default();
    };
    let mut dense = vec![0; (last - first + 1) as usize];
    for (number, count) in counts {
        dense[(number - first) as usize] = *count;
    }
    Histogram::new(first, dense)
}

fn count(counts: &mut Counts, number: i64) {
    *counts.entry(number).or_default() += 1;
}

/// What is counted plainly.
#[derive(Default)]
struct Plain {
    report: Report,
    moves: Counts,
    pieces: Counts,
    phase: Counts,
    material: [Counts; 2],
    scores: Counts,
    ply: Counts,
    elo: [Counts; 2],
    elo_differences: Counts,
    /// Rating, deviation and popularity of puzzles; depth and moves to mate of evaluations.
    of_puzzles: [Counts; 3],
    of_evaluations: [Counts; 2],
    pieces_moves: BTreeMap<(usize, usize), u64>,
    both: BTreeMap<(usize, usize), u64>,
    phase_results: BTreeMap<(usize, usize), u64>,
    phase_scores: BTreeMap<(usize, usize), u64>,
    sums: Vec<i64>,
    details: Details,
    distinct: [HashSet<String>; 4],
    games: HashSet<i64>,
}

fn matrix(cells: &BTreeMap<(usize, usize), u64>) -> Matrix {
    let mut rows: Vec<Vec<u64>> = Vec::new();
    for (&(row, column), &count) in cells {
        rows.resize(rows.len().max(row + 1), Vec::new());
        let row = &mut rows[row];
        row.resize(row.len().max(column + 1), 0);
        row[column] = count;
    }
    Matrix::new(rows)
}

const PIECES: [Piece; 6] = [Piece::Pawn, Piece::Knight, Piece::Bishop, Piece::Rook, Piece::Queen, Piece::King];
const COLORS: [Color; 2] = [Color::White, Color::Black];

/// Counts a result, and returns its place: White won, draw, Black won, unknown.
fn count_result(results: &mut Results, result: Option<i64>) -> usize {
    let (known, place) = match result {
        Some(2) => (&mut results.white, 0),
        Some(1) => (&mut results.draw, 1),
        Some(0) => (&mut results.black, 2),
        _ => (&mut results.unknown, 3),
    };
    *known += 1;
    place
}

impl Plain {
    /// Adds a row of a batch.
    fn add(&mut self, batch: &Batch, row: usize) {
        let position = batch.position(row).unwrap();
        let board = board_of(&position);
        let report = &mut self.report;
        report.positions += 1;
        report.white_to_move += u64::from(board.side_to_move() == Color::White);
        let checkers = board.checkers();
        report.position_counts.in_check += u64::from(!checkers.is_empty());
        report.position_counts.double_check += u64::from(checkers.len() > 1);

        let mut moves = 0;
        let mut legal_en_passant = false;
        let them = board.colors(!board.side_to_move());
        board.generate_moves(|of_piece| {
            for mv in of_piece {
                moves += 1;
                let castles = of_piece.piece == Piece::King && board.colors(board.side_to_move()).has(mv.to);
                let en_passant =
                    of_piece.piece == Piece::Pawn && mv.from.file() != mv.to.file() && board.piece_on(mv.to).is_none();
                report.move_counts.castles += u64::from(castles);
                report.move_counts.en_passants += u64::from(en_passant);
                report.move_counts.captures += u64::from(en_passant || them.has(mv.to));
                report.move_counts.promotions += u64::from(mv.promotion.is_some());
                legal_en_passant |= en_passant;
            }
            false
        });
        count(&mut self.moves, moves);
        if moves == 0 {
            if checkers.is_empty() {
                report.position_counts.stalemate += 1;
            } else {
                report.position_counts.checkmate += 1;
            }
        }
        report.en_passant += u64::from(legal_en_passant);

        let mut phase = 0;
        let mut material = [0; 2];
        let mut signature = [[0u8; 5]; 2];
        for (side, color) in COLORS.into_iter().enumerate() {
            let mut attacked = cozy_chess::BitBoard::EMPTY;
            for (role, piece) in PIECES.into_iter().enumerate() {
                for square in board.colored_pieces(color, piece) {
                    report.occupancy[6 * side + role].0[square as usize] += 1;
                    material[side] += [1, 3, 3, 5, 9, 0][role];
                    phase += [0, 1, 1, 2, 4, 0][role];
                    if role < 5 {
                        signature[side][4 - role] += 1;
                    }
                    let occupied = board.occupied();
                    attacked |= match piece {
                        Piece::Pawn => cozy_chess::get_pawn_attacks(square, color),
                        Piece::Knight => cozy_chess::get_knight_moves(square),
                        Piece::Bishop => cozy_chess::get_bishop_moves(square, occupied),
                        Piece::Rook => cozy_chess::get_rook_moves(square, occupied),
                        Piece::Queen => {
                            cozy_chess::get_bishop_moves(square, occupied)
                                | cozy_chess::get_rook_moves(square, occupied)
                        }
                        Piece::King => cozy_chess::get_king_moves(square),
                    };
                }
            }
            for square in attacked {
                report.attacks[side].0[square as usize] += 1;
            }
            count(&mut self.material[side], material[side]);
        }
        let phase = phase.min(24);
        let pieces = board.occupied().len();
        count(&mut self.phase, phase);
        count(&mut self.pieces, pieces.into());
        let phase = phase as usize;

        let rights = COLORS.map(|color| *board.castle_rights(color));
        let [white, black] = rights;
        let some = [white.short, white.long, black.short, black.long].map(|right| right.is_some());
        let castling = &mut report.castling;
        castling.white_king += u64::from(some[0]);
        castling.white_queen += u64::from(some[1]);
        castling.black_king += u64::from(some[2]);
        castling.black_queen += u64::from(some[3]);
        if some.contains(&true) {
            castling.some += 1;
        } else {
            castling.none += 1;
        }

        let details = &mut self.details;
        *self.pieces_moves.entry((pieces as usize, moves as usize)).or_default() += 1;
        let both = (material[0] as usize, material[1] as usize);
        *self.both.entry(both).or_default() += 1;
        match Signature::from_pieces(signature) {
            Some(signature) => *details.signatures.entry(signature).or_default() += 1,
            None => details.other_signatures += 1,
        }
        for square in checkers {
            details.checkers.0[square as usize] += 1;
        }
        let mut castling_rooks = Vec::new();
        for (rights, rank) in rights.into_iter().zip([Rank::First, Rank::Eighth]) {
            for file in [rights.short, rights.long].into_iter().flatten() {
                let square = Square::new(file, rank);
                details.castling_rooks.0[square as usize] += 1;
                castling_rooks.push(square);
            }
        }
        let mut en_passant = None;
        if legal_en_passant {
            let rank = Rank::Third.relative_to(!board.side_to_move());
            let square = Square::new(board.en_passant().unwrap(), rank);
            details.en_passant.0[square as usize] += 1;
            en_passant = Some(square);
        }
        let fen = board.to_string();
        let mut key = fen.split(' ').next().unwrap().to_owned();
        let parts = [
            String::new(),
            format!(" {}", board.side_to_move()),
            format!(" {castling_rooks:?}"),
            format!(" {en_passant:?}"),
        ];
        for (level, part) in self.distinct.iter_mut().zip(parts) {
            key += &part;
            level.insert(key.clone());
        }
        self.add_fields(batch, row, phase);
    }

    fn add_fields(&mut self, batch: &Batch, row: usize, phase: usize) {
        let (report, details) = (&mut self.report, &mut self.details);
        let number = |field| batch.values(field).and_then(|values| values.number(row));
        let text = |field| batch.values(field).and_then(|values| values.text(row));
        let result = number(Field::Result);
        let column = count_result(&mut report.results, result);
        if number(Field::Game).is_some_and(|game| self.games.insert(game)) {
            count_result(&mut report.game_results, result);
        }
        *self.phase_results.entry((phase, column)).or_default() += 1;
        self.sums.resize(25, 0);
        if let Some(score) = number(Field::Score) {
            count(&mut self.scores, score);
            let column = score_column(score as i16);
            *self.phase_scores.entry((phase, column)).or_default() += 1;
            self.sums[phase] += score;
            if let Some(result @ 0..=2) = result {
                let is_white = batch.position(row).unwrap().side_to_move == lanefish::chess::Color::White;
                let (score, points) = if is_white { (score, result) } else { (-score, 2 - result) };
                let range = (-1500..1500).step_by(50).take_while(|first| score >= *first).count() as i64;
                let range = if score >= 1500 { 61 } else { range };
                let results = details.score_results.get_or_insert_default();
                let of_range = &mut results.phases[(phase / 6).min(4)][range as usize];
                of_range.counts[2 - points as usize] += 1;
            }
        }
        if let Some(mate) = number(Field::Mate) {
            let black_to_move = batch.position(row).unwrap().side_to_move == lanefish::chess::Color::Black;
            if mate > 0 || mate == 0 && black_to_move {
                report.mates.white += 1;
            } else {
                report.mates.black += 1;
            }
            report.evaluations.get_or_insert_default();
            count(&mut self.of_evaluations[1], mate.abs());
        }
        if let Some(depth) = number(Field::Depth) {
            report.evaluations.get_or_insert_default();
            count(&mut self.of_evaluations[0], depth);
        }
        if let Some(knodes) = number(Field::Knodes) {
            report.evaluations.get_or_insert_default().knodes.add(knodes as u64);
        }
        let fields = [Field::PuzzleRating, Field::RatingDeviation, Field::Popularity];
        for (counts, field) in self.of_puzzles.iter_mut().zip(fields) {
            if let Some(number) = number(field) {
                report.puzzles.get_or_insert_default();
                count(counts, number);
            }
        }
        if let Some(plays) = number(Field::Plays) {
            report.puzzles.get_or_insert_default().plays.add(plays as u64);
        }
        if let Some(themes) = text(Field::Themes) {
            let puzzles = report.puzzles.get_or_insert_default();
            puzzles.with_themes += 1;
            themes.split(' ').for_each(|theme| puzzles.themes.add(theme, 1));
        }
        let Some(ply) = number(Field::Ply) else {
            return;
        };
        count(&mut self.ply, ply);
        if ply > 0 {
            return;
        }
        details.games.count += 1;
        let result = number(Field::Result);
        let add = |results: &mut Results| match result {
            Some(2) => results.white += 1,
            Some(1) => results.draw += 1,
            Some(0) => results.black += 1,
            _ => results.unknown += 1,
        };
        if let Some(code) = text(Field::Eco)
            && let Ok(code @ [b'A'..=b'E', b'0'..=b'9', b'0'..=b'9']) = <[u8; 3]>::try_from(code.as_bytes())
        {
            *details.games.eco.entry(code).or_default() += 1;
            add(&mut details.games.results.families[usize::from(10 * (code[0] - b'A') + code[1] - b'0')]);
        }
        for (elo, field) in self.elo.iter_mut().zip([Field::WhiteElo, Field::BlackElo]) {
            if let Some(rating) = number(field) {
                count(elo, rating);
            }
        }
        if let (Some(white), Some(black)) = (number(Field::WhiteElo), number(Field::BlackElo)) {
            count(&mut self.elo_differences, white - black);
            // Below 1000, nine times 200, and from 2600 on.
            let band = ((white + black) / 2 - 800).clamp(0, 1800) / 200;
            add(&mut details.games.results.ratings[band as usize]);
        } else {
            add(&mut details.games.results.ratings[RATING_BANDS - 1]);
        }
        if let Some(date) = text(Field::Date) {
            let [year, month] = [0..4, 5..7].map(|digits| date.get(digits).and_then(|digits| digits.parse().ok()));
            if let Some(year) = year {
                *details.games.months.entry((year, month.unwrap_or(0) as u8)).or_default() += 1;
            }
        }
        let known = |field| text(field).filter(|text| !["?", ""].contains(text));
        if let Some(termination) = known(Field::Termination) {
            details.games.terminations.add(termination, 1);
        }
        if let Some(opening) = known(Field::Opening) {
            let family = opening.split(':').next().unwrap();
            details.games.openings.add(family, 1);
            add(details.games.results.openings.entry(family.to_owned()).or_default());
        }
        let start = batch.position(row).unwrap();
        if let Some(mv) = number(Field::Move).filter(|_| start == Position::standard()) {
            let mv = lanefish::chess::Move::from_bits(mv as u16).unwrap();
            details.games.first_moves.add(&mv.san(&start), 1);
        }
        let class = text(Field::TimeControl).and_then(|text| Speed::of_tag(text.as_bytes()));
        let place = class.map_or(6, |class| Speed::ALL.iter().position(|&other| other == class).unwrap());
        details.games.speeds[place] += 1;
        add(&mut details.games.results.speeds[place]);
    }

    /// The report; sketches are those of the other one, after their estimates have been compared with the truth.
    fn finish(mut self, rejected: u64, found: &Report) -> Report {
        let theirs = found.details.as_deref().unwrap();
        let truth = self.distinct.each_ref().map(|set| set.len() as u64);
        for (estimate, truth) in theirs.distinct.estimates().into_iter().zip(truth) {
            let error = estimate.abs_diff(truth) as f64;
            assert!(error <= 5.0 * Sketch::ERROR * truth as f64, "{estimate} of {truth}");
        }
        let report = &mut self.report;
        report.rejected = rejected;
        report.legal_moves = histogram(&self.moves, 0);
        report.pieces = histogram(&self.pieces, 0);
        report.phase = histogram(&self.phase, 0);
        report.material = self.material.each_ref().map(|counts| histogram(counts, 0));
        report.scores = histogram(&self.scores, i16::MIN.into());
        if let Some(puzzles) = &mut report.puzzles {
            let [ratings, deviations, popularity] = &self.of_puzzles;
            puzzles.ratings = histogram(ratings, 0);
            puzzles.deviations = histogram(deviations, 0);
            puzzles.popularity = histogram(popularity, i16::MIN.into());
        }
        if let Some(evaluations) = &mut report.evaluations {
            let [depths, distances] = &self.of_evaluations;
            evaluations.depths = histogram(depths, 0);
            evaluations.mate_distances = histogram(distances, 0);
        }
        let details = &mut self.details;
        details.games.elo_differences = histogram(&self.elo_differences, -4000);
        details.ply = histogram(&self.ply, 0);
        details.pieces_moves = matrix(&self.pieces_moves);
        details.material = matrix(&self.both);
        details.phase_results = matrix(&self.phase_results);
        details.phase_scores = matrix(&self.phase_scores);
        details.phase_score_sums = self.sums.clone();
        details.games.elo = self.elo.each_ref().map(|counts| histogram(counts, 0));
        details.distinct = theirs.distinct.clone();
        // `cli::stats_sources` counts these from columns.
        details.times_used.clone_from(&theirs.times_used);
        details.mistakes.clone_from(&theirs.mistakes);
        details.accuracies.clone_from(&theirs.accuracies);
        details.exact_distinct = Some(truth);
        self.report.details = Some(Box::new(self.details));
        self.report
    }
}

/// The report of files, and the number of rejected records.
fn report_of(
    paths: &[PathBuf],
    analyzer: &'static dyn Analyzer,
    job: Statistics,
    change: impl Fn(&mut RunOptions<'_>),
) -> Report {
    let inputs = Inputs::resolve(paths, lanefish::formats::is_supported).unwrap();
    let mut options = RunOptions::new(analyzer);
    change(&mut options);
    let job = if options.read.shard.is_some() { job.of_a_part(&inputs) } else { job };
    let summary = run(&inputs, options, &job, |counted| job.add(counted));
    assert!(summary.failure.is_none(), "{:?}", summary.failure);
    job.finish(summary.rejected, false).unwrap()
}

fn tiers() -> impl Iterator<Item = &'static dyn Analyzer> {
    Tier::all().flat_map(Tier::implementations)
}

/// Compares all figures of a file in every tier and with any number of threads.
fn agrees(path: &Path, limit: u64) {
    let paths = [path.to_owned()];
    let (batch, summary) = read(&paths, |options| options.read.limit = Some(limit));
    let mut plain = Plain::default();
    (0..batch.len()).for_each(|row| plain.add(&batch, row));
    let of = |analyzer, threads, memory: Option<u64>| {
        let mut job = Statistics::new().with_details();
        if let Some(memory) = memory {
            let options = ScratchSpace::default().memory(memory);
            job = job.with_exact_distinct(&options, threads).unwrap();
        }
        report_of(&paths, analyzer, job, |options| {
            options.read.limit = Some(limit);
            options.threads = threads;
        })
    };
    let best = Tier::best().analyzer().unwrap();
    let exact = of(best, 2, Some(0));
    let expected = plain.finish(summary.rejected, &exact);
    assert!(exact == expected, "{}", path.display());
    let estimated = of(best, 1, None);
    for analyzer in tiers() {
        for threads in [1, 2, 8] {
            let found = of(analyzer, threads, None);
            assert!(found == estimated, "{} {threads}", analyzer.tier());
        }
    }
    // All records, counted at once and in shards.
    let whole = report_of(&paths, best, Statistics::new().with_details(), |_| {});
    for (count, threads) in [(3, 2), (16, 8)] {
        let mut parts = (0..count).map(|index| {
            let job = Statistics::new().with_details();
            report_of(&paths, best, job, |options| {
                options.threads = threads;
                options.read.shard = Shard::new(index, count);
            })
        });
        let mut merged = parts.next().unwrap();
        parts.for_each(|part| merged.merge(&part));
        assert!(merged == whole, "{} {count}", path.display());
    }
    let mut estimated = estimated;
    estimated.details.as_mut().unwrap().exact_distinct = Some(exact.details.unwrap().exact_distinct.unwrap());
    assert!(estimated == expected);
}

#[test]
fn all_figures_agree_with_counting_plainly() {
    for (name, limit) in FILES {
        if let Some(path) = shared_data(name) {
            agrees(&path, limit);
        }
    }
}

#[test]
fn figures_of_famous_positions() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("famous.fen");
    std::fs::write(&path, FAMOUS.join("\n")).unwrap();
    agrees(&path, u64::MAX);
}

/// Groups are what one gets when the records of each are counted by themselves.
#[test]
fn groups_add_up_and_are_what_they_say() {
    let Some(path) = shared_data("pgn/lichess_db_1000k.pgn") else {
        return;
    };
    const RECORDS: u64 = 2000;
    let paths = [path];
    let (batch, _) = read(&paths, |options| options.read.limit = Some(RECORDS));
    let value_of = |by: &str, row: usize| -> GroupValue {
        let position = batch.position(row).unwrap();
        let number = |field| batch.values(field).and_then(|values| values.number(row));
        let text = |field| batch.values(field).and_then(|values| values.text(row));
        let found = match by {
            "in_check" => Some(i64::from(position.in_check())),
            "pieces" => Some(position.occupied().len().into()),
            "ply/20" => number(Field::Ply).map(|ply| ply / 20 * 20),
            "white_elo" => number(Field::WhiteElo).map(|elo| elo / 100 * 100),
            _ => {
                let text = match by {
                    "eco" => text(Field::Eco),
                    "time_control" => text(Field::TimeControl),
                    "tag:Termination" => text(Field::Termination),
                    _ => number(Field::Result).map(|result| ["0-1", "1/2-1/2", "1-0"][result as usize]),
                };
                return text.map_or(GroupValue::Missing, |text| GroupValue::Text(text.to_owned()));
            }
        };
        found.map_or(GroupValue::Missing, |number| GroupValue::Number(number.into()))
    };
    let value = |by: &str, row: usize| -> Vec<GroupValue> { by.split(',').map(|by| value_of(by, row)).collect() };
    let best = Tier::best().analyzer().unwrap();
    let all = |analyzer, threads, by: Option<&str>| {
        let mut job = Statistics::new().with_details();
        if let Some(by) = by {
            job = job.grouped_by(by.parse::<GroupBy>().unwrap());
        }
        report_of(&paths, analyzer, job, |options| {
            options.read.limit = Some(RECORDS);
            options.threads = threads;
        })
    };
    let whole = all(best, 1, None);
    for by in [
        "in_check",
        "pieces",
        "ply/20",
        "white_elo",
        "result",
        "eco",
        "time_control",
        "tag:Termination",
        "time_control,result",
        "ply/20,in_check",
    ] {
        let mut grouped = all(best, 2, Some(by));
        for analyzer in tiers() {
            assert!(all(analyzer, 8, Some(by)) == grouped, "{by} {}", analyzer.tier());
        }
        let groups = grouped.groups.take().unwrap();
        assert!(grouped == whole, "{by}");
        // Without details they are counted in another way.
        let job = Statistics::new().grouped_by(by.parse::<GroupBy>().unwrap());
        let mut plain = report_of(&paths, best, job, |options| options.read.limit = Some(RECORDS));
        let plain = plain.groups.take().unwrap();
        assert!(plain.values.keys().eq(groups.values.keys()), "{by}");
        for (found, expected) in plain.values.values().zip(groups.values.values()) {
            let mut expected = expected.clone();
            expected.details = None;
            assert!(*found == expected, "{by}");
        }
        // The largest groups, found by reading twice, and all others together.
        for most in [1, 5, 1000] {
            let options = |options: &mut RunOptions<'_>| {
                (options.read.limit, options.threads, options.chunk_size) = (Some(RECORDS), 2, 20_000);
            };
            let counts = GroupCounts::new(by.parse().unwrap());
            let inputs = Inputs::resolve(&paths, |_| true).unwrap();
            let mut run_options = RunOptions::new(best);
            options(&mut run_options);
            assert!(run(&inputs, run_options, &counts, |part| counts.add(part)).failure.is_none());
            let job = Statistics::new().with_details().grouped_by(by.parse::<GroupBy>().unwrap());
            let job = job.of_largest(counts.largest(most).unwrap());
            let found = report_of(&paths, best, job, options).groups.unwrap();
            let expected = groups.first(most, |report| Some(report.positions as f64));
            assert!(found.values == expected.values, "{by} {most}");
            let others = [&found, &expected].map(|groups| groups.others.as_ref().map(|others| others.groups));
            assert_eq!(others[0], others[1], "{by} {most}");
            let reports = [&found, &expected].map(|groups| {
                let mut others = (*groups.others.as_ref()?.report).clone();
                // A game may be in several of the groups that were merged.
                others.game_results = Results::default();
                Some(others)
            });
            assert!(reports[0] == reports[1], "{by} {most}");
        }
        let mut rows: BTreeMap<Vec<GroupValue>, Plain> = BTreeMap::new();
        for row in 0..batch.len() {
            rows.entry(value(by, row)).or_default().add(&batch, row);
        }
        assert!(rows.keys().eq(groups.values.keys()), "{by}");
        for ((value, plain), report) in rows.into_iter().zip(groups.values.values()) {
            let mut expected = plain.finish(0, report);
            expected.details.as_mut().unwrap().exact_distinct = None;
            assert!(*report == expected, "{by} {value:?}");
        }
    }
}

/// Games count once wherever chunks and shards end, also in files that store game numbers.
#[test]
fn games_count_once() {
    let Some(pgn) = shared_data("pgn/lichess_db_1000k.pgn") else { return };
    let directory = tempfile::tempdir().unwrap();
    let best = Tier::best().analyzer().unwrap();
    let boards = directory.path().join("games.boards");
    let file = RecordFile::new(&boards, None, FileOptions::default()).unwrap();
    drop(file.write(&Inputs::of([&*pgn]), RunOptions::new(best)).unwrap());
    // Both have the same games, and the numbers of the second file follow those of the first.
    let (one, two) = ([boards.clone()], [boards, pgn]);
    for (paths, records) in [(&one[..], 0..u64::MAX), (&one[..], 3000..9000), (&two[..], 20_000..40_000)] {
        let choose = |options: &mut RunOptions<'_>| {
            (options.read.skip, options.read.limit) = (records.start, Some(records.end - records.start));
        };
        let (batch, _) = read(paths, choose);
        let number = |row: usize, field| batch.values(field).and_then(|values| values.number(row));
        let naive = |group: &dyn Fn(usize) -> bool| {
            let (mut games, mut results) = (HashSet::new(), Results::default());
            for row in (0..batch.len()).filter(|&row| group(row)) {
                if games.insert(number(row, Field::Game)) {
                    count_result(&mut results, number(row, Field::Result));
                }
            }
            results
        };
        for (chunk_size, threads) in [(1 << 20, 1), (300, 3), (5000, 2)] {
            let by = |by: &str| {
                let job = Statistics::new().grouped_by(by.parse().unwrap());
                report_of(paths, best, job, |options| {
                    choose(options);
                    (options.chunk_size, options.threads) = (chunk_size, threads);
                })
            };
            for name in ["ply/40", "result"] {
                let report = by(name);
                assert_eq!(report.game_results, naive(&|_| true));
                for (value, of_group) in report.groups.unwrap().values {
                    let is_of_group = |row: usize| match &value[0] {
                        GroupValue::Number(first) => {
                            number(row, Field::Ply).is_some_and(|ply| (*first..first + 40).contains(&ply.into()))
                        }
                        GroupValue::Text(text) => {
                            number(row, Field::Result).map(|result| ["0-1", "1/2-1/2", "1-0"][result as usize])
                                == Some(text)
                        }
                        GroupValue::Missing => number(row, Field::Result).is_none(),
                    };
                    assert_eq!(of_group.game_results, naive(&is_of_group), "{name} {value:?}");
                }
            }
        }
        if records == (0..u64::MAX) {
            // Shards in any order.
            let whole = report_of(paths, best, Statistics::new().grouped_by("ply/40".parse().unwrap()), |_| {});
            let mut merged: Option<Report> = None;
            for index in [3, 0, 6, 1, 5, 2, 4] {
                let job = Statistics::new().grouped_by("ply/40".parse().unwrap());
                let part = report_of(paths, best, job, |options| options.read.shard = Shard::new(index, 7));
                let part = Report::from_json(&part.to_json().into()).unwrap();
                match &mut merged {
                    Some(merged) => merged.merge(&part),
                    None => merged = Some(part),
                }
            }
            let merged = merged.unwrap();
            assert_eq!(merged.game_results, whole.game_results);
            let groups = |report: &Report| -> Vec<_> {
                let groups = report.groups.iter().flat_map(|groups| &groups.values);
                groups.map(|(value, report)| (value.clone(), report.game_results)).collect()
            };
            assert_eq!(groups(&merged), groups(&whole));
        }
    }
}

#[test]
fn too_many_groups_are_an_error() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("many.fen");
    let lines: Vec<String> = (1..=1200).map(|n| format!("4k3/8/8/8/8/8/8/4K2R w K - 0 {n}")).collect();
    std::fs::write(&path, lines.join("\n")).unwrap();
    let analyzer = Tier::best().analyzer().unwrap();
    let inputs = Inputs::resolve(&[path], |_| true).unwrap();
    for (by, fails) in [("fullmove/1", true), ("fullmove", false)] {
        let job = Statistics::new().grouped_by(by.parse().unwrap());
        let summary = run(&inputs, RunOptions::new(analyzer), &job, |counted| job.add(counted));
        let is_error = summary.failure.is_some() || job.finish(0, false).is_err();
        assert_eq!(is_error, fails, "{by}");
    }
}

/// The same position of the other library.
fn board_of(position: &Position) -> Board {
    crate::kernels::rules::cozy(position).expect("a position that both libraries accept")
}
