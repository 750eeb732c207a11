//! The options of a command line, as values and as arguments.

use super::expression::{Condition, Number};

/// What `--sample` says.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Sample {
    /// A rate in thousandths.
    Rate(u32),
    /// A number of records, 2 or more.
    Number(u64),
    /// An expression with the probability: one rate where the condition is true, another elsewhere, in thousandths.
    Case(Condition, u32, u32),
}

/// The column that `--set` writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    Score,
    RawScore,
    Result,
    Ply,
    Halfmove,
}

/// The value that `--set` gives a column.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Number(Number),
    /// One result where the condition is true, the result as it was elsewhere.
    Result(Condition, super::records::Outcome),
}

/// The options of a command line that choose, change and limit.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Options {
    pub(crate) min_elo: Option<u16>,
    pub(crate) max_elo: Option<u16>,
    pub(crate) result: Vec<Option<super::records::Outcome>>,
    pub(crate) termination: Option<String>,
    pub(crate) eco: Option<String>,
    pub(crate) time_control: Option<String>,
    pub(crate) min_plies: Option<u32>,
    pub(crate) drop_bad_games: bool,
    pub(crate) plies: Option<(u32, Option<u32>)>,
    pub(crate) skip_book: Option<u32>,
    pub(crate) every: Option<u32>,
    pub(crate) last: bool,
    pub(crate) max_per_game: Option<u32>,
    pub(crate) condition: Option<Condition>,
    pub(crate) sample: Option<Sample>,
    pub(crate) set: Option<(Target, Value)>,
    pub(crate) seed: Option<u64>,
    pub(crate) skip: Option<u64>,
    pub(crate) limit: Option<u64>,
    pub(crate) shard: Option<(u32, u32)>,
    pub(crate) allow_loss: bool,
    pub(crate) no_mmap: bool,
    pub(crate) strict: bool,
    pub(crate) rejects: bool,
    pub(crate) manifest: bool,
}

/// The names of the options, for the table of pairs and for shrinking: how many there are of [`Options::without`].
pub(crate) const NAMES: [&str; 25] = [
    "min-elo",
    "max-elo",
    "result",
    "termination",
    "eco",
    "time-control",
    "min-plies",
    "drop-bad-games",
    "plies",
    "skip-book",
    "every",
    "last",
    "max-per-game",
    "where",
    "sample",
    "set",
    "seed",
    "skip",
    "limit",
    "shard",
    "allow-loss",
    "no-mmap",
    "strict",
    "rejects",
    "manifest",
];

