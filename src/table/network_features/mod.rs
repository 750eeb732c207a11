//! The inputs of evaluation networks: which of them are active in a position, as columns `features:SET:SIDE`.
//!
//! A *set* numbers the inputs of a network, and is made of one or several [parts](Part), each of which counts on where the
//! one before it ends. A new part is an entry of [`PARTS`], the function that finds its active inputs, and its test against the
//! twin that is written after the published description. The *side* says whose view it is: the board is turned so that this
//! side plays up.
//!
//! Indices are ascending. Trainers sum the weights of the active inputs, so that their own order means nothing.
//!
//! A part looks at a [`View`]: the pieces of both sides as sets, seen from one side. Turning and mirroring sets costs a few operations
//! for a whole board, so that a square needs none: its index is the start of a block for the kind of piece and the king, plus
//! its number.

mod active_features;
mod leela_planes;
mod piece_squares;
mod threats;

use super::array::Array;
use super::column::Kind;
use super::column_choice::ComputedColumn;
use super::field::{Field, Fields};
use super::list_array::{Items, Lists};
use super::needs::Needs;
use super::tile::Tile;
use super::values::Values;
use crate::ParseError;
use crate::chess::{Color, Role, Square};
use crate::packed::{Packed, Planes};
use crate::queries::Queries;
use crate::simd::bmi2::Bmi2;
#[cfg(target_arch = "x86_64")]
use crate::simd::bytes::Avx512Blocks;
use crate::simd::bytes::{AnyBlocks, Blocks};
use crate::simd::inlined;
pub(crate) use active_features::ActiveFeatures;
pub(crate) use piece_squares::PieceSquares;
use std::fmt;
use std::sync::Arc;
use threats::Threats;

/// The prefix of the names of these columns.
pub(super) const PREFIX: &str = "features:";
/// The prefix of the names of columns of output buckets.
pub(super) const BUCKET: &str = "output_bucket:";

/// A part of a set, as listings have it.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct FeaturePart {
    /// The form of its name.
    pub name: &'static str,
    /// Number of inputs; `None` where it depends on the name.
    pub size: Option<u32>,
    /// The largest number of inputs that are active in a position of a game.
    pub most_active: u32,
    /// Where it is defined.
    pub source: &'static str,
}

/// An entry of the table of parts: what listings have, and how a name becomes a part.
struct Entry {
    listed: FeaturePart,
    parse: fn(&str) -> Option<Result<Part, String>>,
}

/// A row of the table: for a part with one name, or for those whose names go on behind a colon.
macro_rules! part {
    ($begin:literal : $rest:literal, $most:expr, $source:literal, $parse:expr) => {
        Entry {
            listed: FeaturePart { name: concat!($begin, ":", $rest), size: None, most_active: $most, source: $source },
            parse: |name| {
                let rest = name.strip_prefix($begin)?;
                rest.is_empty().then_some(rest).or(rest.strip_prefix(':')).map($parse)
            },
        }
    };
    ($name:literal, $size:expr, $most:expr, $source:literal, $part:expr) => {
        Entry {
            listed: FeaturePart { name: $name, size: Some($size), most_active: $most, source: $source },
            parse: |name| (name == $name).then(|| Ok($part)),
        }
    };
}

