//! Numbers for the values by which positions are grouped.
//!
//! Each value of a column has a number: the values are counted as they appear. So have pairs of values of two columns.
//! Neighbouring records often have the same value, and numbers near zero are found without a search.

use super::GroupBy;
use super::group_by::GroupWidth;
use crate::report::GroupValue;
use crate::table::{Array, ChosenColumn, Kind, Tile, Values, rows_of};
use std::collections::HashMap;

/// Number of ranges near zero, which are found without a search.
const NEAR: usize = 4096;
/// Maximum number of values.
pub(crate) const MOST_VALUES: usize = 1 << 20;
/// The number that means "no value".
pub(super) const NO_ID: u32 = u32::MAX;

/// The values of one column.
#[derive(Debug)]
struct ColumnIds {
    values: Vec<GroupValue>,
    ids: HashMap<GroupValue, u32>,
    /// The numbers of ranges near zero.
    near: Vec<u32>,
}

/// The values of one or two columns.
#[derive(Debug, Default)]
pub(super) struct GroupIds {
    columns: Vec<ColumnIds>,
    /// With two columns: the pairs, and their numbers.
    pairs: Vec<[u32; 2]>,
    ids_of_pairs: HashMap<[u32; 2], u32>,
}

impl GroupIds {
    /// Finds the numbers of the values of the rows of a tile that count; the others have [`NO_ID`].
    pub(super) fn find(&mut self, tile: &Tile<'_>, by: &GroupBy, ids: &mut [u32]) {
        for (at, (column, width)) in by.columns().enumerate() {
            if self.columns.len() == at {
                self.columns.push(ColumnIds::new());
            }
            if at == 0 {
                self.columns[0].find(tile, column, width, ids);
                continue;
            }
            let mut seconds = vec![NO_ID; tile.len];
            self.columns[at].find(tile, column, width, &mut seconds);
            let mut last = ([NO_ID; 2], NO_ID);
            for row in rows_of(tile.mask) {
                let pair = [ids[row], seconds[row]];
                if last.0 != pair {
                    last = (pair, self.id_of_pair(pair));
                }
                ids[row] = last.1;
            }
        }
    }

    fn id_of_pair(&mut self, pair: [u32; 2]) -> u32 {
        *self.ids_of_pairs.entry(pair).or_insert_with(|| {
            self.pairs.push(pair);
            (self.pairs.len() - 1) as u32
        })
    }

    /// Number of values, or of pairs of values.
    pub(super) fn len(&self) -> usize {
        match &self.columns[..] {
            [] => 0,
            [one] => one.values.len(),
            _ => self.pairs.len(),
        }
    }

    /// The values with this number, one for each column.
    pub(super) fn values(&self, id: u32) -> Vec<GroupValue> {
        let value = |column: usize, id: u32| self.columns[column].values[id as usize].clone();
        if self.columns.len() == 1 {
            return vec![value(0, id)];
        }
        let [first, second] = self.pairs[id as usize];
        vec![value(0, first), value(1, second)]
    }
}

impl ColumnIds {
    fn new() -> Self {
        Self { values: Vec::new(), ids: HashMap::new(), near: vec![NO_ID; NEAR] }
    }

