//! `tree`: what was played in each position, as a view, a table, or a book.

use super::arguments::command_scope::{Examples, OUTPUT, Reads, RunCommand, Scope};
use super::arguments::common_args::{OutputArgs, ReadArgs};
use super::arguments::position_arg::position_of;
#[cfg(feature = "cluster")]
use super::run::cluster_output::ClusterOutputArgs;
use super::run::dataset_summary;
use super::run::invocation::{Invocation, RunOverrides};
use super::run::output::Output;
use super::terminal::palette;
use super::terminal::style::{self, Style};
use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum, ValueHint};
use lanefish::chess::{Color, Position, Validity};
use lanefish::choose::GameFilter;
use lanefish::datasets::{BookWeight, OpeningTree, TreeFile, TreeMove, TreePosition, TreeWritten};
use lanefish::formats::polyglot_book::{self, PolyglotBook};
use lanefish::jobs::{Content, OutputFormat};
#[cfg(feature = "cluster")]
use lanefish::sql::cluster::PieceContent;
use lanefish_core::text::numbers::{counted, grouped};
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

/// The first moves of each game that count in a file, unless another number is given.
const PLIES: u32 = 40;
/// Most positions of a view with `--depth`.
const MOST_POSITIONS: usize = 1 << 20;

/// What was played in each position, with results: a view, a table, or a Polyglot book
///
/// Without -o, the moves of one position are shown: the start position, or that of --fen and --moves. Positions are the same
/// whatever the moves before them. A game counts once for a position.
#[derive(Debug, Args)]
pub(crate) struct TreeArgs {
    /// The position to show, instead of the start position
    #[arg(long, value_name = "FEN")]
    fen: Option<String>,

    /// The moves from there to the position to show, such as "e4 c5 Nf3"
    #[arg(long, value_name = "SAN", allow_hyphen_values = true)]
    moves: Option<String>,

    /// Also show the moves after each move, this many moves deep
    #[arg(long, value_name = "N", default_value_t = 1, hide_default_value = true, value_parser = clap::value_parser!(u8).range(1..=20))]
    depth: u8,

    /// Show only the N moves that were played most
    #[arg(long, value_name = "N", value_parser = super::arguments::number_args::count)]
    top: Option<u64>,

    /// Leave out moves of fewer games
    #[arg(long, value_name = "N", default_value_t = 1, hide_default_value = true, value_parser = super::arguments::number_args::count)]
    min_games: u64,

    /// Show the moves that a Polyglot book has, instead of those of games
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with_all = ["output", "depth", "min_games", "inputs"])]
    book: Option<PathBuf>,

    /// Put the parts of all shards together, which -o I.tree with --shard I/N wrote
    #[arg(long, value_name = "PART", hide_short_help = true, num_args = 1.., requires = "output", value_hint = ValueHint::FilePath, conflicts_with_all = ["book", "inputs", "fen", "moves"])]
    merge: Vec<PathBuf>,

    /// The weights of a book: points (2 for each win and 1 for each draw of the mover), games or performance
    #[arg(
        long,
        value_name = "WHAT",
        value_enum,
        hide_short_help = true,
        hide_possible_values = true,
        requires = "output"
    )]
    weight: Option<Weight>,

    /// Print JSON
    #[arg(long, conflicts_with = "output")]
    json: bool,

    /// Format of the output: csv, jsonl, parquet, arrow, arrows, or bin for a book [default: from the name given with -o]
    #[arg(long, value_name = "FORMAT", help_heading = OUTPUT, requires = "output")]
    to: Option<String>,

    #[command(flatten)]
    output: OutputArgs,

    #[cfg(feature = "cluster")]
    #[command(flatten)]
    cluster: ClusterOutputArgs,

    #[command(flatten)]
    read: ReadArgs,
}

/// The weights of a book.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Weight {
    /// Two for each win and one for each draw of the mover
    Points,
    /// The number of games
    Games,
    /// The performance of the mover
    Performance,
}

