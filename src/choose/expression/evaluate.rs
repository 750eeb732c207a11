//! Evaluation of plans over tiles.

use super::real_functions;
use super::typed_operations::{Arithmetic, Comparison, Function, LikePart, Node, RealFunction, Scope, Type};
use crate::games::Date;
use crate::packed::Group;
use crate::seed::Draw;
use crate::table::predicate::Test;
use crate::table::{
    Array, Items, Kind, Lists, MoveShape, Texts, Tile, Values, bits_where, material_among, material_signatures,
    moves_of_shapes, rows_of,
};
use std::cell::OnceCell;
use std::cmp::Ordering;
use std::sync::Arc;

/// The rows for which a condition is true, and those for which it is false, a bit each; it is unknown in all others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Truth {
    pub(super) yes: Vec<u64>,
    pub(super) no: Vec<u64>,
}

/// The value of an expression for each record of a tile; `None` is null.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Evaluated {
    /// Conditions.
    Boolean(Vec<Option<bool>>),
    /// Signed integers.
    Integer(Vec<Option<i64>>),
    /// Sets of squares and keys.
    Bits(Vec<Option<u64>>),
    /// Real numbers, none of which is NaN.
    Real(Vec<Option<f64>>),
    /// Texts.
    Text(Vec<Option<Arc<str>>>),
    /// Null for every record.
    Null,
}

impl Evaluated {
    /// As a column of `len` rows.
    pub(super) fn into_column(self, len: usize) -> Array {
        fn values<T, U: Clone + Default>(from: Vec<Option<T>>, to: impl Fn(T) -> U) -> Values<U> {
            let mut values = Values::default();
            from.into_iter().for_each(|value| values.push(value.map(&to)));
            values
        }
        match self {
            Self::Boolean(flags) => Array::Flag(values(flags, |flag| flag)),
            Self::Integer(numbers) => Array::U64(values(numbers, |number| number as u64)),
            Self::Bits(bits) => Array::U64(values(bits, |bits| bits)),
            Self::Real(numbers) => Array::U64(values(numbers, f64::to_bits)),
            Self::Text(texts) => {
                let mut column = Texts::default();
                texts.iter().for_each(|text| column.push(text.as_deref()));
                Array::Text(column)
            }
            Self::Null => Array::Text(Texts::missing(len)),
        }
    }
}

/// The values of columns and names in a tile.
pub(super) struct Filled<'a> {
    scope: &'a Scope,
    /// `None` for constants, which are evaluated like a single record without values.
    tile: Option<&'a Tile<'a>>,
    columns: Vec<OnceCell<Array>>,
    named: Vec<OnceCell<Evaluated>>,
}

impl<'a> Filled<'a> {
    fn column(&self, place: usize) -> &Array {
        self.columns[place].get_or_init(|| match self.tile {
            Some(tile) if self.scope.columns[place].name() == "material" => material_signatures(tile),
            Some(tile) => self.scope.columns[place].fill(tile),
            None => Array::Flag(Values::missing(1)),
        })
    }
    fn named(&self, place: usize) -> &Evaluated {
        let value = |place: usize| self.named[place].get_or_init(|| owned(&self.scope.named[place].node, self));
        // Evaluated one after the other, because recursion through nested names would need stack.
        for &place in &self.scope.named[place].needs {
            value(place);
        }
        value(place)
    }
    fn len(&self) -> usize {
        self.tile.map_or(1, |tile| tile.len)
    }
    /// The tile, if a column has the pieces of its boards as letters.
    fn tile_with_material(&self, place: usize) -> Option<&'a Tile<'a>> {
        self.tile.filter(|_| self.scope.columns[place].name() == "material")
    }
    /// Whether a column has moves as SAN.
    fn is_san(&self, place: usize) -> bool {
        self.tile.is_some() && self.scope.columns[place].name() == "san"
    }
    /// The rows with a move, and the SAN of those whose moves have one of these shapes.
    fn san_where(&self, place: usize, shapes: &[MoveShape]) -> (Vec<u64>, Array) {
        let Some(tile) = self.tile else { return (vec![0], Array::Flag(Values::missing(1))) };
        let (moves, candidates) = moves_of_shapes(tile, shapes);
        (moves, self.scope.columns[place].fill(&tile.masked(&candidates)))
    }
    fn groups(&self) -> &'a [Group] {
        self.tile.map_or(&[], |tile| tile.groups)
    }
    fn kind_of_column(&self, place: usize) -> Type {
        Type::of(self.scope.columns[place].kind()).unwrap_or(Type::Null)
    }
    fn kind_of_named(&self, place: usize) -> Type {
        self.scope.named[place].kind
    }
}

