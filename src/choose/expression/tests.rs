//! Random expressions against closures that say what they mean, a record at a time; and texts that mean nothing.

use super::{Condition, Definitions, Evaluated, Formula, Type};
use crate::chess::random::{Random, RandomPlay, Start};
use crate::packed::{Group, Packed};
use crate::queries::{GroupResults, Queries};
use crate::table::{Array, Batch, Field, Texts, Tile, Values};
use crate::tiers::Tier;
use std::sync::Arc;

/// What a record has, by the names of columns.
struct Row {
    integers: [Option<i128>; 5],
    bits: [Option<u64>; 2],
    flags: [Option<bool>; 2],
    texts: [Option<String>; 2],
    fen: String,
}

const INTEGERS: [&str; 5] = ["ply", "score", "white_elo", "legal_moves", "Pieces"];
const BITS: [&str; 2] = ["attacks_white", "\"key\""];
const FLAGS: [&str; 2] = ["in_check", "CHECKMATE"];
/// The values of columns that can have only some are compared with no others; that of a function is.
const TEXTS: [&str; 2] = ["opening", "coalesce(stm)"];

type Meaning<T> = Box<dyn Fn(&Row) -> Option<T>>;
type Said<T> = (String, Meaning<T>);

/// Makes expressions.
struct Maker(Random);

impl Maker {
    fn below(&mut self, bound: u32) -> u32 {
        self.0.below(bound)
    }

    fn integer(&mut self, depth: u32) -> Said<i128> {
        let whole = |value: Option<i128>| value.filter(|value| i64::try_from(*value).is_ok());
        match self.below(if depth == 0 { 3 } else { 12 }) {
            0 => {
                let at = self.below(5) as usize;
                (INTEGERS[at].to_owned(), Box::new(move |row| row.integers[at]))
            }
            1 => {
                let number = i128::from(self.below(60)) - 20;
                (format!("{number}"), Box::new(move |_| Some(number)))
            }
            2 => {
                let number = [i128::from(i64::MAX), i128::from(i64::MIN), 0, -1, 2500][self.below(5) as usize];
                (format!("({number})"), Box::new(move |_| Some(number)))
            }
            3 | 4 => {
                let (op, of): (_, fn(i128, i128) -> Option<i128>) = [
                    ("+", (|a, b| Some(a + b)) as fn(i128, i128) -> Option<i128>),
                    ("-", |a, b| Some(a - b)),
                    ("*", |a, b| Some(a * b)),
                    ("/", |a, b| a.checked_div(b)),
                    ("%", |a, b| a.checked_rem(b)),
                    ("&", |a, b| Some(a & b)),
                    ("|", |a, b| Some(a | b)),
                ][self.below(7) as usize];
                let (left, a) = self.integer(depth - 1);
                let (right, b) = self.integer(depth - 1);
                (format!("({left} {op} {right})"), Box::new(move |row| whole(of(a(row)?, b(row)?))))
            }
            5 => {
                let (inner, a) = self.integer(depth - 1);
                (format!("abs({inner})"), Box::new(move |row| whole(Some(a(row)?.abs()))))
            }
            6 => {
                let (inner, a) = self.integer(depth - 1);
                (format!("- ({inner})"), Box::new(move |row| whole(Some(-a(row)?))))
            }
            7 => {
                let (inner, a) = self.bits(depth - 1);
                (format!("popcount({inner})"), Box::new(move |row| Some(i128::from(a(row)?.count_ones()))))
            }
            8 => {
                let (name, pick): (_, fn(i128, i128) -> i128) =
                    [("least", i128::min as fn(_, _) -> _), ("GREATEST", i128::max), ("coalesce", |a, _| a)]
                        [self.below(3) as usize];
                let (left, a) = self.integer(depth - 1);
                let (right, b) = self.integer(depth - 1);
                let meaning = move |row: &Row| match (a(row), b(row)) {
                    (Some(a), Some(b)) => Some(pick(a, b)),
                    (one, other) => one.or(other),
                };
                (format!("{name}({left}, {right})"), Box::new(meaning))
            }
            9 => {
                let (left, a) = self.integer(depth - 1);
                let places = i128::from(self.below(70)) - 3;
                let is_left = self.below(2) == 0;
                let op = if is_left { "<<" } else { ">>" };
                let meaning = move |row: &Row| {
                    let (a, places) = (a(row)?, u32::try_from(places).ok().filter(|&places| places < 64)?);
                    whole(Some(if is_left { a << places } else { a >> places }))
                };
                (format!("({left} {op} {places})"), Box::new(meaning))
            }
            10 => {
                let (when, is) = self.condition(depth - 1);
                let (then, a) = self.integer(depth - 1);
                let (otherwise, b) = self.integer(depth - 1);
                let meaning = move |row: &Row| if is(row) == Some(true) { a(row) } else { b(row) };
                (format!("case when {when} then {then} else {otherwise} end"), Box::new(meaning))
            }
            _ => {
                let (of, a) = self.integer(depth - 1);
                let (then, b) = self.integer(depth - 1);
                let meaning = move |row: &Row| if a(row) == Some(3) { b(row) } else { None };
                (format!("case {of} when 3 then {then} end"), Box::new(meaning))
            }
        }
    }

