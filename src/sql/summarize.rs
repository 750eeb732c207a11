//! `SUMMARIZE`: what the values of each column of a table or query are, as in DuckDB.
//!
//! The rows of the query are read once, and each column is counted by itself; memory does not grow with their number. All
//! figures are the same for any order of the rows: sums of whole numbers are exact, others are shown with ten digits, and
//! quantiles and numbers of different values are counted in tables.
//!
//! - Up to 65,536 different values are counted exactly; above, by HyperLogLog (Flajolet, Fusy, Gandouet, Meunier 2007) with
//!   4,096 registers, which is off by about 1.6 %.
//! - Quantiles are values of the column, those at the positions `q (n - 1)` rounded down. Numbers of 17 and more binary digits
//!   are rounded down to 16 of them.

use super::Session;
use super::engine::hex_literals::Lines;
use super::engine::query_tokens;
use super::tables::files_of_datafusion;
use crate::table::COLUMNS;
use datafusion::arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, Float64Array, Int64Array, RecordBatch, StringArray,
};
use datafusion::arrow::compute::{
    SortOptions, cast, concat, max, max_boolean, max_string, min, min_boolean, min_string, sort_limit,
};
use datafusion::arrow::datatypes::{DataType, Field, Float64Type, Schema, SchemaRef};
use datafusion::arrow::error::ArrowError;
use datafusion::arrow::util::display::array_value_to_string;
use datafusion::common::Result;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan};
use futures::{StreamExt, stream};
use rayon::prelude::*;
use std::collections::{BTreeMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::sync::Arc;

/// What a statement summarizes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Summarized {
    /// The columns of a file, a directory or a pattern.
    File(String),
    /// The columns of a query.
    Query,
}

/// The text with queries in place of `SUMMARIZE ..`, and for each of its statements what it summarizes.
pub(super) fn replaced(text: &str) -> (String, Vec<Option<Summarized>>) {
    let tokens = query_tokens::of(text);
    let lines = Lines::of(text);
    let mut replaced = String::with_capacity(text.len());
    let mut kept = 0;
    let mut summarized = Vec::new();
    let is_blank = |token: &&TokenWithSpan| matches!(token.token, Token::Whitespace(_));
    for statement in tokens.split(|token| token.token == Token::SemiColon) {
        let mut own = statement.iter().filter(|token| !is_blank(token));
        let Some(first) = own.next() else { continue };
        let second = own.next();
        let is_word = |token: &TokenWithSpan, words: &[&str]| {
            matches!(&token.token, Token::Word(word) if word.quote_style.is_none()
                && words.iter().any(|other| word.value.eq_ignore_ascii_case(other)))
        };
        let (start, second) = match (is_word(first, &["summarize"]), second, lines.byte(first.span.start)) {
            (true, Some(second), Some(start)) => (start, second),
            _ => {
                summarized.push(None);
                continue;
            }
        };
        replaced.push_str(&text[kept..start]);
        kept = start + "summarize".len();
        let is_query = second.token == Token::LParen || is_word(second, &["select", "with", "values", "table"]);
        // As long as what it replaces, so that errors have their places.
        replaced.push_str(if is_query { "         " } else { "select * from" });
        summarized.push(Some(match &second.token {
            Token::SingleQuotedString(name) if !is_query => Summarized::File(name.clone()),
            _ => Summarized::Query,
        }));
    }
    replaced.push_str(&text[kept..]);
    (replaced, summarized)
}

/// The query for the columns of a file: those that it has, or the position and the fields that records carry.
pub(super) fn query_of(file: &str, has_positions: bool) -> String {
    let quoted = file.replace('\'', "''");
    if files_of_datafusion::extension(Path::new(file)).is_some() {
        format!("select * from plain('{quoted}')")
    } else if has_positions {
        let carried = COLUMNS.iter().filter(|column| column.is_carried()).map(|column| column.name);
        let columns: Vec<&str> = std::iter::once("fen").chain(carried).collect();
        format!("select {} from '{quoted}'", columns.join(", "))
    } else {
        format!("select * from '{quoted}'")
    }
}

/// The rows of the summary, which are made when the first is requested. `only_present` leaves out columns without a value.
pub(super) fn summary(mut rows: SendableRecordBatchStream, only_present: bool) -> SendableRecordBatchStream {
    let schema = summary_schema();
    let own = Arc::clone(&schema);
    let summarized = async move {
        let columns = Arc::clone(&rows.schema());
        let mut counts: Vec<Counts> = columns.fields().iter().map(|_| Counts::default()).collect();
        while let Some(batch) = rows.next().await {
            let batch = batch?;
            let added = counts.par_iter_mut().zip(batch.columns()).map(|(counts, values)| counts.add(values));
            added.collect::<Result<(), ArrowError>>()?;
        }
        counts_as_rows(&columns, &counts, only_present, own)
    };
    Box::pin(RecordBatchStreamAdapter::new(schema, stream::once(summarized)))
}