impl Scope {
    /// The value of a plan that is the same for all records; `None` if it may differ.
    pub(super) fn constant(&self, node: &Node) -> Option<Evaluated> {
        self.is_constant(node).then(|| owned(node, &self.filled(None)))
    }
    /// Values in a tile, which are filled as they are needed.
    pub(super) fn of<'a>(&'a self, tile: &'a Tile<'a>) -> Filled<'a> {
        self.filled(Some(tile))
    }
    fn filled<'a>(&'a self, tile: Option<&'a Tile<'a>>) -> Filled<'a> {
        Filled {
            scope: self,
            tile,
            columns: self.columns.iter().map(|_| OnceCell::new()).collect(),
            named: self.named.iter().map(|_| OnceCell::new()).collect(),
        }
    }
}

/// The values of a plan, in their own type.
pub(super) fn owned(node: &Node, values: &Filled<'_>) -> Evaluated {
    match kind(node, values) {
        Type::Boolean => Evaluated::Boolean(flags(&truth(node, values), values.len())),
        Type::Integer => Evaluated::Integer(numbers(node, values)),
        Type::Bits => Evaluated::Bits(numbers(node, values)),
        Type::Real => Evaluated::Real(numbers(node, values)),
        Type::Text => {
            let texts = texts(node, values).into_iter();
            Evaluated::Text(texts.map(|text| text.map(Arc::from)).collect())
        }
        Type::Null => Evaluated::Null,
    }
}

fn kind(node: &Node, values: &Filled<'_>) -> Type {
    match node {
        Node::Null => Type::Null,
        Node::Integer(_) | Node::Count(_) | Node::Length(_) | Node::Days(_) => Type::Integer,
        Node::Bits(_) => Type::Bits,
        Node::Constant(_) | Node::Real(..) | Node::Uniform(_) => Type::Real,
        Node::Text(_) => Type::Text,
        Node::Column(place) => values.kind_of_column(*place),
        Node::Named(place) => values.kind_of_named(*place),
        Node::Arithmetic(_, kind, _)
        | Node::Negate(kind, _)
        | Node::Absolute(kind, _)
        | Node::Item(kind, ..)
        | Node::Case(kind, ..)
        | Node::Call(_, kind, _)
        | Node::Convert(_, kind, _) => *kind,
        Node::Boolean(_)
        | Node::Test(..)
        | Node::Not(_)
        | Node::And(_)
        | Node::Or(_)
        | Node::IsNull(_)
        | Node::IsTrue(_)
        | Node::Compare(..)
        | Node::Contains(..)
        | Node::Like(..)
        | Node::Matches(_)
        | Node::SamePosition(_)
        | Node::On(_) => Type::Boolean,
    }
}

fn flags(truth: &Truth, len: usize) -> Vec<Option<bool>> {
    let flag = |row: usize| match (truth.yes[row / 64] >> (row % 64) & 1, truth.no[row / 64] >> (row % 64) & 1) {
        (1, _) => Some(true),
        (_, 1) => Some(false),
        _ => None,
    };
    (0..len).map(flag).collect()
}

impl Truth {
    /// The same value for all rows.
    fn all(value: Option<bool>, len: usize) -> Self {
        let bits = |is: bool| vec![if is { !0 } else { 0 }; len.div_ceil(64)];
        Self { yes: bits(value == Some(true)), no: bits(value == Some(false)) }
    }
    /// Known in the rows that have a value.
    fn of_bits(yes: Vec<u64>, present: &[u64]) -> Self {
        let no = yes.iter().zip(present).map(|(yes, present)| present & !yes).collect();
        Self { yes, no }
    }
    /// Given by a function of each row.
    fn collect(values: impl Iterator<Item = Option<bool>>, len: usize) -> Self {
        let mut truth = Self::all(None, len);
        for (row, value) in values.enumerate() {
            truth.yes[row / 64] |= u64::from(value == Some(true)) << (row % 64);
            truth.no[row / 64] |= u64::from(value == Some(false)) << (row % 64);
        }
        truth
    }
    fn and(mut self, other: &Self) -> Self {
        self.yes.iter_mut().zip(&other.yes).for_each(|(bits, other)| *bits &= other);
        self.no.iter_mut().zip(&other.no).for_each(|(bits, other)| *bits |= other);
        self
    }
    fn not(self) -> Self {
        Self { yes: self.no, no: self.yes }
    }
}

