//! Reports as JSON objects, keys in a fixed order, and back.
//!
//! The object has all counts, and values derived from them (means, medians, estimates), which are ignored when a report
//! is read. `data/stats.schema.json` describes it. Distributions over a wide range (scores, ratings) are lists of pairs
//! of a number and its count; all others are arrays, where the index is the number.

mod network_feature_coverage;
mod puzzles_and_evaluations;
mod reader;
mod score_results;
mod time_and_mistakes;

use super::{
    Accuracies, Castling, CodedScores, Comparison, Details, Difference, Evaluations, FeatureCoverage, Games,
    GroupColumn, GroupValue, Groups, HeatMap, Histogram, Mates, Matrix, Mistakes, MoveCounts, Number, OpenGame,
    OtherGroups, PIECE_LETTERS, PositionCounts, Puzzles, Ratings, Report, Results, ScoreResults, Signature, TimesUsed,
};
use crate::choose::FilterCount;
use crate::distinct::{LEVELS, Sketch, Sketches};
use crate::pipeline::Summary;
use crate::table::{Column, Kind, ScoreCode};
use crate::tiers::Tier;
use reader::Reader;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::time::Duration;

/// The version of the layout.
const SCHEMA: u64 = 1;
/// The keys of pairs of colours.
const SIDES: [&str; 2] = ["white", "black"];
/// The keys of castling rights.
const RIGHTS: [&str; 6] = ["none", "some", "K", "Q", "k", "q"];
/// The keys of results.
const RESULTS: [&str; 4] = ["white", "draw", "black", "unknown"];
/// The maximum for numbers in a report: sums of a few thousand of them do not overflow, and every JSON reader keeps
/// them exactly.
const MOST: u64 = 1 << 53;
/// One letter for each rank of a [`Sketch`].
const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Why an object is not a report.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReportError {
    /// A value is missing or invalid.
    #[error("`{key}` should be {expected}")]
    Unexpected {
        /// The key of the value.
        key: String,
        /// What was expected.
        expected: &'static str,
    },
    /// The object has another layout.
    #[error("its layout (`schema`) is {found}, but only {SCHEMA} can be read")]
    Schema {
        /// The layout that it has.
        found: u64,
    },
}

/// The `run` key of `stats --json`. `left_out` has the games and positions that options left out.
pub fn run_to_json(tier: Tier, threads: usize, elapsed: Duration, summary: &Summary) -> Map<String, Value> {
    let seconds = elapsed.as_secs_f64();
    object([
        ("tier", json!(tier.name())),
        ("threads", json!(threads)),
        ("seconds", json!(seconds)),
        ("positions_per_second", json!(summary.records as f64 / seconds)),
        ("bytes_read", json!(summary.bytes)),
        ("games", json!(summary.games_taken)),
        ("left_out", left_out_to_json(summary.left_out.iter().map(|(&option, left)| (option, left)))),
    ])
}

/// The numbers of games and positions that each option left out: the key `left_out` of `run`.
pub fn left_out_to_json<'a>(left_out: impl IntoIterator<Item = (&'a str, &'a FilterCount)>) -> Value {
    let options = left_out.into_iter().map(|(option, left)| {
        (option, json!({ "games": left.games, "positions": left.positions, "unknown": left.unknown }))
    });
    Value::Object(object(options))
}

/// The width of the ranges of a column.
fn width(column: &GroupColumn) -> Value {
    match column.decimals {
        Some(decimals @ 1..) => json!(column.width as f64 / 10_f64.powi(decimals.into())),
        _ => json!(column.width),
    }
}

