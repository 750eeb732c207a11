//! `games`: one row per game, or the games themselves.

use super::arguments::command_scope::{Examples, OUTPUT, RunCommand, Scope};
use super::arguments::common_args::{OutputArgs, ReadArgs};
use super::arguments::row_format_arg::{FOR_PEOPLE, RowForm, shown_or_written};
#[cfg(feature = "cluster")]
use super::run::cluster_output::ClusterOutputArgs;
use super::run::column_listing::{self, ListedColumn};
use super::run::format_output::{self, DivisionArgs, OutputRequest, WriteArgs};
use super::run::invocation::Invocation;
use anyhow::{Result, bail};
use clap::Args;
use lanefish::datasets::SortGames;
use lanefish::games::MoveForms;
use lanefish::jobs::{Content, GameColumn, GameColumns, GameSchema, OutputContent, OutputFormat};
#[cfg(feature = "cluster")]
use lanefish::sql::cluster::PieceContent;
use lanefish::table::TAGS;

/// The usual columns in the order in which a table for people has them, since it is cut from the right.
const FOR_PEOPLE_FIRST: &str = "game,white,black,result,plies,white_elo,black_elo,outcome,date,eco,opening,\
                                time_control,termination,event,site,round,time,variant,fen,error";

/// One row per game (tags, plies, result, outcome, final position), or the games as PGN
#[derive(Debug, Args)]
pub(crate) struct GamesArgs {
    /// Columns to write, separated by commas; `all` for all of them, tag:NAME for any tag of the games [default: all
    /// but `tags`, and with jsonl `tags` in place of the columns for single tags]
    ///
    /// A table for people begins with the players and the result, unless columns are chosen.
    #[arg(long, value_name = "NAMES", hide_possible_values = true, value_parser = super::arguments::value_parsers::GameColumnNames)]
    columns: Option<String>,

    /// Also write the moves, as movetext, uci, san, aix, or several of them
    ///
    /// The table can then be read as one of games. movetext is all that follows the tags in PGN, in one line; uci is a column
    /// `moves`, san a column `moves_san`, and aix a column `movedata` with lists of clocks and evaluations. The last
    /// position is `final_fen`, and the first one, unless it is the usual one, `start_fen`. Of damaged games only the
    /// movetext is written. Games that are stored as positions need all of them, one after the other; other games are
    /// rejected.
    #[arg(long, value_name = "FORMS")]
    moves: Option<MoveForms>,

    /// Write a table with exactly the columns and types of one that is published: hub (all games of Lichess as Parquet,
    /// with `movetext`) or aix (the same games in two bytes a move)
    ///
    /// Both have games of standard chess from the usual position only; other games are rejected, and those with null moves
    /// by aix. Comments other than clocks and evaluations have no place in aix.
    #[arg(long, value_name = "TABLE", hide_short_help = true, conflicts_with_all = ["moves", "columns"])]
    schema: Option<GameSchema>,

    /// Sort by a column, from the largest value with `:desc`; --limit then keeps the first of the sorted games
    ///
    /// COLUMN is any of --list-columns, or tag:NAME. Numbers are compared as numbers, text by its bytes. Games without
    /// a value come last in both directions, and games with equal values stay in the order of the input. --skip counts
    /// sorted games as well. With --shard, each share is sorted on its own. What does not fit in --memory goes to
    /// temporary files.
    #[arg(long, value_name = "COLUMN[:desc]", hide_possible_values = true, value_parser = super::arguments::value_parsers::GameOrderName)]
    sort: Option<String>,

    /// List all columns with type and meaning
    #[arg(long)]
    list_columns: bool,

    /// With --list-columns, print one JSON array
    #[arg(long, requires = "list_columns")]
    json: bool,

    /// Format of the output; jsonl has all tags of the games, pgn copies the games unchanged [default: from the name
    /// given with -o, else table on a terminal and csv elsewhere]
    ///
    /// A table is for people: aligned, and cut to the width of the terminal (80 columns if standard output is not one).
    /// Every other format has all columns and whole values.
    #[arg(long, value_name = "FORMAT", value_parser = shown_or_written(FOR_PEOPLE, Content::Games), help_heading = OUTPUT)]
    format: Option<RowForm>,

    #[command(flatten)]
    output: OutputArgs,

    #[command(flatten)]
    division: DivisionArgs,

    #[command(flatten)]
    write: WriteArgs,

    #[cfg(feature = "cluster")]
    #[command(flatten)]
    cluster: ClusterOutputArgs,

    #[command(flatten)]
    read: ReadArgs,
}