fn summary_schema() -> SchemaRef {
    let text = |name: &str, nullable| Field::new(name, DataType::Utf8, nullable);
    let mut fields = vec![text("column_name", false), text("column_type", false)];
    fields.extend(["min", "max"].map(|name| text(name, true)));
    fields.push(Field::new("approx_unique", DataType::Int64, false));
    fields.extend(["avg", "std", "q25", "q50", "q75"].map(|name| text(name, true)));
    fields.push(Field::new("count", DataType::Int64, false));
    fields.push(Field::new("null_percentage", DataType::Float64, true));
    Arc::new(Schema::new(fields))
}

fn counts_as_rows(columns: &Schema, counts: &[Counts], only_present: bool, schema: SchemaRef) -> Result<RecordBatch> {
    let rows: Vec<(&Arc<Field>, &Counts)> =
        columns.fields().iter().zip(counts).filter(|(_, counts)| !only_present || counts.present > 0).collect();
    let texts = |of: &dyn Fn(&Counts) -> Option<String>| -> ArrayRef {
        Arc::new(rows.iter().map(|(_, counts)| of(counts)).collect::<StringArray>())
    };
    let numbers = |of: &dyn Fn(&Counts) -> u64| -> ArrayRef {
        Arc::new(rows.iter().map(|(_, counts)| of(counts).cast_signed()).collect::<Int64Array>())
    };
    let quantile = |part: f64| texts(&move |counts| counts.quantile(part));
    let nulls = |counts: &Counts| (counts.rows > 0).then(|| percentage(counts.rows - counts.present, counts.rows));
    Ok(RecordBatch::try_new(
        schema,
        vec![
            Arc::new(rows.iter().map(|(field, _)| Some(field.name().as_str())).collect::<StringArray>()),
            Arc::new(rows.iter().map(|(field, _)| Some(field.data_type().to_string())).collect::<StringArray>()),
            texts(&|counts| counts.least.as_ref().map(|least| least.1.clone())),
            texts(&|counts| counts.greatest.as_ref().map(|greatest| greatest.1.clone())),
            numbers(&|counts| counts.different.estimate()),
            texts(&|counts| counts.mean().map(number)),
            texts(&|counts| counts.deviation().map(number)),
            quantile(0.25),
            quantile(0.5),
            quantile(0.75),
            numbers(&|counts| counts.rows),
            Arc::new(rows.iter().map(|(_, counts)| nulls(counts)).collect::<Float64Array>()),
        ],
    )?)
}

/// Rounded to two decimals.
fn percentage(part: u64, all: u64) -> f64 {
    (part as f64 / all as f64 * 10_000.0).round() / 100.0
}

/// A number with ten digits at most, which the order of the rows does not change.
fn number(value: f64) -> String {
    let rounded: f64 = format!("{value:.9e}").parse().unwrap_or(value);
    rounded.to_string()
}

/// An end of the range of a column: a row with the value, to compare it, and the value as text.
type End = Option<(ArrayRef, String)>;

/// The sum of numbers, and that of their squares.
enum Sums {
    Whole(i128, i128),
    Real(f64, f64),
}

impl Sums {
    fn as_real(&self) -> (f64, f64) {
        match *self {
            Self::Whole(sum, squares) => (sum as f64, squares as f64),
            Self::Real(sum, squares) => (sum, squares),
        }
    }
}

/// What is counted of a column.
#[derive(Default)]
struct Counts {
    rows: u64,
    present: u64,
    least: End,
    greatest: End,
    different: Different,
    sums: Option<Sums>,
    /// How often numbers occur, in the order of their values.
    numbers: BTreeMap<u64, u64>,
}

impl Counts {
    fn add(&mut self, values: &ArrayRef) -> Result<(), ArrowError> {
        let present = (values.len() - values.logical_null_count()) as u64;
        self.rows += values.len() as u64;
        self.present += present;
        if present == 0 {
            return Ok(());
        }
        let values = &match values.data_type() {
            DataType::Dictionary(_, of) => cast(values, of)?,
            DataType::Utf8View | DataType::LargeUtf8 => cast(values, &DataType::Utf8)?,
            _ => Arc::clone(values),
        };
        self.ends(values)?;
        let kind = values.data_type();
        if kind.is_numeric() {
            let is_small = kind.is_integer() && kind.primitive_width().is_some_and(|width| width <= 4);
            let numbers = cast(values, &DataType::Float64)?;
            self.add_numbers(numbers.as_primitive(), is_small);
        } else if let Some(texts) = values.as_string_opt::<i32>() {
            texts.iter().flatten().for_each(|text| self.different.add(text));
        } else {
            for row in (0..values.len()).filter(|&row| values.is_valid(row)) {
                self.different.add(&array_value_to_string(values, row)?);
            }
        }
        Ok(())
    }

