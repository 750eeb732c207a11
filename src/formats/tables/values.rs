//! Values of Arrow arrays: bytes of any layout of strings, and integers of any width.
//!
//! Places within buffers are checked at each access: the buffers may lie in a mapped file.

use super::dictionary_values::{Column, Known};
use crate::table::{self, Field};
use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, DurationMicrosecondType, DurationMillisecondType, DurationNanosecondType, DurationSecondType,
    Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef};
use arrow_buffer::{Buffer, NullBuffer};
use arrow_schema::{DataType, TimeUnit};
use std::ops::Range;

/// Bytes of each row.
#[derive(Debug)]
pub(super) struct Texts<'a> {
    layout: Layout<'a>,
    nulls: Option<&'a NullBuffer>,
}

#[derive(Debug)]
enum Layout<'a> {
    View(&'a [u128], &'a [Buffer]),
    Offsets(&'a [i32], &'a [u8]),
    LargeOffsets(&'a [i64], &'a [u8]),
    Fixed(usize, &'a [u8]),
    Dictionary(Numbers<'a>, Box<Texts<'a>>),
    Words(Numbers<'a>, &'a Known),
}

impl<'a> Texts<'a> {
    /// The values of a column of strings or bytes, or a dictionary of them.
    pub(super) fn of(column: &'a Column) -> Option<Self> {
        Self::of_values(&column.array, column.words.as_ref())
    }

    /// The values of an array, which are numbers of those of a dictionary if there is one.
    fn of_values(array: &'a ArrayRef, words: Option<&'a Known>) -> Option<Self> {
        let Some(known) = words else {
            return Self::of_array(array);
        };
        let numbers = Numbers::of_primitive(array)?;
        let layout = match known.whole() {
            Some(values) => Layout::Dictionary(numbers, Box::new(Self::of_array(values)?)),
            None => Layout::Words(numbers, known),
        };
        Some(Self { layout, nulls: array.nulls() })
    }

    pub(super) fn of_array(array: &'a ArrayRef) -> Option<Self> {
        let layout = match array.data_type() {
            DataType::BinaryView => {
                let array = array.as_binary_view_opt()?;
                Layout::View(array.views(), array.data_buffers())
            }
            DataType::Binary => {
                let array = array.as_binary_opt::<i32>()?;
                Layout::Offsets(array.value_offsets(), array.value_data())
            }
            DataType::LargeBinary => {
                let array = array.as_binary_opt::<i64>()?;
                Layout::LargeOffsets(array.value_offsets(), array.value_data())
            }
            // Strings have the layout of bytes.
            DataType::Utf8View => {
                let array = array.as_string_view_opt()?;
                Layout::View(array.views(), array.data_buffers())
            }
            DataType::Utf8 => {
                let array = array.as_string_opt::<i32>()?;
                Layout::Offsets(array.value_offsets(), array.value_data())
            }
            DataType::LargeUtf8 => {
                let array = array.as_string_opt::<i64>()?;
                Layout::LargeOffsets(array.value_offsets(), array.value_data())
            }
            DataType::FixedSizeBinary(_) => {
                let array = array.as_fixed_size_binary_opt()?;
                let width = usize::try_from(array.value_length()).ok()?;
                Layout::Fixed(width, array.value_data())
            }
            DataType::Dictionary(..) => {
                let array = array.as_any_dictionary_opt()?;
                // Dictionaries of dictionaries do not exist.
                let numbers = Numbers::of_primitive(array.keys())?;
                Layout::Dictionary(numbers, Box::new(Self::of_array(array.values())?))
            }
            _ => return None,
        };
        Some(Self { layout, nulls: array.nulls() })
    }

