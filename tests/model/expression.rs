//! Conditions and new values as small trees: their text, and their value for a record.

use super::records::{Outcome, Record};
use lanefish::chess::random::Random;
use lanefish::chess::{Position, Role};
use std::fmt;

/// The columns that expressions name. All of them are integers, flags or results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Column {
    Index,
    Game,
    Ply,
    Score,
    RawScore,
    Mate,
    ScoreBefore,
    WhiteElo,
    Halfmove,
    Fullmove,
    Pieces,
    LegalMoves,
}

impl Column {
    pub(crate) const ALL: [Self; 12] = [
        Self::Index,
        Self::Game,
        Self::Ply,
        Self::Score,
        Self::RawScore,
        Self::Mate,
        Self::ScoreBefore,
        Self::WhiteElo,
        Self::Halfmove,
        Self::Fullmove,
        Self::Pieces,
        Self::LegalMoves,
    ];
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Index => "index",
            Self::Game => "game",
            Self::Ply => "ply",
            Self::Score => "score",
            Self::RawScore => "raw_score",
            Self::Mate => "mate",
            Self::ScoreBefore => "score_before",
            Self::WhiteElo => "white_elo",
            Self::Halfmove => "halfmove",
            Self::Fullmove => "fullmove",
            Self::Pieces => "pieces",
            Self::LegalMoves => "legal_moves",
        }
    }
    pub(crate) fn of(self, record: &Record) -> Option<i64> {
        let position = &record.position;
        match self {
            Self::Index => Some(record.index as i64),
            Self::Game => record.game.map(|game| game as i64),
            Self::Ply => record.ply.map(i64::from),
            Self::Score => record.real_score().map(i64::from),
            Self::RawScore => record.score.map(i64::from),
            Self::Mate => record.mate.map(i64::from),
            Self::ScoreBefore => record.score_before.map(i64::from),
            Self::WhiteElo => record.tags.white_elo.map(i64::from),
            Self::Halfmove => Some(position.halfmove.into()),
            Self::Fullmove => Some(position.fullmove.into()),
            Self::Pieces => Some(position.occupied().0.count_ones().into()),
            Self::LegalMoves => Some(position.legal_moves().len() as i64),
        }
    }
}

/// An integer, or nothing.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Number {
    Column(Column),
    Literal(i64),
    Negated(Box<Number>),
    Times(Box<Number>, i64),
    Rest(Box<Number>, i64),
    Case(Box<Condition>, Box<Number>, Box<Number>),
}

impl Number {
    pub(crate) fn of(&self, record: &Record) -> Option<i64> {
        match self {
            Self::Column(column) => column.of(record),
            Self::Literal(number) => Some(*number),
            Self::Negated(number) => number.of(record)?.checked_neg(),
            Self::Times(number, factor) => number.of(record)?.checked_mul(*factor),
            Self::Rest(number, divisor) => number.of(record)?.checked_rem(*divisor),
            Self::Case(condition, yes, no) => match condition.of(record) {
                Some(true) => yes.of(record),
                _ => no.of(record),
            },
        }
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Column(column) => f.write_str(column.name()),
            Self::Literal(number) => write!(f, "{number}"),
            Self::Negated(number) => write!(f, "(- ({number}))"),
            Self::Times(number, factor) => write!(f, "({number} * {factor})"),
            Self::Rest(number, divisor) => write!(f, "({number} % {divisor})"),
            Self::Case(condition, yes, no) => write!(f, "case when {condition} then {yes} else {no} end"),
        }
    }
}

