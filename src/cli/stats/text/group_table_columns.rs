//! The columns of the table of groups: what they are called, what they have, and which of them matter most.

use super::tables::decimal;
use anyhow::{Result, bail};
use lanefish::report::{GroupValue, Groups, Report, Results};
use lanefish_core::text::numbers::{grouped, percent};
use std::cmp::Ordering;
use std::ops::RangeInclusive;
use std::str::FromStr;

/// A number of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::cli::stats) enum GroupFact {
    Games,
    Positions,
    Share,
    White,
    Draw,
    Black,
    MeanMoves,
    MeanCentipawns,
    MeanElo,
    InCheck,
    Mates,
    Captures,
    Distribution,
}

/// What the numbers of groups are compared with.
pub(super) struct WholeOfGroups {
    positions: u64,
    games: u64,
    has_results: bool,
    has_scores: bool,
    has_ratings: bool,
    /// Whether a game has positions in one group only.
    are_of_games: bool,
    moves: RangeInclusive<i64>,
}

impl WholeOfGroups {
    pub(super) fn of(report: &Report, groups: &Groups) -> Self {
        let moves = &report.legal_moves;
        Self {
            positions: report.positions,
            games: report.game_results.total(),
            has_results: report.results.known() > 0,
            has_scores: !report.scores.is_empty(),
            has_ratings: groups.values.values().any(|report| report.ratings.count > 0),
            are_of_games: groups.are_of_games(),
            moves: moves.quantile(0, 1).unwrap_or(0)..=moves.quantile(999, 1000).unwrap_or(0),
        }
    }
    const fn has_games(&self) -> bool {
        self.games > 0
    }
}

impl GroupFact {
    /// All of them in the order of the table, with the names that options have for them.
    const ALL: [(&'static str, Self); 13] = [
        ("games", Self::Games),
        ("positions", Self::Positions),
        ("share", Self::Share),
        ("white", Self::White),
        ("draw", Self::Draw),
        ("black", Self::Black),
        ("mean_moves", Self::MeanMoves),
        ("mean_elo", Self::MeanElo),
        ("mean_cp", Self::MeanCentipawns),
        ("in_check", Self::InCheck),
        ("mates", Self::Mates),
        ("captures", Self::Captures),
        ("distribution", Self::Distribution),
    ];

    /// Those that the table has if none are named.
    pub(super) fn usual(whole: &WholeOfGroups) -> Vec<Self> {
        let is_there = |fact: &Self| match fact {
            Self::Games => whole.has_games(),
            Self::White | Self::Draw | Self::Black => whole.has_results,
            Self::MeanCentipawns => whole.has_scores,
            Self::MeanElo => whole.has_ratings,
            _ => true,
        };
        Self::ALL.into_iter().map(|(_, fact)| fact).filter(is_there).collect()
    }

    /// The place in the order of importance, the most important first.
    pub(super) fn importance(self, whole: &WholeOfGroups) -> u8 {
        match self {
            Self::Games => 0,
            Self::Positions if !whole.has_games() => 0,
            Self::White | Self::Draw | Self::Black => 1,
            Self::Share => 2,
            Self::MeanElo => 3,
            Self::MeanMoves => 4,
            Self::MeanCentipawns => 5,
            Self::Positions => 6,
            Self::InCheck => 7,
            Self::Mates => 8,
            Self::Captures => 9,
            Self::Distribution => 10,
        }
    }

    pub(super) fn title(self, report: &Report) -> &'static str {
        match self {
            Self::Games => "games",
            Self::Positions => "positions",
            Self::Share => "share",
            Self::White => report.title("White"),
            Self::Draw => "draw",
            Self::Black => report.title("Black"),
            Self::MeanMoves => "mean moves",
            Self::MeanCentipawns => "mean cp",
            Self::MeanElo => "mean rating",
            Self::InCheck => "in check",
            Self::Mates => "mates",
            Self::Captures => "captures",
            Self::Distribution => "distribution",
        }
    }

    /// Whether it is about games, as far as these are known.
    pub(super) fn is_of_games(self, whole: &WholeOfGroups) -> bool {
        whole.has_games() && matches!(self, Self::Games | Self::White | Self::Draw | Self::Black)
    }

