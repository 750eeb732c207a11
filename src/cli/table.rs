//! Parquet and Arrow files as outputs.

use super::args::{OutputArgs, Reading};
use super::session::{RunChoice, Session};
use anyhow::{Result, bail};
use clap::{Args, ValueEnum};
use lanefish::Error;
use lanefish::columnar::{Compression, IpcKind};
use lanefish::jobs::{Table, TableFormat, TableRows};
use std::path::PathBuf;

/// The formats of tables that are not text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TableKind {
    /// Parquet
    Parquet,
    /// An Arrow file (IPC); also .feather
    Arrow,
    /// An Arrow stream (IPC)
    Arrows,
}

impl TableKind {
    /// The format for a file extension.
    pub(crate) fn of_extension(extension: &str) -> Option<Self> {
        Some(match TableFormat::of_extension(extension)? {
            TableFormat::Parquet(_) => Self::Parquet,
            TableFormat::Ipc(IpcKind::File) => Self::Arrow,
            TableFormat::Ipc(IpcKind::Stream) => Self::Arrows,
            _ => return None,
        })
    }
    /// The format itself.
    pub(crate) fn format(self, compression: Option<Compression>) -> TableFormat {
        match self {
            Self::Parquet => TableFormat::Parquet(compression.unwrap_or_default()),
            Self::Arrow => TableFormat::Ipc(IpcKind::File),
            Self::Arrows => TableFormat::Ipc(IpcKind::Stream),
        }
    }
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Parquet => "Parquet",
            Self::Arrow | Self::Arrows => "Arrow",
        }
    }
}

/// Options of table outputs.
#[derive(Debug, Args)]
pub(crate) struct TableArgs {
    /// Compression of the pages of a Parquet file: zstd, snappy or none [default: zstd:1]
    #[arg(long, value_name = "NAME[:LEVEL]")]
    compression: Option<Compression>,
}

impl TableArgs {
    /// Refuses options that only tables have.
    pub(crate) fn refuse(&self) -> Result<()> {
        match self.compression {
            None => Ok(()),
            Some(_) => bail!(
                "--compression is for Parquet files; other outputs are compressed where their names end in .zst, \
                 .gz or .bz2"
            ),
        }
    }

    /// Writes a table.
    pub(crate) fn write(
        &self,
        session: &Session<'_>,
        (inputs, reading): (&[PathBuf], &Reading),
        rows: TableRows<'_>,
        kind: TableKind,
        args: &OutputArgs,
    ) -> Result<u8> {
        let format = kind.format(self.compression);
        if kind != TableKind::Parquet {
            self.refuse()?;
        }
        session.prepare(inputs, reading)?;
        let mut output = session.open_output(args)?;
        if output.is_compressed() {
            bail!("{} files are not compressed as a whole: name the file without the last extension", kind.name());
        }
        output.refuse_terminal(kind.name())?;
        let named = output.named();
        let failed = |source| named.failed(source);
        let job = Table::new(rows, format);
        let mut file = job.begin(&mut output).map_err(failed)?;
        let done = session.read(inputs, reading, RunChoice::default(), &job, |part| {
            part.blocks()
                .try_for_each(|block| -> Result<(), Error> { file.put(block.map_err(failed)?).map_err(failed) })
        })?;
        if done.summary.failure.is_none() {
            job.finish(file).map_err(failed)?;
            session.commit(Some(output))?;
            let tags = &done.summary.lost_tags;
            if !tags.is_empty() {
                session.note(format_args!("{} cannot hold these, which were omitted: {tags}", kind.name()));
            }
        }
        session.conclude(done.summary)
    }
}
