//! Statistics of what puzzles and evaluations say about their positions.
//!
//! Hardly any file has these fields, so the tables are made when the first of them is seen.

use super::tally::Tally;
use crate::report::{self, Histogram, Kinds, Magnitudes};
use crate::table::{Batch, Field, Fields, Texts, Values};

/// What puzzles and evaluations say about their positions.
pub(crate) const ANNOTATIONS: Fields = Fields::of(&[
    Field::PuzzleRating,
    Field::RatingDeviation,
    Field::Popularity,
    Field::Plays,
    Field::Themes,
    Field::Depth,
    Field::Knodes,
]);

/// Counts of all numbers of 16 bits.
type Numbers = Tally<{ 1 << 16 }>;

/// See [`report::Puzzles`].
#[derive(Clone, Debug, Default)]
pub(super) struct Puzzles {
    ratings: Numbers,
    deviations: Numbers,
    /// From the popularity of `i16::MIN` on.
    popularity: Numbers,
    plays: Magnitudes,
    with_themes: u64,
    themes: Kinds,
}

/// See [`report::Evaluations`].
#[derive(Clone, Debug, Default)]
pub(super) struct Evaluations {
    depths: Numbers,
    knodes: Magnitudes,
    mate_distances: Numbers,
}

/// The columns of a batch from which the statistics are made.
#[derive(Clone, Copy, Debug)]
pub(super) struct Columns<'a> {
    ratings: Option<&'a Values<u16>>,
    deviations: Option<&'a Values<u16>>,
    popularity: Option<&'a Values<i16>>,
    plays: Option<&'a Values<u32>>,
    themes: Option<&'a Texts>,
    depths: Option<&'a Values<u16>>,
    knodes: Option<&'a Values<u64>>,
}

impl<'a> Columns<'a> {
    /// The columns of a batch; `None` if it has none of them.
    pub(super) fn of(batch: &'a Batch) -> Option<Self> {
        if !batch.fields.keys().any(|&field| ANNOTATIONS.contains(field)) {
            return None;
        }
        let small = |field| batch.column::<u16>(field);
        Some(Self {
            ratings: small(Field::PuzzleRating),
            deviations: small(Field::RatingDeviation),
            popularity: batch.column::<i16>(Field::Popularity),
            plays: batch.column::<u32>(Field::Plays),
            themes: batch.texts(Field::Themes),
            depths: small(Field::Depth),
            knodes: batch.column::<u64>(Field::Knodes),
        })
    }
}

/// The statistics of puzzles and of evaluations, of which there may be neither.
#[derive(Clone, Debug, Default)]
pub(super) struct Annotations {
    puzzles: Option<Box<Puzzles>>,
    evaluations: Option<Box<Evaluations>>,
}

impl Annotations {
    /// Adds rows of a batch.
    pub(super) fn add(&mut self, columns: &Columns<'_>, rows: impl Iterator<Item = usize>) {
        for row in rows {
            self.add_puzzle(columns, row);
            self.add_evaluation(columns, row);
        }
    }

    fn add_puzzle(&mut self, columns: &Columns<'_>, row: usize) {
        let small = |column: Option<&Values<u16>>| column.and_then(|column| column.get(row)).copied();
        let (rating, deviation) = (small(columns.ratings), small(columns.deviations));
        let popularity = columns.popularity.and_then(|column| column.get(row)).copied();
        let plays = columns.plays.and_then(|column| column.get(row)).copied();
        let themes = columns.themes.and_then(|column| column.get(row));
        let any = rating.is_some() || deviation.is_some() || popularity.is_some() || plays.is_some();
        if !any && themes.is_none() {
            return;
        }
        let puzzles = self.puzzles.get_or_insert_default();
        rating.into_iter().for_each(|rating| puzzles.ratings.add(rating.into()));
        deviation.into_iter().for_each(|deviation| puzzles.deviations.add(deviation.into()));
        let popularity = popularity.map(|popularity| usize::from(popularity.wrapping_sub(i16::MIN) as u16));
        popularity.into_iter().for_each(|popularity| puzzles.popularity.add(popularity));
        plays.into_iter().for_each(|plays| puzzles.plays.add(plays.into()));
        if let Some(themes) = themes {
            puzzles.with_themes += 1;
            themes.split_ascii_whitespace().for_each(|theme| puzzles.themes.add(theme, 1));
        }
    }

    fn add_evaluation(&mut self, columns: &Columns<'_>, row: usize) {
        let depth = columns.depths.and_then(|column| column.get(row)).copied();
        let knodes = columns.knodes.and_then(|column| column.get(row)).copied();
        if depth.is_none() && knodes.is_none() {
            return;
        }
        let evaluations = self.evaluations.get_or_insert_default();
        depth.into_iter().for_each(|depth| evaluations.depths.add(depth.into()));
        knodes.into_iter().for_each(|knodes| evaluations.knodes.add(knodes));
    }

    /// Adds a mate in this number of moves, by either side.
    pub(super) fn add_mate(&mut self, moves: i16) {
        self.evaluations.get_or_insert_default().mate_distances.add(moves.unsigned_abs().into());
    }

    pub(super) fn merge(&mut self, other: &Self) {
        if let Some(theirs) = &other.puzzles {
            let ours = self.puzzles.get_or_insert_default();
            ours.ratings.merge(&theirs.ratings);
            ours.deviations.merge(&theirs.deviations);
            ours.popularity.merge(&theirs.popularity);
            ours.plays.merge(&theirs.plays);
            ours.with_themes += theirs.with_themes;
            ours.themes.merge(&theirs.themes);
        }
        if let Some(theirs) = &other.evaluations {
            let ours = self.evaluations.get_or_insert_default();
            ours.depths.merge(&theirs.depths);
            ours.knodes.merge(&theirs.knodes);
            ours.mate_distances.merge(&theirs.mate_distances);
        }
    }

    pub(super) fn report(&self) -> (Option<Box<report::Puzzles>>, Option<Box<report::Evaluations>>) {
        let histogram = |first: i64, numbers: &Numbers| Histogram::new(first, numbers.counts().to_vec());
        let puzzles = self.puzzles.as_ref().map(|puzzles| report::Puzzles {
            ratings: histogram(0, &puzzles.ratings),
            deviations: histogram(0, &puzzles.deviations),
            popularity: histogram(i16::MIN.into(), &puzzles.popularity),
            plays: puzzles.plays.clone(),
            with_themes: puzzles.with_themes,
            themes: puzzles.themes.clone(),
        });
        let evaluations = self.evaluations.as_ref().map(|evaluations| report::Evaluations {
            depths: histogram(0, &evaluations.depths),
            knodes: evaluations.knodes.clone(),
            mate_distances: histogram(0, &evaluations.mate_distances),
        });
        (puzzles.map(Box::new), evaluations.map(Box::new))
    }
}
