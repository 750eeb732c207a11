//! The parts of a report about games, puzzles and evaluations, as JSON and back.

use super::reader::Reader;
use super::time_and_mistakes::rating_key;
use super::{RESULTS, ReportError, named, object, pairs, summary};
use crate::games::Speed;
use crate::report::results_of_games::family_name;
use crate::report::time_and_mistakes::class_name;
use crate::report::{Evaluations, Games, Histogram, Kinds, Magnitudes, Puzzles, Results, ResultsOfGames};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The texts and their counts; null if there are too many.
fn kinds(kinds: &Kinds) -> Value {
    if kinds.are_too_many() { Value::Null } else { json!(kinds.counts()) }
}

/// The first numbers of ranges, with their counts.
fn magnitudes(magnitudes: &Magnitudes) -> Value {
    magnitudes.0.iter().map(|(first, count)| json!([first, count])).collect()
}

/// The month of a key such as `2026-08`, or the year of `2026`, with the month 0.
fn month_from(key: &str) -> Option<(u16, u8)> {
    let (year, month) = key.split_once('-').unwrap_or((key, "0"));
    let is_year = year.len() == 4 && year.bytes().all(|byte| byte.is_ascii_digit());
    let (year, month) = (year.parse().ok()?, month.parse().ok()?);
    (is_year && year > 0 && month <= 12).then_some((year, month))
}

impl Games {
    pub(super) fn to_json(&self) -> Value {
        let eco = self.eco.iter().map(|(code, &count)| (String::from_utf8_lossy(code).into_owned(), json!(count)));
        let months = self.months.iter().map(|(&(year, month), &count)| {
            let key = if month == 0 { format!("{year:04}") } else { format!("{year:04}-{month:02}") };
            (key, json!(count))
        });
        let [white_elo, black_elo] = &self.elo;
        json!({
            "count": self.count,
            "eco": object(eco),
            "white_elo": summary(white_elo, pairs),
            "black_elo": summary(black_elo, pairs),
            "elo_difference": summary(&self.elo_differences, pairs),
            "time_control": named(speeds(), self.speeds),
            "months": object(months),
            "termination": kinds(&self.terminations),
            "first_move": kinds(&self.first_moves),
            "opening": kinds(&self.openings),
            "results": self.results.to_json(self.openings.are_too_many()),
        })
    }

    /// Reports of earlier versions do not have all keys.
    pub(super) fn from_json(root: &Reader<'_>, positions: u64) -> Result<Self, ReportError> {
        let count = root.get("count")?.at_most(positions)?;
        let mut eco = BTreeMap::new();
        for (code, games) in root.get("eco")?.entries()? {
            let code: [u8; 3] = code.as_bytes().try_into().map_err(|_| games.not("an opening code"))?;
            let is_code = matches!(code, [b'A'..=b'E', b'0'..=b'9', b'0'..=b'9']);
            if !is_code {
                return Err(games.not("an opening code"));
            }
            eco.insert(code, games.at_most(count)?);
        }
        let elo = |key: &str| root.get(key)?.get("histogram")?.pairs(0, u16::MAX.into(), count);
        let mut months = BTreeMap::new();
        if let Some(found) = root.find("months") {
            for (key, games) in found.entries()? {
                let month = month_from(key).ok_or_else(|| games.not("a month"))?;
                months.insert(month, games.at_most(count)?);
            }
        }
        let kinds = |key: &str| root.find(key).map(|kinds| kinds.kinds(count)).transpose();
        Ok(Self {
            count,
            eco,
            elo: [elo("white_elo")?, elo("black_elo")?],
            speeds: root.named("time_control", speeds(), |speed| speed.at_most(count))?,
            elo_differences: match root.find("elo_difference") {
                Some(differences) => differences.get("histogram")?.pairs(-4000, 4000, count)?,
                None => Histogram::default(),
            },
            months,
            terminations: kinds("termination")?.unwrap_or_default(),
            first_moves: kinds("first_move")?.unwrap_or_default(),
            openings: kinds("opening")?.unwrap_or_default(),
            results: match root.find("results") {
                Some(results) => ResultsOfGames::from_json(&results, count)?,
                None => ResultsOfGames::default(),
            },
        })
    }
}

