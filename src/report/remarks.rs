//! Remarks on unusual properties of a dataset.
//!
//! Most mistakes in making training data are visible in a few numbers: terminal positions, positions in check that
//! should have been filtered, duplicates, only one side to move, clipped scores. [`Report::remarks`] looks for them. A
//! remark does not mean that something is wrong: an opening book has one side to move on purpose. Each threshold is a
//! constant with its reason. Shares of a few positions mean nothing, so most remarks need at least [`ENOUGH`]
//! positions.

use super::{Details, Report, Signature};
use crate::distinct::Sketch;
use crate::option_setters::setters;
use crate::text::numbers::{counted, decimal, grouped, percent, signed};

/// The severity of a remark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Worth knowing.
    Note,
    /// Probably not intended.
    Warning,
}

/// A remark on an unusual property of a dataset.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Remark {
    /// The name of the remark in files.
    pub key: &'static str,
    /// The severity of the remark.
    pub severity: Severity,
    /// The remark with its numbers, in one or two sentences.
    pub text: String,
    /// Advice on how to remove or show these records, if possible. Options and commands are between backticks.
    pub advice: Option<String>,
}

/// Where the positions of a report come from, as far as remarks speak of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Origin {
    /// The names of the inputs, quoted for a shell, for the commands that remarks propose.
    pub inputs: Option<String>,
    /// The option `--every`, if it was given.
    pub every: Option<u64>,
}

setters!(Origin { inputs: Option<String>, every: Option<u64> });

/// Minimum number of positions (or games) for remarks on shares: with a thousand, chance alone changes a share by three
/// percentage points.
pub(super) const ENOUGH: u64 = 1000;
/// Minimum number of games for remarks on shares of games. Games are independent of each other; positions are not.
const ENOUGH_GAMES: u64 = 100;
/// Minimum number of decisive games for the remark on White's share of them: with 400, [`WHITE_WINS`] is four standard
/// deviations away.
const ENOUGH_DECISIVE: u64 = 400;
/// Share of rejected records above which the input was probably misread as a whole.
const MOST_REJECTED: f64 = 0.01;
/// Share of mates and stalemates that the ends of games cannot explain. Games have about 60 positions each,
/// and about a third of them end in mate.
const MOST_TERMINAL: f64 = 0.01;
/// Share of positions in check: games of people and of engines have 4 to 8 %, endgames somewhat more.
const MOST_CHECKS: f64 = 0.15;
/// Number of positions among which at least one is expected to be in check, unless they were filtered.
const ENOUGH_FOR_CHECKS: u64 = 10_000;
/// Distance of White's share of the moves from one half: whole games are within a percentage point of it.
const MOST_IMBALANCE: f64 = 0.05;
/// Distance above which this was probably not intended.
const GROSS_IMBALANCE: f64 = 0.20;
/// Score in centipawns above which a score only means "won", and costs precision in training.
const LARGE_SCORE: i64 = 3000;
/// Share of scores beyond this limit: engine games that are played to the end have a few percent.
const MOST_LARGE_SCORES: f64 = 0.01;
/// Share of scores at the largest or smallest value above which this value looks like a bound.
const SPIKE: f64 = 0.001;
/// If the value were not a bound, scores this close to it would be about as frequent.
const NEAR_SPIKE: i64 = 100;
/// White's share of the decisive games: about 55 % in games of people and of engines.
const WHITE_WINS: [f64; 2] = [0.40, 0.65];
/// Share of draws: from a few percent (bullet games of amateurs) to 70 % (engines, balanced openings).
const DRAWS: [f64; 2] = [0.01, 0.75];
/// Estimates of distinct positions are within this many standard errors in 19 of 20 cases.
const ERRORS: f64 = 2.0;
/// Games have a larger share of duplicates than this only if they are there several times.
const MOST_OF_OPENINGS: f64 = 0.75;
/// Share of duplicates above which they matter in training; repeated openings in games are below it.
const MOST_DUPLICATES: f64 = 0.10;
/// Share of the games of one ECO family (ten codes); of 50 families, the largest usually has 10 to 15 %.
const MOST_FAMILY: f64 = 0.25;
/// Share of one kind of material; in games, all 32 pieces is the most frequent kind, with 10 to 15 %.
const MOST_SIGNATURE: f64 = 0.25;
/// Maximum number of pieces of an endgame.
const FEW_PIECES: i64 = 12;
/// Share of positions with so few pieces above which the dataset is a set of endgames.
const MOST_FEW_PIECES: f64 = 0.90;
/// Share of games that end at the same, largest ply above which they look truncated.
const MOST_ONE_LENGTH: f64 = 0.20;
/// Number of plies of an opening.
const OPENING: i64 = 16;
/// Share of positions in the opening: about a quarter in whole games.
const MOST_OPENING: f64 = 0.50;
/// Share of records without a result, if others have one.
const MOST_UNKNOWN: f64 = 0.01;
/// Share of records with a mate score.
const MOST_MATES: f64 = 0.001;

