//! Draws inputs and command lines: first every pair of options that can stand together, then at random.

use super::expression::{Column, Condition, Number, draw_condition, draw_number};
use super::options::{NAMES, Options, Sample, Target, Value};
use super::records::{Entry, Format, Outcome, Record, Tags, histories, stored};
use super::texts::{self, Game, Notation, Score, Wrapping};
use lanefish::chess::random::Random;
use lanefish::chess::{MoveKind, Position};
use std::rc::Rc;

/// One input of a command.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Input {
    pub(crate) games: Vec<Game>,
    /// The format of the text that the generator writes.
    pub(crate) text: Format,
    /// Before how many records of a format of lines a bad line stands.
    pub(crate) bad_lines: Vec<usize>,
    /// The program converts the text to this format first.
    pub(crate) converted: Option<Format>,
    /// The program shuffles the converted file.
    pub(crate) shuffled: bool,
    pub(crate) wrapping: Wrapping,
}

impl Input {
    /// The format in which the command meets the input.
    pub(crate) fn format(&self) -> Format {
        self.converted.unwrap_or(self.text)
    }
    /// The text, and the entries that it has.
    pub(crate) fn written(&self) -> (String, Vec<Entry>) {
        if self.text == Format::Pgn {
            return (texts::pgn(&self.games), texts::pgn_entries(&self.games));
        }
        let all = self.games.iter().enumerate().flat_map(|(number, game)| game.records(number as u64));
        let records: Vec<Record> = all.collect();
        let records = match self.text {
            Format::Csv => records.into_iter().map(|record| in_csv(&record)).collect(),
            format => stored(format, &records).records,
        };
        let mut entries = Vec::new();
        for (place, record) in records.into_iter().enumerate() {
            entries.extend(self.bad_lines.iter().filter(|&&bad| bad == place).map(|_| Entry::Bad(None)));
            entries.push(Entry::Good(record));
        }
        let good = entries.iter_mut().filter_map(|entry| match entry {
            Entry::Good(record) => Some(record),
            Entry::Bad(_) => None,
        });
        histories(self.text, &mut good.collect::<Vec<_>>());
        (texts::lines(self.text, &entries), entries)
    }
}

/// What the generator's table of text holds.
fn in_csv(record: &Record) -> Record {
    let mut bare = Record::of(record.position.clone());
    (bare.game, bare.ply, bare.played) = (record.game, record.ply, record.played);
    (bare.score, bare.result) = (record.score, record.result);
    bare.tags = Rc::new(Tags { white_elo: record.tags.white_elo, ..Tags::default() });
    bare
}

/// What makes records equal for `dedup`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Key {
    Board,
    Stm,
    Castling,
    Position,
    Relative,
    Record,
}

impl Key {
    pub(crate) const ALL: [(Self, &'static str); 6] = [
        (Self::Board, "board"),
        (Self::Stm, "stm"),
        (Self::Castling, "castling"),
        (Self::Position, "position"),
        (Self::Relative, "relative"),
        (Self::Record, "record"),
    ];
    pub(crate) fn name(self) -> &'static str {
        Self::ALL.into_iter().find(|key| key.0 == self).map_or("", |key| key.1)
    }
}

/// Which of equal records `dedup` keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keep {
    First,
    Last,
    Most(Column),
    Least(Column),
}

/// The command.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Job {
    Convert,
    Shuffle {
        by_game: bool,
    },
    Dedup {
        key: Key,
        keep: Keep,
        against: Option<Input>,
        counts: bool,
    },
    Split {
        by: &'static str,
    },
    Interleave {
        by_game: bool,
    },
    Compute,
    Stats,
    /// The merged statistics of this number of shards.
    Merge(u32),
    /// The records of this number of shards, one after another.
    Shards(u32),
    Games,
    Verify,
}

