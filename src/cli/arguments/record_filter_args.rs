//! Options that choose among the good records: conditions on their columns, and samples.

use super::command_scope::CHOOSING;
use super::position_sequence_args::PositionSequenceArgs;
use super::second_file_args::push_names_in;
use super::value_parsers::{column_names, did_you_mean};
use anyhow::Result;
use clap::Args;
use lanefish::choose::{Assignments, Choose, Condition, Definitions, ExpressionError, ExpressionOptionError, Sample};
use lanefish::pipeline::SecondFile;
use std::cell::OnceCell;
use std::fmt;

/// Options of every command that reads positions.
#[derive(Debug, Default, Args)]
pub(crate) struct RecordFilterArgs {
    /// Only records for which this is true, an SQL expression over columns
    ///
    /// The columns are those that compute can write. For example "quiet and ply >= 16 and abs(score) <= 10000", or
    /// "stm_result = 'loss' and stm_score > 500".
    /// Operators are and, or, not, comparisons, between, in, is null, like, case, + - * / %, & | << >>. Functions are
    /// abs, least, greatest, coalesce, popcount(bits), xor(a, b), exp, ln, power, sqrt, round, interp(x, x0, y0, x1,
    /// y1, ..), uniform(a, ..), matches('8/8/8/8/4P3/8/8/8'),
    /// same_position('FEN') and on('e4', 'Pp'); of columns that are lists len(x), x[1] and contains(x, value). The command games accepts only columns
    /// of games, such as "mean_elo >= 2400 and speed = 'blitz'", and what is known at the end of a game: outcome, fen (the
    /// last position), plies and game.
    #[arg(id = "where", long = "where", value_name = "EXPR", allow_hyphen_values = true, help_heading = CHOOSING)]
    condition: Option<String>,

    #[command(flatten)]
    sequence: PositionSequenceArgs,

    /// Name a value, for other expressions and for --columns
    ///
    /// May be repeated; an expression can use the names before it. For example --let "m = (material_white +
    /// material_black) / 58.0".
    #[arg(id = "let", long = "let", value_name = "NAME=EXPR", allow_hyphen_values = true, help_heading = CHOOSING, hide_short_help = true)]
    definitions: Vec<String>,

    /// Only a random part of the records: a rate (0.01, 1%), a number, or an expression giving the probability
    ///
    /// A rate is a decimal number up to 1.0, or a percentage; a number above 1 is a number of records, such as 1000,
    /// 10_000, 1e6 or 1M.
    #[arg(long, value_name = "RATE|N|EXPR", allow_hyphen_values = true, help_heading = CHOOSING)]
    sample: Option<String>,

    /// Write the records with this value of score, raw_score, mate, result, ply or halfmove
    ///
    /// The expression is evaluated on the record as it was read; decimal values are rounded. If the value does not fit,
    /// the record is rejected. For example "raw_score = case when quiet then raw_score else 32002 end".
    #[arg(long, value_name = "COLUMN=EXPR", allow_hyphen_values = true, help_heading = CHOOSING, hide_short_help = true)]
    set: Vec<String>,

    /// The file of `--zip`, once it has been read.
    #[arg(skip)]
    second: OnceCell<SecondFile>,
}

/// An invalid expression, and the option that it was given with.
#[derive(Debug)]
pub(crate) struct WrongExpression {
    option: &'static str,
    error: ExpressionError,
}

impl WrongExpression {
    pub(crate) fn new(option: &'static str, error: ExpressionError) -> Self {
        Self { option, error }
    }
    /// The text, and marks below the invalid part.
    pub(crate) fn excerpt(&self) -> String {
        self.error.excerpt()
    }
}

impl fmt::Display for WrongExpression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hint = self.error.unknown_column().map(|name| did_you_mean(&name.to_ascii_lowercase(), column_names()));
        write!(f, "--{}: {}{}", self.option, self.error.message(), hint.unwrap_or_default())
    }
}

impl std::error::Error for WrongExpression {}

/// The error of an option with an expression.
fn wrong_option(option: &'static str) -> impl Fn(ExpressionOptionError) -> anyhow::Error {
    move |error| match error {
        ExpressionOptionError::Expression(error) => WrongExpression::new(option, error).into(),
        error => anyhow::anyhow!("--{option} {error}"),
    }
}

impl RecordFilterArgs {
    /// The values that `--let` names.
    pub(crate) fn definitions(&self) -> Result<Definitions> {
        let columns = self.second.get().map_or_else(Vec::new, SecondFile::columns);
        Definitions::parse_with_columns(&self.definitions, columns).map_err(wrong_option("let"))
    }

    /// The columns of `--zip` that expressions name.
    pub(crate) fn names_beside(&self) -> Vec<String> {
        let mut names = Vec::new();
        let expressions = self.condition.iter().chain(&self.definitions).chain(&self.sample).chain(&self.set);
        expressions.for_each(|expression| push_names_in(expression, &mut names));
        names
    }

    /// Makes the columns of a second file known to all expressions.
    pub(crate) fn set_second(&self, second: SecondFile) {
        // It is read once.
        let _ = self.second.set(second);
    }

    /// The file of `--zip`, once it has been read.
    pub(crate) fn second(&self) -> Option<&SecondFile> {
        self.second.get()
    }

    /// The condition, if one is given; of a command that takes whole games, one on games.
    pub(crate) fn condition(&self, of_games: bool) -> Result<Option<Condition>> {
        let definitions = self.definitions()?;
        let condition = self.condition.as_deref().map(|text| match of_games {
            true => definitions.condition_on_games(text),
            false => definitions.condition(text),
        });
        Ok(condition.transpose().map_err(|error| WrongExpression::new("where", error))?)
    }

    /// Whether a part of the records is taken at random.
    pub(crate) fn takes_sample(&self) -> bool {
        self.sample.is_some()
    }

    /// Whether records get new values.
    pub(crate) fn sets_values(&self) -> bool {
        !self.set.is_empty()
    }

    /// Whether games are chosen by their positions.
    pub(crate) fn chooses_by_positions(&self) -> bool {
        self.sequence.is_given()
    }

    /// Checks the expressions that choose, and returns remarks on them.
    pub(crate) fn check(&self, of_games: bool) -> Result<Vec<String>> {
        let sequence = self.sequence.sequence(&self.definitions()?)?;
        let condition = self.condition(of_games)?;
        let of_condition =
            condition.iter().flat_map(|condition| condition.notes()).map(|note| ("where", note.as_str()));
        let mut notes = Vec::new();
        for (option, note) in sequence.notes().map(|(word, note)| (word.name(), note)).chain(of_condition) {
            let note = format!("--{option}: {note}");
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
        Ok(notes)
    }

    /// Adds these choices to the options of a run.
    pub(crate) fn apply(&self, choose: Choose, of_games: bool) -> Result<Choose> {
        let definitions = self.definitions()?;
        let parse_sample = |text| Sample::parse(text, &definitions).map_err(wrong_option("sample"));
        let sample = self.sample.as_deref().map(parse_sample).transpose()?;
        let set = Assignments::parse_with(&self.set, &definitions).map_err(wrong_option("set"))?;
        let choose = match self.sequence.sequence(&definitions)? {
            none if none.is_empty() => choose,
            sequence => {
                let games = choose.games.as_deref().cloned().unwrap_or_default().having(sequence);
                choose.games(Some(games.into()))
            }
        };
        Ok(choose.filter(self.condition(of_games)?).sample(sample).set(set))
    }
}
