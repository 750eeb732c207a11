//! The data that statistics need: pieces, material, state and moves of each board as one word, and how often each
//! square is occupied by each piece, attacked by each side, or the square of a rarer event.
//!
//! The numbers of a board are packed into one word ([`BoardCounts`]), so that a table of joint counts is indexed by
//! 16 of its bits. Material is summed by the binary digits of the
//! piece values: 1, 3, 5 and 9 are all odd, so one count of all pieces but the king gives the ones, and only the rest
//! is counted by type.
//!
//! The squares are counted *vertically*: one word holds the lowest bit of all 64 counters, the next word their second
//! bit, and so on. Sixteen groups are added at once ([`Sums::add_sixteen`]). A map thus costs three operations per group,
//! and nothing is converted to numbers until [`VerticalCounters::GROUPS`] groups have been added. The sets of which the
//! pieces are counted are not those of the twelve pieces, but twelve that take fewer operations and from whose numbers
//! those of the pieces [follow](squares_of_pieces): the planes say whether a piece is a pawn or a bishop, for instance, by
//! one operation, and all pieces are counted with those of Black, not White's.

use super::RANK_6;
use super::bit_sums::Sums;
use super::boards_in_lanes::load_planes;
use crate::packed::{Group, Planes};
use crate::queries::{EN_PASSANTS, GroupResults};
use crate::simd::{Lanes, Simd};

/// Sentinel bits on ranks 3 and 6 are en passant squares.
const EN_PASSANT_RANKS: u64 = RANK_6 | RANK_6 >> 24;

/// The counts of eight boards, one word per lane:
///
/// | bits | content |
/// | --- | --- |
/// | 0-6 | pieces, both kings always counted |
/// | 7-15 | phase: minor pieces 1, rooks 2, queens 4, not capped |
/// | 16-33 | White's material, 1-3-3-5-9, plus 128 times Black's |
/// | 34-47 | White's material alone |
/// | 48-53 | state: Black to move; castling K, Q, k, q; en passant square |
/// | 54, 55 | in check, in double check |
/// | 56-63 | legal moves, modulo 256: see [`GroupResults::counts`] |
pub type BoardCounts = [u64; 8];

/// Counters of 64 squares for several sets, in each of eight lanes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[repr(align(64))]
pub struct VerticalCounters<const SETS: usize> {
    /// For each set, bits 0 to 7 of the counters of each lane.
    pub planes: [[[u64; 8]; 8]; SETS],
    groups: usize,
}

/// Sets of pieces, see [`squares_of_pieces`], then the squares attacked by White and by Black.
pub type SquareCounters = VerticalCounters<14>;

/// Checking pieces, rooks with castling rights, and en passant squares on which a capture is legal.
pub type EventCounters = VerticalCounters<3>;

impl<const SETS: usize> Default for VerticalCounters<SETS> {
    fn default() -> Self {
        Self { planes: [[[0; 8]; 8]; SETS], groups: 0 }
    }
}

impl<const SETS: usize> VerticalCounters<SETS> {
    /// Number of groups that can be added before a counter could overflow: the largest number below 256 of which sixteen
    /// at a time can be added.
    pub const GROUPS: usize = 240;

    /// Number of groups that can still be added.
    pub fn room(&self) -> usize {
        Self::GROUPS - self.groups
    }
}

/// Counts pieces and material, and reads the state, of each board; checks and moves are those of the results.
///
/// # Panics
/// If `results` or `out` is shorter than `groups`.
#[inline(always)]
pub fn board_counts<S: Simd>(simd: S, groups: &[Group], results: &[GroupResults], out: &mut [BoardCounts]) {
    let results = &results[..groups.len()];
    let out = &mut out[..groups.len()];
    for ((group, results), out) in groups.iter().zip(results).zip(out) {
        for at in (0..Group::LEN).step_by(S::WIDTH) {
            count_board(simd, group, results, at, out);
        }
    }
}