/// A command line with its inputs.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Case {
    pub(crate) inputs: Vec<Input>,
    pub(crate) job: Job,
    /// The output format.
    pub(crate) to: Format,
    /// The extension of a compressed output.
    pub(crate) compressed: &'static str,
    /// The column of the groups of statistics, and the width of their ranges.
    pub(crate) by: Option<(Column, i64)>,
    pub(crate) options: Options,
}

/// Start positions of games: castling, en passant, promotions, few pieces, Chess960.
const STARTS: [&str; 10] = [
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
    "r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1",
    "8/P1k5/8/8/8/8/1p3K2/8 b - - 3 40",
    "4k3/8/8/8/8/8/8/4K2R w K - 10 20",
    "rnbqkbnr/ppp1p1pp/8/3pPp2/8/8/PPPP1PPP/RNBQKBNR w KQkq f6 0 3",
    "7k/8/8/8/8/8/5q2/7K b - - 30 70",
    "r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5Q2/PPPP1PPP/RNB1K1NR w KQkq - 4 4",
    "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9",
    "rbbqn1kr/pp2p1pp/6n1/2pp1p2/2P4P/P7/BP1PPPP1/R1BQNNKR w HAha - 0 9",
];

fn one_of<T: Copy>(random: &mut Random, values: &[T]) -> T {
    values[random.below(values.len() as u32) as usize]
}

/// Draws a game.
fn draw_game(random: &mut Random, complete: bool) -> Game {
    let start = match random.below(3) {
        0 if !complete => one_of(random, &STARTS),
        0 => one_of(random, &STARTS[..8]),
        _ => "",
    };
    let start = if start.is_empty() { Position::standard() } else { start.parse().expect("a position") };
    let mut position = start.clone();
    let length = one_of(random, &[0, 1, 2, 3, 5, 8, 13, 21, 40]);
    let (mut moves, mut scores) = (Vec::new(), Vec::new());
    let scored = complete || random.below(3) != 0;
    while moves.len() < length {
        let legal = position.legal_moves();
        if legal.is_empty() {
            break;
        }
        // Castling, promotions and en passant are rare among all moves, so that they are drawn more often.
        let rare: Vec<_> = legal.iter().copied().filter(|played| played.kind != MoveKind::Normal).collect();
        let played =
            if !rare.is_empty() && random.below(3) == 0 { one_of(random, &rare) } else { one_of(random, &legal) };
        moves.push(played);
        position.make(played);
        scores.push(match random.below(12) {
            _ if !scored => Score::None,
            0 if !complete => Score::None,
            1 if !complete => Score::Mate(random.below(9) as i32 + 1),
            2 => Score::Centipawns(0),
            _ => Score::Centipawns(random.below(600) as i32 - 300),
        });
    }
    let text = |random: &mut Random, values: &[&str]| {
        if complete { values[0].to_owned() } else { one_of(random, values).to_owned() }
    };
    let tags = Tags {
        white: text(random, &["Ada", "Bob", "Cleo", ""]),
        black: text(random, &["Dan", "Eve", "Fay"]),
        white_elo: (random.below(8) != 0).then(|| 1000 + random.below(1500) as u16),
        black_elo: (random.below(8) != 0).then(|| 1000 + random.below(1500) as u16),
        eco: text(random, &["B12", "C20", "A00", "B90", ""]),
        time_control: text(random, &["300+3", "60+0", "600+0", "1800+30", ""]),
        termination: text(random, &["Normal", "Time forfeit", ""]),
        date: text(random, &["2024.05.01", "2023.12.31", "2025.01.15", ""]),
    };
    let result = if !complete && random.below(6) == 0 { None } else { Some(one_of(random, &Outcome::ALL)) };
    let notation = one_of(random, &[Notation::San, Notation::San, Notation::Uci, Notation::Long, Notation::Zeros]);
    let bad_at = (!complete && random.below(10) == 0).then(|| random.below(moves.len() as u32 + 1) as usize);
    Game { start, moves, scores, result, tags: Rc::new(tags), notation, bad_at }
}

