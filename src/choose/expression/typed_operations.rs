//! The plan of an expression: its operations with their types.

use super::piece_patterns::{On, Pattern};
use super::same_position::SamePosition;
use crate::table::predicate::Test;
use crate::table::{ChosenColumn, ComputedColumn, Kind, Needs};
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
    /// A real number: IEEE 754 with 64 bits, infinite ones included.
    Real,
    /// A text.
    Text,
    /// Null for every record.
    Null,
}

impl Type {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Boolean => "a condition",
            Self::Integer => "an integer",
            Self::Bits => "a set of squares or a key",
            Self::Real => "a real number",
            Self::Text => "a text",
            Self::Null => "null",
        }
    }
    pub(super) const fn is_number(self) -> bool {
        matches!(self, Self::Integer | Self::Bits | Self::Real | Self::Null)
    }
    /// The type of values of a column.
    pub(super) const fn of(kind: Kind) -> Option<Self> {
        Some(match kind {
            Kind::Flag => Self::Boolean,
            Kind::U8 | Kind::U16 | Kind::U32 | Kind::U64 | Kind::I16 | Kind::I32 | Kind::I64 => Self::Integer,
            Kind::F64 => Self::Real,
            Kind::Bits => Self::Bits,
            Kind::Text | Kind::Date => Self::Text,
            Kind::Board
            | Kind::ExactU8
            | Kind::ExactU16
            | Kind::Time
            | Kind::Timestamp
            | Kind::Bytes
            | Kind::ListOfU16
            | Kind::ListOfI16
            | Kind::ListOfI32
            | Kind::ListOfBits
            | Kind::ListOfI64
            | Kind::ListOfText => return None,
        })
    }
    /// The type of the items of a column of lists.
    pub(super) const fn of_items(kind: Kind) -> Option<Self> {
        match kind {
            Kind::ListOfU16 | Kind::ListOfI16 | Kind::ListOfI32 => Some(Self::Integer),
            Kind::ListOfBits => Some(Self::Bits),
            Kind::ListOfText => Some(Self::Text),
            _ => None,
        }
    }
    /// The type of columns with its values.
    pub(super) const fn column(self) -> Kind {
        match self {
            Self::Boolean => Kind::Flag,
            Self::Integer => Kind::I64,
            Self::Bits => Kind::Bits,
            Self::Real => Kind::F64,
            Self::Text | Self::Null => Kind::Text,
        }
    }
    /// The type that has the values of both.
    pub(super) fn joined(self, other: Self) -> Option<Self> {
        Some(match (self, other) {
            (Self::Null, kind) | (kind, Self::Null) => kind,
            (one, other) if one == other => one,
            (Self::Integer, Self::Bits) | (Self::Bits, Self::Integer) => Self::Bits,
            (Self::Real, Self::Integer | Self::Bits) | (Self::Integer | Self::Bits, Self::Real) => Self::Real,
            _ => return None,
        })
    }
}

/// The meaning of names in expressions: columns, each of them once, and named values.
#[derive(Clone, Debug, Default)]
pub(super) struct Scope {
    /// Whether names are those of [columns of games](super::game_condition_columns::column_of_game) only.
    pub(super) of_games: bool,
    pub(super) columns: Vec<ChosenColumn>,
    /// Columns that only these expressions know, such as those of a second file.
    pub(super) others: Arc<[Arc<dyn ComputedColumn>]>,
    pub(super) named: Vec<Named>,
    /// What is probably not meant as it is written.
    pub(super) notes: Vec<String>,
}

/// A value that was given a name.
#[derive(Clone, Debug)]
pub(super) struct Named {
    pub(super) name: Box<str>,
    pub(super) node: Node,
    pub(super) kind: Type,
    /// The named values that it needs, before it, and itself: places in the scope, in order.
    pub(super) needs: Vec<usize>,
}

