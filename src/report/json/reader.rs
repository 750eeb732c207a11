//! Reads values of a JSON object; errors name their path.

use super::{LETTERS, MOST, ReportError};
use crate::distinct::Sketch;
use crate::report::{HeatMap, Histogram, Kinds, Magnitudes, Matrix};
use serde_json::Value;
use std::collections::BTreeMap;

/// A value and its path in the object.
pub(super) struct Reader<'a> {
    pub(super) value: &'a Value,
    key: String,
}

impl<'a> Reader<'a> {
    /// The whole object.
    pub(super) fn root(value: &'a Value) -> Self {
        Self { value, key: String::new() }
    }
    pub(super) fn not(&self, expected: &'static str) -> ReportError {
        ReportError::Unexpected { key: self.key.clone(), expected }
    }
    /// An error about another key of the same object.
    pub(super) fn inside(&self, key: &str, expected: &'static str) -> ReportError {
        let parent = self.key.rsplit_once('.').map_or(String::new(), |(parent, _)| format!("{parent}."));
        ReportError::Unexpected { key: format!("{parent}{key}"), expected }
    }
    pub(super) fn child(&self, name: &str, value: &'a Value) -> Self {
        let key = if self.key.is_empty() { name.to_owned() } else { format!("{}.{name}", self.key) };
        Self { value, key }
    }
    pub(super) fn find(&self, name: &str) -> Option<Self> {
        Some(self.child(name, self.value.get(name)?))
    }
    pub(super) fn get(&self, name: &str) -> Result<Self, ReportError> {
        self.find(name).ok_or_else(|| self.child(name, &Value::Null).not("there"))
    }
    pub(super) fn number(&self) -> Result<u64, ReportError> {
        let number = self.value.as_u64().filter(|&number| number <= MOST);
        number.ok_or_else(|| self.not("a whole number from 0 to 2^53"))
    }
    pub(super) fn at_most(&self, most: u64) -> Result<u64, ReportError> {
        let number = self.number()?;
        if number <= most { Ok(number) } else { Err(self.not("a part of all")) }
    }
    pub(super) fn text(&self) -> Result<&'a str, ReportError> {
        self.value.as_str().ok_or_else(|| self.not("a text"))
    }
    pub(super) fn list(&self) -> Result<impl Iterator<Item = Self>, ReportError> {
        let list = self.value.as_array().ok_or_else(|| self.not("a list"))?;
        let children = list.iter().enumerate();
        Ok(children.map(|(at, value)| self.child(&at.to_string(), value)))
    }
    /// The values of a list, or the value itself.
    pub(super) fn one_or_all(&self) -> Result<Vec<Self>, ReportError> {
        if self.value.is_array() { Ok(self.list()?.collect()) } else { Ok(vec![self.child("", self.value)]) }
    }
    pub(super) fn entries(&self) -> Result<impl Iterator<Item = (&'a str, Self)>, ReportError> {
        let entries = self.value.as_object().ok_or_else(|| self.not("an object"))?;
        Ok(entries.iter().map(|(name, value)| (name.as_str(), self.child(name, value))))
    }
    pub(super) fn numbers<const N: usize>(&self) -> Result<[u64; N], ReportError> {
        let numbers: Vec<u64> = self.list()?.map(|number| number.number()).collect::<Result<_, _>>()?;
        numbers.try_into().map_err(|_| self.not("a list of another length"))
    }
    /// The values under these names of an object.
    pub(super) fn named<const N: usize, T>(
        &self,
        key: &str,
        names: [&str; N],
        read: impl Fn(&Self) -> Result<T, ReportError>,
    ) -> Result<[T; N], ReportError> {
        let object = self.get(key)?;
        let values: Vec<T> = names.iter().map(|name| read(&object.get(name)?)).collect::<Result<_, _>>()?;
        values.try_into().map_err(|_| object.not("an object"))
    }
    pub(super) fn sketch(&self) -> Result<Sketch, ReportError> {
        let rank = |letter| LETTERS.iter().position(|&other| other == letter).map(|at| at as u8);
        let ranks: Option<Vec<u8>> = self.text()?.bytes().map(rank).collect();
        let sketch = ranks.and_then(|ranks| Sketch::from_registers(&ranks));
        sketch.ok_or_else(|| self.not("the registers of a sketch"))
    }
    pub(super) fn squares(&self) -> Result<HeatMap, ReportError> {
        self.numbers().map(HeatMap).map_err(|_| self.not("64 numbers"))
    }
    /// Reads an array of counts, where the index is the number; the sum must be at most `most`.
    pub(super) fn counts(&self, most: u64) -> Result<Histogram, ReportError> {
        let counts: Vec<u64> = self.list()?.map(|count| count.number()).collect::<Result<_, _>>()?;
        self.sum(&counts, most)?;
        if counts.len() <= 1 << 16 {
            Ok(Histogram::new(0, counts))
        } else {
            Err(self.not("a list of at most 65536 numbers"))
        }
    }
    /// Reads numbers from `first` to `last` with their counts; the sum must be at most `most`.
    pub(super) fn pairs(&self, first: i64, last: i64, most: u64) -> Result<Histogram, ReportError> {
        let mut counts = vec![0; (last - first + 1) as usize];
        for pair in self.list()? {
            let number = pair
                .value
                .get(0)
                .and_then(Value::as_i64)
                .filter(|number| (first..=last).contains(number))
                .ok_or_else(|| pair.not("a number in range and its count"))?;
            let count = pair.value.get(1).ok_or_else(|| pair.not("a number and its count"))?;
            counts[(number - first) as usize] = pair.child("1", count).at_most(most)?;
        }
        self.sum(&counts, most)?;
        // The histogram has the same form as one that was counted.
        Ok(if counts.iter().any(|&count| count > 0) { Histogram::new(first, counts) } else { Histogram::default() })
    }
    pub(super) fn rows(&self, most: u64) -> Result<Matrix, ReportError> {
        let rows: Result<Vec<Vec<u64>>, _> =
            self.list()?.map(|row| row.list()?.map(|count| count.at_most(most)).collect()).collect();
        self.matrix(rows?, most)
    }
    pub(super) fn matrix(&self, rows: Vec<Vec<u64>>, most: u64) -> Result<Matrix, ReportError> {
        self.sum(rows.as_slice().concat().as_slice(), most)?;
        if rows.len() <= 256 && rows.iter().all(|row| row.len() <= 256) {
            Ok(Matrix::new(rows))
        } else {
            Err(self.not("at most 256 rows and columns"))
        }
    }
    /// Checks that the sum of counts is at most a whole.
    pub(super) fn sum(&self, counts: &[u64], most: u64) -> Result<(), ReportError> {
        let sum: u128 = counts.iter().map(|&count| u128::from(count)).sum();
        if sum <= u128::from(most) { Ok(()) } else { Err(self.not("counts of no more than there are")) }
    }
    /// Reads counts by text, each at most `most`; null if there were too many texts.
    pub(super) fn kinds(&self, most: u64) -> Result<Kinds, ReportError> {
        if self.value.is_null() {
            return Ok(Kinds::too_many());
        }
        let mut kinds = Kinds::default();
        for (text, count) in self.entries()? {
            if text.len() > Kinds::LONGEST {
                return Err(count.not("a count of a shorter text"));
            }
            kinds.add(text, count.at_most(most)?);
        }
        if kinds.are_too_many() { Err(self.not("counts of at most 1000 texts")) } else { Ok(kinds) }
    }
    /// Reads the first numbers of ranges with their counts; the sum must be at most `most`.
    pub(super) fn magnitudes(&self, most: u64) -> Result<Magnitudes, ReportError> {
        let mut magnitudes = BTreeMap::new();
        for pair in self.list()? {
            let first = pair.value.get(0).and_then(Value::as_u64);
            let first = first.filter(|&first| Magnitudes::range_of(first) == first);
            let first = first.ok_or_else(|| pair.not("the first number of a range and its count"))?;
            let count = pair.value.get(1).ok_or_else(|| pair.not("a number and its count"))?;
            magnitudes.insert(first, pair.child("1", count).at_most(most)?);
        }
        self.sum(&magnitudes.values().copied().collect::<Vec<_>>(), most)?;
        magnitudes.retain(|_, count| *count > 0);
        Ok(Magnitudes(magnitudes))
    }
}