/// Collects the remarks.
struct Remarks<'a> {
    report: &'a Report,
    origin: &'a Origin,
    found: Vec<Remark>,
}

/// Capitalizes the first letter.
fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

impl Report {
    /// Remarks on unusual properties of the dataset, the most important first.
    ///
    /// ```
    /// use lanefish::report::{Report, Severity};
    /// let remarks = Report::default().remarks();
    /// assert_eq!((remarks[0].key, remarks[0].severity), ("empty", Severity::Warning));
    /// ```
    pub fn remarks(&self) -> Vec<Remark> {
        self.remarks_on(&Origin::default())
    }

    /// The same remarks, with advice for these inputs.
    pub fn remarks_on(&self, origin: &Origin) -> Vec<Remark> {
        let mut remarks = Remarks { report: self, origin, found: Vec::new() };
        remarks.records();
        remarks.positions();
        remarks.material();
        remarks.results();
        remarks.scores();
        if let Some(details) = &self.details {
            remarks.duplicates(details);
            remarks.games(details);
        }
        let mut found = remarks.found;
        found.sort_by_key(|remark| std::cmp::Reverse(remark.severity));
        found
    }
}

/// A part of a whole, for comparisons with thresholds.
fn share(part: u64, whole: u64) -> f64 {
    part as f64 / whole.max(1) as f64
}

/// `Warning` above the threshold, `Note` below it.
fn beyond(share: f64, threshold: f64) -> Severity {
    if share > threshold { Severity::Warning } else { Severity::Note }
}