/// The table of parts.
static PARTS: &[Entry] = &[
    part!(
        "chess768",
        768,
        32,
        "bullet, crates/bullet_lib/src/game/inputs/chess768.rs",
        Part::PieceSquares(PieceSquares::chess768())
    ),
    part!(
        "chess768_hm",
        768,
        32,
        "bullet, crates/bullet_lib/src/game/inputs/chess_buckets.rs, ChessBucketsMirrored",
        Part::PieceSquares(PieceSquares::chess768_mirrored())
    ),
    part!(
        "chess768_kb": "N:LAYOUT",
        32,
        "bullet, the same file: ChessBucketsMirrored for a layout of 32 numbers, ChessBuckets for 64",
        |rest| PieceSquares::king_buckets(rest).map(Part::PieceSquares)
    ),
    part!(
        "halfkp",
        41_024,
        30,
        "nnue-pytorch before d283650, model/features/halfkp.py",
        Part::PieceSquares(PieceSquares::half_kp())
    ),
    part!("halfka", 49_216, 32, "nnue-pytorch before d283650, halfka.py", Part::PieceSquares(PieceSquares::half_ka())),
    part!(
        "halfka_v2",
        45_056,
        32,
        "nnue-pytorch before d283650, halfka_v2.py",
        Part::PieceSquares(PieceSquares::half_ka_v2())
    ),
    part!(
        "halfka_v2_hm",
        22_528,
        32,
        "nnue-pytorch before d283650, halfka_v2_hm.py; Stockfish, src/nnue/features/half_ka_v2_hm.cpp",
        Part::PieceSquares(PieceSquares::half_ka_v2_mirrored(11))
    ),
    part!(
        "halfka_v2_hm12",
        24_576,
        32,
        "nnue-pytorch since d283650, data_loader/cpp/training_data_loader.cpp, HalfKAv2_hm",
        Part::PieceSquares(PieceSquares::half_ka_v2_mirrored(12))
    ),
    part!(
        "threats": "VERSION",
        128,
        "Stockfish, src/nnue/features/full_threats.cpp, of SFNNv10 to v16 (sfnnv10, .. sfnnv16)",
        |rest| Threats::parse(rest).map(Part::Threats)
    ),
    part!(
        "pp_3wide",
        threats::PAWN_PAIRS,
        120,
        "Stockfish since SFNNv16, src/nnue/features/pp_3wide.cpp",
        Part::PawnPairs
    ),
    part!("planes:12", 12, 12, "masks of own P N B R Q K, then the other side's: no indices", Part::Planes),
    part!(
        "planes:112",
        leela_planes::PLANES,
        leela_planes::PLANES,
        "lc0, src/neural/encoder.cc, INPUT_CLASSICAL_112_PLANE: masks, no indices",
        Part::HistoryPlanes
    ),
];

/// The parts of sets that there are, for listings.
pub fn feature_parts() -> impl Iterator<Item = FeaturePart> {
    PARTS.iter().map(|entry| entry.listed)
}

/// A part of a set.
#[derive(Clone, Debug)]
enum Part {
    PieceSquares(PieceSquares),
    Threats(Threats),
    PawnPairs,
    /// Sets of squares in place of indices.
    Planes,
    /// The same, of the position and those before it in its game.
    HistoryPlanes,
}

impl Part {
    /// The part of this name.
    fn parse(name: &str) -> Result<Self, String> {
        PARTS.iter().find_map(|entry| (entry.parse)(name)).unwrap_or_else(|| {
            let names = PARTS.iter().map(|entry| entry.listed.name).collect::<Vec<_>>().join(", ");
            Err(format!("there is no set of features `{name}`; there are {names}"))
        })
    }
    /// Whether it consists of sets of squares.
    fn is_of_planes(&self) -> bool {
        matches!(self, Self::Planes | Self::HistoryPlanes)
    }
    /// Number of inputs.
    fn size(&self) -> u32 {
        match self {
            Self::PieceSquares(part) => part.size(),
            Self::Threats(part) => part.size(),
            Self::PawnPairs => threats::PAWN_PAIRS,
            Self::Planes => 12,
            Self::HistoryPlanes => leela_planes::PLANES,
        }
    }
    /// Adds the active inputs of a board as a side sees it, counted from `first` on, in ascending order.
    #[inline(always)]
    fn put<B: Blocks>(&self, blocks: B, board: &Packed, side: Color, first: u32, indices: &mut ActiveFeatures) {
        match self {
            Self::PieceSquares(part) => part.put(blocks, board, side, first, indices),
            Self::Threats(part) => part.put(blocks, &View::new(board, side), first, indices),
            Self::PawnPairs => threats::put_pawn_pairs(blocks, &View::new(board, side), first, indices),
            Self::Planes | Self::HistoryPlanes => {}
        }
    }
    /// What an input stands for; `None` if no position has it.
    fn meaning(&self, index: u32) -> Option<String> {
        match self {
            Self::PieceSquares(part) => part.meaning(index),
            Self::Threats(part) => part.meaning(index),
            Self::PawnPairs => threats::meaning_of_pawn_pair(index),
            Self::Planes | Self::HistoryPlanes => None,
        }
    }
    fn king_buckets(&self) -> Option<KingBuckets> {
        match self {
            Self::PieceSquares(part) => part.buckets(),
            _ => None,
        }
    }
}

