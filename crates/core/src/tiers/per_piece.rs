//! One board at a time, sliders looked up piece by piece: the family for CPUs that have PEXT but no wide
//! vectors, and the alternative that the lanes are measured against.
//!
//! Steppers are still moved as sets ([`crate::kernels`] on one plain `u64`); only sliders are looked up. The
//! cost of such code is branches that no CPU can predict, above all the ends of its loops. So the first few
//! sliders of each kind are always looked up, whether or not they exist (a mask then removes the
//! result), and only what no normal board has goes through a loop. Positions that need more than that (double
//! check, en passant) are rare enough to be left to the plain rules.

use super::{Analyzer, Tier};
use crate::chess::attacks::{king_attacks, knight_attacks};
use crate::chess::geometry::{between, line_through};
use crate::chess::{Bitboard, LegalCounts, Square};
use crate::kernels::boards_in_lanes::{Board, Side};
use crate::kernels::moves::{PawnMoves, castles};
use crate::kernels::playable_positions::broken;
use crate::kernels::rays::ByLine;
use crate::kernels::threats::{pawn_attacks_down, pawn_attacks_up};
use crate::kernels::{self, BoardCounts, Keys, MoveLists, PieceSets, Replies};
use crate::packed::Group;
use crate::queries::{CAPTURES, CASTLES, GroupResults, PROMOTIONS, Queries, pack_counts};
use crate::simd::{Lanes, Scalar, inlined};
use crate::sliders::Sliders;

/// All results computed board by board.
#[derive(Clone, Copy, Debug)]
pub(super) struct PerPiece<A> {
    sliders: A,
    tier: Tier,
}

impl<A: Sliders> PerPiece<A> {
    /// The CPU features it uses.
    pub(super) const FEATURES: &'static [&'static str] = A::NEEDS;

    /// The analyzer, if the CPU can run its sliders.
    pub(super) fn detect(tier: Tier) -> Option<Self> {
        A::detect().map(|sliders| Self { sliders, tier })
    }
}

impl<A: Sliders> Analyzer for PerPiece<A> {
    fn tier(&self) -> Tier {
        self.tier
    }

    fn features(&self) -> &'static [&'static str] {
        Self::FEATURES
    }

    fn analyze(&self, groups: &[Group], queries: Queries, results: &mut [GroupResults]) {
        let results = &mut results[..groups.len()];
        let sliders = self.sliders;
        // The most frequent query has separate code.
        let only_moves = queries == Queries::MOVES;
        sliders.enter(
            #[inline(always)]
            || {
                for (group, out) in groups.iter().zip(results) {
                    for lane in 0..Group::LEN {
                        let view = View::new(sliders, group, lane);
                        if only_moves {
                            out.counts[lane] = view.moves::<false>(group, lane);
                        } else {
                            view.answer(queries, group, lane, out);
                        }
                    }
                }
            },
        );
    }

    fn piece_sets(&self, groups: &[Group], sets: &mut [PieceSets]) {
        let sets = &mut sets[..groups.len()];
        self.sliders.enter(
            #[inline(always)]
            || kernels::piece_sets(Scalar, groups, sets),
        );
    }

    fn replies(&self, groups: &[Group], replies: &mut [Replies]) {
        let replies = &mut replies[..groups.len()];
        self.sliders.enter(
            #[inline(always)]
            || kernels::replies(Scalar, groups, replies),
        );
    }

    fn list_moves(&self, groups: &[Group], mask: &[u64], lists: &mut MoveLists) {
        self.sliders.enter(
            #[inline(always)]
            || kernels::legal_move_lists(Scalar, groups, mask, lists),
        );
    }

    fn board_counts(&self, groups: &[Group], results: &[GroupResults], board_counts: &mut [BoardCounts]) {
        self.sliders.enter(
            #[inline(always)]
            || kernels::board_counts(Scalar, groups, results, board_counts),
        );
    }

    fn signatures(&self, groups: &[Group], signatures: &mut [[u64; Group::LEN]]) {
        self.sliders.enter(
            #[inline(always)]
            || kernels::signatures(Scalar, groups, signatures),
        );
    }

    fn keys(&self, groups: &[Group], results: &[GroupResults], excluded: &[u64; 4], keys: &mut [Keys]) {
        self.sliders.enter(
            #[inline(always)]
            || kernels::keys(Scalar, groups, results, excluded, keys),
        );
    }
}

/// Number of sliders of a kind that are looked up without checking whether they exist.
const ALWAYS: usize = 2;

