//! Messages between machines: tables, scans and rules for positions.

use super::input_shares::Piece;
use super::message_envelope::wrong;
use super::statistics_request::Counting;
use super::write_request::Writing;
use crate::chess::Validity;
use crate::choose::{Condition, Definitions, FilterCount};
use crate::error::{Place, Reject};
use crate::formats::ValidityWire;
use crate::formats::{Changed, DroppedKind, DroppedValue, Format, Losses, Remark, UnstoredTags};
use crate::input::Inputs;
use crate::pipeline::{FileSummary, ReadOptions, Summary};
use crate::poisoned_locks::Unpoisoned;
use crate::sql::functions::ValidityOptions;
use crate::sql::tables::file_name_column::column_named;
use crate::sql::{PositionSource, SessionOptions};
use crate::stats::GroupBy;
use crate::table::{ChosenColumn, FeatureSet, Field};
use crate::tiers::Tier;
use datafusion::common::Result;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Mutex;

/// Inputs as this machine reads them: with the instructions of its CPU, and one thread for each piece.
pub(in crate::sql::cluster) fn source(inputs: Inputs, read: ReadOptions) -> Result<PositionSource> {
    let analyzer = Tier::best().analyzer().ok_or_else(|| wrong(&"this CPU has no tier"))?;
    Ok(PositionSource { inputs, options: SessionOptions::new(analyzer).read(read) })
}

/// A table of positions.
#[derive(Serialize, Deserialize)]
pub(in crate::sql::cluster) struct TableWire {
    pub(in crate::sql::cluster) read: ReadOptions,
    pub(in crate::sql::cluster) pieces: Vec<Piece>,
    pub(in crate::sql::cluster) columns: Vec<String>,
}

/// The part of a table that is read.
#[derive(Serialize, Deserialize)]
pub(in crate::sql::cluster) struct ScanWire {
    pub(in crate::sql::cluster) read: ReadOptions,
    pub(in crate::sql::cluster) columns: Vec<String>,
    pub(in crate::sql::cluster) conditions: Vec<Condition>,
    pub(in crate::sql::cluster) limit: Option<usize>,
}

/// Files that are written of inputs.
#[derive(Serialize, Deserialize)]
pub(in crate::sql::cluster) struct FilesWire {
    pub(in crate::sql::cluster) read: ReadOptions,
    pub(in crate::sql::cluster) writing: Writing,
}

/// Statistics of inputs.
#[derive(Serialize, Deserialize)]
pub(in crate::sql::cluster) struct CountingWire {
    read: ReadOptions,
    details: bool,
    /// The name of a set.
    features: Option<String>,
    /// The text, the names that it may use, and whether groups have ratings.
    by: Option<(String, (Definitions, bool))>,
    rejects: bool,
}

impl CountingWire {
    pub(in crate::sql::cluster) fn of(read: &ReadOptions, counting: &Counting) -> Self {
        Self {
            read: read.clone(),
            details: counting.details,
            features: counting.features.as_ref().map(|set| set.name().to_owned()),
            by: counting.by.as_ref().map(|by| (by.to_string(), (by.definitions().clone(), by.has_ratings()))),
            rejects: counting.rejects,
        }
    }
    pub(in crate::sql::cluster) fn into_counting(self) -> Result<(ReadOptions, Counting)> {
        let parse = |(by, (definitions, has_ratings)): (String, (Definitions, bool))| -> Result<_, crate::ParseError> {
            Ok(GroupBy::parse_with(&by, &definitions)?.with_ratings(has_ratings))
        };
        let by = self.by.map(parse).transpose();
        let features = self.features.map(|name| FeatureSet::parse_indices(&name)).transpose();
        let counting = Counting {
            details: self.details,
            features: features.map_err(|error| wrong(&error))?,
            by: by.map_err(|error| wrong(&error))?,
            rejects: self.rejects,
        };
        Ok((self.read, counting))
    }
}

/// The names of columns.
pub(in crate::sql::cluster) fn names(columns: &[ChosenColumn]) -> Vec<String> {
    columns.iter().map(|column| column.name().to_owned()).collect()
}

/// Columns by their names.
pub(in crate::sql::cluster) fn columns(names: &[String]) -> Result<Vec<ChosenColumn>> {
    let columns =
        names.iter().map(|name| column_named(name).ok_or_else(|| wrong(&format_args!("there is no column {name}"))));
    columns.collect()
}

