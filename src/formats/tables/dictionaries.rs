//! Checks which dictionaries an Arrow file has, and to which column each of them belongs.
//!
//! A dictionary refers to its columns only by a number, and Arrow has no checksums. With a wrong number, a column would
//! get the values of another one. So every dictionary must belong to a column, and columns that share one must have the
//! same type. A dictionary must not be replaced before any batch needed it.

use arrow_schema::{DataType, Field, Schema};
use std::collections::HashMap;

/// The dictionaries of a file, by number.
#[derive(Debug)]
pub(super) struct Dictionaries {
    known: HashMap<i64, Known>,
    /// Number of batches so far.
    batches: u64,
}

#[derive(Debug)]
struct Known {
    /// Once it has been seen: the number of batches before its last occurrence.
    came: Option<u64>,
}

/// The number of the dictionary of a column.
pub(super) fn number_of(field: &Field) -> Option<i64> {
    #[allow(deprecated, reason = "the numbers of dictionaries are part of the format, and found nowhere else")]
    field.dict_id()
}

impl Dictionaries {
    /// Collects the dictionaries that the columns of a file refer to.
    ///
    /// # Errors
    /// If columns of different types share one.
    pub(super) fn of(schema: &Schema) -> Result<Self, String> {
        let mut first: HashMap<i64, &Field> = HashMap::new();
        for field in schema.flattened_fields() {
            let Some(number) = number_of(field) else {
                continue;
            };
            let other = first.entry(number).or_insert(field);
            if values(other) != values(field) {
                return Err(format!(
                    "the columns `{}` and `{}` have the same dictionary, {number}, but different types",
                    other.name(),
                    field.name(),
                ));
            }
        }
        Ok(Self { known: first.into_keys().map(|number| (number, Known { came: None })).collect(), batches: 0 })
    }

    /// Notes a batch of rows.
    pub(super) fn batch(&mut self) {
        self.batches += 1;
    }

    /// Notes a dictionary, or more of it; `replaces` says whether it may replace one that batches have used.
    ///
    /// # Errors
    /// If this dictionary is not allowed here.
    pub(super) fn take(&mut self, number: i64, more: bool, replaces: bool) -> Result<(), String> {
        let known = self.known.get_mut(&number).ok_or_else(|| format!("no column has the dictionary {number}"))?;
        match (more, known.came) {
            (true, None) => Err(format!("an addition to the dictionary {number} comes before it")),
            (true, Some(_)) => Ok(()),
            (false, Some(before)) if !replaces || before == self.batches => {
                Err(format!("the dictionary {number} comes twice"))
            }
            (false, _) => {
                known.came = Some(self.batches);
                Ok(())
            }
        }
    }
}

fn values(field: &Field) -> Option<&DataType> {
    match field.data_type() {
        DataType::Dictionary(_, values) => Some(values),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[allow(deprecated, reason = "as above")]
    fn field(name: &str, number: i64, values: DataType) -> Field {
        let data = DataType::Dictionary(Box::new(DataType::Int32), Box::new(values));
        Field::new_dict(name, data, true, number, false)
    }

    #[test]
    fn each_dictionary_comes_once_before_a_batch() {
        let schema = Schema::new(vec![
            field("a", 1, DataType::Utf8),
            field("b", 2, DataType::Utf8),
            field("c", 2, DataType::Utf8),
        ]);
        for replaces in [true, false] {
            let mut all = Dictionaries::of(&schema).unwrap();
            assert!(all.take(0, false, replaces).is_err());
            assert!(all.take(1, true, replaces).is_err());
            all.take(1, false, replaces).unwrap();
            all.take(2, false, replaces).unwrap();
            all.take(1, true, replaces).unwrap();
            assert!(all.take(1, false, replaces).is_err());
            all.batch();
            all.take(1, true, replaces).unwrap();
            assert_eq!(all.take(1, false, replaces).is_ok(), replaces);
            assert!(all.take(1, false, replaces).is_err());
        }
    }

    #[test]
    fn columns_of_different_types_do_not_share_one() {
        let fields = [field("a", 1, DataType::Utf8), field("b", 1, DataType::Binary)];
        let error = Dictionaries::of(&Schema::new(fields.to_vec())).unwrap_err();
        assert!(error.contains("`a` and `b`"), "{error}");
        // Dictionaries may also be inside other types.
        let list = DataType::List(fields[1].clone().into());
        let schema = Schema::new(vec![fields[0].clone(), Field::new("list", list, true)]);
        assert!(Dictionaries::of(&schema).is_err());
    }
}