/// The format of a file.
#[derive(Clone, Copy, Debug)]
enum FileForm {
    Rows(OutputFormat),
    Book,
    /// The sums of a shard.
    Part,
}

impl RunCommand for TreeArgs {
    const EXAMPLES: Examples = &[
        ("The first moves of games", "lanefish tree games.pgn.zst"),
        ("The answers in a position", "lanefish tree games.pgn.zst --moves \"e4 c5 Nf3\" --depth 2 --top 5"),
        ("All positions of the first 30 plies", "lanefish tree games.pgn.zst --plies 30 --min-games 5 -o tree.csv"),
        ("A book for engines", "lanefish tree games.pgn.zst --min-elo 2400 --plies 24 --min-games 3 -o book.bin"),
    ];
    const SCOPE: Scope = Scope {
        refuses: &["variations", "set"],
        reason: "a tree has the moves of games as they were played",
        ignores: &[],
        reads: Reads::Without(&[("book", "--book"), ("merge", "--merge")]),
        ..Scope::READS
    };

    fn run(&self, invocation: &Invocation<'_>) -> Result<u8> {
        if let Some(book) = &self.book {
            return self.show_book(book, invocation);
        }
        let (plies, games) = self.first_plies()?;
        if !self.merge.is_empty() {
            return self.merge_parts(invocation);
        }
        match self.output.output {
            Some(_) => self.write(invocation, plies, games),
            None => self.show(invocation, plies, games),
        }
    }
}

/// Reads moves in standard algebraic notation, with or without their numbers.
fn play(position: &mut Position, moves: &str) -> Result<()> {
    for word in moves.split_whitespace() {
        let word = word.trim_start_matches(|letter: char| letter.is_ascii_digit()).trim_start_matches('.');
        if word.is_empty() {
            continue;
        }
        let mv = position.parse_san(word).with_context(|| format!("--moves: `{word}` in {position}"))?;
        polyglot_book::play(position, mv);
    }
    Ok(())
}

impl TreeArgs {
    /// The number of plies that count, if it is given, and the choice of games without it.
    fn first_plies(&self) -> Result<(Option<u32>, Option<Arc<GameFilter>>)> {
        let Some(filter) = self.read.reading.games.filter() else { return Ok((None, None)) };
        let plies = filter.plies;
        let everything = GameFilter::default().plies;
        if plies == everything {
            return Ok((None, Some(filter)));
        }
        if Some(plies.first) != plies.last {
            bail!("--plies: a tree has the first plies of games: a number, such as --plies 30");
        }
        Ok((Some(plies.first), Some(Arc::new(GameFilter::clone(&filter).plies(everything)))))
    }

    /// The position to show.
    fn position(&self, invocation: &Invocation<'_>) -> Result<Position> {
        let mut position = position_of(self.fen.as_deref().unwrap_or_default(), invocation, true)?;
        play(&mut position, self.moves.as_deref().unwrap_or_default())?;
        Ok(position)
    }

    /// Shows the moves of a position.
    fn show(&self, invocation: &Invocation<'_>, plies: Option<u32>, games: Option<Arc<GameFilter>>) -> Result<u8> {
        let root = self.position(invocation)?;
        let (positions, places) = reachable(&root, self.depth)?;
        let reading = &self.read.reading;
        invocation.prepare(&self.read.inputs, reading)?;
        // Shares are those of all games of a position, however many moves are shown.
        let tree = OpeningTree::default().plies(plies);
        let mut found = Vec::new();
        let done = invocation.read_by(&self.read.inputs, reading, RunOverrides::default(), |inputs, mut options| {
            options.read.choose.games = with_sequence(games, &options.read.choose.games);
            let (summary, all) = tree.moves_of(&positions, inputs, options)?;
            found = all;
            Ok(summary)
        })?;
        if done.failure.is_none() {
            let view =
                View { found: &found, places: &places, top: self.top, min_games: self.min_games, depth: self.depth };
            if self.json {
                super::print_object(&view.json(0, 1))?;
            } else {
                let style = Style::for_stdout(invocation.global().color);
                super::print(view.text(style, style::width()).as_bytes())?;
            }
        }
        invocation.conclude(done)
    }

