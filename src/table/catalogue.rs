//! The one catalogue of named columns: name, type, meaning, and how a tile of it is filled.
//!
//! Row outputs, listings, help and completions read this catalogue. It also has, for each column, the queries
//! that it needs answered and the field that it reads from the input. A new column is one entry: most are a closure
//! from a [`Lane`](super::fill::Lane), a record with its results, to a number. Only the tags of games have too many
//! names to be listed: see [`TAGS`](super::TAGS). If a column of text can have only certain values, these are in
//! [`ClosedValues`](super::ClosedValues).

use super::array::Array;
use super::column::{Column, Kind};
use super::field::{Field, Fields};
use super::fill::{
    castling, count, elo_difference, en_passant, fen, first, key, material, material_key, mean_elo, month,
    numbers_of_controls, opening, opening_family, per_lane, played_move, plies_left, raw_field, result,
    result_of_mover, san, score, score_of_mover, score_placeholder, side_to_move, speed, squares,
};
use super::judgments_and_accuracy;
use super::legal_move_columns::LEGAL_MOVE_COLUMNS;
use super::move_features::{
    captured, captures, checks, flags_of_moves, mates, moved, numbers_of_moves, pieces_of_moves, quiet,
};
use super::see;
use super::tile::Tile;
use super::time_control::Control;
use crate::chess::{MoveKind, Role};
use crate::queries::Queries;

const NOTHING: Queries = Queries::NONE;
const MOVES: Queries = Queries::MOVES;
const KINDS: Queries = Queries::KINDS;
const CHECKERS: Queries = Queries::CHECKERS;
const ENDED: Queries = Queries::MOVES.union(Queries::CHECKERS);
const ATTACKS: Queries = Queries::ATTACKS;
const PINNED: Queries = Queries::PINNED;
const MOBILITY: Queries = Queries::MOBILITY;

/// The fields that identify the records on the way to a position.
const OPENING: &[Field] = &[Field::PositionOpening, Field::Game, Field::Ply];

/// The fields that identify the record before in the same game or chain, and its score.
const SCORE_BEFORE: &[Field] = &[Field::ScoreBefore, Field::Score, Field::Game, Field::Ply];
/// The fields that identify all records before, and those that decide whether a score is a placeholder.
const SCORE_PLACEHOLDER: &[Field] = &[Field::LastScore, Field::Score, Field::Result, Field::Game, Field::Ply];

/// The fields that tell the time used for moves.
const TIMES: &[Field] = &[Field::Clock, Field::MoveTime, Field::TimeControl, Field::Move, Field::Game, Field::Ply];
/// The fields that tell the evaluations before and after moves.
const EVALUATIONS: &[Field] = &[
    Field::Score,
    Field::Mate,
    Field::ScoreAfter,
    Field::MateAfter,
    Field::NextPly,
    Field::Move,
    Field::Game,
    Field::Ply,
];

