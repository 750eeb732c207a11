//! Selection of games and of their positions.
//!
//! Games are selected by their [`Facts`] and positions by their ply, whatever the format. Everything left out is
//! counted under the name of its option. The sample of `max_per_game` depends only on the seed and
//! the game, not on the place of the game in the input or the thread that decodes it.

use super::expression::Condition;
use crate::games::{Date, Facts, Outcome, SelectionError, Variant};
use crate::packed::Packed;
use crate::setters::setters;
use crate::table::{Batch, Control, Field, Fields, Speed};
use std::cmp::Ordering;
use std::str::FromStr;

/// The choice of games and of their positions. The default takes everything.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "cluster", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct GameFilter {
    /// Also take the positions of variations, in the order of the text.
    pub variations: bool,
    /// Skip a whole game if any part of it cannot be parsed.
    pub drop_bad_games: bool,
    /// First ply to take; 0 is the start position of the game.
    pub first_ply: u32,
    /// Last ply to take.
    pub last_ply: Option<u32>,
    /// Number of plies to skip at the beginning as opening theory.
    pub skip_book: u32,
    /// Of the remaining positions, take every Nth, starting with the first; 0 means 1.
    pub every: u32,
    /// Of the remaining positions, take only the last.
    pub last: bool,
    /// Of the remaining positions, take a sample of at most N.
    pub max_per_game: Option<u32>,
    /// Seed of the sample.
    pub seed: u64,
    /// Both players are rated this Elo or higher.
    pub min_elo: Option<u16>,
    /// Both players are rated this Elo or lower.
    pub max_elo: Option<u16>,
    /// The time control is one of these; all if empty.
    pub time_controls: Vec<TimeControl>,
    /// The result is one of these, `None` meaning unknown; all if empty.
    pub results: Vec<Option<Outcome>>,
    /// The game has N or more plies.
    pub min_plies: u32,
    /// The `Termination` tag is one of these, ignoring case; all if empty.
    pub terminations: Vec<String>,
    /// The opening code is in one of these ranges; all if empty.
    pub ecos: Vec<EcoRange>,
    /// The game was played on this day or later.
    pub since: Option<Date>,
    /// The game was played on this day or earlier.
    pub until: Option<Date>,
    /// The game is of this variant.
    pub variant: Option<Variant>,
    /// Takes only the last record of each game, and no records without the number of a game: a
    /// [`GameRow`](crate::games::GameRow) is made of it. This is not an option, and is not reported as one.
    #[cfg_attr(feature = "cluster", serde(skip))]
    pub(crate) last_of_games: bool,
    /// Games are copied unchanged, which needs their text. This is not an option either.
    #[cfg_attr(feature = "cluster", serde(skip))]
    pub(crate) copies_games: bool,
    /// The condition is true for the game. It comes from [`Choose::filter`](super::Choose::filter) if rows of games are
    /// made.
    #[cfg_attr(feature = "cluster", serde(skip))]
    pub(crate) condition: Option<Condition>,
}

/// Stands for [`GameFilter::last_of_games`] among the names of options.
pub(crate) const ROWS_OF_GAMES: &str = "";

/// The option of the condition.
const WHERE: &str = "where";

setters!(GameFilter {
    variations: bool,
    drop_bad_games: bool,
    first_ply: u32,
    last_ply: Option<u32>,
    skip_book: u32,
    every: u32,
    last: bool,
    max_per_game: Option<u32>,
    seed: u64,
    min_elo: Option<u16>,
    max_elo: Option<u16>,
    time_controls: Vec<TimeControl>,
    results: Vec<Option<Outcome>>,
    min_plies: u32,
    terminations: Vec<String>,
    ecos: Vec<EcoRange>,
    since: Option<Date>,
    until: Option<Date>,
    variant: Option<Variant>,
});