/// A piece as one side sees it: `own knight`.
fn piece_name(is_other: bool, role: Role) -> String {
    let role = ["pawn", "knight", "bishop", "rook", "queen", "king"][role as usize];
    format!("{} {role}", if is_other { "other" } else { "own" })
}

/// Whose view it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Of(Color),
    ToMove,
    NotToMove,
}

impl Side {
    const ALL: [(&'static str, Self); 4] = [
        ("white", Self::Of(Color::White)),
        ("black", Self::Of(Color::Black)),
        ("stm", Self::ToMove),
        ("nstm", Self::NotToMove),
    ];
    fn color(self, to_move: Color) -> Color {
        match self {
            Self::Of(color) => color,
            Self::ToMove => to_move,
            Self::NotToMove => !to_move,
        }
    }
}

/// The planes of a board as one side sees it: with the ranks turned over for Black.
#[derive(Clone, Copy, Debug)]
struct SeenBoard {
    planes: Planes<u64>,
    /// The pieces of the side.
    own: u64,
}

impl SeenBoard {
    #[inline(always)]
    fn new(board: &Packed, side: Color) -> Self {
        let turn = |set: u64| if side == Color::Black { set.swap_bytes() } else { set };
        let planes = Planes { color: turn(board.color), types: board.types.map(turn) };
        let of_side = if side == Color::Black { planes.color } else { !planes.color };
        Self { planes, own: planes.occupied() & of_side }
    }
    /// The square of the own king; `None` without one.
    #[inline(always)]
    fn king(&self) -> Option<usize> {
        let king = self.planes.role(Role::King) & self.own;
        (king != 0).then(|| king.trailing_zeros() as usize)
    }
    /// The same board with its files reversed.
    #[inline(always)]
    fn mirrored(&self) -> Self {
        let planes = Planes { color: mirrored(self.planes.color), types: self.planes.types.map(mirrored) };
        Self { planes, own: mirrored(self.own) }
    }
}

/// A board as one side sees it: the pieces of each kind, its own and then the other side's, with the ranks turned over for
/// Black.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View {
    /// By side, then by kind: P N B R Q K.
    pieces: [[u64; 6]; 2],
}

impl View {
    pub(crate) fn new(board: &Packed, side: Color) -> Self {
        let SeenBoard { planes, own } = SeenBoard::new(board, side);
        let other = planes.occupied() & !own;
        Self { pieces: [own, other].map(|all| Role::ALL.map(|role| planes.role(role) & all)) }
    }
    /// The pieces of each kind, its own and then the other side's.
    pub(crate) fn pieces(&self) -> &[[u64; 6]; 2] {
        &self.pieces
    }
    /// The square of the own king; `None` without one.
    pub(crate) fn king(&self) -> Option<usize> {
        let king = self.pieces[0][Role::King as usize];
        (king != 0).then(|| king.trailing_zeros() as usize)
    }
    pub(crate) fn occupied(&self) -> u64 {
        self.pieces.as_flattened().iter().fold(0, |all, pieces| all | pieces)
    }
    /// The same board with its files reversed.
    fn mirrored(mut self) -> Self {
        for pieces in self.pieces.as_flattened_mut() {
            *pieces = mirrored(*pieces);
        }
        self
    }
}

/// A set with its files reversed.
#[inline(always)]
fn mirrored(set: u64) -> u64 {
    set.reverse_bits().swap_bytes()
}

/// The squares of a set, in ascending order.
fn squares(set: u64) -> impl Iterator<Item = u32> {
    let next = |rest: &u64| Some(rest & (rest - 1)).filter(|&rest| rest != 0);
    std::iter::successors(Some(set).filter(|&set| set != 0), next).map(u64::trailing_zeros)
}