/// Counts the boards in the lanes `at..` of a group.
#[inline(always)]
fn count_board<S: Simd>(simd: S, group: &Group, results: &GroupResults, at: usize, out: &mut BoardCounts) {
    let planes = load_planes(simd, group, at);
    let color = planes.color;
    let (castling, occupied) = (planes.castling(), planes.occupied());
    let (kings, minors) = (planes.kings(), planes.minors());
    let (rooks, queens) = (planes.rooks(), planes.queens());

    let one = simd.splat(1);
    let none = simd.splat(0);
    let bit = |n: u32| simd.splat(1 << n);
    let sentinels = color & !occupied;
    let black_to_move = (sentinels & simd.splat(!RANK_6)).if_zero(none, bit(48));
    let en_passant = (sentinels & simd.splat(EN_PASSANT_RANKS)).if_zero(none, bit(53));
    // Castling rooks above the king are on its king side, below it on its queen side.
    let white_rooks = castling & !color;
    let black_rooks = castling & color;
    let white_below = (kings & !color).sub(one);
    let black_below = (kings & color).sub(one);
    let checkers = simd.load(&results.checkers, at);
    let state = simd.load(&results.counts, at).shl::<56>()
        | checkers.if_zero(none, bit(54))
        | (checkers & checkers.sub(one)).if_zero(none, bit(55))
        | black_to_move
        | en_passant
        | (white_rooks & !white_below).if_zero(none, bit(49))
        | (white_rooks & white_below).if_zero(none, bit(50))
        | (black_rooks & !black_below).if_zero(none, bit(51))
        | (black_rooks & black_below).if_zero(none, bit(52));

    let pieces = occupied & !kings;
    let sets = [pieces, minors, rooks, queens];
    let material = S::Lanes::sum_of_digits(sets);
    let black = S::Lanes::sum_of_digits(sets.map(
        #[inline(always)]
        |set| set & color,
    ));
    let white = material.sub(black);
    // Without the ones of each piece, the material of both sides is twice the phase.
    let pieces = pieces.count_ones();
    let phase = material.sub(pieces).shl::<6>();
    let both = white.shl::<16>().add(black.shl::<23>());
    let counts = pieces.add(simd.splat(2)) | phase | both | white.shl::<34>();
    simd.store(state | counts, out, at);
}

/// Adds groups and their attack maps to the counters. Masked lanes must be empty boards without attacks.
///
/// # Panics
/// If there are fewer results than groups, or more groups than [`VerticalCounters::room`].
#[inline(always)]
pub fn count_squares<S: Simd>(simd: S, groups: &[Group], results: &[GroupResults], counters: &mut SquareCounters) {
    in_sixteens(
        groups,
        results,
        counters,
        #[inline(always)]
        |groups, results, counters| count_sixteen(simd, groups, results, counters),
    );
}

/// Adds checkers, castling rooks and legal en passant captures to the counters. Masked lanes must be empty boards
/// without checkers.
///
/// # Panics
/// As for [`count_squares`].
#[inline(always)]
pub fn count_events<S: Simd>(simd: S, groups: &[Group], results: &[GroupResults], counters: &mut EventCounters) {
    in_sixteens(
        groups,
        results,
        counters,
        #[inline(always)]
        |groups, results, counters| count_sixteen_events(simd, groups, results, counters),
    );
}

/// Calls with sixteen groups and their results at a time, the last ones filled up with empty boards.
#[inline(always)]
fn in_sixteens<const SETS: usize>(
    groups: &[Group],
    results: &[GroupResults],
    counters: &mut VerticalCounters<SETS>,
    mut count: impl FnMut(&[Group; 16], &[GroupResults; 16], &mut VerticalCounters<SETS>),
) {
    assert!(groups.len() <= counters.room());
    counters.groups += groups.len();
    let results = &results[..groups.len()];
    let (groups, rest) = groups.as_chunks();
    let (results, rest_results) = results.as_chunks();
    for (groups, results) in groups.iter().zip(results) {
        count(groups, results, counters);
    }
    if !rest.is_empty() {
        let mut groups = [Group::default(); 16];
        let mut results = [GroupResults::default(); 16];
        groups[..rest.len()].copy_from_slice(rest);
        results[..rest.len()].copy_from_slice(rest_results);
        count(&groups, &results, counters);
    }
}

