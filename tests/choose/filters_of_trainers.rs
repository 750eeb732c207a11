//! The filters of viriformat, nnue-pytorch and bullet as expressions, key by key, against plain implementations of what
//! their sources say.

use crate::support::{run, shared_data};
use lanefish::Error;
use lanefish::chess::{Color, Move, MoveKind, Position, Role};
use lanefish::choose::{Choose, Definitions};
use lanefish::input::Inputs;
use lanefish::jobs::{OutputContent, OutputFormat, WriteJob};
use lanefish::output::SquareSetStyle;
use lanefish::pipeline::{ReadOptions, RunOptions};
use lanefish::table::Columns;
use lanefish::tiers::Tier;

/// A record of training data.
struct Entry {
    index: u64,
    position: Position,
    mv: Option<Move>,
    /// White's view.
    score: Option<i32>,
    /// 2 White won, 1 draw, 0 Black won.
    result: Option<u8>,
    ply: u32,
    see: Option<i32>,
    placeholder: bool,
}

impl Entry {
    fn count(&self) -> usize {
        self.position.occupied().len() as usize
    }
    fn number(&self, color: Color, role: Role) -> i32 {
        self.position.pieces(color, role).len() as i32
    }
    fn in_check(&self) -> bool {
        !self.position.checkers().is_empty()
    }
    fn is_white(&self) -> bool {
        self.position.side_to_move == Color::White
    }
    /// Whether an enemy piece, or a piece that is not the mover's own castling rook, stands where the move goes.
    fn takes(&self) -> Option<bool> {
        let mv = self.mv?;
        Some(match mv.kind {
            MoveKind::Castle => false,
            MoveKind::EnPassant => true,
            _ => self.position.piece_at(mv.to).is_some(),
        })
    }
    fn promotes(&self) -> Option<bool> {
        Some(matches!(self.mv?.kind, MoveKind::Promotion(_)))
    }
    fn castles(&self) -> Option<bool> {
        Some(self.mv?.kind == MoveKind::Castle)
    }
    /// The view of the side to move.
    fn stm_score(&self) -> Option<i32> {
        self.score.map(|score| if self.is_white() { score } else { -score })
    }
    fn stm_result(&self) -> Option<i32> {
        let result = i32::from(self.result?) - 1;
        Some(if self.is_white() { result } else { -result })
    }
}

/// CSV of these columns of the records that are taken.
fn table(columns: &str, lets: &[&str], condition: Option<&str>) -> Vec<Vec<String>> {
    let definitions = Definitions::parse(lets).unwrap();
    let columns = Columns::named_with(columns, |name| definitions.column(name)).unwrap();
    let job = WriteJob::new(OutputContent::Columns(&columns, SquareSetStyle::Hex), OutputFormat::Csv).unwrap();
    let mut csv = Vec::new();
    let mut file = job.open(&mut csv).unwrap();
    let mut names = vec!["data/lichess-2025-05.pgn".into()];
    names.extend(shared_data("pgn/lichess_db_1000k.pgn"));
    let inputs = Inputs::resolve(&names, |_| true).unwrap();
    // All records are judged, whatever is left of them.
    let filter = format!("index < {RECORDS} and ({})", condition.unwrap_or("true"));
    let filter = definitions.condition(&filter).unwrap_or_else(|error| panic!("{error}"));
    let read = ReadOptions::default().choose(Choose::default().filter(Some(filter)));
    let options = RunOptions::new(Tier::best().analyzer().unwrap()).threads(2).read(read);
    let summary = run(&inputs, options, &job, |part| {
        job.put(&mut file, part).map_err(|source| Error::Write { path: "rows".into(), source })
    });
    assert!(summary.failure.is_none());
    let _ = job.finish(file).unwrap();
    // No value of these columns has a comma in it.
    let csv = String::from_utf8(csv).unwrap();
    csv.lines().skip(1).map(|row| row.split(',').map(str::to_owned).collect()).collect()
}

const RECORDS: u64 = 20_000;

fn entries() -> Vec<Entry> {
    let columns = "index,fen,move,raw_score,result,ply,move_see,score_placeholder";
    let entry = |row: Vec<String>| {
        let position: Position = row[1].parse().unwrap();
        Entry {
            index: row[0].parse().unwrap(),
            mv: (!row[2].is_empty()).then(|| Move::from_uci(&row[2], &position).unwrap()),
            position,
            score: row[3].parse().ok(),
            result: ["0-1", "1/2-1/2", "1-0"].iter().position(|result| *result == row[4]).map(|result| result as u8),
            ply: row[5].parse().unwrap(),
            see: row[6].parse().ok(),
            placeholder: row[7] == "1",
        }
    };
    table(columns, &[], None).into_iter().map(entry).collect()
}

type Keeps = fn(&Entry) -> bool;