    /// Updates the least and the greatest value.
    fn ends(&mut self, values: &ArrayRef) -> Result<(), ArrowError> {
        for (end, is_least) in [(&mut self.least, true), (&mut self.greatest, false)] {
            let Some(found) = end_of(values, is_least) else { continue };
            let found = match end {
                Some((known, _)) => match end_of(&concat(&[&**known, &*found])?, is_least) {
                    Some(further) if **known != *further => further,
                    _ => continue,
                },
                None => found,
            };
            let text = array_value_to_string(&found, 0)?;
            *end = Some((found, text));
        }
        Ok(())
    }

    /// `is_whole`: whether they are whole numbers of 32 bits, whose sums have no order.
    fn add_numbers(&mut self, numbers: &Float64Array, is_whole: bool) {
        let sums = self.sums.get_or_insert(if is_whole { Sums::Whole(0, 0) } else { Sums::Real(0.0, 0.0) });
        // Within a batch, numbers are mostly near each other or the same as before.
        let mut last: Option<(u64, u64)> = None;
        for number in numbers.iter().flatten() {
            match sums {
                Sums::Whole(sum, squares) => {
                    let number = number as i128;
                    *sum += number;
                    *squares += number * number;
                }
                Sums::Real(sum, squares) => {
                    *sum += number;
                    *squares += number * number;
                }
            }
            self.different.add(&number.to_bits());
            let place = place_of(number);
            match &mut last {
                Some((known, count)) if *known == place => *count += 1,
                _ => {
                    if let Some((known, count)) = last.replace((place, 1)) {
                        *self.numbers.entry(known).or_default() += count;
                    }
                }
            }
        }
        if let Some((known, count)) = last {
            *self.numbers.entry(known).or_default() += count;
        }
    }

    fn mean(&self) -> Option<f64> {
        let (sum, _) = self.sums.as_ref()?.as_real();
        Some(sum / self.present as f64)
    }

    /// Of a sample, as `stddev` of the engine.
    fn deviation(&self) -> Option<f64> {
        let (sum, squares) = self.sums.as_ref()?.as_real();
        let count = self.present as f64;
        (self.present > 1).then(|| ((squares - sum * sum / count) / (count - 1.0)).max(0.0).sqrt())
    }

    fn quantile(&self, part: f64) -> Option<String> {
        let at = (part * self.present.checked_sub(1)? as f64) as u64;
        let mut before = 0;
        let found = self.numbers.iter().find(|(_, count)| {
            before += **count;
            before > at
        });
        found.map(|(&place, _)| number(value_at(place)))
    }
}

/// The least or the greatest value as an array of one row; `None` for types without an order.
fn end_of(values: &ArrayRef, is_least: bool) -> Option<ArrayRef> {
    match values.data_type() {
        DataType::Utf8 => {
            let texts = values.as_string::<i32>();
            let found = if is_least { min_string(texts) } else { max_string(texts) };
            Some(Arc::new(StringArray::from(vec![found?])))
        }
        DataType::Boolean => {
            let flags = values.as_boolean();
            let found = if is_least { min_boolean(flags) } else { max_boolean(flags) };
            Some(Arc::new(BooleanArray::from(vec![found?])))
        }
        DataType::Float64 => {
            let numbers = values.as_primitive::<Float64Type>();
            let found = if is_least { min(numbers) } else { max(numbers) };
            Some(Arc::new(Float64Array::from(vec![found?])))
        }
        kind if kind.is_nested() => None,
        _ => {
            let order = SortOptions { descending: !is_least, nulls_first: false };
            sort_limit(values, Some(order), Some(1)).ok().filter(|found| found.len() == 1 && found.is_valid(0))
        }
    }
}

/// Bits of a number behind its first 16 binary digits: sign, exponent, and 15 digits of the mantissa are kept.
const DROPPED: u32 = 52 - 15;

/// The place of a number in the order of all; numbers that differ only in dropped bits have the same.
fn place_of(number: f64) -> u64 {
    // Zero has one sign.
    let bits = ((number + 0.0).to_bits() >> DROPPED) << DROPPED;
    if bits >> 63 == 0 { bits | 1 << 63 } else { !bits }
}

/// The number at a place.
fn value_at(place: u64) -> f64 {
    f64::from_bits(if place >> 63 == 1 { place & !(1 << 63) } else { !place })
}

/// The number of different values.
enum Different {
    /// Their hashes.
    All(HashSet<u64>),
    /// For each register, the greatest number of zeros before the first one in a hash.
    Registers(Box<[u8; REGISTERS]>),
}

/// Number of different values that are counted exactly.
const EXACT: usize = 1 << 16;
const REGISTERS: usize = 1 << 12;

