//! What functions are given in place of positions: they return null, and the session tells how often.

use crate::poisoned_locks::Unpoisoned;
use crate::text::one_line;
use datafusion::arrow::array::{Array, ArrayRef};
use datafusion::arrow::util::display::array_value_to_string;
use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex};

/// Longest text that a note quotes, in bytes.
const LONGEST: usize = 60;

/// What the functions of a session were given in place of positions. Functions that only differ in this are the same.
#[derive(Clone, Debug, Default)]
pub(in crate::sql) struct ValuesWithoutPosition(Arc<Mutex<BTreeMap<&'static str, Values>>>);

/// The number of values that a function was given, and the first of them in the order of the alphabet, which does not depend
/// on threads.
#[derive(Debug)]
struct Values {
    count: u64,
    first: String,
}

impl PartialEq for ValuesWithoutPosition {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for ValuesWithoutPosition {}

impl Hash for ValuesWithoutPosition {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}

impl ValuesWithoutPosition {
    /// Adds these rows of an argument of a function, but for those that are null.
    pub(super) fn add(&self, function: &'static str, argument: &ArrayRef, rows: impl Iterator<Item = usize>) {
        let mut rows = rows.filter(|&row| argument.is_valid(row)).peekable();
        if rows.peek().is_none() {
            return;
        }
        let mut all = self.0.lock().unpoisoned();
        for row in rows {
            let text = array_value_to_string(argument, row).unwrap_or_default();
            let values = all.entry(function).or_insert_with(|| Values { count: 0, first: text.clone() });
            values.count += 1;
            if text < values.first {
                values.first = text;
            }
        }
    }

    /// Forgets all values.
    pub(in crate::sql) fn clear(&self) {
        self.0.lock().unpoisoned().clear();
    }

    /// A note for each function, and forgets the values.
    pub(in crate::sql) fn take_notes(&self) -> Vec<String> {
        let all = std::mem::take(&mut *self.0.lock().unpoisoned());
        let note = |(function, Values { count, first }): (&str, Values)| {
            let values = if count == 1 { "value that is not a position" } else { "values that are not positions" };
            let end = first.floor_char_boundary(LONGEST);
            let (shown, more) = (one_line::of(&first[..end]), if end < first.len() { "..." } else { "" });
            format!("{function} returned null for {count} {values}, such as `{shown}{more}`")
        };
        all.into_iter().map(note).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use datafusion::arrow::array::StringArray;

    #[test]
    fn the_first_in_the_alphabet_is_told() {
        let values = ValuesWithoutPosition::default();
        let texts: ArrayRef = Arc::new(StringArray::from(vec![Some("z"), None, Some("a\nb"), Some("c")]));
        values.add("key", &texts, 0..2);
        values.add("fen", &texts, 0..4);
        values.add("none", &texts, 1..2);
        assert_eq!(
            values.take_notes(),
            [
                "fen returned null for 3 values that are not positions, such as `a b`",
                "key returned null for 1 value that is not a position, such as `z`"
            ]
        );
        assert!(values.take_notes().is_empty());
    }
}