impl Report {
    /// The object of `stats --json` without its `run` key.
    pub fn to_json(&self) -> Map<String, Value> {
        let mut object = object([("version", json!(env!("CARGO_PKG_VERSION"))), ("schema", json!(SCHEMA))]);
        object.extend(self.own());
        if let Some(groups) = &self.groups {
            // One column has its name, width and values as they are, two have lists.
            let one_or_all = |mut list: Vec<Value>| if list.len() == 1 { list.remove(0) } else { json!(list) };
            let values = groups.values.iter().map(|(values, report)| {
                let values = values.iter().zip(&groups.by).map(|(value, column)| match value {
                    GroupValue::Number(number) if let Some(decimals @ 1..) = column.decimals => {
                        json!(*number as f64 / 10_f64.powi(decimals.into()))
                    }
                    GroupValue::Number(number) => match i64::try_from(*number) {
                        Ok(number) => json!(number),
                        Err(_) => json!(*number as u64),
                    },
                    GroupValue::Text(text) => json!(text),
                    GroupValue::Missing => Value::Null,
                });
                json!({ "value": one_or_all(values.collect()), "stats": report.own() })
            });
            let mut all = self::object([
                ("by", one_or_all(groups.by.iter().map(|column| json!(column.name)).collect())),
                ("width", one_or_all(groups.by.iter().map(width).collect())),
                ("values", json!(values.collect::<Vec<_>>())),
            ]);
            if let Some(OtherGroups { groups, report }) = &groups.others {
                all.insert("others".to_owned(), json!({ "groups": groups, "stats": report.own() }));
            }
            object.insert("groups".to_owned(), all.into());
        }
        object
    }

    /// The object without the version and the groups.
    fn own(&self) -> Map<String, Value> {
        let attacked = |map: &HeatMap| {
            let sum = map.sum();
            json!({ "sum": sum, "mean": mean(sum, self.positions) })
        };
        let [white, black] = &self.attacks;
        let Castling { none, some, white_king, white_queen, black_king, black_queen } = self.castling;
        let Results { white: won, draw, black: lost, unknown } = self.results;
        let Results { white: games_won, draw: games_drawn, black: games_lost, unknown: games_unknown } =
            self.game_results;
        let game_results = if self.scattered_games {
            Value::Null
        } else {
            named(RESULTS, [games_won, games_drawn, games_lost, games_unknown])
        };
        let mut object = self::object([
            ("positions", json!(self.positions)),
            ("rejected", json!(self.rejected)),
            ("stm", json!({ "white": self.white_to_move, "black": self.positions - self.white_to_move })),
        ]);
        object.extend(numbers(self.position_counts.iter()));
        object.insert("legal_moves".to_owned(), summary(&self.legal_moves, counts));
        object.extend(numbers(self.move_counts.iter()));
        object.extend(self::object([
            ("attacked_white", attacked(white)),
            ("attacked_black", attacked(black)),
            ("pieces", json!({ "histogram": counts(&self.pieces) })),
            ("phase", json!({ "histogram": counts(&self.phase) })),
            ("material", named(SIDES, self.material.each_ref().map(counts))),
            ("castling", named(RIGHTS, [none, some, white_king, white_queen, black_king, black_queen])),
            ("en_passant", json!(self.en_passant)),
            ("occupancy", named(PIECE_LETTERS, self.occupancy.each_ref().map(squares))),
            ("attack_map", named(SIDES, self.attacks.each_ref().map(squares))),
            ("results", named(RESULTS, [won, draw, lost, unknown])),
            ("game_results", game_results),
        ]));
        if self.from_mover > 0 {
            object.insert("from_mover".to_owned(), json!(self.from_mover));
        }
        let mut put = |key: &str, value: Value| object.insert(key.to_owned(), value);
        if !self.open_games.is_empty() {
            let games = self.open_games.iter();
            let games = games.map(|(OpenGame { file, time, game }, result)| match time {
                0 => json!([file, game, result]),
                time => json!([file, game, result, time]),
            });
            put("open_games", games.collect());
        }
        if !self.scores.is_empty() {
            let mut score = Map::new();
            score.insert("count".to_owned(), json!(self.scores.total()));
            if let Value::Object(rest) = summary(&self.scores, pairs) {
                score.extend(rest);
            }
            put("score", score.into());
        }
        if self.coded_scores.total() > 0 {
            let codes = self.coded_scores.iter();
            let codes = codes.map(|(code, counts)| (code.name().to_owned(), named(SIDES, counts)));
            put("score_codes", codes.collect::<Map<_, _>>().into());
        }
        if !self.scores.is_empty() || self.mates != Mates::default() {
            put("mate", named(SIDES, [self.mates.white, self.mates.black]));
        }
        if let Some(mean) = self.ratings.mean() {
            put("mover_elo", json!({ "count": self.ratings.count, "sum": self.ratings.sum, "mean": mean }));
        }
        if let Some(puzzles) = &self.puzzles {
            put("puzzles", puzzles.to_json());
        }
        if let Some(evaluations) = &self.evaluations {
            put("evaluations", evaluations.to_json());
        }
        if let Some(features) = &self.features {
            put("features", features.to_json());
        }
        if let Some(details) = &self.details {
            put("details", details.to_json(self));
        }
        object
    }

