//! `convert`: any input format to any output format, with no silent loss.

use super::args::{OutputArgs, ReadArgs};
use super::output::{RecordOutput, format_of};
use super::session::{Run, Session};
use anyhow::Result;
use clap::Args;
use lanefish::formats::Format;
use lanefish::jobs::Conversion;
use lanefish::numbers::counted;
use lanefish::table::{Field, Fields};
use std::collections::BTreeMap;

/// Convert any input format to any output format
#[derive(Debug, Args)]
pub(crate) struct ConvertArgs {
    /// Format of the output [default: from the name given with -o]
    #[arg(long, value_name = "FORMAT", value_parser = super::choice::FormatName::WRITTEN)]
    to: Option<Format>,

    #[command(flatten)]
    output: OutputArgs,

    #[command(flatten)]
    read: ReadArgs,
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
        let job = Conversion::new(output.encoder);
        let mut lost: BTreeMap<Field, u64> = BTreeMap::new();
        let reading = &self.read.reading;
        let done = session.read(&self.read.inputs, reading, run, &job, |part| {
            for (&field, records) in &part.lost {
                *lost.entry(field).or_default() += records;
            }
            part.pieces().try_for_each(|piece| {
                let piece = output.accept(piece)?;
                output.put(&piece)?;
                job.put_back(piece);
                Ok(())
            })
        })?;
        if done.summary.failure.is_none() {
            if let Some(last) = job.finish().transpose() {
                output.put(&output.accept(last)?)?;
            }
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
                    "{format} cannot hold these, which were omitted: {}",
                    lost.join(", ")
                ));
            }
        }
        session.conclude(done.summary)
    }
}