/// A condition: true, false or neither.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Condition {
    Compare(Number, Comparison, Number),
    Missing(Column),
    /// `uniform(COLUMN) < thousandths / 1000`, with or without a second value.
    Chance(Column, bool, u32),
    WhiteMoves,
    InCheck,
    Quiet,
    HasMove,
    Result(Outcome),
    Not(Box<Condition>),
    And(Box<Condition>, Box<Condition>),
    Or(Box<Condition>, Box<Condition>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comparison {
    Less,
    AtMost,
    Equal,
    Unequal,
}

impl Condition {
    pub(crate) fn of(&self, record: &Record) -> Option<bool> {
        match self {
            Self::Compare(a, how, b) => {
                let (a, b) = (a.of(record)?, b.of(record)?);
                Some(match how {
                    Comparison::Less => a < b,
                    Comparison::AtMost => a <= b,
                    Comparison::Equal => a == b,
                    Comparison::Unequal => a != b,
                })
            }
            Self::Missing(column) => Some(column.of(record).is_none()),
            Self::Chance(column, with_text, thousandths) => {
                let mut values = vec![column.of(record)? as u64];
                if *with_text {
                    // A text is its bytes, eight for each value, and then its length, inverted.
                    values.extend([u64::from(b'b'), !1]);
                }
                Some(uniform(&values) < f64::from(*thousandths) / 1000.0)
            }
            Self::WhiteMoves => Some(record.white_moves()),
            Self::InCheck => Some(record.position.in_check()),
            Self::Quiet => {
                let Some(played) = record.played else {
                    return record.position.in_check().then_some(false);
                };
                let promotes = matches!(played.kind, lanefish::chess::MoveKind::Promotion(_));
                Some(!record.position.in_check() && !captures(&record.position, played) && !promotes)
            }
            Self::HasMove => Some(record.played.is_some()),
            Self::Result(result) => record.result.map(|of| of == *result),
            Self::Not(condition) => condition.of(record).map(|value| !value),
            Self::And(a, b) => match (a.of(record), b.of(record)) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (Some(true), Some(true)) => Some(true),
                _ => None,
            },
            Self::Or(a, b) => match (a.of(record), b.of(record)) {
                (Some(true), _) | (_, Some(true)) => Some(true),
                (Some(false), Some(false)) => Some(false),
                _ => None,
            },
        }
    }
    /// Whether a record is taken.
    pub(crate) fn takes(&self, record: &Record) -> bool {
        self.of(record) == Some(true)
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Compare(a, how, b) => {
                let how = match how {
                    Comparison::Less => "<",
                    Comparison::AtMost => "<=",
                    Comparison::Equal => "=",
                    Comparison::Unequal => "<>",
                };
                write!(f, "{a} {how} {b}")
            }
            Self::Missing(column) => write!(f, "{} is null", column.name()),
            Self::Chance(column, with_text, thousandths) => {
                let second = if *with_text { ", 'b'" } else { "" };
                write!(f, "uniform({}{second}) < 0.{thousandths:03}", column.name())
            }
            Self::WhiteMoves => f.write_str("stm = 'w'"),
            Self::InCheck => f.write_str("in_check"),
            Self::Quiet => f.write_str("quiet"),
            Self::HasMove => f.write_str("move is not null"),
            Self::Result(result) => write!(f, "result = '{}'", result.text()),
            Self::Not(condition) => write!(f, "not ({condition})"),
            Self::And(a, b) => write!(f, "({a} and {b})"),
            Self::Or(a, b) => write!(f, "({a} or {b})"),
        }
    }
}

/// Whether a move takes a piece, en passant included.
pub(crate) fn captures(position: &Position, played: lanefish::chess::Move) -> bool {
    let taken = position.piece_at(played.to).is_some_and(|piece| piece.color != position.side_to_move);
    let pawn = position.pieces(position.side_to_move, Role::Pawn).contains(played.from);
    taken || pawn && position.en_passant == Some(played.to) && played.from.file() != played.to.file()
}

/// The documented hash of 64-bit values as a real number from 0 up to 1.
pub(crate) fn uniform(values: &[u64]) -> f64 {
    let mix = |value: u64| {
        let mixed = (value ^ value >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ mixed >> 31
    };
    let hash = values
        .iter()
        .fold(0x6a09_e667_f3bc_c908, |hash: u64, &value| mix(mix(hash ^ value).wrapping_add(0x9e37_79b9_7f4a_7c15)));
    (hash >> 11) as f64 / (1u64 << 53) as f64
}

/// Draws a number expression.
pub(crate) fn draw_number(random: &mut Random, depth: u32) -> Number {
    let column = Number::Column(Column::ALL[random.below(Column::ALL.len() as u32) as usize]);
    match random.below(if depth == 0 { 3 } else { 6 }) {
        0..3 => column,
        3 => Number::Rest(Box::new(column), i64::from(2 + random.below(5))),
        4 => Number::Negated(Box::new(column)),
        _ => Number::Times(Box::new(column), i64::from(random.below(4)) - 1),
    }
}

/// Draws a condition.
pub(crate) fn draw_condition(random: &mut Random, depth: u32) -> Condition {
    if depth > 0 && random.below(2) == 0 {
        let mut part = || Box::new(draw_condition(random, depth - 1));
        return match (part(), part(), random.below(3)) {
            (a, _, 0) => Condition::Not(a),
            (a, b, 1) => Condition::And(a, b),
            (a, b, _) => Condition::Or(a, b),
        };
    }
    let column = Column::ALL[random.below(Column::ALL.len() as u32) as usize];
    match random.below(12) {
        0..4 => {
            let number = draw_number(random, 1);
            let literal = match &number {
                Number::Column(Column::Score | Column::RawScore | Column::ScoreBefore) => {
                    i64::from(random.below(400)) - 200
                }
                Number::Column(Column::WhiteElo) => i64::from(1000 + random.below(1500)),
                _ => i64::from(random.below(30)),
            };
            let how = [Comparison::Less, Comparison::AtMost, Comparison::Equal, Comparison::Unequal];
            Condition::Compare(number, how[random.below(4) as usize], Number::Literal(literal))
        }
        4 => Condition::Missing(column),
        5 | 6 => {
            let column = [Column::Index, Column::Index, Column::Game, Column::Ply][random.below(4) as usize];
            Condition::Chance(column, random.below(3) == 0, 100 + random.below(900))
        }
        7 => Condition::WhiteMoves,
        8 => Condition::InCheck,
        9 => Condition::Quiet,
        10 => Condition::HasMove,
        _ => Condition::Result(Outcome::ALL[random.below(3) as usize]),
    }
}