/// The rules for judging positions. Each machine chooses the instructions itself.
#[derive(Serialize, Deserialize)]
pub(in crate::sql::cluster) struct JudgingWire {
    #[serde(with = "ValidityWire")]
    validity: Validity,
    keep_en_passant: bool,
}

impl JudgingWire {
    pub(in crate::sql::cluster) fn of(judging: ValidityOptions) -> Self {
        Self { validity: judging.validity, keep_en_passant: judging.keep_en_passant }
    }
    pub(in crate::sql::cluster) fn into_judging(self) -> ValidityOptions {
        ValidityOptions { tier: Tier::best(), validity: self.validity, keep_en_passant: self.keep_en_passant }
    }
}

/// The summary of a piece.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(in crate::sql::cluster) struct SummaryWire {
    records: u64,
    rejected: u64,
    games: u64,
    games_taken: u64,
    bytes: u64,
    reasons: BTreeMap<String, u64>,
    first_rejects: Vec<RejectWire>,
    /// The parts of a remark: name, text, whether it is a detail, count, and the first occurrence.
    remarks: Vec<(String, String, bool, u64, Option<String>)>,
    dropped_values: Vec<MisfitWire>,
    lost_tags: UnstoredTags,
    left_out: BTreeMap<String, (u64, u64, u64)>,
    /// Notes on files: path, format and note.
    notes: Vec<(PathBuf, String, String)>,
    skipped_files: Option<String>,
    /// The columns of a condition of which no record of the piece has a value.
    unseen_columns: Option<BTreeSet<String>>,
}

/// Values that were left out of records, with the first of each kind.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct MisfitWire {
    /// The name of the field or key, and whether it is a field, and one whose text is kept.
    name: String,
    is_field: bool,
    is_text: bool,
    times: u64,
    place: PlaceWire,
    value: String,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct RejectWire {
    place: PlaceWire,
    reasons: Vec<String>,
    message: String,
    raw: Vec<u8>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct PlaceWire {
    file: PathBuf,
    line: Option<u64>,
    offset: u64,
    record: u64,
    game: Option<u64>,
    ply: Option<u16>,
    frame: Option<u64>,
    row: Option<u64>,
}

impl SummaryWire {
    pub(in crate::sql::cluster) fn of(summary: &Summary) -> Self {
        let named = |reasons: &BTreeMap<&'static str, u64>| {
            let reasons = reasons.iter();
            reasons.map(|(&name, &times)| (name.to_owned(), times)).collect()
        };
        let files = summary.files.iter();
        Self {
            records: summary.records,
            rejected: summary.rejected,
            games: summary.games,
            games_taken: summary.games_taken,
            bytes: summary.bytes,
            reasons: named(&summary.reasons),
            first_rejects: summary.first_rejects.iter().map(RejectWire::of).collect(),
            remarks: summary
                .remarks
                .iter()
                .map(|(remark, times)| {
                    let first = summary.remarks.first(remark).map(str::to_owned);
                    (remark.what.to_owned(), remark.how.to_owned(), remark.is_detail, times, first)
                })
                .collect(),
            dropped_values: summary
                .dropped_values
                .iter()
                .map(|(dropped_value, times)| MisfitWire::of(dropped_value, times))
                .collect(),
            lost_tags: summary.lost_tags.clone(),
            left_out: summary
                .left_out
                .iter()
                .map(|(&name, left)| (name.to_owned(), (left.games, left.positions, left.unknown)))
                .collect(),
            notes: files
                .filter_map(|file| {
                    let format = file.format?.name().to_owned();
                    Some((file.path.to_path_buf(), format, file.note.as_ref()?.to_string()))
                })
                .collect(),
            skipped_files: summary.skipped_files.clone(),
            unseen_columns: summary.unseen_columns.clone(),
        }
    }

    /// Adds it to the summary of earlier pieces.
    pub(in crate::sql::cluster) fn add_to(self, all: &mut Summary) {
        all.records += self.records;
        all.rejected += self.rejected;
        all.games += self.games;
        all.games_taken += self.games_taken;
        all.bytes += self.bytes;
        for (name, times) in self.reasons {
            *all.reasons.entry(interned(&name)).or_default() += times;
        }
        let room = crate::pipeline::FIRST_REJECTS.saturating_sub(all.first_rejects.len());
        let first = self.first_rejects.into_iter().take(room);
        all.first_rejects.extend(first.map(RejectWire::into_reject));
        for (what, how, is_detail, times, first) in self.remarks {
            all.remarks.add_with(remark(&what, &how, is_detail), times, first.as_deref());
        }
        for (dropped_value, times) in self.dropped_values.into_iter().filter_map(MisfitWire::into_misfit) {
            all.dropped_values.add(dropped_value, times);
        }
        all.lost_tags.merge(&self.lost_tags);
        for (name, (games, positions, unknown)) in self.left_out {
            let left = FilterCount::new(games, positions, unknown);
            all.left_out.entry(interned(&name)).or_default().add(left);
        }
        all.skipped_files = all.skipped_files.take().or(self.skipped_files);
        // A piece without records says nothing.
        all.unseen_columns = match (all.unseen_columns.take(), self.unseen_columns) {
            (Some(ours), Some(theirs)) => Some(ours.intersection(&theirs).cloned().collect()),
            (ours, theirs) => ours.or(theirs),
        };
        for (path, format, note) in self.notes {
            let is_same = |file: &FileSummary| *file.path == *path && file.note.as_deref() == Some(note.as_str());
            // Every shard of a file has the same note.
            if !all.files.iter().any(is_same) {
                all.files.push(FileSummary {
                    left_out: 0,
                    path: path.into(),
                    format: format.parse::<Format>().ok(),
                    compression: None,
                    records: 0,
                    rejected: 0,
                    reasons: BTreeMap::new(),
                    damage: Vec::new(),
                    note: Some(note.into()),
                });
            }
        }
    }
}

