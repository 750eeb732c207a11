//! The facts of a report, in the order of their display: shares, plots, bars, boards and tables.
//!
//! Text, HTML, CSV and comparisons are all generated from these lists, so that a fact has the same key, title and unit
//! everywhere. Facts about data that the positions do not have (scores, games) are not listed.

use super::time_and_mistakes::{class_name, phase_label, ply_label, rating_label};
use super::{
    Accuracies, CLASSES, Details, Games, Histogram, JudgedMoves, Matrix, Mistakes, PHASE_BANDS, RATING_BANDS,
    RESULT_SCORE_MOST, Report, SCORE_MOST, SCORE_WIDTH, Squares, TimedMoves, TimesUsed,
};
use crate::games::Speed;
use crate::text::numbers::{counted, grouped, percent, tenths};

/// A count and the whole of which it is a part.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Share {
    /// The name of the share in files.
    pub key: &'static str,
    /// The name of the counted property, as shown.
    pub title: &'static str,
    /// Number of units with the property.
    pub count: u64,
    /// Number of all units.
    pub whole: u64,
    /// The unit of the whole.
    pub unit: Unit,
}

/// The unit that is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unit {
    /// Positions.
    Positions,
    /// Legal moves.
    Moves,
    /// Games.
    Games,
    /// Sides of games.
    Sides,
}

impl Unit {
    /// The name of the unit, in the plural.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Positions => "positions",
            Self::Moves => "legal moves",
            Self::Games => "games",
            Self::Sides => "sides",
        }
    }

    /// A number of the unit: `1 game`, `2,000 games`.
    pub fn counted(self, number: u64) -> String {
        let name = self.name();
        counted(number, name.strip_suffix('s').unwrap_or(name))
    }
}

/// What the colour of a drawing says, on pages and in the terminal: which of their hues it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Hue {
    /// Numbers of positions and games.
    Counts,
    /// Moves and checks.
    Moves,
    /// Scores and evaluations.
    Scores,
}

impl Hue {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Counts, Self::Moves, Self::Scores];

    /// The name of the hue, also in the style of pages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Counts => "counts",
            Self::Moves => "moves",
            Self::Scores => "scores",
        }
    }

    /// The hue of the fact with this key.
    pub fn of(key: &str) -> Self {
        match key {
            "legal_moves" | "in_check" | "double_check" | "checkmate" | "stalemate" | "captures" | "promotions"
            | "castling_moves" | "en_passants" | "first_move" => Self::Moves,
            "mate_distance" | "depth" | "knodes" | "mate_white" | "mate_black" | "accuracy" => Self::Scores,
            key if key.starts_with("score") => Self::Scores,
            _ => Self::Counts,
        }
    }
}

/// A distribution of numbers.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Plot {
    /// The name of the plot in files.
    pub key: &'static str,
    /// The name of the numbers, as shown.
    pub title: &'static str,
    /// The unit of the numbers.
    pub axis: &'static str,
    /// The unit that is counted.
    pub unit: Unit,
    /// The width of the ranges in which numbers are shown.
    pub width: i64,
    /// The range beyond which numbers are only counted, because the plot of all would show nothing: scores beyond it are
    /// won, or codes of programs for mates.
    pub limits: Option<(i64, i64)>,
    /// The counts.
    pub histogram: Histogram,
}

/// A distribution of kinds, such as openings.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Bars {
    /// The name of the bars in files.
    pub key: &'static str,
    /// The name of the kinds, as shown.
    pub title: &'static str,
    /// The unit that is counted.
    pub unit: Unit,
    /// The kinds and their counts.
    pub bars: Vec<(String, u64)>,
    /// Number of further kinds, all less frequent, and the sum of their counts.
    pub rest: (u64, u64),
    /// The number of units, if one unit may be of several kinds.
    pub units: Option<u64>,
}

impl Bars {
    /// The number of units: the sum of all counts, unless one unit may be of several kinds.
    pub fn total(&self) -> u64 {
        self.units.unwrap_or_else(|| self.bars.iter().map(|(_, count)| count).sum::<u64>() + self.rest.1)
    }
}