/// The rows in which a condition is true, and those in which it is false.
pub(super) fn truth(node: &Node, values: &Filled<'_>) -> Truth {
    let len = values.len();
    match node {
        Node::Null => Truth::all(None, len),
        Node::Boolean(value) => Truth::all(Some(*value), len),
        Node::Column(place) => {
            let array = values.column(*place);
            Truth::of_bits(Test::number(1).bits(array), array.present())
        }
        Node::Test(place, Test::In(words)) if let Some(tile) = values.tile_with_material(*place) => {
            let yes = material_among(tile, words);
            Truth { no: yes.iter().map(|bits| !bits).collect(), yes }
        }
        Node::Test(place, Test::In(words)) if values.is_san(*place) => {
            // A shape of each word, so that few moves have to be written.
            let shapes: Vec<MoveShape> = words.iter().map(|word| MoveShape::of_san(word.chars().map(Some))).collect();
            let (moves, like) = values.san_where(*place, &shapes);
            Truth::of_bits(Test::In(words.clone()).bits(&like), &moves)
        }
        Node::Test(place, test) => {
            let array = values.column(*place);
            let yes = test.bits(array);
            match test {
                Test::Present | Test::Missing => Truth { no: yes.iter().map(|bits| !bits).collect(), yes },
                _ => Truth::of_bits(yes, array.present()),
            }
        }
        Node::Not(inner) => truth(inner, values).not(),
        Node::And(nodes) => nodes.iter().fold(Truth::all(Some(true), len), |all, node| all.and(&truth(node, values))),
        Node::Or(nodes) => {
            nodes.iter().fold(Truth::all(Some(true), len), |all, node| all.and(&truth(node, values).not())).not()
        }
        Node::IsNull(inner) => is_null(inner, values),
        Node::IsTrue(inner) => {
            let Truth { yes, .. } = truth(inner, values);
            Truth { no: yes.iter().map(|bits| !bits).collect(), yes }
        }
        Node::Compare(comparison, kind, sides) => {
            let [left, right] = &**sides;
            if let (Node::Arithmetic(Arithmetic::And, Type::Bits, both), Some(number)) = (left, constant_bits(right))
                && let [Node::Column(place), mask] = &**both
                && let (Some(mask), Array::U64(bits)) = (constant_bits(mask), values.column(*place))
            {
                let holds = |bits: u64| comparison.holds((bits & mask).cmp(&number));
                let yes = bits.values().chunks(64).zip(bits.present());
                let yes = yes.map(|(bits, present)| bits_where(bits, holds) & present).collect();
                return Truth::of_bits(yes, bits.present());
            }
            match kind {
                Type::Boolean => {
                    let (left, right) = (flags(&truth(left, values), len), flags(&truth(right, values), len));
                    compared(*comparison, left, right, bool::cmp)
                }
                Type::Integer => compared::<i64>(*comparison, numbers(left, values), numbers(right, values), i64::cmp),
                Type::Bits => compared::<u64>(*comparison, numbers(left, values), numbers(right, values), u64::cmp),
                Type::Real => {
                    let order = |a: &f64, b: &f64| a.partial_cmp(b).unwrap_or(Ordering::Equal);
                    compared::<f64>(*comparison, numbers(left, values), numbers(right, values), order)
                }
                Type::Text => compared(*comparison, texts(left, values), texts(right, values), |a, b| a.cmp(b)),
                Type::Null => Truth::all(None, len),
            }
        }
        Node::Like(inner, pattern) => {
            if let Node::Column(place) = **inner {
                if values.is_san(place) && !pattern.ignores_case {
                    let letters = pattern.parts.iter().map(|part| match part {
                        LikePart::Letter(letter) => Some(*letter),
                        LikePart::Any | LikePart::Many => None,
                    });
                    let (moves, sans) = values.san_where(place, &[MoveShape::of_san(letters)]);
                    let texts = (0..len).map(|row| sans.text(row).map(|text| pattern.matches(text)));
                    let Truth { yes, .. } = Truth::collect(texts, len);
                    return Truth::of_bits(yes, &moves);
                }
                let array = values.column(place);
                if let Array::Text(texts) = array {
                    return Truth::of_bits(texts.rows_where(|word| pattern.matches(word)), array.present());
                }
            }
            let texts = texts(inner, values).into_iter();
            Truth::collect(texts.map(|text| text.map(|text| pattern.matches(text))), len)
        }
        Node::Contains(kind, place, value) => {
            let Array::Lists(lists) = values.column(*place) else { return Truth::all(None, len) };
            let known: Vec<Option<bool>> = match (lists.items(), kind) {
                (Items::Text(items), _) => {
                    let wanted = texts(value, values).into_iter().enumerate();
                    let has = |(row, wanted): (usize, Option<&str>)| {
                        let (items_of_row, wanted) = (lists.range(row)?, wanted?);
                        Some(items_of_row.into_iter().any(|item| items.bytes(item) == wanted.as_bytes()))
                    };
                    wanted.map(has).collect()
                }
                (items @ Items::U64(_), _) => {
                    let wanted = numbers::<u64>(value, values).into_iter().enumerate();
                    let has = |(row, wanted): (usize, Option<u64>)| {
                        let (items_of_row, wanted) = (lists.range(row)?, wanted?);
                        Some(items_of_row.into_iter().any(|item| items.number(item) == Some(wanted as i64)))
                    };
                    wanted.map(has).collect()
                }
                (items, _) => {
                    let wanted = numbers::<i64>(value, values).into_iter().enumerate();
                    let has = |(row, wanted): (usize, Option<i64>)| {
                        let (items_of_row, wanted) = (lists.range(row)?, wanted?);
                        Some(items_of_row.into_iter().any(|item| items.number(item) == Some(wanted)))
                    };
                    wanted.map(has).collect()
                }
            };
            Truth::collect(known.into_iter(), len)
        }
        Node::Case(_, cases, otherwise) => {
            let mut left = vec![!0; len.div_ceil(64)];
            let mut chosen = Truth::all(None, len);
            let mut choose = |when: &[u64], then: &Truth| {
                for (word, left) in left.iter_mut().enumerate() {
                    chosen.yes[word] |= then.yes[word] & when[word] & *left;
                    chosen.no[word] |= then.no[word] & when[word] & *left;
                    *left &= !when[word];
                }
            };
            for (when, then) in cases {
                choose(&truth(when, values).yes, &truth(then, values));
            }
            let all = vec![!0; len.div_ceil(64)];
            choose(&all, &truth(otherwise, values));
            chosen
        }
        Node::Call(_, _, nodes) => {
            // Only `coalesce` takes conditions.
            let mut chosen = Truth::all(None, len);
            for node in nodes {
                let next = truth(node, values);
                for word in 0..chosen.yes.len() {
                    let known = chosen.yes[word] | chosen.no[word];
                    chosen.yes[word] |= next.yes[word] & !known;
                    chosen.no[word] |= next.no[word] & !known;
                }
            }
            chosen
        }
        Node::Named(place) => match values.named(*place) {
            Evaluated::Boolean(flags) => Truth::collect(flags.iter().copied(), len),
            _ => Truth::all(None, len),
        },
        Node::Matches(pattern) => of_boards(values, |group| pattern.lanes(group)),
        Node::SamePosition(position) => of_boards(values, |group| position.lanes(group)),
        Node::On(on) => of_boards(values, |group| on.lanes(group)),
        Node::Integer(_)
        | Node::Bits(_)
        | Node::Constant(_)
        | Node::Text(_)
        | Node::Arithmetic(..)
        | Node::Negate(..)
        | Node::Absolute(..)
        | Node::Count(_)
        | Node::Length(_)
        | Node::Item(..)
        | Node::Days(_)
        | Node::Real(..)
        | Node::Uniform(_)
        | Node::Convert(..) => Truth::all(None, len),
    }
}