    /// Writes the tree to a file.
    fn write(&self, invocation: &Invocation<'_>, plies: Option<u32>, games: Option<Arc<GameFilter>>) -> Result<u8> {
        if self.depth != 1 || self.top.is_some() {
            bail!("--depth and --top are for views, without -o; --plies and --min-games make a file smaller");
        }
        let form = self.form()?;
        if self.weight.is_some() && !matches!(form, FileForm::Book) {
            bail!("--weight is for books: name a file with -o book.bin");
        }
        let reading = &self.read.reading;
        let root = match self.fen.is_some() || self.moves.is_some() {
            true => Some(self.position(invocation)?),
            false => None,
        };
        let has_usual_plies = plies.is_none() && root.is_none();
        let plies = plies.or(has_usual_plies.then_some(PLIES));
        #[cfg(feature = "cluster")]
        if self.cluster.is_given() {
            if !matches!(form, FileForm::Part) {
                bail!(
                    "a cluster writes parts of a tree, which --merge puts together: name them with -o '{{n}}.tree', for example"
                );
            }
            self.check_part(root.as_ref())?;
            let content = PieceContent::TreeParts { plies, about: self.about(invocation, plies, games.as_ref()) };
            let read = (&self.read.inputs[..], reading);
            return self.cluster.write_tree(invocation, read, &self.output, content, |read| {
                read.choose.games = with_sequence(games, &read.choose.games);
            });
        }
        invocation.prepare(&self.read.inputs, reading)?;
        let mut output = invocation.open_output(&self.output)?;
        if !matches!(form, FileForm::Rows(OutputFormat::Csv | OutputFormat::JsonLines)) {
            output.refuse_terminal(if matches!(form, FileForm::Book) { "a book" } else { "a table" })?;
            if output.is_compressed() {
                bail!(
                    "books, Parquet and Arrow files are not compressed as a whole: name the file without the last extension"
                );
            }
        }
        let named = output.named();
        let failed = |source| named.failed(source);
        let space = reading.space.beside(self.output.output.as_deref());
        if let FileForm::Part = form {
            self.check_part(root.as_ref())?;
            let about = self.about(invocation, plies, games.as_ref());
            let tree = OpeningTree::default().plies(plies);
            let mut rows = 0;
            let done =
                invocation.read_by(&self.read.inputs, reading, RunOverrides::default(), |inputs, mut options| {
                    options.read.choose.games = with_sequence(games, &options.read.choose.games);
                    options.space = space.clone();
                    let (summary, written) =
                        tree.write_part((options.read.shard, &about), inputs, options, &mut output, |source| {
                            named.failed(source)
                        })?;
                    rows = written;
                    Ok(summary)
                })?;
            if done.failure.is_none() {
                invocation.commit([output])?;
            }
            return dataset_summary::conclude(invocation, done, false, rows, []);
        }
        let mut file = self.begin(form, &mut output).map_err(failed)?;
        let is_book = matches!(form, FileForm::Book);
        let tree = OpeningTree::default().plies(plies).min_games(self.min_games).standard_only(is_book);
        let done = invocation.read_by(&self.read.inputs, reading, RunOverrides::default(), |inputs, mut options| {
            options.read.choose.games = with_sequence(games, &options.read.choose.games);
            options.space = space.clone();
            match &root {
                None => {
                    tree.all(inputs, options, |position| file.put(&position).map_err(|source| named.failed(source)))
                }
                Some(root) => {
                    let (summary, found) = tree.moves_of(std::slice::from_ref(root), inputs, options)?;
                    for position in &found {
                        file.put(position).map_err(|source| named.failed(source))?;
                    }
                    Ok(summary)
                }
            }
        })?;
        let mut written = TreeWritten::default();
        if done.failure.is_none() {
            written = file.finish().map_err(failed)?;
            invocation.commit([output])?;
            note_on(invocation, &written, is_book);
            if has_usual_plies {
                invocation.note(format_args!("the first {PLIES} plies of each game; --plies N takes more or fewer"));
            }
        }
        dataset_summary::conclude(invocation, done, false, written.rows, [])
    }