/// Adds sixteen groups and their attack maps to the counters.
#[inline(always)]
fn count_sixteen<S: Simd>(simd: S, groups: &[Group; 16], results: &[GroupResults; 16], counters: &mut SquareCounters) {
    let mut at = 0;
    while at < 8 {
        macro_rules! count_kind {
            ($kind:literal, |$t0:ident, $t1:ident, $t2:ident| $set:expr) => {
                add(
                    simd,
                    &mut counters.planes,
                    [$kind, $kind + 6],
                    at,
                    #[inline(always)]
                    |index| {
                        let Planes { color, types: [$t0, $t1, $t2] } = load_planes(simd, &groups[index], at);
                        let set = $set;
                        [set, set & color]
                    },
                )
            };
        }
        // In the order of [`squares_of_pieces`].
        count_kind!(0, |t0, t1, t2| t0 & !(t1 | t2));
        count_kind!(1, |t0, _t1, t2| t0 & !t2);
        count_kind!(2, |t0, t1, _t2| t0 & !t1);
        count_kind!(3, |_t0, t1, t2| t1 & !t2);
        count_kind!(4, |t0, t1, _t2| t1 & !t0);
        count_kind!(5, |_t0, _t1, t2| t2);
        add(
            simd,
            &mut counters.planes,
            [12, 13],
            at,
            #[inline(always)]
            |index| {
                let results = &results[index];
                [simd.load(&results.attacks_white, at), simd.load(&results.attacks_black, at)]
            },
        );
        at += S::WIDTH;
    }
}

/// The numbers of pieces on a square in the order `PNBRQKpnbrqk`, from those of the sets that [`count_squares`] counts
/// instead: of both sides first, then of Black.
pub fn squares_of_pieces(counted: [u64; 12]) -> [u64; 12] {
    let mut pieces = [0; 12];
    for side in [0, 6] {
        let [pawns, pawns_bishops, pawns_queens, knights_bishops, knights_kings, rooks_queens_kings] =
            std::array::from_fn(|kind| counted[side + kind]);
        let bishops = pawns_bishops - pawns;
        let queens = pawns_queens - pawns;
        let knights = knights_bishops - bishops;
        let kings = knights_kings - knights;
        let rooks = rooks_queens_kings - queens - kings;
        pieces[side..side + 6].copy_from_slice(&[pawns, knights, bishops, rooks, queens, kings]);
    }
    for role in 0..6 {
        pieces[role] -= pieces[role + 6];
    }
    pieces
}

/// Adds the events of sixteen groups to the counters.
#[inline(always)]
fn count_sixteen_events<S: Simd>(
    simd: S,
    groups: &[Group; 16],
    results: &[GroupResults; 16],
    counters: &mut EventCounters,
) {
    let mut at = 0;
    while at < 8 {
        add(
            simd,
            &mut counters.planes,
            [0, 1, 2],
            at,
            #[inline(always)]
            |index| {
                let (planes, results) = (load_planes(simd, &groups[index], at), &results[index]);
                let captures = simd.load(&results.counts, at).shr::<EN_PASSANTS>();
                let en_passant = planes.color & !planes.occupied() & captures.nonzero();
                [simd.load(&results.checkers, at), planes.castling(), en_passant]
            },
        );
        at += S::WIDTH;
    }
}

/// Adds sixteen times several sets, each to the counters of one place.
#[inline(always)]
fn add<S: Simd, const N: usize>(
    simd: S,
    counters: &mut [[[u64; 8]; 8]],
    places: [usize; N],
    at: usize,
    sets: impl Fn(usize) -> [S::Lanes; N],
) {
    let mut plane = 0;
    let (low, mut carries) = Sums::add_sixteen(
        #[inline(always)]
        |plane| {
            let mut planes = [simd.splat(0); N];
            let mut set = 0;
            while set < N {
                planes[set] = simd.load(&counters[places[set]][plane], at);
                set += 1;
            }
            planes
        },
        sets,
    );
    while plane < 8 {
        let mut set = 0;
        while set < N {
            let counter = &mut counters[places[set]][plane];
            if plane < low.len() {
                simd.store(low[plane][set], counter, at);
            } else {
                let old = simd.load(counter, at);
                simd.store(old ^ carries[set], counter, at);
                carries[set] = old & carries[set];
            }
            set += 1;
        }
        plane += 1;
    }
}
