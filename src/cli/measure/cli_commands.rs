//! The rows of whole commands: from files to results, by as many threads as are asked for.
//!
//! | row | timed work |
//! | --- | --- |
//! | `stats-boards`, `stats-pgn`, `stats-fen` | statistics of a file |
//! | `compute-default`, `compute-numbers`, `compute-all` | columns of a boards file as CSV: the default ones, four numbers, all |
//! | `convert-pgn-to-boards`, `convert-boards-to-boards`, … | a file in another format, or again in the same |
//!
//! The files are generated: the same positions as FEN and as boards, and games of random play with tags and clocks, as
//! Lichess writes them. They are temporary files, so that reading is timed too. What commands write is passed on but
//! not stored, since a disk would be timed instead.

use super::generated::{RandomGames, batch_of, boards_found, boards_of, chunk, fen_lines};
use super::positions::{digest, follow_up, groups_of};
use super::{BenchOptions, Candidate, Comparison, Row, Subject};
use lanefish::Error;
use lanefish::chess::Position;
use lanefish::formats::boards::BoardsWriter;
use lanefish::formats::{DecodeOptions, Format};
use lanefish::input::Inputs;
use lanefish::jobs::{OutputContent, OutputFormat, Statistics, WriteJob};
use lanefish::output::AtomicFile;
use lanefish::output::SquareSetStyle;
use lanefish::packed::Packed;
use lanefish::pipeline::{Job, ReadOptions, RunOptions, run};
use lanefish::sliders::Kind;
use lanefish::table::{Columns, Fields};
use lanefish::tiers::Analyzer;
use std::io::{self, Write};
use std::path::Path;
use std::slice;

/// Positions that are repeated until a file has its size.
const POSITIONS: usize = 1 << 14;
/// Numbers that the lanes have at hand.
const NUMBERS: &str = "legal_moves,legal_captures,pieces,phase";

/// Verifies and times all rows, and passes them to `show`. Uses the first 16,384 positions; if there are fewer, each is
/// followed by random moves.
///
/// # Errors
/// [`Error::Threads`] if threads cannot be started; [`Error::Write`] if the files cannot be written.
pub(in crate::cli) fn measure_commands(
    options: &BenchOptions,
    positions: &[Position],
    analyzer: &'static dyn Analyzer,
    show: &mut dyn FnMut(Row),
) -> Result<(), Error> {
    let row = |name, bytes_per_position| Row {
        group: "commands",
        name,
        kind: Kind::Portable,
        needs: analyzer.features(),
        subject: Subject::Command { bytes_per_position },
        measured: None,
    };
    if !NAMES.iter().any(|name| row(name, 0.0).is_requested(options)) {
        return Ok(());
    }
    let files = Files::generate(positions, Sizes { boards: options.size, fen: options.size, pgn: options.size })?;
    let runner = Runner { analyzer, threads: options.threads.max(1) };
    // The threads are those of a command; several commands at the same time would be something else.
    let alone = BenchOptions { threads: 1, ..options.clone() };
    let works = works(&files, runner);
    let mut comparison = Comparison::new(&alone);
    for work in &works {
        comparison.add(row(work.name, work.bytes_per_position()), || Some(work.candidate()));
    }
    comparison.finish(show)
}

/// The names of the rows, in their order.
pub(in crate::cli) const NAMES: [&str; 10] = [
    "stats-boards",
    "stats-pgn",
    "stats-fen",
    "compute-default",
    "compute-numbers",
    "compute-all",
    "convert-pgn-to-boards",
    "convert-boards-to-boards",
    "convert-boards-to-fen",
    "convert-fen-to-boards",
];

/// A command: writes its results.
type Run<'a> = Box<dyn Fn(&mut dyn Write) -> Result<(), Error> + Sync + 'a>;
/// Whether a command's output is right.
type Check<'a> = Box<dyn Fn(&[u8]) -> bool + 'a>;

/// A command on a file.
pub(super) struct Work<'a> {
    pub(super) name: &'static str,
    file: &'a File,
    run: Run<'a>,
    check: Check<'a>,
}

impl Work<'_> {
    /// Number of records of the file.
    pub(super) fn records(&self) -> usize {
        self.file.records()
    }

    /// Mean size of a record in the file.
    pub(super) fn bytes_per_position(&self) -> f64 {
        self.file.len as f64 / self.file.records() as f64
    }

    /// Runs the command once to verify it.
    pub(super) fn candidate(&self) -> Candidate<'_> {
        let mut output = Vec::new();
        let verified = (self.run)(&mut output).is_ok() && (self.check)(&output);
        let checksum = digest(output.iter().map(|&byte| byte.into()));
        let pass = |runs: &[Run<'_>]| {
            for run in runs {
                // Whether it succeeds has been seen before.
                let _ = run(&mut io::sink());
            }
            0
        };
        Candidate::passes(slice::from_ref(&self.run), self.records(), verified, checksum, pass)
    }
}

