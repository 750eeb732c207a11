//! Reports as JSON objects, keys in a fixed order, and back.
//!
//! The object has all counts, and values derived from them (means, medians, estimates), which are ignored when a report
//! is read. `data/stats.schema.json` describes it. Distributions over a wide range (scores, ratings) are lists of pairs
//! of a number and its count; all others are arrays, where the index is the number.

use super::{
    Castling, Comparison, Details, Difference, Games, GroupColumn, GroupValue, Groups, HeatMap, Histogram, Mates,
    Matrix, OpenGame, OtherGroups, Report, Results, Signature,
};
use crate::choose::LeftOut;
use crate::distinct::{LEVELS, Sketch, Sketches};
use crate::games::Speed;
use crate::pipeline::Summary;
use crate::tiers::Tier;
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
/// The keys of the heat maps of pieces.
const PIECES: [&str; 12] = ["P", "N", "B", "R", "Q", "K", "p", "n", "b", "r", "q", "k"];
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
pub fn left_out_to_json<'a>(left_out: impl IntoIterator<Item = (&'a str, &'a LeftOut)>) -> Value {
    let options = left_out.into_iter().map(|(option, left)| {
        (option, json!({ "games": left.games, "positions": left.positions, "unknown": left.unknown }))
    });
    Value::Object(object(options))
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
                let values = values.iter().map(|value| match value {
                    GroupValue::Number(number) => json!(number),
                    GroupValue::Text(text) => json!(text),
                    GroupValue::Missing => Value::Null,
                });
                json!({ "value": one_or_all(values.collect()), "stats": report.own() })
            });
            let mut all = self::object([
                ("by", one_or_all(groups.by.iter().map(|column| json!(column.name)).collect())),
                ("width", one_or_all(groups.by.iter().map(|column| json!(column.width)).collect())),
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
        let mut object = object([
            ("positions", json!(self.positions)),
            ("rejected", json!(self.rejected)),
            ("stm", json!({ "white": self.white_to_move, "black": self.positions - self.white_to_move })),
            ("in_check", json!(self.in_check)),
            ("double_check", json!(self.double_check)),
            ("checkmate", json!(self.checkmate)),
            ("stalemate", json!(self.stalemate)),
            ("legal_moves", summary(&self.legal_moves, counts)),
            ("legal_captures", json!(self.legal_captures)),
            ("legal_promotions", json!(self.legal_promotions)),
            ("legal_castles", json!(self.legal_castles)),
            ("legal_en_passants", json!(self.legal_en_passants)),
            ("attacked_white", attacked(white)),
            ("attacked_black", attacked(black)),
            ("pieces", json!({ "histogram": counts(&self.pieces) })),
            ("phase", json!({ "histogram": counts(&self.phase) })),
            ("material", named(SIDES, self.material.each_ref().map(counts))),
            ("castling", named(RIGHTS, [none, some, white_king, white_queen, black_king, black_queen])),
            ("en_passant", json!(self.en_passant)),
            ("occupancy", named(PIECES, self.occupancy.each_ref().map(squares))),
            ("attack_map", named(SIDES, self.attacks.each_ref().map(squares))),
            ("results", named(RESULTS, [won, draw, lost, unknown])),
            ("game_results", game_results),
        ]);
        if self.from_mover > 0 {
            object.insert("from_mover".to_owned(), json!(self.from_mover));
        }
        let mut put = |key: &str, value: Value| object.insert(key.to_owned(), value);
        if !self.open_games.is_empty() {
            let games = self.open_games.iter();
            let games = games.map(|(OpenGame { file, game }, result)| json!([file, game, result]));
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
        if !self.scores.is_empty() || self.mates != Mates::default() {
            put("mate", named(SIDES, [self.mates.white, self.mates.black]));
        }
        if let Some(details) = &self.details {
            put("details", details.to_json());
        }
        object
    }

    /// Reads the object of [`Self::to_json`]. Derived values and unknown keys are ignored.
    ///
    /// # Errors
    /// If a value is missing or impossible, such as a distribution that does not have all positions.
    pub fn from_json(object: &Value) -> Result<Self, ReportError> {
        let root = Reader { value: object, key: String::new() };
        let found = root.get("schema")?.number()?;
        if found != SCHEMA {
            return Err(ReportError::Schema { found });
        }
        let mut report = Self::own_from(&root)?;
        if let Some(groups) = root.find("groups") {
            let mut values = BTreeMap::new();
            let by = groups.get("by")?.one_or_all()?.into_iter().zip(groups.get("width")?.one_or_all()?);
            let by = by.map(|(name, width)| Ok(GroupColumn { name: name.text()?.to_owned(), width: width.number()? }));
            let by = by.collect::<Result<Vec<_>, _>>()?;
            for group in groups.get("values")?.list()? {
                let key = group.get("value")?.one_or_all()?.into_iter().map(|value| match value.value {
                    Value::Null => Ok(GroupValue::Missing),
                    Value::String(text) => Ok(GroupValue::Text(text.clone())),
                    number => {
                        let number = number.as_i64();
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
        let report = Self {
            positions,
            rejected: number("rejected")?,
            from_mover: root.find("from_mover").map(|value| of_all(&value)).transpose()?.unwrap_or(0),
            white_to_move: root.get("stm")?.get("white")?.at_most(positions)?,
            in_check: part("in_check")?,
            double_check: part("double_check")?,
            checkmate: part("checkmate")?,
            stalemate: part("stalemate")?,
            legal_moves: root.get("legal_moves")?.get("histogram")?.counts(positions)?,
            legal_captures: number("legal_captures")?,
            legal_promotions: number("legal_promotions")?,
            legal_castles: number("legal_castles")?,
            legal_en_passants: number("legal_en_passants")?,
            pieces: root.get("pieces")?.get("histogram")?.counts(positions)?,
            phase: root.get("phase")?.get("histogram")?.counts(positions)?,
            material: root.named("material", SIDES, |histogram| histogram.counts(positions))?,
            castling: Castling { none, some, white_king, white_queen, black_king, black_queen },
            en_passant: part("en_passant")?,
            occupancy: root.named("occupancy", PIECES, Reader::squares)?,
            attacks: root.named("attack_map", SIDES, Reader::squares)?,
            results: Results { white: won, draw, black: lost, unknown },
            game_results,
            open_games,
            scattered_games,
            scores: match root.find("score") {
                Some(score) => score.get("histogram")?.pairs(i16::MIN.into(), i16::MAX.into(), positions)?,
                None => Histogram::default(),
            },
            mates: Mates { white: white_mates, black: black_mates },
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
        object([
            ("positions", json!(self.positions)),
            ("games", json!(self.games)),
            ("is_chance", json!(self.is_chance())),
            ("shares", shares.collect()),
            ("distances", distances.collect()),
            ("only_a", json!(only_a)),
            ("only_b", json!(only_b)),
        ])
    }
}

impl Details {
    fn to_json(&self) -> Value {
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
        let games = &self.games;
        let eco = games.eco.iter().map(|(code, &count)| (String::from_utf8_lossy(code).into_owned(), json!(count)));
        let [white_elo, black_elo] = &games.elo;
        json!({
            "ply": summary(&self.ply, counts),
            "pieces_moves": rows(&self.pieces_moves),
            "material": pairs_of(&self.material),
            "phase_results": rows(&self.phase_results),
            "phase_scores": rows(&self.phase_scores),
            "phase_score_sums": self.phase_score_sums,
            "signatures": object(signatures),
            "other_signatures": self.other_signatures,
            "checkers": squares(&self.checkers),
            "en_passant": squares(&self.en_passant),
            "castling_rooks": squares(&self.castling_rooks),
            "distinct": distinct,
            "games": {
                "count": games.count,
                "eco": object(eco),
                "white_elo": summary(white_elo, pairs),
                "black_elo": summary(black_elo, pairs),
                "time_control": named(speeds(), games.speeds),
            },
        })
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
        let games = root.get("games")?;
        let count = games.get("count")?.at_most(positions)?;
        let mut eco = BTreeMap::new();
        for (code, games) in games.get("eco")?.entries()? {
            let code: [u8; 3] = code.as_bytes().try_into().map_err(|_| games.not("an opening code"))?;
            let is_code = matches!(code, [b'A'..=b'E', b'0'..=b'9', b'0'..=b'9']);
            if !is_code {
                return Err(games.not("an opening code"));
            }
            eco.insert(code, games.at_most(count)?);
        }
        let elo = |key: &str| {
            let histogram = games.get(key)?.get("histogram")?;
            histogram.pairs(0, u16::MAX.into(), count)
        };
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
            signatures,
            other_signatures: root.get("other_signatures")?.at_most(positions)?,
            checkers: root.get("checkers")?.squares()?,
            en_passant: root.get("en_passant")?.squares()?,
            castling_rooks: root.get("castling_rooks")?.squares()?,
            distinct: Sketches(distinct.named("registers", LEVELS, Reader::sketch)?),
            exact_distinct: exact.transpose()?,
            games: Games {
                count,
                eco,
                elo: [elo("white_elo")?, elo("black_elo")?],
                speeds: games.named("time_control", speeds(), |speed| speed.at_most(count))?,
            },
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
            open_games.insert(OpenGame { file, game }, result as u8);
        }
    }
    Ok((Results { white, draw, black, unknown }, open_games, false))
}

/// A value and its path in the object.
struct Reader<'a> {
    value: &'a Value,
    key: String,
}

impl<'a> Reader<'a> {
    fn not(&self, expected: &'static str) -> ReportError {
        ReportError::Unexpected { key: self.key.clone(), expected }
    }
    /// An error about another key of the same object.
    fn inside(&self, key: &str, expected: &'static str) -> ReportError {
        let parent = self.key.rsplit_once('.').map_or(String::new(), |(parent, _)| format!("{parent}."));
        ReportError::Unexpected { key: format!("{parent}{key}"), expected }
    }
    fn child(&self, name: &str, value: &'a Value) -> Self {
        let key = if self.key.is_empty() { name.to_owned() } else { format!("{}.{name}", self.key) };
        Self { value, key }
    }
    fn find(&self, name: &str) -> Option<Self> {
        Some(self.child(name, self.value.get(name)?))
    }
    fn get(&self, name: &str) -> Result<Self, ReportError> {
        self.find(name).ok_or_else(|| self.child(name, &Value::Null).not("there"))
    }
    fn number(&self) -> Result<u64, ReportError> {
        let number = self.value.as_u64().filter(|&number| number <= MOST);
        number.ok_or_else(|| self.not("a whole number from 0 to 2^53"))
    }
    fn at_most(&self, most: u64) -> Result<u64, ReportError> {
        let number = self.number()?;
        if number <= most { Ok(number) } else { Err(self.not("a part of all")) }
    }
    fn text(&self) -> Result<&'a str, ReportError> {
        self.value.as_str().ok_or_else(|| self.not("a text"))
    }
    fn list(&self) -> Result<impl Iterator<Item = Self>, ReportError> {
        let list = self.value.as_array().ok_or_else(|| self.not("a list"))?;
        let children = list.iter().enumerate();
        Ok(children.map(|(at, value)| self.child(&at.to_string(), value)))
    }
    /// The values of a list, or the value itself.
    fn one_or_all(&self) -> Result<Vec<Self>, ReportError> {
        if self.value.is_array() { Ok(self.list()?.collect()) } else { Ok(vec![self.child("", self.value)]) }
    }
    fn entries(&self) -> Result<impl Iterator<Item = (&'a str, Self)>, ReportError> {
        let entries = self.value.as_object().ok_or_else(|| self.not("an object"))?;
        Ok(entries.iter().map(|(name, value)| (name.as_str(), self.child(name, value))))
    }
    fn numbers<const N: usize>(&self) -> Result<[u64; N], ReportError> {
        let numbers: Vec<u64> = self.list()?.map(|number| number.number()).collect::<Result<_, _>>()?;
        numbers.try_into().map_err(|_| self.not("a list of another length"))
    }
    /// The values under these names of an object.
    fn named<const N: usize, T>(
        &self,
        key: &str,
        names: [&str; N],
        read: impl Fn(&Self) -> Result<T, ReportError>,
    ) -> Result<[T; N], ReportError> {
        let object = self.get(key)?;
        let values: Vec<T> = names.iter().map(|name| read(&object.get(name)?)).collect::<Result<_, _>>()?;
        values.try_into().map_err(|_| object.not("an object"))
    }
    fn sketch(&self) -> Result<Sketch, ReportError> {
        let rank = |letter| LETTERS.iter().position(|&other| other == letter).map(|at| at as u8);
        let ranks: Option<Vec<u8>> = self.text()?.bytes().map(rank).collect();
        let sketch = ranks.and_then(|ranks| Sketch::from_registers(&ranks));
        sketch.ok_or_else(|| self.not("the registers of a sketch"))
    }
    fn squares(&self) -> Result<HeatMap, ReportError> {
        self.numbers().map(HeatMap).map_err(|_| self.not("64 numbers"))
    }
    /// Reads an array of counts, where the index is the number; the sum must be at most `most`.
    fn counts(&self, most: u64) -> Result<Histogram, ReportError> {
        let counts: Vec<u64> = self.list()?.map(|count| count.number()).collect::<Result<_, _>>()?;
        self.sum(&counts, most)?;
        if counts.len() <= 1 << 16 {
            Ok(Histogram::new(0, counts))
        } else {
            Err(self.not("a list of at most 65536 numbers"))
        }
    }
    /// Reads numbers from `first` to `last` with their counts; the sum must be at most `most`.
    fn pairs(&self, first: i64, last: i64, most: u64) -> Result<Histogram, ReportError> {
        let mut counts = vec![0; (last - first + 1) as usize];
        for pair in self.list()? {
            let number = pair
                .value
                .get(0)
                .and_then(Value::as_i64)
                .filter(|number| (first..=last).contains(number))
                .ok_or_else(|| pair.not("a number in range and its count"))?;
            let count = pair.value.get(1).ok_or_else(|| pair.not("a number and its count"))?;
            counts[(number - first) as usize] = pair.child("1", count).at_most(most)?;
        }
        self.sum(&counts, most)?;
        // The histogram has the same form as one that was counted.
        Ok(if counts.iter().any(|&count| count > 0) { Histogram::new(first, counts) } else { Histogram::default() })
    }
    fn rows(&self, most: u64) -> Result<Matrix, ReportError> {
        let rows: Result<Vec<Vec<u64>>, _> =
            self.list()?.map(|row| row.list()?.map(|count| count.at_most(most)).collect()).collect();
        self.matrix(rows?, most)
    }
    fn matrix(&self, rows: Vec<Vec<u64>>, most: u64) -> Result<Matrix, ReportError> {
        self.sum(rows.as_slice().concat().as_slice(), most)?;
        if rows.len() <= 256 && rows.iter().all(|row| row.len() <= 256) {
            Ok(Matrix::new(rows))
        } else {
            Err(self.not("at most 256 rows and columns"))
        }
    }
    /// Checks that the sum of counts is at most a whole.
    fn sum(&self, counts: &[u64], most: u64) -> Result<(), ReportError> {
        let sum: u128 = counts.iter().map(|&count| u128::from(count)).sum();
        if sum <= u128::from(most) { Ok(()) } else { Err(self.not("counts of no more than there are")) }
    }
}

fn object<K: Into<String>>(entries: impl IntoIterator<Item = (K, Value)>) -> Map<String, Value> {
    entries.into_iter().map(|(key, value)| (key.into(), value)).collect()
}

/// An object with these keys.
fn named<const N: usize, T: Into<Value>>(names: [&str; N], values: [T; N]) -> Value {
    object(names.into_iter().zip(values.map(Into::into))).into()
}

/// The keys of classes of time controls.
fn speeds() -> [&'static str; 7] {
    let mut names = ["unknown"; 7];
    names[..Speed::ALL.len()].copy_from_slice(&Speed::ALL.map(Speed::name));
    names
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