    /// The value of a row; `None` if it is null.
    #[inline]
    pub(super) fn get(&self, row: usize) -> Option<&'a [u8]> {
        if self.nulls.is_some_and(|nulls| nulls.is_null(row)) {
            return None;
        }
        match &self.layout {
            Layout::View(views, buffers) => view(views.get(row)?, buffers),
            Layout::Offsets(offsets, data) => {
                let place = |row: usize| usize::try_from(*offsets.get(row)?).ok();
                data.get(place(row)?..place(row + 1)?)
            }
            Layout::LargeOffsets(offsets, data) => {
                let place = |row: usize| usize::try_from(*offsets.get(row)?).ok();
                data.get(place(row)?..place(row + 1)?)
            }
            Layout::Fixed(width, data) => data.get(row * width..(row + 1) * width),
            Layout::Dictionary(numbers, values) => {
                let number = usize::try_from(numbers.get(row)?).ok()?;
                (number < values.len()).then(|| values.get(number))?
            }
            Layout::Words(numbers, known) => {
                let (values, at) = known.get(u64::try_from(numbers.get(row)?).ok()?)?;
                Self::of_array(values)?.get(at)
            }
        }
    }

    /// A number that two rows of the array only share if they have the same text, without looking at it: a view, or the number
    /// of an entry of a dictionary. `None` if the row is null, or its layout has none.
    #[inline]
    fn key(&self, row: usize) -> Option<u128> {
        if self.nulls.is_some_and(|nulls| nulls.is_null(row)) {
            return None;
        }
        match &self.layout {
            Layout::View(views, _) => views.get(row).copied(),
            Layout::Dictionary(numbers, _) | Layout::Words(numbers, _) => u128::try_from(numbers.get(row)?).ok(),
            Layout::Offsets(..) | Layout::LargeOffsets(..) | Layout::Fixed(..) => None,
        }
    }

    /// The value of a row with the bytes after it in memory, and its length; `None` if it is null, or its place is not
    /// known at once.
    #[inline(always)]
    pub(super) fn get_with_rest(&self, row: usize) -> Option<(&'a [u8], usize)> {
        if self.nulls.is_some_and(|nulls| nulls.is_null(row)) {
            return None;
        }
        match &self.layout {
            Layout::Dictionary(numbers, values) => values.plain_with_rest(usize::try_from(numbers.get(row)?).ok()?),
            _ => self.plain_with_rest(row),
        }
    }

    #[inline(always)]
    fn plain_with_rest(&self, row: usize) -> Option<(&'a [u8], usize)> {
        let (data, start, end) = match &self.layout {
            &Layout::View(views, buffers) => {
                let view = *views.get(row)?;
                let len = view as u32 as usize;
                // Shorter texts are in the view.
                let buffer = if len > 12 { buffers.get((view >> 64) as u32 as usize)? } else { return None };
                let start = (view >> 96) as u32 as usize;
                (buffer.as_slice(), start, start.checked_add(len)?)
            }
            &Layout::Offsets(offsets, data) => {
                let place = |row: usize| usize::try_from(*offsets.get(row)?).ok();
                (data, place(row)?, place(row + 1)?)
            }
            &Layout::LargeOffsets(offsets, data) => {
                let place = |row: usize| usize::try_from(*offsets.get(row)?).ok();
                (data, place(row)?, place(row + 1)?)
            }
            Layout::Fixed(..) | Layout::Dictionary(..) | Layout::Words(..) => return None,
        };
        (end <= data.len()).then_some(())?;
        Some((data.get(start..)?, end.checked_sub(start)?))
    }

    fn len(&self) -> usize {
        match &self.layout {
            Layout::View(views, _) => views.len(),
            Layout::Offsets(offsets, _) => offsets.len().saturating_sub(1),
            Layout::LargeOffsets(offsets, _) => offsets.len().saturating_sub(1),
            Layout::Fixed(width, data) => data.len().checked_div(*width).unwrap_or(0),
            Layout::Dictionary(numbers, _) | Layout::Words(numbers, _) => numbers.len(),
        }
    }

    /// Calls a function for the place and length of each buffer in memory.
    pub(super) fn each_buffer(&self, mut each: impl FnMut(*const u8, usize)) {
        match &self.layout {
            Layout::View(_, buffers) => {
                for buffer in *buffers {
                    each(buffer.as_ptr(), buffer.len());
                }
            }
            Layout::Offsets(_, data) | Layout::LargeOffsets(_, data) | Layout::Fixed(_, data) => {
                each(data.as_ptr(), data.len());
            }
            Layout::Dictionary(_, values) => values.each_buffer(each),
            // Mapped buffers stay as long as their file is read.
            Layout::Words(..) => {}
        }
    }
}

/// What was made of some of the texts of one array: most columns of texts have few different ones.
#[derive(Debug)]
pub(super) struct MadeOfTexts<T>(Box<[Option<(u128, T)>]>);

impl<T: Copy> MadeOfTexts<T> {
    /// Number of texts that are kept at most.
    const MOST: usize = 256;

    pub(super) fn new() -> Self {
        Self(vec![None; Self::MOST].into())
    }

    /// What is made of the text of a row.
    #[inline]
    pub(super) fn get(&mut self, texts: &Texts<'_>, row: usize, make: impl FnOnce(Option<&[u8]>) -> T) -> T {
        let Some(key) = texts.key(row) else { return make(texts.get(row)) };
        let mixed = (key as u64 ^ (key >> 64) as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let slot = &mut self.0[(mixed >> 56) as usize % Self::MOST];
        match *slot {
            Some((known, made)) if known == key => made,
            _ => slot.insert((key, make(texts.get(row)))).1,
        }
    }
}

/// The bytes of a view: up to 12 in the view itself, or a range of a buffer.
#[inline]
fn view<'a>(view: &'a u128, buffers: &'a [Buffer]) -> Option<&'a [u8]> {
    let len = *view as u32 as usize;
    if len <= 12 {
        return bytemuck::bytes_of(view).get(4..4 + len);
    }
    let buffer = buffers.get((*view >> 64) as u32 as usize)?;
    let start = (*view >> 96) as u32 as usize;
    buffer.as_slice().get(start..start.checked_add(len)?)
}

/// Lists, each of which is a range of the values of one array.
#[derive(Debug)]
pub(super) struct Lists<'a> {
    places: Places<'a>,
    nulls: Option<&'a NullBuffer>,
    /// The values of all lists.
    pub(super) values: &'a ArrayRef,
    words: Option<&'a Known>,
}

