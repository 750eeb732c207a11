//! A run of the pipeline with the global options: the code that all commands that read positions share.

use super::file_identity::{Destination, Place};
use super::interrupt;
use super::output::{Output, Packing};
use crate::cli::SOMETHING_WRONG;
use crate::cli::arguments::common_args::{Global, OutputArgs, Reading, TierChoice, ValidityChoice};
use crate::cli::arguments::second_file_args::SecondFileArgs;
use crate::cli::terminal::closed_streams::stdin_is_closed;
use crate::cli::terminal::progress::Meter;
use crate::cli::terminal::stdin::{Stdin, pipe_has_bytes};
use crate::cli::terminal::step_progress::Phase;
use crate::cli::terminal::style::Style;
use anyhow::{Context, Result, bail};
use lanefish::Error;
use lanefish::chess::Validity;
use lanefish::choose::{Choose, FilterCount};
use lanefish::error::Reject;
use lanefish::formats::{self, DecodeOptions, Format};
use lanefish::input::{Access, Inputs, Source};
use lanefish::output::AtomicFile;
use lanefish::pipeline::{self, Job, ReadOptions, RunError, RunOptions, SecondFile, Summary};
use lanefish::report::html;
use lanefish::table::{Needs, Tile};
use lanefish::tiers::{Analyzer, Tier};
use lanefish_core::text::numbers::grouped;
use lanefish_core::text::one_line;
use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::fmt;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The global options, checked.
#[derive(Debug)]
pub(crate) struct Invocation<'a> {
    global: &'a Global,
    pub(crate) analyzer: &'static dyn Analyzer,
    pub(crate) threads: usize,
    pub(crate) style: Style,
    /// The file of rejected records, until the run has succeeded.
    rejects: RefCell<Option<Output>>,
    /// The inputs of the next run.
    prepared: RefCell<Option<Prepared>>,
    /// Whether the inputs have been compared with the open output.
    compared: Cell<bool>,
    /// Whether the output does not appear if the run fails.
    pub(crate) gives_up: Cell<bool>,
    /// Whether `--skip` and `--limit` are about the output, so that all inputs are read.
    pub(crate) limits_output: Cell<bool>,
    /// Whether conditions are about whole games.
    pub(crate) takes_whole_games: Cell<bool>,
    /// Whether remarks on the conditions have been printed.
    remarked: Cell<bool>,
    /// Whether records of a second file have been rejected.
    rejected_beside: Cell<bool>,
}

/// Inputs that are known to exist.
#[derive(Debug)]
struct Prepared {
    /// The names of the inputs, as given.
    names: Vec<PathBuf>,
    inputs: Inputs,
}

/// Options of a run that a command adds to the global options.
#[derive(Debug, Default)]
pub(crate) struct RunOverrides {
    pub(crate) default_validity: Validity,
    pub(crate) past_damage: bool,
    pub(crate) limit: Option<u64>,
    pub(crate) skip: Option<u64>,
}

/// What a run read, why it ended early if it did, and the time taken.
#[derive(Debug)]
pub(crate) struct Timed {
    pub(crate) summary: Summary,
    pub(crate) failure: Option<Error>,
    pub(crate) elapsed: Duration,
}

/// The summary of a run, and why it ended early.
pub(crate) fn summary_and_failure(ended: Result<Summary, RunError>) -> (Summary, Option<Error>) {
    match ended {
        Ok(summary) => (summary, None),
        Err(RunError { error, summary }) => (*summary, Some(error)),
    }
}

/// The run only reads.
pub(crate) struct Nothing;

impl Job for Nothing {
    type Part = ();
    fn needs(&self) -> Needs {
        Needs::NONE
    }
    fn begin(&self) {}
    fn tile(&self, (): &mut (), _: &Tile<'_>) {}
}

/// The requested analyzer.
pub(crate) fn analyzer_for(choice: TierChoice) -> Result<&'static dyn Analyzer> {
    let tier = match choice {
        TierChoice::Auto => Tier::best(),
        TierChoice::Only(tier) => tier,
    };
    tier.analyzer().with_context(|| {
        let available: Vec<_> = Tier::available().map(Tier::name).collect();
        format!("this CPU cannot run the tier `{tier}`; it can run {}", available.join(", "))
    })
}