    fn bits(&mut self, depth: u32) -> Said<u64> {
        match self.below(if depth == 0 { 2 } else { 6 }) {
            0 => {
                let at = self.below(2) as usize;
                (BITS[at].to_owned(), Box::new(move |row| row.bits[at]))
            }
            1 => {
                let number = self.0.bits() >> self.below(64);
                (format!("0x{number:X}"), Box::new(move |_| Some(number)))
            }
            2 => {
                let (left, a) = self.bits(depth - 1);
                let (right, b) = self.bits(depth - 1);
                (format!("xor({left}, {right})"), Box::new(move |row| Some(a(row)? ^ b(row)?)))
            }
            3 => {
                let (op, of): (_, fn(u64, u64) -> Option<u64>) = [
                    ("+", u64::checked_add as fn(u64, u64) -> Option<u64>),
                    ("-", u64::checked_sub),
                    ("*", u64::checked_mul),
                    ("/", u64::checked_div),
                    ("%", u64::checked_rem),
                    ("&", |a, b| Some(a & b)),
                    ("|", |a, b| Some(a | b)),
                ][self.below(7) as usize];
                let (left, a) = self.bits(depth - 1);
                let (right, b) = self.bits(depth - 1);
                (format!("({left} {op} {right})"), Box::new(move |row| of(a(row)?, b(row)?)))
            }
            4 => {
                let (left, a) = self.bits(depth - 1);
                let (right, b) = self.integer(depth - 1);
                let meaning = move |row: &Row| {
                    let (a, places) = (a(row)?, b(row)?);
                    u32::try_from(places).ok().filter(|&places| places < 64).map(|places| a << places)
                };
                (format!("({left} << {right})"), Box::new(meaning))
            }
            _ => {
                // An integer among sets is one of them, where it is not negative.
                let (left, a) = self.bits(depth - 1);
                let (right, b) = self.integer(depth - 1);
                (format!("({left} | {right})"), Box::new(move |row| Some(a(row)? | u64::try_from(b(row)?).ok()?)))
            }
        }
    }