/// Counts for each square.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Board {
    /// The name of the board in files.
    pub key: &'static str,
    /// The title: what is counted on each square.
    pub title: &'static str,
    /// The counts, a1 first.
    pub counts: Squares,
}

/// The key of the board with the own king's squares of the inputs of a network.
pub const FEATURE_KINGS: &str = "feature_kings";

impl Board {
    /// A heat map.
    pub fn new(key: &'static str, title: &'static str, counts: Squares) -> Self {
        Self { key, title, counts }
    }
}

/// A joint distribution.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Table {
    /// The name of the table in files.
    pub key: &'static str,
    /// The name of the numbers, as shown.
    pub title: &'static str,
    /// The meaning of the rows.
    pub rows: Axis,
    /// The meaning of the columns.
    pub columns: Axis,
    /// The number of positions in each cell.
    pub cells: Matrix,
}

/// One direction of a [`Table`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Axis {
    /// The name of the axis in files.
    pub key: &'static str,
    /// The name of the numbers, as shown.
    pub title: &'static str,
    /// The names of the numbers; if empty, the numbers from zero on are shown as they are.
    pub labels: Vec<String>,
    /// If not zero, each label stands for a range of this width, of which it is the middle, and the first and the last
    /// one for everything beyond them.
    pub width: i64,
}

impl Axis {
    fn numbers(key: &'static str, title: &'static str) -> Self {
        Self { key, title, labels: Vec::new(), width: 0 }
    }
    /// The name of a row or column.
    pub fn label(&self, at: usize) -> String {
        self.labels.get(at).cloned().unwrap_or_else(|| at.to_string())
    }
}

/// The titles of the twelve pieces, in the order `PNBRQKpnbrqk`, with their keys.
const PIECES: [(&str, &str); 12] = [
    ("white_pawns", "White pawns"),
    ("white_knights", "White knights"),
    ("white_bishops", "White bishops"),
    ("white_rooks", "White rooks"),
    ("white_queens", "White queens"),
    ("white_king", "White king"),
    ("black_pawns", "Black pawns"),
    ("black_knights", "Black knights"),
    ("black_bishops", "Black bishops"),
    ("black_rooks", "Black rooks"),
    ("black_queens", "Black queens"),
    ("black_king", "Black king"),
];

/// Titles that name a color, and their versions for reports in which White stands for the side to move.
const TITLES_FROM_MOVER: [(&str, &str); 38] = [
    ("White pawns", "The mover's pawns"),
    ("White knights", "The mover's knights"),
    ("White bishops", "The mover's bishops"),
    ("White rooks", "The mover's rooks"),
    ("White queens", "The mover's queens"),
    ("White king", "The mover's king"),
    ("White won", "the mover won"),
    ("mate score for White", "mate score for the mover"),
    ("White's material", "The mover's material"),
    ("Attacked by White", "Attacked by the mover"),
    ("attacked by White", "attacked by the mover"),
    ("White's pieces", "The mover's pieces"),
    ("White: kingside castling right", "the mover: kingside castling right"),
    ("White: queenside castling right", "the mover: queenside castling right"),
    ("White's rating", "The mover's rating"),
    ("Black pawns", "The opponent's pawns"),
    ("Black knights", "The opponent's knights"),
    ("Black bishops", "The opponent's bishops"),
    ("Black rooks", "The opponent's rooks"),
    ("Black queens", "The opponent's queens"),
    ("Black king", "The opponent's king"),
    ("Black won", "the opponent won"),
    ("mate score for Black", "mate score for the opponent"),
    ("Black's material", "The opponent's material"),
    ("Attacked by Black", "Attacked by the opponent"),
    ("attacked by Black", "attacked by the opponent"),
    ("Black's pieces", "The opponent's pieces"),
    ("Black: kingside castling right", "the opponent: kingside castling right"),
    ("Black: queenside castling right", "the opponent: queenside castling right"),
    ("Black's rating", "The opponent's rating"),
    ("Elo, White's minus Black's", "Elo, the mover's minus the opponent's"),
    ("White to move", "seen from the mover"),
    ("Black to move", "seen from the opponent"),
    ("centipawns from White's side", "centipawns from the mover's side"),
    ("points, White's minus Black's", "points, the mover's minus the opponent's"),
    ("White", "mover"),
    ("Black", "opponent"),
    ("White / draw / Black", "mover / draw / opponent"),
];

