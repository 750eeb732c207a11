//! The plan of an expression: its operations with their types.

use super::pattern::{On, Pattern};
use crate::queries::Queries;
use crate::table::predicate::Test;
use crate::table::{Array, ChosenColumn, Fields, Kind, Tile};
use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The type of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Type {
    /// True or false.
    Boolean,
    /// A signed integer of 64 bits.
    Integer,
    /// A set of squares, or a key: an unsigned integer of 64 bits.
    Bits,
    /// A number with a fraction.
    Number,
    /// A text.
    Text,
    /// Null, whatever the record.
    Null,
}

impl Type {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Boolean => "a condition",
            Self::Integer => "an integer",
            Self::Bits => "a set of squares or a key",
            Self::Number => "a number",
            Self::Text => "a text",
            Self::Null => "null",
        }
    }
    pub(super) const fn is_number(self) -> bool {
        matches!(self, Self::Integer | Self::Bits | Self::Number | Self::Null)
    }
    /// The type of values of a column.
    pub(super) const fn of(kind: Kind) -> Option<Self> {
        Some(match kind {
            Kind::Flag => Self::Boolean,
            Kind::U8 | Kind::U16 | Kind::U32 | Kind::U64 | Kind::I16 => Self::Integer,
            Kind::Bits => Self::Bits,
            Kind::Text | Kind::Date => Self::Text,
            Kind::Board => return None,
        })
    }
    /// The type that has the values of both.
    pub(super) fn joined(self, other: Self) -> Option<Self> {
        Some(match (self, other) {
            (Self::Null, kind) | (kind, Self::Null) => kind,
            (one, other) if one == other => one,
            (Self::Integer, Self::Bits) | (Self::Bits, Self::Integer) => Self::Bits,
            (Self::Number, Self::Integer | Self::Bits) | (Self::Integer | Self::Bits, Self::Number) => Self::Number,
            _ => return None,
        })
    }
}

/// The columns of an expression, each once.
#[derive(Debug, Default)]
pub(super) struct Columns(Vec<ChosenColumn>);

impl Columns {
    /// The place of a column, which is added if it is not there.
    pub(super) fn place(&mut self, column: ChosenColumn) -> usize {
        let known = self.0.iter().position(|known| known.name() == column.name());
        known.unwrap_or_else(|| {
            self.0.push(column);
            self.0.len() - 1
        })
    }
    pub(super) fn queries(&self) -> Queries {
        self.0.iter().map(queries_of).collect()
    }
    pub(super) fn fields(&self) -> Fields {
        let listed = self.0.iter().filter_map(|column| match column {
            ChosenColumn::Listed(column) => Some(column.fields),
            ChosenColumn::Tag(_) => None,
        });
        listed.fold(Fields::NONE, Fields::union)
    }
    #[cfg(feature = "cluster")]
    pub(super) fn depend_on_records_before(&self) -> bool {
        self.0.iter().any(ChosenColumn::depends_on_records_before)
    }
    pub(super) fn tags(&self) -> Arc<[Arc<str>]> {
        let tags: BTreeSet<&str> = self.0.iter().filter_map(ChosenColumn::tag).collect();
        tags.into_iter().map(Arc::from).collect()
    }
    /// Their values in a tile, which are filled as they are needed.
    pub(super) fn of<'a>(&'a self, tile: &'a Tile<'a>) -> Filled<'a> {
        Filled { columns: &self.0, tile, arrays: self.0.iter().map(|_| OnceCell::new()).collect() }
    }
}

fn queries_of(column: &ChosenColumn) -> Queries {
    match column {
        ChosenColumn::Listed(column) => column.queries,
        ChosenColumn::Tag(_) => Queries::NONE,
    }
}

/// The columns of a tile.
pub(super) struct Filled<'a> {
    columns: &'a [ChosenColumn],
    pub(super) tile: &'a Tile<'a>,
    arrays: Vec<OnceCell<Array>>,
}

impl Filled<'_> {
    pub(super) fn column(&self, place: usize) -> &Array {
        self.arrays[place].get_or_init(|| self.columns[place].fill(self.tile))
    }
    pub(super) fn len(&self) -> usize {
        self.tile.len
    }
    pub(super) fn kind(&self, place: usize) -> Type {
        Type::of(self.columns[place].kind()).unwrap_or(Type::Null)
    }
}

/// How numbers or texts are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Comparison {
    Equal,
    Unequal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// An operation on two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arithmetic {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    And,
    Or,
    Xor,
    ShiftLeft,
    ShiftRight,
}

/// A function of values of one type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Function {
    Least,
    Greatest,
    Coalesce,
}