    fn number(&mut self, depth: u32) -> Said<f64> {
        match self.below(if depth == 0 { 1 } else { 10 }) {
            0 => {
                let number = f64::from(self.below(4000)) / 8.0 - 100.0;
                (format!("({number:?})"), Box::new(move |_| Some(number)))
            }
            1 => {
                let (inner, a) = self.integer(depth - 1);
                (format!("({inner} + 0.5)"), Box::new(move |row| Some(a(row)? as f64 + 0.5)))
            }
            2 => {
                let (left, a) = self.number(depth - 1);
                let (right, b) = self.number(depth - 1);
                let meaning = move |row: &Row| Some(a(row)? / b(row)?).filter(|value| !value.is_nan());
                (format!("({left} / {right})"), Box::new(meaning))
            }
            3 => {
                let (inner, a) = self.number(depth - 1);
                (format!("abs({inner})"), Box::new(move |row| Some(a(row)?.abs())))
            }
            4 => {
                let (name, of): (_, fn(f64) -> f64) = [
                    ("exp", super::real_functions::exp as fn(f64) -> f64),
                    ("ln", super::real_functions::ln),
                    ("sqrt", f64::sqrt),
                    ("ROUND", |x| if x.abs() < 1e15 { x.signum() * (x.abs() + 0.5).floor() } else { x }),
                ][self.below(4) as usize];
                let (inner, a) = self.number(depth - 1);
                let meaning = move |row: &Row| Some(of(a(row)?)).filter(|value| !value.is_nan());
                (format!("{name}({inner})"), Box::new(meaning))
            }
            5 => {
                let (left, a) = self.number(depth - 1);
                let (right, b) = self.integer(depth - 1);
                let meaning = move |row: &Row| {
                    Some(super::real_functions::power(a(row)?, b(row)? as f64)).filter(|value| !value.is_nan())
                };
                (format!("power({left}, {right})"), Box::new(meaning))
            }
            6 => {
                let (inner, a) = self.integer(depth - 1);
                let meaning = move |row: &Row| {
                    Some(match a(row)? {
                        ..=-10 => 0.25,
                        x @ -9..0 => 0.25 + (0.0 - 0.25) * ((x + 10) as f64 / 10.0),
                        x @ 0..30 => 0.0 + 1.5 * (x as f64 / 30.0),
                        30.. => 1.5,
                    })
                };
                (format!("interp({inner}, -10, 0.25, 0, 0, 3e1, 1.5)"), Box::new(meaning))
            }
            7 => {
                let (number, a) = self.integer(depth - 1);
                let (text, b) = self.text(depth - 1);
                let (real, c) = self.number(depth - 1);
                let (flag, d) = self.condition(depth - 1);
                let meaning = move |row: &Row| {
                    let (number, text, real, flag) = (a(row)?, b(row)?, c(row)?, d(row)?);
                    let mut words = vec![number as u64];
                    words.extend(
                        text.as_bytes()
                            .chunks(8)
                            .map(|bytes| bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte))),
                    );
                    words.push(!(text.len() as u64));
                    if real.fract() == 0.0 && (-2_f64.powi(63)..2_f64.powi(63)).contains(&real) {
                        words.push(real as i64 as u64);
                    } else {
                        words.extend([!real.to_bits(), 0]);
                    }
                    words.push(flag.into());
                    Some(drawn(&words))
                };
                (format!("uniform({number}, {text}, {real}, {flag})"), Box::new(meaning))
            }
            8 => {
                let (when, is) = self.condition(depth - 1);
                let (then, a) = self.integer(depth - 1);
                let (otherwise, b) = self.number(depth - 1);
                let meaning = move |row: &Row| {
                    if is(row) == Some(true) { a(row).map(|number| number as f64) } else { b(row) }
                };
                (format!("case when {when} then {then} else {otherwise} end"), Box::new(meaning))
            }
            _ => {
                let (name, is_least) = [("least", true), ("greatest", false)][self.below(2) as usize];
                let (left, a) = self.number(depth - 1);
                let (right, b) = self.integer(depth - 1);
                let meaning = move |row: &Row| match (a(row), b(row).map(|number| number as f64)) {
                    (Some(a), Some(b)) => Some(if (b < a) == is_least { b } else { a }),
                    (one, other) => one.or(other),
                };
                (format!("{name}({left}, {right})"), Box::new(meaning))
            }
        }
    }

    fn text(&mut self, depth: u32) -> Said<String> {
        match self.below(if depth == 0 { 2 } else { 4 }) {
            0 => {
                let at = self.below(2) as usize;
                (TEXTS[at].to_owned(), Box::new(move |row| row.texts[at].clone()))
            }
            1 => {
                let text = ["B12", "w", "", "it''s", "A0%"][self.below(5) as usize];
                (format!("'{text}'"), Box::new(move |_| Some(text.replace("''", "'"))))
            }
            2 => {
                let (left, a) = self.text(depth - 1);
                let (right, b) = self.text(depth - 1);
                (format!("coalesce({left}, {right})"), Box::new(move |row| a(row).or_else(|| b(row))))
            }
            _ => {
                let (when, is) = self.condition(depth - 1);
                let (then, a) = self.text(depth - 1);
                let meaning = move |row: &Row| if is(row) == Some(true) { a(row) } else { None };
                (format!("case when {when} then {then} end"), Box::new(meaning))
            }
        }
    }

    fn compared<T: PartialOrd + 'static>(&mut self, (left, a): Said<T>, (right, b): Said<T>) -> Said<bool> {
        let (op, of): (_, fn(&T, &T) -> bool) = [
            ("=", T::eq as fn(&T, &T) -> bool),
            ("<>", T::ne),
            ("!=", T::ne),
            ("<", T::lt),
            ("<=", T::le),
            (">", T::gt),
            (">=", T::ge),
        ][self.below(7) as usize];
        (format!("{left} {op} {right}"), Box::new(move |row| Some(of(&a(row)?, &b(row)?))))
    }

    fn condition(&mut self, depth: u32) -> Said<bool> {
        match self.below(if depth == 0 { 4 } else { 18 }) {
            0 => {
                let at = self.below(2) as usize;
                (FLAGS[at].to_owned(), Box::new(move |row| row.flags[at]))
            }
            1 => {
                let (column, a) = self.integer(0);
                let (constant, b) = self.integer(0);
                self.compared((column, a), (constant, b))
            }
            2 => {
                let (pattern, is): (_, fn(&str) -> bool) = [
                    ("on('e2', 'Pp')", (|fen| at(fen, 4, 1, "Pp")) as fn(&str) -> bool),
                    ("on('d8', 'q')", |fen| at(fen, 3, 7, "q")),
                    ("matches('8/8/8/8/4P3/8/8/8')", |fen| at(fen, 4, 3, "P")),
                    ("matches('8/8/8/4.3/8/8/PP6/8')", |fen| {
                        at(fen, 4, 4, ".") && at(fen, 0, 1, "P") && at(fen, 1, 1, "P")
                    }),
                    ("matches('8/8/8/8/8/8/8/1N6', 'flip')", |fen| at(fen, 1, 0, "N") || at(fen, 1, 7, "n")),
                    ("matches('8/8/8/8/8/8/8/1N6', 'Mirror')", |fen| at(fen, 1, 0, "N") || at(fen, 6, 0, "N")),
                    ("matches('8/8/8/8/8/8/8/1N6', 'flip mirror')", |fen| {
                        at(fen, 1, 0, "N") || at(fen, 6, 0, "N") || at(fen, 1, 7, "n") || at(fen, 6, 7, "n")
                    }),
                    ("matches('8/8/8/8/8/8/8/KQ6', 'mover')", |fen| match fen.split(' ').nth(1) {
                        Some("w") => at(fen, 0, 0, "K") && at(fen, 1, 0, "Q"),
                        _ => at(fen, 0, 7, "k") && at(fen, 1, 7, "q"),
                    }),
                    ("matches('8/8/8/8/8/8/8/4k3', 'mover, mirror')", |fen| match fen.split(' ').nth(1) {
                        Some("w") => at(fen, 4, 0, "k") || at(fen, 3, 0, "k"),
                        _ => at(fen, 4, 7, "K") || at(fen, 3, 7, "K"),
                    }),
                    ("matches('8/8/8/8/4P3/8/8/8', 'mover flip')", |fen| at(fen, 4, 3, "P") || at(fen, 4, 4, "p")),
                    ("matches('rnbqkbnr/ppp5/8/8/8/8/8/8', 'exact')", |fen| {
                        (0..8).all(|file| at(fen, file, 7, &"rnbqkbnr"[file..=file]))
                            && (0..8).all(|file| at(fen, file, 6, &"ppp....."[file..=file]))
                            && (0..6).all(|rank| (0..8).all(|file| at(fen, file, rank, ".")))
                    }),
                ][self.below(11) as usize];
                (pattern.to_owned(), Box::new(move |row| Some(is(&row.fen))))
            }
            3 => [("true", Some(true)), ("FALSE", Some(false)), ("null", None)]
                .map(|(text, value)| -> Said<bool> { (text.to_owned(), Box::new(move |_| value)) })
                .into_iter()
                .nth(self.below(3) as usize)
                .unwrap(),
            4 | 5 => {
                let (left, a) = self.condition(depth - 1);
                let (right, b) = self.condition(depth - 1);
                let meaning = move |row: &Row| match (a(row), b(row)) {
                    (Some(false), _) | (_, Some(false)) => Some(false),
                    (Some(true), Some(true)) => Some(true),
                    _ => None,
                };
                (format!("({left} and {right})"), Box::new(meaning))
            }
            6 | 7 => {
                let (left, a) = self.condition(depth - 1);
                let (right, b) = self.condition(depth - 1);
                let meaning = move |row: &Row| match (a(row), b(row)) {
                    (Some(true), _) | (_, Some(true)) => Some(true),
                    (Some(false), Some(false)) => Some(false),
                    _ => None,
                };
                (format!("({left} OR {right})"), Box::new(meaning))
            }
            8 => {
                let (inner, a) = self.condition(depth - 1);
                (format!("not ({inner})"), Box::new(move |row| Some(!a(row)?)))
            }
            9 => {
                let (left, right) = (self.integer(depth - 1), self.integer(depth - 1));
                self.compared(left, right)
            }
            10 => {
                let (left, right) = (self.bits(depth - 1), self.bits(depth - 1));
                self.compared(left, right)
            }
            11 => {
                // By their values, whatever the types.
                let (left, a) = self.bits(depth - 1);
                let right = self.integer(depth - 1);
                self.compared((left, Box::new(move |row| a(row).map(i128::from))), right)
            }
            12 => {
                let (left, right) = (self.number(depth - 1), self.number(depth - 1));
                self.compared(left, right)
            }
            13 => {
                let (left, right) = (self.text(depth - 1), self.text(depth - 1));
                self.compared(left, right)
            }
            14 => {
                let (value, a) = self.integer(depth - 1);
                let (low, b) = self.integer(depth - 1);
                let (high, c) = self.integer(depth - 1);
                let negated = self.below(2) == 1;
                let meaning = move |row: &Row| {
                    let (value, low, high) = (a(row), b(row), c(row));
                    let from = value.zip(low).map(|(value, low)| value >= low);
                    let to = value.zip(high).map(|(value, high)| value <= high);
                    let both = match (from, to) {
                        (Some(false), _) | (_, Some(false)) => Some(false),
                        (Some(true), Some(true)) => Some(true),
                        _ => None,
                    };
                    both.map(|both| both != negated)
                };
                let not = if negated { "not " } else { "" };
                (format!("{value} {not}between {low} and {high}"), Box::new(meaning))
            }
            15 => {
                let (value, a) = self.integer(depth - 1);
                let items = [self.integer(0), self.integer(0), self.integer(depth - 1)];
                let negated = self.below(2) == 1;
                let texts: Vec<&str> = items.iter().map(|(text, _)| &**text).collect();
                let not = if negated { "not " } else { "" };
                let text = format!("{value} {not}in ({})", texts.join(", "));
                let meaning = move |row: &Row| {
                    let value = a(row)?;
                    let items: Vec<Option<i128>> = items.iter().map(|(_, item)| item(row)).collect();
                    let is_found = items.contains(&Some(value));
                    let found = (is_found || !items.contains(&None)).then_some(is_found);
                    found.map(|found| found != negated)
                };
                (text, Box::new(meaning))
            }
            16 => {
                let (inner, a) = self.integer(depth - 1);
                match self.below(2) {
                    0 => (format!("({inner}) is null"), Box::new(move |row| Some(a(row).is_none()))),
                    _ => (format!("({inner}) is not null"), Box::new(move |row| Some(a(row).is_some()))),
                }
            }
            _ => {
                let (inner, a) = self.text(depth - 1);
                let (pattern, is): (_, fn(&str) -> bool) = [
                    ("B%", (|text| text.starts_with('B')) as fn(&str) -> bool),
                    ("%1_", |text| text.chars().rev().nth(1) == Some('1')),
                    ("_", |text| text.chars().count() == 1),
                    ("%", |_| true),
                    ("A0\\%", |text| text == "A0%"),
                    ("%B%2%", |text| text.find('B').is_some_and(|at| text[at + 1..].contains('2'))),
                ][self.below(6) as usize];
                (format!("{inner} like '{pattern}'"), Box::new(move |row| Some(is(&a(row)?))))
            }
        }
    }
}