fn of_boards(values: &Filled<'_>, lanes: impl Fn(&Group) -> u8) -> Truth {
    let mut yes = vec![0; values.len().div_ceil(64)];
    for (place, group) in values.groups().iter().enumerate() {
        let row = place * Group::LEN;
        yes[row / 64] |= u64::from(lanes(group)) << (row % 64);
    }
    Truth { no: yes.iter().map(|bits| !bits).collect(), yes }
}

fn is_null(node: &Node, values: &Filled<'_>) -> Truth {
    let len = values.len();
    let missing = |is: Vec<bool>| Truth::collect(is.into_iter().map(Some), len);
    match kind(node, values) {
        Type::Boolean => {
            let Truth { yes, no } = truth(node, values);
            let known: Vec<u64> = yes.iter().zip(&no).map(|(yes, no)| yes | no).collect();
            Truth { yes: known.iter().map(|bits| !bits).collect(), no: known }
        }
        Type::Integer => missing(numbers::<i64>(node, values).iter().map(Option::is_none).collect()),
        Type::Bits => missing(numbers::<u64>(node, values).iter().map(Option::is_none).collect()),
        Type::Real => missing(numbers::<f64>(node, values).iter().map(Option::is_none).collect()),
        Type::Text => missing(texts(node, values).iter().map(Option::is_none).collect()),
        Type::Null => Truth::all(Some(true), len),
    }
}

fn compared<T>(
    comparison: Comparison,
    left: Vec<Option<T>>,
    right: Vec<Option<T>>,
    order: impl Fn(&T, &T) -> Ordering,
) -> Truth {
    let len = left.len();
    let both = left.into_iter().zip(right);
    Truth::collect(both.map(|(left, right)| Some(comparison.holds(order(&left?, &right?)))), len)
}

