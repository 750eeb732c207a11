//! The summary: the records read and rejected, and how the run ended.
//!
//! The thread that called [`super::run`] combines the outcomes of the chunks here, in the order of the input.

use super::{FIRST_REJECTS, OnReject};
use crate::choose::LeftOutBy;
use crate::error::{Damage, Error, Place, Reject, shown};
use crate::formats::{DroppedValue, DroppedValues, Format, Layout, Remarks, Totals, UnstoredTags};
use crate::input::Compression;
use crate::poisoned_locks::Unpoisoned;
use crate::text::numbers::counted;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// What an input holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Holds {
    /// No byte, or only blanks.
    #[default]
    Blanks,
    /// Comments, for instance.
    NoRecord,
    /// Records, also those that are not chosen, and games without a position.
    Records,
}

/// The records read and rejected.
#[derive(Debug, Default)]
#[must_use]
#[non_exhaustive]
pub struct Summary {
    /// Records read within `skip` and `limit`, good and bad.
    pub records: u64,
    /// Number of bad records among them.
    pub rejected: u64,
    /// How often each reason was given; a record may have several.
    pub reasons: BTreeMap<&'static str, u64>,
    /// The first bad records.
    pub first_rejects: Vec<Reject>,
    /// Number of games that have begun, including those that were not selected.
    pub games: u64,
    /// Games of which records were read within `skip` and `limit`.
    pub games_taken: u64,
    /// Changes and remarks from reading.
    pub remarks: Remarks,
    /// Tags and other text of games that are not in any field, with
    /// [`DecodeOptions::lost_tags`](crate::formats::DecodeOptions::lost_tags). If records are chosen, a game counts if one
    /// of its records is taken.
    pub lost_tags: UnstoredTags,
    /// Values and keys in text tables that were left out.
    pub dropped_values: DroppedValues,
    /// Games and positions that were not selected, for each option that was set.
    pub left_out: LeftOutBy,
    /// Bytes read from the inputs, before decompression.
    pub bytes: u64,
    /// The numbers for each input that was opened.
    pub files: Vec<FileSummary>,
    /// A sentence on files in directories that were skipped although their names are those of a format.
    pub skipped_files: Option<String>,
    /// Descriptions of the columns of a condition of which no record has a value, if all records were looked at.
    pub(crate) unseen_columns: Option<BTreeSet<String>>,
    /// The error that ended the run early. Everything before its place was processed.
    pub(crate) failure: Option<Error>,
}

impl Summary {
    /// Records that were accepted.
    pub fn accepted(&self) -> u64 {
        self.records - self.rejected
    }

    /// Sentences for the user on values that were changed, left out or noticed in reading; with `details` also on usual
    /// ones.
    pub fn notes(&self, details: bool) -> Vec<String> {
        let mut notes: Vec<String> = self.skipped_files.iter().cloned().collect();
        if let Some(unseen) = self.unseen_columns.as_ref().filter(|unseen| !unseen.is_empty()) {
            let unseen: Vec<&str> = unseen.iter().map(String::as_str).collect();
            notes.push(format!("--where: no record has a value of {}", unseen.join(", nor of ")));
        }
        let remarks = self.remarks.iter().filter(|(remark, _)| details || !remark.is_detail);
        notes.extend(remarks.map(|(remark, times)| {
            let first = self.remarks.first(remark).map(|first| format!("; the first is `{first}`")).unwrap_or_default();
            format!("{} {}{first}", counted(times, remark.what), remark.how)
        }));
        notes.extend(self.dropped_values.notes());
        // The files of a data set often have the same notes.
        let mut files: Vec<(&str, &Path, u64)> = Vec::new();
        for file in &self.files {
            let Some(note) = file.note.as_deref() else {
                continue;
            };
            match files.iter_mut().find(|(known, ..)| *known == note) {
                Some((_, _, others)) => *others += 1,
                None => files.push((note, &file.path, 0)),
            }
        }
        notes.extend(files.into_iter().map(|(note, path, others)| match others {
            0 => format!("{}: {note}", shown(path)),
            others => format!("{} and {}: {note}", shown(path), counted(others, "more file")),
        }));
        notes
    }