/// A set of inputs of a network: one part, or several that are joined by `+`, each behind the inputs of those before it.
///
/// ```
/// use lanefish::table::FeatureSet;
///
/// let set = FeatureSet::parse("halfka_v2_hm")?;
/// assert_eq!(set.inputs(), 22_528);
/// assert_eq!(set.meaning(704 * 31 + 8), "king on e1: own pawn on a2");
/// assert!(FeatureSet::parse("halfka_v3").is_err());
/// # Ok::<(), lanefish::ParseError>(())
/// ```
#[derive(Clone)]
pub struct FeatureSet {
    name: Box<str>,
    /// The parts, each with the sum of the sizes of those before it.
    parts: Vec<(Part, u32)>,
    inputs: u32,
}

impl fmt::Debug for FeatureSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FeatureSet").field("name", &self.name).finish_non_exhaustive()
    }
}

impl PartialEq for FeatureSet {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl FeatureSet {
    /// The set of this name: parts as [`feature_parts`] lists them, joined by `+`.
    ///
    /// # Errors
    /// If there is no such part, or the layout of its buckets does not fit.
    pub fn parse(name: &str) -> Result<Self, ParseError> {
        let (mut parts, mut inputs) = (Vec::new(), 0);
        for part in name.split('+') {
            let part = Part::parse(part).map_err(ParseError::new)?;
            parts.push((part.clone(), inputs));
            inputs += part.size();
        }
        if parts.len() > 1 && parts.iter().any(|(part, _)| part.is_of_planes()) {
            return Err(ParseError::new("planes are sets of squares, which are not joined to indices"));
        }
        Ok(Self { name: name.into(), parts, inputs })
    }
    /// The set of this name, if it is one of indices.
    ///
    /// # Errors
    /// As [`Self::parse`], and for planes, which are sets of squares.
    pub fn parse_indices(name: &str) -> Result<Self, ParseError> {
        let set = Self::parse(name)?;
        match set.are_planes() {
            true => {
                Err(ParseError::new(format!("`{name}` are sets of squares: only inputs with an index are counted")))
            }
            false => Ok(set),
        }
    }
    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }
    /// Number of inputs.
    pub fn inputs(&self) -> u32 {
        self.inputs
    }
    /// What an input stands for, such as `king on e1: own pawn on a2`; squares are those that the side sees whose view it is.
    /// Inputs that no position has are `unused`.
    pub fn meaning(&self, index: u32) -> String {
        let part = self.parts.iter().rev().find(|(_, first)| *first <= index);
        part.and_then(|(part, first)| part.meaning(index - first)).unwrap_or_else(|| "unused".to_owned())
    }
    /// The buckets of the own king's squares, of the first part that has them.
    pub(crate) fn king_buckets(&self) -> Option<KingBuckets> {
        self.parts.iter().find_map(|(part, _)| part.king_buckets())
    }
    /// Whether threats are among its inputs.
    pub(crate) fn has_threats(&self) -> bool {
        self.parts.iter().any(|(part, _)| matches!(part, Part::Threats(_)))
    }
    /// The set as one of pieces on squares, if it is nothing else.
    pub(crate) fn piece_squares(&self) -> Option<&PieceSquares> {
        match &self.parts[..] {
            [(Part::PieceSquares(part), _)] => Some(part),
            _ => None,
        }
    }
    /// Adds the active inputs of a board as a side sees it, in ascending order.
    #[inline(always)]
    pub(crate) fn put<B: Blocks>(&self, blocks: B, board: &Packed, side: Color, indices: &mut ActiveFeatures) {
        for (part, first) in &self.parts {
            part.put(blocks, board, side, *first, indices);
        }
    }
    /// The active inputs of boards, as a side sees them, in ascending order; those of a missing board are none. With a
    /// length, shorter lists are filled up with -1. What the memory holds means nothing.
    fn lists(
        &self,
        side: Side,
        boards: impl ExactSizeIterator<Item = Option<Packed>>,
        pad: Option<usize>,
        memory: Vec<i32>,
    ) -> Lists {
        match self.piece_squares().is_some() {
            true => self.lists_on_this_cpu::<true>(side, boards, pad, memory),
            false => self.lists_on_this_cpu::<false>(side, boards, pad, memory),
        }
    }
    /// The same, where the set may be nothing but pieces on squares.
    fn lists_on_this_cpu<const PIECE_SQUARES: bool>(
        &self,
        side: Side,
        boards: impl ExactSizeIterator<Item = Option<Packed>>,
        pad: Option<usize>,
        memory: Vec<i32>,
    ) -> Lists {
        #[cfg(target_arch = "x86_64")]
        if let Some(blocks) = Avx512Blocks::detect() {
            return blocks.enter(inlined(
                #[inline(always)]
                || self.lists_by::<_, PIECE_SQUARES>(blocks, side, boards, pad, memory),
            ));
        }
        let fill = inlined(
            #[inline(always)]
            || self.lists_by::<_, PIECE_SQUARES>(AnyBlocks::detect(), side, boards, pad, memory),
        );
        match Bmi2::detect() {
            Some(bmi2) => bmi2.enter(fill),
            None => fill(),
        }
    }
    #[inline(always)]
    fn lists_by<B: Blocks, const PIECE_SQUARES: bool>(
        &self,
        blocks: B,
        side: Side,
        boards: impl ExactSizeIterator<Item = Option<Packed>>,
        pad: Option<usize>,
        memory: Vec<i32>,
    ) -> Lists {
        let mut items = ActiveFeatures::with_memory(memory, boards.len() * pad.unwrap_or(32));
        let mut ends = Vec::with_capacity(boards.len());
        for board in boards {
            let start = items.len();
            if let Some(board) = board {
                let color = side.color(board.side_to_move());
                match self.piece_squares() {
                    // What other parts need is not compiled into the loop over this one.
                    Some(part) if PIECE_SQUARES => part.put(blocks, &board, color, 0, &mut items),
                    _ if PIECE_SQUARES => {}
                    _ => self.put(blocks, &board, color, &mut items),
                }
            }
            if let Some(pad) = pad.filter(|pad| items.len() - start < *pad) {
                items.fill_up(start + pad);
            }
            ends.push(u32::try_from(items.len()).expect("less than 2^32 inputs"));
        }
        Lists::from_parts(Items::I32(items.into_indices()), ends)
    }
    fn are_planes(&self) -> bool {
        self.parts.iter().any(|(part, _)| part.is_of_planes())
    }
    /// Whether they are planes that depend on earlier positions.
    fn has_history(&self) -> bool {
        matches!(self.parts[..], [(Part::HistoryPlanes, _)])
    }
}