#[derive(Debug)]
enum Places<'a> {
    Offsets(&'a [i32]),
    LargeOffsets(&'a [i64]),
    /// Where each list begins, and how long it is.
    Views(&'a [i32], &'a [i32]),
    LargeViews(&'a [i64], &'a [i64]),
    Fixed(usize),
}

impl<'a> Lists<'a> {
    pub(super) fn of(column: &'a Column) -> Option<Self> {
        let array = &column.array;
        let (places, values) = match array.data_type() {
            DataType::List(_) => {
                let lists = array.as_list_opt::<i32>()?;
                (Places::Offsets(lists.value_offsets()), lists.values())
            }
            DataType::LargeList(_) => {
                let lists = array.as_list_opt::<i64>()?;
                (Places::LargeOffsets(lists.value_offsets()), lists.values())
            }
            DataType::ListView(_) => {
                let lists = array.as_list_view_opt::<i32>()?;
                (Places::Views(lists.value_offsets(), lists.value_sizes()), lists.values())
            }
            DataType::LargeListView(_) => {
                let lists = array.as_list_view_opt::<i64>()?;
                (Places::LargeViews(lists.value_offsets(), lists.value_sizes()), lists.values())
            }
            DataType::FixedSizeList(..) => {
                let lists = array.as_fixed_size_list_opt()?;
                (Places::Fixed(usize::try_from(lists.value_length()).ok()?), lists.values())
            }
            _ => return None,
        };
        Some(Self { places, nulls: array.nulls(), values, words: column.words.as_ref() })
    }

    /// The values of all lists, if they are bytes or strings.
    pub(super) fn texts(&self) -> Option<Texts<'a>> {
        Texts::of_values(self.values, self.words)
    }

    /// The places of a row's values; `None` if it is null.
    #[inline]
    pub(super) fn get(&self, row: usize) -> Option<Range<usize>> {
        if self.nulls.is_some_and(|nulls| nulls.is_null(row)) {
            return None;
        }
        fn range<T: Copy + TryInto<usize>>(start: &T, end: &T) -> Option<Range<usize>> {
            Some((*start).try_into().ok()?..(*end).try_into().ok()?)
        }
        fn view<T: Copy + TryInto<usize>>(starts: &[T], sizes: &[T], row: usize) -> Option<Range<usize>> {
            let Range { start, end: len } = range(starts.get(row)?, sizes.get(row)?)?;
            Some(start..start.checked_add(len)?)
        }
        let found = match self.places {
            Places::Offsets(offsets) => range(offsets.get(row)?, offsets.get(row + 1)?)?,
            Places::LargeOffsets(offsets) => range(offsets.get(row)?, offsets.get(row + 1)?)?,
            Places::Views(starts, sizes) => view(starts, sizes, row)?,
            Places::LargeViews(starts, sizes) => view(starts, sizes, row)?,
            Places::Fixed(len) => row.checked_mul(len)?..row.checked_add(1)?.checked_mul(len)?,
        };
        (found.start <= found.end && found.end <= self.values.len()).then_some(found)
    }
}

/// Numbers of floating point.
#[derive(Debug)]
pub(super) struct Floats<'a> {
    values: Widths<'a>,
    nulls: Option<&'a NullBuffer>,
}

#[derive(Debug)]
enum Widths<'a> {
    F32(&'a [f32]),
    F64(&'a [f64]),
}

impl<'a> Floats<'a> {
    pub(super) fn of(column: &'a Column) -> Option<Self> {
        let array = &column.array;
        let values = match array.data_type() {
            DataType::Float32 => Widths::F32(array.as_primitive_opt::<Float32Type>()?.values()),
            DataType::Float64 => Widths::F64(array.as_primitive_opt::<Float64Type>()?.values()),
            _ => return None,
        };
        Some(Self { values, nulls: array.nulls() })
    }
    /// The value of a row; `None` if it is null, or not a number, which is how some programs write a missing one.
    #[inline]
    pub(super) fn get(&self, row: usize) -> Option<f64> {
        if self.nulls.is_some_and(|nulls| nulls.is_null(row)) {
            return None;
        }
        let value = match self.values {
            Widths::F32(values) => f64::from(*values.get(row)?),
            Widths::F64(values) => *values.get(row)?,
        };
        (!value.is_nan()).then_some(value)
    }
}

/// Integers.
#[derive(Debug)]
pub(super) struct Numbers<'a> {
    values: Integers<'a>,
    nulls: Option<&'a NullBuffer>,
}