impl<'a> Invocation<'a> {
    pub(crate) fn new(global: &'a Global) -> Result<Self> {
        let all_cores = || std::thread::available_parallelism().map_or(1, usize::from);
        Ok(Self {
            global,
            analyzer: analyzer_for(global.tier()?)?,
            threads: global.threads.map_or_else(all_cores, usize::from),
            style: Style::for_stdout(global.color),
            rejects: RefCell::default(),
            prepared: RefCell::default(),
            compared: Cell::default(),
            gives_up: Cell::default(),
            limits_output: Cell::default(),
            takes_whole_games: Cell::default(),
            remarked: Cell::default(),
            rejected_beside: Cell::default(),
        })
    }

    /// Finds the inputs, and reports all errors in them that can be detected before any output is opened. Without
    /// names, the input is standard input, if that is a file or a non-empty pipe.
    pub(crate) fn prepare(&self, names: &[PathBuf], reading: &Reading) -> Result<()> {
        self.prepare_for(names, reading, false)
    }

    /// Finds the inputs like [`Self::prepare`]. With `past_damage`, inputs that cannot be opened are reported only when
    /// they are read.
    fn prepare_for(&self, names: &[PathBuf], reading: &Reading, past_damage: bool) -> Result<()> {
        let notes = reading.chosen.check(self.takes_whole_games.get())?;
        if !self.remarked.replace(true) {
            notes.iter().for_each(|note| self.note(format_args!("{note}")));
        }
        let names = match names {
            [] => vec![self.standard_input()?],
            _ => names.to_vec(),
        };
        let resolve = |names: &[PathBuf]| Inputs::open_as(names, reading.from, reading.fen_column.as_deref());
        let mut inputs = Inputs::default();
        if past_damage {
            for name in &names {
                inputs.append(resolve(std::slice::from_ref(name)).unwrap_or_else(|_| Inputs::of([&**name])));
            }
        } else {
            inputs = resolve(&names)?;
        }
        let stdins = inputs.sources.iter().filter(|source| source.is_stdin()).count();
        if stdins > 1 {
            bail!("standard input can be read only once");
        }
        if stdins > 0 && stdin_is_closed() {
            bail!("standard input is closed");
        }
        // The user should not have to wait for an hour to learn that the last input has an unknown format.
        if reading.from.is_none() && !past_damage {
            let names: HashSet<&Path> = names.iter().map(PathBuf::as_path).filter(|name| name.is_file()).collect();
            let is_named = |source: &&Source| source.file().is_some_and(|path| names.contains(&**path));
            for source in inputs.sources.iter().filter(is_named) {
                let column = reading.fen_column.as_deref();
                let opened = formats::open(source, None, column, self.access(), Arc::default());
                if let Err(error @ Error::UnknownFormat { .. }) = opened {
                    return Err(error.into());
                }
            }
        }
        self.prepared.replace(Some(Prepared { names, inputs }));
        Ok(())
    }

    /// Standard input, if no input is named and it can be read.
    fn standard_input(&self) -> Result<PathBuf> {
        const HOW: &str = "name files or directories, or - for standard input, or pipe records in; \
            --help shows how";
        let note = || {
            self.note(format_args!("reading standard input, because no input is named"));
        };
        match Stdin::find() {
            Stdin::File => {}
            Stdin::Pipe if pipe_has_bytes(note) => {}
            Stdin::Pipe => bail!("no input is named, and standard input is empty: {HOW}"),
            Stdin::Other => bail!("no input: {HOW}"),
        }
        Ok(PathBuf::from("-"))
    }