/// Draws an input. A complete one has all that any format needs, and no bad records.
fn draw_input(random: &mut Random) -> Input {
    let complete = random.below(2) == 0;
    let number = one_of(random, &[0, 1, 1, 2, 3, 3, 5, 8, 13]);
    let mut games: Vec<Game> = (0..number).map(|_| draw_game(random, complete)).collect();
    if games.len() > 1 && random.below(4) == 0 {
        // The same game twice, so that there are duplicates.
        let again = games[0].clone();
        games.push(again);
    }
    let text =
        one_of(random, &[Format::Pgn, Format::Pgn, Format::Pgn, Format::Fen, Format::Text, Format::Plain, Format::Csv]);
    let records: usize = games.iter().map(|game| game.moves.len() + 1).sum();
    let mut bad_lines = Vec::new();
    if !complete && text != Format::Pgn && records > 0 {
        bad_lines = (0..random.below(4)).map(|_| random.below(records as u32) as usize).collect();
        bad_lines.sort_unstable();
    }
    let converted = (random.below(2) == 0).then(|| one_of(random, &Format::WRITTEN));
    // The program has no empty file of most formats.
    let converted = converted.filter(|_| !games.is_empty() && (complete || records > 3));
    let shuffled = converted.is_some() && random.below(6) == 0;
    let mut wrapping = one_of(
        random,
        &[
            Wrapping::None,
            Wrapping::None,
            Wrapping::None,
            Wrapping::Gzip,
            Wrapping::Zstd,
            Wrapping::Frames(500),
            Wrapping::Zip,
            Wrapping::Pipe,
        ],
    );
    let format = converted.unwrap_or(text);
    if !format.compressible() || records == 0 {
        wrapping = Wrapping::None;
    }
    Input { games, text, bad_lines, converted, shuffled, wrapping }
}

/// Gives one of [`NAMES`] a value.
pub(crate) fn give(random: &mut Random, name: &str, options: &mut Options) {
    match name {
        "min-elo" => options.min_elo = Some(1000 + random.below(1000) as u16),
        "max-elo" => options.max_elo = Some(1500 + random.below(1000) as u16),
        "result" => {
            let all = [None, Some(Outcome::White), Some(Outcome::Black), Some(Outcome::Draw)];
            options.result = (0..=random.below(2)).map(|_| one_of(random, &all)).collect();
            options.result.dedup();
        }
        "termination" => options.termination = Some(one_of(random, &["Normal", "Time forfeit", "normal"]).to_owned()),
        "eco" => options.eco = Some(one_of(random, &["B", "B12", "B10-B50", "C20"]).to_owned()),
        "time-control" => options.time_control = Some(one_of(random, &["300+3", "60+0", "600+0"]).to_owned()),
        "min-plies" => options.min_plies = Some(random.below(12)),
        "drop-bad-games" => options.drop_bad_games = true,
        "plies" => {
            let first = random.below(8);
            options.plies = Some((first, (random.below(3) != 0).then(|| first + random.below(12))));
        }
        "skip-book" => options.skip_book = Some(random.below(6)),
        "every" => options.every = Some(1 + random.below(4)),
        "last" => options.last = true,
        "max-per-game" => options.max_per_game = Some(random.below(5)),
        "where" => options.condition = Some(draw_condition(random, 2)),
        "sample" => {
            options.sample = Some(match random.below(4) {
                0 => Sample::Rate(1 + random.below(999)),
                1 | 2 => Sample::Number(2 + one_of(random, &[0, 1, 3, 8, 20, 200])),
                _ => Sample::Case(draw_condition(random, 1), random.below(999), random.below(999)),
            });
        }
        "set" => {
            let target =
                one_of(random, &[Target::Score, Target::RawScore, Target::Result, Target::Ply, Target::Halfmove]);
            let value = match target {
                Target::Result => Value::Result(draw_condition(random, 1), one_of(random, &Outcome::ALL)),
                _ => Value::Number(match random.below(3) {
                    0 => draw_number(random, 1),
                    1 => Number::Literal(i64::from(random.below(60))),
                    _ => Number::Case(
                        Box::new(draw_condition(random, 1)),
                        Box::new(Number::Column(if target == Target::Ply { Column::Ply } else { Column::RawScore })),
                        Box::new(Number::Literal(if target == Target::RawScore { 32002 } else { 7 })),
                    ),
                }),
            };
            options.set = Some((target, value));
        }
        "seed" => options.seed = Some(u64::from(random.below(5))),
        "skip" => options.skip = Some(one_of(random, &[0, 1, 2, 5, 20, 300])),
        "limit" => options.limit = Some(one_of(random, &[0, 1, 2, 5, 20, 300])),
        "shard" => {
            let of = 1 + random.below(4);
            options.shard = Some((random.below(of), of));
        }
        "allow-loss" => options.allow_loss = true,
        "no-mmap" => options.no_mmap = true,
        "strict" => options.strict = true,
        "rejects" => options.rejects = true,
        "manifest" => options.manifest = true,
        _ => unreachable!("{name} is no option"),
    }
}