impl ResultsOfGames {
    fn to_json(&self, are_too_many: bool) -> Value {
        let results = |results: &Results| {
            let &Results { white, draw, black, unknown } = results;
            named(RESULTS, [white, draw, black, unknown])
        };
        let of = |all: &[Results], name: &dyn Fn(usize) -> String| -> Value {
            let all = all.iter().enumerate().filter(|(_, results)| results.total() > 0);
            object(all.map(|(at, found)| (name(at), results(found)))).into()
        };
        let openings = object(self.openings.iter().map(|(name, found)| (name.clone(), results(found))));
        json!({
            "opening": if are_too_many { Value::Null } else { openings.into() },
            "eco": of(&self.families, &family_name),
            "rating": of(&self.ratings, &rating_key),
            "time_control": of(&self.speeds, &|class| class_name(class).to_owned()),
        })
    }

    fn from_json(root: &Reader<'_>, games: u64) -> Result<Self, ReportError> {
        let results = |found: &Reader<'_>| -> Result<Results, ReportError> {
            let mut counts = [0; RESULTS.len()];
            for (count, key) in counts.iter_mut().zip(RESULTS) {
                *count = found.get(key)?.at_most(games)?;
            }
            found.sum(&counts, games)?;
            let [white, draw, black, unknown] = counts;
            Ok(Results { white, draw, black, unknown })
        };
        let mut all = Self::default();
        let openings = root.get("opening")?;
        if !openings.value.is_null() {
            for (name, found) in openings.entries()? {
                if name.len() > Kinds::LONGEST || all.openings.len() == Kinds::MOST {
                    return Err(found.not("one of at most 1000 openings with short names"));
                }
                all.openings.insert(name.to_owned(), results(&found)?);
            }
        }
        let fill = |key: &str, all: &mut [Results], name: &dyn Fn(usize) -> String| -> Result<(), ReportError> {
            for (known, found) in root.get(key)?.entries()? {
                let at = (0..all.len()).find(|&at| name(at) == known);
                let place = at.and_then(|at| all.get_mut(at));
                *place.ok_or_else(|| found.not("one of the kinds that are counted"))? = results(&found)?;
            }
            Ok(())
        };
        fill("eco", &mut all.families, &family_name)?;
        fill("rating", &mut all.ratings, &rating_key)?;
        fill("time_control", &mut all.speeds, &|class| class_name(class).to_owned())?;
        Ok(all)
    }
}

impl Puzzles {
    pub(super) fn to_json(&self) -> Value {
        json!({
            "rating": summary(&self.ratings, pairs),
            "rating_deviation": summary(&self.deviations, pairs),
            "popularity": summary(&self.popularity, pairs),
            "plays": magnitudes(&self.plays),
            "with_themes": self.with_themes,
            "themes": kinds(&self.themes),
        })
    }

    pub(super) fn from_json(root: &Reader<'_>, positions: u64) -> Result<Self, ReportError> {
        let histogram =
            |key: &str, first: i64, last: i64| root.get(key)?.get("histogram")?.pairs(first, last, positions);
        let with_themes = root.get("with_themes")?.at_most(positions)?;
        Ok(Self {
            ratings: histogram("rating", 0, u16::MAX.into())?,
            deviations: histogram("rating_deviation", 0, u16::MAX.into())?,
            popularity: histogram("popularity", i16::MIN.into(), i16::MAX.into())?,
            plays: root.get("plays")?.magnitudes(positions)?,
            with_themes,
            // A record may name a theme twice.
            themes: root.get("themes")?.kinds(super::MOST)?,
        })
    }
}

impl Evaluations {
    pub(super) fn to_json(&self) -> Value {
        json!({
            "depth": summary(&self.depths, pairs),
            "knodes": magnitudes(&self.knodes),
            "mate_distance": summary(&self.mate_distances, pairs),
        })
    }

    pub(super) fn from_json(root: &Reader<'_>, positions: u64) -> Result<Self, ReportError> {
        let histogram = |key: &str| root.get(key)?.get("histogram")?.pairs(0, u16::MAX.into(), positions);
        Ok(Self {
            depths: histogram("depth")?,
            knodes: root.get("knodes")?.magnitudes(positions)?,
            mate_distances: histogram("mate_distance")?,
        })
    }
}

/// The keys of classes of time controls.
fn speeds() -> [&'static str; 7] {
    let mut names = ["unknown"; 7];
    names[..Speed::ALL.len()].copy_from_slice(&Speed::ALL.map(Speed::name));
    names
}