/// How a set numbers the squares of the own king.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct KingBuckets {
    /// Number of buckets.
    pub(crate) count: usize,
    /// The bucket of each square, a1 first, as the side sees it.
    pub(crate) of_square: [u8; 64],
    pub(crate) names: KingNames,
}

/// What a bucket of king squares is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KingNames {
    /// By its square. Where boards are mirrored, it is the one on files e to h.
    Square,
    /// By its number.
    Number,
}

impl KingBuckets {
    /// The name of a bucket: `e1`, or `bucket 3`.
    pub(crate) fn name(&self, bucket: usize) -> String {
        let square = self.square(bucket);
        match (self.names, square) {
            (KingNames::Square, Some(square)) => Square::new(square as u8).to_string(),
            _ => format!("bucket {bucket}"),
        }
    }
    /// The last square of a bucket, which is on files e to h where boards are mirrored.
    pub(crate) fn square(&self, bucket: usize) -> Option<usize> {
        self.of_square.iter().rposition(|&of_square| usize::from(of_square) == bucket)
    }
}

/// The column `features:SET:SIDE`.
#[derive(Clone, Debug)]
pub(super) struct FeatureColumn {
    name: Box<str>,
    meaning: Box<str>,
    set: FeatureSet,
    side: Side,
    /// Shorter lists are filled up to this length with -1.
    pad: Option<usize>,
}