impl Scope {
    /// The column of this name, which is not that of a game.
    pub(super) fn column(&self, name: &str) -> Option<ChosenColumn> {
        let other = self.others.iter().find(|other| other.name() == name);
        other.map(|other| ChosenColumn::Computed(Arc::clone(other))).or_else(|| ChosenColumn::named(name))
    }
    /// The place of a column, which is added if it is not there.
    pub(super) fn place(&mut self, column: ChosenColumn) -> usize {
        let known = self.columns.iter().position(|known| known.name() == column.name());
        known.unwrap_or_else(|| {
            self.columns.push(column);
            self.columns.len() - 1
        })
    }
    /// Whether a column of signed integers of 64 bits is tested, whose arrays have their bits as unsigned ones.
    pub(super) fn is_signed(&self, test: &Node) -> bool {
        test.column().is_some_and(|place| self.columns[place].kind() == Kind::I64)
    }
    /// Whether a column has dates.
    pub(super) fn is_date(&self, place: usize) -> bool {
        self.columns[place].kind() == Kind::Date
    }
    /// The place of a named value.
    pub(super) fn named(&self, name: &str) -> Option<usize> {
        self.named.iter().position(|named| named.name.eq_ignore_ascii_case(name))
    }
    /// Gives a value a name.
    pub(super) fn name(&mut self, name: &str, node: Node, kind: Type) {
        let mut needs = self.needs(&node);
        needs.push(self.named.len());
        self.named.push(Named { name: name.into(), node, kind, needs });
    }
    /// The named values that a plan needs, in order.
    fn needs(&self, node: &Node) -> Vec<usize> {
        let mut needs = BTreeSet::new();
        node.visit(&mut |node| {
            if let Node::Named(place) = node {
                needs.extend(self.named[*place].needs.iter().copied());
            }
        });
        needs.into_iter().collect()
    }
    /// The columns that a plan reads, with those of the named values that it needs, each once.
    pub(super) fn columns(&self, node: &Node) -> impl Iterator<Item = &ChosenColumn> {
        let mut places = BTreeSet::new();
        let needs = self.needs(node);
        let nodes = needs.iter().map(|&place| &self.named[place].node).chain([node]);
        for node in nodes {
            node.visit(&mut |node| places.extend(node.column()));
        }
        places.into_iter().map(|place| &self.columns[place])
    }
    /// What a plan needs of records.
    pub(super) fn needs_of(&self, node: &Node) -> Needs {
        let needs: Needs = self.columns(node).map(ChosenColumn::needs).collect();
        if self.looks_at_boards(node) { needs.and(Needs::NONE) } else { needs }
    }
    /// Whether it is the same for all records of a game.
    pub(super) fn is_of_games(&self, node: &Node) -> bool {
        self.columns(node).all(ChosenColumn::is_of_games) && !self.looks_at_boards(node)
    }
    /// Whether a plan is the same for all records.
    pub(super) fn is_constant(&self, node: &Node) -> bool {
        self.columns(node).next().is_none() && !self.looks_at_boards(node)
    }
    /// Whether a plan, or a named value that it needs, depends on boards.
    fn looks_at_boards(&self, node: &Node) -> bool {
        let mut looks = false;
        let needs = self.needs(node);
        let nodes = needs.iter().map(|&place| &self.named[place].node).chain([node]);
        for node in nodes {
            node.visit(&mut |node| looks |= matches!(node, Node::Matches(_) | Node::SamePosition(_) | Node::On(_)));
        }
        looks
    }
}

/// A comparison of numbers or texts.
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

/// A function whose operands and values are real numbers.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum RealFunction {
    Exp,
    Ln,
    Power,
    Sqrt,
    Round,
    Interpolate(Curve),
}

/// Linear interpolation between points, in their order.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Curve(pub(super) Arc<[(f64, f64)]>);

impl Curve {
    /// The value: the first y before the first point, and the last y after the last point.
    pub(super) fn at(&self, x: f64) -> f64 {
        let Self(points) = self;
        let after = points.partition_point(|&(point, _)| point <= x);
        match (after.checked_sub(1).map(|before| points[before]), points.get(after)) {
            (Some((x0, y0)), Some(&(x1, y1))) if x > x0 => y0 + (y1 - y0) * ((x - x0) / (x1 - x0)),
            (Some((_, y)), _) => y,
            (None, first) => first.map_or(f64::NAN, |&(_, y)| y),
        }
    }
}

