//! The most striking facts of a dataset: those that are furthest from what is usual, and never within noise.
//!
//! Each candidate is a share or a ratio with the range that it has in most datasets, and with its standard error. Games are
//! the observations where they are known, because the positions of a game depend on each other. What is within the range, or
//! beyond it by no more than chance may explain, is no story. The ranges are those of games on Lichess and of training data of
//! engines, rounded; they only decide what is told.

use super::time_and_mistakes::{phase_label, rating_label};
use super::{Details, JudgedMoves, Kinds, PHASE_BANDS, RATING_BANDS, Report};
use crate::distinct::Sketch;
use crate::text::numbers::{counted, grouped, percent, percentage};

/// Maximum number of facts.
pub const MOST_TOLD: usize = 5;
/// A fact has to be this many standard errors beyond what is usual.
const ERRORS: f64 = 4.0;
/// Fewer games or positions tell nothing.
const ENOUGH: u64 = 200;
/// Fewer judged moves of a group of players, or of a phase, tell nothing.
const ENOUGH_MOVES: u64 = 1000;

/// A striking fact.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct StrikingFact {
    /// The name of the fact.
    pub key: &'static str,
    /// Its number, as shown.
    pub figure: String,
    /// What the number is, in a sentence that goes on from it, and what is usual.
    pub text: String,
    /// How striking it is: the distance from what is usual, less chance, in widths of the usual range.
    pub surprise: f64,
}

/// The range that a share has in most datasets.
type Usual = (f64, f64);

/// Games in which White has won, of those that one side has.
const WHITE_WINS: Usual = (0.48, 0.58);
const DRAWS: Usual = (0.02, 0.35);
const TIME_FORFEITS: Usual = (0.15, 0.40);
/// The most frequent opening, without its variation.
const TOP_OPENING: Usual = (0.0, 0.15);
/// The most frequent first move.
const TOP_FIRST_MOVE: Usual = (0.40, 0.70);
const CHECKS: Usual = (0.03, 0.10);
const WHITE_TO_MOVE: Usual = (0.48, 0.52);
const DUPLICATES: Usual = (0.0, 0.10);
const NO_SCORE: Usual = (0.0, 0.01);
/// Scores beyond ±1,500 centipawns.
const WON_SCORES: Usual = (0.0, 0.15);
/// Positions in the lowest range of phases: endgames.
const ENDGAMES: Usual = (0.08, 0.40);
/// How many times as often the group with the most blunders blunders as the one with the fewest.
const BLUNDERS: Usual = (1.0, 1.5);
/// Plies of the longest game.
const LONGEST: Usual = (100.0, 350.0);

struct Story {
    facts: Vec<StrikingFact>,
    /// Number of observations for each position.
    per_position: f64,
}

/// The distance of a number from a range.
fn outside(number: f64, (low, high): Usual) -> f64 {
    (low - number).max(number - high).max(0.0)
}

fn usual((low, high): Usual) -> String {
    let whole = |share: f64| format!("{:.0}", 100.0 * share);
    if low == 0.0 {
        format!("usually at most {} %", whole(high))
    } else {
        format!("usually {} to {} %", whole(low), whole(high))
    }
}

impl Story {
    /// Adds a share, if it is striking for this number of observations.
    fn share(&mut self, key: &'static str, part: u64, whole: u64, observations: f64, range: Usual, text: &str) {
        if whole < ENOUGH || observations < ENOUGH as f64 {
            return;
        }
        let share = part as f64 / whole as f64;
        // Where nothing or everything is counted, the error is that of the nearest end of the range.
        let nearest = share.clamp(range.0.max(0.001), range.1.min(0.999));
        let error = (nearest * (1.0 - nearest) / observations).sqrt();
        let beyond = outside(share, range) - ERRORS * error;
        if beyond > 0.0 {
            let text = format!("{text} ({})", usual(range));
            self.facts.push(StrikingFact {
                key,
                figure: percent(part, whole),
                text,
                surprise: beyond / (range.1 - range.0),
            });
        }
    }

    /// Adds a share of the positions.
    fn share_of_positions(&mut self, key: &'static str, part: u64, whole: u64, range: Usual, text: &str) {
        self.share(key, part, whole, whole as f64 * self.per_position, range, text);
    }

    /// Adds the most frequent of some texts.
    fn most_frequent(&mut self, key: &'static str, kinds: &Kinds, range: Usual, text: impl Fn(&str) -> String) {
        let total: u64 = kinds.counts().values().sum();
        // Of equally frequent ones the first.
        if let Some((name, &count)) = kinds.counts().iter().rev().max_by_key(|(_, count)| **count) {
            self.share(key, count, total, total as f64, range, &text(name));
        }
    }