impl Report {
    /// Whether White stands for the side to move in all positions, and Black for the other side.
    pub fn is_from_mover(&self) -> bool {
        self.from_mover > 0 && self.from_mover == self.positions
    }

    /// The version of a title that is correct for these positions, if it names a color.
    ///
    /// ```
    /// use lanefish::report::Report;
    /// let mut report = Report::default();
    /// assert_eq!(report.title("White won"), "White won");
    /// (report.positions, report.from_mover) = (5, 5);
    /// assert_eq!(report.title("White won"), "the mover won");
    /// ```
    pub fn title(&self, title: &'static str) -> &'static str {
        let known = TITLES_FROM_MOVER.iter().find(|(white, _)| self.is_from_mover() && *white == title);
        known.map_or(title, |&(_, mover)| mover)
    }

    /// The sum of the legal moves.
    pub fn moves(&self) -> u64 {
        u64::try_from(self.legal_moves.summary().sum).unwrap_or(u64::MAX)
    }

    /// Shares of the positions and of the moves.
    pub fn shares(&self) -> Vec<Share> {
        let of = |unit, whole| move |key, title, count| Share { key, title: self.title(title), count, whole, unit };
        let position = of(Unit::Positions, self.positions);
        let castling = &self.castling;
        let mut shares = vec![
            position("white_to_move", "White to move", self.white_to_move),
            position("black_to_move", "Black to move", self.positions - self.white_to_move),
        ];
        shares.extend(self.position_counts.iter().map(|(number, count)| position(number.key, number.title, count)));
        shares.extend([
            position("castling", "castling rights", castling.some),
            position("castling_white_king", "White: kingside castling right", castling.white_king),
            position("castling_white_queen", "White: queenside castling right", castling.white_queen),
            position("castling_black_king", "Black: kingside castling right", castling.black_king),
            position("castling_black_queen", "Black: queenside castling right", castling.black_queen),
            position("en_passant", "en passant possible", self.en_passant),
        ]);
        if self.mates != Default::default() {
            shares.extend([
                position("mate_white", "mate score for White", self.mates.white),
                position("mate_black", "mate score for Black", self.mates.black),
            ]);
        }
        shares.extend(self.coded_scores.iter().flat_map(|(code, counts)| {
            let (keys, titles) = (code.keys(), code.titles());
            [0, 1].map(|side| position(keys[side], titles[side], counts[side]))
        }));
        for (unit, results, [white, drawn, black, unknown]) in [
            (Unit::Games, &self.game_results, ["games_white_won", "games_drawn", "games_black_won", "games_no_result"]),
            (Unit::Positions, &self.results, ["white_won", "drawn", "black_won", "no_result"]),
        ] {
            if results.known() > 0 {
                let share = of(unit, results.total());
                shares.extend([
                    share(white, "White won", results.white),
                    share(drawn, "drawn", results.draw),
                    share(black, "Black won", results.black),
                    share(unknown, "result unknown", results.unknown),
                ]);
            }
        }
        let a_move = of(Unit::Moves, self.moves());
        shares.extend(self.move_counts.iter().map(|(number, count)| a_move(number.key, number.title, count)));
        shares
    }

    /// Distributions of numbers.
    pub fn plots(&self) -> Vec<Plot> {
        let mut plots = Vec::new();
        let mut add = |key, title, axis, width, histogram: Histogram| {
            if !histogram.is_empty() {
                let unit = match key {
                    "game_length" | "white_elo" | "black_elo" | "elo_difference" => Unit::Games,
                    "accuracy" => Unit::Sides,
                    _ => Unit::Positions,
                };
                let (title, axis) = (self.title(title), self.title(axis));
                let limits =
                    (key == "score").then_some((-i64::from(RESULT_SCORE_MOST), i64::from(RESULT_SCORE_MOST) - 1));
                plots.push(Plot { key, title, axis, unit, width, limits, histogram });
            }
        };
        let [white, black] = self.material.clone();
        add("legal_moves", "Legal moves", "legal moves", 1, self.legal_moves.clone());
        add("pieces", "Pieces on the board", "pieces", 1, self.pieces.clone());
        add("phase", "Phase", "24 = all minor and major pieces", 1, self.phase.clone());
        add("score", "Score", "centipawns from White's side", 50, self.scores.clone());
        if let Some(evaluations) = &self.evaluations {
            add("mate_distance", "Moves to mate", "moves to mate", 1, evaluations.mate_distances.clone());
            add("depth", "Depth of the evaluation", "plies", 1, evaluations.depths.clone());
        }
        if let Some(puzzles) = &self.puzzles {
            add("puzzle_rating", "Puzzle rating", "rating", 50, puzzles.ratings.clone());
            add("rating_deviation", "Rating deviation", "rating deviation", 5, puzzles.deviations.clone());
            add("popularity", "Popularity", "from −100 to 100", 5, puzzles.popularity.clone());
        }
        add("material_white", "White's material", "points (1-3-3-5-9)", 1, white);
        add("material_black", "Black's material", "points (1-3-3-5-9)", 1, black);
        if let Some(details) = &self.details {
            let balance = details.balance();
            add("material_balance", "Material balance", "points, White's minus Black's", 1, balance);
            add("ply", "Game ply", "plies since the start of the game", 5, details.ply.clone());
            let [white, black] = details.games.elo.clone();
            let length = details.game_lengths().unwrap_or_default();
            add("game_length", "Length of games", "plies", 5, length);
            add("white_elo", "White's rating", "Elo", 50, white);
            add("black_elo", "Black's rating", "Elo", 50, black);
            let differences = details.games.elo_differences.clone();
            add("elo_difference", "Difference of ratings", "Elo, White's minus Black's", 25, differences);
            if let Some(accuracies) = &details.accuracies {
                add("accuracy", "Accuracy", "percent", 2, accuracies.of_all());
            }
        }
        plots
    }

    /// Distributions of kinds, that is, of values that are not numbers.
    pub fn bars(&self) -> Vec<Bars> {
        self.most_frequent(usize::MAX)
    }

    /// Distributions of kinds, but only the most frequent kinds of material, of which there may be tens of thousands.
    pub fn most_frequent(&self, most: usize) -> Vec<Bars> {
        let mut all = Vec::new();
        let mut add = |key, title, unit, bars: Vec<(String, u64)>, rest, units| {
            if bars.iter().any(|&(_, count)| count > 0) {
                all.push(Bars { key, title, unit, bars, rest, units });
            }
        };
        for (key, title, unit, results) in [
            ("game_result", "Result by game", Unit::Games, &self.game_results),
            ("result", "Result by position", Unit::Positions, &self.results),
        ] {
            if results.known() > 0 {
                let bars = [
                    ("White won", results.white),
                    ("draw", results.draw),
                    ("Black won", results.black),
                    ("unknown", results.unknown),
                ]
                .map(|(name, count)| (self.title(name).to_owned(), count));
                add(key, title, unit, bars.into(), (0, 0), None);
            }
        }
        if let Some(evaluations) = &self.evaluations {
            add("knodes", "Nodes searched, in thousands", Unit::Positions, evaluations.knodes.named(), (0, 0), None);
        }
        if let Some(puzzles) = &self.puzzles {
            let themes = puzzles.themes.by_count();
            add("theme", "Themes", Unit::Positions, themes, (0, 0), Some(puzzles.with_themes));
            add("plays", "Plays", Unit::Positions, puzzles.plays.named(), (0, 0), None);
        }
        if let Some(details) = &self.details {
            let mut signatures: Vec<_> = details.signatures.iter().collect();
            // The most frequent kinds come first; equally frequent ones keep their order.
            signatures.sort_by_key(|&(_, count)| std::cmp::Reverse(*count));
            let rest = signatures.split_off(signatures.len().min(most));
            let named = signatures.into_iter();
            let mut bars: Vec<_> = named.map(|(name, &count)| (name.to_string(), count)).collect();
            if details.other_signatures > 0 {
                bars.push(("other".to_owned(), details.other_signatures));
            }
            let rest = (rest.len() as u64, rest.iter().map(|&(_, &count)| count).sum());
            add("material", "Material signatures", Unit::Positions, bars, rest, None);
            let games = &details.games;
            add("eco", "Opening (ECO)", Unit::Games, games.families(), (0, 0), None);
            add("opening", "Opening", Unit::Games, games.openings.by_count(), (0, 0), None);
            add("first_move", "First move", Unit::Games, games.first_moves.by_count(), (0, 0), None);
            let [known @ .., _] = &games.speeds;
            if known.iter().any(|&count| count > 0) {
                let names = Speed::ALL.map(Speed::name).into_iter().chain(["unknown"]);
                let speeds = names.map(str::to_owned).zip(games.speeds).collect();
                add("time_control", "Time control", Unit::Games, speeds, (0, 0), None);
            }
            add("termination", "Termination", Unit::Games, games.terminations.by_count(), (0, 0), None);
            add("date", "Date", Unit::Games, games.dates(), (0, 0), None);
        }
        all
    }

    /// Heat maps.
    pub fn boards(&self) -> Vec<Board> {
        let pieces = PIECES.iter().zip(&self.occupancy);
        let mut boards: Vec<Board> =
            pieces.map(|(&(key, title), map)| Board { key, title: self.title(title), counts: map.0 }).collect();
        let mut add = |key, title, counts| boards.push(Board { key, title: self.title(title), counts });
        let [white, black] = &self.attacks;
        add("attacks_white", "Attacked by White", white.0);
        add("attacks_black", "Attacked by Black", black.0);
        if let Some(details) = &self.details {
            add("checkers", "Checking pieces", details.checkers.0);
            add("en_passant", "En passant squares", details.en_passant.0);
            add("castling_rooks", "Castling rooks", details.castling_rooks.0);
        }
        if let Some(kings) = self.features.as_ref().and_then(|features| features.kings()) {
            add(FEATURE_KINGS, "Own king of inputs", kings);
        }
        boards
    }

    /// Joint distributions.
    pub fn tables(&self) -> Vec<Table> {
        let Some(details) = &self.details else {
            return Vec::new();
        };
        let pieces = Axis::numbers("pieces", "pieces on the board");
        let moves = Axis::numbers("legal_moves", "legal moves");
        let phase = || Axis::numbers("phase", "phase");
        let white = Axis::numbers("material_white", self.title("White's material"));
        let black = Axis::numbers("material_black", self.title("Black's material"));
        let result = Axis {
            key: "result",
            title: "result",
            labels: ["White won", "draw", "Black won", "unknown"].map(|name| self.title(name).to_owned()).into(),
            width: 0,
        };
        let score = Axis {
            key: "score_rounded_to_50",
            title: "score (centipawns)",
            labels: (0..super::SCORE_COLUMNS as i16)
                .map(|column| (column * SCORE_WIDTH - SCORE_MOST).to_string())
                .collect(),
            width: SCORE_WIDTH.into(),
        };
        let mut tables = Vec::new();
        let mut add = |key, title, rows, columns, cells: &Matrix| {
            if cells.iter().next().is_some() {
                let cells = cells.clone();
                tables.push(Table { key, title, rows, columns, cells });
            }
        };
        add("pieces_moves", "Pieces and legal moves", pieces, moves, &details.pieces_moves);
        add("material_both", "Material of both sides", white, black, &details.material);
        if self.results.known() > 0 {
            add("phase_result", "Result by phase", phase(), result, &details.phase_results);
        }
        add("phase_score", "Score by phase", phase(), score, &details.phase_scores);
        tables
    }
}

/// Numbers for people that are not counts: means, and shares of the counts of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NumberTable {
    /// The name of the table.
    pub key: &'static str,
    /// What it shows.
    pub title: &'static str,
    /// What the numbers are.
    pub note: String,
    /// The names of the columns.
    pub head: Vec<&'static str>,
    /// The cells, the first of each row being its name.
    pub rows: Vec<Vec<String>>,
}

