//! Sets whose inputs are a kind of piece on a square, for each place of the own king.

use super::active_features::{ActiveFeatures, ROOM_OF_BOARD};
use super::{KingBuckets, KingNames, SeenBoard, piece_name};
use crate::chess::{Color, Role, Square};
use crate::packed::Packed;
use crate::simd::bytes::Blocks;
use std::sync::Arc;

/// When a board is seen with its files reversed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mirror {
    Never,
    /// If the own king is on files e to h.
    KingOnRight,
    /// If it is on files a to d.
    KingOnLeft,
}

/// In which order the kinds of pieces of both sides have their places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    /// P N B R Q K of the own side, then those of the other side.
    SideBySide,
    /// Own pawns, the other side's pawns, own knights, and so on to the kings.
    KindByKind,
    /// The same, and both kings have one place.
    KingsTogether,
    /// The same, and kings have no place.
    WithoutKings,
}

impl Order {
    /// The place of each kind, of the own side and of the other; `None` for one without inputs.
    fn places(self) -> [[Option<u8>; 6]; 2] {
        let place = |other: u8, kind: u8| match (self, kind) {
            (Self::SideBySide, _) => Some(6 * other + kind),
            (Self::KingsTogether, 5) => Some(10),
            (Self::WithoutKings, 5) => None,
            _ => Some(2 * kind + other),
        };
        [0, 1].map(|other| [0, 1, 2, 3, 4, 5].map(|kind| place(other, kind)))
    }
}

/// A set with an input for each kind of piece on each square, and each bucket of the own king's squares:
/// `base + square + 64 * (place of the kind) + stride * bucket`.
#[derive(Clone, Debug)]
pub(crate) struct PieceSquares {
    /// The index of the first input.
    base: u32,
    mirror: Mirror,
    /// Whether Black sees the board turned by 180 degrees, and not with its ranks turned over.
    is_turned: bool,
    order: Order,
    /// The first index of the bucket of each square of the own king, from which the board is not yet mirrored.
    kings: Arc<[u32; 64]>,
    /// The distance between the first indices of buckets.
    stride: u32,
    names: KingNames,
    size: u32,
}

/// How a side sees the board.
#[derive(Clone, Copy, Debug)]
struct Orientation {
    /// 7 if the files are reversed, else 0: squares are changed by `^`.
    flip: usize,
    /// The first index of the bucket of the own king.
    first: u32,
}

