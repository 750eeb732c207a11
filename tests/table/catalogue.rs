//! Columns of the catalogue, compared with the plain rules, one position at a time.

use crate::support::{FAMOUS, Random, shared_texts, weird_positions};
use lanefish::chess::random::{RandomPlay, Start};
use lanefish::chess::{Bitboard, Color, Move, MoveKind, Piece, Position, Role, Square};
use lanefish::games::Speed;
use lanefish::packed::{Group, Packed};
use lanefish::queries::GroupResults;
use lanefish::table::{Array, Batch, Column, Field, Texts, Tile, Values};
use lanefish::tiers::Tier;
use std::collections::HashMap;
use std::sync::Arc;

/// What a record has besides its position, as far as these columns are made of it.
#[derive(Clone, Debug, Default)]
struct Carried {
    mv: Option<Move>,
    score: Option<i16>,
    result: Option<u8>,
    time_control: Option<&'static str>,
    elos: [Option<u16>; 2],
    opening: Option<&'static str>,
    date: Option<&'static str>,
}

type Records = Vec<(Position, Carried)>;

const TIME_CONTROLS: [&str; 9] = ["60+0", "180+2", "15", "600", "40/7200:3600", "-", "?", "inf", "1/86400"];

const OPENINGS: [&str; 5] = ["Sicilian Defense: Najdorf Variation", "Sicilian Defense", "Ruy Lopez : A: B", ":", ""];

/// Dates, and the months of them that are known.
const DATES: [(&str, Option<&str>); 6] = [
    ("2014.07.31", Some("2014.07")),
    ("2014.??.??", Some("2014")),
    ("????.??.??", None),
    ("1999.13.01", None),
    ("x", None),
    ("", None),
];

fn carried(random: &mut Random, position: &Position) -> Carried {
    let moves = position.legal_moves();
    let mut maybe = |of: u64| Some(random.below(of)).filter(|_| random.below(8) > 0);
    let mv = maybe(moves.len().max(1) as u64).and_then(|at| moves.get(at as usize).copied());
    let score = maybe(6).map(|kind| match kind {
        0 => 32_002,
        1 => -32_002,
        2 => 31_000,
        3 => -31_000,
        _ => 5 * kind as i16 - 22,
    });
    Carried {
        mv,
        score,
        result: maybe(3).map(|result| result as u8),
        time_control: maybe(9).map(|at| TIME_CONTROLS[at as usize]),
        elos: [maybe(4000), maybe(4000)].map(|elo| elo.map(|elo| elo as u16)),
        opening: maybe(5).map(|at| OPENINGS[at as usize]),
        date: maybe(6).map(|at| DATES[at as usize].0),
    }
}

/// Positions of random games, with the move that was played in most of them.
fn random_play() -> Records {
    let mut random = Random::new(1);
    let mut records = Vec::new();
    for (seed, start) in [(2, Start::Standard), (3, Start::Chess960)] {
        for played in RandomPlay::new(seed, start).take(6000) {
            let carried = carried(&mut random, &played.position);
            records.push((played.position, Carried { mv: played.next.or(carried.mv), ..carried }));
        }
    }
    records
}

/// Positions of the sample data.
fn real() -> Records {
    let mut random = Random::new(4);
    let mut positions: Vec<Position> = FAMOUS.iter().map(|fen| fen.parse().expect("a position")).collect();
    for (_, text) in shared_texts("epd") {
        let lines: Vec<&str> = text.lines().collect();
        for line in lines.iter().step_by(lines.len().div_ceil(700)) {
            let fen: Vec<&str> = line.split_ascii_whitespace().take(4).collect();
            positions.extend(Position::from_fen_unvalidated(&format!("{} 0 1", fen.join(" "))).ok());
        }
    }
    positions.retain(|position| Packed::pack(position).is_ok());
    positions.into_iter().map(|position| (position.clone(), carried(&mut random, &position))).collect()
}

/// Boards that are not positions of chess.
fn weird() -> Records {
    let mut random = Random::new(7);
    let positions = weird_positions(&mut random, 3_001);
    let record = |position: Position| {
        let carried = carried(&mut random, &position);
        (position, carried)
    };
    positions.into_iter().map(record).collect()
}