/// All commands, in the order of [`NAMES`].
pub(super) fn works<'a>(files: &'a Files, runner: Runner) -> Vec<Work<'a>> {
    let Files { boards, fen, pgn } = files;
    let stats = |file: &'a File| -> (&File, Run<'_>, Check<'_>) {
        let expected = totals(file.records() as u64, file.legal_moves());
        (file, Box::new(move |out| runner.stats(file, out)), Box::new(move |output| output == expected.as_bytes()))
    };
    let compute = |names: &str| -> (&File, Run<'_>, Check<'_>) {
        let columns = Columns::named(names).expect("there are such columns");
        (
            boards,
            Box::new(move |out| runner.compute(boards, &columns, out)),
            Box::new(|output| legal_moves_in(output) == Some(boards.legal_moves())),
        )
    };
    let convert = |file: &'a File, to: Format, check| -> (&File, Run<'_>, Check<'_>) {
        let run = move |out: &mut dyn Write| runner.convert(file, to, out);
        (file, Box::new(run), check)
    };
    // As many copies of the same lines.
    let same_text = |output: &[u8]| {
        let lines = std::fs::read(fen.path()).unwrap_or_default();
        let one = &lines[..lines.len() / fen.copies];
        output == one.repeat(boards.copies)
    };
    let same_boards = |file: &'a File| -> Check<'_> { Box::new(|output| boards_in(output) == file.all_boards()) };
    let works = [
        stats(boards),
        stats(pgn),
        stats(fen),
        compute(Columns::DEFAULT),
        compute(NUMBERS),
        compute("all"),
        convert(pgn, Format::BOARDS, same_boards(pgn)),
        convert(boards, Format::BOARDS, same_boards(boards)),
        convert(boards, Format::FEN, Box::new(same_text)),
        convert(fen, Format::BOARDS, same_boards(fen)),
    ];
    let works = NAMES.into_iter().zip(works);
    works.map(|(name, (file, run, check))| Work { name, file, run, check }).collect()
}

/// Options for running commands.
#[derive(Clone, Copy)]
pub(super) struct Runner {
    pub(super) analyzer: &'static dyn Analyzer,
    pub(super) threads: usize,
}

impl Runner {
    /// All records of a file, which are good.
    fn all<J: Job>(self, file: &File, job: &J, sink: impl FnMut(J::Part) -> Result<(), Error>) -> Result<(), Error> {
        let inputs = Inputs::of([file.path()]);
        let read = ReadOptions::default().from(Some(file.format)).strict(true);
        let options = RunOptions::new(self.analyzer).threads(self.threads).read(read);
        Ok(run(&inputs, options, job, sink).map(drop)?)
    }

    /// Numbers of positions and legal moves.
    fn stats(self, file: &File, out: &mut dyn Write) -> Result<(), Error> {
        let job = Statistics::new();
        self.all(file, &job, |part| job.add(part))?;
        let report = job.finish(0, false)?;
        let totals = totals(report.positions, report.moves());
        out.write_all(totals.as_bytes()).map_err(unwritten)
    }

    /// Columns as CSV.
    fn compute(self, file: &File, columns: &Columns, out: &mut dyn Write) -> Result<(), Error> {
        self.write(file, OutputContent::Columns(columns, SquareSetStyle::Hex), OutputFormat::Csv, out)
    }

    /// The same records in another format.
    fn convert(self, file: &File, to: Format, out: &mut dyn Write) -> Result<(), Error> {
        self.write(file, OutputContent::Records { fen: false }, OutputFormat::Records(to), out)
    }

    fn write(
        self,
        file: &File,
        written: OutputContent<'_>,
        to: OutputFormat,
        out: &mut dyn Write,
    ) -> Result<(), Error> {
        let job = WriteJob::new(written, to).map_err(|error| unwritten(io::Error::other(error)))?;
        let mut output = job.open(out).map_err(unwritten)?;
        self.all(file, &job, |part| job.put(&mut output, part).map_err(unwritten))?;
        job.finish(output).map_err(unwritten)?;
        Ok(())
    }
}

fn unwritten(source: io::Error) -> Error {
    Error::Stdout { source }
}

fn totals(positions: u64, legal_moves: u64) -> String {
    format!("{positions} positions, {legal_moves} legal moves")
}