/// Calls with the squares of a set and a mask that is zero if there was none.
#[inline(always)]
fn each_of(set: u64, mut visit: impl FnMut(Square, u64)) {
    let mut rest = set;
    let mut visit_lowest = inlined(
        #[inline(always)]
        |rest: u64| {
            let square = Square::new(rest.trailing_zeros() as u8 & 63);
            visit(square, rest.nonzero());
            rest & rest.wrapping_sub(1)
        },
    );
    for _ in 0..ALWAYS {
        rest = visit_lowest(rest);
    }
    while rest != 0 {
        rest = visit_lowest(rest);
    }
}

/// A board from the view of the side to move, with the data about its king.
#[derive(Clone, Copy, Debug)]
struct View<A> {
    sliders: A,
    board: Board<u64>,
    king: Square,
    checkers: u64,
    pinned: u64,
    attacked: u64,
}

impl<A: Sliders> View<A> {
    #[inline(always)]
    fn new(sliders: A, group: &Group, lane: usize) -> Self {
        let board = Board::load(Scalar, group, lane);
        let (us, them) = (&board.us, &board.them);
        let king = Square::new(us.king.trailing_zeros() as u8 & 63);
        let see = inlined(
            #[inline(always)]
            |occupied: u64| {
                let occupied = Bitboard(occupied);
                [sliders.bishop(king, occupied).0, sliders.rook(king, occupied).0]
            },
        );
        let king_sees = see(board.occupied);
        let checkers = (king_sees[0] & them.diagonal)
            | (king_sees[1] & them.orthogonal)
            | (knight_attacks(king).0 & them.knights)
            | (pawn_attacks_up(us.king) & them.pawns)
            | (king_attacks(king).0 & them.king);

        // A pinner is what the king sees once the own pieces that it sees are gone.
        let through = [
            sliders.bishop(king, Bitboard(board.occupied & !(king_sees[0] & us.all))).0,
            sliders.rook(king, Bitboard(board.occupied & !(king_sees[1] & us.all))).0,
        ];
        let pinners = (through[0] & !king_sees[0] & them.diagonal) | (through[1] & !king_sees[1] & them.orthogonal);
        let mut pinned = 0;
        for pinner in Bitboard(pinners) {
            pinned |= between(king, pinner).0 & us.all;
        }

        let attacked = Self::attacks(sliders, them, board.occupied) | pawn_attacks_down(them.pawns);
        Self { sliders, board, king, checkers, pinned, attacked }
    }

    /// All squares that a side attacks, except by pawns.
    #[inline(always)]
    fn attacks(sliders: A, side: &Side<u64>, occupied: u64) -> u64 {
        let king = Square::new(side.king.trailing_zeros() as u8 & 63);
        let mut attacked = side.knights.jumps() | king_attacks(king).0;
        let occupied = Bitboard(occupied);
        each_of(
            side.diagonal,
            #[inline(always)]
            |square, there| attacked |= sliders.bishop(square, occupied).0 & there,
        );
        each_of(
            side.orthogonal,
            #[inline(always)]
            |square, there| attacked |= sliders.rook(square, occupied).0 & there,
        );
        attacked
    }