    /// Reads the object of [`Self::to_json`]. Derived values and unknown keys are ignored.
    ///
    /// # Errors
    /// If a value is missing or impossible, such as a distribution that does not have all positions.
    pub fn from_json(object: &Value) -> Result<Self, ReportError> {
        let root = Reader::root(object);
        let found = root.get("schema")?.number()?;
        if found != SCHEMA {
            return Err(ReportError::Schema { found });
        }
        let mut report = Self::own_from(&root)?;
        if let Some(groups) = root.find("groups") {
            let mut values = BTreeMap::new();
            let by = groups.get("by")?.one_or_all()?.into_iter().zip(groups.get("width")?.one_or_all()?);
            let by = by.map(|(name, width)| {
                let name = name.text()?.to_owned();
                let is_real = Column::named(&name).is_some_and(|column| column.kind == Kind::F64);
                // As few decimals as the width has.
                let units = |decimals: u8| {
                    let units = width.value.as_f64()? * 10_f64.powi(decimals.into());
                    ((units - units.round()).abs() < 1e-6 && (1.0..1e9).contains(&units)).then(|| units.round() as u64)
                };
                let decimals = (0..=6).find(|&decimals| units(decimals).is_some()).filter(|_| is_real);
                let width = match decimals.and_then(units) {
                    Some(units) => units,
                    None => width.number()?,
                };
                Ok(GroupColumn { name, width, decimals })
            });
            let by = by.collect::<Result<Vec<_>, _>>()?;
            for group in groups.get("values")?.list()? {
                let parts = group.get("value")?.one_or_all()?.into_iter().enumerate();
                let key = parts.map(|(place, value)| match value.value {
                    Value::Number(number) if let Some(decimals @ 1..) = by.get(place).and_then(|by| by.decimals) => {
                        let units = number.as_f64().map(|number| (number * 10_f64.powi(decimals.into())).round());
                        let units = units.filter(|units| units.abs() < 1e15);
                        let units = units.map(|units| GroupValue::Number(units as i128));
                        units.ok_or_else(|| value.not("a number, a text or null"))
                    }
                    Value::Null => Ok(GroupValue::Missing),
                    Value::String(text) => Ok(GroupValue::Text(text.clone())),
                    number => {
                        let number = number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from));
                        number.map(GroupValue::Number).ok_or_else(|| value.not("a number, a text or null"))
                    }
                });
                let key = key.collect::<Result<Vec<_>, _>>()?;
                if key.len() != by.len() {
                    return Err(group.get("value")?.not("a value for each column"));
                }
                values.insert(key, Self::own_from(&group.get("stats")?)?);
            }
            let others = groups.find("others").map(|others| {
                let report = Box::new(Self::own_from(&others.get("stats")?)?);
                Ok(OtherGroups { groups: others.get("groups")?.number()?, report })
            });
            report.groups = Some(Groups { by, values, others: others.transpose()? });
        }
        Ok(report)
    }

    fn own_from(root: &Reader<'_>) -> Result<Self, ReportError> {
        let number = |key: &str| root.get(key)?.number();
        let positions = number("positions")?;
        let of_all = |value: &Reader<'_>| value.at_most(positions);
        let part = |key: &str| of_all(&root.get(key)?);
        let [none, some, white_king, white_queen, black_king, black_queen] = root.named("castling", RIGHTS, of_all)?;
        let [won, draw, lost, unknown] = root.named("results", RESULTS, of_all)?;
        let (game_results, open_games, scattered_games) = games_from(root, positions)?;
        let mates = root.find("mate").map(|_| root.named("mate", SIDES, of_all)).transpose()?;
        let [white_mates, black_mates] = mates.unwrap_or_default();
        let mut coded_scores = CodedScores::default();
        if let Some(codes) = root.find("score_codes") {
            for code in ScoreCode::ALL {
                if codes.find(code.name()).is_some() {
                    coded_scores.set(code, codes.named(code.name(), SIDES, of_all)?);
                }
            }
        }
        let report = Self {
            positions,
            rejected: number("rejected")?,
            from_mover: root.find("from_mover").map(|value| of_all(&value)).transpose()?.unwrap_or(0),
            white_to_move: root.get("stm")?.get("white")?.at_most(positions)?,
            position_counts: PositionCounts::read(part)?,
            legal_moves: root.get("legal_moves")?.get("histogram")?.counts(positions)?,
            move_counts: MoveCounts::read(number)?,
            pieces: root.get("pieces")?.get("histogram")?.counts(positions)?,
            phase: root.get("phase")?.get("histogram")?.counts(positions)?,
            material: root.named("material", SIDES, |histogram| histogram.counts(positions))?,
            castling: Castling { none, some, white_king, white_queen, black_king, black_queen },
            en_passant: part("en_passant")?,
            occupancy: root.named("occupancy", PIECE_LETTERS, Reader::squares)?,
            attacks: root.named("attack_map", SIDES, Reader::squares)?,
            results: Results { white: won, draw, black: lost, unknown },
            game_results,
            open_games,
            scattered_games,
            scores: match root.find("score") {
                Some(score) => score.get("histogram")?.pairs(i16::MIN.into(), i16::MAX.into(), positions)?,
                None => Histogram::default(),
            },
            coded_scores,
            mates: Mates { white: white_mates, black: black_mates },
            ratings: match root.find("mover_elo") {
                Some(ratings) => {
                    Ratings { count: ratings.get("count")?.at_most(positions)?, sum: ratings.get("sum")?.number()? }
                }
                None => Ratings::default(),
            },
            puzzles: match root.find("puzzles") {
                Some(puzzles) => Some(Box::new(Puzzles::from_json(&puzzles, positions)?)),
                None => None,
            },
            evaluations: match root.find("evaluations") {
                Some(evaluations) => Some(Box::new(Evaluations::from_json(&evaluations, positions)?)),
                None => None,
            },
            features: match root.find("features") {
                Some(features) => Some(Box::new(FeatureCoverage::from_json(&features, positions)?)),
                None => None,
            },
            details: match root.find("details") {
                Some(details) => Some(Box::new(Details::from_json(&details, positions)?)),
                None => None,
            },
            groups: None,
        };
        // Every position is in each of these distributions once.
        for (key, total) in [
            ("legal_moves.histogram", report.legal_moves.total()),
            ("pieces.histogram", report.pieces.total()),
            ("phase.histogram", report.phase.total()),
            ("material.white", report.material[0].total()),
            ("material.black", report.material[1].total()),
            ("castling", report.castling.none + report.castling.some),
            ("results", report.results.total()),
        ] {
            if total != positions {
                return Err(root.get("positions")?.inside(key, "counts of all positions"));
            }
        }
        if report.game_results.total() > positions || !report.has_open_games() {
            return Err(root.get("positions")?.inside("game_results", "counts of games with positions"));
        }
        Ok(report)
    }

    /// Whether all open games are among those that were counted.
    fn has_open_games(&self) -> bool {
        let mut counts = self.game_results;
        self.open_games.values().all(|&result| {
            let count = counts.of(result);
            let is_there = *count > 0;
            *count = count.saturating_sub(1);
            is_there
        })
    }
}