impl Default for Different {
    fn default() -> Self {
        Self::All(HashSet::new())
    }
}

impl Different {
    fn add(&mut self, value: &(impl Hash + ?Sized)) {
        // With the same keys in all runs.
        let mut hasher = DefaultHasher::new();
        value.hash(&mut hasher);
        self.add_hash(hasher.finish());
    }

    fn add_hash(&mut self, hash: u64) {
        match self {
            Self::All(all) => {
                all.insert(hash);
                if all.len() > EXACT {
                    let mut registers = Self::Registers(Box::new([0; REGISTERS]));
                    all.iter().for_each(|&hash| registers.add_hash(hash));
                    *self = registers;
                }
            }
            Self::Registers(registers) => {
                let register = &mut registers[hash as usize % REGISTERS];
                *register = (*register).max((hash >> 12 | 1 << 52).trailing_zeros() as u8 + 1);
            }
        }
    }

    fn estimate(&self) -> u64 {
        match self {
            Self::All(all) => all.len() as u64,
            Self::Registers(registers) => {
                let count = REGISTERS as f64;
                let sum: f64 = registers.iter().map(|&zeros| (-f64::from(zeros)).exp2()).sum();
                (0.7213 / (1.0 + 1.079 / count) * count * count / sum).round() as u64
            }
        }
    }
}

impl Session {
    /// Whether the columns of a file are the fields of its positions.
    pub(super) async fn summarizes_positions(&self, file: &str) -> Result<bool> {
        Ok(files_of_datafusion::extension(Path::new(file)).is_none() && self.paths.has_positions(file).await?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_take_the_place_of_the_word() {
        let file = |name: &str| Some(Summarized::File(name.to_owned()));
        for (text, expected, summarized) in [
            ("select 1", "select 1", vec![None]),
            ("summarize 'a.pgn'", "select * from 'a.pgn'", vec![file("a.pgn")]),
            (" SUMMARIZE select 1; select 2;;", "           select 1; select 2;;", vec![Some(Summarized::Query), None]),
            ("select 1; summarize t", "select 1; select * from t", vec![None, Some(Summarized::Query)]),
            ("summarize", "summarize", vec![None]),
            (
                "-- summarize 'x'\nselect \"summarize\" from t",
                "-- summarize 'x'\nselect \"summarize\" from t",
                vec![None],
            ),
        ] {
            assert_eq!(replaced(text), (expected.to_owned(), summarized), "{text}");
        }
    }

    #[test]
    fn places_are_in_the_order_of_numbers() {
        let mut numbers: Vec<f64> = (-70_000..70_000).step_by(7).map(f64::from).collect();
        numbers.extend([f64::MIN, -0.001, -0.0, 0.0, 1e-300, f64::MAX]);
        numbers.sort_by(f64::total_cmp);
        for pair in numbers.windows(2) {
            assert!(place_of(pair[0]) <= place_of(pair[1]), "{pair:?}");
        }
        for number in numbers.iter().filter(|number| number.fract() == 0.0 && number.abs() < 65_536.0) {
            assert_eq!(value_at(place_of(*number)), *number);
        }
    }

    #[test]
    fn figures_are_those_of_all_values() {
        let values: Vec<Option<i64>> =
            (0..1000).map(|row| (row % 10 != 0).then_some((row * 7919) % 1000 - 500)).collect();
        let mut present: Vec<i64> = values.iter().flatten().copied().collect();
        let mut counts = Counts::default();
        for part in values.chunks(77) {
            counts.add(&(Arc::new(Int64Array::from(part.to_vec())) as ArrayRef)).unwrap();
        }
        present.sort_unstable();
        let mean = present.iter().sum::<i64>() as f64 / present.len() as f64;
        assert_eq!((counts.rows, counts.present), (1000, 900));
        assert_eq!(counts.least.as_ref().unwrap().1, present[0].to_string());
        assert_eq!(counts.greatest.as_ref().unwrap().1, present[899].to_string());
        assert_eq!(counts.mean(), Some(mean));
        let squares: f64 = present.iter().map(|&value| (value as f64 - mean).powi(2)).sum();
        assert!((counts.deviation().unwrap() - (squares / 899.0).sqrt()).abs() < 1e-9);
        for (part, at) in [(0.25, 224), (0.5, 449), (0.75, 674)] {
            assert_eq!(counts.quantile(part), Some(present[at].to_string()));
        }
        present.dedup();
        assert_eq!(counts.different.estimate(), present.len() as u64);
    }

    #[test]
    fn different_values_are_estimated() {
        let mut different = Different::default();
        for number in 0..2_000_000u64 {
            different.add(&(number / 2));
        }
        let estimate = different.estimate() as f64;
        assert!((estimate / 1e6 - 1.0).abs() < 0.05, "{estimate}");
    }
}