    pub(super) fn text(self, report: &Report, whole: &WholeOfGroups) -> String {
        let result = |part: fn(&Results) -> u64| {
            // By game, where games are known.
            let results = if whole.has_games() { &report.game_results } else { &report.results };
            percent(part(results), results.known())
        };
        match self {
            Self::Games => grouped(report.game_results.total()),
            Self::Positions => grouped(report.positions),
            Self::Share if whole.has_games() && whole.are_of_games => percent(report.game_results.total(), whole.games),
            Self::Share => percent(report.positions, whole.positions),
            Self::White => result(|results| results.white),
            Self::Draw => result(|results| results.draw),
            Self::Black => result(|results| results.black),
            Self::Distribution => report.legal_moves.spark(whole.moves.clone()),
            Self::InCheck => percent(report.position_counts.in_check, report.positions),
            Self::Mates => percent(report.position_counts.checkmate, report.positions),
            Self::MeanElo => self.number(report).map_or_else(|| "-".to_owned(), |elo| format!("{elo:.0}")),
            Self::MeanMoves | Self::MeanCentipawns | Self::Captures => decimal(self.number(report)),
        }
    }

    /// The number by which groups are sorted.
    fn number(self, report: &Report) -> Option<f64> {
        let has_games = report.game_results.total() > 0;
        let of_positions = |count: u64| Some(count as f64 / report.positions.max(1) as f64);
        let result = |part: fn(&Results) -> u64| {
            let results = if has_games { &report.game_results } else { &report.results };
            (results.known() > 0).then(|| part(results) as f64 / results.known() as f64)
        };
        match self {
            Self::Games => Some(report.game_results.total() as f64),
            Self::Positions => Some(report.positions as f64),
            Self::Share if has_games => Some(report.game_results.total() as f64),
            Self::Share => Some(report.positions as f64),
            Self::White => result(|results| results.white),
            Self::Draw => result(|results| results.draw),
            Self::Black => result(|results| results.black),
            Self::MeanMoves | Self::Distribution => report.legal_moves.summary().mean,
            Self::MeanCentipawns => report.scores.summary().mean,
            Self::MeanElo => report.ratings.mean(),
            Self::InCheck => of_positions(report.position_counts.in_check),
            Self::Mates => of_positions(report.position_counts.checkmate),
            Self::Captures => of_positions(report.move_counts.captures),
        }
    }
}

impl FromStr for GroupFact {
    type Err = anyhow::Error;
    fn from_str(text: &str) -> Result<Self> {
        let wanted = text.trim().to_ascii_lowercase().replace([' ', '-'], "_");
        match Self::ALL.into_iter().find(|(name, _)| *name == wanted) {
            Some((_, fact)) => Ok(fact),
            None => {
                let names: Vec<&str> = Self::ALL.iter().map(|(name, _)| *name).collect();
                bail!("there is no `{text}` in the table of groups: it has {}", names.join(", "))
            }
        }
    }
}

/// The order of groups in the table: by a number, or by the values of the groups.
#[derive(Clone, Copy, Debug)]
pub(in crate::cli::stats) struct GroupOrder {
    fact: Option<GroupFact>,
    descends: bool,
}

impl FromStr for GroupOrder {
    type Err = anyhow::Error;
    fn from_str(text: &str) -> Result<Self> {
        let (name, direction) = text.rsplit_once(':').map_or((text, None), |(name, rest)| (name, Some(rest)));
        let fact = if name.trim().eq_ignore_ascii_case("group") { None } else { Some(name.parse()?) };
        let descends = match direction {
            Some("asc") => false,
            Some("desc") => true,
            // The largest numbers first, and groups from the first on.
            None => fact.is_some(),
            Some(other) => bail!("`{other}` is no direction: asc or desc"),
        };
        Ok(Self { fact, descends })
    }
}

impl GroupOrder {
    /// The first groups in this order, at most `most`; of the groups in the order of their values, the largest ones.
    pub(in crate::cli::stats) fn first(self, groups: &Groups, most: usize) -> Groups {
        let sign = if self.descends { 1.0 } else { -1.0 };
        match self.fact {
            Some(fact) => groups.first(most, |report| fact.number(report).map(|number| sign * number)),
            None => groups.largest(most),
        }
    }

    /// Sorts groups; of equal ones, those with the lowest values come first, and those without a number last.
    pub(super) fn sort(self, groups: &mut [(&[GroupValue], &Report)]) {
        groups.sort_by(|(a_values, a), (b_values, b)| {
            let Some(fact) = self.fact else {
                return if self.descends { b_values.cmp(a_values) } else { a_values.cmp(b_values) };
            };
            let order = match (fact.number(a), fact.number(b)) {
                (Some(a), Some(b)) if self.descends => b.total_cmp(&a),
                (Some(a), Some(b)) => a.total_cmp(&b),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (None, None) => Ordering::Equal,
            };
            order.then_with(|| a_values.cmp(b_values))
        });
    }
}