impl Comparison {
    /// The object of a comparison in `stats --compare --json`: numbers of positions and games, shares and distances, in
    /// the order of [`Self::differences`] and [`Self::distances`], and the facts that only one of the datasets has.
    pub fn to_json(&self) -> Map<String, Value> {
        let difference = |difference: Difference| {
            let Difference { value, chance } = difference;
            [("difference", json!(value)), ("chance", json!(chance)), ("beyond", json!(difference.beyond()))]
        };
        let shares = self.differences().into_iter().map(|(pair, found)| {
            let [a, b] = pair.percentages();
            let (key, unit) = (json!(pair.a.key), json!(pair.a.unit.name()));
            let own = object([("key", key), ("unit", unit), ("a", json!(a)), ("b", json!(b))]);
            Value::Object(own.into_iter().chain(object(difference(found))).collect())
        });
        let distances = self.distances().into_iter().map(|distance| {
            let own = object([("key", json!(distance.key)), ("unit", json!(distance.unit.name()))]);
            let numbers = object([("means", json!(distance.means)), ("medians", json!(distance.medians))]);
            Value::Object(own.into_iter().chain(object(difference(distance.difference))).chain(numbers).collect())
        });
        let [only_a, only_b] = &self.only;
        let features = self.features.as_ref().map(|features| ("features", features.to_json()));
        let facts = [
            ("positions", json!(self.positions)),
            ("games", json!(self.games)),
            ("is_chance", json!(self.is_chance())),
            ("shares", shares.collect()),
            ("distances", distances.collect()),
            ("only_a", json!(only_a)),
            ("only_b", json!(only_b)),
        ];
        object(facts.into_iter().chain(features))
    }
}