impl Options {
    /// These options without one of [`NAMES`].
    pub(crate) fn without(&self, name: &str) -> Self {
        let mut rest = self.clone();
        match name {
            "min-elo" => rest.min_elo = None,
            "max-elo" => rest.max_elo = None,
            "result" => rest.result.clear(),
            "termination" => rest.termination = None,
            "eco" => rest.eco = None,
            "time-control" => rest.time_control = None,
            "min-plies" => rest.min_plies = None,
            "drop-bad-games" => rest.drop_bad_games = false,
            "plies" => rest.plies = None,
            "skip-book" => rest.skip_book = None,
            "every" => rest.every = None,
            "last" => rest.last = false,
            "max-per-game" => rest.max_per_game = None,
            "where" => rest.condition = None,
            "sample" => rest.sample = None,
            "set" => rest.set = None,
            "seed" => rest.seed = None,
            "skip" => rest.skip = None,
            "limit" => rest.limit = None,
            "shard" => rest.shard = None,
            "allow-loss" => rest.allow_loss = false,
            "no-mmap" => rest.no_mmap = false,
            "strict" => rest.strict = false,
            "rejects" => rest.rejects = false,
            "manifest" => rest.manifest = false,
            _ => unreachable!("{name} is no option"),
        }
        rest
    }
    /// The names of the options that are given.
    pub(crate) fn given(&self) -> Vec<&'static str> {
        NAMES.into_iter().filter(|name| self.without(name) != *self).collect()
    }
    /// Options that choose whole games by what their tags say.
    pub(crate) fn choose_games(&self) -> bool {
        self.by_tags() || !self.result.is_empty() || self.min_plies.is_some() || self.drop_bad_games
    }
    pub(crate) fn by_tags(&self) -> bool {
        self.min_elo.is_some()
            || self.max_elo.is_some()
            || self.termination.is_some()
            || self.eco.is_some()
            || self.time_control.is_some()
    }
    /// Options that choose positions by their place in the game.
    pub(crate) fn choose_plies(&self) -> bool {
        self.plies.is_some() || self.skip_book.is_some() || self.looks_at_games()
    }
    /// Options that need the positions of a game together.
    pub(crate) fn looks_at_games(&self) -> bool {
        self.every.is_some() || self.last || self.max_per_game.is_some()
    }
    /// Whether `--skip` and `--limit` count what is left, and not what is read.
    pub(crate) fn choose(&self) -> bool {
        self.choose_games() || self.choose_plies() || self.condition.is_some() || self.sample.is_some()
    }
    /// The arguments.
    pub(crate) fn arguments(&self) -> Vec<String> {
        let mut all: Vec<String> = Vec::new();
        let mut add = |name: &str, value: Option<String>| {
            if let Some(value) = value {
                all.extend([format!("--{name}"), value]);
            }
        };
        add("min-elo", self.min_elo.map(|elo| elo.to_string()));
        add("max-elo", self.max_elo.map(|elo| elo.to_string()));
        let results: Vec<&str> = self.result.iter().map(|result| result.map_or("*", |result| result.text())).collect();
        add("result", (!results.is_empty()).then(|| results.join(",")));
        add("termination", self.termination.clone());
        add("eco", self.eco.clone());
        add("time-control", self.time_control.clone());
        add("min-plies", self.min_plies.map(|plies| plies.to_string()));
        let plies = |(first, last): (u32, Option<u32>)| {
            format!("{first}..{}", last.map_or(String::new(), |last| last.to_string()))
        };
        add("plies", self.plies.map(plies));
        add("skip-book", self.skip_book.map(|plies| plies.to_string()));
        add("every", self.every.map(|plies| plies.to_string()));
        add("max-per-game", self.max_per_game.map(|number| number.to_string()));
        add("where", self.condition.as_ref().map(ToString::to_string));
        let sample = |sample: &Sample| match sample {
            Sample::Rate(rate) => format!("0.{rate:03}"),
            Sample::Number(number) => number.to_string(),
            Sample::Case(condition, yes, no) => format!("case when {condition} then 0.{yes:03} else 0.{no:03} end"),
        };
        add("sample", self.sample.as_ref().map(sample));
        add("set", self.set.as_ref().map(set_text));
        add("seed", self.seed.map(|seed| seed.to_string()));
        add("skip", self.skip.map(|number| number.to_string()));
        add("limit", self.limit.map(|number| number.to_string()));
        add("shard", self.shard.map(|(share, of)| format!("{share}/{of}")));
        let flags = [
            ("drop-bad-games", self.drop_bad_games),
            ("last", self.last),
            ("allow-loss", self.allow_loss),
            ("no-mmap", self.no_mmap),
            ("strict", self.strict),
            ("manifest", self.manifest),
        ];
        all.extend(flags.into_iter().filter(|flag| flag.1).map(|flag| format!("--{}", flag.0)));
        all
    }
}

fn set_text((target, value): &(Target, Value)) -> String {
    let name = match target {
        Target::Score => "score",
        Target::RawScore => "raw_score",
        Target::Result => "result",
        Target::Ply => "ply",
        Target::Halfmove => "halfmove",
    };
    match value {
        Value::Number(number) => format!("{name}={number}"),
        Value::Result(condition, result) => {
            format!("{name}=case when {condition} then '{}' else result end", result.text())
        }
    }
}
