//! `convert`: any input format to any output format, losing nothing silently.

use super::args::{OutputArgs, ReadArgs};
use super::numbers::counted;
use super::output::{Encoded, RecordOutput, format_of};
use super::session::{Run, Session};
use anyhow::Result;
use clap::Args;
use lanefish::batch::{Field, Fields};
use lanefish::formats::Format;
use lanefish::pipeline::{Job, Tile};
use lanefish::tiers::Wanted;
use std::collections::BTreeMap;

/// Convert any input format to any output format
#[derive(Debug, Args)]
pub(crate) struct ConvertArgs {
    /// Format of the output [default: from the name given with -o]
    #[arg(long, value_name = "FORMAT", value_parser = super::choice::WrittenFormat)]
    to: Option<Format>,

    #[command(flatten)]
    output: OutputArgs,

    #[command(flatten)]
    read: ReadArgs,
}

/// Encodes records and counts what the output has no place for.
struct Encode {
    format: Format,
}

impl Job for Encode {
    type Output = (Encoded, BTreeMap<Field, u64>);
    fn wanted(&self) -> Wanted {
        Wanted::NOTHING
    }
    fn begin(&self) -> Self::Output {
        (Encoded::new(self.format), BTreeMap::new())
    }
    fn tile(&self, (encoded, lost): &mut Self::Output, tile: Tile<'_>) {
        encoded.add(tile.batch, tile.rows());
        for (&field, values) in &tile.batch.fields {
            if !RecordOutput::holds(self.format, field) {
                let present = tile
                    .rows()
                    .filter(|&row| values.number(row).is_some() || values.text(row).is_some())
                    .count();
                *lost.entry(field).or_default() += present as u64;
            }
        }
    }
}

impl ConvertArgs {
    pub(crate) fn run(&self, session: &Session<'_>) -> Result<u8> {
        let format = format_of(self.to, &self.output, None)?;
        session.prepare(&self.read.inputs, &self.read.reading)?;
        let output = session.open_output(&self.output)?;
        let mut output = RecordOutput::new(format, output)?;
        let run = Run {
            fields: Fields::ALL,
            ..Run::default()
        };
        let job = Encode { format };
        let mut lost: BTreeMap<Field, u64> = BTreeMap::new();
        let reading = &self.read.reading;
        let done = session.read(&self.read.inputs, reading, run, &job, |(encoded, some)| {
            for (field, records) in some {
                *lost.entry(field).or_default() += records;
            }
            output.put(&encoded)
        })?;
        if done.summary.failure.is_none() {
            session.commit(Some(output.finish()?))?;
            let lost: Vec<String> = lost
                .into_iter()
                .filter(|&(_, records)| records > 0)
                .map(|(field, records)| {
                    format!("`{}` ({})", field.name(), counted(records, "record"))
                })
                .collect();
            if !lost.is_empty() {
                session.note(format_args!(
                    "{format} cannot hold these, which were left out: {}",
                    lost.join(", ")
                ));
            }
        }
        session.conclude(done.summary)
    }
}
