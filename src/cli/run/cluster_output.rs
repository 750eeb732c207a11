//! Outputs that a cluster writes: a file for each piece of the inputs, and one manifest of all of them.

use super::format_output::{OutputRequest, report_losses};
use super::invocation::{Invocation, Timed};
use super::output::Packing;
use super::output_directories::MadeDirectories;
use crate::cli::arguments::command_scope::OUTPUT;
use crate::cli::arguments::common_args::{OutputArgs, Reading};
use crate::cli::arguments::second_file_args::SecondFileArgs;
use crate::cli::cluster::{self, TlsArgs, connect};
use anyhow::{Context, Result, bail};
use clap::Args;
use lanefish::Error;
use lanefish::chess::Validity;
use lanefish::choose::Sample;
use lanefish::input::Source;
use lanefish::jobs::{OutputContent, WriteJob};
use lanefish::output::MANIFEST_SUFFIX;
use lanefish::pipeline::ReadOptions;
use lanefish::sql::cluster::{ExistingPiece, PieceContent, Writing};
use lanefish::sql::{Session, SessionOptions};
use lanefish_core::text::numbers::counted;
use std::io::{self, IsTerminal};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Options of a command whose output a cluster can write.
#[derive(Debug, Args)]
pub(crate) struct ClusterOutputArgs {
    /// Let the cluster with this scheduler write a file for each piece of the inputs, whose number is {n} in the name given with
    /// -o
    ///
    /// The machines of the cluster must be able to read the inputs under the same names, and write below the directory that
    /// their executors were started with. Records and games are numbered within a piece, as with a shard. Each file has a
    /// manifest beside it, and NAME.manifest.json, where NAME is the name given with -o, describes all of them.
    #[arg(long, value_name = "HOST:PORT", requires = "output", help_heading = OUTPUT, hide_short_help = true)]
    cluster: Option<String>,

    /// With a cluster, keep the files that an earlier run wrote of the same inputs with the same options, and write the rest
    #[arg(
        long = "continue",
        requires = "cluster",
        conflicts_with = "force",
        help_heading = OUTPUT,
        hide_short_help = true
    )]
    keep: bool,

    /// Number of files that a cluster writes, about [default: 16, or more, so that each is made of at most 128 MB]
    #[arg(long, value_name = "N", requires = "cluster", help_heading = OUTPUT, hide_short_help = true)]
    pieces: Option<NonZeroUsize>,

    #[command(flatten)]
    tls: TlsArgs,
}

impl ClusterOutputArgs {
    /// Checks, before anything is read, that a cluster that writes the output needs no second file.
    pub(crate) fn check(&self, second: &SecondFileArgs) -> Result<()> {
        if self.is_given() && second.zip.is_some() {
            bail!("--zip and --cluster: the machines of a cluster do not have the second file");
        }
        Ok(())
    }

    /// Whether a cluster writes the output.
    pub(crate) fn is_given(&self) -> bool {
        self.cluster.is_some() || self.tls.is_given()
    }

