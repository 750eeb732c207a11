//! The columns in which all records of a game have the same value, from its tags.

use super::tag_syntax;
use super::tags::{Name, rating};
use super::{Game, Pgn, date};
use crate::formats::codec::fields_from_whole_games::OF_WHOLE_GAMES;
use crate::formats::tables::fields_from_values::is_understood;
use crate::formats::{Codec, DroppedKind};
use crate::games::Outcome;
use crate::table::{Array, Batch, Field, Fields, Texts};
use std::sync::Arc;

/// The columns in which all rows of a game have the same value.
pub(super) struct GameColumns {
    columns: Vec<(Field, Array)>,
    tags: Vec<(Arc<str>, Texts)>,
    /// For the value of a tag.
    buffer: Vec<u8>,
    /// The values of tags that were not read or not understood.
    unread: Unread,
}

/// Values of tags that were not read or not understood.
type Unread = Vec<(DroppedKind, Vec<u8>)>;

impl GameColumns {
    /// Columns with room for this number of rows.
    pub(super) fn new(fields: Fields, tags: &[Arc<str>], rows: usize) -> Self {
        let columns = fields.iter().filter(|field| {
            let of_position = matches!(
                field,
                Field::Score
                    | Field::Mate
                    | Field::Move
                    | Field::Ply
                    | Field::Clock
                    | Field::MoveTime
                    | Field::KeyEnPassant
            );
            // What needs whole games is found later.
            let is_own = !of_position && !OF_WHOLE_GAMES.contains(*field);
            (Pgn.about().carries.contains(*field) || *field == Field::GamePlies) && is_own
        });
        let columns = columns.map(|field| {
            let mut values = field.column(0);
            values.reserve(rows);
            (field, values)
        });
        Self {
            columns: columns.collect(),
            tags: tags.iter().map(|name| (Arc::clone(name), Texts::default())).collect(),
            buffer: Vec::new(),
            unread: Vec::new(),
        }
    }

    /// Makes room for this number of rows altogether.
    pub(super) fn reserve(&mut self, rows: usize) {
        for (_, values) in &mut self.columns {
            values.reserve(rows.saturating_sub(values.len()));
        }
    }

    /// Adds this many rows of a game.
    pub(super) fn extend(&mut self, game: &Game<'_>, number: u64, rows: usize) {
        let tags = &game.tags;
        for (field, values) in &mut self.columns {
            let field = *field;
            match (field, values) {
                (Field::Game, Array::U64(column)) => column.push_many(Some(number), rows),
                (Field::Result, Array::U8(column)) => {
                    column.push_many(game.result().map(Outcome::code), rows);
                    if let Some(text) = game.unread_result() {
                        self.unread.push((DroppedKind::Value(field), text.to_vec()));
                    }
                }
                (Field::GamePlies, Array::U16(column)) => {
                    column.push_many(Some(game.plies.min(u16::MAX.into()) as u16), rows);
                }
                (Field::WhiteElo, Array::U16(column)) => {
                    let value = tags.value(const { Name::new("WhiteElo") });
                    column.push_many(read_rating(field, value, &mut self.unread), rows);
                }
                (Field::BlackElo, Array::U16(column)) => {
                    let value = tags.value(const { Name::new("BlackElo") });
                    column.push_many(read_rating(field, value, &mut self.unread), rows);
                }
                (field, Array::Text(column)) => {
                    let value = match field {
                        Field::Eco => tags.value(const { Name::new("ECO") }),
                        Field::Opening => tags.value(const { Name::new("Opening") }),
                        Field::TimeControl => tags.value(const { Name::new("TimeControl") }),
                        Field::Date => date(tags),
                        Field::Site => tags.value(const { Name::new("Site") }),
                        Field::White => tags.value(const { Name::new("White") }),
                        Field::Black => tags.value(const { Name::new("Black") }),
                        Field::Termination => tags.value(const { Name::new("Termination") }),
                        _ => None,
                    };
                    if let Some(value) = value.filter(|value| !is_understood(field, value)) {
                        self.unread.push((DroppedKind::Text(field), value.to_vec()));
                    }
                    push_tag(column, value, rows, &mut self.buffer);
                }
                (_, values) => (0..rows).for_each(|_| values.push_missing()),
            }
        }
        for (name, column) in &mut self.tags {
            push_tag(column, tags.get_exactly(name), rows, &mut self.buffer);
        }
    }

    /// The values of tags that were not read or not understood, of the games since the last call.
    pub(super) fn take_unread(&mut self) -> impl Iterator<Item = (DroppedKind, Vec<u8>)> {
        std::mem::take(&mut self.unread).into_iter()
    }

    /// Returns the columns that have any value.
    pub(super) fn finish(self, batch: &mut Batch) {
        for (field, values) in self.columns {
            if values.count_present() != 0 {
                batch.fields.insert(field, values);
            }
        }
        for (name, values) in self.tags {
            if values.count_present() != 0 {
                batch.tags.insert(name, values);
            }
        }
    }
}

/// The rating in the value of a tag.
fn read_rating(field: Field, value: Option<&[u8]>, unread: &mut Unread) -> Option<u16> {
    let value = value?;
    rating(value).unwrap_or_else(|()| {
        unread.push((DroppedKind::Value(field), value.to_vec()));
        None
    })
}

/// Adds the value of a tag to the rows of a game, unless it means that the value is unknown.
fn push_tag(column: &mut Texts, value: Option<&[u8]>, rows: usize, buffer: &mut Vec<u8>) {
    let known = value.filter(|value| !matches!(*value, b"" | b"?"));
    column.push_many(known.map(|value| tag_syntax::text_in(value, buffer)).as_deref(), rows);
}