fn batch_of(records: &Records) -> Batch {
    let mut batch = Batch::new();
    let mut moves = Values::<u16>::default();
    let mut scores = Values::<i16>::default();
    let mut results = Values::<u8>::default();
    let mut controls = Texts::default();
    let mut elos = [Values::<u16>::default(), Values::default()];
    let mut openings = Texts::default();
    let mut dates = Texts::default();
    for (position, carried) in records {
        batch.push(Packed::pack(position).expect("chosen so"), position.halfmove, position.fullmove);
        moves.push(carried.mv.map(Move::to_bits));
        scores.push(carried.score);
        results.push(carried.result);
        controls.push(carried.time_control);
        openings.push(carried.opening);
        dates.push(carried.date);
        elos.iter_mut().zip(carried.elos).for_each(|(values, elo)| values.push(elo));
    }
    let [white, black] = elos;
    batch.fields.extend([
        (Field::Move, Array::U16(moves)),
        (Field::Score, Array::I16(scores)),
        (Field::Result, Array::U8(results)),
        (Field::TimeControl, Array::Text(controls)),
        (Field::Opening, Array::Text(openings)),
        (Field::Date, Array::Text(dates)),
        (Field::WhiteElo, Array::U16(white)),
        (Field::BlackElo, Array::U16(black)),
    ]);
    batch
}

/// The values of a column, as text.
fn filled(batch: &Arc<Batch>, name: &str) -> Vec<Option<String>> {
    const ROWS: usize = 512;
    let column = Column::named(name).unwrap_or_else(|| panic!("{name}"));
    let analyzer = Tier::best().analyzer().expect("it was chosen");
    let mut results = vec![GroupResults::default(); batch.groups().len()];
    analyzer.analyze(batch.groups(), column.queries, &mut results);
    let mut values = Vec::new();
    for start in (0..batch.len()).step_by(ROWS) {
        let len = ROWS.min(batch.len() - start);
        let results = &results[start / Group::LEN..];
        let array = column.fill(&Tile::new(analyzer, batch, start, len, results, &[!0; ROWS / 64]));
        assert_eq!(array.len(), len);
        for row in 0..len {
            let number = || match &array {
                Array::U64(values) => values.get(row).map(ToString::to_string),
                array => array.number(row).map(|number| number.to_string()),
            };
            values.push(array.text(row).map(str::to_owned).or_else(number));
        }
    }
    values
}

/// Compares a column with its twin.
fn agree(records: &Records, batch: &Arc<Batch>, name: &str, twin: impl Fn(&Position, &Carried) -> Option<String>) {
    let found = filled(batch, name);
    assert_eq!(found.len(), records.len());
    for ((position, carried), found) in records.iter().zip(found) {
        assert_eq!(found, twin(position, carried), "{name} of {position}, {carried:?}");
    }
}

fn flag(is: bool) -> Option<String> {
    Some(u8::from(is).to_string())
}

fn pieces(position: &Position) -> Vec<(Square, Piece)> {
    Square::all().filter_map(|square| Some((square, position.piece_at(square)?))).collect()
}

fn points(position: &Position, color: Color) -> Option<String> {
    let worth = |role| match role {
        Role::Pawn => 1,
        Role::Knight | Role::Bishop => 3,
        Role::Rook => 5,
        Role::Queen => 9,
        Role::King => 0,
    };
    let sum: u32 = pieces(position).iter().filter(|(_, it)| it.color == color).map(|(_, it)| worth(it.role)).sum();
    Some(sum.min(255).to_string())
}

fn is_standard(position: &Position) -> bool {
    position.castling.0.iter().all(|rook| {
        let (color, king) = match rook.to_string().as_str() {
            "a1" | "h1" => (Color::White, "e1"),
            "a8" | "h8" => (Color::Black, "e8"),
            _ => return false,
        };
        position.piece_at(king.parse().expect("a square")) == Some(Piece { color, role: Role::King })
    })
}

fn captures(position: &Position, mv: Move) -> bool {
    let mut after = position.clone();
    let before = pieces(position).len();
    after.make(mv);
    pieces(&after).len() < before
}

/// The letter of the piece on a square, as in moves.
fn letter(position: &Position, square: Square) -> Option<String> {
    Some(position.piece_at(square)?.role.letter().to_uppercase().to_string())
}