    /// Adds how much more often some blunder than others.
    fn blunders(&mut self, key: &'static str, groups: &[(String, JudgedMoves)], text: impl Fn(&str, &str) -> String) {
        let rates = groups.iter().filter(|(_, moves)| moves.moves >= ENOUGH_MOVES).map(|(name, moves)| {
            let [.., blunders] = moves.judgments;
            (name, blunders as f64, moves.moves as f64)
        });
        let rates: Vec<(&String, f64, f64)> = rates.filter(|&(_, blunders, _)| blunders > 0.0).collect();
        let rate = |&(_, blunders, moves): &(&String, f64, f64)| blunders / moves;
        let most = rates.iter().max_by(|a, b| rate(a).total_cmp(&rate(b)));
        let fewest = rates.iter().min_by(|a, b| rate(a).total_cmp(&rate(b)));
        if let (Some(most), Some(fewest)) = (most, fewest) {
            let ratio = rate(most) / rate(fewest);
            // The relative errors of both.
            let error = ratio * (1.0 / most.1 + 1.0 / fewest.1).sqrt();
            let beyond = outside(ratio, BLUNDERS) - ERRORS * error;
            if beyond > 0.0 {
                let rates = [most, fewest].map(|it| percentage(100.0 * rate(it)));
                self.facts.push(StrikingFact {
                    key,
                    figure: format!("{ratio:.1} ×"),
                    text: format!("{} ({} and {} of the moves)", text(most.0, fewest.0), rates[0], rates[1]),
                    surprise: beyond / (BLUNDERS.1 - BLUNDERS.0),
                });
            }
        }
    }
}

impl Report {
    /// The most striking facts, at most [`MOST_TOLD`], the most striking first; nothing where nothing is striking.
    ///
    /// ```
    /// use lanefish::report::Report;
    /// assert!(Report::default().striking_facts().is_empty());
    /// ```
    pub fn striking_facts(&self) -> Vec<StrikingFact> {
        let games = self.game_results.total();
        let per_position = match games {
            0 => 1.0,
            games => games as f64 / self.positions.max(1) as f64,
        };
        let mut story = Story { facts: Vec::new(), per_position };
        self.tell_results(&mut story);
        self.tell_positions(&mut story);
        if let Some(details) = &self.details {
            self.tell_details(details, &mut story);
            details.tell_games(&mut story);
        }
        let mut facts = story.facts;
        facts.sort_by(|a, b| b.surprise.total_cmp(&a.surprise));
        facts.truncate(MOST_TOLD);
        facts
    }

    fn tell_results(&self, story: &mut Story) {
        let is_by_game = self.game_results.known() > 0;
        let results = if is_by_game { &self.game_results } else { &self.results };
        let (known, decisive) = (results.known(), results.white + results.black);
        let weight = if is_by_game { 1.0 } else { story.per_position };
        let of = if is_by_game { "of the games" } else { "of the positions are from games that" };
        let text = format!("of those with a winner: {}", self.title("White won"));
        story.share("white_wins", results.white, decisive, decisive as f64 * weight, WHITE_WINS, &text);
        story.share("draws", results.draw, known, known as f64 * weight, DRAWS, &format!("{of} were drawn"));
    }

    fn tell_positions(&self, story: &mut Story) {
        let positions = self.positions;
        let counts = &self.position_counts;
        story.share_of_positions("checks", counts.in_check, positions, CHECKS, "of the positions are checks");
        if !self.is_from_mover() {
            let text = "of the positions have White to move";
            story.share_of_positions("side_to_move", self.white_to_move, positions, WHITE_TO_MOVE, text);
        }
        let lowest: u64 = (0..6).map(|phase| self.phase.count(phase)).sum();
        let text = "of the positions are endgames with little material";
        story.share_of_positions("endgames", lowest, positions, ENDGAMES, text);
        let coded = self.coded_scores.total();
        let scored = self.scores.total() + coded + self.mates.white + self.mates.black;
        // Dumps have evaluations of some games only.
        if scored > positions / 2 {
            let text = "of the positions have no score";
            story.share_of_positions("no_score", positions - scored.min(positions), positions, NO_SCORE, text);
            let most = i64::from(super::RESULT_SCORE_MOST);
            let scores = self.scores.iter().filter(|(score, _)| score.abs() >= most);
            let won: u64 = scores.map(|(_, count)| count).sum::<u64>() + coded;
            let text = format!("of the scores are beyond ±{} centipawns", grouped(most as u64));
            story.share_of_positions("won_scores", won, self.scores.total() + coded, WON_SCORES, &text);
        }
    }