    /// Checks that nothing is asked of a part that it cannot have.
    fn check_part(&self, root: Option<&Position>) -> Result<()> {
        if root.is_some() || self.min_games > 1 {
            bail!("-o: a part has all positions: --min-games is for --merge, and --fen and --moves for other files");
        }
        Ok(())
    }

    /// The options of a part, which must be those of all parts that are put together.
    fn about(&self, invocation: &Invocation<'_>, plies: Option<u32>, games: Option<&Arc<GameFilter>>) -> String {
        let (global, reading) = (invocation.global(), &self.read.reading);
        format!(
            "plies {plies:?} {games:?} {:?} skip {} limit {:?} {:?} strict PGN {} columns {:?}",
            reading.chosen,
            global.input.skip,
            global.input.limit,
            invocation.validity(Validity::Playable),
            global.input.strict_pgn,
            [&reading.moves_column, &reading.start_column],
        )
    }

    /// Puts parts together.
    fn merge_parts(&self, invocation: &Invocation<'_>) -> Result<u8> {
        let form = self.form()?;
        if let FileForm::Part = form {
            bail!("--merge makes rows or a book of all parts: name a file such as -o tree.csv or -o book.bin");
        }
        let mut output = invocation.open_output(&self.output)?;
        let named = output.named();
        let mut file = self.begin(form, &mut output).map_err(|source| named.failed(source))?;
        let is_book = matches!(form, FileForm::Book);
        let tree = OpeningTree::default().min_games(self.min_games).standard_only(is_book);
        tree.merge(
            &self.merge,
            &self.read.reading.space.beside(self.output.output.as_deref()),
            invocation.threads,
            |position| file.put(&position).map_err(|source| named.failed(source)),
        )?;
        let written = file.finish().map_err(|source| named.failed(source))?;
        invocation.commit([output])?;
        note_on(invocation, &written, is_book);
        Ok(0)
    }

    fn form(&self) -> Result<FileForm> {
        let path = self.output.output.as_deref();
        let named = self.to.as_deref();
        let is_book = named.map_or_else(
            || path.and_then(|path| path.extension()).is_some_and(|extension| extension == "bin"),
            |name| name == "bin" || name == "polyglot",
        );
        let is_part = named.map_or_else(
            || path.and_then(|path| path.extension()).is_some_and(|extension| extension == "tree"),
            |name| name == "tree",
        );
        if is_book || is_part {
            return Ok(if is_book { FileForm::Book } else { FileForm::Part });
        }
        let format = match (named, path) {
            (Some(name), _) => {
                OutputFormat::named(name, Content::Rows).map_err(|error| anyhow::anyhow!("--to: {error}"))?
            }
            (None, Some(path)) => OutputFormat::of_path(path, Content::Rows).map_err(|error| {
                anyhow::anyhow!("{}; books are .bin", error.to_string().replace("--format", "--to"))
            })?,
            (None, None) => OutputFormat::Csv,
        };
        Ok(FileForm::Rows(format))
    }