/// Entries without a score or a move do not exist in these formats: an unknown value keeps nothing.
#[test]
fn what_trainers_keep() {
    let filters: &[(&str, &str, Keeps)] = &[
        ("viriformat, min_ply", "2 * fullmove - 2 + case stm when 'b' then 1 else 0 end >= 16", |entry| {
            (u32::from(entry.position.fullmove) - 1) * 2 + u32::from(!entry.is_white()) >= 16
        }),
        ("viriformat, min_pieces", "pieces >= 4", |entry| entry.count() >= 4),
        ("viriformat, max_eval", "abs(raw_score) < 120", |entry| entry.score.is_some_and(|score| score.abs() < 120)),
        ("viriformat, filter_tactical", "not (move_captures or move_promotes)", |entry| {
            entry.mv.is_some() && entry.takes() == Some(false) && entry.promotes() == Some(false)
        }),
        ("viriformat, filter_check", "not in_check", |entry| !entry.in_check()),
        ("viriformat, filter_castling", "not move_castles", |entry| entry.castles() == Some(false)),
        (
            "viriformat, max_eval_incorrectness",
            "case result when '1-0' then raw_score >= -50 when '0-1' then raw_score <= 50 else abs(raw_score) <= 50 end",
            |entry| {
                // How far the score is on the wrong side.
                let wrong = |score: i32| match entry.result {
                    Some(2) => -score,
                    Some(0) => score,
                    _ => score.abs(),
                };
                entry.score.is_some_and(|score| wrong(score) <= 50)
            },
        ),
        ("nnue-pytorch, always", "stm_score is not null and not score_placeholder", |entry| {
            entry.score.is_some() && !entry.placeholder
        }),
        (
            "nnue-pytorch, filtered",
            "not in_check and not coalesce(move_captures and not move_en_passant, false)",
            |entry| {
                // Its `isCapturingMove`: a piece of the other colour stands on the target.
                let captures = entry.mv.is_some_and(|mv| {
                    let target = entry.position.piece_at(mv.to);
                    target.is_some_and(|piece| piece.color != entry.position.side_to_move)
                });
                !captures && !entry.in_check()
            },
        ),
        ("nnue-pytorch, early_fen_skipping", "ply > 28", |entry| entry.ply > 28),
        ("nnue-pytorch, simple_eval_skipping", "abs(e) >= 400", |entry| {
            const VALUES: [(Role, i32); 5] =
                [(Role::Pawn, 208), (Role::Knight, 781), (Role::Bishop, 825), (Role::Rook, 1276), (Role::Queen, 2538)];
            let difference = |role| entry.number(Color::White, role) - entry.number(Color::Black, role);
            VALUES.iter().map(|&(role, value)| value * difference(role)).sum::<i32>().abs() >= 400
        }),
        ("bullet, simple.rs", "quiet and not move_castles and ply >= 16 and abs(raw_score) <= 200", |entry| {
            entry.ply >= 16
                && !entry.in_check()
                && entry.score.is_some_and(|score| score.abs() <= 200)
                && entry.mv.is_some_and(|mv| mv.kind == MoveKind::Normal)
                && entry.takes() == Some(false)
        }),
        ("nodchip, smart_fen_skipping", "quiet", |entry| {
            !entry.in_check() && entry.takes() == Some(false) && entry.promotes() == Some(false)
        }),
        ("Stockfish, captures that win", "not (move_captures and move_see >= 0)", |entry| {
            entry.mv.is_some() && !(entry.takes() == Some(true) && entry.see.is_some_and(|see| see >= 0))
        }),
        ("Stockfish, gensfen", "ply >= 16 and ply < 400", |entry| (16..400).contains(&entry.ply)),
    ];
    let entries = entries();
    let lets = [EVALUATION];
    for (name, expression, keeps) in filters {
        let found: Vec<u64> =
            table("index", &lets, Some(expression)).iter().map(|row| row[0].parse().unwrap()).collect();
        let expected: Vec<u64> = entries.iter().filter(|entry| keeps(entry)).map(|entry| entry.index).collect();
        assert!(found == expected, "{name}: {} and {} of {}", found.len(), expected.len(), entries.len());
    }
}

const EVALUATION: &str = "e = 208 * (popcount(white_pawns_mask) - popcount(black_pawns_mask)) \
    + 781 * (popcount(white_knights_mask) - popcount(black_knights_mask)) \
    + 825 * (popcount(white_bishops_mask) - popcount(black_bishops_mask)) \
    + 1276 * (popcount(white_rooks_mask) - popcount(black_rooks_mask)) \
    + 2538 * (popcount(white_queens_mask) - popcount(black_queens_mask))";

/// The probability of a win, with the parameters of a model for a value of the phase.
fn wins([a, b]: [[f64; 4]; 2], phase: f64, score: f64, scale: f64) -> f64 {
    let polynomial = |[c3, c2, c1, c0]: [f64; 4]| c3.mul_add(phase, c2).mul_add(phase, c1).mul_add(phase, c0);
    1.0 / (1.0 + ((polynomial(a) - score) / (scale * polynomial(b))).exp())
}

