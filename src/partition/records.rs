//! Whole records as rows of a [store](super::store): in memory a batch, in files the blocks of boards files.

use super::store::Pile;
use crate::formats::boards;
use crate::packed::Group;
use crate::table::{Array, Batch, Field, Texts};
use std::io;
use std::sync::Arc;

/// Records with keys, and with their numbers where these count.
#[derive(Debug, Default)]
pub(crate) struct Records {
    pub(crate) batch: Batch,
    pub(crate) keys: Vec<u64>,
    /// The number of each record over all inputs; empty where they do not count.
    pub(crate) numbers: Vec<u64>,
}

/// A packed board, two clocks and a key.
const ROW_LEN: u64 = (Group::BYTES / Group::LEN) as u64 + 2 * 2 + 8;

impl Records {
    /// Adds records of a batch with a key each.
    pub(crate) fn add(&mut self, batch: &Batch, rows: &[u32], keys: &[u64], places: &[u32], numbers: bool) -> u64 {
        let of = |place: &u32| rows[*place as usize] as usize;
        let texts = extend(&mut self.batch, batch, places.iter().map(of));
        self.keys.extend(places.iter().map(|&place| keys[place as usize]));
        if numbers {
            self.numbers.extend(places.iter().map(|place| batch.index(of(place))));
        }
        bytes_of_rows(&self.batch, places.len(), numbers) + texts
    }

    /// Adds records of another pile with other keys.
    pub(crate) fn add_again(&mut self, from: &Self, rows: &[u32], keys: &[u64], places: &[u32]) -> u64 {
        let of = |place: &u32| rows[*place as usize] as usize;
        let texts = extend(&mut self.batch, &from.batch, places.iter().map(of));
        self.keys.extend(places.iter().map(|&place| keys[place as usize]));
        self.numbers.extend(places.iter().map(|place| from.numbers[of(place)]));
        bytes_of_rows(&self.batch, places.len(), true) + texts
    }

    /// Several piles as one.
    pub(crate) fn joined(piles: Vec<Self>) -> Self {
        let mut piles = piles.into_iter();
        let mut all = piles.next().unwrap_or_default();
        for pile in piles {
            all.batch.extend_from(&pile.batch, 0..pile.batch.len());
            all.keys.extend(pile.keys);
            all.numbers.extend(pile.numbers);
        }
        all
    }
}

/// About how many bytes of memory that many rows of a batch take, without texts.
fn bytes_of_rows(batch: &Batch, rows: usize, numbers: bool) -> u64 {
    let fields: u64 = batch.fields.values().map(|values| values.row_len() as u64).sum();
    rows as u64 * (ROW_LEN + fields + u64::from(numbers) * 8)
}

/// Adds rows of another batch; returns how many bytes of text that adds. A text has a place of its own in each pile that
/// has rows with it.
fn extend(batch: &mut Batch, from: &Batch, rows: impl Iterator<Item = usize> + Clone) -> u64 {
    let words = |batch: &Batch| -> Vec<(Field, usize)> {
        let texts = batch.fields.iter().filter_map(|(&field, values)| match values {
            Array::Text(texts) => Some((field, texts.words().len())),
            _ => None,
        });
        texts.collect()
    };
    let before = words(batch);
    batch.extend_from(from, rows);
    let added = batch.fields.iter().filter_map(|(field, values)| match values {
        Array::Text(texts) => {
            let known = before.iter().find(|(known, _)| known == field).map_or(0, |(_, words)| *words);
            Some(texts.words().get(known..)?.iter().map(|word| word.len() as u64).sum::<u64>())
        }
        _ => None,
    });
    added.sum()
}