impl Details {
    fn to_json(&self, report: &Report) -> Value {
        let rows = |matrix: &Matrix| json!(matrix.rows());
        let pairs_of = |matrix: &Matrix| -> Value {
            let cells = matrix.iter().map(|(row, column, count)| json!([row, column, count]));
            cells.collect()
        };
        let signatures = self.signatures.iter().map(|(signature, &count)| (signature.to_string(), json!(count)));
        let registers = |sketch: &Sketch| -> String {
            sketch.registers().iter().map(|&rank| LETTERS[usize::from(rank)] as char).collect()
        };
        let mut distinct = object([
            ("estimate", named(LEVELS, self.distinct.estimates())),
            ("error", json!(Sketch::ERROR)),
            ("registers", named(LEVELS, self.distinct.0.each_ref().map(registers))),
        ]);
        if let Some(exact) = self.exact_distinct {
            distinct.insert("exact".to_owned(), named(LEVELS, exact));
        }
        let mut details = object([
            ("ply", summary(&self.ply, counts)),
            ("pieces_moves", rows(&self.pieces_moves)),
            ("material", pairs_of(&self.material)),
            ("phase_results", rows(&self.phase_results)),
            ("phase_scores", rows(&self.phase_scores)),
            ("phase_score_sums", json!(self.phase_score_sums)),
            ("signatures", object(signatures).into()),
            ("other_signatures", json!(self.other_signatures)),
            ("checkers", squares(&self.checkers)),
            ("en_passant", squares(&self.en_passant)),
            ("castling_rooks", squares(&self.castling_rooks)),
            ("distinct", distinct.into()),
            ("games", self.games.to_json()),
        ]);
        for (key, value) in [
            ("time_used", self.times_used.as_ref().map(|times| times.to_json())),
            ("mistakes", self.mistakes.as_ref().map(|mistakes| mistakes.to_json())),
            ("accuracy", self.accuracies.as_ref().map(|accuracies| accuracies.to_json())),
            ("score_results", self.score_results.as_ref().map(|results| results.to_json(report))),
        ] {
            value.into_iter().for_each(|value| {
                details.insert(key.to_owned(), value);
            });
        }
        details.into()
    }

    fn from_json(root: &Reader<'_>, positions: u64) -> Result<Self, ReportError> {
        let mut signatures = BTreeMap::new();
        for (name, count) in root.get("signatures")?.entries()? {
            let signature: Signature = name.parse().map_err(|_| count.not("a kind of material"))?;
            signatures.insert(signature, count.at_most(positions)?);
        }
        let mut material = vec![Vec::new(); 128];
        for cell in root.get("material")?.list()? {
            let [white, black, count] = cell.numbers::<3>()?;
            let row: &mut Vec<u64> = material
                .get_mut(white as usize)
                .filter(|_| black < 128)
                .ok_or_else(|| cell.not("material below 128 points"))?;
            if row.is_empty() {
                row.resize(128, 0);
            }
            row[black as usize] = count;
        }
        let distinct = root.get("distinct")?;
        let exact = distinct.find("exact").map(|_| distinct.named("exact", LEVELS, |count| count.at_most(positions)));
        let sums = root.get("phase_score_sums")?;
        let phase_score_sums: Option<Vec<i64>> =
            sums.list()?.map(|sum| sum.value.as_i64().filter(|sum| sum.unsigned_abs() < 1 << 62 >> 10)).collect();
        Ok(Self {
            ply: root.get("ply")?.get("histogram")?.counts(positions)?,
            pieces_moves: root.get("pieces_moves")?.rows(positions)?,
            material: root.get("material")?.matrix(material, positions)?,
            phase_results: root.get("phase_results")?.rows(positions)?,
            phase_scores: root.get("phase_scores")?.rows(positions)?,
            phase_score_sums: phase_score_sums
                .filter(|sums| sums.len() <= 32)
                .ok_or_else(|| sums.not("a list of sums"))?,
            score_results: root
                .find("score_results")
                .map(|found| ScoreResults::from_json(&found, positions))
                .transpose()?
                .map(Box::new),
            signatures,
            other_signatures: root.get("other_signatures")?.at_most(positions)?,
            checkers: root.get("checkers")?.squares()?,
            en_passant: root.get("en_passant")?.squares()?,
            castling_rooks: root.get("castling_rooks")?.squares()?,
            distinct: Sketches(distinct.named("registers", LEVELS, Reader::sketch)?),
            exact_distinct: exact.transpose()?,
            games: Games::from_json(&root.get("games")?, positions)?,
            times_used: root
                .find("time_used")
                .map(|found| TimesUsed::from_json(&found, positions))
                .transpose()?
                .map(Box::new),
            mistakes: root
                .find("mistakes")
                .map(|found| Mistakes::from_json(&found, positions))
                .transpose()?
                .map(Box::new),
            accuracies: root
                .find("accuracy")
                .map(|found| Accuracies::from_json(&found, positions))
                .transpose()?
                .map(Box::new),
        })
    }
}

