//! Statistics of games, each of which is counted once, at its record with ply 0.

use super::tally::Tally;
use crate::chess::{Move, Position};
use crate::games::{Date, Speed};
use crate::packed::Packed;
use crate::report::{self, Histogram, Kinds, ResultsOfGames, add, rating_band};
use crate::table::{Batch, Field, Texts, Values};
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// See [`report::Games`].
#[derive(Clone, Debug, Default)]
pub(super) struct Games {
    count: u64,
    /// By letter (A to E) and number of the opening code.
    eco: Tally<512>,
    elo: [Tally<{ 1 << 16 }>; 2],
    speeds: [u64; Speed::ALL.len() + 1],
    /// By the difference of the ratings, from that of -[`MOST_DIFFERENCE`] on.
    elo_differences: Tally<{ (2 * MOST_DIFFERENCE as usize + 1).next_power_of_two() }>,
    months: BTreeMap<(u16, u8), u64>,
    terminations: Kinds,
    first_moves: Kinds,
    openings: Kinds,
    results: ResultsOfGames,
}

/// The result of games without one, as a value of [`Field::Result`].
const UNKNOWN: u8 = 3;
/// Larger differences of ratings count as this.
const MOST_DIFFERENCE: i32 = 4000;

/// The usual start position.
static START: LazyLock<Option<Packed>> = LazyLock::new(|| Packed::pack(&Position::standard()).ok());

/// The columns of a batch about games.
pub(super) struct GameColumns<'a> {
    batch: &'a Batch,
    eco: Option<&'a Texts>,
    elo: [Option<&'a Values<u16>>; 2],
    time_control: Option<&'a Texts>,
    date: Option<&'a Texts>,
    termination: Option<&'a Texts>,
    opening: Option<&'a Texts>,
    moves: Option<&'a Values<u16>>,
    result: Option<&'a Values<u8>>,
}

impl<'a> GameColumns<'a> {
    pub(super) fn of(batch: &'a Batch) -> Self {
        let texts = |field| batch.texts(field);
        let numbers = |field| batch.column(field);
        Self {
            batch,
            eco: texts(Field::Eco),
            elo: [Field::WhiteElo, Field::BlackElo].map(numbers),
            time_control: texts(Field::TimeControl),
            date: texts(Field::Date),
            termination: texts(Field::Termination),
            opening: texts(Field::Opening),
            moves: numbers(Field::Move),
            result: batch.column(Field::Result),
        }
    }

    /// The first move of the game that begins at a row, if it begins with the usual start position.
    fn first_move(&self, row: usize) -> Option<String> {
        let mv = Move::from_bits(*self.moves?.get(row)?)?;
        (Some(self.batch.board(row)) == *START).then(|| san_from_start(mv))
    }
}

/// The name of a move from the usual start position, where only pawns and knights can move.
fn san_from_start(mv: Move) -> String {
    let Move { from, to, .. } = mv;
    let piece = if from.rank().index() == 0 { "N" } else { "" };
    format!("{piece}{to}")
}

impl Games {
    /// Adds the game that begins at this row.
    #[inline(never)]
    pub(super) fn add(&mut self, columns: &GameColumns<'_>, row: usize) {
        fn text(texts: Option<&Texts>, row: usize) -> &str {
            texts.and_then(|texts| texts.get(row)).map_or("", |text| text)
        }
        self.count += 1;
        let result = columns.result.and_then(|results| results.get(row)).map_or(UNKNOWN, |&result| result);
        if let &[letter @ b'A'..=b'E', tens @ b'0'..=b'9', ones @ b'0'..=b'9'] = text(columns.eco, row).as_bytes() {
            let [letter, tens, ones] = [letter - b'A', tens - b'0', ones - b'0'].map(usize::from);
            self.eco.add(100 * letter + 10 * tens + ones);
            *self.results.families[10 * letter + tens].of(result) += 1;
        }
        let ratings = columns.elo.map(|ratings| ratings.and_then(|ratings| ratings.get(row)).copied());
        for (rating, elo) in ratings.into_iter().zip(&mut self.elo) {
            rating.into_iter().for_each(|rating| elo.add(rating.into()));
        }
        if let [Some(white), Some(black)] = ratings.map(|rating| rating.map(i32::from)) {
            let difference = (white - black).clamp(-MOST_DIFFERENCE, MOST_DIFFERENCE);
            self.elo_differences.add((difference + MOST_DIFFERENCE) as usize);
        }
        let mean = match ratings {
            [Some(white), Some(black)] => Some(white.midpoint(black)),
            _ => None,
        };
        *self.results.ratings[rating_band(mean)].of(result) += 1;
        let speed = Speed::of_tag(text(columns.time_control, row).as_bytes());
        let place = speed.and_then(|speed| Speed::ALL.iter().position(|&other| other == speed));
        let class = place.unwrap_or(Speed::ALL.len());
        self.speeds[class] += 1;
        *self.results.speeds[class].of(result) += 1;
        if let Some(month) = month_of(text(columns.date, row)) {
            *self.months.entry(month).or_default() += 1;
        }
        let family = text(columns.opening, row).split(':').next().unwrap_or_default().trim_end();
        let is_named = |name: &&str| !matches!(*name, "" | "?");
        for (kinds, name) in [(&mut self.terminations, text(columns.termination, row)), (&mut self.openings, family)] {
            Some(name).filter(is_named).into_iter().for_each(|name| kinds.add(name, 1));
        }
        if is_named(&family) {
            self.results.add_opening(family, result, self.openings.are_too_many());
        }
        columns.first_move(row).into_iter().for_each(|name| self.first_moves.add(&name, 1));
    }

    pub(super) fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.eco.merge(&other.eco);
        for (ours, theirs) in self.elo.iter_mut().zip(&other.elo) {
            ours.merge(theirs);
        }
        add(&mut self.speeds, &other.speeds);
        self.elo_differences.merge(&other.elo_differences);
        for (&month, count) in &other.months {
            *self.months.entry(month).or_default() += count;
        }
        self.terminations.merge(&other.terminations);
        self.first_moves.merge(&other.first_moves);
        self.openings.merge(&other.openings);
        self.results.merge(&other.results, self.openings.are_too_many());
    }

    pub(super) fn report(&self) -> report::Games {
        let code = |at: usize| {
            let digit = |digit: usize| b'0' + digit as u8;
            [b'A' + (at / 100) as u8, digit(at / 10 % 10), digit(at % 10)]
        };
        let eco = (0..).zip(self.eco.counts()).filter(|&(_, &count)| count > 0);
        let elo = self.elo.each_ref().map(Tally::counts);
        report::Games {
            count: self.count,
            eco: eco.map(|(at, &count)| (code(at), count)).collect(),
            elo: elo.map(|counts| Histogram::new(0, counts.to_vec())),
            speeds: self.speeds,
            elo_differences: Histogram::new((-MOST_DIFFERENCE).into(), self.elo_differences.counts().to_vec()),
            months: self.months.clone(),
            terminations: self.terminations.clone(),
            first_moves: self.first_moves.clone(),
            openings: self.openings.clone(),
            results: self.results.clone(),
        }
    }
}

/// The year and the month of a date such as `2026.08.01`; the month is 0 where only the year is known.
fn month_of(date: &str) -> Option<(u16, u8)> {
    let date = Date::parse(date.as_bytes())?;
    Some((date.year(), date.month().unwrap_or(0)))
}