    /// The summary, if the run did not end early.
    pub(crate) fn into_result(mut self) -> Result<Self, RunError> {
        match self.failure.take() {
            Some(error) => Err(RunError { error, summary: Box::new(self) }),
            None => Ok(self),
        }
    }
}

/// Why a run ended early, and what was read until then.
#[derive(Debug)]
pub struct RunError {
    /// The reason.
    pub error: Error,
    /// What was read before.
    pub summary: Box<Summary>,
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl std::error::Error for RunError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.error.source()
    }
}

impl From<Error> for RunError {
    fn from(error: Error) -> Self {
        Self { error, summary: Box::default() }
    }
}

impl From<RunError> for Error {
    fn from(RunError { error, .. }: RunError) -> Self {
        error
    }
}

/// The numbers for one input.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FileSummary {
    /// The input.
    pub path: Arc<Path>,
    /// The format of the file; `None` if it could not be opened, with [`super::RunOptions::past_damage`].
    pub format: Option<Format>,
    /// The container around it.
    pub compression: Option<Compression>,
    /// Records read, good and bad.
    pub records: u64,
    /// Of these, the good ones that [`where`](crate::choose::Choose::filter) and
    /// [`sample`](crate::choose::Choose::sample) left out.
    pub left_out: u64,
    /// Number of bad records among them.
    pub rejected: u64,
    /// How often each reason was given.
    pub reasons: BTreeMap<&'static str, u64>,
    /// Damaged places, with [`super::RunOptions::past_damage`].
    pub damage: Vec<Damage>,
    /// A note on the file as a whole.
    pub note: Option<Cow<'static, str>>,
}

/// The outcome of a chunk, except for the output of the job.
#[derive(Default)]
pub(super) struct Outcome {
    pub(super) file: usize,
    pub(super) begins: Option<(FileSummary, Totals)>,
    /// What a chunk without records holds.
    pub(super) holds: Holds,
    pub(super) records: u64,
    pub(super) games: u64,
    pub(super) games_taken: u64,
    pub(super) remarks: Remarks,
    pub(super) lost_tags: UnstoredTags,
    pub(super) dropped_values: Vec<DroppedValue>,
    pub(super) left_out: LeftOutBy,
    pub(super) rejects: Vec<Reject>,
    pub(super) damage: Vec<Damage>,
    pub(super) broken: Option<Error>,
    pub(super) failure: Option<Error>,
    pub(super) note: Option<&'static str>,
    /// Whether no later record is requested.
    pub(super) is_last: bool,
}

/// Combines the outcomes in order.
pub(super) struct Collector<'a> {
    pub(super) summary: Summary,
    /// What each input holds.
    pub(super) holds: Vec<Holds>,
    pub(super) strict: bool,
    /// Receives the totals before each input.
    pub(super) starts: Option<Arc<Mutex<Vec<Totals>>>>,
    pub(super) on_reject: Option<&'a mut OnReject<'a>>,
}

/// The reject reason for broken links in directories.
const BROKEN_LINK: &str = "broken_link";