    /// Opens the output of a command that has prepared its inputs: standard output if no file is named.
    pub(crate) fn open_output(&self, args: &OutputArgs) -> Result<Output> {
        let path = args.output.as_deref();
        let packing = Packing::of(path, args.level)?;
        let prepared = self.prepared.borrow();
        let inputs = prepared.as_ref().map_or(&[][..], |prepared| &prepared.names);
        self.compare(path, inputs)?;
        self.compared.set(true);
        self.open(path, packing)
    }

    /// Opens the file of a page. An earlier page of lanefish is replaced even without `--force`: a page is made again
    /// and again, and can be.
    pub(crate) fn open_page(&self, path: &Path) -> Result<Output> {
        let prepared = self.prepared.borrow();
        let inputs = prepared.as_ref().map_or(&[][..], |prepared| &prepared.names);
        self.compare(Some(path), inputs)?;
        self.compared.set(true);
        let packing = Packing::of(Some(path), None)?;
        self.open_with(Some(path), packing, self.global.force || html::is_page(path))
    }

    /// Opens the manifest of the files that a cluster writes, of inputs that have been prepared. It may replace that of an
    /// earlier run which is continued.
    #[cfg(feature = "cluster")]
    pub(crate) fn open_manifest(&self, path: &Path, continues: bool) -> Result<Output> {
        let prepared = self.prepared.borrow();
        let inputs = prepared.as_ref().map_or(&[][..], |prepared| &prepared.names);
        self.compare(Some(path), inputs)?;
        self.compared.set(true);
        let opened = self.open_with(Some(path), None, self.global.force || continues);
        match opened.as_ref().err().and_then(|error| error.downcast_ref()) {
            Some(Error::Exists { path }) => {
                bail!("{} exists; --continue keeps pieces that fit, and --force replaces them", path.display())
            }
            _ => opened,
        }
    }

    /// Opens an additional output file.
    pub(crate) fn open_beside(&self, path: &Path) -> Result<Output> {
        let prepared = self.prepared.borrow();
        let inputs = prepared.as_ref().map_or(&[][..], |prepared| &prepared.names);
        self.compare(Some(path), inputs)?;
        self.open(Some(path), None)
    }

    /// The files that will be read, once they have been prepared; a zip archive counts as one.
    pub(crate) fn input_paths(&self) -> Vec<Arc<Path>> {
        self.prepared.borrow().iter().flat_map(|prepared| files_with(&prepared.inputs)).collect()
    }

    /// Whether standard input is among the inputs, once they have been prepared.
    pub(crate) fn reads_stdin(&self) -> bool {
        self.prepared.borrow().iter().any(|prepared| prepared.inputs.sources.iter().any(Source::is_stdin))
    }

    /// Prepares a single input.
    pub(crate) fn prepare_source(&self, source: Source) {
        self.prepared.replace(Some(Prepared { names: Vec::new(), inputs: Inputs::of([source]) }));
    }

    fn open(&self, path: Option<&Path>, packing: Option<Packing>) -> Result<Output> {
        self.open_with(path, packing, self.global.force)
    }

    fn open_with(&self, path: Option<&Path>, packing: Option<Packing>, force: bool) -> Result<Output> {
        let output = Output::open(path, force, packing, self.threads)?;
        if self.verbose()
            && let Some(file) = output.file()
        {
            for left in AtomicFile::leftovers(file.path()) {
                self.note(format_args!("{}: left behind by a killed run; you can delete it", left.display()));
            }
        }
        Ok(output)
    }