impl PieceSquares {
    /// Kinds in the order of the own side's pieces, then the other side's.
    fn by_side(mirror: Mirror, kings: [u32; 64], size: u32) -> Self {
        Self {
            base: 0,
            mirror,
            is_turned: false,
            order: Order::SideBySide,
            kings: Arc::new(kings),
            stride: 768,
            names: KingNames::Number,
            size,
        }
    }
    pub(super) fn chess768() -> Self {
        Self::by_side(Mirror::Never, [0; 64], 768)
    }
    pub(super) fn chess768_mirrored() -> Self {
        Self::by_side(Mirror::KingOnRight, [0; 64], 768)
    }
    /// `N:LAYOUT`: the number of buckets, and the bucket of each square.
    pub(super) fn king_buckets(text: &str) -> Result<Self, String> {
        let usage = "chess768_kb:N:LAYOUT has a layout of 32 numbers joined by dots (files a to d of each rank, the others are \
                     mirrored) or of 64, whose largest is N - 1";
        let wrong = |reason: &str| format!("{reason}: {usage}");
        let (buckets, layout) = text.split_once(':').ok_or_else(|| wrong("a part of the name is missing"))?;
        let buckets: u32 = buckets.parse().map_err(|_| wrong("N is not a number"))?;
        let numbers: Result<Vec<u32>, _> = layout.split('.').map(str::parse).collect();
        let numbers = numbers.map_err(|_| wrong("the layout has something else than numbers and dots"))?;
        let largest = numbers.iter().copied().max().unwrap_or(0);
        if largest.checked_add(1) != Some(buckets) || buckets > 64 {
            return Err(wrong(&format!("the largest number of the layout is {largest}, and N is {buckets}")));
        }
        let (mirror, of_square): (_, fn(usize) -> usize) = match numbers.len() {
            32 => (Mirror::KingOnRight, |square| 4 * (square / 8) + (square % 8).min(7 - square % 8)),
            64 => (Mirror::Never, |square| square),
            len => return Err(wrong(&format!("the layout has {len} numbers"))),
        };
        let kings = std::array::from_fn(|square| 768 * numbers[of_square(square)]);
        Ok(Self::by_side(mirror, kings, 768 * buckets))
    }
    pub(super) fn half_kp() -> Self {
        let kings = std::array::from_fn(|square| 641 * square as u32);
        Self {
            base: 1,
            mirror: Mirror::Never,
            is_turned: true,
            order: Order::WithoutKings,
            kings: Arc::new(kings),
            stride: 641,
            names: KingNames::Square,
            size: 641 * 64,
        }
    }
    pub(super) fn half_ka() -> Self {
        let kings = std::array::from_fn(|square| 769 * square as u32);
        Self {
            base: 1,
            mirror: Mirror::Never,
            is_turned: false,
            order: Order::KindByKind,
            kings: Arc::new(kings),
            stride: 769,
            names: KingNames::Square,
            size: 769 * 64,
        }
    }
    pub(super) fn half_ka_v2() -> Self {
        let kings = std::array::from_fn(|square| 704 * square as u32);
        Self {
            base: 0,
            mirror: Mirror::Never,
            is_turned: false,
            order: Order::KingsTogether,
            kings: Arc::new(kings),
            stride: 704,
            names: KingNames::Square,
            size: 704 * 64,
        }
    }
    /// Both kings have one place of 11, or one each of 12.
    pub(super) fn half_ka_v2_mirrored(kinds: u32) -> Self {
        let kings = std::array::from_fn(|square| {
            // Mirrored, the king is on files e to h.
            let file = (square % 8).max(7 - square % 8);
            64 * kinds * (4 * (7 - square / 8) + 7 - file) as u32
        });
        let size = 64 * kinds * 32;
        Self {
            base: 0,
            mirror: Mirror::KingOnLeft,
            is_turned: false,
            order: if kinds == 11 { Order::KingsTogether } else { Order::KindByKind },
            kings: Arc::new(kings),
            stride: 64 * kinds,
            names: KingNames::Square,
            size,
        }
    }

    pub(super) fn size(&self) -> u32 {
        self.size
    }

    /// Whether the index depends on the own king.
    pub(crate) fn needs_king(&self) -> bool {
        self.mirror != Mirror::Never || self.kings.iter().any(|&first| first != 0)
    }

    /// The buckets of the own king's squares, if there are several.
    pub(super) fn buckets(&self) -> Option<KingBuckets> {
        let of_square = self.kings.map(|first| (first / self.stride) as u8);
        let count = (self.size / self.stride) as usize;
        (count > 1).then_some(KingBuckets { count, of_square, names: self.names })
    }

    /// What an input stands for; `None` if no position has it.
    pub(super) fn meaning(&self, index: u32) -> Option<String> {
        let index = index.checked_sub(self.base)?;
        let (bucket, index) = (index / self.stride, index % self.stride);
        let (place, square) = ((index / 64) as u8, Square::new((index % 64) as u8));
        let places = self.order.places();
        let is_here = |&(other, role): &(usize, Role)| places[other][role as usize] == Some(place);
        let pieces = [0, 1].into_iter().flat_map(|other| Role::ALL.map(|role| (other, role)));
        let piece = match pieces.filter(is_here).collect::<Vec<_>>()[..] {
            [] => return None,
            [(other, role)] => piece_name(other == 1, role),
            // Only kings share a place.
            _ => "king of either side".to_owned(),
        };
        let king = match self.buckets() {
            Some(buckets) if buckets.names == KingNames::Square => {
                format!("king on {}: ", buckets.name(bucket as usize))
            }
            Some(buckets) => format!("{}: ", buckets.name(bucket as usize)),
            None => String::new(),
        };
        Some(format!("{king}{piece} on {square}"))
    }

    /// Whether a piece of a kind has inputs.
    pub(crate) fn has_inputs(&self, role: Role) -> bool {
        self.order.places()[0][role as usize].is_some()
    }