    /// The legal moves, packed as in [`GroupResults::counts`]; with their kinds, if `KINDS`.
    #[inline(always)]
    fn moves<const KINDS: bool>(&self, group: &Group, lane: usize) -> u64 {
        let Self { sliders, board, king, checkers, pinned, attacked, .. } = *self;
        let (us, them) = (&board.us, &board.them);
        let several_checks = checkers & checkers.wrapping_sub(1) != 0;
        let en_passant = pawn_attacks_down(board.en_passant) & us.pawns;
        if several_checks || en_passant != 0 {
            return by_the_rules(group, lane);
        }

        let mut mask = !0;
        let mut behind_king = 0;
        if checkers != 0 {
            let checker = Square::new(checkers.trailing_zeros() as u8 & 63);
            mask = checkers | between(king, checker).0;
            if checkers & (them.diagonal | them.orthogonal) != 0 {
                behind_king = line_through(king, checker).0 & !checkers;
            }
        }
        let targets = mask & !us.all;

        let mut count = 0;
        let mut add = inlined(
            #[inline(always)]
            |set: u64| {
                count += u64::from(set.count_ones());
                if KINDS {
                    count += u64::from((set & them.all).count_ones()) << CAPTURES;
                }
            },
        );
        add(king_attacks(king).0 & !(us.all | attacked | behind_king));
        each_of(
            us.knights & !pinned,
            #[inline(always)]
            |square, there| add(knight_attacks(square).0 & targets & there),
        );
        let occupied = Bitboard(board.occupied);
        let (diagonal, orthogonal) = (us.diagonal & !pinned, us.orthogonal & !pinned);
        each_of(
            diagonal,
            #[inline(always)]
            |square, there| add(sliders.bishop(square, occupied).0 & targets & there),
        );
        each_of(
            orthogonal,
            #[inline(always)]
            |square, there| add(sliders.rook(square, occupied).0 & targets & there),
        );
        let mut movers = ByLine { rank: us.pawns, file: us.pawns, diagonal: us.pawns, antidiagonal: us.pawns };
        if pinned != 0 {
            for square in Bitboard(pinned & us.diagonal) {
                add(sliders.bishop(square, occupied).0 & targets & line_through(king, square).0);
            }
            for square in Bitboard(pinned & us.orthogonal) {
                add(sliders.rook(square, occupied).0 & targets & line_through(king, square).0);
            }
            let lines = us.king.lines_through_bit();
            movers.file &= !pinned | lines.column;
            movers.diagonal &= !pinned | lines.diagonal;
            movers.antidiagonal &= !pinned | lines.antidiagonal;
        }
        let pawns = PawnMoves::new(&board, movers, mask);
        add(pawns.steps);
        add(pawns.takes_right);
        add(pawns.takes_left);
        let promotions = pawns.promotions();
        if promotions != 0 {
            let promotions = u64::from(promotions.count_ones());
            count += 3 * promotions;
            if KINDS {
                let captures = u64::from(pawns.capture_promotions.count_ones());
                count += ((4 * promotions) << PROMOTIONS) + ((3 * captures) << CAPTURES);
            }
        }
        let castles = castles(Scalar, &board, attacked);
        count += castles;
        if KINDS {
            count += castles << CASTLES;
        }
        count
    }

    /// Computes what is requested.
    #[inline(always)]
    fn answer(&self, queries: Queries, group: &Group, lane: usize, out: &mut GroupResults) {
        let board = &self.board;
        let flip = inlined(
            #[inline(always)]
            |set: u64| set.swap_bytes_where(board.flipped),
        );
        if queries.intersects(Queries::KINDS) {
            out.counts[lane] = self.moves::<true>(group, lane);
        }
        out.checkers[lane] = flip(self.checkers);
        out.pinned[lane] = flip(self.pinned);
        if queries.intersects(Queries::ATTACKS | Queries::INVALID) {
            let ours = Self::attacks(self.sliders, &board.us, board.occupied) | pawn_attacks_up(board.us.pawns);
            let (ours_white, theirs_white) = (flip(ours), flip(self.attacked));
            out.attacks_white[lane] = board.flipped.choose(theirs_white, ours_white);
            out.attacks_black[lane] = board.flipped.choose(ours_white, theirs_white);
            out.invalid[lane] = broken(board, ours & board.them.king);
        }
        if queries.contains(Queries::MOBILITY) {
            let ours = self.mobility(&board.us);
            let theirs = self.mobility(&board.them);
            out.mobility[lane] = if board.flipped == 0 { ours | theirs << 16 } else { theirs | ours << 16 };
        }
    }

    /// Number of (knight or slider, target) pairs of a side whose target holds no piece of the same side.
    #[inline(always)]
    fn mobility(&self, side: &Side<u64>) -> u64 {
        let (sliders, occupied) = (self.sliders, Bitboard(self.board.occupied));
        let mut pairs = 0;
        let mut add = inlined(
            #[inline(always)]
            |set: u64| pairs += u64::from((set & !side.all).count_ones()),
        );
        each_of(
            side.knights,
            #[inline(always)]
            |square, there| add(knight_attacks(square).0 & there),
        );
        each_of(
            side.diagonal,
            #[inline(always)]
            |square, there| add(sliders.bishop(square, occupied).0 & there),
        );
        each_of(
            side.orthogonal,
            #[inline(always)]
            |square, there| add(sliders.rook(square, occupied).0 & there),
        );
        pairs
    }
}

/// The legal moves by [`crate::chess`]; zero for a board that does not decode.
#[cold]
fn by_the_rules(group: &Group, lane: usize) -> u64 {
    let counts = group.get(lane).unpack(0, 1).map_or_else(|_| LegalCounts::default(), |p| p.legal_counts());
    pack_counts(counts)
}