/// Draws the case of a seed. The first seeds take each pair of options once.
pub(crate) fn draw(seed: u64) -> Case {
    let random = &mut Random::new(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x006d_6f64_656c);
    let mut inputs: Vec<Input> = (0..one_of(random, &[1, 1, 1, 2, 2, 3])).map(|_| draw_input(random)).collect();
    if inputs.iter().filter(|input| input.wrapping == Wrapping::Pipe).count() > 1 {
        for input in &mut inputs[1..] {
            input.wrapping = Wrapping::None;
        }
    }
    let job = draw_job(random);
    let to = one_of(random, &Format::WRITTEN);
    let compressed = if to.compressible() { one_of(random, &["", "", ".zst", ".gz"]) } else { "" };
    let mut options = Options { allow_loss: random.below(3) != 0, ..Options::default() };
    let pairs = (NAMES.len() * NAMES.len()) as u64;
    if seed < pairs {
        for place in [seed as usize / NAMES.len(), seed as usize % NAMES.len()] {
            give(random, NAMES[place], &mut options);
        }
    } else {
        for _ in 0..random.below(6) {
            let name = one_of(random, &NAMES);
            give(random, name, &mut options);
        }
    }
    let groups = [Column::Pieces, Column::Ply, Column::WhiteElo, Column::Halfmove, Column::LegalMoves, Column::Score];
    let by = (random.below(2) == 0).then(|| (one_of(random, &groups), one_of(random, &[1, 7, 10, 100])));
    for input in &mut inputs {
        if input.wrapping == Wrapping::Gzip && random.below(2) == 0 {
            input.wrapping = Wrapping::Bzip2;
        }
    }
    let mut case = Case { inputs, job, to, compressed, by, options };
    case.make_sense();
    case
}

