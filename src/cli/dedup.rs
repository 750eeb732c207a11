//! `dedup`: one of several equal records or games, or the number of distinct ones.

use super::SOMETHING_WRONG;
use super::arguments::command_scope::{Examples, OUTPUT, RunCommand, Scope};
use super::arguments::common_args::{OutputArgs, ReadArgs};
use super::run::dataset_summary;
use super::run::format_output::{self, OutputRequest, RecordArgs};
use super::run::invocation::{Invocation, Nothing, RunOverrides, files_with};
use super::run::output::Output;
use anyhow::{Context, Result, bail};
use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use clap::{Arg, Args, Command, ValueEnum, ValueHint};
use comfy_table::{CellAlignment, Table, presets};
use lanefish::Error;
use lanefish::choose::{GameOption, GameOptionStage};
use lanefish::datasets::{
    Dedup, Deduplicated, DeduplicatedGames, DuplicateGame, DuplicateGames, GameKeys, Keep, KeepGame, Key, OnDuplicate,
};
use lanefish::formats;
use lanefish::input::{Inputs, Source};
use lanefish::jobs::{Content, OutputContent, OutputFormat};
use lanefish_core::text::numbers::{counted, grouped};
use serde_json::json;
use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Keep one of several equal records or games; without -o, count them
#[derive(Debug, Args)]
pub(crate) struct DedupArgs {
    /// What is compared
    #[arg(long, value_enum, value_name = "UNIT", default_value_t = By::Record)]
    by: By,

    /// What makes records equal [default: position], or games [default: moves]
    ///
    /// Records: `board` are the pieces and their squares; `stm` also the side to move, `castling` also castling rights,
    /// `position` also en passant squares, if such a capture is legal; `relative` is the position as the side to move sees
    /// it, with colours exchanged if Black is to move; `record` is every field.
    ///
    /// Games, of which all keys must hold: `moves` are the same start and the same moves; by `prefix`, the moves of one game
    /// are all those of the other, or the beginning of those and at least --prefix-plies long; `players` are names that agree
    /// (`Carlsen,M` and `GM Magnus Carlsen`); `date` the same date, as far as both are known; every other column of `games`
    /// has the same text, or none in both.
    #[arg(long, value_name = "KEY", value_parser = KeyNames, hide_possible_values = true)]
    key: Option<KeyArg>,

    /// Which is kept: first, last, most:COLUMN or least:COLUMN; of games also longest, most-annotated, highest-rated
    ///
    /// Of equally good ones, the first is kept.
    /// The annotations of a game are its tags, comments, variations, evaluations and clocks. Its rating is the mean of
    /// both; games without both come last.
    #[arg(long, value_name = "WHICH", default_value = "first", value_parser = keep)]
    keep: KeepArg,

    /// With the key prefix, a game that may be the beginning of another has at least N plies [default: 20]
    #[arg(long, value_name = "N", hide_short_help = true)]
    prefix_plies: Option<u32>,

    /// Also leave out what occurs in these files
    #[arg(long, value_name = "FILE", num_args = 1.., value_hint = ValueHint::AnyPath)]
    against: Vec<PathBuf>,

    /// Of games: a CSV file with those that are left out, and what differs
    ///
    /// A line for each: `file`, `game` (0-based in the file) and `line`; `kept_file`, `kept_game`, `kept_line` of the game
    /// that it equals; and `differs`: names of tags, `moves`, `comments`.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    list: Option<PathBuf>,

    /// Add a column `count`: how often each record occurred
    #[arg(long, hide_short_help = true)]
    counts: bool,

    /// Print a summary as JSON
    #[arg(long)]
    json: bool,

    /// Format of the output [default: from the name given with -o]
    #[arg(long, value_name = "FORMAT", value_parser = super::arguments::value_parsers::OutputNameOrPgn, help_heading = OUTPUT)]
    to: Option<OutputFormat>,

    #[command(flatten)]
    output: OutputArgs,

    #[command(flatten)]
    write: RecordArgs,

    #[command(flatten)]
    read: ReadArgs,
}

/// What is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum By {
    /// Records, with their positions
    Record,
    /// Whole games; PGN is copied unchanged
    Game,
}

