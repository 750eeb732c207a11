//! Openings of records that come one by one: which positions lie on the way to a record.
//!
//! PGN knows the way to each position. Elsewhere, records of one game whose plies ascend are a way. A chunk does what it
//! can on any thread ([`find_openings`]); [`Way::join`] sees the chunks in order and goes on from one to the next, which
//! changes only the first rows of a chunk, up to the first position that the list of openings has.

use super::Decoded;
use crate::table::{Array, Batch, Field, Values, openings};

/// Where a record stands: its game and ply.
type Place = (u64, u16);

/// The way to the last record so far, and its opening.
#[derive(Clone, Debug, Default)]
pub(crate) struct Way {
    last: Option<(Place, Option<u16>)>,
}

fn place(batch: &Batch, row: usize) -> Option<Place> {
    let [game, ply] = [Field::Game, Field::Ply].map(|field| batch.values(field)?.number(row));
    Some((game? as u64, ply? as u16))
}

impl Way {
    /// If a record goes on with the way, the opening before it.
    fn before(&self, place: Option<Place>) -> Option<Option<u16>> {
        let ((game, ply), opening) = self.last?;
        let goes_on = place.is_some_and(|(other, later)| other == game && later > ply);
        goes_on.then_some(opening)
    }
    fn go_on(&mut self, place: Option<Place>, opening: Option<u16>) {
        self.last = place.map(|place| (place, opening));
    }

    /// Goes on with the records of the next chunk, whose openings have been found as far as the chunk shows them.
    pub(crate) fn join(&mut self, batches: &mut [Batch]) {
        for batch in batches.iter_mut().filter(|batch| !batch.is_empty()) {
            let len = batch.len();
            let Some(Array::U16(openings)) = batch.values(Field::PositionOpening) else {
                continue;
            };
            let own = |row: usize| openings.get(row).copied();
            let mut leading = 0;
            while leading < len
                && own(leading).is_none()
                && let at = place(batch, leading)
                && let Some(opening) = self.before(at)
            {
                self.go_on(at, opening);
                leading += 1;
            }
            let carried = self.last.and_then(|(_, opening)| opening);
            if leading < len {
                self.go_on(place(batch, len - 1), own(len - 1));
            }
            if carried.is_some()
                && leading > 0
                && let Some(Array::U16(openings)) = batch.fields.get_mut(&Field::PositionOpening)
            {
                let mut values = Values::default();
                values.push_many(carried, leading);
                values.extend_from(openings, leading..len);
                *openings = values;
            }
        }
    }

    /// Whether these records are all on one way, so that the way to the last one may begin before them.
    #[cfg(feature = "parquet")]
    pub(crate) fn is_one(batches: &[Batch]) -> bool {
        let mut way = Self::default();
        let mut places = batches.iter().flat_map(|batch| (0..batch.len()).map(move |row| place(batch, row)));
        let Some(first) = places.next() else {
            return true;
        };
        way.go_on(first, None);
        first.is_some()
            && places.all(|place| {
                let goes_on = way.before(place).is_some();
                way.go_on(place, None);
                goes_on
            })
    }
}

/// Finds the openings of the records of a chunk: of each position that of the list, or else that of the last one before it
/// in the chunk on the way to it.
pub(super) fn find_openings(decoded: &mut Decoded) {
    let mut way = Way::default();
    for batch in &mut decoded.batches {
        let mut found = Values::<u16>::default();
        for row in 0..batch.len() {
            let board = batch.board(row);
            let is_legal = || batch.position(row).is_ok_and(|position| position.en_passant_captors().any());
            let own = openings::may_have(&board)
                .then(|| openings::number_of(&board, board.en_passant().is_some() && is_legal()));
            let place = place(batch, row);
            let opening = own.flatten().or_else(|| way.before(place).flatten());
            way.go_on(place, opening);
            found.push(opening);
        }
        batch.fields.insert(Field::PositionOpening, Array::U16(found));
    }
}