/// What the words of values draw.
fn drawn(words: &[u64]) -> f64 {
    let mixed = |mut word: u64| {
        word = (word ^ word >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        word = (word ^ word >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        word ^ word >> 31
    };
    let hash = words
        .iter()
        .fold(0x6A09_E667_F3BC_C908, |hash, word| mixed(mixed(hash ^ word).wrapping_add(0x9E37_79B9_7F4A_7C15)));
    (hash >> 11) as f64 / 2_f64.powi(53)
}

/// Whether one of these stands on a square of a FEN; `.` is none.
fn at(fen: &str, file: usize, rank: usize, letters: &str) -> bool {
    let board = fen.split(' ').next().unwrap();
    let mut squares = String::new();
    for letter in board.split('/').nth(7 - rank).unwrap().chars() {
        match letter.to_digit(10) {
            Some(empty) => (0..empty).for_each(|_| squares.push('.')),
            None => squares.push(letter),
        }
    }
    letters.contains(squares.chars().nth(file).unwrap())
}

/// A batch of random positions with random fields, and what they are.
fn records(random: &mut Random, len: usize) -> (Arc<Batch>, Vec<Row>) {
    let mut batch = Batch::new();
    let mut rows = Vec::new();
    let (mut score, mut ply, mut elo) = (Values::<i16>::default(), Values::<u16>::default(), Values::<u16>::default());
    let (mut opening, mut eco) = (Texts::default(), Texts::default());
    for played in RandomPlay::new(random.bits(), Start::Standard).take(len) {
        let position = played.position;
        batch.push(Packed::pack(&position).unwrap(), position.halfmove, position.fullmove);
        let mut some = |of: u32| (random.below(4) > 0).then(|| random.below(of));
        let (a, b, c, d) = (some(100), some(600), some(3000), some(3));
        ply.push(a.map(|a| a as u16));
        let b = b.map(|b| b as i16 - 300);
        score.push(b);
        elo.push(c.map(|c| c as u16));
        let text = d.map(|d| ["B12", "A00", "it's"][d as usize]);
        opening.push(text);
        eco.push(text);
        let counts = position.legal_counts();
        let in_check = !position.checkers().is_empty();
        rows.push(Row {
            integers: [
                a.map(i128::from),
                b.map(i128::from),
                c.map(i128::from),
                Some(counts.moves.into()),
                Some(position.occupied().len().into()),
            ],
            bits: [Some(attacks_of_white(&position)), Some(position.polyglot_key())],
            flags: [Some(in_check), Some(in_check && counts.moves == 0)],
            texts: [text.map(str::to_owned), Some(position.side_to_move.letter().to_string())],
            fen: position.to_string(),
        });
    }
    batch.fields.insert(Field::Score, Array::I16(score));
    batch.fields.insert(Field::Ply, Array::U16(ply));
    batch.fields.insert(Field::WhiteElo, Array::U16(elo));
    batch.fields.insert(Field::Opening, Array::Text(opening));
    batch.fields.insert(Field::Eco, Array::Text(eco));
    (Arc::new(batch), rows)
}

fn attacks_of_white(position: &crate::chess::Position) -> u64 {
    let all = crate::chess::Square::all();
    let attacked = all.filter(|&square| {
        let attackers = position.attackers_of(square, crate::chess::Color::White, position.occupied());
        !attackers.is_empty()
    });
    attacked.fold(0, |set, square| set | 1 << square.index())
}

fn with_tile<T>(batch: &Arc<Batch>, queries: Queries, work: impl FnOnce(&Tile<'_>, &mut Vec<u64>) -> T) -> T {
    let analyzer = Tier::best().analyzer().unwrap();
    let groups = batch.groups();
    let mut results = vec![GroupResults::default(); groups.len()];
    analyzer.analyze(groups, queries, &mut results);
    let len = batch.len();
    assert!(len.div_ceil(Group::LEN) == groups.len());
    let mut mask: Vec<u64> = (0..len.div_ceil(64)).map(|word| !0 >> (64 - (len - 64 * word).min(64))).collect();
    let all = mask.clone();
    work(&Tile::new(analyzer, batch, 0, len, &results, &all), &mut mask)
}

#[test]
fn random_expressions_mean_what_they_say() {
    let mut maker = Maker(Random::new(27));
    let mut selective = 0;
    for round in 0..40 {
        let mut random = Random::new(round);
        let len = 1 + random.below(300) as usize;
        let (batch, rows) = records(&mut random, len);
        for depth in 0..40 {
            let (text, meaning) = maker.condition(depth % 5);
            let condition: Condition = text.parse().unwrap_or_else(|error| panic!("{text}: {error}"));
            let expected: Vec<bool> = rows.iter().map(|row| meaning(row) == Some(true)).collect();
            let found = with_tile(&batch, condition.needs().queries, |tile, mask| {
                condition.choose(tile, mask);
                (0..len).map(|row| mask[row / 64] >> (row % 64) & 1 != 0).collect::<Vec<_>>()
            });
            assert_eq!(found, expected, "{text}");
            let taken = expected.iter().filter(|&&taken| taken).count();
            selective += u32::from(taken > 0 && taken < len);
            // As a value, null and all.
            let formula: Formula = text.parse().unwrap();
            let values = with_tile(&batch, formula.needs().queries, |tile, _| formula.evaluate(tile));
            match values {
                Evaluated::Boolean(values) => assert!(values.into_iter().eq(rows.iter().map(&meaning)), "{text}"),
                other => assert!(other == Evaluated::Null && text == "null", "{text}: {other:?}"),
            }
            let (text, meaning) = maker.number(depth % 5);
            let formula: Formula = text.parse().unwrap_or_else(|error| panic!("{text}: {error}"));
            let values = with_tile(&batch, formula.needs().queries, |tile, _| formula.evaluate(tile));
            let Evaluated::Real(values) = values else { panic!("{text}: {values:?}") };
            assert!(values.into_iter().eq(rows.iter().map(&meaning)), "{text}");
            let (text, meaning) = maker.integer(depth % 5);
            let formula: Formula = text.parse().unwrap_or_else(|error| panic!("{text}: {error}"));
            let values = with_tile(&batch, formula.needs().queries, |tile, _| formula.evaluate(tile));
            let Evaluated::Integer(values) = values else { panic!("{text}: {values:?}") };
            let expected = rows.iter().map(|row| meaning(row).map(|value| value as i64));
            assert!(values.into_iter().eq(expected), "{text}");
        }
    }
    assert!(selective > 400, "{selective}");
}

fn error(text: &str) -> String {
    let error = text.parse::<Condition>().expect_err(text);
    assert!(error.place().start <= error.place().end && error.place().end <= text.len(), "{text}");
    error.to_string()
}

#[test]
fn errors_say_what_and_where() {
    assert_eq!(
        error("legal_move > 20 and not in_check"),
        "there is no column `legal_move`\n  legal_move > 20 and not in_check\n  ^^^^^^^^^^"
    );
    assert_eq!(
        error("ply > 1 and eco > 5"),
        "a text cannot be compared with an integer; texts stand in single quotes\n  ply > 1 and eco > 5\n              ^^^^^^^"
    );
    for (text, expected) in [
        ("", "expected"),
        ("ply", "a condition is needed, and this is an integer"),
        ("ply >", "expected"),
        ("ply > 1)", "found `)`"),
        ("(ply > 1", "expected"),
        ("ply > 1 and", "expected"),
        ("nonsense(1) = 1", "there is no function `nonsense`"),
        ("abs(1, 2) = 1", "`abs` takes one value"),
        ("on('e9', 'P')", "`e9` is not a square"),
        ("on('e4', 'X')", "`X` is not a piece"),
        ("matches('8/8')", "8 ranks"),
        ("matches('9/8/8/8/8/8/8/8')", "`9` is not a piece"),
        ("matches('44P/8/8/8/8/8/8/8')", "does not have 8 squares"),
        ("matches('8/8/8/8/8/8/8/8 w - - 0 1')", "and not `w - - 0 1`"),
        ("same_position('8/8/8/8/8/8/8/8')", "has only 1; `matches"),
        ("same_position('4k3/8/8/8/8/8/8/4K3')", "has only 1; `matches"),
        ("same_position('4k3/8/8/8/8/8/8/4K3 w -')", "has only 3"),
        ("same_position('4k3/8/8/8/8/8/8/4K3 w - - 0 1 x')", "`x` follows"),
        ("same_position('4k3/8/8/8/8/8/8/4R2K w - - 0 1')", "is in check"),
        ("same_position('nonsense')", "is not a FEN"),
        ("same_position(fen)", "takes a 'text'"),
        ("same_position()", "takes one value"),
        ("fen = 'x'", "same_position"),
        ("fen = '4k3/8/8/8/4P3/8/8/4K3'", "matches"),
        ("speed = 'Blitz'", "did you mean 'blitz'?"),
        ("'Blitz' <> speed", "did you mean 'blitz'?"),
        ("speed in ('rapid', 'Blitz')", "did you mean 'blitz'?"),
        ("speed is distinct from 'Blitz'", "did you mean 'blitz'?"),
        ("case speed when 'Blitz' then 1 end = 1", "did you mean 'blitz'?"),
        ("speed like 'Blitz'", "did you mean 'blitz'?"),
        ("speed ilike 'Blitzz'", "did you mean 'blitz'?"),
        ("result = '*'", "`result is null`"),
        ("speed = blitz", "single quotes: 'blitz'"),
        ("opening = Sicilian Defense", "single quotes"),
        ("ply in (select 1)", "found `select`"),
        ("ply = 99999999999999999999", "too large"),
        ("attacks_white = 0x12345678901234567", "hexadecimal"),
        ("eco like 5", "a text in single quotes"),
        ("not ply", "a condition is needed"),
        ("cast(ply as text) = '1'", "found `cast`"),
        ("ply = 'a", "unterminated"),
        ("a.b = 1", "found `.b`"),
        ("case when ply > 1 then 1 else 'x' end = 1", "what comes before it is an integer"),
        ("ply ^ 2 > 1", "found `^`"),
        ("0.5 & 1 = 1", "for integers"),
        ("in_check + 1 = 2", "a number is needed"),
        ("count(*) > 1", "found `*`"),
        ("ply > 1; drop", "found `;`"),
        ("case ply end = 1", "`when`"),
        ("ply is 5", "`null`"),
        ("ply in ()", "no values"),
        ("ply = 1e400", "too large"),
        ("interp(ply) = 1", "each point"),
        ("interp(ply, 1, 2, 3) = 1", "each point"),
        ("interp(ply, 1, 2, 1, 3) = 1", "a greater x"),
        ("interp(ply, 1, score) = 1", "a constant number"),
        ("interp(ply, 1, ln(-1)) = 1", "a constant number"),
        ("uniform() < 0.5", "values to be hashed"),
        ("exp('a') > 1", "a number is needed"),
        ("power(2) > 1", "takes 2 values"),
        ("matches('8/8/8/8/8/8/8/8', 'upside')", "no word `upside`"),
        ("matches('8/8/8/8/8/8/8/8', eco)", "takes a 'text'"),
        ("/* ply", "does not end"),
    ] {
        let message = error(text);
        assert!(message.to_lowercase().contains(&expected.to_lowercase()), "{text}: {message}");
        assert_eq!(message.lines().count(), 3, "{message}");
    }
    // A long text is cut around the place, and shows nothing that a terminal obeys.
    let long = format!("{}\u{1b}[31m\u{202e} nonsense > 1", "ply > 1 and ".repeat(100));
    let message = error(&long);
    assert!(message.lines().all(|line| line.chars().count() < 120) && !message.contains('\u{1b}'), "{message}");
    assert_eq!("ply".parse::<Formula>().unwrap().kind(), Type::Integer);
}

#[test]
fn values_that_a_column_can_have_are_compared() {
    for text in [
        "speed = 'blitz' or eco = 'B12' or eco = 'B12a' or result <> '1-0'",
        "speed ilike 'BLITZ'",
        "speed like 'B%'",
        "eco like 'b12%'",
        "eco between 'B' and 'B99'",
        "month >= '2024' and month = '2024'",
        "coalesce(speed, 'none') = 'none'",
        "opening = 'anything'",
        "termination = 'anything'",
        "\"tag:Speed\" = 'Blitz'",
        "castling in ('-', 'KQkq', 'HAha', 'Kq')",
    ] {
        assert!(text.parse::<Condition>().unwrap().notes().is_empty(), "{text}");
    }
    let definitions = Definitions::parse(["s = speed", "t = s"]).unwrap();
    assert!(definitions.condition("t = 'Blitz'").is_err() && definitions.condition("t = 'blitz'").is_ok());
    let place = "ply > 3 and speed = 'Blitz'".parse::<Condition>().unwrap_err().place();
    assert_eq!(&"ply > 3 and speed = 'Blitz'"[place], "'Blitz'");
}

#[test]
fn conditions_that_are_not_meant_so_have_notes() {
    let notes = |text: &str| text.parse::<Condition>().unwrap().notes().concat();
    for (text, part) in [
        ("checkmate and moved_piece = 'N'", "move_mates"),
        ("moved_piece in ('N', 'B') and checkmate = 1 and ply > 3", "move_mates"),
        ("stalemate and san like 'Q%'", "outcome = 'stalemate'"),
        ("(checkmate or stalemate) and not move_captures", "move_mates"),
        ("legal_moves = 0 and move is not null", "move_mates"),
        ("checkmate and quiet", "move_mates"),
        ("checkmate and (move_captures or move_promotes)", "move_mates"),
        ("checkmate and (move_captures and ply > 3 or san like 'N%')", "move_mates"),
        ("fen = '4k3/8/8/8/4P3/8/8/4K3 b - e3 0 1'", "same_position"),
        ("fen <> '4k3/8/8/8/4P3/8/8/4K3 b - -'", "same_position"),
    ] {
        assert!(notes(text).contains(part), "{text}: {}", notes(text));
    }
    for text in [
        "checkmate and in_check",
        "checkmate and move is null",
        "checkmate or moved_piece = 'N'",
        "not checkmate and moved_piece = 'N'",
        "checkmate and (ply > 3 or san like 'N%')",
        "checkmate and coalesce(move_captures, true)",
        "checkmate and score > 100",
        "checkmate and not quiet",
        "checkmate and quiet = false",
        "move_mates and moved_piece = 'N'",
        "fen = '4k3/8/8/8/4P3/8/8/4K3 b - - 0 1'",
    ] {
        assert_eq!(notes(text), "", "{text}");
    }
    let definitions = Definitions::parse(["mated = checkmate", "knight = moved_piece = 'N'"]).unwrap();
    assert!(definitions.condition("mated and knight").unwrap().notes()[0].contains("no `moved_piece`"));
}

#[test]
fn the_same_position_is_one_that_is_written_the_same() {
    let (batch, rows) = records(&mut Random::new(9), 600);
    // Without its counters, as all FENs of these records are written.
    let named = |fen: &str| fen.rsplitn(3, ' ').nth(2).unwrap().to_owned();
    let mut found_twice = 0;
    for row in rows.iter().step_by(7) {
        let position = named(&row.fen);
        // All others are other positions.
        let fields: Vec<&str> = position.split(' ').collect();
        let [board, side, rights, en_passant] = fields[..] else { panic!("{position}") };
        let pushed = if side == "w" { "e6" } else { "e3" };
        let other_rights = if rights == "-" { "-" } else { &rights[1..] };
        let texts = [
            position.clone(),
            format!("  {position} 77 99"),
            format!("{board} {side} {} {en_passant}", if other_rights.is_empty() { "-" } else { other_rights }),
            format!("{board} {side} {rights} {pushed}"),
            format!("{board} {side} {rights} -"),
        ];
        for text in texts {
            let Ok(condition) = format!("same_position('{text}')").parse::<Condition>() else { continue };
            // The plain twin: parsed, without what cannot be used, written, compared.
            let mut meant = crate::chess::Position::from_fen_unvalidated(text.trim()).unwrap();
            meant.drop_unusable_en_passant();
            let meant = named(&meant.to_string());
            let expected: Vec<bool> = rows.iter().map(|row| named(&row.fen) == meant).collect();
            found_twice += usize::from(expected.iter().filter(|&&is| is).count() > 1);
            let chosen = with_tile(&batch, condition.needs().queries, |tile, mask| {
                condition.choose(tile, mask);
                (0..rows.len()).map(|row| mask[row / 64] >> (row % 64) & 1 != 0).collect::<Vec<_>>()
            });
            assert_eq!(chosen, expected, "{text}");
        }
    }
    assert!(found_twice > 0);
}

#[test]
fn whatever_is_written_is_an_error_or_an_expression() {
    let parens = |count| format!("{}ply > 1{}", "(".repeat(count), ")".repeat(count));
    let small = std::thread::Builder::new().stack_size(512 << 10);
    let thread = small.spawn(move || {
        assert!(parens(60).parse::<Condition>().is_ok());
        for text in [
            parens(10_000),
            "(".repeat(10_000),
            "a and ".repeat(1 << 18),
            "ply>1 and ".repeat(6000),
            "not ".repeat(10_000) + "in_check",
            "-".repeat(10_000) + "1 > 0",
            "- ".repeat(10_000) + "1 > 0",
            "ply + ".repeat(9000) + "1 > 0",
            "case when true then ".repeat(3000) + "1",
            "abs(".repeat(10_000),
            "ply in (1, ".repeat(5000),
            "'".repeat(1 << 16),
            "\"".repeat(1 << 16),
            "0x".repeat(1 << 14),
            "[".repeat(10_000),
            "{".repeat(10_000),
            "select ".repeat(5000),
            "interval ".repeat(5000),
            "exists(".repeat(5000),
            "ply between ".repeat(5000),
            "\0\u{ff}\u{10ffff}".to_owned(),
        ] {
            assert!(text.parse::<Condition>().is_err(), "{}", &text[..40.min(text.len())]);
        }
        // Many operators of one kind do not count as depth.
        let many = format!("ply > 1{}", " and ply > 1".repeat(5000));
        let many: Condition = many.parse().unwrap();
        let (batch, _) = records(&mut Random::new(1), 10);
        with_tile(&batch, many.needs().queries, |tile, mask| many.choose(tile, mask));
        let list: Vec<String> = (0..9000).map(|number| number.to_string()).collect();
        assert!(format!("ply in ({})", list.join(",")).parse::<Condition>().is_ok());
    });
    thread.unwrap().join().unwrap();
    let mut random = Random::new(3);
    let words = [
        "ply", "score", "(", ")", "and", "or", "not", "=", "<", "1", "0x1F", "'t'", "in", "between", "case", "when",
        "then", "end", "else", "is", "null", "like", "+", "-", "*", "/", "%", "&", "|", "<<", ">>", ",", "abs",
        "matches", "on", ".", "true", "--", "/*", "é", ";", "::", "->", "[", "]", "{", "@", "$1", "?", "interval",
        "exists", "select", "1e400",
    ];
    for _ in 0..20_000 {
        let count = 1 + random.below(12);
        let text: Vec<&str> = (0..count).map(|_| words[random.below(words.len() as u32) as usize]).collect();
        let _ = text.join(" ").parse::<Formula>();
    }
}

#[test]
fn names_stand_for_their_values() {
    let definitions = Definitions::parse([
        "m = ply / 16.0",
        "late = m > 3",
        "Where_from=case when late then eco else 'B12' end",
        "attacked = popcount(attacks_white)",
        "unused = legal_moves + key",
    ])
    .unwrap();
    assert_eq!(definitions.names().collect::<Vec<_>>(), ["m", "late", "Where_from", "attacked", "unused"]);
    let (batch, _) = records(&mut Random::new(5), 300);
    for (text, written_out) in [
        ("late", "ply / 16.0 > 3"),
        ("M + m > 2 and not LATE", "ply / 16.0 + ply / 16.0 > 2 and not (ply / 16.0 > 3)"),
        (
            "where_from = 'B12' or attacked > 30",
            "case when ply / 16.0 > 3 then eco else 'B12' end = 'B12' or popcount(attacks_white) > 30",
        ),
        ("late is null", "(ply / 16.0 > 3) is null"),
        (
            "where_from is not null and in_check",
            "case when ply / 16.0 > 3 then eco else 'B12' end is not null and in_check",
        ),
    ] {
        let (with_names, without): (Condition, Condition) =
            (definitions.condition(text).unwrap(), written_out.parse().unwrap());
        assert_eq!(with_names.needs(), without.needs(), "{text}");
        let chosen = [&with_names, &without].map(|condition| {
            with_tile(&batch, condition.needs().queries, |tile, mask| {
                condition.choose(tile, mask);
                mask.clone()
            })
        });
        assert_eq!(chosen[0], chosen[1], "{text}");
    }
    assert_ne!(
        definitions.condition("late").unwrap(),
        Definitions::parse(["late = ply > 1"]).unwrap().condition("late").unwrap()
    );
    for wrong in ["ply = 1", "1x = 2", "a b = 3", "abs = 4", "CASE = 5", "a", "= 1", "a = ", "a = b", "all = 1"] {
        assert!(Definitions::parse([wrong]).is_err(), "{wrong}");
    }
    assert!(Definitions::parse(["a = 1", "A = 2"]).is_err());
    // Each doubles the one before: written out, they would fill the memory.
    let mut texts = vec!["a0 = ply".to_owned()];
    texts.extend((1..200).map(|number| format!("a{number} = a{0} - a{0} + a{0} / 2", number - 1)));
    let condition = Definitions::parse(&texts).unwrap().condition("a199 = 0").unwrap();
    let count = with_tile(&batch, condition.needs().queries, |tile, mask| {
        condition.choose(tile, mask);
        mask.iter().map(|bits| bits.count_ones()).sum::<u32>()
    });
    assert!(count > 100, "{count}");
    assert!(Definitions::parse((0..1000).map(|number| format!("b{number} = 1"))).is_err());
}