/// What makes games equal, beside any column of games.
const KEYS_OF_GAMES: [&str; 7] = ["moves", "prefix", "players", "date", "result", "round", "tag:NAME"];

/// What makes records equal, or games; a column of games may be the name of a key of records.
#[derive(Clone, Debug)]
struct KeyArg {
    text: String,
    of_records: Option<Key>,
    of_games: Option<GameKeys>,
}

/// Reads a key of records or games.
#[derive(Clone, Copy, Debug)]
struct KeyNames;

impl TypedValueParser for KeyNames {
    type Value = KeyArg;
    fn parse_ref(&self, command: &Command, argument: Option<&Arg>, value: &OsStr) -> Result<KeyArg, clap::Error> {
        let text = StringValueParser::new().parse_ref(command, argument, value)?;
        let of_records = text.parse::<Key>().ok();
        let of_games = text.parse::<GameKeys>();
        match (of_records, of_games) {
            (None, Err(wrong)) => {
                let names = Key::ALL.map(|(name, _)| name).join(", ");
                let message = format!("--key: {wrong}\n  [keys of records: {names}]");
                Err(super::arguments::value_parsers::invalid(command, message))
            }
            (of_records, of_games) => Ok(KeyArg { text, of_records, of_games: of_games.ok() }),
        }
    }
    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let names = Key::ALL.into_iter().map(|(name, _)| name).chain(KEYS_OF_GAMES);
        Some(Box::new(names.map(PossibleValue::new)))
    }
}

/// Which of several equal records or games is kept.
#[derive(Clone, Debug)]
struct KeepArg {
    text: String,
    of_records: Option<Keep>,
    of_games: Option<KeepGame>,
}

/// Which of several equal games is kept.
const KEPT_GAMES: [(&str, KeepGame); 5] = [
    ("first", KeepGame::First),
    ("last", KeepGame::Last),
    ("longest", KeepGame::Longest),
    ("most-annotated", KeepGame::MostAnnotated),
    ("highest-rated", KeepGame::HighestRated),
];

fn keep(text: &str) -> Result<KeepArg, String> {
    let of_games = KEPT_GAMES.iter().find(|(name, _)| *name == text).map(|&(_, keep)| keep);
    match text.parse::<Keep>() {
        Err(wrong) if of_games.is_none() => Err(format!(
            "{wrong}; of games first, {}",
            KEPT_GAMES[1..].iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
        )),
        of_records => Ok(KeepArg { text: text.to_owned(), of_records: of_records.ok(), of_games }),
    }
}

impl RunCommand for DedupArgs {
    const EXAMPLES: Examples = &[
        ("How often positions are repeated", "lanefish dedup games.pgn.zst"),
        (
            "Each position once, with its deepest evaluation, and none of the test data",
            "lanefish dedup evals.jsonl.zst --keep most:depth --against test.boards -o unique.boards",
        ),
        (
            "Each game once, and a list of the others",
            "lanefish dedup --by game twic.pgn own.pgn --list others.csv -o unique.pgn",
        ),
    ];
    const SCOPE: Scope = Scope::WRITES_RECORDS;

    fn run(&self, invocation: &Invocation<'_>) -> Result<u8> {
        if self.by == By::Game {
            return self.games(invocation);
        }
        self.check_records()?;
        if self.output.output.is_none() && self.to.is_none() {
            return self.count(invocation);
        }
        if self.to == Some(OutputFormat::Pgn) || self.to.is_none() && self.names_pgn() {
            bail!("PGN holds games: add --by game, which keeps each game once, or choose a format of records");
        }
        let format = format_output::format_of(self.to, &self.output)?;
        let reading = &self.read.reading;
        let (against, others) = self.others()?;
        let dedup =
            Dedup::default().key(self.record_key()).keep(self.record_keep()).against(against).counts(self.counts);
        let mut deduplicated = Deduplicated::default();
        let (done, written) = format_output::write_by(
            invocation,
            (&self.read.inputs, reading),
            OutputContent::Records { fen: false },
            OutputRequest::records(&self.output, format, &self.write),
            &others,
            |inputs, options, job, sink| {
                let (summary, done) = dedup.run(inputs, options, job, sink)?;
                deduplicated = done;
                Ok(summary)
            },
        )?;
        if done.failure.is_none() {
            self.note(invocation, &deduplicated);
        }
        let status = dataset_summary::conclude(invocation, done, self.json, written, self.numbers(&deduplicated))?;
        Ok(status.max(status_of(&deduplicated)))
    }
}