impl Case {
    /// Leaves out what does not stand with the command.
    fn make_sense(&mut self) {
        let without: &[&str] = match self.job {
            Job::Stats | Job::Compute => &["set", "manifest", "allow-loss"],
            // It lists an empty file as damaged if `--strict` is given.
            Job::Verify => &["set", "manifest", "allow-loss", "strict"],
            // What counts records would count them in each shard anew.
            Job::Merge(_) | Job::Shards(_) => {
                &["set", "manifest", "allow-loss", "shard", "skip", "limit", "sample", "strict", "seed", "rejects"]
            }
            Job::Games => &[
                "set",
                "manifest",
                "allow-loss",
                "where",
                "sample",
                "seed",
                "plies",
                "skip-book",
                "every",
                "last",
                "max-per-game",
            ],
            _ => &[],
        };
        for name in without {
            self.options = self.options.without(name);
        }
        if matches!(self.job, Job::Merge(_) | Job::Shards(_)) {
            // Records and games are numbered within the share, and `--max-per-game` draws by the number.
            self.options.max_per_game = None;
            let numbers =
                |condition: &Condition| ["index", "game"].iter().any(|name| condition.to_string().contains(name));
            self.options.condition = self.options.condition.take().filter(|condition| !numbers(condition));
        }
        self.by = self.by.filter(|_| matches!(self.job, Job::Stats | Job::Merge(_)));
        // What leaves nothing out asks for nothing.
        let options = &mut self.options;
        options.min_plies = options.min_plies.filter(|&plies| plies > 0);
        options.skip_book = options.skip_book.filter(|&plies| plies > 0);
        options.every = options.every.filter(|&every| every > 1);
        options.plies = options.plies.filter(|&plies| plies != (0, None));
        if self.to.stores_chains() {
            // New plies make other chains, and what a chain cannot hold is refused before a number of records is drawn.
            options.set = options.set.take().filter(|(target, _)| *target != Target::Ply);
            options.sample = options.sample.take().filter(|sample| !matches!(sample, Sample::Number(_)));
        }
        if matches!(options.sample, Some(Sample::Number(_))) {
            // Values that do not fit are refused before a number of records is drawn.
            options.set = options.set.take().filter(|(target, _)| *target == Target::Result);
        }
        let chooses = options.choose();
        for input in &mut self.inputs {
            // Plies of chains that were made anew count from their starts.
            input.shuffled &= !(self.to == Format::Binpack && input.format().stores_chains());
            // A last position follows from the record before it in the input. In another order, that may be one that was
            // left out.
            input.shuffled &= !(self.to == Format::Viri && chooses);
            // A few records fit several formats of records of one length, and only names tell.
            let is_bare = matches!(input.format(), Format::Marlin | Format::Viri | Format::Bullet | Format::Boards);
            // What a pipe holds is known when it is read.
            if input.wrapping == Wrapping::Pipe && (is_bare || self.to == Format::Viri) {
                input.wrapping = Wrapping::None;
            }
            // The program knows no other format by a first line that is bad.
            if input.wrapping == Wrapping::Pipe && input.bad_lines.contains(&0) {
                input.wrapping = Wrapping::None;
            }
            // These options count games, and lines without a game, or games that are left out, do not belong to any.
            if self.job == Job::Games && (self.options.skip.is_some() || self.options.limit.is_some()) {
                self.options.drop_bad_games = false;
                input.bad_lines.clear();
            }
        }
        // These read their inputs twice, and a manifest has their hashes.
        if matches!(self.job, Job::Dedup { .. } | Job::Interleave { .. }) || self.options.manifest {
            for input in self.inputs.iter_mut().filter(|input| input.wrapping == Wrapping::Pipe) {
                input.wrapping = Wrapping::None;
            }
        }
    }
}

fn draw_job(random: &mut Random) -> Job {
    match random.below(18) {
        0..6 => Job::Convert,
        6 => Job::Shuffle { by_game: random.below(2) == 0 },
        7..10 => Job::Dedup {
            key: one_of(random, &Key::ALL).0,
            keep: match random.below(5) {
                0 | 1 => Keep::First,
                2 => Keep::Last,
                3 => Keep::Most(one_of(random, &[Column::Score, Column::Ply, Column::WhiteElo, Column::Index])),
                _ => Keep::Least(one_of(random, &[Column::Score, Column::Ply, Column::WhiteElo, Column::Index])),
            },
            against: (random.below(3) == 0).then(|| draw_input(random)).map(|mut input| {
                if input.wrapping == Wrapping::Pipe {
                    input.wrapping = Wrapping::None;
                }
                input
            }),
            counts: random.below(3) == 0,
        },
        10 => Job::Split { by: one_of(random, &["position", "relative", "game", "record"]) },
        11 | 12 => Job::Interleave { by_game: random.below(3) == 0 },
        13 => Job::Stats,
        14 => Job::Games,
        15 if random.below(2) == 0 => Job::Verify,
        15 => Job::Merge(1 + random.below(3)),
        16 => Job::Compute,
        _ => Job::Shards(1 + random.below(4)),
    }
}