    fn begin<'a>(&self, form: FileForm, output: &'a mut Output) -> std::io::Result<TreeFile<&'a mut Output>> {
        match form {
            FileForm::Rows(format) => TreeFile::rows(format, output),
            FileForm::Book | FileForm::Part => Ok(TreeFile::book(self.book_weight(), output)),
        }
    }

    fn book_weight(&self) -> BookWeight {
        match self.weight {
            None | Some(Weight::Points) => BookWeight::Points,
            Some(Weight::Games) => BookWeight::Games,
            Some(Weight::Performance) => BookWeight::Performance,
        }
    }

    /// Shows the moves that a book has in a position.
    fn show_book(&self, path: &std::path::Path, invocation: &Invocation<'_>) -> Result<u8> {
        let position = self.position(invocation)?;
        let mut book = PolyglotBook::open(path)?;
        let key = position.polyglot_key();
        let mut moves = book.moves_of(&position)?;
        moves.truncate(self.top.unwrap_or(u64::MAX).try_into().unwrap_or(usize::MAX));
        if self.json {
            let moves: Vec<Value> = moves
                .iter()
                .map(|entry| {
                    json!({
                        "move": entry.uci,
                        "san": entry.mv.map(|mv| mv.san(&position)),
                        "weight": entry.weight,
                        "learn": entry.learn,
                    })
                })
                .collect();
            let mut object = Map::new();
            object.insert("fen".to_owned(), json!(position.to_string()));
            object.insert("key".to_owned(), json!(format!("0x{key:016x}")));
            object.insert("moves".to_owned(), json!(moves));
            super::print_object(&object)?;
            return Ok(0);
        }
        let style = Style::for_stdout(invocation.global().color);
        let all: u64 = moves.iter().map(|entry| u64::from(entry.weight)).sum();
        let mut text = format!("{}\n\n", style.heading(&position.to_string()));
        if moves.is_empty() {
            text.push_str("the book has no move here\n");
        }
        for entry in &moves {
            let san = entry.mv.map_or_else(|| format!("{} (not legal)", entry.uci), |mv| mv.san(&position));
            let share = 100.0 * f64::from(entry.weight) / all.max(1) as f64;
            let _ = writeln!(text, " {san:<8} {:>10}  {share:>5.1} %", grouped(entry.weight.into()));
        }
        super::print(text.as_bytes())?;
        Ok(0)
    }
}

/// Says what a file has.
fn note_on(invocation: &Invocation<'_>, written: &TreeWritten, is_book: bool) {
    let rows = match is_book {
        true if written.rows != 1 => format!("{} entries", grouped(written.rows)),
        true => counted(written.rows, "entry"),
        false => counted(written.rows, "row"),
    };
    invocation.note(format_args!("{rows} of {}", counted(written.positions, "position")));
    if written.without_weight > 0 {
        let moves = counted(written.without_weight, "move");
        invocation.note(format_args!("{moves} without weight left out (--weight games keeps all moves)"));
    }
}

/// The choice of games without plies, and the sequence of positions of the choice with them.
fn with_sequence(games: Option<Arc<GameFilter>>, chosen: &Option<Arc<GameFilter>>) -> Option<Arc<GameFilter>> {
    let sequence = chosen.as_ref().map(|chosen| chosen.having.clone()).filter(|sequence| !sequence.is_empty());
    match (games, sequence) {
        (games, None) => games,
        (games, Some(sequence)) => {
            let games = games.as_deref().cloned().unwrap_or_default();
            Some(Arc::new(games.having(sequence)))
        }
    }
}

/// A position, and those that can be reached from it by fewer than `depth` moves; and the place of each move's position.
type Reachable = (Vec<Position>, HashMap<(usize, u16), usize>);

fn reachable(root: &Position, depth: u8) -> Result<Reachable> {
    let mut positions = vec![root.clone()];
    let mut known: HashMap<u64, Vec<usize>> = HashMap::from([(root.polyglot_key(), vec![0])]);
    let mut places = HashMap::new();
    let mut level = 0..1;
    for _ in 1..depth {
        for at in level.clone() {
            for mv in positions[at].legal_moves().iter().copied() {
                let mut next = positions[at].clone();
                polyglot_book::play(&mut next, mv);
                (next.halfmove, next.fullmove) = (0, 1);
                let same = known.entry(next.polyglot_key()).or_default();
                let found = same.iter().copied().find(|&place| positions[place] == next);
                let place = found.unwrap_or(positions.len());
                if found.is_none() {
                    same.push(place);
                    positions.push(next);
                }
                places.insert((at, mv.to_bits()), place);
                if positions.len() > MOST_POSITIONS {
                    bail!("--depth {depth} has more than {MOST_POSITIONS} positions; -o writes all positions of games");
                }
            }
        }
        level = level.end..positions.len();
    }
    Ok((positions, places))
}