impl DedupArgs {
    /// Reports how many records are kept.
    fn note(&self, invocation: &Invocation<'_>, done: &Deduplicated) {
        let duplicates = counted(done.compared - done.kept, "duplicate");
        let of = if self.against.is_empty() { "" } else { " of each other or of records of --against" };
        let kept = format!("{} of {} kept", grouped(done.kept), counted(done.compared, "record"));
        invocation.note(format_args!("{kept}, {duplicates}{of} left out"));
        self.note_on_others(invocation, done.rejected_against);
    }

    /// Whether the name of the output is that of a PGN file.
    fn names_pgn(&self) -> bool {
        let output = self.output.output.as_deref();
        output.is_some_and(|path| OutputFormat::of_path(path, Content::Games) == Ok(OutputFormat::Pgn))
    }

    /// What makes records equal.
    fn record_key(&self) -> Key {
        self.key.as_ref().and_then(|key| key.of_records).unwrap_or_default()
    }

    /// Which of several equal records is kept.
    fn record_keep(&self) -> Keep {
        self.keep.of_records.clone().unwrap_or_default()
    }

    /// Refuses what is for games.
    fn check_records(&self) -> Result<()> {
        let add = "add --by game";
        if let Some(key) = self.key.as_ref().filter(|key| key.of_records.is_none()) {
            bail!(
                "--key: {} is for games: {add}; records have {}",
                key.text,
                Key::ALL.map(|(name, _)| name).join(", ")
            );
        }
        if self.keep.of_records.is_none() {
            bail!("--keep: {} is for games: {add}", self.keep.text);
        }
        for (option, is_given) in [("prefix-plies", self.prefix_plies.is_some()), ("list", self.list.is_some())] {
            if is_given {
                bail!("--{option} is for games: {add}");
            }
        }
        Ok(())
    }

    /// The name of the key.
    fn name(&self) -> String {
        self.key.as_ref().map_or_else(|| "position".to_owned(), |key| key.text.clone())
    }