/// What the file of a piece does not keep.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(in crate::sql::cluster) struct LossesWire {
    lacking: BTreeMap<String, u64>,
    /// The number of changed records, and the first one.
    changed: BTreeMap<String, (u64, u64)>,
    placeholders: BTreeMap<String, u64>,
}

impl LossesWire {
    pub(in crate::sql::cluster) fn of(losses: &Losses) -> Self {
        let named = |(name, times): (&str, u64)| (name.to_owned(), times);
        Self {
            lacking: losses.lacking().map(named).collect(),
            changed: losses
                .changed()
                .map(|(name, changed)| (name.to_owned(), (changed.records, changed.first)))
                .collect(),
            placeholders: losses.placeholders().map(named).collect(),
        }
    }

    pub(in crate::sql::cluster) fn into_losses(self) -> Losses {
        let mut losses = Losses::default();
        self.lacking.iter().for_each(|(name, &records)| losses.lack(interned(name), records));
        self.placeholders.iter().for_each(|(name, &records)| losses.fill(interned(name), records));
        for (name, (records, first)) in self.changed {
            losses.change_many(interned(&name), Changed { records, first });
        }
        losses
    }
}

impl MisfitWire {
    fn of(dropped_value: DroppedValue, times: u64) -> Self {
        let is_text = matches!(dropped_value.kind, DroppedKind::Text(_));
        let (name, is_field) = match dropped_value.kind {
            DroppedKind::Value(field) | DroppedKind::Text(field) => (field.name().to_owned(), true),
            DroppedKind::Key(key) => (key.into(), false),
        };
        Self {
            name,
            is_field,
            is_text,
            times,
            place: PlaceWire::of(&dropped_value.place),
            value: dropped_value.value.into(),
        }
    }

    /// `None` if there is no such field.
    fn into_misfit(self) -> Option<(DroppedValue, u64)> {
        let kind = if self.is_field {
            let field = Field::ALL.iter().copied().find(|field| field.name() == self.name)?;
            if self.is_text { DroppedKind::Text(field) } else { DroppedKind::Value(field) }
        } else {
            DroppedKind::Key(self.name.into())
        };
        Some((DroppedValue { kind, place: self.place.into_place(), value: self.value.into() }, self.times))
    }
}

impl PlaceWire {
    fn of(place: &Place) -> Self {
        Self {
            file: place.file.to_path_buf(),
            line: place.line,
            offset: place.offset,
            record: place.record,
            game: place.game,
            ply: place.ply,
            frame: place.frame,
            row: place.row,
        }
    }

    fn into_place(self) -> Place {
        Place {
            line: self.line,
            offset: self.offset,
            record: self.record,
            game: self.game,
            ply: self.ply,
            frame: self.frame,
            row: self.row,
            ..Place::start_of(self.file.into())
        }
    }
}