/// An operation. Its operands have the types that it needs.
#[derive(Clone, Debug)]
pub(super) enum Node {
    Null,
    Boolean(bool),
    Integer(i64),
    Bits(u64),
    Number(f64),
    Text(Arc<str>),
    Column(usize),
    /// A column compared with constants.
    Test(usize, Test),
    Not(Box<Node>),
    And(Vec<Node>),
    Or(Vec<Node>),
    IsNull(Box<Node>),
    /// Whether it is true, and not unknown.
    IsTrue(Box<Node>),
    /// Of two values of this type.
    Compare(Comparison, Type, Box<[Node; 2]>),
    /// Of two values of this type, as the result is.
    Arithmetic(Arithmetic, Type, Box<[Node; 2]>),
    Negate(Type, Box<Node>),
    Absolute(Type, Box<Node>),
    Count(Box<Node>),
    Like(Box<Node>, Like),
    /// Conditions with values of this type, and the value where none is true.
    Case(Type, Vec<(Node, Node)>, Box<Node>),
    Call(Function, Type, Vec<Node>),
    Matches(Pattern),
    On(On),
    /// A value as one of another type.
    Convert(Type, Type, Box<Node>),
}

/// A pattern of `like`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Like {
    pub(super) parts: Vec<LikePart>,
    pub(super) ignores_case: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LikePart {
    Letter(char),
    Any,
    Many,
}

impl Like {
    pub(super) fn matches(&self, text: &str) -> bool {
        let fold = |letter: char| match self.ignores_case {
            true => letter.to_lowercase().next().unwrap_or(letter),
            false => letter,
        };
        // Where to go on after the last `%`, if what follows does not match.
        let mut again: Option<(usize, &str)> = None;
        let (mut at, mut rest) = (0, text);
        loop {
            let next = rest.chars().next();
            match (self.parts.get(at), next) {
                (Some(LikePart::Many), _) => {
                    again = Some((at, rest));
                    at += 1;
                    continue;
                }
                (Some(&LikePart::Letter(letter)), Some(other)) if fold(letter) == fold(other) => {
                    at += 1;
                    rest = &rest[other.len_utf8()..];
                    continue;
                }
                (Some(LikePart::Any), Some(other)) => {
                    at += 1;
                    rest = &rest[other.len_utf8()..];
                    continue;
                }
                (None, None) => return true,
                _ => {}
            }
            let Some((many, from)) = again else {
                return false;
            };
            let Some(skipped) = from.chars().next() else {
                return false;
            };
            rest = &from[skipped.len_utf8()..];
            again = Some((many, rest));
            at = many + 1;
        }
    }
}

impl Node {
    /// Its parts, all of which have to be true.
    pub(super) fn conjuncts(self) -> Vec<Self> {
        match self {
            Self::And(nodes) => nodes.into_iter().flat_map(Self::conjuncts).collect(),
            node => vec![node],
        }
    }

    fn operands(&self) -> Vec<&Self> {
        match self {
            Self::Null
            | Self::Boolean(_)
            | Self::Integer(_)
            | Self::Bits(_)
            | Self::Number(_)
            | Self::Text(_)
            | Self::Column(_)
            | Self::Test(..)
            | Self::Matches(_)
            | Self::On(_) => Vec::new(),
            Self::Not(node)
            | Self::IsNull(node)
            | Self::IsTrue(node)
            | Self::Negate(_, node)
            | Self::Absolute(_, node)
            | Self::Count(node)
            | Self::Like(node, _)
            | Self::Convert(_, _, node) => vec![node],
            Self::And(nodes) | Self::Or(nodes) | Self::Call(_, _, nodes) => nodes.iter().collect(),
            Self::Compare(_, _, nodes) | Self::Arithmetic(_, _, nodes) => nodes.iter().collect(),
            Self::Case(_, cases, otherwise) => {
                cases.iter().flat_map(|(when, then)| [when, then]).chain([&**otherwise]).collect()
            }
        }
    }

    /// Number of its operations.
    pub(super) fn len(&self) -> usize {
        1 + self.operands().into_iter().map(Self::len).sum::<usize>()
    }

    fn column(&self) -> Option<usize> {
        match self {
            Self::Column(place) | Self::Test(place, _) => Some(*place),
            _ => None,
        }
    }

    /// Whether it needs queries answered.
    pub(super) fn needs_queries(&self, columns: &Columns) -> bool {
        let own = self.column().is_some_and(|place| queries_of(&columns.0[place]) != Queries::NONE);
        own || self.operands().into_iter().any(|node| node.needs_queries(columns))
    }

    /// About how long it takes, compared with others.
    pub(super) fn cost(&self, columns: &Columns) -> u32 {
        let own = match self.column() {
            None => 1,
            Some(place) => match &columns.0[place] {
                // Texts are written for each record, and moves are looked for.
                column if !column.is_carried() && column.kind() == Kind::Text => 50,
                column if column.kind() == Kind::Text => 4,
                _ => 1,
            },
        };
        self.operands().into_iter().fold(own, |sum, node| sum.saturating_add(node.cost(columns)))
    }
}