    fn find(&mut self, tile: &Tile<'_>, column: &ChosenColumn, width: GroupWidth, ids: &mut [u32]) {
        let array = column.fill(tile);
        if let (Some(decimals), Array::U64(bits)) = (width.decimals, &array) {
            let scale = 10_f64.powi(decimals.into()) / width.units as f64;
            for row in rows_of(tile.mask) {
                let range = bits.get(row).map(|&bits| (f64::from_bits(bits) * scale).floor() as i128);
                let near = range.and_then(|range| self.near.get(usize::try_from(range).ok()?));
                ids[row] = match near {
                    Some(&id) if id != NO_ID => id,
                    _ => self.id_of_range(range, width.units.into()),
                };
            }
            return;
        }
        let width = i128::from(width.units);
        if let (Kind::I64, Array::U64(numbers)) = (column.kind(), &array) {
            for row in rows_of(tile.mask) {
                let range = numbers.get(row).map(|&number| i128::from(number as i64).div_euclid(width));
                let near = range.and_then(|range| self.near.get(usize::try_from(range).ok()?));
                ids[row] = match near {
                    Some(&id) if id != NO_ID => id,
                    _ => self.id_of_range(range, width),
                };
            }
            return;
        }
        match &array {
            Array::Flag(column) => self.find_ranges(column, width, tile.mask, ids),
            Array::U8(column) => self.find_ranges(column, width, tile.mask, ids),
            Array::U16(column) => self.find_ranges(column, width, tile.mask, ids),
            Array::I16(column) => self.find_ranges(column, width, tile.mask, ids),
            Array::U32(column) => self.find_ranges(column, width, tile.mask, ids),
            // Sets of squares and keys are also numbers, although hardly useful for grouping.
            Array::U64(column) => self.find_ranges(column, width, tile.mask, ids),
            Array::Text(_) | Array::TextBuffer(_) => self.find_texts(&array, tile.mask, ids),
            Array::Boards(_) | Array::Lists(_) => unreachable!("groups are not made of boards or lists"),
        }
    }

    /// Finds the ranges of numbers.
    #[inline(always)]
    fn find_ranges<T: Copy + Default + Into<i128>>(
        &mut self,
        column: &Values<T>,
        width: i128,
        mask: &[u64],
        ids: &mut [u32],
    ) {
        let words = column.values().chunks(64).zip(column.present());
        for ((values, &present), (ids, &mask)) in words.zip(ids.chunks_mut(64).zip(mask)) {
            if width == 1 && present & mask == !0 {
                // Usually all values have been seen before.
                let mut most = 0;
                for (id, &number) in ids.iter_mut().zip(values) {
                    let near = usize::try_from(number.into()).unwrap_or(usize::MAX);
                    *id = self.near.get(near).copied().unwrap_or(NO_ID);
                    most = most.max(*id);
                }
                if most != NO_ID {
                    continue;
                }
            }
            for row in rows_of(&[mask]) {
                let number = (present >> row & 1 != 0).then(|| values[row].into());
                let range = number.map(|number| if width == 1 { number } else { number.div_euclid(width) });
                let near = range.and_then(|range| self.near.get(usize::try_from(range).ok()?));
                ids[row] = match near {
                    Some(&id) if id != NO_ID => id,
                    _ => self.id_of_range(range, width),
                };
            }
        }
    }

    /// Finds texts.
    fn find_texts(&mut self, array: &Array, mask: &[u64], ids: &mut [u32]) {
        let mut last: Option<(Option<&str>, u32)> = None;
        for row in rows_of(mask) {
            let text = array.text(row);
            ids[row] = match last {
                Some((last, id)) if last == text => id,
                _ => self.id(match text {
                    Some(text) => GroupValue::Text(text.to_owned()),
                    None => GroupValue::Missing,
                }),
            };
            last = Some((text, ids[row]));
        }
    }

    #[cold]
    #[inline(never)]
    fn id_of_range(&mut self, range: Option<i128>, width: i128) -> u32 {
        let id = self.id(match range {
            Some(range) => GroupValue::Number(range * width),
            None => GroupValue::Missing,
        });
        let near = range.and_then(|range| self.near.get_mut(usize::try_from(range).ok()?));
        if let Some(known) = near {
            *known = id;
        }
        id
    }

    /// The number of a value.
    fn id(&mut self, value: GroupValue) -> u32 {
        if let Some(&id) = self.ids.get(&value) {
            return id;
        }
        let id = self.values.len() as u32;
        self.values.push(value.clone());
        self.ids.insert(value, id);
        id
    }
}