impl Report {
    /// The scale of scores, the time that moves took, mistakes, and accuracy, if anything is known of them.
    pub fn number_tables(&self) -> Vec<NumberTable> {
        let Some(details) = &self.details else {
            return Vec::new();
        };
        let mut tables: Vec<NumberTable> = self.scale_by_phase().into_iter().collect();
        tables.extend(details.times_used.as_deref().map(times_table));
        tables.extend(details.mistakes.as_deref().map(phases_table));
        tables.extend(details.mistakes.as_deref().map(ratings_table));
        tables.extend(details.mistakes.as_deref().and_then(blunders_table));
        tables.extend(details.accuracies.as_deref().map(accuracies_table));
        tables
    }
}

/// Stands for a number that there is not.
const NOTHING: &str = "–";

/// The names of judgments.
const JUDGMENTS: [&str; 3] = ["inaccuracies", "mistakes", "blunders"];

fn seconds(moves: TimedMoves) -> String {
    moves.mean_seconds().map_or(NOTHING.to_owned(), tenths)
}

/// The number of moves, and the shares of those that are bad.
fn judged(moves: JudgedMoves) -> [String; 4] {
    let share = |count: u64| if moves.moves == 0 { NOTHING.to_owned() } else { percent(count, moves.moves) };
    let [inaccuracies, mistakes, blunders] = moves.judgments.map(share);
    [grouped(moves.moves), inaccuracies, mistakes, blunders]
}

