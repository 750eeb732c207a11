//! `convert`: any input format to any output format, with no silent loss.

use super::args::{OutputArgs, ReadArgs};
use super::output::{RecordOutput, Target};
use super::session::{RunChoice, Session};
use anyhow::Result;
#[cfg(feature = "parquet")]
use anyhow::bail;
use clap::Args;
use lanefish::jobs::Conversion;
#[cfg(feature = "parquet")]
use lanefish::jobs::TableRows;
use lanefish::table::Field;
use lanefish::text::numbers::counted;
use std::collections::BTreeMap;

/// Convert any input format to any output format
#[derive(Debug, Args)]
pub(crate) struct ConvertArgs {
    /// Format of the output [default: from the name given with -o]
    #[arg(long, value_name = "FORMAT", value_parser = super::choice::TargetName)]
    to: Option<Target>,

    /// Also write a column `fen` to a Parquet or Arrow file
    #[cfg(feature = "parquet")]
    #[arg(long)]
    fen: bool,

    #[command(flatten)]
    output: OutputArgs,

    #[cfg(feature = "parquet")]
    #[command(flatten)]
    table: super::table::TableArgs,

    #[command(flatten)]
    read: ReadArgs,
}

impl ConvertArgs {
    pub(crate) fn run(&self, session: &Session<'_>) -> Result<u8> {
        let format = match Target::of(self.to, &self.output)? {
            Target::Records(format) => format,
            #[cfg(feature = "parquet")]
            Target::Table(kind) => {
                let inputs = (&self.read.inputs[..], &self.read.reading);
                let rows = TableRows::Records { fen: self.fen };
                let table = &self.table;
                return table.write(session, inputs, rows, kind, &self.output);
            }
        };
        #[cfg(feature = "parquet")]
        {
            self.table.refuse()?;
            if self.fen {
                bail!("--fen is for Parquet and Arrow files");
            }
        }
        session.prepare(&self.read.inputs, &self.read.reading)?;
        let output = session.open_output(&self.output)?;
        let mut output = RecordOutput::new(format, output)?;
        let job = Conversion::new(output.encoder);
        let mut lost: BTreeMap<Field, u64> = BTreeMap::new();
        let reading = &self.read.reading;
        let done = session.read(&self.read.inputs, reading, RunChoice::default(), &job, |part| {
            for (&field, records) in &part.lost {
                *lost.entry(field).or_default() += records;
            }
            part.pieces().try_for_each(|piece| {
                let piece = output.accept(piece)?;
                output.put(&piece)?;
                job.reuse(piece);
                Ok(())
            })
        })?;
        if done.summary.failure.is_none() {
            if let Some(last) = job.finish().transpose() {
                output.put(&output.accept(last)?)?;
            }
            session.commit(Some(output.finish()?))?;
            let tags = &done.summary.lost_tags;
            let tags = (!tags.is_empty()).then(|| tags.to_string());
            let lost: Vec<String> = lost
                .into_iter()
                .filter(|&(_, records)| records > 0)
                .map(|(field, records)| format!("`{}` ({})", field.name(), counted(records, "record")))
                .chain(tags)
                .collect();
            if !lost.is_empty() {
                session.note(format_args!("{format} cannot hold these, which were omitted: {}", lost.join(", ")));
            }
        }
        session.conclude(done.summary)
    }
}