pub(super) const fn column(
    name: &'static str,
    kind: Kind,
    queries: Queries,
    fill: fn(&Tile<'_>) -> Array,
    meaning: &'static str,
) -> Column {
    Column { name, kind, meaning, queries, fields: Fields::NONE, fill }
}

/// A column that is carried as it is.
macro_rules! carried {
    ($field:ident, $kind:ident, $meaning:literal) => {
        carried(Field::$field, Kind::$kind, |tile| raw_field(tile, Field::$field), $meaning)
    };
}

/// A column that is computed lane by lane.
macro_rules! computed {
    ($name:literal, $kind:ident, $array:ident, $queries:expr, $value:expr, $meaning:literal) => {
        column($name, Kind::$kind, $queries, |tile| Array::$array(per_lane(tile, $value)), $meaning)
    };
}

const fn carried(field: Field, kind: Kind, fill: fn(&Tile<'_>) -> Array, meaning: &'static str) -> Column {
    Column { name: field.name(), kind, meaning, queries: NOTHING, fields: Fields::of(&[field]), fill }
}

/// A column that is made of fields, and of results if the position counts as well.
pub(super) const fn made_of(
    fields: &[Field],
    name: &'static str,
    kind: Kind,
    queries: Queries,
    fill: fn(&Tile<'_>) -> Array,
    meaning: &'static str,
) -> Column {
    Column { name, kind, meaning, queries, fields: Fields::of(fields), fill }
}

/// A column that is found for whole games, and the fields that it is made of.
macro_rules! derived {
    ($field:ident, $kind:ident, $fields:expr, $meaning:literal) => {
        Column {
            name: Field::$field.name(),
            kind: Kind::$kind,
            meaning: $meaning,
            queries: NOTHING,
            fields: Fields::of($fields).union(Fields::of(&[Field::$field])),
            fill: |tile| raw_field(tile, Field::$field),
        }
    };
}

/// A number of the time control.
macro_rules! of_control {
    ($name:literal, $number:ident, $kind:ident, $meaning:literal) => {
        made_of(
            &[Field::TimeControl],
            $name,
            Kind::$kind,
            NOTHING,
            |tile| Array::$kind(numbers_of_controls(tile, Control::$number)),
            $meaning,
        )
    };
}

/// A fact of the record's move.
macro_rules! of_move {
    ($name:literal, $is:expr, $meaning:literal) => {
        made_of(&[Field::Move], $name, Kind::Flag, NOTHING, |tile| flags_of_moves(tile, $is), $meaning)
    };
}

/// A piece of the record's move.
macro_rules! piece_of_move {
    ($name:literal, $piece:expr, $meaning:literal) => {
        made_of(&[Field::Move], $name, Kind::Text, NOTHING, |tile| pieces_of_moves(tile, $piece), $meaning)
    };
}

/// A set of pieces.
macro_rules! piece_set {
    ($name:literal, $color:ident, $role:ident, $meaning:literal) => {
        computed!($name, Bits, U64, NOTHING, |r| r.$color() & r.role(Role::$role), $meaning)
    };
}

/// All columns but [those of legal moves](LEGAL_MOVE_COLUMNS), in the order of listings and of `--columns all`.
pub static COLUMNS: &[Column] = &[
    column(
        "index",
        Kind::U64,
        NOTHING,
        |t| Array::U64((t.start..t.start + t.len).map(|row| t.batch.index(row)).collect()),
        "0-based number of the record over all inputs",
    ),
    column(
        "fen",
        Kind::Text,
        NOTHING,
        fen,
        "the position; castling as KQkq where the rook is the outermost one, else its file letter; en passant square only where such a capture is legal",
    ),
    column("stm", Kind::Text, NOTHING, side_to_move, "side to move, w or b"),
    computed!(
        "legal_moves",
        U16,
        U16,
        MOVES,
        |r| r.legal().moves,
        "number of legal moves; each promotion piece counts, castling counts once per rook"
    ),
    computed!("legal_captures", U16, U16, KINDS, |r| r.legal().captures, "of those, captures (en passant is one)"),
    computed!("legal_promotions", U16, U16, KINDS, |r| r.legal().promotions, "of the legal moves, promotions"),
    computed!("legal_castles", U16, U16, KINDS, |r| r.legal().castles, "of the legal moves, castling moves"),
    computed!(
        "legal_en_passants",
        U16,
        U16,
        KINDS,
        |r| r.legal().en_passants,
        "of the legal moves, en passant captures"
    ),
    computed!(
        "checkers",
        U8,
        U8,
        CHECKERS,
        |r| count(r.checkers()),
        "number of enemy pieces giving check to the side to move"
    ),
    computed!("in_check", Flag, Flag, CHECKERS, |r| r.checkers() != 0, "whether the side to move is in check"),
    computed!(
        "double_check",
        Flag,
        Flag,
        CHECKERS,
        |r| count(r.checkers()) > 1,
        "whether more than one piece gives check"
    ),
    computed!(
        "checkmate",
        Flag,
        Flag,
        ENDED,
        |r| r.legal().moves == 0 && r.checkers() != 0,
        "in check and without a legal move"
    ),
    computed!(
        "stalemate",
        Flag,
        Flag,
        ENDED,
        |r| r.legal().moves == 0 && r.checkers() == 0,
        "not in check and without a legal move"
    ),
    computed!(
        "attacked_white",
        U8,
        U8,
        ATTACKS,
        |r| count(r.results.attacks_white[r.lane]),
        "number of squares that White attacks: sliders stop at the first piece, own pieces' squares count, pins are ignored"
    ),
    computed!("attacked_black", U8, U8, ATTACKS, |r| count(r.results.attacks_black[r.lane]), "the same for Black"),
    computed!(
        "attacks_white",
        Bits,
        U64,
        ATTACKS,
        |r| r.results.attacks_white[r.lane],
        "squares that White attacks, a1 = bit 0, h8 = bit 63"
    ),
    computed!("attacks_black", Bits, U64, ATTACKS, |r| r.results.attacks_black[r.lane], "squares that Black attacks"),
    computed!("checkers_mask", Bits, U64, CHECKERS, |r| r.checkers(), "enemy pieces giving check"),
    computed!(
        "pinned_mask",
        Bits,
        U64,
        PINNED,
        |r| r.results.pinned[r.lane],
        "pieces of the side to move that are absolutely pinned to their king"
    ),
    computed!(
        "mobility_white",
        U16,
        U16,
        MOBILITY,
        |r| (r.results.mobility[r.lane] & 0xFFFF) as u16,
        "pairs of a white knight, bishop, rook or queen and a square that it attacks and that holds no white piece"
    ),
    computed!(
        "mobility_black",
        U16,
        U16,
        MOBILITY,
        |r| (r.results.mobility[r.lane] >> 16 & 0xFFFF) as u16,
        "the same for Black"
    ),
    computed!("pieces", U8, U8, NOTHING, |r| count(r.planes.occupied()), "number of pieces, pawns and kings included"),
    computed!("white_pieces", U8, U8, NOTHING, |r| count(r.white()), "of those, White's"),
    computed!("black_pieces", U8, U8, NOTHING, |r| count(r.black()), "of those, Black's"),
    computed!("pawns", U8, U8, NOTHING, |r| count(r.role(Role::Pawn)), "number of pawns of both sides"),
    computed!("knights", U8, U8, NOTHING, |r| count(r.role(Role::Knight)), "number of knights of both sides"),
    computed!("bishops", U8, U8, NOTHING, |r| count(r.role(Role::Bishop)), "number of bishops of both sides"),
    computed!("rooks", U8, U8, NOTHING, |r| count(r.role(Role::Rook)), "number of rooks of both sides"),
    computed!("queens", U8, U8, NOTHING, |r| count(r.role(Role::Queen)), "number of queens of both sides"),
    computed!("material_white", U16, U16, NOTHING, |r| r.material(r.white()), "White's material, 1-3-3-5-9"),
    computed!("material_black", U16, U16, NOTHING, |r| r.material(r.black()), "Black's material, 1-3-3-5-9"),
    computed!(
        "phase",
        U8,
        U8,
        NOTHING,
        |r| r.phase(),
        "24 = all minor and major pieces on the board, 0 = none (minor 1, rook 2, queen 4; at most 24)"
    ),
    column(
        "white_king",
        Kind::Text,
        NOTHING,
        |t| squares(per_lane(t, |r| first(r.role(Role::King) & r.white()))),
        "square of the white king",
    ),
    column(
        "black_king",
        Kind::Text,
        NOTHING,
        |t| squares(per_lane(t, |r| first(r.role(Role::King) & r.black()))),
        "square of the black king",
    ),
    column("castling", Kind::Text, NOTHING, castling, "castling rights, as in FEN"),
    column("en_passant", Kind::Text, NOTHING, en_passant, "en passant square, as in FEN"),
    column(
        "halfmove",
        Kind::U16,
        NOTHING,
        |t| Array::U16(t.batch.halfmove[t.start..t.start + t.len].iter().copied().collect()),
        "halfmove clock, as in FEN",
    ),
    column(
        "fullmove",
        Kind::U16,
        NOTHING,
        |t| Array::U16(t.batch.fullmove[t.start..t.start + t.len].iter().copied().collect()),
        "fullmove number, as in FEN",
    ),
    made_of(&[Field::KeyEnPassant], "key", Kind::Bits, NOTHING, key, "Polyglot Zobrist key"),
    carried!(Game, U64, "0-based number of the game over all inputs"),
    carried!(Ply, U16, "plies since the start of the game"),
    carried(
        Field::Move,
        Kind::Text,
        played_move,
        "the move played or the best move of the record, in UCI form; in games of Chess960, castling is king takes rook",
    ),
    made_of(&[Field::Move], "san", Kind::Text, NOTHING, san, "the same move in standard algebraic notation"),
    carried(
        Field::Score,
        Kind::I16,
        score,
        "centipawns, from White's side; none where the record has a mate or a sentinel",
    ),
    carried!(
        Mate,
        I16,
        "moves to mate, positive where White mates, negative where Black does; 0 where the side to move is mated"
    ),
    carried!(Depth, U16, "depth of the evaluation, in plies"),
    carried!(Knodes, U64, "nodes searched for the evaluation, in thousands"),
    carried(Field::Result, Kind::Text, result, "1-0, 0-1 or 1/2-1/2"),
    carried!(Termination, Text, "how the game ended, as the game gives it"),
    carried!(White, Text, "White's name"),
    carried!(Black, Text, "Black's name"),
    carried!(WhiteElo, U16, "White's rating"),
    carried!(BlackElo, U16, "Black's rating"),
    carried!(Clock, U32, "the mover's remaining time after the move, in centiseconds"),
    carried!(Eco, Text, "opening code"),
    carried!(Opening, Text, "name of the opening"),
    carried!(TimeControl, Text, "time control, as the game gives it"),
    carried!(Date, Date, "date as YYYY.MM.DD"),
    carried!(Site, Text, "site; for Lichess the address of the game"),
    carried!(PuzzleId, Text, "id of the puzzle"),
    carried!(PuzzleRating, U16, "rating of the puzzle"),
    carried!(RatingDeviation, U16, "rating deviation of the puzzle"),
    carried!(Popularity, I16, "popularity of the puzzle, from -100 to 100"),
    carried!(Plays, U32, "how often the puzzle was played"),
    carried!(Themes, Text, "themes of the puzzle, separated by blanks"),
    carried!(Operations, Text, "EPD operations, as they stood in the line"),
    carried!(
        KeyEnPassant,
        U8,
        "number of the en passant square (a1 is 0) that counts in `key` although no such capture is legal"
    ),
    carried!(Count, U64, "how often the record occurred, where dedup --counts left out repetition"),
    column(
        "material",
        Kind::Text,
        NOTHING,
        material,
        "pieces of White, `v`, pieces of Black, each as letters in the order KQRBNP, such as KRPPvKR",
    ),
    piece_set!("white_pawns_mask", white, Pawn, "squares of White's pawns"),
    piece_set!("white_knights_mask", white, Knight, "squares of White's knights"),
    piece_set!("white_bishops_mask", white, Bishop, "squares of White's bishops"),
    piece_set!("white_rooks_mask", white, Rook, "squares of White's rooks"),
    piece_set!("white_queens_mask", white, Queen, "squares of White's queens"),
    piece_set!("white_king_mask", white, King, "squares of White's king"),
    piece_set!("black_pawns_mask", black, Pawn, "squares of Black's pawns"),
    piece_set!("black_knights_mask", black, Knight, "squares of Black's knights"),
    piece_set!("black_bishops_mask", black, Bishop, "squares of Black's bishops"),
    piece_set!("black_rooks_mask", black, Rook, "squares of Black's rooks"),
    piece_set!("black_queens_mask", black, Queen, "squares of Black's queens"),
    piece_set!("black_king_mask", black, King, "squares of Black's king"),
    computed!(
        "standard",
        Flag,
        Flag,
        NOTHING,
        |r| r.castles_as_standard(),
        "whether castling rights, if any, are those of standard chess"
    ),
    computed!(
        "distinct_key",
        Bits,
        U64,
        KINDS,
        |r| r.distinct_key(),
        "hash of the position: equal for equal boards, sides to move, castling rights and legal en passant squares, in every version"
    ),
    computed!(
        "stm_material",
        U8,
        U8,
        NOTHING,
        |r| r.points(r.mover()),
        "material of the side to move, 1-3-3-5-9; at most 255"
    ),
    computed!("nstm_material", U8, U8, NOTHING, |r| r.points(r.opponent()), "the same of the other side"),
    computed!(
        "stm_king",
        U8,
        U8,
        NOTHING,
        |r| r.king_of_mover(),
        "square of the king of the side to move as that side sees it: a1 = 0, h8 = 63, for Black with the ranks flipped"
    ),
    made_of(
        &[Field::Score],
        "raw_score",
        Kind::I16,
        NOTHING,
        |tile| raw_field(tile, Field::Score),
        "the score as the record stores it, from White's side, also where it is the sentinel 32002 or -32002",
    ),
    made_of(&[Field::Score], "stm_score", Kind::I16, NOTHING, score_of_mover, "`score` from the side to move"),
    made_of(
        SCORE_BEFORE,
        "score_before",
        Kind::I16,
        NOTHING,
        |tile| raw_field(tile, Field::ScoreBefore),
        "`score` of the record before in the same game or chain, in which the other side moved, also where that record is left out",
    ),
    made_of(
        SCORE_PLACEHOLDER,
        "score_placeholder",
        Kind::Flag,
        NOTHING,
        score_placeholder,
        "whether `raw_score` is 0 in place of a score: the game is decided, and the last score before it in the game or chain that is not 0 is beyond 100",
    ),
    made_of(
        &[Field::Result],
        "stm_result",
        Kind::Text,
        NOTHING,
        result_of_mover,
        "`result` from the side to move: win, draw or loss",
    ),
    of_move!("move_captures", captures, "whether the move of the record captures; en passant is a capture"),
    of_move!("move_promotes", |_, mv| matches!(mv.kind, MoveKind::Promotion(_)), "whether it promotes"),
    of_move!("move_castles", |_, mv| mv.kind == MoveKind::Castle, "whether it castles"),
    of_move!("move_en_passant", |_, mv| mv.kind == MoveKind::EnPassant, "whether it captures en passant"),
    of_move!("move_checks", checks, "whether it gives check"),
    piece_of_move!(
        "moved_piece",
        moved,
        "piece that the move of the record moves: P, N, B, R, Q or K; castling moves the king"
    ),
    piece_of_move!(
        "captured_piece",
        captured,
        "piece that the move captures: P, N, B, R or Q; en passant captures P; none where nothing is captured"
    ),
    made_of(
        &[Field::Move],
        "move_see",
        Kind::I16,
        NOTHING,
        |tile| numbers_of_moves(tile, see::value),
        "static exchange value of the move, as Stockfish's see_ge has it (P 208, N 781, B 825, R 1276, Q 2538); castling, promotions and en passant are 0",
    ),
    made_of(
        &[Field::Move],
        "quiet",
        Kind::Flag,
        CHECKERS,
        quiet,
        "not in check, and the move of the record neither captures nor promotes",
    ),
    made_of(
        &[Field::TimeControl],
        "speed",
        Kind::Text,
        NOTHING,
        speed,
        "class of the time control, as --time-control takes it: ultrabullet, bullet, blitz, rapid, classical or correspondence",
    ),
    made_of(
        &[Field::Opening],
        "opening_family",
        Kind::Text,
        NOTHING,
        opening_family,
        "name of the opening up to its first colon, such as Sicilian Defense",
    ),
    made_of(
        &[Field::Date],
        "month",
        Kind::Text,
        NOTHING,
        month,
        "month of the date, in any notation that --since takes, as YYYY.MM, or its year as YYYY",
    ),
    made_of(
        &[Field::WhiteElo, Field::BlackElo],
        "mean_elo",
        Kind::U16,
        NOTHING,
        mean_elo,
        "mean of both ratings, rounded down",
    ),
    made_of(
        &[Field::GamePlies],
        "game_plies",
        Kind::U16,
        NOTHING,
        |tile| raw_field(tile, Field::GamePlies),
        "plies of the game, where the input has whole games",
    ),
    made_of(
        &[Field::GamePlies, Field::Ply],
        "plies_left",
        Kind::U16,
        NOTHING,
        plies_left,
        "plies to the end of the game",
    ),
    made_of(
        OPENING,
        "eco_position",
        Kind::Text,
        NOTHING,
        |tile| opening(tile, |opening| &opening.eco),
        "opening code of the last position on the way here that is in Lichess' list of openings, whatever the order of moves",
    ),
    made_of(
        OPENING,
        "opening_position",
        Kind::Text,
        NOTHING,
        |tile| opening(tile, |opening| &opening.name),
        "the name of that opening",
    ),
    of_control!(
        "base",
        base,
        U32,
        "seconds of the time control at the beginning: of its first period, without fractions"
    ),
    of_control!("increment", increment, U32, "seconds that each move adds, in the first period of the time control"),
    of_control!(
        "moves_per_period",
        moves_per_period,
        U16,
        "number of moves for which the time of the first period is, where it is not for the whole game"
    ),
    derived!(
        TimeUsed,
        U32,
        TIMES,
        "centiseconds used for the move: `[%emt]`, or by the clocks before and after it, the base and the increment"
    ),
    derived!(
        ScoreAfter,
        I16,
        EVALUATIONS,
        "`score` of the next record of the same game or chain, so after the move, also where that record is left out"
    ),
    derived!(MateAfter, I16, EVALUATIONS, "`mate` of that record"),
    made_of(
        &[Field::Score, Field::Mate],
        "win_chance",
        Kind::F64,
        NOTHING,
        judgments_and_accuracy::win_chances,
        "White's chance to win by the evaluation of the position, from 0 to 1, as lichess.org has it: 1 / (1 + exp(-0.00368208 * score)); a mate is 0 or 1",
    ),
    made_of(
        EVALUATIONS,
        "loss",
        Kind::F64,
        NOTHING,
        judgments_and_accuracy::losses,
        "how much of the mover's chance to win the move gave away, from 0 to 1",
    ),
    made_of(
        EVALUATIONS,
        "loss_cp",
        Kind::I16,
        NOTHING,
        judgments_and_accuracy::losses_of_centipawns,
        "the same in centipawns, where both scores are limited to 1000 either way, and a mate is 1000",
    ),
    made_of(
        &[Field::Move],
        "move_mates",
        Kind::Flag,
        NOTHING,
        |tile| flags_of_moves(tile, mates),
        "whether the move mates",
    ),
    made_of(
        EVALUATIONS,
        "judgment",
        Kind::Text,
        NOTHING,
        judgments_and_accuracy::judgments,
        "inaccuracy, mistake or blunder, as lichess.org names moves by the chances to win before and after them",
    ),
    made_of(
        EVALUATIONS,
        "accuracy",
        Kind::F64,
        NOTHING,
        judgments_and_accuracy::accuracies,
        "accuracy of the move, from 0 to 100, as lichess.org has it",
    ),
    derived!(
        WhiteAccuracy,
        F64,
        EVALUATIONS,
        "White's accuracy in the game as lichess.org has it, where an evaluation stands after every move, or all but the last one"
    ),
    derived!(BlackAccuracy, F64, EVALUATIONS, "the same of Black"),
    derived!(WhiteAcpl, F64, EVALUATIONS, "mean of `loss_cp` of White's moves, under the same condition"),
    derived!(BlackAcpl, F64, EVALUATIONS, "the same of Black"),
    derived!(WhiteInaccuracies, U16, EVALUATIONS, "number of White's inaccuracies, under the same condition"),
    derived!(WhiteMistakes, U16, EVALUATIONS, "number of White's mistakes, under the same condition"),
    derived!(WhiteBlunders, U16, EVALUATIONS, "number of White's blunders, under the same condition"),
    derived!(BlackInaccuracies, U16, EVALUATIONS, "number of Black's inaccuracies, under the same condition"),
    derived!(BlackMistakes, U16, EVALUATIONS, "number of Black's mistakes, under the same condition"),
    derived!(BlackBlunders, U16, EVALUATIONS, "number of Black's blunders, under the same condition"),
    derived!(
        WhiteTime,
        U32,
        TIMES,
        "centiseconds that White used in the game: sum of `time_used`, where all are known"
    ),
    derived!(BlackTime, U32, TIMES, "the same of Black"),
    derived!(EvaluatedPlies, U16, EVALUATIONS, "after how many moves of the game an evaluation stands"),
    derived!(ClockedPlies, U16, TIMES, "after how many moves of the game a clock stands"),
    made_of(
        &[Field::WhiteElo, Field::BlackElo],
        "elo_difference",
        Kind::I16,
        NOTHING,
        elo_difference,
        "White's rating minus Black's",
    ),
    column(
        "material_balance",
        Kind::I32,
        NOTHING,
        |tile| Array::I16(per_lane(tile, |r| r.material(r.white()) as i16 - r.material(r.black()) as i16)),
        "White's material minus Black's, 1-3-3-5-9",
    ),
    column(
        "material_key",
        Kind::Text,
        NOTHING,
        material_key,
        "`material` with the stronger side first, whatever its colour: by points; of equal points, the one with the stronger piece where they first differ",
    ),
    derived!(
        Repetition,
        U8,
        &[Field::Game, Field::Ply],
        "how often this position, as `distinct_key`, has been on the board in its game, this time included"
    ),
];

/// The columns of the catalogue that are the same for all records of a game, whatever its number is.
pub(crate) const OF_GAMES: [&str; 34] = [
    "white",
    "black",
    "white_elo",
    "black_elo",
    "mean_elo",
    "time_control",
    "speed",
    "eco",
    "opening",
    "opening_family",
    "date",
    "month",
    "site",
    "result",
    "termination",
    "game_plies",
    "base",
    "increment",
    "moves_per_period",
    "white_accuracy",
    "black_accuracy",
    "white_acpl",
    "black_acpl",
    "white_inaccuracies",
    "white_mistakes",
    "white_blunders",
    "black_inaccuracies",
    "black_mistakes",
    "black_blunders",
    "white_time",
    "black_time",
    "evaluated_plies",
    "clocked_plies",
    "elo_difference",
];

impl Column {
    /// The column of this name; `eval`, as PGN calls it, is `score`, and `plies`, as tables of games call it,
    /// `game_plies`.
    pub fn named(name: &str) -> Option<&'static Self> {
        let name = match name {
            "eval" => "score",
            "plies" => "game_plies",
            name => name,
        };
        COLUMNS.iter().chain(LEGAL_MOVE_COLUMNS).find(|column| column.name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::Position;
    use crate::output::csv::Csv;
    use crate::output::row_format::{RowFormat, SquareSetStyle};
    use crate::packed::Packed;
    use crate::queries::GroupResults;
    use crate::table::OF_GAME;
    use crate::table::{Batch, Columns};
    use crate::tiers::Tier;
    use std::sync::Arc;

    fn row_of(fen: &str, names: &str) -> String {
        let position = Position::from_fen_unvalidated(fen).unwrap();
        let mut batch = Batch::new();
        batch.push(Packed::pack(&position).unwrap(), position.halfmove, position.fullmove);
        let mut results = GroupResults::default();
        results.attacks_white[0] = 0x8000_0000_0000_000F;
        let results = [results];
        let batch = Arc::new(batch);
        let tile = Tile::new(Tier::PORTABLE.analyzer().unwrap(), &batch, 0, 1, &results, &[1]);
        let mut out = Vec::new();
        Csv.tile(&Columns::named(names).unwrap(), SquareSetStyle::Hex, &tile, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn values_of_a_position() {
        let fen = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R b Kq - 7 31";
        assert_eq!(
            row_of(fen, "stm,castling,halfmove,fullmove,pieces,white_pieces,pawns,rooks,phase"),
            "b,Kq,7,31,32,16,16,4,24\n"
        );
        assert_eq!(row_of(fen, "fen"), format!("{fen}\n"));
        assert_eq!(
            row_of(fen, "white_king,black_king,en_passant,material_white,material_black,score"),
            "e1,e8,-,39,39,\n"
        );
        assert_eq!(row_of(fen, "attacked_white,attacks_white"), "5,0x800000000000000f\n");
    }

    #[test]
    fn phase_ends_at_24() {
        assert_eq!(row_of("qqqqk3/8/8/8/8/8/8/QQQQK2R w - - 0 1", "phase"), "24\n");
        assert_eq!(row_of("qqqk4/8/8/8/8/8/8/QQ1K3R w - - 0 1", "phase"), "22\n");
        assert_eq!(row_of("qqqk3n/8/8/8/8/8/8/QQ1K2RR w - - 0 1", "phase"), "24\n");
    }

    /// They need neither a position nor anything that differs from record to record.
    #[test]
    fn columns_of_games_are_made_of_facts_of_games() {
        let facts = Fields::of(&[
            Field::White,
            Field::Black,
            Field::WhiteElo,
            Field::BlackElo,
            Field::TimeControl,
            Field::Eco,
            Field::Opening,
            Field::Date,
            Field::Site,
            Field::Result,
            Field::Termination,
            Field::GamePlies,
        ]);
        let is_of_facts = |column: &Column| {
            let fields = column.fields;
            !fields.is_empty() && fields.union(facts) == facts && column.queries == NOTHING
        };
        for column in COLUMNS {
            // What is seen from the side to move is of a position.
            let is_derived = OF_GAME.iter().any(|field| field.name() == column.name);
            let expected = is_of_facts(column) && column.name != "stm_result" || is_derived;
            assert_eq!(OF_GAMES.contains(&column.name), expected, "{}", column.name);
        }
        assert!(OF_GAMES.iter().all(|name| Column::named(name).is_some()));
    }

    #[test]
    fn names_are_unique_and_meanings_are_one_line() {
        let all: Vec<&Column> = COLUMNS.iter().chain(LEGAL_MOVE_COLUMNS).collect();
        for (at, column) in all.iter().enumerate() {
            assert!(all[..at].iter().all(|other| other.name != column.name), "{}", column.name);
            assert!(!column.meaning.is_empty() && !column.meaning.contains('\n'));
        }
    }
}
