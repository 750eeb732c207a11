//! `verify`: reads everything and reports what is wrong, and where.

use super::arguments::command_scope::{Examples, RunCommand};
use super::arguments::common_args::ReadArgs;
use super::run::invocation::{Invocation, RunOverrides};
use super::run::manifest;
use super::{FAILED, SOMETHING_WRONG};
use anyhow::Result;
use clap::{Args, ValueHint};
use lanefish::Error;
use lanefish::chess::{Rule, Validity};
use lanefish::formats::Format;
use lanefish::formats::polyglot_book::PolyglotBook;
use lanefish::jobs::{VerifyRecords, verification_to_json};
use lanefish::pipeline::Summary;
use lanefish_core::text::numbers::grouped;
use lanefish_core::text::one_line;
use serde_json::{Map, json};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Check checksums, structure and the legality of each position
///
/// Positions are checked at the strict level unless --validity says otherwise. Exit status 1 means that errors were
/// found, 2 that a file cannot be read to its end. In boards files every byte is covered by a checksum. In Parquet
/// files, pages have checksums if their writer added them, as lanefish does. Arrow files have none, so changed values
/// are not found there. Training data have neither checksums nor numbers of records: a cut between two records, and
/// altered scores, are found only by --manifest in files that were written with it.
#[derive(Debug, Args)]
pub(crate) struct VerifyArgs {
    #[command(flatten)]
    read: ReadArgs,

    /// Check that the files of this manifest are unchanged, instead of reading positions
    #[arg(id = "listed", long = "manifest", value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with = "inputs")]
    manifest: Option<PathBuf>,

    /// One JSON object instead of text
    #[arg(long)]
    json: bool,
}

/// Most errors of a book that are listed.
const MOST_LISTED: u64 = 10;

impl VerifyArgs {
    /// Checks an opening book.
    fn verify_book(&self, path: &Path) -> Result<u8> {
        let mut wrong = 0;
        let mut listed = String::new();
        let facts = PolyglotBook::open(path)?.verify(|number, what| {
            wrong += 1;
            if wrong <= MOST_LISTED {
                let _ = writeln!(listed, "  entry {number}: {what}");
            }
        })?;
        if self.json {
            let mut object = Map::new();
            object.insert("format".to_owned(), json!("polyglot"));
            object.insert("ok".to_owned(), json!(wrong == 0));
            object.insert("entries".to_owned(), json!(facts.entries));
            object.insert("positions".to_owned(), json!(facts.positions));
            object.insert("checked".to_owned(), json!(facts.checked));
            object.insert("errors".to_owned(), json!(wrong));
            super::print_object(&object)?;
        } else {
            let more = if wrong > MOST_LISTED {
                format!("  and {} more\n", grouped(wrong - MOST_LISTED))
            } else {
                String::new()
            };
            let verdict = if wrong == 0 { "ok".to_owned() } else { format!("{} errors", grouped(wrong)) };
            let text = format!(
                "{}: {verdict}\n  {} entries of {} positions; moves of the book lead to {} of them, whose moves were checked\n{listed}{more}",
                path.display(),
                grouped(facts.entries),
                grouped(facts.positions),
                grouped(facts.checked),
            );
            super::print(text.as_bytes())?;
        }
        Ok(if wrong == 0 { 0 } else { SOMETHING_WRONG })
    }
}

impl RunCommand for VerifyArgs {
    const EXAMPLES: Examples = &[
        ("All errors in some files", "lanefish verify --validity playable data/"),
        ("As JSON, at the validity level of the other commands", "lanefish verify --json --validity playable a.boards"),
    ];

    fn run(&self, invocation: &Invocation<'_>) -> Result<u8> {
        if let Some(manifest) = &self.manifest {
            return manifest::verify(invocation, manifest, self.json);
        }
        if let [book] = &self.read.inputs[..]
            && PolyglotBook::is_one(book).unwrap_or(false)
        {
            return self.verify_book(book);
        }
        let run = RunOverrides { default_validity: Validity::Strict, past_damage: true, ..RunOverrides::default() };
        let done = invocation.read(&self.read.inputs, &self.read.reading, run, &VerifyRecords, |()| Ok(()))?;
        if let Some(Error::Interrupted) = done.failure {
            return invocation.conclude(done);
        }
        let summary = &done.summary;
        let damaged = summary.files.iter().any(|file| !file.damage.is_empty());
        let ok = summary.rejected == 0 && !damaged && done.failure.is_none();
        if self.json {
            let mut object = verification_to_json(summary);
            object.insert("ok".to_owned(), json!(ok));
            super::print_object(&object)?;
        } else {
            super::print(text(summary, ok).as_bytes())?;
        }
        for file in
            summary.files.iter().filter(|file| file.records == 0 && file.damage.is_empty() && file.note.is_none())
        {
            invocation.note(format_args!("{} has no records", file.path.display()));
        }
        // Parts that need more than the options allow were not read.
        let refused = summary.files.iter().any(|file| file.damage.iter().any(|damage| damage.is_limit));
        let status = invocation.conclude(done)?;
        Ok(match (refused, damaged) {
            (true, _) => FAILED,
            (_, true) => status.max(SOMETHING_WRONG),
            _ => status,
        })
    }
}

fn text(summary: &Summary, ok: bool) -> String {
    let mut text = String::new();
    for file in &summary.files {
        let good = file.rejected == 0 && file.damage.is_empty();
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "{}: {}, {} records, {} rejected{}",
            one_line::of(&file.path.display().to_string()),
            file.format.map_or("unknown format", Format::name),
            grouped(file.records - file.left_out),
            grouped(file.rejected),
            if good { ", ok" } else { "" },
        );
        for (reason, count) in &file.reasons {
            let _ = writeln!(text, "  {reason}: {}", grouped(*count));
        }
        // Positions of puzzles, problems and random play break only rules of the strict level.
        let is_strict = |name: &str| Rule::ALL.into_iter().any(|rule| rule.is_strict() && rule.name() == name);
        if file.rejected > 0 && file.damage.is_empty() && file.reasons.keys().all(|reason| is_strict(reason)) {
            text.push_str("  the rejected records are playable; `--validity playable`, the level of the other commands, accepts them\n");
        }
        for damage in &file.damage {
            let _ = writeln!(text, "  {}", one_line::of(&damage.to_string()));
        }
    }
    text.push_str(if ok { "ok\n" } else { "not ok\n" });
    text
}
