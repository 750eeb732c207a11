//! Fields of structs, which options name by their paths: `game.moves`.
//!
//! Only fields that are named are read. To those who read rows they are columns like any other: they follow the columns
//! of the file, in the order of [`paths_in`].

use super::column_map::{Column, Kind};
use crate::formats::DecodeOptions;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, make_array};
use arrow_buffer::NullBuffer;
use arrow_schema::{DataType, Field, Fields};
use std::sync::Arc;

/// The names in options that may be paths of fields.
pub(super) fn paths_in(options: &DecodeOptions) -> Vec<&str> {
    let names = [&options.moves_column, &options.start_column, &options.fen_column];
    let mut paths: Vec<&str> = names.into_iter().flatten().map(|name| &**name).collect();
    paths.retain(|name| name.contains('.'));
    paths.dedup();
    paths
}

/// A column of a file, or a field of one that is a struct.
#[derive(Clone, Debug)]
pub(super) struct FoundField {
    pub(super) column: Column,
    /// The number of the column of the file.
    pub(super) root: usize,
    /// The numbers of the fields on the way down.
    pub(super) path: Vec<usize>,
    /// The field itself.
    pub(super) field: Arc<Field>,
}

/// The columns of a file, and the fields that the options name.
pub(super) fn fields_of(fields: &Fields, options: &DecodeOptions) -> Vec<FoundField> {
    let of = |name: String, root, path, field: &Arc<Field>| FoundField {
        column: Column { name, kind: Kind::of(field.data_type()), data: field.data_type().to_string() },
        root,
        path,
        field: Arc::clone(field),
    };
    let all = fields.iter().enumerate();
    let mut found: Vec<_> = all.map(|(root, field)| of(field.name().clone(), root, Vec::new(), field)).collect();
    for name in paths_in(options) {
        let mut path = Vec::new();
        if !fields.iter().any(|field| field.name() == name)
            && let Some(field) = find(fields, name, &mut path)
        {
            found.push(of(name.to_owned(), path[0], path.split_off(1), field));
        }
    }
    found
}

/// Finds a field by its path, and the numbers on the way to it.
fn find<'a>(fields: &'a Fields, name: &str, path: &mut Vec<usize>) -> Option<&'a Arc<Field>> {
    for (at, field) in fields.iter().enumerate() {
        let Some(rest) = name.strip_prefix(&**field.name()) else { continue };
        path.push(at);
        if rest.is_empty() {
            return Some(field);
        }
        if let (Some(rest), DataType::Struct(inner)) = (rest.strip_prefix('.'), field.data_type())
            && let Some(found) = find(inner, rest, path)
        {
            return Some(found);
        }
        path.pop();
    }
    None
}

/// The values of the field on this way down from an array. They are null where a struct around them is.
///
/// # Errors
/// If there is no such field.
pub(super) fn values_of(array: &ArrayRef, path: &[usize]) -> Result<ArrayRef, String> {
    let mut nulls: Option<NullBuffer> = None;
    let mut values = array;
    for &at in path {
        let fields = values.as_struct_opt().ok_or("a struct is missing")?;
        nulls = NullBuffer::union(nulls.as_ref(), fields.nulls());
        values = fields.columns().get(at).ok_or("a field of a struct is missing")?;
    }
    let Some(nulls) = nulls else { return Ok(Arc::clone(values)) };
    let nulls = NullBuffer::union(Some(&nulls), values.nulls());
    let data = values.to_data().into_builder().nulls(nulls).build().map_err(|error| error.to_string())?;
    Ok(make_array(data))
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::{StringArray, StructArray};

    #[test]
    fn fields_are_found_by_their_paths() {
        let text = |name: &str| Field::new(name, DataType::Utf8, true);
        let inner = Field::new("a.b", DataType::Struct(vec![text("x"), text("c.d")].into()), true);
        let fields =
            Fields::from(vec![text("m"), Field::new("a", DataType::Struct(vec![text("b")].into()), true), inner]);
        for (name, found) in [
            ("a.b", None),
            ("a.b.x", Some((2, vec![0]))),
            ("a.b.c.d", Some((2, vec![1]))),
            ("a.b.c", None),
            ("m.x", None),
            ("a.", None),
        ] {
            let options = DecodeOptions { moves_column: Some(name.into()), ..DecodeOptions::default() };
            let of_path = fields_of(&fields, &options).into_iter().nth(3);
            assert_eq!(of_path.map(|field| (field.root, field.path)), found, "{name}");
        }
        let options = DecodeOptions { moves_column: Some("a.b".into()), ..DecodeOptions::default() };
        let others = &Fields::from(fields.iter().take(2).cloned().collect::<Vec<_>>());
        let found = fields_of(others, &options).pop().unwrap();
        assert_eq!((found.root, found.path, &*found.column.name), (1, vec![0], "a.b"));
    }

    #[test]
    fn values_are_null_where_a_struct_is() {
        let texts: ArrayRef = Arc::new(StringArray::from(vec![Some("x"), None, Some("y"), Some("z")]));
        let nest = |array: ArrayRef, nulls: Option<Vec<bool>>| -> ArrayRef {
            let field = Field::new("f", array.data_type().clone(), true);
            Arc::new(StructArray::new(vec![field].into(), vec![array], nulls.map(Into::into)))
        };
        let one = nest(Arc::clone(&texts), Some(vec![true, true, false, true]));
        let two = nest(one, Some(vec![true, true, true, false]));
        let three = nest(two, None);
        let values = values_of(&three, &[0, 0, 0]).unwrap();
        assert_eq!(values.as_string::<i32>().iter().collect::<Vec<_>>(), [Some("x"), None, None, None]);
        assert!(values_of(&three, &[0, 0, 0, 0]).is_err() && values_of(&three, &[1]).is_err());
    }
}