/// The sum of the column of that name in CSV without quotes.
fn legal_moves_in(csv: &[u8]) -> Option<u64> {
    let mut lines = std::str::from_utf8(csv).ok()?.lines();
    let column = lines.next()?.split(',').position(|name| name == "legal_moves")?;
    lines.map(|line| line.split(',').nth(column)?.parse::<u64>().ok()).sum()
}

/// The boards of a boards file.
fn boards_in(bytes: &[u8]) -> Vec<Packed> {
    let options = DecodeOptions::default();
    boards_found(&Format::BOARDS.decode(&chunk(bytes.to_vec()), &options))
}

/// About how many bytes the files have.
#[derive(Clone, Copy)]
pub(super) struct Sizes {
    pub(super) boards: usize,
    pub(super) fen: usize,
    pub(super) pgn: usize,
}

/// The generated files.
pub(super) struct Files {
    boards: File,
    fen: File,
    pgn: File,
}

/// A generated file: the same bytes several times.
struct File {
    format: Format,
    /// Removed at the end in any case.
    file: AtomicFile,
    len: u64,
    /// The content, once.
    boards: Vec<Packed>,
    legal_moves: u64,
    copies: usize,
}

impl Files {
    /// Files of about these sizes, each of them at least once all positions.
    pub(super) fn generate(positions: &[Position], sizes: Sizes) -> Result<Self, Error> {
        let (positions, _) = groups_of(&follow_up(positions, POSITIONS));
        let (lines, batch) = (fen_lines(&positions), batch_of(&positions));
        let boards = || boards_of(&batch).collect();
        let games = RandomGames::play();
        let legal_moves = legal_moves(&positions);
        let blocks = |out: &mut AtomicFile, copies| {
            let mut writer = BoardsWriter::new(out, Fields::NONE)?;
            (0..copies).try_for_each(|_| writer.write(&batch, 0..batch.len()))?;
            writer.finish().map(|_| ())
        };
        let repeated =
            |text: Vec<u8>| move |out: &mut AtomicFile, copies| (0..copies).try_for_each(|_| out.write_all(&text));
        let bytes = size_of::<Packed>() + 2 * size_of::<u16>();
        let (in_boards, in_fen) = (bytes * batch.len(), lines.len());
        let in_pgn = games.text.len();
        Ok(Self {
            boards: File::new(Format::BOARDS, boards(), legal_moves, sizes.boards.div_ceil(in_boards), blocks)?,
            fen: File::new(Format::FEN, boards(), legal_moves, sizes.fen.div_ceil(in_fen), repeated(lines))?,
            pgn: File::new(
                Format::PGN,
                games.boards,
                games.legal_moves,
                sizes.pgn.div_ceil(in_pgn),
                repeated(games.text.into_bytes()),
            )?,
        })
    }
}

impl File {
    fn new(
        format: Format,
        boards: Vec<Packed>,
        legal_moves: u64,
        copies: usize,
        write: impl FnOnce(&mut AtomicFile, usize) -> io::Result<()>,
    ) -> Result<Self, Error> {
        let path = std::env::temp_dir().join("lanefish-bench");
        // It never gets this name.
        let mut file = AtomicFile::create(&path, true)?;
        let written = write(&mut file, copies).and_then(|()| file.flush());
        let metadata = written
            .and_then(|()| std::fs::metadata(file.temporary_path()))
            .map_err(|source| Error::Write { path, source })?;
        Ok(Self { format, file, len: metadata.len(), boards, legal_moves, copies })
    }
    fn path(&self) -> &Path {
        self.file.temporary_path()
    }
    fn records(&self) -> usize {
        self.boards.len() * self.copies
    }
    fn legal_moves(&self) -> u64 {
        self.legal_moves * self.copies as u64
    }
    fn all_boards(&self) -> Vec<Packed> {
        self.boards.repeat(self.copies)
    }
}

fn legal_moves(positions: &[Position]) -> u64 {
    let counts = positions.iter().map(|position| u64::from(position.count_legal_moves()));
    counts.sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use lanefish::tiers::Tier;
    use std::time::Duration;

    #[test]
    fn rows_are_verified() {
        for threads in [1, 2] {
            let options = BenchOptions { time: Duration::ZERO, threads, size: 1, ..BenchOptions::default() };
            let mut rows = Vec::new();
            measure_commands(&options, &[], Tier::best().analyzer().unwrap(), &mut |row| rows.push(row)).unwrap();
            assert!(rows.iter().map(|row| row.name).eq(NAMES));
            for row in &rows {
                assert!(row.measured.unwrap().verified, "{}", row.title());
            }
        }
    }
}