/// The mean time by ply and class of time control.
fn times_table(times: &TimesUsed) -> NumberTable {
    let classes: Vec<usize> = (0..CLASSES).filter(|&class| times.of_class(class).moves > 0).collect();
    let row = |name: String, of: &dyn Fn(usize) -> TimedMoves| {
        std::iter::once(name).chain(classes.iter().map(|&class| seconds(of(class)))).collect::<Vec<_>>()
    };
    let bands = times.moves.iter().enumerate().filter(|(_, band)| band.iter().any(|moves| moves.moves > 0));
    let mut rows: Vec<Vec<String>> = bands.map(|(at, band)| row(ply_label(at), &|class| band[class])).collect();
    rows.push(row("all".to_owned(), &|class| times.of_class(class)));
    let moves = classes.iter().map(|&class| times.of_class(class).moves).sum();
    NumberTable {
        key: "time_used",
        title: "Time used for a move",
        note: format!("mean of {}, in seconds, by ply and class of time control", counted(moves, "move")),
        head: std::iter::once("ply").chain(classes.iter().map(|&class| class_name(class))).collect(),
        rows,
    }
}

/// Bad moves by phase.
fn phases_table(mistakes: &Mistakes) -> NumberTable {
    let known = (0..PHASE_BANDS).rev().filter(|&band| mistakes.of_phase(band).moves > 0);
    let rows = known.map(|band| std::iter::once(phase_label(band)).chain(judged(mistakes.of_phase(band))).collect());
    let moves = (0..PHASE_BANDS).map(|band| mistakes.of_phase(band).moves).sum();
    NumberTable {
        key: "mistakes_by_phase",
        title: "Mistakes by phase",
        note: format!("shares of {} with an evaluation before and after", counted(moves, "move")),
        head: ["phase", "moves"].into_iter().chain(JUDGMENTS).collect(),
        rows: rows.collect(),
    }
}