    /// Lets the cluster write the output.
    pub(crate) fn write(
        &self,
        invocation: &Invocation<'_>,
        read: (&[PathBuf], &Reading),
        (written, content): (OutputContent<'_>, PieceContent),
        request: OutputRequest<'_>,
    ) -> Result<u8> {
        let OutputRequest { place, format, more, allow_loss, table, division } = request;
        let name = name_of(place)?;
        if division.has_files() {
            bail!(
                "--cluster writes a file for each piece of the inputs, so --rows-per-file and --partition-by do not apply"
            );
        }
        if table.is_some() {
            bail!("a table for people is not written to several files; --format csv has everything");
        }
        let format = more.apply(format)?;
        if Packing::of(Some(&name), place.level)?.is_some() && format.is_table() {
            bail!("{format} files are not compressed as a whole: name the files without the last extension");
        }
        WriteJob::new(written, format)?.allow_loss(allow_loss).divided(division.clone())?;
        let writing = Writing::new(name, content, Some(format))
            .level(place.level)
            .rows_per_group(division.rows_per_group)
            .allow_loss(allow_loss);
        self.run(invocation, read, writing, |_| {})
    }

    /// Lets the cluster write parts of a tree.
    pub(crate) fn write_tree(
        &self,
        invocation: &Invocation<'_>,
        read: (&[PathBuf], &Reading),
        place: &OutputArgs,
        content: PieceContent,
        change: impl FnOnce(&mut ReadOptions),
    ) -> Result<u8> {
        let name = name_of(place)?;
        Packing::of(Some(&name), place.level)?;
        self.run(invocation, read, Writing::new(name, content, None).level(place.level), change)
    }

    /// Lets the cluster read the inputs, by options that may be changed, and write the files.
    fn run(
        &self,
        invocation: &Invocation<'_>,
        (inputs, reading): (&[PathBuf], &Reading),
        writing: Writing,
        change: impl FnOnce(&mut ReadOptions),
    ) -> Result<u8> {
        let begin = Instant::now();
        let global = invocation.global();
        if global.input.shard.is_some() || global.input.skip > 0 || global.input.limit.is_some() {
            bail!("--cluster reads whole inputs: --shard, --skip and --limit work in a single process only");
        }
        invocation.prepare(inputs, reading)?;
        let (name, format) = (writing.name.clone(), writing.format);
        // It may be long before the executors make their first one.
        let mut directories = MadeDirectories::default();
        let directory = name.parent().unwrap_or(Path::new("/"));
        directories.make(directory).map_err(|source| Error::Write { path: directory.to_owned(), source })?;
        let mut manifest = name.clone().into_os_string();
        manifest.push(MANIFEST_SUFFIX);
        let mut manifest = invocation.open_manifest(Path::new(&manifest), self.keep)?;
        let inputs = invocation.take_inputs(inputs, reading, false)?;
        if inputs.sources.iter().any(Source::is_stdin) {
            bail!("--cluster: the machines of a cluster cannot read standard input; name files");
        }
        let mut read = invocation.read_options(reading, Validity::default())?;
        change(&mut read);
        if matches!(read.choose.sample, Some(Sample::Count(_))) {
            bail!(
                "--sample: a cluster writes a share of each piece, such as --sample 0.01, but not a number of records"
            );
        }
        let Some(cluster) = connect(invocation, self.cluster.as_deref(), &self.tls)? else {
            bail!("no cluster is given");
        };
        let mut rejects = invocation.open_rejects()?;
        let options = SessionOptions::new(invocation.analyzer).read(read);
        let sql = Session::on_cluster(options.clone(), cluster)?;
        let existing = match (self.keep, global.force) {
            (true, _) => ExistingPiece::Keep,
            (false, true) => ExistingPiece::Replace,
            (false, false) => ExistingPiece::Refuse,
        };
        let writing = writing
            .existing(existing)
            .rejects(rejects.is_some())
            .pieces(self.pieces.map(NonZeroUsize::get))
            .command(std::env::args_os().map(|argument| argument.to_string_lossy().into_owned()).collect());
        let (rows, mut written) = sql.write(inputs, &options, writing)?;
        cluster::read_rows(invocation, &sql, rows, |batch| {
            written.add(batch, |lines| rejects.as_mut().map_or(Ok(()), |rejects| Ok(rejects.put(lines)?)))
        })?;
        let done = written.finish()?;
        let mut text = serde_json::to_vec_pretty(&done.manifest)?;
        text.push(b'\n');
        manifest.put(&text)?;
        invocation.keep_rejects(rejects);
        invocation.commit([manifest])?;
        if done.kept > 0 || invocation.verbose() || io::stderr().is_terminal() {
            let (files, records) = (counted(done.files as u64, "file"), counted(done.output.records, "record"));
            let kept = match done.kept {
                0 => String::new(),
                kept => format!("; {kept} of them kept from an earlier run"),
            };
            invocation.note(format_args!("wrote {}: {files}, {records}{kept}", name.display()));
        }
        if let Some(format) = format {
            report_losses(invocation, format, &done.output, &done.summary.lost_tags);
        }
        invocation.conclude(Timed { summary: done.summary, failure: None, elapsed: begin.elapsed() })
    }
}

/// The name of the files, whatever the current directory is.
fn name_of(place: &OutputArgs) -> Result<PathBuf> {
    let Some(name) = place.output.as_deref().filter(|name| Writing::has_number(name)) else {
        bail!("--cluster writes several files: the name given with -o needs {{n}}, which stands for their number");
    };
    let name = std::path::absolute(name).with_context(|| format!("cannot write {}", name.display()))?;
    if name.to_str().is_none() {
        bail!("the name {} is not UTF-8, so it cannot be sent to a cluster", name.display());
    }
    Ok(name)
}