/// An operation. Its operands have the types that it needs.
#[derive(Clone, Debug)]
pub(super) enum Node {
    Null,
    Boolean(bool),
    Integer(i64),
    Bits(u64),
    Constant(f64),
    Text(Arc<str>),
    Column(usize),
    /// The days of a column of dates, since 1970-01-01; null where a date has no day.
    Days(usize),
    /// A value that was given a name.
    Named(usize),
    /// A column compared with constants.
    Test(usize, Test),
    Not(Box<Node>),
    And(Vec<Node>),
    Or(Vec<Node>),
    IsNull(Box<Node>),
    /// Whether it is true, and not unknown.
    IsTrue(Box<Node>),
    /// Compares two values of this type.
    Compare(Comparison, Type, Box<[Node; 2]>),
    /// Combines two values of this type to a result of the same type.
    Arithmetic(Arithmetic, Type, Box<[Node; 2]>),
    Negate(Type, Box<Node>),
    Absolute(Type, Box<Node>),
    Count(Box<Node>),
    /// The number of items of a column of lists.
    Length(usize),
    /// The item of a column of lists, of this type, at a place from 1 on; negative ones are counted from the end.
    Item(Type, usize, Box<Node>),
    /// Whether a column of lists with items of this type has a value.
    Contains(Type, usize, Box<Node>),
    Like(Box<Node>, Like),
    /// Conditions with values of this type, and the value where none is true.
    Case(Type, Vec<(Node, Node)>, Box<Node>),
    Call(Function, Type, Vec<Node>),
    /// A function of real numbers.
    Real(RealFunction, Vec<Node>),
    /// A hash of values of these types, as a real number from 0 to 1.
    Uniform(Vec<(Type, Node)>),
    Matches(Pattern),
    SamePosition(SamePosition),
    On(On),
    /// A value converted to another type.
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
        let fold =
            |letter: char| if self.ignores_case { letter.to_lowercase().next().unwrap_or(letter) } else { letter };
        // The place to continue from after the last `%`, if the rest does not match.
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
    /// The parts of the condition, all of which have to be true.
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
            | Self::Constant(_)
            | Self::Text(_)
            | Self::Column(_)
            | Self::Days(_)
            | Self::Length(_)
            | Self::Named(_)
            | Self::Test(..)
            | Self::Matches(_)
            | Self::SamePosition(_)
            | Self::On(_) => Vec::new(),
            Self::Not(node)
            | Self::IsNull(node)
            | Self::IsTrue(node)
            | Self::Negate(_, node)
            | Self::Absolute(_, node)
            | Self::Count(node)
            | Self::Item(_, _, node)
            | Self::Contains(_, _, node)
            | Self::Like(node, _)
            | Self::Convert(_, _, node) => vec![node],
            Self::And(nodes) | Self::Or(nodes) | Self::Call(_, _, nodes) | Self::Real(_, nodes) => {
                nodes.iter().collect()
            }
            Self::Compare(_, _, nodes) | Self::Arithmetic(_, _, nodes) => nodes.iter().collect(),
            Self::Uniform(nodes) => nodes.iter().map(|(_, node)| node).collect(),
            Self::Case(_, cases, otherwise) => {
                cases.iter().flat_map(|(when, then)| [when, then]).chain([&**otherwise]).collect()
            }
        }
    }

    /// Adds the texts in it that can be its value.
    pub(super) fn push_literals<'a>(&'a self, texts: &mut Vec<&'a str>) {
        match self {
            Self::Text(text) => texts.push(text),
            Self::Case(_, cases, otherwise) => {
                cases.iter().for_each(|(_, then)| then.push_literals(texts));
                otherwise.push_literals(texts);
            }
            Self::Call(_, _, nodes) => nodes.iter().for_each(|node| node.push_literals(texts)),
            _ => {}
        }
    }

    /// Number of its operations.
    pub(super) fn len(&self) -> usize {
        1 + self.operands().into_iter().map(Self::len).sum::<usize>()
    }

    pub(super) fn column(&self) -> Option<usize> {
        match self {
            Self::Column(place)
            | Self::Days(place)
            | Self::Length(place)
            | Self::Item(_, place, _)
            | Self::Contains(_, place, _)
            | Self::Test(place, _) => Some(*place),
            _ => None,
        }
    }

    /// It and all its parts.
    fn visit(&self, visit: &mut dyn FnMut(&Self)) {
        visit(self);
        self.operands().into_iter().for_each(|node| node.visit(visit));
    }

    /// The approximate cost of the condition, compared with others.
    pub(super) fn cost(&self, scope: &Scope) -> u32 {
        let of_column = |column: &ChosenColumn| match column {
            // Texts are written for each record, and moves have to be searched for.
            column if !column.is_carried() && column.kind() == Kind::Text || column.kind().is_list() => 50,
            column if column.kind() == Kind::Text => 4,
            _ => 1,
        };
        scope.columns(self).map(of_column).fold(self.len() as u32, u32::saturating_add)
    }
}