impl RejectWire {
    fn of(reject: &Reject) -> Self {
        Self {
            place: PlaceWire::of(&reject.place),
            reasons: reject.reasons.iter().map(|&name| name.to_owned()).collect(),
            message: reject.message.to_string(),
            raw: reject.raw.clone(),
        }
    }

    fn into_reject(self) -> Reject {
        let reasons = self.reasons.iter().map(|name| interned(name)).collect();
        Reject::new(self.place.into_place(), reasons, self.message, self.raw)
    }
}

/// A text that lives as long as the process: names of reasons and options, of which there are few.
fn interned(text: &str) -> &'static str {
    static KNOWN: Mutex<Vec<&'static str>> = Mutex::new(Vec::new());
    let mut known = KNOWN.lock().unpoisoned();
    if let Some(known) = known.iter().find(|&&known| known == text) {
        return known;
    }
    let text: &'static str = Box::leak(Box::from(text));
    known.push(text);
    text
}

/// A text of a remark that lives as long as the process.
fn remark(what: &str, how: &str, is_detail: bool) -> &'static Remark {
    static KNOWN: Mutex<Vec<&'static Remark>> = Mutex::new(Vec::new());
    let (what, how) = (interned(what), interned(how));
    let mut known = KNOWN.lock().unpoisoned();
    let is_known = |known: &&&'static Remark| (known.what, known.how) == (what, how);
    if let Some(known) = known.iter().find(is_known) {
        return known;
    }
    let remark: &'static Remark = Box::leak(Box::new(Remark { what, how, is_detail }));
    known.push(remark);
    remark
}

#[cfg(test)]
mod tests {
    use super::super::message_envelope::{decoded, encoded, encoded_by};
    use super::*;
    use crate::choose::GameFilter;
    use crate::formats::DecodeOptions;
    use crate::games::{Date, Variant};
    use crate::input::Access;
    use std::path::Path;
    use std::sync::Arc;

    #[test]
    fn options_are_what_they_were() {
        let games = GameFilter::default()
            .every(3)
            .min_elo(Some(2200))
            .time_controls(vec!["blitz".parse().unwrap(), "300+3".parse().unwrap()])
            .since("2024.02.03".parse::<Date>().ok())
            .variant(Some(Variant::Chess960));
        let decode =
            DecodeOptions::default().keep_en_passant(true).strict_pgn(true).fen_column(Some("position".into()));
        let access = Access::default().map(false).max_window(1 << 20);
        let read = ReadOptions::default().decode(decode).from(Some(Format::PGN)).access(access).strict(true).choose(
            crate::choose::Choose::default()
                .games(Some(Arc::new(games)))
                .filter("quiet and index % 3 = 1".parse().ok())
                .sample("case when pieces > 20 then 0.1 else 1 end".parse().ok())
                .seed(7),
        );
        let bytes = encoded(&read).unwrap();
        assert_eq!(decoded::<ReadOptions>(&bytes).unwrap(), read);
    }

    #[cfg(unix)]
    #[test]
    fn names_that_cannot_travel_are_an_error() {
        use std::os::unix::ffi::OsStrExt;
        let odd = Path::new(std::ffi::OsStr::from_bytes(b"/data/\xff.pgn"));
        let error = encoded(&odd).unwrap_err();
        let text = crate::sql::cluster::protocol::errors::found(&error.to_string()).unwrap();
        assert!(text.contains("cannot be sent"), "{text}");
    }

    #[test]
    fn conditions_are_what_they_were() {
        let names = crate::choose::Definitions::parse(["m = ply / 2.0"]).unwrap();
        for text in ["legal_moves is null", "\"tag:Event\" not in ('a\"b', '')", "m > 3 and uniform(index) < 0.5"] {
            let condition = names.condition(text).unwrap();
            let bytes = encoded(&condition).unwrap();
            assert_eq!(decoded::<Condition>(&bytes).unwrap(), condition);
        }
    }

    #[test]
    fn another_version_is_an_error_that_says_so() {
        let bytes = encoded_by("0.0.9", &vec![1, 2]).unwrap();
        let error = decoded::<Vec<u8>>(&bytes).unwrap_err();
        let text = crate::sql::cluster::protocol::errors::found(&format!("Job failed: {error:?}")).unwrap();
        assert!(text.contains("lanefish 0.0.9"), "{text}");
        for wrong in [&b""[..], b"LFC", b"LFC\x01", b"LFC\x01\x00\x00"] {
            assert!(decoded::<Vec<u8>>(wrong).is_err());
        }
    }
}