    /// The numbers for JSON.
    fn numbers(&self, done: &Deduplicated) -> [(&'static str, serde_json::Value); 2] {
        [("distinct", json!({ self.name(): done.kept })), ("duplicates", json!(done.compared - done.kept))]
    }

    /// The records with which the inputs are compared, and their files.
    fn others(&self) -> Result<(Inputs, Vec<Arc<Path>>)> {
        let (from, column) = (self.read.reading.from, self.read.reading.fen_column.as_deref());
        let is_read = |source: &Source| from.is_some() || formats::is_supported_with(source, column);
        let against = match &self.against[..] {
            [] => Inputs::default(),
            names => Inputs::resolve(names, is_read).context("--against")?,
        };
        let files = files_with(&against);
        Ok((against, files))
    }

    /// Compares games.
    fn games(&self, invocation: &Invocation<'_>) -> Result<u8> {
        let reading = &self.read.reading;
        let Some(keep) = self.keep.of_games else {
            let names = KEPT_GAMES.map(|(name, _)| name).join(", ");
            bail!("--keep: {} is for records; games have {names}", self.keep.text);
        };
        let keys = match &self.key {
            None => GameKeys::default(),
            Some(key) => key.of_games.clone().with_context(|| {
                let names = KEYS_OF_GAMES.join(", ");
                format!("--key: {} is for records; games have {names} and the columns of `games`", key.text)
            })?,
        };
        if self.prefix_plies.is_some() && !keys.has_prefix() {
            bail!("--prefix-plies is for --key prefix");
        }
        let keys = self.prefix_plies.iter().fold(keys, |keys, &plies| keys.prefix_plies(plies));
        for (option, is_given) in [
            ("counts", self.counts),
            ("sample", reading.chosen.takes_sample()),
            ("keep-en-passant", reading.keep_en_passant),
        ] {
            if is_given {
                bail!("--{option} is for records: `dedup --by game` compares whole games");
            }
        }
        let filter = reading.games.filter();
        let of_positions = GameOption::ALL.iter().filter(|option| option.stage == GameOptionStage::Positions);
        let is_set = |option: &GameOption| filter.as_deref().is_some_and(|filter| option.is_set_in(filter));
        if let Some(option) = of_positions.into_iter().find(|option| is_set(option)) {
            bail!("--{} chooses among positions: `dedup --by game` compares whole games", option.name);
        }
        invocation.takes_whole_games.set(true);
        let (against, others) = self.others()?;
        if let Some(list) = &self.list {
            if self.output.output.as_ref() == Some(list) {
                bail!("--list and -o name the same file");
            }
            let others: Vec<PathBuf> = others.iter().map(|path| path.to_path_buf()).collect();
            invocation.compare(Some(list), &others).context("--list")?;
        }
        let duplicates = DuplicateGames::default().keys(keys).keep(keep).against(against);
        let output = self.output.output.as_deref();
        let format = match (self.to, output) {
            (None, None) => None,
            (None, Some(_)) if self.names_pgn() => Some(OutputFormat::Pgn),
            (to, _) => Some(format_output::format_of(to, &self.output)?),
        };
        if format == Some(OutputFormat::Pgn) && reading.chosen.sets_values() {
            bail!("--set: games are copied unchanged to PGN");
        }
        invocation.prepare(&self.read.inputs, reading)?;
        let mut list = self.list.as_deref().map(|path| List::open(invocation, path)).transpose()?;
        let mut compared = DeduplicatedGames::default();
        let mut add = list.as_mut().map(|list| move |game: DuplicateGame| list.put(&game));
        let add = add.as_mut().map(|add| add as &mut OnDuplicate<'_>);
        let (done, written) = match format {
            None => {
                let done =
                    invocation.read_by(&self.read.inputs, reading, RunOverrides::default(), |inputs, options| {
                        let (summary, found) = duplicates.count(inputs, options, add)?;
                        compared = found;
                        Ok(summary)
                    })?;
                (done, 0)
            }
            Some(format) => format_output::write_by(
                invocation,
                (&self.read.inputs, reading),
                match format {
                    OutputFormat::Pgn => OutputContent::Games,
                    _ => OutputContent::Records { fen: false },
                },
                OutputRequest::records(&self.output, format, &self.write),
                &others,
                |inputs, options, job, sink| {
                    let (summary, found) = duplicates.run(inputs, options, job, sink, add)?;
                    compared = found;
                    Ok(summary)
                },
            )?,
        };
        if done.failure.is_none() {
            if let Some(list) = list {
                invocation.commit([list.output])?;
            }
            // The list may be on standard output.
            if format.is_none() && !self.json && self.list.as_deref() != Some(Path::new("-")) {
                print_table([(&*duplicates.keys.to_string(), compared.kept)], compared.compared)?;
            }
            self.note_on_games(invocation, &compared);
        }
        let numbers = [
            ("games", json!(compared.compared)),
            ("kept", json!(compared.kept)),
            ("distinct", json!({ duplicates.keys.to_string(): compared.kept })),
            ("duplicates", json!(compared.compared - compared.kept)),
            ("sets", json!(compared.sets)),
        ];
        let status = dataset_summary::conclude(invocation, done, self.json, written, numbers)?;
        Ok(status.max(if compared.rejected_against > 0 { SOMETHING_WRONG } else { 0 }))
    }

    /// Reports how many games are kept.
    fn note_on_games(&self, invocation: &Invocation<'_>, done: &DeduplicatedGames) {
        let left_out = counted(done.compared - done.kept, "game");
        let sets = counted(done.sets, "set");
        let kept = format!("{} of {} kept", grouped(done.kept), counted(done.compared, "game"));
        invocation.note(format_args!("{kept}, {left_out} left out in {sets} of equal games"));
        let damaged = counted(done.damaged, "damaged game");
        let without_moves = format!("{} without moves", counted(done.without_moves, "game"));
        for (count, games) in [(done.damaged, damaged), (done.without_moves, without_moves)] {
            if count > 0 {
                let equal = if count == 1 { "equals" } else { "equal" };
                invocation.note(format_args!("{games} {equal} nothing"));
            }
        }
        self.note_on_others(invocation, done.rejected_against);
    }

    /// Reports bad records of the files to compare with.
    fn note_on_others(&self, invocation: &Invocation<'_>, rejected: u64) {
        if rejected > 0 {
            let bad = counted(rejected, "bad record");
            let were = if rejected == 1 { "was" } else { "were" };
            invocation.note(format_args!("--against: {bad} {were} not compared"));
        }
    }

    /// Counts the distinct records by one key, against other files if some are given.
    fn count_by_key(&self, invocation: &Invocation<'_>) -> Result<u8> {
        let (against, _) = self.others()?;
        let reading = &self.read.reading;
        invocation.prepare(&self.read.inputs, reading)?;
        let dedup = Dedup::default().key(self.record_key()).against(against);
        let mut counted = Deduplicated::default();
        let done = invocation.read_by(&self.read.inputs, reading, RunOverrides::default(), |inputs, options| {
            let (summary, done) = dedup.run(inputs, options, &Nothing, |()| Ok(()))?;
            counted = done;
            Ok(summary)
        })?;
        if done.failure.is_none() && !self.json {
            print_table([(&*self.name(), counted.kept)], counted.compared)?;
        }
        if done.failure.is_none() {
            self.note(invocation, &counted);
        }
        let status = dataset_summary::conclude(invocation, done, self.json, 0, self.numbers(&counted))?;
        Ok(status.max(status_of(&counted)))
    }

    /// Counts the distinct records, by each key.
    fn count(&self, invocation: &Invocation<'_>) -> Result<u8> {
        if self.counts {
            bail!("--counts is for an output: name a file with -o");
        }
        if !self.against.is_empty() || self.record_key() == Key::Relative {
            return self.count_by_key(invocation);
        }
        let reading = &self.read.reading;
        invocation.prepare(&self.read.inputs, reading)?;
        let dedup = Dedup::default();
        let mut distinct = lanefish::datasets::Distinct::default();
        let done = invocation.read_by(&self.read.inputs, reading, RunOverrides::default(), |inputs, options| {
            let (summary, counted) = dedup.count(inputs, options)?;
            distinct = counted;
            Ok(summary)
        })?;
        let counts = [
            ("board", distinct.board),
            ("stm", distinct.stm),
            ("castling", distinct.castling),
            ("position", distinct.position),
            ("record", distinct.record),
        ];
        let records = distinct.records;
        if done.failure.is_none() && !self.json {
            print_table(counts, records)?;
        }
        let distinct: serde_json::Map<_, _> =
            counts.map(|(key, count)| (key.to_owned(), json!(count))).into_iter().collect();
        let name = self.name();
        let of_key = counts.into_iter().find(|(key, _)| *key == name);
        let (_, kept) = of_key.unwrap_or(("position", counts[3].1));
        let own = [("distinct", json!(distinct)), ("duplicates", json!(records - kept))];
        dataset_summary::conclude(invocation, done, self.json, 0, own)
    }
}

/// The list of games that are left out.
struct List {
    output: Output,
}

impl List {
    fn open(invocation: &Invocation<'_>, path: &Path) -> Result<Self> {
        let mut list = Self { output: invocation.open_beside(path)? };
        let named = list.output.named();
        list.output.write_all(DuplicateGame::CSV_HEADER.as_bytes()).map_err(|source| named.failed(source))?;
        Ok(list)
    }

    fn put(&mut self, game: &DuplicateGame) -> Result<(), Error> {
        let mut line = Vec::new();
        game.write_csv(&mut line);
        let named = self.output.named();
        self.output.write_all(&line).map_err(|source| named.failed(source))
    }
}

/// The exit status because of the files of `--against`.
const fn status_of(done: &Deduplicated) -> u8 {
    if done.rejected_against > 0 { SOMETHING_WRONG } else { 0 }
}

/// Prints the number of distinct records for each key.
fn print_table<'a>(counts: impl IntoIterator<Item = (&'a str, u64)>, records: u64) -> Result<()> {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(["key", "distinct", "duplicates"]);
    for (key, count) in counts {
        table.add_row([key.to_owned(), grouped(count), grouped(records - count)]);
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    super::print(format!("{table}\n").as_bytes())
}