    /// Refuses outputs that are also another output or an input.
    pub(crate) fn compare(&self, output: Option<&Path>, inputs: &[PathBuf]) -> Result<()> {
        let rejects = self.global.records.rejects.as_deref();
        let named = |path: Option<&Path>| match Destination::of(path) {
            Destination::Stdout => "standard output".to_owned(),
            _ => path.unwrap_or(Path::new("-")).display().to_string(),
        };
        let destination = Destination::of(output);
        if destination == Destination::Stdout {
            // Checked before an hour of work rather than after it.
            drop(super::output::stdout()?);
        }
        let output_place = Place::of_output(&destination);
        let mut outputs = vec![(output, &output_place)];
        let rejects_place;
        if rejects.is_some() {
            rejects_place = Place::of_output(&Destination::of(rejects));
            if rejects_place.is(&output_place) {
                bail!("two outputs in the same place: {} and --rejects {}", named(output), named(rejects));
            }
            outputs.push((rejects, &rejects_place));
        }
        // Errors in the inputs are reported when they are opened.
        for input in inputs.iter().flat_map(|path| files_of(path)) {
            let place = Place::of_input(&input);
            for (path, output) in &outputs {
                if place.is(output) {
                    let is_stdin = input.as_os_str() == "-";
                    let input = if is_stdin { "standard input".to_owned() } else { input.display().to_string() };
                    let output = named(*path);
                    let also = if input == output { String::new() } else { format!(": {output} is the same") };
                    bail!("{input} is an input and cannot also be an output{also}");
                }
            }
        }
        Ok(())
    }

    /// Commits the outputs of a run, and the file of rejected records with it.
    pub(crate) fn commit(&self, outputs: impl IntoIterator<Item = Output>) -> Result<(), Error> {
        let _phase = Phase::begin(self.global.progress, "writing to disk");
        Output::finish_all(outputs.into_iter().chain(self.rejects.take()))
    }

    /// Shows the name of a long step while it runs.
    pub(crate) fn phase(&self, text: &str) -> Phase {
        Phase::begin(self.global.progress, text)
    }

    /// The options as given.
    pub(crate) fn global(&self) -> &Global {
        self.global
    }

    pub(crate) fn validity(&self, default: Validity) -> Validity {
        match self.global.records.validity {
            None => default,
            Some(ValidityChoice::Playable) => Validity::Playable,
            Some(ValidityChoice::Strict) => Validity::Strict,
        }
    }

    /// Options for opening inputs.
    pub(crate) fn access(&self) -> Access {
        Access::default().map(!self.global.input.no_mmap).max_window(self.global.input.max_window)
    }

    /// Prints a note; a note is not an error.
    pub(crate) fn note(&self, text: std::fmt::Arguments<'_>) {
        if !self.global.quiet {
            // A closed standard error does not stop the run.
            let text = text.to_string();
            let _ = writeln!(std::io::stderr(), "lanefish: {}", one_line::of(&text));
        }
    }

    /// Whether `-v` was given.
    pub(crate) fn verbose(&self) -> bool {
        self.global.verbose > 0
    }

    /// Options for decoding that do not depend on the inputs.
    fn decode_options(&self, default: Validity) -> DecodeOptions {
        DecodeOptions::default()
            .validity(self.validity(default))
            .strict_pgn(self.global.input.strict_pgn)
            .max_record(self.global.input.max_record)
            .max_memory(self.global.input.max_memory)
    }

    /// Options for reading whole inputs: without `--shard`, `--skip` and `--limit`.
    ///
    /// # Errors
    /// If an expression is wrong.
    pub(crate) fn read_options(&self, reading: &Reading, default: Validity) -> Result<ReadOptions> {
        let decode = self
            .decode_options(default)
            .keep_en_passant(reading.keep_en_passant)
            .fen_column(reading.fen_column.as_deref().map(Arc::from))
            .moves_column(reading.moves_column.as_deref().map(Arc::from))
            .start_column(reading.start_column.as_deref().map(Arc::from));
        let read = ReadOptions::default().from(reading.from).access(self.access()).decode(decode);
        let choose = Choose::default().games(reading.games.filter()).seed(reading.games.seed());
        Ok(read.strict(self.global.records.strict).choose(reading.chosen.apply(choose, self.takes_whole_games.get())?))
    }