/// The moves of a position, with those after them.
struct View<'a> {
    found: &'a [TreePosition],
    places: &'a HashMap<(usize, u16), usize>,
    top: Option<u64>,
    min_games: u64,
    depth: u8,
}

/// The texts of a move in a line.
struct Line {
    level: usize,
    san: String,
    games: u64,
    share: f64,
    results: [u64; 3],
    elo: String,
    performance: String,
    year: String,
}

impl View<'_> {
    fn moves(&self, place: usize) -> &[TreeMove] {
        // The moves of the most games are first.
        let moves = &self.found[place].moves;
        let moves = &moves[..moves.partition_point(|played| played.games >= self.min_games)];
        let top = self.top.map_or(moves.len(), |top| moves.len().min(top.try_into().unwrap_or(usize::MAX)));
        &moves[..top]
    }

    /// The position of this place, `level` moves deep.
    fn json(&self, place: usize, level: u8) -> Map<String, Value> {
        let position = &self.found[place];
        let moves = self.moves(place).iter().map(|played| {
            let mut object = Map::new();
            let dates = played.dates.map(|dates| dates.map(|date| date.to_string()));
            object.insert("move".to_owned(), json!(position.uci(played.mv)));
            object.insert("san".to_owned(), json!(played.mv.san(&position.position)));
            object.insert("games".to_owned(), json!(played.games));
            object.insert("white".to_owned(), json!(played.white));
            object.insert("draws".to_owned(), json!(played.draws));
            object.insert("black".to_owned(), json!(played.black));
            object.insert("mean_elo".to_owned(), json!(played.mean_elo));
            object.insert("performance".to_owned(), json!(played.performance));
            object.insert("first_date".to_owned(), json!(dates.as_ref().map(|[first, _]| first)));
            object.insert("last_date".to_owned(), json!(dates.as_ref().map(|[_, last]| last)));
            if level < self.depth
                && let Some(&next) = self.places.get(&(place, played.mv.to_bits()))
            {
                object.insert("moves".to_owned(), self.json(next, level + 1)["moves"].clone());
            }
            Value::Object(object)
        });
        let mut object = Map::new();
        let moves: Vec<Value> = moves.collect();
        object.insert("fen".to_owned(), json!(position.position.to_string()));
        object.insert("key".to_owned(), json!(format!("0x{:016x}", position.key)));
        object.insert("moves".to_owned(), json!(moves));
        object
    }

    fn lines(&self, place: usize, level: usize, lines: &mut Vec<Line>) {
        let position = &self.found[place];
        let all: u64 = position.moves.iter().map(|played| played.games).sum();
        for played in self.moves(place) {
            lines.push(Line {
                level,
                san: played.mv.san(&position.position),
                games: played.games,
                share: 100.0 * played.games as f64 / all.max(1) as f64,
                results: [played.white, played.draws, played.black],
                elo: played.mean_elo.map_or_else(|| "–".to_owned(), |elo| elo.to_string()),
                performance: played.performance.map_or_else(|| "–".to_owned(), |performance| performance.to_string()),
                year: played.dates.map_or_else(|| "–".to_owned(), |[_, last]| last.year().to_string()),
            });
            if level + 1 < self.depth.into()
                && let Some(&next) = self.places.get(&(place, played.mv.to_bits()))
            {
                self.lines(next, level + 1, lines);
            }
        }
    }

    /// The view for people.
    fn text(&self, style: Style, width: usize) -> String {
        let root = &self.found[0];
        let games: u64 = root.moves.iter().map(|played| played.games).sum();
        let side = if root.position.side_to_move == Color::White { "White" } else { "Black" };
        let mut text = format!("{}\n", root.position);
        let _ = writeln!(text, "{}\n", style.faint(&format!("{side} to move, {}", counted(games, "game"))));
        let mut lines = Vec::new();
        self.lines(0, 0, &mut lines);
        if lines.is_empty() {
            match root.moves.is_empty() {
                true => text.push_str("no game has a move here\n"),
                false => _ = writeln!(text, "no move was played in {} games or more", grouped(self.min_games)),
            }
            return text;
        }
        let longest = |texts: &mut dyn Iterator<Item = usize>, least: usize| texts.max().unwrap_or(0).max(least);
        let name = longest(&mut lines.iter().map(|line| 2 * line.level + line.san.chars().count()), 4);
        let games = longest(&mut lines.iter().map(|line| grouped(line.games).len()), 5);
        // Name, games, share, bar and results; ratings, performances and years where there is room.
        let fixed = 1 + name + 2 + games + 2 + 7 + 2 + 2 + 14;
        let more = [6, 6, 6];
        let mut left = width.saturating_sub(fixed);
        let mut columns = 0;
        for column in more {
            if left >= column + MOST_BAR.min(14) {
                left -= column;
                columns += 1;
            }
        }
        let bar = left.min(MOST_BAR);
        let heads = ["elo", "perf", "last"];
        let mut head = format!(" {:<name$}  {:>games$}  {:>7}  ", "move", "games", "share");
        if bar >= LEAST_BAR {
            let _ = write!(head, "{:<bar$}  ", "");
        }
        let _ = write!(head, "{:>14}", "W / D / B");
        heads.iter().take(columns).for_each(|title| {
            let _ = write!(head, "{title:>6}");
        });
        let _ = writeln!(text, "{}", style.faint(head.trim_end()));
        for line in &lines {
            let san = format!("{}{}", "  ".repeat(line.level), line.san);
            let _ = write!(text, " {san:<name$}  {:>games$}  {:>5.1} %  ", grouped(line.games), line.share);
            if bar >= LEAST_BAR {
                let _ = write!(text, "{}  ", bar_of(line.results, bar, style));
            }
            let _ = write!(text, "{:>14}", shares(line.results));
            for value in [&line.elo, &line.performance, &line.year].into_iter().take(columns) {
                let _ = write!(text, "{value:>6}");
            }
            text.push('\n');
        }
        text
    }
}