impl RunCommand for GamesArgs {
    const EXAMPLES: Examples = &[
        ("One row per game", "lanefish games games.pgn -o games.csv"),
        ("Some columns", "lanefish games games.pgn --columns white,black,result,tag:Annotator"),
        ("The games of strong players, unchanged", "lanefish games games.pgn.zst --min-elo 2500 -o strong.pgn.zst"),
        ("The games as a table with their moves", "lanefish games games.pgn.zst -o games.parquet --moves movetext,uci"),
        ("The ten longest games", "lanefish games games.pgn --sort plies:desc --limit 10 --columns plies,white,black"),
        (
            "Games in which White has an isolated queen's pawn, unchanged",
            "lanefish games games.pgn --having \"on('d4', 'P') and white_pawns_mask & 0x1414141414141414 = 0\" -o iqp.pgn",
        ),
        (
            "Games that ended in stalemate",
            "lanefish games games.pgn --format jsonl | jq 'select(.outcome == \"stalemate\")'",
        ),
    ];
    const SCOPE: Scope = Scope {
        takes_whole_games: true,
        refuses: &["sample"],
        reason: "it has one row per whole game",
        refuses_without: Some((&["memory", "temp"], "sort", "--sort")),
        ..Scope::READS
    };

    fn run(&self, invocation: &Invocation<'_>) -> Result<u8> {
        if self.list_columns {
            return list_columns(self.json);
        }
        invocation.takes_whole_games.set(true);
        let condition = self.read.reading.chosen.condition(true)?;
        if self.read.reading.keep_en_passant {
            bail!("--keep-en-passant: final positions have no en passant squares without a legal capture");
        }
        let has_matches = self.read.reading.chosen.chooses_by_positions();
        let columns = super::arguments::value_parsers::game_columns(self.columns.as_deref(), has_matches)?;
        let sort = self.sort.as_deref().map(|text| super::arguments::value_parsers::game_order(text, has_matches));
        let sort = sort.transpose()?.map(SortGames::by);
        let shown = RowForm::of(self.format, &self.output, Content::Games)?;
        let columns = match (&self.columns, shown) {
            (Some(_), RowForm::Rows(OutputFormat::Pgn)) => {
                bail!("--columns: PGN is a copy of the games, without columns; rows are csv, jsonl, parquet or arrow")
            }
            (None, RowForm::Table) if has_matches => {
                Some(GameColumns::named(&FOR_PEOPLE_FIRST.replace("plies,", "plies,match_plies,"))?.with_matches())
            }
            (None, RowForm::Table) => Some(GameColumns::named(FOR_PEOPLE_FIRST)?),
            (None, RowForm::Rows(OutputFormat::Pgn | OutputFormat::JsonLines)) => None,
            _ => Some(columns),
        };
        #[cfg(feature = "cluster")]
        let chosen = columns.clone();
        let columns = match (self.moves, shown) {
            (None, RowForm::Rows(format))
                if !matches!(format, OutputFormat::Csv | OutputFormat::JsonLines | OutputFormat::Pgn)
                    && self.schema.is_some() =>
            {
                self.schema.map(GameColumns::of_schema)
            }
            (None, _) if self.schema.is_some() => {
                bail!("--schema: such tables are parquet or arrow, which -o or --format chooses")
            }
            (None, _) => columns,
            (Some(_), RowForm::Table | RowForm::Rows(OutputFormat::Pgn)) => {
                bail!("--moves: they are columns of csv, jsonl, parquet or arrow, which -o or --format chooses")
            }
            (Some(forms), _) => {
                let chosen = columns.unwrap_or_else(|| GameColumns::usual().clone());
                Some(chosen.with_moves(forms))
            }
        };
        if condition.is_some_and(|condition| condition.reads("fen")) {
            invocation.note(format_args!(
                "--where: `fen` is the last position of a game; --having chooses by any of its positions"
            ));
        }
        let written = columns.as_ref().map_or(OutputContent::Games, OutputContent::GameColumns);
        let kinds = columns.iter().flat_map(GameColumns::iter).map(|column| column.kind().into());
        let read = (&self.read.inputs[..], &self.read.reading);
        let request = OutputRequest::shown(&self.output, shown, kinds, &self.write).divided(&self.division);
        #[cfg(feature = "cluster")]
        if self.cluster.is_given() {
            if sort.is_some() {
                bail!("--sort and --cluster: each machine has only some of the games");
            }
            let content = match self.schema {
                Some(schema) => PieceContent::GameSchema(schema),
                None if chosen.is_none() && self.moves.is_none() => PieceContent::Games,
                None => {
                    let chosen = chosen.as_ref().unwrap_or(GameColumns::usual());
                    let names: Vec<&str> = chosen.iter().map(GameColumn::name).collect();
                    PieceContent::GameColumns { names: names.join(","), moves: self.moves }
                }
            };
            return self.cluster.write(invocation, read, (written, content), request);
        }
        let Some(sort) = sort else {
            return format_output::write(invocation, read, written, request);
        };
        let (done, _) =
            format_output::write_by(invocation, read, written, request, &[], |inputs, options, job, sink| {
                // Nothing is written before everything was read.
                invocation.gives_up.set(true);
                invocation.limits_output.set(true);
                sort.run(inputs, options, job, sink)
            })?;
        invocation.conclude(done)
    }
}

fn list_columns(json: bool) -> Result<u8> {
    let listed = |column: &'static GameColumn| ListedColumn {
        name: column.name(),
        kind: column.kind().name(),
        meaning: column.meaning(),
        subject: None,
        is_default: column.is_usual(),
    };
    column_listing::print(&GameColumn::all().iter().map(listed).collect::<Vec<_>>(), &[&TAGS], json)
}