impl FeatureColumn {
    /// The column of this name; `None` if it does not begin as such names do.
    ///
    /// # Errors
    /// If there is no such set or side, or the layout of its buckets does not fit.
    pub(super) fn named(name: &str) -> Option<Result<Self, ParseError>> {
        let rest = name.strip_prefix(PREFIX)?;
        Some(Self::parse(name, rest))
    }
    fn parse(name: &str, rest: &str) -> Result<Self, ParseError> {
        let sides = || Side::ALL.map(|(name, _)| name).join(", ");
        let usage =
            || ParseError::new(format!("a column of features is features:SET:SIDE, with a side of {}", sides()));
        let (set, side) = rest.rsplit_once(':').ok_or_else(usage)?;
        let known = Side::ALL.iter().find(|(name, _)| *name == side);
        let Some(&(_, side)) = known else {
            // The side may be missing, so that the last part of the set is taken for it.
            return Err(ParseError::new(format!("`{side}` is no side of features; sides are {}", sides())));
        };
        let set = FeatureSet::parse(set)?;
        if set.has_history() && side != Side::ToMove {
            return Err(ParseError::new(format!("`{}` is as the side to move sees it: features:{0}:stm", set.name)));
        }
        let view = match side {
            Side::Of(Color::White) => "White",
            Side::Of(Color::Black) => "Black",
            Side::ToMove => "the side to move",
            Side::NotToMove => "the side that is not to move",
        };
        let meaning = match set.are_planes() {
            true if set.has_history() => "planes of Leela's networks: the last eight positions of the game".to_owned(),
            true => format!("sets of own P N B R Q K and the other side's, as {view} sees them"),
            false => format!("active inputs of {}, of {}, as {view} sees them", set.name, set.inputs),
        };
        Ok(Self { name: name.into(), meaning: meaning.into(), set, side, pad: None })
    }
}

impl ComputedColumn for FeatureColumn {
    fn name(&self) -> &str {
        &self.name
    }
    fn kind(&self) -> Kind {
        if self.set.are_planes() { Kind::ListOfBits } else { Kind::ListOfI32 }
    }
    fn meaning(&self) -> &str {
        &self.meaning
    }
    fn needs(&self) -> Needs {
        if self.set.has_history() {
            const FIELDS: Fields = Fields::of(&[Field::History, Field::Game, Field::Ply]);
            return Needs { records_before: true, ..Needs::new(Queries::NONE, FIELDS) };
        }
        Needs::NONE
    }
    fn is_carried(&self) -> bool {
        self.set.has_history()
    }
    fn fill(&self, tile: &Tile<'_>) -> Array {
        if self.set.has_history() {
            return Array::Lists(leela_planes::fill(tile));
        }
        let boards = (0..tile.len).map(|row| tile.counts(tile.start + row).then(|| tile.board(row)));
        Array::Lists(if self.set.are_planes() {
            let mut ends = Vec::with_capacity(tile.len);
            let mut sets = Vec::with_capacity(12 * tile.len);
            for board in boards {
                if let Some(board) = board {
                    let view = View::new(&board, self.side.color(board.side_to_move()));
                    sets.extend_from_slice(view.pieces.as_flattened());
                }
                ends.push(sets.len() as u32);
            }
            Lists::from_parts(Items::U64(sets), ends)
        } else {
            self.set.lists(self.side, boards, self.pad, Vec::new())
        })
    }
    fn is_of_boards(&self) -> bool {
        !self.set.are_planes()
    }
    fn of_boards(&self, boards: &[Packed], memory: Vec<i32>) -> Lists {
        self.set.lists(self.side, boards.iter().copied().map(Some), self.pad, memory)
    }
    fn padded(&self, len: usize) -> Option<Arc<dyn ComputedColumn>> {
        /// No position of a game has more; the lists of a block of rows then have fewer than 2^32 items.
        const MOST: usize = 4096;
        let can_be = !self.set.are_planes() && len <= MOST;
        can_be.then(|| Arc::new(Self { pad: Some(len), ..self.clone() }) as _)
    }
}

/// The column `output_bucket:8` or `output_bucket:bullet:N`: which of the last layers of a network a position uses, by the
/// number of its pieces.
#[derive(Clone, Debug)]
pub(super) struct OutputBucket {
    name: Box<str>,
    meaning: Box<str>,
    /// Subtracted from the number of pieces, which is then divided.
    less: u32,
    divisor: u32,
}