#[derive(Debug)]
enum Integers<'a> {
    I8(&'a [i8]),
    I16(&'a [i16]),
    I32(&'a [i32]),
    I64(&'a [i64]),
    U8(&'a [u8]),
    U16(&'a [u16]),
    U32(&'a [u32]),
    U64(&'a [u64]),
}

macro_rules! each_width {
    ($values:expr, $slice:ident => $do:expr) => {
        match $values {
            Integers::I8($slice) => $do,
            Integers::I16($slice) => $do,
            Integers::I32($slice) => $do,
            Integers::I64($slice) => $do,
            Integers::U8($slice) => $do,
            Integers::U16($slice) => $do,
            Integers::U32($slice) => $do,
            Integers::U64($slice) => $do,
        }
    };
}

impl<'a> Numbers<'a> {
    /// Adds the values of rows to the column of a field as long as each is null or fits, and returns their number; none for
    /// fields that not all numbers of their type fit.
    pub(super) fn add_to(&self, field: Field, column: &mut table::Array, rows: Range<usize>) -> usize {
        // In columns of ratings, 0 means that there is none.
        let is_rating = matches!(field, Field::WhiteElo | Field::BlackElo);
        if matches!(field, Field::Result | Field::Move | Field::KeyEnPassant) {
            return 0;
        }
        macro_rules! add {
            ($column:expr) => {
                each_width!(self.values, values => {
                    let Some(values) = values.get(rows.clone()) else { return 0 };
                    for (at, &value) in values.iter().enumerate() {
                        let is_null = self.nulls.is_some_and(|nulls| nulls.is_null(rows.start + at));
                        let value = if is_null { None } else { Some(value) };
                        match value.map(TryInto::try_into) {
                            None => $column.push(None),
                            Some(Ok(0)) if is_rating => $column.push(None),
                            Some(Ok(number)) => $column.push(Some(number)),
                            Some(Err(_)) => return at,
                        }
                    }
                    values.len()
                })
            };
        }
        match column {
            table::Array::U8(column) => add!(column),
            table::Array::I16(column) => add!(column),
            table::Array::U16(column) => add!(column),
            table::Array::U32(column) => add!(column),
            table::Array::U64(column) => add!(column),
            _ => 0,
        }
    }

    /// The values of an array of integers, or of days.
    pub(super) fn of(column: &'a Column) -> Option<Self> {
        match column.words {
            None => Self::of_primitive(&column.array),
            Some(_) => None,
        }
    }
    pub(super) fn of_primitive(array: &'a dyn Array) -> Option<Self> {
        let values = match array.data_type() {
            DataType::Int8 => Integers::I8(array.as_primitive_opt::<Int8Type>()?.values()),
            DataType::Int16 => Integers::I16(array.as_primitive_opt::<Int16Type>()?.values()),
            DataType::Int32 => Integers::I32(array.as_primitive_opt::<Int32Type>()?.values()),
            DataType::Date32 => {
                let days = array.as_primitive_opt::<Date32Type>()?;
                Integers::I32(days.values())
            }
            DataType::Int64 => Integers::I64(array.as_primitive_opt::<Int64Type>()?.values()),
            DataType::Duration(unit) => Integers::I64(match unit {
                TimeUnit::Second => array.as_primitive_opt::<DurationSecondType>()?.values(),
                TimeUnit::Millisecond => array.as_primitive_opt::<DurationMillisecondType>()?.values(),
                TimeUnit::Microsecond => array.as_primitive_opt::<DurationMicrosecondType>()?.values(),
                TimeUnit::Nanosecond => array.as_primitive_opt::<DurationNanosecondType>()?.values(),
            }),
            DataType::UInt8 => Integers::U8(array.as_primitive_opt::<UInt8Type>()?.values()),
            DataType::UInt16 => Integers::U16(array.as_primitive_opt::<UInt16Type>()?.values()),
            DataType::UInt32 => Integers::U32(array.as_primitive_opt::<UInt32Type>()?.values()),
            DataType::UInt64 => Integers::U64(array.as_primitive_opt::<UInt64Type>()?.values()),
            _ => return None,
        };
        Some(Self { values, nulls: array.nulls() })
    }
    /// The value of a row; `None` if it is null.
    #[inline]
    pub(super) fn get(&self, row: usize) -> Option<i128> {
        if self.nulls.is_some_and(|nulls| nulls.is_null(row)) {
            return None;
        }
        each_width!(&self.values, values => values.get(row).map(|&value| value.into()))
    }
    pub(super) fn len(&self) -> usize {
        each_width!(&self.values, values => values.len())
    }
}