/// The results by game, the open games, and whether games could not be counted.
fn games_from(root: &Reader<'_>, positions: u64) -> Result<(Results, BTreeMap<OpenGame, u8>, bool), ReportError> {
    // Reports of earlier versions do not have them.
    if root.find("game_results").is_none_or(|games| games.value.is_null()) {
        return Ok((Results::default(), BTreeMap::new(), true));
    }
    let [white, draw, black, unknown] = root.named("game_results", RESULTS, |games| games.at_most(positions))?;
    let mut open_games = BTreeMap::new();
    if let Some(open) = root.find("open_games") {
        for open in open.list()? {
            let wrong = || open.not("a file, a game and its result");
            let [file, game, result] = [0, 1, 2].map(|at| open.value.get(at));
            let file = file.and_then(Value::as_str).ok_or_else(wrong)?.to_owned();
            let game = game.and_then(Value::as_u64).ok_or_else(wrong)?;
            let result = result.and_then(Value::as_u64).filter(|&result| result <= 3).ok_or_else(wrong)?;
            let time = open.value.get(3).map_or(Some(0), Value::as_u64).ok_or_else(wrong)?;
            open_games.insert(OpenGame { file, time, game }, result as u8);
        }
    }
    Ok((Results { white, draw, black, unknown }, open_games, false))
}

fn object<K: Into<String>>(entries: impl IntoIterator<Item = (K, Value)>) -> Map<String, Value> {
    entries.into_iter().map(|(key, value)| (key.into(), value)).collect()
}

/// Plain numbers by their keys.
fn numbers(numbers: impl Iterator<Item = (Number, u64)>) -> impl Iterator<Item = (String, Value)> {
    numbers.map(|(number, count)| (number.json_key.to_owned(), json!(count)))
}

/// An object with these keys.
fn named<const N: usize, T: Into<Value>>(names: [&str; N], values: [T; N]) -> Value {
    object(names.into_iter().zip(values.map(Into::into))).into()
}

fn mean(sum: u64, count: u64) -> Option<f64> {
    (count > 0).then(|| sum as f64 / count as f64)
}

fn squares(map: &HeatMap) -> Value {
    json!(map.0.as_slice())
}

/// An array of counts, where the index is the number.
fn counts(histogram: &Histogram) -> Value {
    json!(histogram.counts())
}

/// Numbers that occur, with their counts.
fn pairs(histogram: &Histogram) -> Value {
    histogram.iter().map(|(number, count)| json!([number, count])).collect()
}

/// A distribution, and the values derived from it.
fn summary(histogram: &Histogram, counts: fn(&Histogram) -> Value) -> Value {
    let summary = histogram.summary();
    // serde_json's numbers have 64 bits, more than any sum of real data.
    let sum = i64::try_from(summary.sum).map_or_else(|_| json!(summary.sum as f64), |sum| json!(sum));
    json!({
        "sum": sum,
        "min": summary.min,
        "max": summary.max,
        "mean": summary.mean,
        "median": summary.median,
        "stddev": summary.stddev,
        "histogram": counts(histogram),
    })
}