type Chance = fn(&Entry) -> Option<f64>;

#[test]
fn with_which_chance_trainers_keep() {
    let viri = [
        "m = least(greatest(material_white + material_black, 17), 78) / 58.0",
        "a = ((6.87155862 * m - 39.65226391) * m + 90.68460352) * m + 170.66996364",
        "b = 1.5 * (((-7.19890710 * m + 56.13947185) * m - 139.91091183) * m + 182.81007427)",
        "w = 1 / (1 + exp((a - raw_score) / b))",
        "l = 1 / (1 + exp((a + raw_score) / b))",
        "p = case result when '1-0' then w when '0-1' then l else greatest(0, 1 - w - l) end",
    ];
    let stockfish = [
        "m = least(ply, 240) / 64.0",
        "a = ((-3.68389304 * m + 30.07065921) * m - 60.52878723) * m + 149.53378557",
        "b = 1.5 * (((-2.0181857 * m + 15.85685038) * m - 29.83452023) * m + 47.59078827)",
        "x = greatest(-2000, least(2000, 100 * stm_score / 208.0))",
        "w = 1 / (1 + exp((a - x) / b))",
        "l = 1 / (1 + exp((a + x) / b))",
        "p = case stm_result when 'win' then w when 'loss' then l else 1 - w - l end",
    ];
    let curve = ["p = interp(ply, 0, 0.1, 6, 0.15, 10, 0.25, 18, 0.75, 20, 1)"];
    let pieces = ["p = 1 - interp(pieces, 0, 0, 16, 0.5, 32, 0.25)"];
    let chances: [(&str, &[&str], Chance); 4] = [
        ("viriformat, wdl_filtered", &viri, |entry| {
            let points = |color| {
                entry.number(color, Role::Pawn)
                    + 3 * (entry.number(color, Role::Knight) + entry.number(color, Role::Bishop))
                    + 5 * entry.number(color, Role::Rook)
                    + 9 * entry.number(color, Role::Queen)
            };
            let material = (points(Color::White) + points(Color::Black)).clamp(17, 78);
            let model = [
                [6.871_558_62, -39.652_263_91, 90.684_603_52, 170.669_963_64],
                [-7.198_907_10, 56.139_471_85, -139.910_911_83, 182.810_074_27],
            ];
            let chance = |score: i32| wins(model, f64::from(material) / 58.0, f64::from(score), 1.5);
            let score = entry.score?;
            Some(match entry.result {
                Some(2) => chance(score),
                Some(0) => chance(-score),
                _ => (1.0 - chance(score) - chance(-score)).max(0.0),
            })
        }),
        ("nnue-pytorch, wld_filtered", &stockfish, |entry| {
            let model = [
                [-3.683_893_04, 30.070_659_21, -60.528_787_23, 149.533_785_57],
                [-2.018_185_7, 15.856_850_38, -29.834_520_23, 47.590_788_27],
            ];
            let phase = f64::from(entry.ply.min(240)) / 64.0;
            let score = (f64::from(100 * entry.stm_score()?) / 208.0).clamp(-2000.0, 2000.0);
            let chance = |score| wins(model, phase, score, 1.5);
            Some(match entry.stm_result() {
                Some(1) => chance(score),
                Some(-1) => chance(-score),
                _ => 1.0 - chance(score) - chance(-score),
            })
        }),
        ("nnue-pytorch, soft_early_fen_skipping", &curve, |entry| {
            let ply = f64::from(entry.ply);
            Some(match entry.ply {
                0..=5 => 0.1 + ply / 6.0 * 0.05,
                6..=9 => 0.15 + (ply - 6.0) / 4.0 * 0.1,
                10..=17 => 0.25 + (ply - 10.0) / 8.0 * 0.5,
                18..=19 => 0.75 + (ply - 18.0) / 2.0 * 0.25,
                _ => 1.0,
            })
        }),
        ("viriformat, material_count_filtered", &pieces, |entry| {
            let count = entry.count() as f64;
            Some(if count <= 16.0 { 1.0 - count / 32.0 } else { 0.5 + (count - 16.0) / 64.0 })
        }),
    ];
    let entries = entries();
    for (name, lets, chance) in chances {
        let found = table("p", lets, None);
        assert_eq!(found.len(), entries.len());
        let mut scored = 0;
        for (entry, row) in entries.iter().zip(&found) {
            match chance(entry) {
                // These formats have a score in each record.
                None => {}
                Some(expected) => {
                    let found: f64 = row[0].parse().unwrap();
                    assert!((found - expected).abs() < 1e-12, "{name}, record {}: {found}, {expected}", entry.index);
                    scored += 1;
                }
            }
        }
        assert!(scored > 50, "{name}");
    }
}