impl Remarks<'_> {
    fn add(&mut self, key: &'static str, severity: Severity, text: String, advice: &str) {
        self.found.push(Remark { key, severity, text, advice: (!advice.is_empty()).then(|| advice.to_owned()) });
    }

    /// Advice to look at the records for which this is true.
    fn show(&self, condition: &str) -> String {
        let inputs = self.origin.inputs.as_deref().unwrap_or("FILE");
        format!("`lanefish compute {inputs} --where \"{condition}\"` shows them.")
    }

    fn records(&mut self) {
        let report = self.report;
        if report.positions == 0 {
            let text = "The dataset has no position.".to_owned();
            self.add("empty", Severity::Warning, text, "");
        }
        if report.rejected > 0 {
            let records = report.positions + report.rejected;
            let severity = beyond(share(report.rejected, records), MOST_REJECTED);
            let text = format!(
                "{} of {} were rejected ({}).",
                grouped(report.rejected),
                counted(records, "record"),
                percent(report.rejected, records)
            );
            let advice = "`--rejects FILE` writes each of them with its place and the reason.";
            self.add("rejected", severity, text, advice);
        }
    }

    fn positions(&mut self) {
        let report = self.report;
        let positions = report.positions;
        let terminal = report.position_counts.checkmate + report.position_counts.stalemate;
        if terminal > 0 {
            let severity = beyond(share(terminal, positions), MOST_TERMINAL);
            let kinds: Vec<String> =
                [(report.position_counts.checkmate, "checkmate"), (report.position_counts.stalemate, "stalemate")]
                    .into_iter()
                    .filter(|&(count, _)| count > 0)
                    .map(|(count, name)| counted(count, name))
                    .collect();
            let verb = if terminal == 1 { "is" } else { "are" };
            let text =
                format!("{} {verb} among the positions ({}).", kinds.join(" and "), percent(terminal, positions));
            let advice = self.show("checkmate or stalemate");
            self.add("terminal", severity, text, &advice);
        }
        if positions >= ENOUGH && share(report.position_counts.in_check, positions) > MOST_CHECKS {
            let text = format!(
                "The side to move is in check in {} of the positions; in games it is in 4 to 8 %.",
                percent(report.position_counts.in_check, positions)
            );
            let advice = self.show("in_check");
            self.add("in_check", Severity::Warning, text, &advice);
        }
        if positions >= ENOUGH_FOR_CHECKS && report.position_counts.in_check == 0 {
            let text = "No position is in check: such positions have been filtered out.".to_owned();
            self.add("no_checks", Severity::Note, text, "");
        }
        self.side_to_move();
        let white_kings = report.occupancy[5].sum();
        let black_kings = report.occupancy[11].sum();
        if [white_kings, black_kings] != [positions; 2] {
            let text = format!(
                "There are {} white and {} black kings in {}.",
                grouped(white_kings),
                grouped(black_kings),
                counted(positions, "position")
            );
            let advice = "`--validity strict` accepts only positions that a game can reach.";
            self.add("kings", Severity::Warning, text, advice);
        }
    }

    fn side_to_move(&mut self) {
        let positions = self.report.positions;
        let white = self.report.white_to_move;
        let distance = (share(white, positions) - 0.5).abs();
        if positions < ENOUGH || distance <= MOST_IMBALANCE {
            return;
        }
        if self.report.is_from_mover() {
            let text = "Every position is seen from the side to move, which stands as White: the format does not say \
                        whose move it is.";
            self.add("from_mover", Severity::Note, text.to_owned(), "");
            return;
        }
        let severity = beyond(distance, GROSS_IMBALANCE);
        let text = match white {
            0 => "Black is to move in every position.".to_owned(),
            _ if white == positions => "White is to move in every position.".to_owned(),
            _ => format!("White is to move in {} of the positions.", percent(white, positions)),
        };
        let advice = match self.origin.every {
            Some(every) if every % 2 == 0 => {
                format!("`--every {every}` keeps one side to move, as every even number does: use an odd one.")
            }
            _ => String::new(),
        };
        self.add("side_to_move", severity, text, &advice);
    }

    /// Whether options that choose games apply.
    fn has_games(&self) -> bool {
        let details = self.report.details.as_ref();
        self.report.game_results.total() > 0
            || details.is_some_and(|details| details.games.count > 0 || !details.ply.is_empty())
    }

    fn material(&mut self) {
        let report = self.report;
        let positions = report.positions;
        let pieces = &report.pieces;
        let crowded: u64 = pieces.iter().filter(|&(n, _)| n > 32).map(|(_, c)| c).sum();
        if crowded > 0 {
            let text = format!(
                "{} more than 32 pieces ({}).",
                match crowded {
                    1 => "1 position has".to_owned(),
                    _ => format!("{} positions have", grouped(crowded)),
                },
                percent(crowded, positions)
            );
            let advice = "`--validity strict` accepts only positions that a game can reach.";
            self.add("crowded", Severity::Warning, text, advice);
        }
        if positions < ENOUGH {
            return;
        }
        let few: u64 = pieces.iter().filter(|&(n, _)| n <= FEW_PIECES).map(|(_, count)| count).sum();
        if share(few, positions) >= MOST_FEW_PIECES {
            let text = format!(
                "{} of the positions have at most {FEW_PIECES} pieces: these are endgames.",
                percent(few, positions)
            );
            self.add("few_pieces", Severity::Note, text, "");
        }
        let signatures = report.details.iter().flat_map(|details| &details.signatures);
        // Of equally frequent ones the first.
        let most = signatures.rev().max_by_key(|&(_, count)| *count);
        if let Some((signature, &count)) = most
            && share(count, positions) > MOST_SIGNATURE
        {
            let start = Signature::from_pieces([[1, 2, 2, 2, 8]; 2]);
            let is_start = Some(*signature) == start;
            let what = if is_start { "all 32 pieces".to_owned() } else { format!("the material {signature}") };
            let advice =
                if is_start && self.has_games() { "`--skip-book N` skips the first N plies of each game." } else { "" };
            let text = format!("{} of the positions have {what}.", percent(count, positions));
            self.add("signature", Severity::Note, text, advice);
        }
    }

    fn results(&mut self) {
        let report = self.report;
        let has_games = report.game_results.known() > 0;
        let (results, unit, enough, enough_decisive) = if has_games {
            (&report.game_results, "game", ENOUGH_GAMES, ENOUGH_DECISIVE)
        } else {
            (&report.results, "position", ENOUGH, ENOUGH)
        };
        let known = results.known();
        if known < enough {
            return;
        }
        if share(results.unknown, results.total()) > MOST_UNKNOWN {
            let text = format!(
                "{} have no result ({}).",
                counted(results.unknown, unit),
                percent(results.unknown, results.total())
            );
            let advice =
                if self.has_games() { "`--result 1-0,1/2-1/2,0-1` takes only games with a result." } else { "" };
            self.add("no_result", Severity::Note, text, advice);
        }
        let decisive = results.white + results.black;
        let white = share(results.white, decisive);
        let [least, most] = WHITE_WINS;
        if decisive >= enough_decisive && !(least..=most).contains(&white) {
            let text = format!(
                "{} {} of the decisive games{}.",
                capitalized(report.title("White won")),
                percent(results.white, decisive),
                if has_games { "" } else { ", weighted by their positions" }
            );
            self.add("white_won", Severity::Warning, text, "");
        }
        let [least, most] = DRAWS;
        if !(least..=most).contains(&share(results.draw, known)) {
            let text = match (results.draw, has_games) {
                (0, true) => "No game was drawn.".to_owned(),
                (0, false) => "No position is from a drawn game.".to_owned(),
                (draws, true) => format!("{} of the games with a result were drawn.", percent(draws, known)),
                (draws, false) => {
                    format!("{} of the positions with a result are from drawn games.", percent(draws, known))
                }
            };
            self.add("draws", Severity::Note, text, "");
        }
    }

    fn scores(&mut self) {
        let report = self.report;
        let scores = &report.scores;
        let total = scores.total();
        let mates = report.mates.white + report.mates.black;
        let coded = report.coded_scores.total();
        if total == 0 {
            if mates + coded == 0 && report.results.known() > 0 {
                let text = "The positions have results but no scores.".to_owned();
                self.add("no_scores", Severity::Note, text, "");
            }
            return;
        }
        if mates > 0 && share(mates, total + mates) > MOST_MATES {
            let text = format!(
                "{} of {} scored positions have a mate score ({}).",
                grouped(mates),
                grouped(total + mates),
                percent(mates, total + mates)
            );
            let advice = self.show("mate is not null");
            self.add("mates", Severity::Note, text, &advice);
        }
        if total < ENOUGH {
            return;
        }
        let missing = report.positions - (total + mates + coded).min(report.positions);
        if share(missing, report.positions) > MOST_UNKNOWN {
            let text =
                format!("{} have no score ({}).", counted(missing, "position"), percent(missing, report.positions));
            self.add("some_scores", Severity::Note, text, "");
        }
        let summary = scores.summary();
        let bounds = [(summary.min, 1), (summary.max, -1)].map(|(bound, inwards)| {
            let bound = bound?;
            let near = (1..=NEAR_SPIKE).map(|step| scores.count(bound + inwards * step));
            let count = scores.count(bound);
            (share(count, total) > SPIKE && count > near.sum()).then_some((bound, count))
        });
        for (bound, count) in bounds.into_iter().flatten() {
            let text = format!(
                "{} of the scores are exactly {}, which is the {}: scores seem to be clipped there.",
                percent(count, total),
                signed(bound),
                if bound < 0 { "smallest" } else { "largest" }
            );
            self.add("score_bound", Severity::Warning, text, "");
        }
        let large: u64 = scores.iter().filter(|(score, _)| score.abs() > LARGE_SCORE).map(|(_, count)| count).sum();
        let (large, total) = (large + coded, total + coded);
        if share(large, total) > MOST_LARGE_SCORES {
            let text = format!("{} of the scores are beyond ±{LARGE_SCORE} centipawns.", percent(large, total));
            let advice = self.show(&format!("abs(score) > {LARGE_SCORE}"));
            self.add("large_scores", Severity::Note, text, &advice);
        }
    }

    fn duplicates(&mut self, details: &Details) {
        let positions = self.report.positions;
        let (distinct, error) = match details.exact_distinct {
            Some([.., exact]) => (exact, 0.0),
            None => {
                let [.., estimate] = details.distinct.estimates();
                (estimate, ERRORS * Sketch::ERROR * estimate as f64)
            }
        };
        let duplicates = positions.saturating_sub(distinct);
        if duplicates == 0 || duplicates as f64 <= error {
            return;
        }
        let severity = beyond(share(duplicates, positions), MOST_DUPLICATES);
        let text = match details.exact_distinct {
            Some(_) => format!(
                "{} are duplicates of others ({}).",
                counted(duplicates, "position"),
                percent(duplicates, positions)
            ),
            None => format!(
                "About {} % of the positions are duplicates of others (estimated, ± {} percentage points).",
                decimal(share(duplicates, positions) * 100.0),
                decimal(error / positions as f64 * 100.0)
            ),
        };
        let advice = match self.has_games() {
            true if share(duplicates, positions) > MOST_OF_OPENINGS => {
                let inputs = self.origin.inputs.as_deref().unwrap_or("FILE");
                format!(
                    "Openings alone do not repeat so often: whole games may be there several times, which `lanefish dedup \
                     --by game {inputs}` counts."
                )
            }
            true => "In games, openings repeat: `--skip-book N` skips the first N plies of each.".to_owned(),
            false => String::new(),
        };
        self.add("duplicates", severity, text, &advice);
    }

    fn games(&mut self, details: &Details) {
        let positions = self.report.positions;
        let openings: u64 = details.ply.iter().filter(|&(ply, _)| ply < OPENING).map(|(_, count)| count).sum();
        if positions >= ENOUGH && share(openings, positions) > MOST_OPENING {
            let text = format!(
                "{} of the positions are from the first {OPENING} plies of their games.",
                percent(openings, positions)
            );
            let advice = "`--skip-book N` skips the first N plies of each game.";
            self.add("openings", Severity::Note, text, advice);
        }
        let families = details.games.families();
        let total: u64 = families.iter().map(|(_, count)| count).sum();
        // Of equally frequent ones the first.
        let most = families.iter().rev().max_by_key(|(_, count)| *count);
        if let Some((family, count)) = most
            && total >= ENOUGH_GAMES
            && share(*count, total) > MOST_FAMILY
        {
            let text =
                format!("The openings {family} are {} of the games with an opening code.", percent(*count, total));
            let advice = "`--eco CODES` takes only games with these codes.";
            self.add("eco", Severity::Note, text, advice);
        }
        let Some(lengths) = details.game_lengths() else {
            return;
        };
        let total = lengths.total();
        if let Some(longest) = lengths.summary().max
            && longest > 0
            && total >= ENOUGH_GAMES
        {
            let count = lengths.count(longest);
            let plies = if longest == 1 { "1 ply".to_owned() } else { format!("{longest} plies") };
            let text = if count == total {
                format!("All games have {plies}: they were truncated.")
            } else {
                let share = percent(count, total);
                format!("{share} of the games have {plies}, and none has more: long games were truncated.")
            };
            if share(count, total) > MOST_ONE_LENGTH {
                self.add("truncated", Severity::Warning, text, "");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{HeatMap, Histogram, Mates, Results};
    use super::*;

    /// A report about which there is nothing to say.
    fn plain(positions: u64) -> Report {
        let mut kings = HeatMap::default();
        kings.0[4] = positions;
        let mut report = Report {
            positions,
            white_to_move: positions / 2,
            position_counts: crate::report::PositionCounts { in_check: positions / 20, ..Default::default() },
            pieces: Histogram::new(20, vec![positions]),
            ..Report::default()
        };
        report.occupancy[5] = kings;
        report.occupancy[11] = kings;
        report
    }

    fn keys(report: &Report) -> Vec<(&'static str, Severity)> {
        let remarks = report.remarks();
        remarks.into_iter().map(|remark| (remark.key, remark.severity)).collect()
    }

    fn detailed(positions: u64, fill: impl FnOnce(&mut Details)) -> Report {
        let mut report = plain(positions);
        let mut details = Details { exact_distinct: Some([positions; 4]), ..Details::default() };
        fill(&mut details);
        report.details = Some(Box::new(details));
        report
    }

    const NOTE: Severity = Severity::Note;
    const WARNING: Severity = Severity::Warning;

    #[test]
    fn nothing_about_ordinary_positions() {
        assert_eq!(keys(&plain(100_000)), []);
        assert_eq!(keys(&detailed(100_000, |_| {})), []);
        // Few positions may be anything.
        let mut few = plain(20);
        few.white_to_move = 20;
        few.position_counts.in_check = 20;
        assert_eq!(keys(&few), []);
    }

    #[test]
    fn empty_and_rejected() {
        assert_eq!(keys(&Report::default()), [("empty", WARNING)]);
        let mut report = plain(10_000);
        report.rejected = 1;
        assert_eq!(keys(&report), [("rejected", NOTE)]);
        report.rejected = 500;
        let remark = &report.remarks()[0];
        assert_eq!(remark.severity, WARNING);
        assert_eq!(remark.text, "500 of 10,500 records were rejected (4.8 %).");
        assert!(remark.advice.as_ref().unwrap().contains("`--rejects FILE`"));
    }

    #[test]
    fn terminal_positions() {
        let mut report = plain(10_000);
        report.position_counts.checkmate = 40;
        assert_eq!(keys(&report), [("terminal", NOTE)]);
        assert!(report.remarks()[0].text.starts_with("40 checkmates"));
        report.position_counts.stalemate = 200;
        assert_eq!(keys(&report), [("terminal", WARNING)]);
        assert!(report.remarks()[0].text.contains("40 checkmates and 200 stalemates"));
        let advice = |inputs| report.remarks_on(&Origin::default().inputs(inputs)).remove(0).advice.unwrap();
        assert!(advice(None).starts_with("`lanefish compute FILE --where"));
        assert!(advice(Some("'a b.pgn'".to_owned())).starts_with("`lanefish compute 'a b.pgn' --where"));
    }

    #[test]
    fn checks() {
        let mut report = plain(10_000);
        report.position_counts.in_check = 1500;
        assert_eq!(keys(&report), []);
        report.position_counts.in_check = 1501;
        assert_eq!(keys(&report), [("in_check", WARNING)]);
        report.position_counts.in_check = 0;
        assert_eq!(keys(&report), [("no_checks", NOTE)]);
    }

    #[test]
    fn side_to_move() {
        let mut report = plain(10_000);
        for (white, found) in [
            (4500, vec![]),
            (4400, vec![("side_to_move", NOTE)]),
            (10_000, vec![("side_to_move", WARNING)]),
            (0, vec![("side_to_move", WARNING)]),
        ] {
            report.white_to_move = white;
            assert_eq!(keys(&report), found);
        }
        assert_eq!(report.remarks()[0].text, "Black is to move in every position.");
        assert_eq!(report.remarks()[0].advice, None);
        let mut games = detailed(10_000, |details| details.games.count = 100);
        games.white_to_move = 10_000;
        let advice = |every| games.remarks_on(&Origin::default().every(every)).remove(0).advice;
        assert_eq!([None, Some(3)].map(advice), [None, None]);
        assert!(advice(Some(4)).unwrap().contains("`--every 4`"));
    }

    #[test]
    fn impossible_material() {
        let mut report = plain(10_000);
        report.pieces = Histogram::new(32, vec![9999, 1]);
        report.occupancy[5].0[3] += 1;
        assert_eq!(keys(&report), [("kings", WARNING), ("crowded", WARNING)]);
        assert!(report.remarks()[1].text.starts_with("1 position has more than 32"));
    }

    #[test]
    fn endgames_and_one_kind_of_material() {
        let mut report = plain(10_000);
        report.pieces = Histogram::new(12, vec![9000, 1000]);
        assert_eq!(keys(&report), [("few_pieces", NOTE)]);
        let with = |signature: &str, count| {
            detailed(10_000, |details| {
                details.signatures.insert(signature.parse().unwrap(), count);
                details.signatures.insert("KQvK".parse().unwrap(), 2000);
            })
        };
        assert_eq!(keys(&with("KRvK", 2500)), []);
        let report = with("KRvK", 2600);
        assert_eq!(keys(&report), [("signature", NOTE)]);
        assert_eq!(report.remarks()[0].text, "26.0 % of the positions have the material KRvK.");
        let report = with("KQRRBBNNPPPPPPPPvKQRRBBNNPPPPPPPP", 9000);
        assert_eq!(report.remarks()[0].text, "90.0 % of the positions have all 32 pieces.");
    }

    #[test]
    fn results_out_of_balance() {
        let results = |white, draw, black, unknown| {
            let mut report = plain(white + draw + black + unknown);
            report.results = Results { white, draw, black, unknown };
            report.scores = Histogram::new(0, vec![report.positions]);
            keys(&report)
        };
        let spikes = results(4000, 2000, 4000, 0);
        let found = |results: Vec<(&'static str, Severity)>| -> Vec<&'static str> {
            let new = results.into_iter().filter(|remark| !spikes.contains(remark));
            new.map(|(key, _)| key).collect()
        };
        assert_eq!(found(results(7000, 1000, 2000, 0)), ["white_won"]);
        assert_eq!(found(results(2000, 1000, 7000, 0)), ["white_won"]);
        assert_eq!(found(results(1000, 8000, 1000, 0)), ["draws"]);
        assert_eq!(found(results(5000, 0, 5000, 0)), ["draws"]);
        assert_eq!(found(results(4000, 1000, 4000, 1000)), ["no_result"]);
        assert_eq!(found(results(0, 0, 0, 10_000)), [""; 0]);
        // Where games are known, they are judged, not their positions.
        let games = |white, draw, black, unknown| {
            let mut report = plain(10_000);
            report.results = Results { white: 7000, draw: 0, black: 2000, unknown: 1000 };
            report.game_results = Results { white, draw, black, unknown };
            report.scores = Histogram::new(0, vec![report.positions]);
            keys(&report)
        };
        assert_eq!(found(games(220, 20, 200, 0)), [""; 0]);
        assert_eq!(found(games(300, 20, 110, 0)), ["white_won"]);
        assert_eq!(found(games(90, 0, 15, 10)), ["no_result", "draws"]);
    }

    #[test]
    fn scores() {
        let with = |scores: Histogram| {
            let mut report = plain(scores.total());
            report.scores = scores;
            report
        };
        // A broad distribution, then one that is clipped.
        let mut counts = vec![10; 2001];
        assert_eq!(keys(&with(Histogram::new(-1000, counts.clone()))), []);
        counts[2000] = 2000;
        let report = with(Histogram::new(-1000, counts.clone()));
        assert_eq!(keys(&report), [("score_bound", WARNING)]);
        assert!(report.remarks()[0].text.contains("exactly 1000, which is the largest"));
        counts[0] = 2000;
        assert_eq!(keys(&with(Histogram::new(-1000, counts.clone()))).len(), 2);
        let large = with(Histogram::new(1050, vec![10; 2000]));
        assert_eq!(keys(&large), [("large_scores", NOTE)]);
        let mut mates = with(Histogram::new(-1000, vec![10; 2001]));
        mates.mates = Mates { white: 100, black: 200 };
        mates.positions += 300;
        mates.white_to_move += 150;
        mates.occupancy[5].0[4] += 300;
        mates.occupancy[11].0[4] += 300;
        assert_eq!(keys(&mates), [("mates", NOTE)]);
        let mut some = mates.clone();
        some.mates = Mates::default();
        assert_eq!(keys(&some), [("some_scores", NOTE)]);
        let mut none = plain(10_000);
        none.results = Results { white: 4000, draw: 2000, black: 4000, unknown: 0 };
        assert_eq!(keys(&none), [("no_scores", NOTE)]);
    }

    #[test]
    fn duplicates() {
        let exact = |distinct| keys(&detailed(10_000, |details| details.exact_distinct = Some([1, 1, 1, distinct])));
        assert_eq!(exact(10_000), []);
        assert_eq!(exact(9999), [("duplicates", NOTE)]);
        assert_eq!(exact(5000), [("duplicates", WARNING)]);
        // Estimates are only trusted beyond twice their error.
        let estimated = |distinct: u64| {
            detailed(10_000, |details| {
                details.exact_distinct = None;
                for number in 1..=distinct {
                    let key = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
                    // Mixed well enough for a sketch.
                    let key = (key ^ key >> 32).wrapping_mul(0xD6E8_FEB8_6659_FD93);
                    details.distinct.0.iter_mut().for_each(|sketch| sketch.insert(key ^ key >> 32));
                }
            })
        };
        assert_eq!(keys(&estimated(10_000)), []);
        let report = estimated(6000);
        assert_eq!(keys(&report), [("duplicates", WARNING)]);
        assert!(report.remarks()[0].text.contains("estimated, ± 1 percentage points"));
    }

    #[test]
    fn games() {
        let eco = |counts: &[(&[u8; 3], u64)]| {
            let counts = counts.iter().map(|&(code, count)| (*code, count)).collect();
            detailed(10_000, |details| details.games.eco = counts)
        };
        assert_eq!(keys(&eco(&[(b"A00", 50), (b"B00", 50), (b"C00", 50), (b"D00", 50)])), []);
        let report = eco(&[(b"B10", 150), (b"B19", 150), (b"C00", 200)]);
        assert_eq!(keys(&report), [("eco", NOTE)]);
        assert!(report.remarks()[0].text.starts_with("The openings B10-B19 are 60.0 %"));
        assert_eq!(keys(&eco(&[(b"B10", 9)])), []);

        let plies =
            |counts: Vec<u64>| keys(&detailed(counts.iter().sum(), |details| details.ply = Histogram::new(0, counts)));
        // As many games as plies, each a ply shorter than the one before it; then all of one length.
        assert_eq!(plies((1..=200).rev().collect()), []);
        assert_eq!(plies(vec![200; 100]), [("truncated", WARNING)]);
        let mut some = vec![300; 50];
        some.extend([100; 50]);
        assert_eq!(plies(some), [("truncated", WARNING)]);
        assert_eq!(plies((1..=20).rev().map(|games| 100 * games).collect()), [("openings", NOTE)]);
    }
}