impl Pile for Records {
    fn len(&self) -> usize {
        self.batch.len()
    }
    fn keys(&self) -> Vec<u64> {
        self.keys.clone()
    }
    fn take(&mut self, from: &Self, rows: &[u32]) -> u64 {
        let places = || rows.iter().map(|&row| row as usize);
        let texts = extend(&mut self.batch, &from.batch, places());
        self.keys.extend(places().map(|row| from.keys[row]));
        if !from.numbers.is_empty() {
            self.numbers.extend(places().map(|row| from.numbers[row]));
        }
        bytes_of_rows(&self.batch, rows.len(), !from.numbers.is_empty()) + texts
    }
    fn bytes(&self) -> u64 {
        bytes_of_rows(&self.batch, self.len(), !self.numbers.is_empty()) + self.batch.text_len()
    }
    fn encode(&self, to: &mut Vec<u8>) -> io::Result<()> {
        boards::to_block(&self.batch, to)?;
        to.extend_from_slice(bytemuck::cast_slice(&self.keys));
        to.extend_from_slice(bytemuck::cast_slice(&self.numbers));
        let start = to.len();
        for (name, texts) in &self.batch.tags {
            put_text(Some(name), to);
            (0..self.len()).for_each(|row| put_text(texts.get(row).map(|text| &**text), to));
        }
        let tags = to.len() - start;
        to.extend_from_slice(&(tags as u64).to_ne_bytes());
        to.extend_from_slice(&(self.len() as u64).to_ne_bytes());
        to.push(u8::from(!self.numbers.is_empty()));
        Ok(())
    }
    fn decode(mut bytes: Vec<u8>) -> io::Result<Self> {
        let wrong = || io::Error::new(io::ErrorKind::InvalidData, "a temporary file has been changed");
        let has_numbers = bytes.pop().ok_or_else(wrong)? != 0;
        let rows = take_number(&mut bytes).ok_or_else(wrong)?;
        let tags = take_number(&mut bytes).ok_or_else(wrong)?;
        let tags = bytes.split_off(bytes.len().checked_sub(tags).ok_or_else(wrong)?);
        let columns = 1 + usize::from(has_numbers);
        let start = bytes.len().checked_sub(rows.checked_mul(8 * columns).ok_or_else(wrong)?).ok_or_else(wrong)?;
        let numbers = bytes[start..].as_chunks().0.iter().map(|bytes| u64::from_ne_bytes(*bytes));
        let mut keys: Vec<u64> = numbers.collect();
        let numbers = keys.split_off(rows);
        bytes.truncate(start);
        let mut batch = boards::of_block(bytes).map_err(|_| wrong())?;
        if batch.len() != rows {
            return Err(wrong());
        }
        let mut rest = &tags[..];
        while !rest.is_empty() {
            let name = take_text(&mut rest).flatten().ok_or_else(wrong)?;
            let mut texts = Texts::default();
            for _ in 0..rows {
                let text = take_text(&mut rest).ok_or_else(wrong)?;
                match text {
                    Some(text) if texts.repeat(text.as_bytes(), 1) => {}
                    text => texts.push(text.map(Arc::from)),
                }
            }
            batch.tags.insert(name.into(), texts);
        }
        Ok(Self { batch, keys, numbers })
    }
}

/// The length of a text that is missing.
const MISSING: u32 = u32::MAX;

fn put_text(text: Option<&str>, to: &mut Vec<u8>) {
    to.extend_from_slice(&text.map_or(MISSING, |text| text.len() as u32).to_ne_bytes());
    to.extend_from_slice(text.unwrap_or_default().as_bytes());
}

/// Takes the next text, which may be missing; `None` where there is none.
fn take_text<'a>(rest: &mut &'a [u8]) -> Option<Option<&'a str>> {
    let len = u32::from_ne_bytes(*rest.split_off(..4)?.first_chunk()?);
    if len == MISSING {
        return Some(None);
    }
    std::str::from_utf8(rest.split_off(..len as usize)?).ok().map(Some)
}

/// Takes a number from the end.
fn take_number(bytes: &mut Vec<u8>) -> Option<usize> {
    let number = u64::from_ne_bytes(*bytes.last_chunk()?);
    bytes.truncate(bytes.len() - 8);
    usize::try_from(number).ok()
}
