//! What `convert`, `compute`, `games` and `generate` share: an output of any format.

use super::args::{OutputArgs, Reading};
use super::invocation::{Invocation, RunChoice};
use super::output::Output;
use anyhow::{Result, bail};
use clap::Args;
#[cfg(feature = "parquet")]
use lanefish::columnar::Compression;
use lanefish::jobs::{Content, OutputFormat, WriteJob, Written};
use lanefish::text::numbers::counted;
use std::path::{Path, PathBuf};

/// Options of table outputs.
#[derive(Debug, Default, Args)]
pub(crate) struct TableArgs {
    /// Compression of the pages of a Parquet file: zstd, snappy or none [default: zstd:1]
    #[cfg(feature = "parquet")]
    #[arg(long, value_name = "NAME[:LEVEL]")]
    compression: Option<Compression>,
}

impl TableArgs {
    /// The format with these options.
    fn apply(&self, format: OutputFormat) -> Result<OutputFormat> {
        #[cfg(feature = "parquet")]
        return match (format, self.compression) {
            (format, None) => Ok(format),
            (OutputFormat::Parquet(_), Some(compression)) => Ok(OutputFormat::Parquet(compression)),
            (_, Some(_)) => bail!(
                "--compression is for Parquet files; other outputs are compressed where their names end in .zst, \
                 .gz or .bz2"
            ),
        };
        #[cfg(not(feature = "parquet"))]
        Ok(format)
    }
}

/// The format of an output: as given, or else inferred from the file name; of rows on standard output CSV.
pub(crate) fn format_of(given: Option<OutputFormat>, args: &OutputArgs, content: Content) -> Result<OutputFormat> {
    let file = args.output.as_deref();
    match (given, file, content) {
        (Some(format), ..) => Ok(format),
        (None, Some(path), Content::Records) if path != Path::new("-") => of_path(path, content),
        (None, Some(path), Content::Rows) => of_path(path, content),
        (None, _, Content::Records) => bail!("the output has no format: name a file with -o, or pass --to FORMAT"),
        (None, None, Content::Rows) => Ok(OutputFormat::Csv),
    }
}

fn of_path(path: &Path, content: Content) -> Result<OutputFormat> {
    OutputFormat::of_path(path, content).map_err(anyhow::Error::msg)
}

/// Opens an output for this format.
pub(crate) fn open(session: &Invocation<'_>, args: &OutputArgs, format: OutputFormat) -> Result<Output> {
    let output = session.open_output(args)?;
    if format.is_table() && output.is_compressed() {
        bail!("{format} files are not compressed as a whole: name the file without the last extension");
    }
    if !format.is_text() {
        output.refuse_terminal(format)?;
    }
    Ok(output)
}

/// Reads inputs and writes what is asked for.
pub(crate) fn write(
    session: &Invocation<'_>,
    (inputs, reading): (&[PathBuf], &Reading),
    written: Written<'_>,
    (args, format, table): (&OutputArgs, OutputFormat, &TableArgs),
) -> Result<u8> {
    let format = table.apply(format)?;
    let job = WriteJob::new(written, format).map_err(anyhow::Error::msg)?;
    session.prepare(inputs, reading)?;
    let mut output = open(session, args, format)?;
    let named = output.named();
    let failed = |source| named.failed(source);
    let mut file = job.open(&mut output).map_err(failed)?;
    let done =
        session.read(inputs, reading, RunChoice::default(), &job, |part| job.put(&mut file, part).map_err(failed))?;
    if done.summary.failure.is_none() {
        let complete = job.finish(file).map_err(failed)?;
        commit(session, output, complete.start.as_deref())?;
        let lost = complete.lost.into_iter();
        let lost = lost.map(|(field, records)| format!("`{}` ({})", field.name(), counted(records, "record")));
        let tags = &done.summary.lost_tags;
        let tags = (!tags.is_empty()).then(|| tags.to_string());
        let lost: Vec<String> = lost.chain(tags).collect();
        if !lost.is_empty() {
            session.note(format_args!("{format} cannot hold these, which were omitted: {}", lost.join(", ")));
        }
    }
    session.conclude(done.summary)
}

/// Makes a complete output appear, with its final first bytes.
pub(crate) fn commit(session: &Invocation<'_>, mut output: Output, start: Option<&[u8]>) -> Result<()> {
    if let Some(start) = start {
        output.rewrite_start(start)?;
    }
    Ok(session.commit(Some(output))?)
}