    fn tell_details(&self, details: &Details, story: &mut Story) {
        let [.., distinct] = details.exact_distinct.unwrap_or_else(|| details.distinct.estimates());
        let error = if details.exact_distinct.is_some() { 0.0 } else { Sketch::ERROR * distinct as f64 };
        let duplicates = self.positions.saturating_sub(distinct);
        let share = duplicates as f64 / self.positions.max(1) as f64;
        let beyond = outside(share, DUPLICATES) - ERRORS * error / self.positions.max(1) as f64;
        if beyond > 0.0 && self.positions >= ENOUGH {
            let text = format!("of the positions are duplicates of others ({})", usual(DUPLICATES));
            let figure = percentage(100.0 * share);
            story.facts.push(StrikingFact { key: "duplicates", figure, text, surprise: beyond / DUPLICATES.1 });
        }
        if let Some(mistakes) = &details.mistakes {
            // The last range has those whose rating is not known.
            let ratings = (0..RATING_BANDS - 1).map(|band| (rating_label(band), mistakes.of_rating(band)));
            story.blunders("blunders_by_rating", &ratings.collect::<Vec<_>>(), |most, fewest| {
                format!("as often as players rated {fewest}, players rated {most} blunder")
            });
            let phases = (0..PHASE_BANDS).map(|band| (phase_label(band), mistakes.of_phase(band)));
            story.blunders("blunders_by_phase", &phases.collect::<Vec<_>>(), |most, fewest| {
                format!("as often as in phase {fewest} (24 = all pieces), players blunder in phase {most}")
            });
        }
    }
}

impl Details {
    fn tell_games(&self, story: &mut Story) {
        let games = &self.games;
        let total: u64 = games.terminations.counts().values().sum();
        if let Some(&forfeits) = games.terminations.counts().get("Time forfeit") {
            story.share(
                "time_forfeits",
                forfeits,
                total,
                total as f64,
                TIME_FORFEITS,
                "of the games were decided on time",
            );
        }
        story.most_frequent("top_opening", &games.openings, TOP_OPENING, |name| {
            format!("of the games with an opening are of one: {name}")
        });
        story.most_frequent("top_first_move", &games.first_moves, TOP_FIRST_MOVE, |name| {
            format!("of the games begin with 1. {name}")
        });
        if let Some(longest) = self.game_lengths().and_then(|lengths| lengths.summary().max) {
            let beyond = outside(longest as f64, LONGEST);
            if longest as f64 > LONGEST.1 && games.count >= ENOUGH {
                let text = format!("are the longest of {}", counted(games.count, "game"));
                let figure = format!("{longest} plies");
                story.facts.push(StrikingFact {
                    key: "longest",
                    figure,
                    text,
                    surprise: beyond / (LONGEST.1 - LONGEST.0),
                });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{Histogram, Results};

    /// A set of games about which there is nothing to tell.
    fn plain(games: u64) -> Report {
        let positions = 70 * games;
        Report {
            positions,
            white_to_move: positions / 2,
            position_counts: crate::report::PositionCounts { in_check: positions / 16, ..Default::default() },
            phase: Histogram::new(0, vec![positions / 50; 25]),
            game_results: Results { white: games / 2, draw: games / 20, black: games * 9 / 20, unknown: 0 },
            ..Report::default()
        }
    }

    fn keys(report: &Report) -> Vec<&'static str> {
        report.striking_facts().iter().map(|fact| fact.key).collect()
    }

    #[test]
    fn nothing_is_told_of_the_usual() {
        assert!(keys(&plain(10_000)).is_empty(), "{:?}", plain(10_000).striking_facts());
        assert!(keys(&Report::default()).is_empty());
    }

    #[test]
    fn what_is_striking_comes_first_and_noise_is_not_told() {
        let with = |games: u64| {
            let mut report = plain(games);
            report.game_results =
                Results { white: games * 66 / 100, draw: games * 4 / 100, black: games * 30 / 100, unknown: 0 };
            report
        };
        // Two of three decisive games: with few games, chance may explain it.
        assert!(keys(&with(100)).is_empty());
        assert!(keys(&with(260)).is_empty());
        let many = with(20_000).striking_facts();
        assert_eq!((many[0].key, &*many[0].figure), ("white_wins", "68.8 %"));
        let mut report = with(20_000);
        report.position_counts.in_check = 0;
        report.white_to_move = report.positions;
        assert_eq!(keys(&report), ["side_to_move", "white_wins", "checks"]);
        assert!(report.striking_facts().is_sorted_by(|a, b| a.surprise >= b.surprise));
    }
}
