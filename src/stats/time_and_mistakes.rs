//! Statistics of the time that moves took, of mistakes, and of accuracy.
//!
//! Only games with clocks or evaluations have these fields, so the tables are made when the first of them is seen.

use super::full_report_details::phase_of;
use crate::chess::Color;
use crate::games::Speed;
use crate::report::{self, Histogram, RATING_BANDS, rating_band};
use crate::table::judgments_and_accuracy::JudgedMoves;
use crate::table::{Batch, Field, Fields, Texts, Values};
use std::cell::Cell;
use std::ops::Range;

/// The fields of whole games that the statistics read.
pub(crate) const TIMES_AND_MISTAKES: Fields = Fields::of(&[
    Field::TimeUsed,
    Field::ScoreAfter,
    Field::MateAfter,
    Field::NextPly,
    Field::WhiteAccuracy,
    Field::BlackAccuracy,
]);

/// The columns of a batch from which the statistics are made.
pub(super) struct Columns<'a> {
    times: Option<&'a Values<u32>>,
    judged: Option<JudgedMoves<'a>>,
    accuracies: [Option<&'a Values<u64>>; 2],
    plies: &'a Values<u16>,
    ratings: [Option<&'a Values<u16>>; 2],
    time_controls: Option<&'a Texts>,
    /// The code of the last time control, and its class.
    last_class: Cell<Option<(u32, usize)>>,
}

impl<'a> Columns<'a> {
    /// The columns of a batch; `None` if none of them has a value in these rows.
    pub(super) fn of(batch: &'a Batch, rows: Range<usize>) -> Option<Self> {
        let is_filled = |field| batch.values(field).is_some_and(|values| values.count_present_in(rows.clone()) != 0);
        let times = batch.column::<u32>(Field::TimeUsed).filter(|_| is_filled(Field::TimeUsed));
        let judged = [Field::ScoreAfter, Field::MateAfter].into_iter().any(is_filled).then(|| JudgedMoves::of(batch));
        let accuracies = [Field::WhiteAccuracy, Field::BlackAccuracy]
            .map(|field| batch.column::<u64>(field).filter(|_| is_filled(field)));
        if times.is_none() && judged.is_none() && accuracies.iter().all(Option::is_none) {
            return None;
        }
        let time_controls = batch.texts(Field::TimeControl).filter(|_| times.is_some());
        Some(Self {
            times,
            judged,
            accuracies,
            plies: batch.column::<u16>(Field::Ply)?,
            ratings: [Field::WhiteElo, Field::BlackElo].map(|field| batch.column::<u16>(field)),
            time_controls,
            last_class: Cell::default(),
        })
    }

    fn class(&self, row: usize) -> usize {
        let Some((controls, &code)) = self.time_controls.and_then(|all| Some((all, all.codes().get(row)?))) else {
            return Speed::ALL.len();
        };
        match self.last_class.get() {
            Some((last, class)) if last == code => class,
            _ => {
                let class = class_of(controls.get(row).unwrap_or_default());
                self.last_class.set(Some((code, class)));
                class
            }
        }
    }

    fn rating(&self, side: usize, row: usize) -> Option<u16> {
        self.ratings[side]?.get(row).copied()
    }
}

/// The place of the class of a time control among all classes.
fn class_of(control: &str) -> usize {
    let speed = Speed::of_tag(control.as_bytes());
    let place = speed.and_then(|speed| Speed::ALL.iter().position(|&other| other == speed));
    place.unwrap_or(Speed::ALL.len())
}

/// See [`report::Accuracies`].
#[derive(Clone, Debug)]
struct Accuracies {
    percent: [[u64; 101]; RATING_BANDS],
    hundredths: [u64; RATING_BANDS],
}

impl Default for Accuracies {
    fn default() -> Self {
        Self { percent: [[0; 101]; RATING_BANDS], hundredths: [0; RATING_BANDS] }
    }
}

/// The statistics, of which there may be none.
#[derive(Clone, Debug, Default)]
pub(super) struct TimeAndMistakes {
    times: Option<Box<report::TimesUsed>>,
    mistakes: Option<Box<report::Mistakes>>,
    accuracies: Option<Box<Accuracies>>,
}

impl TimeAndMistakes {
    /// Adds a record with a ply, whose board has these counts.
    #[inline]
    pub(super) fn add(&mut self, columns: &Columns<'_>, row: usize, counts: u64) {
        let Some(&ply) = columns.plies.get(row) else { return };
        if let Some(&time) = columns.times.and_then(|times| times.get(row)) {
            self.times.get_or_insert_default().add(ply, columns.class(row), time);
        }
        if let Some((side, judgment)) = columns.judged.as_ref().and_then(|judged| judged.judgment(row)) {
            let rating = columns.rating(usize::from(side == Color::Black), row);
            let judgment = judgment.map(|judgment| judgment as usize);
            self.mistakes.get_or_insert_default().add(phase_of(counts), rating, judgment);
        }
        if ply == 0 {
            self.add_game(columns, row);
        }
    }

    /// Adds the game that begins at this row.
    fn add_game(&mut self, columns: &Columns<'_>, row: usize) {
        for (side, accuracies) in columns.accuracies.into_iter().enumerate() {
            let Some(&bits) = accuracies.and_then(|accuracies| accuracies.get(row)) else { continue };
            // Numbers from 0 to 100; a cast of any other number is limited as well.
            let hundredths = ((f64::from_bits(bits) * 100.0) as u64).min(10_000);
            let all = self.accuracies.get_or_insert_default();
            let band = rating_band(columns.rating(side, row));
            all.percent[band][(hundredths / 100) as usize] += 1;
            all.hundredths[band] += hundredths;
        }
    }

    pub(super) fn merge(&mut self, other: &Self) {
        if let Some(theirs) = &other.times {
            self.times.get_or_insert_default().merge(theirs);
        }
        if let Some(theirs) = &other.mistakes {
            self.mistakes.get_or_insert_default().merge(theirs);
        }
        if let Some(theirs) = &other.accuracies {
            let ours = self.accuracies.get_or_insert_default();
            for (ours, theirs) in ours.percent.iter_mut().zip(&theirs.percent) {
                report::add(ours, theirs);
            }
            report::add(&mut ours.hundredths, &theirs.hundredths);
        }
    }

    pub(super) fn times(&self) -> Option<Box<report::TimesUsed>> {
        self.times.clone()
    }

    pub(super) fn mistakes(&self) -> Option<Box<report::Mistakes>> {
        self.mistakes.clone()
    }

    pub(super) fn accuracies(&self) -> Option<Box<report::Accuracies>> {
        let accuracies = self.accuracies.as_ref()?;
        let percent = accuracies.percent.each_ref().map(|counts| Histogram::new(0, counts.to_vec()));
        Some(Box::new(report::Accuracies { percent, hundredths: accuracies.hundredths }))
    }
}