    /// The file of rejected records, if one is requested. Consecutive runs write to the same file.
    pub(crate) fn open_rejects(&self) -> Result<Option<Output>> {
        Ok(match (self.rejects.take(), &self.global.records.rejects) {
            (None, Some(path)) => Some(self.open(Some(path), Packing::of(Some(path), None)?)?),
            (open, _) => open,
        })
    }

    /// Keeps the file of rejected records, for the next run or until it is committed.
    pub(crate) fn keep_rejects(&self, rejects: Option<Output>) {
        self.rejects.replace(rejects);
    }

    /// The inputs of the next run.
    pub(crate) fn take_inputs(&self, inputs: &[PathBuf], reading: &Reading, past_damage: bool) -> Result<Inputs> {
        if self.prepared.borrow().is_none() {
            self.prepare_for(inputs, reading, past_damage)?;
        }
        let Some(Prepared { names, inputs }) = self.prepared.take() else {
            bail!("no inputs");
        };
        if !self.compared.get() {
            self.compare(None, &names)?;
        }
        for path in &inputs.skipped {
            if self.verbose() {
                self.note(format_args!("{}: not a supported format, skipped", path.display()));
            }
        }
        Ok(inputs)
    }

    /// Whether the inputs can be read again from the start, which is prepared if so.
    pub(crate) fn can_read_again(&self, inputs: &[PathBuf], reading: &Reading) -> Result<bool> {
        if inputs.is_empty() {
            return Ok(false);
        }
        self.prepare_again(inputs, reading)?;
        let prepared = self.prepared.borrow();
        Ok(prepared.iter().flat_map(|prepared| &prepared.inputs.sources).all(|source| source.len().is_some()))
    }

    /// Prepares to read the inputs again, as if they had not been read: rejected records are reported once.
    pub(crate) fn prepare_again(&self, inputs: &[PathBuf], reading: &Reading) -> Result<()> {
        self.keep_rejects(None);
        self.prepare(inputs, reading)
    }