impl OutputBucket {
    /// The column of this name; `None` if it does not begin as such names do.
    pub(super) fn named(name: &str) -> Option<Result<Self, ParseError>> {
        let rest = name.strip_prefix(BUCKET)?;
        let (less, divisor, meaning) = match rest.split_once(':') {
            None if rest == "8" => (1, 4, "output bucket, (pieces - 1) / 4, as in nnue-pytorch".to_owned()),
            Some(("bullet", buckets)) if let Ok(buckets @ 1..=32) = buckets.parse::<u32>() => {
                let divisor = 32_u32.div_ceil(buckets);
                (2, divisor, format!("output bucket, (pieces - 2) / {divisor}, as bullet's MaterialCount<{buckets}>"))
            }
            _ => {
                let reason =
                    "columns of output buckets are output_bucket:8 and output_bucket:bullet:N, with N from 1 to 32";
                return Some(Err(ParseError::new(reason)));
            }
        };
        Some(Ok(Self { name: name.into(), meaning: meaning.into(), less, divisor }))
    }
}

impl ComputedColumn for OutputBucket {
    fn name(&self) -> &str {
        &self.name
    }
    fn kind(&self) -> Kind {
        Kind::U8
    }
    fn meaning(&self) -> &str {
        &self.meaning
    }
    fn needs(&self) -> Needs {
        Needs::NONE
    }
    fn is_carried(&self) -> bool {
        false
    }
    fn fill(&self, tile: &Tile<'_>) -> Array {
        let bucket = |row: usize| {
            let pieces = tile.board(row).planes().occupied().count_ones();
            (pieces.saturating_sub(self.less) / self.divisor) as u8
        };
        Array::U8((0..tile.len).map(bucket).collect::<Values<u8>>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::random::Random;

    /// The lists of boards, made one after the other.
    fn one_by_one(set: &FeatureSet, side: Side, boards: &[Option<Packed>], pad: Option<usize>) -> Lists {
        let mut lists = Lists::new(Items::I32(Vec::new()));
        for board in boards {
            let mut indices = ActiveFeatures::default();
            if let Some(board) = board {
                set.put(AnyBlocks::detect(), board, side.color(board.side_to_move()), &mut indices);
            }
            let mut list = indices.into_indices();
            list.resize(list.len().max(pad.unwrap_or_default()), -1);
            lists.push_numbers(Some(&list));
        }
        lists
    }

    #[test]
    fn every_way_of_this_cpu_makes_the_same_lists() {
        let mut random = Random::new(71);
        let mut word = move || u64::from(random.below(u32::MAX)) << 32 | u64::from(random.below(u32::MAX));
        // Planes of anything, with up to 64 pieces: boards without kings or with several, and pawns anywhere.
        let mut boards: Vec<Option<Packed>> = (0..3000)
            .map(|row| {
                let few = |set: u64, other: u64| if row % 3 == 0 { set } else { set & other };
                let types = [few(word(), word()), few(word(), word()), few(word(), word())];
                (row % 7 != 3).then(|| Packed { color: word(), types })
            })
            .collect();
        boards.push(Packed::pack(&crate::chess::Position::standard()).ok());
        for set in ["chess768_hm", "halfkp", "halfka", "halfka_v2_hm", "halfka_v2_hm12", "threats:sfnnv16+halfkp"] {
            let set = FeatureSet::parse(set).expect("a set");
            for (_, side) in Side::ALL {
                for pad in [None, Some(1), Some(32), Some(200)] {
                    let memory = || vec![7; 1000 * usize::from(pad == Some(32))];
                    let expected = one_by_one(&set, side, &boards, pad);
                    let all = || boards.iter().copied();
                    assert!(set.lists(side, all(), pad, memory()) == expected, "{set:?} {pad:?}");
                    let any = set.lists_by::<_, false>(AnyBlocks::detect(), side, all(), pad, memory());
                    assert!(any == expected, "{set:?} {pad:?}");
                    if set.piece_squares().is_some() {
                        let any = set.lists_by::<_, true>(AnyBlocks::detect(), side, all(), pad, memory());
                        assert!(any == expected, "{set:?} {pad:?}");
                    }
                }
            }
        }
    }
}