impl Collector<'_> {
    /// Rejects broken links, before any input is read.
    pub(super) fn reject_broken(&mut self, links: &[PathBuf]) -> Result<(), Error> {
        for link in links {
            let place = Place::start_of(link.as_path().into());
            let message = if link.exists() {
                "a symbolic link to a directory that contains it"
            } else {
                "a broken symbolic link"
            };
            let reject = Reject::new(place, vec![BROKEN_LINK], message, Vec::new());
            self.summary.records += 1;
            self.summary.rejected += 1;
            *self.summary.reasons.entry(BROKEN_LINK).or_default() += 1;
            self.reject(reject)?;
        }
        Ok(())
    }

    /// Notes that files without columns were read, although options name columns of moves and of first positions.
    pub(super) fn note_unused_columns(&mut self) {
        let has_columns = |format: Format| matches!(format.layout(), Layout::Tables(_));
        for file in self.summary.files.iter_mut().filter(|file| file.format.is_some_and(|format| !has_columns(format)))
        {
            let note = "--moves-column and --start-column are for Parquet and Arrow, and have no effect";
            file.note.get_or_insert(Cow::Borrowed(note));
        }
    }

    /// After a run over whole inputs: finds those that hold nothing although their formats have no way to say so. With
    /// `past_damage` these are damaged, otherwise the first of them is the failure of the run. Blank text files are empty
    /// datasets, unless `strict` is given; a pipe whose other end failed is blank as well.
    pub(super) fn refuse_empty(&mut self, past_damage: bool) {
        for (file, &holds) in self.summary.files.iter_mut().zip(&self.holds) {
            let can_be_empty = file.format.is_none_or(|format| format.about().can_be_empty);
            if holds == Holds::Records || can_be_empty || !file.damage.is_empty() {
                continue;
            }
            let is_text = file.format.is_some_and(Format::is_text);
            if is_text && holds == Holds::Blanks && !self.strict && file.path.as_os_str() != "-" {
                file.note.get_or_insert(Cow::Borrowed("the file is empty"));
                continue;
            }
            let error = Error::NoRecord { path: Arc::clone(&file.path) };
            if past_damage {
                file.damage.push(error.as_damage());
            } else {
                self.summary.failure.get_or_insert(error);
            }
        }
    }

    /// Reports a reject; returns an error if the run should end with it.
    fn reject(&mut self, reject: Reject) -> Result<(), Error> {
        if let Some(on_reject) = &mut self.on_reject {
            on_reject(&reject)?;
        }
        if self.strict {
            return Err(Error::Strict(Box::new(reject)));
        }
        if self.summary.first_rejects.len() < FIRST_REJECTS {
            self.summary.first_rejects.push(reject);
        }
        Ok(())
    }

    pub(super) fn take<T>(
        &mut self,
        outcome: Outcome,
        output: Option<T>,
        sink: &mut dyn FnMut(T) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let summary = &mut self.summary;
        if let Some((file, before)) = outcome.begins {
            summary.files.push(file);
            if let Some(starts) = &self.starts {
                starts.lock().unpoisoned().push(before);
            }
        }
        let rejected = outcome.rejects.len() as u64;
        self.holds.resize(summary.files.len(), Holds::Blanks);
        if let Some(holds) = self.holds.get_mut(outcome.file) {
            let holds_any = outcome.records > 0 || outcome.games > 0 || rejected > 0 || !outcome.left_out.is_empty();
            *holds = (*holds).max(if holds_any { Holds::Records } else { outcome.holds });
        }
        summary.records += outcome.records;
        summary.rejected += rejected;
        summary.games += outcome.games;
        summary.games_taken += outcome.games_taken;
        summary.remarks.merge(&outcome.remarks);
        summary.lost_tags.merge(&outcome.lost_tags);
        outcome.dropped_values.into_iter().for_each(|dropped_value| summary.dropped_values.add(dropped_value, 1));
        let of_records = outcome.left_out.iter().filter(|(option, _)| ["where", "sample"].contains(option));
        let left_out: u64 = of_records.map(|(_, left_out)| left_out.positions).sum();
        for (option, more) in outcome.left_out {
            summary.left_out.entry(option).or_default().add(more);
        }
        let reasons = outcome.rejects.iter().flat_map(|reject| &reject.reasons);
        if let Some(file) = summary.files.get_mut(outcome.file) {
            file.records += outcome.records;
            file.left_out += left_out;
            file.rejected += rejected;
            if let Some(note) = outcome.note {
                file.note.get_or_insert(note.into());
            }
            file.damage.extend(outcome.damage);
            file.damage.extend(outcome.broken.as_ref().map(Error::as_damage));
            for &reason in reasons.clone() {
                *file.reasons.entry(reason).or_default() += 1;
            }
        }
        if let Some(error) = outcome.broken {
            summary.failure.get_or_insert(error);
        }
        for &reason in reasons {
            *summary.reasons.entry(reason).or_default() += 1;
        }
        let mut failure = outcome.failure;
        for reject in outcome.rejects {
            match self.reject(reject) {
                Ok(()) => {}
                Err(error @ Error::Strict(_)) => {
                    failure = Some(error);
                    break;
                }
                Err(error) => return Err(error),
            }
        }
        // The good records before a failure also count.
        if let Some(output) = output {
            sink(output)?;
        }
        failure.map_or(Ok(()), Err)
    }
}