    /// Reads the file of `--zip`, if one is given, and makes its columns known to all expressions. `names` are those
    /// of the columns that are needed in addition to the ones in expressions, and `output` is what will be written.
    pub(crate) fn read_second(
        &self,
        second: &SecondFileArgs,
        (inputs, reading): (&[PathBuf], &Reading),
        mut names: Vec<String>,
        output: Option<&Path>,
    ) -> Result<()> {
        let Some(path) = second.zip.as_deref() else { return Ok(()) };
        if reading.chosen.second().is_some() {
            return Ok(());
        }
        if self.global.input.shard.is_some() {
            bail!(
                "--zip and --shard: a shard numbers only its own records, so nothing tells which ones are beside them"
            );
        }
        if reading.games.filter().is_some() || reading.chosen.chooses_by_positions() {
            bail!(
                "--zip: options for games leave out records before they have numbers, so nothing tells which ones are \
                 beside the others; --where chooses records"
            );
        }
        let is_stdin = path == Path::new("-");
        if is_stdin && (inputs.is_empty() || inputs.iter().any(|input| input == path)) {
            bail!("standard input can be read only once: --zip and the inputs need different files");
        }
        if is_stdin && stdin_is_closed() {
            bail!("standard input is closed");
        }
        // A misspelled input should not be found only after the second file has been read.
        if !inputs.is_empty() {
            drop(Inputs::open_as(inputs, reading.from, reading.fen_column.as_deref())?);
        }
        let path = path.to_owned();
        self.compare(output, std::slice::from_ref(&path))?;
        for name in reading.chosen.names_beside() {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let file = Inputs::open_as(&[path], None, None)?;
        let mut rejects = self.open_rejects()?;
        let mut on_reject = |reject: &Reject| -> Result<(), Error> {
            let Some(output) = &mut rejects else { return Ok(()) };
            let mut line = Vec::new();
            reject.write_line(&mut line);
            output.put(&line)
        };
        let mut meter = Meter::new(self.global.progress, file.total_bytes());
        let mut on_progress = |progress| meter.show(progress);
        let decode = self.decode_options(Validity::default()).keep_en_passant(reading.keep_en_passant);
        let read = ReadOptions::default().access(self.access()).decode(decode).strict(self.global.records.strict);
        let options = RunOptions::new(self.analyzer)
            .read(read)
            .threads(self.threads)
            .space(reading.space.beside(output))
            .on_reject(Some(&mut on_reject))
            .on_progress(Some(&mut on_progress))
            .interrupt(Some(interrupt::flag()));
        let done = SecondFile::read(&file, options, &names);
        meter.finish();
        let (second, summary) = done.map_err(Error::from)?;
        self.keep_rejects(rejects);
        if summary.rejected > 0 {
            self.note(format_args!("of the file of --zip, whose values are then missing:"));
            self.rejected_beside.set(true);
        }
        self.report(&summary, None);
        reading.chosen.set_second(second);
        Ok(())
    }

    /// Reads the inputs with the global options.
    pub(crate) fn read<J: Job>(
        &self,
        inputs: &[PathBuf],
        reading: &Reading,
        choice: RunOverrides,
        job: &J,
        sink: impl FnMut(J::Part) -> Result<(), Error>,
    ) -> Result<Timed> {
        self.read_by(inputs, reading, choice, |inputs, options| pipeline::run(inputs, options, job, sink))
    }

    /// Lets a function read the inputs with the global options.
    pub(crate) fn read_by(
        &self,
        inputs: &[PathBuf],
        reading: &Reading,
        choice: RunOverrides,
        work: impl FnOnce(&Inputs, RunOptions<'_>) -> Result<Summary, RunError>,
    ) -> Result<Timed> {
        let begin = Instant::now();
        let inputs = self.take_inputs(inputs, reading, choice.past_damage)?;
        let mut rejects = self.open_rejects()?;
        let mut on_reject = |reject: &Reject| -> Result<(), Error> {
            let Some(output) = &mut rejects else {
                return Ok(());
            };
            let mut line = Vec::new();
            reject.write_line(&mut line);
            output.put(&line)
        };
        // This is an estimate: some inputs are read from start to end in every shard.
        let shards = self.global.input.shard.map_or(1, |shard| shard.count().into());
        let total = inputs.total_bytes().map(|total| total / shards);
        let mut meter = Meter::new(self.global.progress, total);
        let mut on_progress = |progress| meter.show(progress);
        let read = self
            .read_options(reading, choice.default_validity)?
            .shard(self.global.input.shard)
            .skip(self.global.input.skip.saturating_add(choice.skip.unwrap_or(0)))
            .limit(self.global.input.limit.or(choice.limit));
        let options = RunOptions::new(self.analyzer)
            .read(read)
            .threads(self.threads)
            .past_damage(choice.past_damage)
            .space(reading.space.beside(None))
            .beside(reading.chosen.second().cloned())
            .on_reject(Some(&mut on_reject))
            .on_progress(Some(&mut on_progress))
            .interrupt(Some(interrupt::flag()));
        let (summary, failure) = summary_and_failure(work(&inputs, options));
        meter.finish();
        if failure.is_none() {
            self.keep_rejects(rejects);
        }
        Ok(Timed { summary, failure, elapsed: begin.elapsed() })
    }

    /// Reports rejected and left-out records, and returns the exit status or the error that ended the run. If there was
    /// no error, the file of rejected records is committed.
    pub(crate) fn conclude(&self, done: Timed) -> Result<u8> {
        self.report(&done.summary, done.failure.as_ref());
        if done.failure.is_none() {
            self.commit(None)?;
        }
        self.outcome(&done.summary, done.failure)
    }

    /// The exit status, or the error that ended the run.
    pub(crate) fn outcome(&self, summary: &Summary, failure: Option<Error>) -> Result<u8> {
        match failure {
            Some(error) if error.is_of_input() && summary.records > 0 => {
                let records = grouped(summary.records);
                let goes_on = summary.files.iter().any(|file| !file.damage.is_empty());
                let has_limits = self.limits_output.get()
                    || self.global.input.limit.is_some()
                    || self.global.input.skip > 0
                    || self.global.input.shard.is_some();
                let is_all = matches!(error, Error::NoRecord { .. });
                let note = if is_all && self.gives_up.get() {
                    format!("nothing was written, although {records} records could be read")
                } else if is_all {
                    format!("the {records} records of the other inputs were processed")
                } else if goes_on {
                    format!("{records} records could be read")
                } else if !self.gives_up.get() {
                    format!("the {records} records before that place were processed")
                } else if has_limits || !summary.left_out.is_empty() {
                    format!("nothing was written, although {records} records before that place could be read")
                } else {
                    format!("nothing was written; --limit {} takes the records before that place", summary.records)
                };
                Err(ErrorWithNote { error, note: Some(note).filter(|_| !self.global.quiet) }.into())
            }
            Some(error) => Err(error.into()),
            None if summary.rejected > 0 || self.rejected_beside.get() => Ok(SOMETHING_WRONG),
            None => Ok(0),
        }
    }

    /// Reports rejected and left-out records.
    pub(crate) fn report(&self, summary: &Summary, failure: Option<&Error>) {
        let rejected = summary.rejected;
        // With --strict the error is the record. The number of others found by then depends on timing.
        if rejected > 0 && !matches!(failure, Some(Error::Strict(_))) {
            let records = grouped(summary.records);
            self.note(format_args!("{} of {records} records rejected:", grouped(rejected)));
            for reject in &summary.first_rejects {
                self.note(format_args!("  {reject}"));
            }
            let more = rejected.saturating_sub(summary.first_rejects.len() as u64);
            if more > 0 {
                self.note(format_args!("  and {} more", grouped(more)));
            }
            let of = |format: Format| summary.first_rejects.iter().find_map(|reject| format.hint(&reject.raw));
            if let Some(hint) = summary.files.iter().filter_map(|file| file.format).find_map(of) {
                self.note(format_args!("{hint}"));
            }
        }
        for note in summary.notes(self.verbose()) {
            self.note(format_args!("{note}"));
        }
        if matches!(failure, Some(Error::Selection { .. } | Error::Lacks { .. })) {
            return;
        }
        let mut left_out: Vec<_> = summary.left_out.iter().collect();
        // Where whole games are taken, the condition comes after the other options for games, of which `variant` is the
        // last.
        let is_of_games = |option: &str| option == "where" && self.takes_whole_games.get();
        left_out.sort_by_key(|(option, _)| FilterCount::place(if is_of_games(option) { "variant" } else { option }));
        for (option, left_out) in left_out {
            self.note(format_args!("{}", left_out.sentence(option)));
        }
    }
}

/// An error of an input, and a note that is printed after it.
#[derive(Debug)]
pub(crate) struct ErrorWithNote {
    error: Error,
    pub(crate) note: Option<String>,
}

impl fmt::Display for ErrorWithNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl std::error::Error for ErrorWithNote {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.error.source()
    }
}

/// The files that contain the inputs. A zip archive counts as one, although its files are several inputs.
pub(crate) fn files_with(inputs: &Inputs) -> Vec<Arc<Path>> {
    let is_same =
        |one: &Source, other: &Source| one.is_member() && other.is_member() && one.container() == other.container();
    let archives = inputs.sources.chunk_by(is_same);
    archives.filter_map(|sources| sources.first()?.container().cloned()).collect()
}

/// A file itself, or the entries of a directory.
fn files_of(path: &Path) -> Vec<PathBuf> {
    match fs::read_dir(path) {
        Ok(entries) => entries.filter_map(|entry| Some(entry.ok()?.path())).collect(),
        Err(_) => vec![path.to_owned()],
    }
}