    /// Adds counts of pieces on squares to counts of inputs: those of the pieces that a side sees, by side and kind, while its
    /// king is on a square, or nowhere.
    pub(crate) fn add_counts(
        &self,
        king: Option<usize>,
        side: Color,
        pieces: &[[[u64; 64]; 6]; 2],
        inputs: &mut [u64],
    ) {
        let Some(orientation) = self.orientation(king, side) else { return };
        let Orientation { flip, first } = orientation;
        for (places, pieces) in self.order.places().iter().zip(pieces) {
            for (place, counts) in places.iter().zip(pieces) {
                let Some(place) = place else { continue };
                for (square, count) in counts.iter().enumerate() {
                    inputs[first as usize + 64 * usize::from(*place) + (square ^ flip)] += count;
                }
            }
        }
    }

    /// How a side sees the board while its king is on a square, which is given as it sees it before the board is mirrored.
    /// `None` if there is no king and the set needs one.
    fn orientation(&self, king: Option<usize>, side: Color) -> Option<Orientation> {
        let is_turned = self.is_turned && side == Color::Black;
        let king = match king {
            Some(king) => king,
            None if self.needs_king() => return None,
            None => 0,
        };
        let is_mirrored = match self.mirror {
            Mirror::Never => is_turned,
            Mirror::KingOnRight => king % 8 > 3,
            Mirror::KingOnLeft => king % 8 < 4,
        };
        // The ranks are turned already.
        let king = if is_turned { king ^ 7 } else { king };
        Some(Orientation { flip: if is_mirrored { 7 } else { 0 }, first: self.base + self.kings[king] })
    }

    /// Adds the active inputs of a board as one side sees it, counted from `first` on, in ascending order. A side without a king
    /// has none in sets that depend on it.
    #[inline(always)]
    pub(super) fn put<B: Blocks>(&self, blocks: B, board: &Packed, side: Color, first: u32, to: &mut ActiveFeatures) {
        let count = to.room_of_board().map(|room| self.write(blocks, board, side, first, room));
        to.add_written(count.unwrap_or_default());
    }
    #[inline(always)]
    fn write<B: Blocks>(
        &self,
        blocks: B,
        board: &Packed,
        side: Color,
        first: u32,
        to: &mut [i32; ROOM_OF_BOARD],
    ) -> usize {
        let seen = SeenBoard::new(board, side);
        let Some(Orientation { flip, first: of_set }) = self.orientation(seen.king(), side) else { return 0 };
        let SeenBoard { planes, own } = if flip != 0 { seen.mirrored() } else { seen };
        let other = planes.occupied() & !own;
        let mut written = Written { blocks, next: first + of_set, to, count: 0 };
        // Written one by one: a loop over kinds is not always unrolled.
        let [pawns, knights, bishops] = [planes.pawns(), planes.knights(), planes.bishops()];
        let [rooks, queens, kings] = [planes.rooks(), planes.queens(), planes.kings()];
        if self.order == Order::SideBySide {
            written.put(pawns & own);
            written.put(knights & own);
            written.put(bishops & own);
            written.put(rooks & own);
            written.put(queens & own);
            written.put(kings & own);
            written.put(pawns & other);
            written.put(knights & other);
            written.put(bishops & other);
            written.put(rooks & other);
            written.put(queens & other);
            written.put(kings & other);
            return written.count;
        }
        written.put(pawns & own);
        written.put(pawns & other);
        written.put(knights & own);
        written.put(knights & other);
        written.put(bishops & own);
        written.put(bishops & other);
        written.put(rooks & own);
        written.put(rooks & other);
        written.put(queens & own);
        written.put(queens & other);
        match self.order {
            Order::WithoutKings | Order::SideBySide => {}
            Order::KingsTogether => written.put(kings),
            Order::KindByKind => {
                written.put(kings & own);
                written.put(kings & other);
            }
        }
        written.count
    }
}

/// The inputs of a board that are written so far, place by place.
struct Written<'a, B> {
    blocks: B,
    /// The first input of the next place.
    next: u32,
    to: &'a mut [i32; ROOM_OF_BOARD],
    count: usize,
}

impl<B: Blocks> Written<'_, B> {
    /// Adds the inputs of the pieces of the next place. It is no closure, which would not always be inlined.
    #[inline(always)]
    fn put(&mut self, pieces: u64) {
        if let Some(room) = self.to[self.count..].first_chunk_mut::<64>() {
            self.blocks.put_few_numbers(pieces, self.next, bytemuck::cast_mut(room));
        }
        self.next += 64;
        self.count += pieces.count_ones() as usize;
    }
}