/// Bad moves by rating.
fn ratings_table(mistakes: &Mistakes) -> NumberTable {
    let known = (0..RATING_BANDS).filter(|&band| mistakes.of_rating(band).moves > 0);
    let rows = known.map(|band| std::iter::once(rating_label(band)).chain(judged(mistakes.of_rating(band))).collect());
    NumberTable {
        key: "mistakes_by_rating",
        title: "Mistakes by rating",
        note: "shares of the same moves, by the rating of the mover".to_owned(),
        head: ["rating", "moves"].into_iter().chain(JUDGMENTS).collect(),
        rows: rows.collect(),
    }
}

/// Accuracy by rating.
fn accuracies_table(accuracies: &Accuracies) -> NumberTable {
    let known = (0..RATING_BANDS).filter(|&band| !accuracies.percent[band].is_empty());
    let number = |number: Option<f64>| number.map_or(NOTHING.to_owned(), tenths);
    let rows = known.map(|band| {
        let percent = &accuracies.percent[band];
        let (mean, median) = (accuracies.mean(band), percent.summary().median);
        vec![rating_label(band), grouped(percent.total()), number(mean), number(median)]
    });
    let sides = accuracies.of_all().total();
    NumberTable {
        key: "accuracy_by_rating",
        title: "Accuracy by rating",
        note: format!("in percent, of {} of games with an evaluation after every move", counted(sides, "side")),
        head: vec!["rating", "sides", "mean", "median"],
        rows: rows.collect(),
    }
}