fn check_all(records: &Records) {
    let batch = Arc::new(batch_of(records));
    let agree = |name: &str, twin: &dyn Fn(&Position, &Carried) -> Option<String>| agree(records, &batch, name, twin);
    agree("material", &|position, _| {
        let letters = |color| -> String {
            let mut letters: Vec<char> =
                pieces(position).iter().filter(|(_, it)| it.color == color).map(|(_, it)| it.role.letter()).collect();
            letters.sort_by_key(|letter| "kqrbnp".find(*letter));
            letters.into_iter().collect::<String>().to_uppercase()
        };
        Some(format!("{}v{}", letters(Color::White), letters(Color::Black)))
    });
    for (color, side) in [(Color::White, "white"), (Color::Black, "black")] {
        for (role, name) in Role::ALL.into_iter().zip(["pawns", "knights", "bishops", "rooks", "queens", "king"]) {
            agree(&format!("{side}_{name}_mask"), &|position, _| {
                let here = |(square, piece): (Square, Piece)| {
                    if piece == (Piece { color, role }) { 1u64 << square.index() } else { 0 }
                };
                Some(pieces(position).into_iter().map(here).sum::<u64>().to_string())
            });
        }
    }
    agree("standard", &|position, _| flag(is_standard(position)));
    agree("stm_material", &|position, _| points(position, position.side_to_move));
    agree("nstm_material", &|position, _| points(position, !position.side_to_move));
    agree("stm_king", &|position, _| {
        let color = position.side_to_move;
        let kings = pieces(position).into_iter().filter(|&(_, it)| it == Piece { color, role: Role::King });
        let seen = kings.map(|(square, _)| match color {
            Color::White => square.index(),
            Color::Black => 8 * (7 - square.index() / 8) + square.index() % 8,
        });
        Some(seen.min().unwrap_or(64).to_string())
    });
    agree("raw_score", &|_, carried| Some(carried.score?.to_string()));
    let score = |carried: &Carried| carried.score.filter(|score| !matches!(score, 32_002 | -32_002));
    agree("score", &|_, carried| Some(score(carried)?.to_string()));
    agree("stm_score", &|position, carried| {
        let sign = if position.side_to_move == Color::White { 1 } else { -1 };
        Some((sign * score(carried)?).to_string())
    });
    agree("stm_result", &|position, carried| {
        let winner = [Some(Color::Black), None, Some(Color::White)][usize::from(carried.result?)];
        let seen = match winner {
            None => "draw",
            Some(color) if color == position.side_to_move => "win",
            Some(_) => "loss",
        };
        Some(seen.to_owned())
    });
    agree("move_captures", &|position, carried| flag(captures(position, carried.mv?)));
    agree("move_promotes", &|_, carried| flag(carried.mv?.uci_as(true).as_str().len() == 5));
    agree("move_castles", &|position, carried| flag(carried.mv?.san(position).starts_with("O-O")));
    agree("move_en_passant", &|position, carried| {
        let mv = carried.mv?;
        flag(captures(position, mv) && mv.kind != MoveKind::Castle && position.piece_at(mv.to).is_none())
    });
    agree("move_checks", &|position, carried| {
        let mut after = position.clone();
        after.make(carried.mv?);
        flag(after.in_check())
    });
    agree("moved_piece", &|position, carried| letter(position, carried.mv?.from));
    agree("captured_piece", &|position, carried| {
        let mv = carried.mv?;
        match mv.kind {
            // What is not on the board any more; a rook that castles is.
            MoveKind::EnPassant => Some("P".to_owned()),
            _ if captures(position, mv) => letter(position, mv.to),
            _ => None,
        }
    });
    // Kernels define checks for one king.
    let has_kings = |position: &Position| Color::ALL.map(|color| position.pieces(color, Role::King).len()) == [1, 1];
    let kings: Records = records.iter().filter(|(position, _)| has_kings(position)).cloned().collect();
    self::agree(&kings, &Arc::new(batch_of(&kings)), "quiet", |position, carried| {
        if position.in_check() {
            return flag(false);
        }
        let mv = carried.mv?;
        flag(!captures(position, mv) && !matches!(mv.kind, MoveKind::Promotion(_)))
    });
    agree("opening_family", &|_, carried| {
        carried.opening.map(|name| name.split(':').next().unwrap().trim_end().to_owned())
    });
    agree("month", &|_, carried| {
        let of = |date: &str| DATES.iter().find(|(other, _)| *other == date).and_then(|(_, month)| *month);
        of(carried.date?).map(str::to_owned)
    });
    agree("speed", &|_, carried| Some(Speed::of_tag(carried.time_control?.as_bytes())?.name().to_owned()));
    agree("mean_elo", &|_, carried| {
        let [white, black] = carried.elos;
        Some(((u32::from(white?) + u32::from(black?)) / 2).to_string())
    });
}