/// The length of a bar.
const MOST_BAR: usize = 30;
const LEAST_BAR: usize = 8;

/// The shares of White, draws and Black in percent, which are 100 together.
fn percentages(results: [u64; 3]) -> Option<[u64; 3]> {
    let all: u64 = results.iter().sum();
    if all == 0 {
        return None;
    }
    let ends = |count: u64| (200 * count + all) / (2 * all);
    let [white, until_draws] = [ends(results[0]), ends(results[0] + results[1])];
    Some([white, until_draws - white, 100 - until_draws])
}

fn shares(results: [u64; 3]) -> String {
    percentages(results)
        .map_or_else(|| "–".to_owned(), |[white, draws, black]| format!("{white} / {draws} / {black} %"))
}

/// A bar with a part for White, draws and Black.
fn bar_of(results: [u64; 3], width: usize, style: Style) -> String {
    let all: u64 = results.iter().sum();
    if all == 0 {
        return " ".repeat(width);
    }
    let end = |count: u64| ((2 * count * width as u64 + all) / (2 * all)) as usize;
    let [white, until_draws] = [end(results[0]), end(results[0] + results[1])];
    let lens = [white, until_draws - white, width - until_draws];
    if style.has_color() {
        return [palette::WHITE, palette::DRAW, palette::BLACK]
            .iter()
            .zip(lens)
            .filter(|&(_, len)| len > 0)
            .map(|(code, len)| style.sgr(code, &"█".repeat(len)))
            .collect();
    }
    ["█", "▒", "·"].iter().zip(lens).map(|(cell, len)| cell.repeat(len)).collect()
}