impl GameFilter {
    /// Names of the options that may leave out games or positions.
    pub fn options(&self) -> impl Iterator<Item = &'static str> {
        let options = [
            ("drop-bad-games", self.drop_bad_games),
            ("plies", self.first_ply > 0 || self.last_ply.is_some()),
            ("skip-book", self.skip_book > 0),
            ("every", self.every > 1),
            ("last", self.last),
            ("max-per-game", self.max_per_game.is_some()),
            ("min-elo", self.min_elo.is_some()),
            ("max-elo", self.max_elo.is_some()),
            ("time-control", !self.time_controls.is_empty()),
            ("result", !self.results.is_empty()),
            ("min-plies", self.min_plies > 0),
            ("termination", !self.terminations.is_empty()),
            ("eco", !self.ecos.is_empty()),
            ("since", self.since.is_some()),
            ("until", self.until.is_some()),
            ("variant", self.variant.is_some()),
            (WHERE, self.condition.is_some()),
        ];
        options.into_iter().filter_map(|(name, is_set)| is_set.then_some(name))
    }

    /// For each option that is set: the fields that records of a format without games must carry for it; `None` for
    /// options that need more than records can carry.
    pub(crate) fn requirements(&self) -> impl Iterator<Item = (&'static str, Option<&'static [Field]>)> {
        let rows = self.last_of_games.then_some(ROWS_OF_GAMES);
        let reading = self.variations.then_some("variations");
        rows.into_iter().chain(reading).chain(self.options()).map(|option| {
            let fields: &[Field] = match option {
                ROWS_OF_GAMES => &[Field::Game],
                "plies" | "skip-book" => &[Field::Ply],
                "every" | "last" | "max-per-game" => &[Field::Game],
                "min-elo" | "max-elo" => &[Field::WhiteElo, Field::BlackElo],
                "time-control" => &[Field::TimeControl],
                "result" => &[Field::Result],
                "termination" => &[Field::Termination],
                "eco" => &[Field::Eco],
                "since" | "until" => &[Field::Date],
                // Missing fields are null. Records do not have the length of their game.
                WHERE if !self.condition_fields().contains(Field::GamePlies) => &[],
                _ => return (option, None),
            };
            (option, Some(fields))
        })
    }

    /// The fields by which records of formats without games are selected; `game` also shows where games end.
    pub(crate) fn fields(&self) -> Fields {
        let required = self.requirements().filter_map(|(_, fields)| fields);
        let fields = required.flatten().copied();
        fields.chain([Field::Game]).chain(self.condition_fields().iter()).collect()
    }

    fn condition_fields(&self) -> Fields {
        self.condition.as_ref().map_or(Fields::NONE, Condition::fields)
    }

    /// Whether the positions to take depend on the other positions of their game.
    pub(crate) fn needs_whole_games(&self) -> bool {
        self.every > 1 || self.last || self.max_per_game.is_some() || self.last_of_games
    }

    /// The option that leaves this game out, if any, and whether that is because the tested value is unknown.
    pub fn leaves_out(&self, game: &impl Facts) -> Option<(&'static str, bool)> {
        // Whether the game is left out, and whether only because a rating is unknown.
        let by_elos = |test: &dyn Fn(u16) -> bool| {
            let elos = game.elos();
            let is_known_to_fail = elos.iter().flatten().any(|&elo| !test(elo));
            (is_known_to_fail || elos.contains(&None)).then_some(!is_known_to_fail)
        };
        if let Some(unknown) = self.min_elo.and_then(|min| by_elos(&|elo| elo >= min)) {
            return Some(("min-elo", unknown));
        }
        if let Some(unknown) = self.max_elo.and_then(|max| by_elos(&|elo| elo <= max)) {
            return Some(("max-elo", unknown));
        }
        if !self.time_controls.is_empty() {
            let tag = game.time_control();
            // An unknown value is `?` or empty.
            let parsed = Control::parse(tag);
            let fits = |control: &TimeControl| control.fits(if tag.is_empty() { b"?" } else { tag }, parsed.as_ref());
            if !self.time_controls.iter().any(fits) {
                return Some(("time-control", parsed.is_none()));
            }
        }
        if !self.results.is_empty() && !self.results.contains(&game.outcome()) {
            return Some(("result", false));
        }
        if game.plies() < self.min_plies {
            return Some(("min-plies", false));
        }
        if !self.terminations.is_empty() {
            let tag = game.termination();
            let is = |requested: &String| requested.as_bytes().eq_ignore_ascii_case(tag);
            if !self.terminations.iter().any(is) {
                return Some(("termination", false));
            }
        }
        if !self.ecos.is_empty() {
            let code = game.eco();
            if !self.ecos.iter().any(|range| range.contains(code)) {
                return Some(("eco", false));
            }
        }
        let since = self.since.map(|since| ("since", since, Ordering::Less));
        let until = self.until.map(|until| ("until", until, Ordering::Greater));
        for (option, limit, beyond) in [since, until].into_iter().flatten() {
            match game.date() {
                None => return Some((option, true)),
                Some(date) if date.compare_known(limit) == beyond => return Some((option, false)),
                Some(_) => {}
            }
        }
        if self.variant.is_some() && game.variant() != self.variant {
            return Some(("variant", false));
        }
        None
    }

    /// Whether the condition leaves this game out. It is applied last, to a batch with one record of the game, which
    /// has the fields and tags that the condition reads.
    pub(crate) fn condition_leaves_out(
        &self,
        record: impl FnOnce(&Condition) -> Batch,
    ) -> Option<(&'static str, bool)> {
        let condition = self.condition.as_ref()?;
        (!condition.is_true_of_game(record(condition))).then_some((WHERE, false))
    }

    /// Whether all positions of a game are taken.
    pub fn takes_all_positions(&self) -> bool {
        self.first_ply == 0
            && self.last_ply.is_none()
            && self.skip_book == 0
            && self.every <= 1
            && !self.last
            && self.max_per_game.is_none()
            && !self.last_of_games
    }

    /// The positions of a game to take, given the ply of each; `hash` identifies the game. Calls `left_out` for each
    /// option with the number of positions that it leaves out.
    pub fn positions(&self, plies: &[u16], hash: u64, left_out: &mut impl FnMut(&'static str, u64)) -> Vec<bool> {
        let ply = |row: usize| Some(u32::from(plies[row]));
        self.positions_by(plies.len(), &ply, hash, left_out)
    }

    /// The positions of a game to take, if plies may be unknown. An unknown ply is not in any range.
    pub(crate) fn positions_by(
        &self,
        len: usize,
        ply: &dyn Fn(usize) -> Option<u32>,
        hash: u64,
        left_out: &mut impl FnMut(&'static str, u64),
    ) -> Vec<bool> {
        let mut keep = vec![true; len];
        let mut drop_if = |name, keep: &mut [bool], drop: &mut dyn FnMut(usize) -> bool| {
            let mut count = 0;
            for (row, keep) in keep.iter_mut().enumerate().filter(|(_, keep)| **keep) {
                if drop(row) {
                    *keep = false;
                    count += 1;
                }
            }
            left_out(name, count);
        };
        let range = self.first_ply..=self.last_ply.unwrap_or(u32::MAX);
        let all_plies = self.first_ply == 0 && self.last_ply.is_none();
        drop_if("plies", &mut keep, &mut |row| !all_plies && ply(row).is_none_or(|ply| !range.contains(&ply)));
        drop_if("skip-book", &mut keep, &mut |row| {
            self.skip_book > 0 && ply(row).is_none_or(|ply| ply < self.skip_book)
        });
        let mut turn = 0;
        drop_if("every", &mut keep, &mut |_| {
            turn += 1;
            (turn - 1) % self.every.max(1) != 0
        });
        if self.last {
            let last = keep.iter().rposition(|&keep| keep);
            drop_if("last", &mut keep, &mut |row| Some(row) != last);
        }
        if let Some(max) = self.max_per_game {
            let mut rows: Vec<usize> = (0..keep.len()).filter(|&row| keep[row]).collect();
            let mut state = self.seed ^ hash;
            // The first `max` of a random permutation.
            let taken = rows.len().min(max as usize);
            for at in 0..taken {
                let other = at + (split_mix(&mut state) % (rows.len() - at) as u64) as usize;
                rows.swap(at, other);
            }
            rows.truncate(taken);
            rows.sort_unstable();
            drop_if("max-per-game", &mut keep, &mut |row| rows.binary_search(&row).is_err());
        }
        if self.last_of_games {
            let last = keep.iter().rposition(|&keep| keep);
            keep.iter_mut().enumerate().for_each(|(row, keep)| *keep = Some(row) == last);
        }
        keep
    }
}

/// Continues the hash of a game, which identifies the game by its boards, with the next board.
pub(crate) fn hash_on(hash: u64, board: &Packed) -> u64 {
    let planes = [board.color, board.types[0], board.types[1], board.types[2]];
    planes.iter().fold(hash, |hash, plane| (hash.rotate_left(23) ^ plane).wrapping_mul(0x9E37_79B9_7F4A_7C15))
}

/// The next number of the SplitMix64 sequence.
fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut mixed = *state;
    mixed = (mixed ^ mixed >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ mixed >> 31
}

/// A time control, or a class of them.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "cluster", derive(serde::Serialize, serde::Deserialize))]
pub enum TimeControl {
    /// A class, by the expected time of a player: seconds plus forty increments.
    Class(Speed),
    /// Exactly this time control, as in the tag, or in another form that means the same: `300+3`.
    Exactly(String),
}

impl TimeControl {
    fn fits(&self, tag: &[u8], parsed: Option<&Control>) -> bool {
        match self {
            Self::Class(speed) => parsed.map(Control::speed) == Some(*speed),
            Self::Exactly(text) => {
                text.as_bytes() == tag || parsed.is_some() && Control::parse(text.as_bytes()).as_ref() == parsed
            }
        }
    }
}

impl FromStr for TimeControl {
    type Err = SelectionError;
    fn from_str(text: &str) -> Result<Self, SelectionError> {
        let name = text.to_ascii_lowercase();
        if let Some(speed) = Speed::ALL.into_iter().find(|speed| speed.name() == name) {
            return Ok(Self::Class(speed));
        }
        if text.starts_with(|first: char| first.is_ascii_digit() || "-?*".contains(first)) {
            return Ok(Self::Exactly(text.to_owned()));
        }
        Err(SelectionError {
            text: text.to_owned(),
            expected: "ultrabullet, bullet, blitz, rapid, classical, correspondence or a time \
                       control such as 300+3",
        })
    }
}

/// A range of opening codes, both ends included; each may be shortened (`B`, `B1`).
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "cluster", derive(serde::Serialize, serde::Deserialize))]
pub struct EcoRange {
    first: String,
    last: String,
}

impl EcoRange {
    fn contains(&self, code: &[u8]) -> bool {
        let code = code.to_ascii_uppercase();
        let starts = |len: usize| &code[..code.len().min(len)];
        !code.is_empty()
            && starts(self.first.len()) >= self.first.as_bytes()
            && starts(self.last.len()) <= self.last.as_bytes()
    }
}

impl FromStr for EcoRange {
    type Err = SelectionError;
    fn from_str(text: &str) -> Result<Self, SelectionError> {
        let upper = text.to_ascii_uppercase();
        let (first, last) = upper.split_once('-').unwrap_or((&upper, &upper));
        let is_code = |code: &str| {
            code.len() <= 3
                && code.starts_with(|letter| ('A'..='E').contains(&letter))
                && code[1..].bytes().all(|digit| digit.is_ascii_digit())
        };
        let fail = |expected| Err(SelectionError { text: text.to_owned(), expected });
        if !is_code(first) || !is_code(last) {
            return fail("an opening code such as B, B1 or B12, or two such as B10-B19");
        }
        let common = first.len().min(last.len());
        if first[..common] > last[..common] {
            return fail("the first code before the last, as in B10-B19");
        }
        Ok(Self { first: first.to_owned(), last: last.to_owned() })
    }
}