impl Comparison {
    #[inline(always)]
    fn holds(self, order: Ordering) -> bool {
        match self {
            Self::Equal => order.is_eq(),
            Self::Unequal => order.is_ne(),
            Self::Less => order.is_lt(),
            Self::LessOrEqual => order.is_le(),
            Self::Greater => order.is_gt(),
            Self::GreaterOrEqual => order.is_ge(),
        }
    }
}

/// The value of a constant set of squares, which may be written as a small number.
fn constant_bits(node: &Node) -> Option<u64> {
    match node {
        Node::Bits(bits) => Some(*bits),
        Node::Convert(Type::Integer, _, inner) => match **inner {
            Node::Integer(number) => number.try_into().ok(),
            _ => None,
        },
        _ => None,
    }
}

/// A type of numbers.
trait Numeric: Copy + PartialOrd {
    fn constant(node: &Node) -> Option<Self>;
    fn of_column(array: &Array) -> Vec<Option<Self>>;
    fn of_named(named: &Evaluated) -> Option<&[Option<Self>]>;
    fn convert(from: Type, node: &Node, values: &Filled<'_>) -> Vec<Option<Self>>;
    fn arithmetic(operation: Arithmetic, left: Self, right: Self) -> Option<Self>;
    fn shift(self, operation: Arithmetic, places: u32) -> Option<Self>;
    fn negate(self) -> Option<Self>;
    fn absolute(self) -> Option<Self>;
    /// An item of lists, for their type.
    fn of_item(items: &Items, at: usize) -> Option<Self> {
        Self::of_integer(items.number(at)?)
    }
    /// An integer, for their type.
    fn of_integer(number: i64) -> Option<Self>;
    /// A real number, for the type of real numbers.
    fn of_real(number: f64) -> Option<Self>;
}

impl Numeric for i64 {
    fn constant(node: &Node) -> Option<Self> {
        match node {
            Node::Integer(number) => Some(*number),
            _ => None,
        }
    }
    fn of_column(array: &Array) -> Vec<Option<Self>> {
        macro_rules! widened {
            ($values:expr) => {
                (0..$values.len()).map(|row| $values.get(row).map(|&value| Self::from(value))).collect()
            };
        }
        match array {
            Array::U8(values) => widened!(values),
            Array::I16(values) => widened!(values),
            Array::U16(values) => widened!(values),
            Array::U32(values) => widened!(values),
            Array::U64(values) => {
                let value = |row| values.get(row).and_then(|&value| Self::try_from(value).ok());
                (0..values.len()).map(value).collect()
            }
            Array::Flag(values) => widened!(values),
            Array::Text(_) | Array::TextBuffer(_) | Array::Boards(_) | Array::Lists(_) => vec![None; array.len()],
        }
    }
    fn of_named(named: &Evaluated) -> Option<&[Option<Self>]> {
        match named {
            Evaluated::Integer(values) => Some(values),
            _ => None,
        }
    }
    fn convert(from: Type, node: &Node, values: &Filled<'_>) -> Vec<Option<Self>> {
        match from {
            Type::Boolean => {
                let flags = flags(&truth(node, values), values.len()).into_iter();
                flags.map(|flag| flag.map(Self::from)).collect()
            }
            Type::Bits => numbers::<u64>(node, values).into_iter().map(|bits| bits?.try_into().ok()).collect(),
            _ => vec![None; values.len()],
        }
    }
    fn arithmetic(operation: Arithmetic, left: Self, right: Self) -> Option<Self> {
        match operation {
            Arithmetic::Add => left.checked_add(right),
            Arithmetic::Subtract => left.checked_sub(right),
            Arithmetic::Multiply => left.checked_mul(right),
            Arithmetic::Divide => left.checked_div(right),
            // Of the smallest integer and -1, the quotient is too large, but the remainder is not.
            Arithmetic::Remainder if right == -1 => Some(0),
            Arithmetic::Remainder => left.checked_rem(right),
            Arithmetic::And => Some(left & right),
            Arithmetic::Or => Some(left | right),
            Arithmetic::Xor => Some(left ^ right),
            Arithmetic::ShiftLeft | Arithmetic::ShiftRight => None,
        }
    }
    fn shift(self, operation: Arithmetic, places: u32) -> Option<Self> {
        match operation {
            Arithmetic::ShiftLeft => {
                let shifted = self.checked_shl(places)?;
                (shifted >> places == self).then_some(shifted)
            }
            _ => self.checked_shr(places),
        }
    }
    fn negate(self) -> Option<Self> {
        self.checked_neg()
    }
    fn absolute(self) -> Option<Self> {
        self.checked_abs()
    }
    fn of_integer(number: i64) -> Option<Self> {
        Some(number)
    }
    fn of_real(_: f64) -> Option<Self> {
        None
    }
}

impl Numeric for u64 {
    fn constant(node: &Node) -> Option<Self> {
        match node {
            Node::Bits(number) => Some(*number),
            _ => None,
        }
    }
    fn of_column(array: &Array) -> Vec<Option<Self>> {
        match array {
            Array::U64(values) => (0..values.len()).map(|row| values.get(row).copied()).collect(),
            _ => vec![None; array.len()],
        }
    }
    fn of_named(named: &Evaluated) -> Option<&[Option<Self>]> {
        match named {
            Evaluated::Bits(values) => Some(values),
            _ => None,
        }
    }
    fn convert(from: Type, node: &Node, values: &Filled<'_>) -> Vec<Option<Self>> {
        match from {
            Type::Integer | Type::Boolean => {
                let numbers = match from {
                    Type::Integer => numbers::<i64>(node, values),
                    _ => i64::convert(from, node, values),
                };
                numbers.into_iter().map(|number| number?.try_into().ok()).collect()
            }
            _ => vec![None; values.len()],
        }
    }
    fn arithmetic(operation: Arithmetic, left: Self, right: Self) -> Option<Self> {
        match operation {
            Arithmetic::Add => left.checked_add(right),
            Arithmetic::Subtract => left.checked_sub(right),
            Arithmetic::Multiply => left.checked_mul(right),
            Arithmetic::Divide => left.checked_div(right),
            Arithmetic::Remainder => left.checked_rem(right),
            Arithmetic::And => Some(left & right),
            Arithmetic::Or => Some(left | right),
            Arithmetic::Xor => Some(left ^ right),
            Arithmetic::ShiftLeft | Arithmetic::ShiftRight => None,
        }
    }
    fn shift(self, operation: Arithmetic, places: u32) -> Option<Self> {
        match operation {
            // Squares that leave the board are gone.
            Arithmetic::ShiftLeft => self.checked_shl(places),
            _ => self.checked_shr(places),
        }
    }
    fn negate(self) -> Option<Self> {
        None
    }
    fn absolute(self) -> Option<Self> {
        Some(self)
    }
    fn of_item(items: &Items, at: usize) -> Option<Self> {
        items.number(at).map(|bits| bits as Self)
    }
    fn of_integer(_: i64) -> Option<Self> {
        None
    }
    fn of_real(_: f64) -> Option<Self> {
        None
    }
}

impl Numeric for f64 {
    fn constant(node: &Node) -> Option<Self> {
        match node {
            Node::Constant(number) => Some(*number),
            _ => None,
        }
    }
    fn of_column(array: &Array) -> Vec<Option<Self>> {
        match array {
            Array::U64(values) => (0..values.len()).map(|row| values.get(row).copied().map(Self::from_bits)).collect(),
            _ => vec![None; array.len()],
        }
    }
    fn of_named(named: &Evaluated) -> Option<&[Option<Self>]> {
        match named {
            Evaluated::Real(values) => Some(values),
            _ => None,
        }
    }
    fn convert(from: Type, node: &Node, values: &Filled<'_>) -> Vec<Option<Self>> {
        match from {
            Type::Integer => numbers::<i64>(node, values).into_iter().map(|number| Some(number? as Self)).collect(),
            Type::Bits => numbers::<u64>(node, values).into_iter().map(|number| Some(number? as Self)).collect(),
            Type::Boolean => i64::convert(from, node, values).into_iter().map(|flag| Some(flag? as Self)).collect(),
            _ => vec![None; values.len()],
        }
    }
    fn arithmetic(operation: Arithmetic, left: Self, right: Self) -> Option<Self> {
        let value = match operation {
            Arithmetic::Add => left + right,
            Arithmetic::Subtract => left - right,
            Arithmetic::Multiply => left * right,
            Arithmetic::Divide => left / right,
            Arithmetic::Remainder => left % right,
            Arithmetic::And | Arithmetic::Or | Arithmetic::Xor | Arithmetic::ShiftLeft | Arithmetic::ShiftRight => {
                return None;
            }
        };
        number(value)
    }
    fn shift(self, _: Arithmetic, _: u32) -> Option<Self> {
        None
    }
    fn negate(self) -> Option<Self> {
        Some(-self)
    }
    fn absolute(self) -> Option<Self> {
        Some(self.abs())
    }
    fn of_integer(_: i64) -> Option<Self> {
        None
    }
    fn of_real(number: f64) -> Option<Self> {
        Some(number)
    }
}

/// Values that are numbers.
fn number(value: f64) -> Option<f64> {
    (!value.is_nan()).then_some(value)
}

impl RealFunction {
    fn of(&self, values: &[f64]) -> f64 {
        match (self, values) {
            (Self::Exp, &[x]) => real_functions::exp(x),
            (Self::Ln, &[x]) => real_functions::ln(x),
            (Self::Power, &[x, y]) => real_functions::power(x, y),
            (Self::Sqrt, &[x]) => x.sqrt(),
            (Self::Round, &[x]) => x.round(),
            (Self::Interpolate(curve), &[x]) => curve.at(x),
            _ => f64::NAN,
        }
    }
}

/// The hashes of the values of each record; `None` if a value is missing.
fn draws(operands: &[(Type, Node)], values: &Filled<'_>) -> Vec<Option<Draw>> {
    fn add<T: Copy>(draws: &mut [Option<Draw>], values: &[Option<T>], with: impl Fn(Draw, T) -> Draw) {
        for (draw, &value) in draws.iter_mut().zip(values) {
            *draw = draw.and_then(|draw| Some(with(draw, value?)));
        }
    }
    let len = values.len();
    let mut draws = vec![Some(Draw::new()); len];
    for (kind, node) in operands {
        match kind {
            Type::Boolean => {
                let flags = flags(&truth(node, values), len);
                add(&mut draws, &flags, |draw, flag| draw.with(flag.into()));
            }
            Type::Integer => {
                add(&mut draws, &numbers::<i64>(node, values), |draw, number| draw.with(number as u64));
            }
            Type::Bits => add(&mut draws, &numbers::<u64>(node, values), Draw::with),
            Type::Real => add(&mut draws, &numbers::<f64>(node, values), Draw::with_real),
            Type::Text => add(&mut draws, &texts(node, values), Draw::with_text),
            Type::Null => draws.fill(None),
        }
    }
    draws
}

/// The values of a plan of numbers of this type.
fn numbers<T: Numeric>(node: &Node, values: &Filled<'_>) -> Vec<Option<T>> {
    let len = values.len();
    let map =
        |node: &Node, to: fn(T) -> Option<T>| numbers::<T>(node, values).into_iter().map(|value| to(value?)).collect();
    match node {
        Node::Integer(_) | Node::Bits(_) | Node::Constant(_) => vec![T::constant(node); len],
        Node::Column(place) if values.scope.columns[*place].kind() == Kind::I64 => {
            let column = values.column(*place);
            (0..len).map(|row| T::of_integer(column.number(row)?)).collect()
        }
        Node::Column(place) => T::of_column(values.column(*place)),
        Node::Named(place) => T::of_named(values.named(*place)).map_or_else(|| vec![None; len], <[_]>::to_vec),
        Node::Real(function, nodes) => {
            let operands: Vec<Vec<Option<f64>>> = nodes.iter().map(|node| numbers(node, values)).collect();
            let value = |row: usize| -> Option<f64> {
                let mut known = [0.0; 2];
                for (known, operand) in known.iter_mut().zip(&operands) {
                    *known = operand[row]?;
                }
                number(function.of(&known[..operands.len()]))
            };
            (0..len).map(|row| T::of_real(value(row)?)).collect()
        }
        Node::Uniform(nodes) => {
            let draws = draws(nodes, values).into_iter();
            draws.map(|draw| T::of_real(draw?.uniform())).collect()
        }
        Node::Negate(_, inner) => map(inner, T::negate),
        Node::Absolute(_, inner) => map(inner, T::absolute),
        Node::Convert(from, _, inner) => T::convert(*from, inner, values),
        Node::Count(inner) => {
            let counts = numbers::<u64>(inner, values).into_iter();
            counts.map(|bits| T::of_integer(bits?.count_ones().into())).collect()
        }
        Node::Length(place) => {
            let Array::Lists(lists) = values.column(*place) else { return vec![None; len] };
            (0..len).map(|row| T::of_integer(lists.range(row)?.len() as i64)).collect()
        }
        Node::Item(_, place, at) => {
            let Array::Lists(lists) = values.column(*place) else { return vec![None; len] };
            let items = items(lists, at, values).into_iter();
            items.map(|item| T::of_item(lists.items(), item?)).collect()
        }
        Node::Days(place) => {
            let days = |text: &str| Date::parse(text.as_bytes()).and_then(Date::days);
            let dates = values.column(*place);
            (0..len).map(|row| T::of_integer(days(dates.text(row)?)?.into())).collect()
        }
        Node::Arithmetic(operation @ (Arithmetic::ShiftLeft | Arithmetic::ShiftRight), _, sides) => {
            let [left, right] = &**sides;
            let places = numbers::<i64>(right, values);
            let left = numbers::<T>(left, values).into_iter().zip(places);
            left.map(|(left, places)| left?.shift(*operation, places?.try_into().ok()?)).collect()
        }
        Node::Arithmetic(operation, _, sides) => {
            let [left, right] = &**sides;
            let both = numbers::<T>(left, values).into_iter().zip(numbers::<T>(right, values));
            both.map(|(left, right)| T::arithmetic(*operation, left?, right?)).collect()
        }
        Node::Case(_, cases, otherwise) => {
            let mut left = vec![!0_u64; len.div_ceil(64)];
            let mut chosen = numbers::<T>(otherwise, values);
            for (when, then) in cases {
                let mut when = truth(when, values).yes;
                when.iter_mut().zip(&left).for_each(|(when, left)| *when &= left);
                left.iter_mut().zip(&when).for_each(|(left, when)| *left &= !when);
                if when.iter().any(|&bits| bits != 0) {
                    let then = numbers::<T>(then, values);
                    rows_of(&when).take_while(|&row| row < len).for_each(|row| chosen[row] = then[row]);
                }
            }
            chosen
        }
        Node::Call(function, _, nodes) => {
            let mut chosen: Vec<Option<T>> = vec![None; len];
            for node in nodes {
                for (chosen, next) in chosen.iter_mut().zip(numbers::<T>(node, values)) {
                    let is_next = match (*chosen, next) {
                        (_, None) => false,
                        (None, Some(_)) => true,
                        (Some(chosen), Some(next)) => match function {
                            Function::Least => next < chosen,
                            Function::Greatest => next > chosen,
                            Function::Coalesce => false,
                        },
                    };
                    if is_next {
                        *chosen = next;
                    }
                }
            }
            chosen
        }
        _ => vec![None; len],
    }
}

/// The items of lists at the places that a plan gives, from 1 on or, negative, from the end; `None` beyond.
fn items(lists: &Lists, at: &Node, values: &Filled<'_>) -> Vec<Option<usize>> {
    let places = numbers::<i64>(at, values).into_iter().enumerate();
    let item = |(row, place): (usize, Option<i64>)| {
        let list = lists.range(row)?;
        let from_start = match place? {
            place @ 1.. => usize::try_from(place - 1).ok()?,
            place => list.len().checked_sub(usize::try_from(place.checked_neg()?).ok().filter(|&place| place > 0)?)?,
        };
        (from_start < list.len()).then(|| list.start + from_start)
    };
    places.map(item).collect()
}

/// The values of a plan of texts.
fn texts<'a>(node: &'a Node, values: &'a Filled<'_>) -> Vec<Option<&'a str>> {
    let len = values.len();
    match node {
        Node::Text(text) => vec![Some(&**text); len],
        Node::Column(place) => {
            let array = values.column(*place);
            (0..len).map(|row| array.text(row)).collect()
        }
        Node::Item(_, place, at) => {
            let Array::Lists(lists) = values.column(*place) else { return vec![None; len] };
            let Items::Text(texts) = lists.items() else { return vec![None; len] };
            items(lists, at, values).into_iter().map(|item| texts.get(item?)).collect()
        }
        Node::Named(place) => match values.named(*place) {
            Evaluated::Text(texts) => texts.iter().map(Option::as_deref).collect(),
            _ => vec![None; len],
        },
        Node::Case(_, cases, otherwise) => {
            let mut left = vec![!0_u64; len.div_ceil(64)];
            let mut chosen = texts(otherwise, values);
            for (when, then) in cases {
                let mut when = truth(when, values).yes;
                when.iter_mut().zip(&left).for_each(|(when, left)| *when &= left);
                left.iter_mut().zip(&when).for_each(|(left, when)| *left &= !when);
                let then = texts(then, values);
                rows_of(&when).take_while(|&row| row < len).for_each(|row| chosen[row] = then[row]);
            }
            chosen
        }
        Node::Call(function, _, nodes) => {
            let mut chosen: Vec<Option<&str>> = vec![None; len];
            for node in nodes {
                for (chosen, next) in chosen.iter_mut().zip(texts(node, values)) {
                    *chosen = match (*chosen, next) {
                        (one, None) | (None, one) => one,
                        (Some(one), Some(other)) => Some(match function {
                            Function::Least => one.min(other),
                            Function::Greatest => one.max(other),
                            Function::Coalesce => one,
                        }),
                    };
                }
            }
            chosen
        }
        _ => vec![None; len],
    }
}