/// Shares of blunders by rating and phase, if there are ratings.
fn blunders_table(mistakes: &Mistakes) -> Option<NumberTable> {
    const NAMES: [&str; PHASE_BANDS] = ["0 to 5", "6 to 11", "12 to 17", "18 to 23", "from 24"];
    let known: Vec<usize> = (0..RATING_BANDS).filter(|&band| mistakes.of_rating(band).moves > 0).collect();
    let phases: Vec<usize> = (0..PHASE_BANDS).rev().filter(|&phase| mistakes.of_phase(phase).moves > 0).collect();
    if known == [RATING_BANDS - 1] {
        return None;
    }
    let rows = known.into_iter().map(|band| {
        let shares = phases.iter().map(|&phase| judged(mistakes.moves[phase][band])[3].clone());
        std::iter::once(rating_label(band)).chain(shares).collect()
    });
    Some(NumberTable {
        key: "blunders_by_rating_and_phase",
        title: "Blunders by rating and phase",
        note: "shares of the judged moves of a rating and a phase".to_owned(),
        rows: rows.collect(),
        head: std::iter::once("rating, phase").chain(phases.iter().map(|&phase| NAMES[phase])).collect(),
    })
}

impl Games {
    /// Games by families of ten opening codes: `B10-B19`.
    pub fn families(&self) -> Vec<(String, u64)> {
        let mut families: Vec<(String, u64)> = Vec::new();
        for (code, &count) in &self.eco {
            let family = String::from_utf8_lossy(&code[..2]);
            match families.last_mut() {
                Some((last, sum)) if *last == family => *sum += count,
                _ => families.push((family.into_owned(), count)),
            }
        }
        for (family, _) in &mut families {
            *family = format!("{family}0-{family}9");
        }
        families
    }
}

/// Maximum number of months that are shown as such, rather than as years.
const MOST_MONTHS: usize = 24;

impl Games {
    /// Games by month, or by year where there are many months, in order: `2026-08`.
    pub fn dates(&self) -> Vec<(String, u64)> {
        if self.months.len() <= MOST_MONTHS {
            let name = |&(year, month): &(u16, u8)| match month {
                0 => format!("{year:04}"),
                month => format!("{year:04}-{month:02}"),
            };
            return self.months.iter().map(|(month, &count)| (name(month), count)).collect();
        }
        let mut years: Vec<(u16, u64)> = Vec::new();
        for (&(year, _), &count) in &self.months {
            match years.last_mut() {
                Some((last, sum)) if *last == year => *sum += count,
                _ => years.push((year, count)),
            }
        }
        years.into_iter().map(|(year, count)| (format!("{year:04}"), count)).collect()
    }
}

impl Details {
    /// White's material minus Black's.
    pub fn balance(&self) -> Histogram {
        const MOST: i64 = 128;
        let mut counts = vec![0; 2 * MOST as usize];
        for (white, black, count) in self.material.iter() {
            counts[MOST as usize + white - black] += count;
        }
        Histogram::new(-MOST, counts)
    }

    /// The lengths of the games, computed from the numbers of records by ply: a game of N plies has one record for each
    /// ply from 0 to N. `None` if the records are evidently not all positions of whole games, because some ply has more
    /// records than the one before.
    pub fn game_lengths(&self) -> Option<Histogram> {
        let counts = self.ply.counts();
        let next = counts.iter().skip(1).chain([&0]);
        let ends: Option<Vec<u64>> = counts.iter().zip(next).map(|(&here, &next)| here.checked_sub(next)).collect();
        ends.filter(|ends| !ends.is_empty()).map(|ends| Histogram::new(0, ends))
    }
}