#[test]
fn columns_of_random_games() {
    check_all(&random_play());
}

#[test]
fn columns_of_real_positions() {
    check_all(&real());
}

#[test]
fn columns_of_weird_boards() {
    check_all(&weird());
}

/// Equal keys are those of equal boards, sides to move, castling rights and legal en passant squares.
#[test]
fn distinct_keys_are_equal_for_equal_positions() {
    let mut records = random_play();
    records.extend(real());
    // Each once more with other clocks, and with an en passant square on which no capture is legal, where that goes.
    let again: Records = records
        .iter()
        .map(|(position, carried)| {
            let mut position = position.clone();
            position.halfmove = 77;
            position.fullmove = 99;
            let rank = if position.side_to_move == Color::White { '6' } else { '3' };
            for file in 'a'..='h' {
                let mut other = position.clone();
                other.en_passant = format!("{file}{rank}").parse().ok();
                let is_legal = other.legal_moves().iter().any(|mv| mv.kind == MoveKind::EnPassant);
                if position.en_passant.is_none() && !is_legal && Packed::pack(&other).is_ok() {
                    position = other;
                    break;
                }
            }
            (position, carried.clone())
        })
        .collect();
    records.extend(again);
    let found = filled(&Arc::new(batch_of(&records)), "distinct_key");
    let (mut keys, mut positions) = (HashMap::new(), HashMap::new());
    for ((position, _), key) in records.iter().zip(found) {
        let en_passants = position.legal_moves().iter().any(|mv| mv.kind == MoveKind::EnPassant);
        let what = (
            pieces(position).iter().map(|(square, piece)| format!("{square}{piece:?}")).collect::<String>(),
            position.side_to_move == Color::White,
            position.castling.0.0,
            position.en_passant.filter(|_| en_passants),
        );
        assert_eq!(*keys.entry(what.clone()).or_insert_with(|| key.clone()), key, "{position}");
        assert_eq!(*positions.entry(key).or_insert_with(|| what.clone()), what, "{position}");
    }
    assert!(keys.len() < records.len() / 2 + 1);
}

/// Where records have no such field, or a move that means nothing, nothing is made up.
#[test]
fn moves_need_not_be_legal_nor_there() {
    let mut random = Random::new(9);
    let (mut batch, mut moves) = (Batch::new(), Values::<u16>::default());
    for _ in 0..2000 {
        let mut word = || random.next() & random.next();
        let color = word();
        let types = [word(), word(), word()];
        batch.push(Packed { color: color & (types[0] | types[1] | types[2]), types }, 0, 1);
        moves.push(Some(random.next() as u16));
    }
    let plain = Arc::new(batch.clone());
    batch.fields.insert(Field::Move, Array::U16(moves.clone()));
    let batch = Arc::new(batch);
    for name in ["move_captures", "move_promotes", "move_castles", "move_en_passant", "move_checks", "move_see"] {
        for (row, value) in filled(&batch, name).into_iter().enumerate() {
            let mv = moves.get(row).copied().filter(|&bits| bits != 0).and_then(Move::from_bits);
            assert_eq!(value.is_some(), mv.is_some(), "{name}");
        }
        assert!(filled(&plain, name).iter().all(Option::is_none), "{name}");
    }
    for (name, square) in [("moved_piece", (|mv| mv.from) as fn(Move) -> Square), ("captured_piece", |mv| mv.to)] {
        let found = filled(&batch, name);
        for (row, value) in found.iter().enumerate() {
            let mv = moves.get(row).copied().filter(|&bits| bits != 0).and_then(Move::from_bits);
            let has_piece = |mv: Move| match mv.kind {
                MoveKind::Castle if name == "captured_piece" => false,
                MoveKind::EnPassant if name == "captured_piece" => true,
                _ => Bitboard(batch.board(row).occupied()).contains(square(mv)),
            };
            assert_eq!(value.is_some(), mv.is_some_and(has_piece), "{name}");
        }
        assert!(found.iter().any(Option::is_some) && found.iter().any(Option::is_none));
        assert!(filled(&plain, name).iter().all(Option::is_none), "{name}");
    }
    for name in ["raw_score", "score", "stm_score", "stm_result", "speed", "mean_elo", "opening_family", "month"] {
        assert!(filled(&plain, name).iter().all(Option::is_none), "{name}");
    }
}
