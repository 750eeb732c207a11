//! Legal moves, counted without being listed, and the smaller kernels: attack maps, checkers, pins, mobility.
//!
//! A set of targets by direction holds each (piece, target) pair of that direction as one bit, so the number
//! of moves is a sum of population counts over twenty sets: eight slider directions, eight knight jumps,
//! king, pawn steps, two pawn captures. [`Sums`] adds them before anything is counted, unless the CPU has an
//! instruction for population counts of vectors and nothing but the sum is requested.

use super::bit_sums::Sums;
use super::boards_in_lanes::{Board, Side};
use super::playable_positions::broken;
use super::rays::{ByLine, Directions, Rays};
use super::threats::{Danger, attackers, pawn_attacks_up, steps_down};
use super::{CORNERS, E1, FILE_A, FILE_H, RANK_1, RANK_3, RANK_5, RANK_8};
use crate::packed::Group;
use crate::queries::{CAPTURES, CASTLES, EN_PASSANTS, GroupResults, PROMOTIONS};
use crate::simd::{Lanes, Simd, inlined};

/// Counts legal moves, without their kinds, of the lanes `at..` of a group. Double checks, castling in Chess960 and en
/// passant are left out; the rare groups that have one of them are counted again in full.
#[inline(always)]
pub fn count_legal_moves<S: Simd>(simd: S, group: &Group, at: usize, out: &mut GroupResults) {
    let board = Board::load(simd, group, at);
    let rays = Rays::new(board.occupied);
    let danger = Danger::except_double_checks(&board, &rays);
    let movers = Movers::unless_pinned(&board.us, &danger);
    let castling = Castling::new(simd, &board, danger.attacked);
    if is_rare(&board, &danger, &movers, &castling) {
        return count_again(simd, group, at, out);
    }
    if L::<S>::HAS_POPULATION_COUNTS {
        let moves = sum_of_counts(simd, &board, &rays, &danger, &movers, &castling);
        simd.store(moves, &mut out.counts, at);
    } else {
        let moves = Moves::new(&board, &danger, &movers, movers.reach(&rays));
        store_counts(simd, &moves, castling.count(), &mut out.counts, at);
    }
}

/// The number of moves where population counts cost little: one for each set, instead of adding the sets before.
#[inline(always)]
fn sum_of_counts<S: Simd>(
    simd: S,
    board: &Board<L<S>>,
    rays: &Rays<L<S>>,
    danger: &Danger<L<S>>,
    movers: &Movers<L<S>>,
    castling: &Castling<L<S>>,
) -> L<S> {
    let (none, targets) = (simd.splat(0), danger.targets);
    let pawns = PawnMoves::new(board, movers.pawns, targets);
    // Steps end on empty squares, captures on others.
    let pawns =
        (pawns.steps | pawns.takes_right).count_ones_in_bytes().add_in_bytes(pawns.takes_left.count_ones_in_bytes());
    let king = danger.king_moves(board) | castling.short(none, simd.splat(G1)) | castling.long(none, simd.splat(C1));
    // No byte overflows: 17 sets, and pawns.
    let mut counts = pawns.add_in_bytes(king.count_ones_in_bytes());
    for moves in rays.moves(movers.sliders, targets) {
        counts = counts.add_in_bytes(moves.count_ones_in_bytes());
    }
    for moves in movers.knight_moves(targets) {
        counts = counts.add_in_bytes(moves.count_ones_in_bytes());
    }
    // Each promotion is four moves, one of which is already counted.
    let promotions = pawns.shr::<56>();
    counts.sum_of_bytes().add(promotions).add(promotions.shl::<1>())
}

/// Stores the number of moves: a base, and the moves of pieces.
#[inline(always)]
fn store_counts<S: Simd>(simd: S, moves: &Moves<L<S>>, base: L<S>, counts: &mut [u64; 8], at: usize) {
    let [m1, m2, m4, ..] = moves.sums.planes;
    simd.store_weighted_counts(base, [m1, m2, m4, moves.pawns.promotions()], [1, 2, 4, 3], counts, at);
    add_crowds(simd, moves.sums, 1, counts, at);
}

/// Whether any lane may have a double check, castling in Chess960 or en passant.
#[inline(always)]
fn is_rare<L: Lanes>(board: &Board<L>, danger: &Danger<L>, movers: &Movers<L>, castling: &Castling<L>) -> bool {
    // Pawns that step over the edge of the board make a group rare in vain, but hardly ever.
    let takes = movers.pawns.diagonal.shl::<9>() | movers.pawns.antidiagonal.shl::<7>();
    (danger.double_checks | castling.elsewhere | (takes & board.en_passant)).any()
}

/// [`count_all_moves`], not inlined.
#[cold]
#[inline(never)]
fn count_again<S: Simd>(simd: S, group: &Group, at: usize, out: &mut GroupResults) {
    simd.enter(
        #[inline(always)]
        || count_all_moves(simd, group, at, out),
    );
}

/// Counts legal moves on any board.
#[inline(always)]
fn count_all_moves<S: Simd>(simd: S, group: &Group, at: usize, out: &mut GroupResults) {
    let board = Board::load(simd, group, at);
    let rays = Rays::new(board.occupied);
    let danger = Danger::new(&board, &rays);
    let movers = Movers::unless_pinned(&board.us, &danger);
    let pieces = movers.reach(&rays);
    let moves = Moves::new(&board, &danger, &movers, pieces);
    let castles = castles(simd, &board, danger.attacked);
    store_counts(simd, &moves, castles.add(en_passants(&board, &danger, &movers)), &mut out.counts, at);
}

/// Counts legal moves with their kinds, and finds checkers, pins and both attack maps, of the lanes `at..`
/// of a group; if `CHECKED`, also the invalid boards.
#[inline(always)]
pub fn everything<S: Simd, const CHECKED: bool>(simd: S, group: &Group, at: usize, out: &mut GroupResults) {
    let board = Board::load(simd, group, at);
    let rays = Rays::new(board.occupied);
    let danger = Danger::new(&board, &rays);
    let us = &board.us;

    // Attacks ignore pins, moves do not. But pinned sliders and knights are rare, so moves are counted from the
    // attacks, and only groups with such a piece are counted again.
    let free = Movers::all(us);
    let attacks = free.reach(&rays);
    let attacked = attacks.any() | pawn_attacks_up(us.pawns) | us.king.neighbours_of_bit();
    let movers = Movers::unless_pinned(us, &danger);
    let pinned = danger.seen & us.all;
    let mut pieces = attacks;
    if (pinned & (us.knights | us.diagonal | us.orthogonal)).any() {
        pieces = movers.reach(&rays);
    }
    let moves = Moves::new(&board, &danger, &movers, pieces);

    let flip = inlined(
        #[inline(always)]
        |set: L<S>| set.swap_bytes_where(board.flipped),
    );
    let (ours, theirs) = (flip(attacked), flip(danger.attacked));
    let exchanged = (ours ^ theirs) & board.flipped;
    simd.store(ours ^ exchanged, &mut out.attacks_white, at);
    simd.store(theirs ^ exchanged, &mut out.attacks_black, at);
    simd.store(flip(danger.checkers), &mut out.checkers, at);
    simd.store(flip(pinned), &mut out.pinned, at);
    if CHECKED {
        simd.store(broken(&board, attacked & board.them.king), &mut out.invalid, at);
    }

    let castles = castles(simd, &board, danger.attacked);
    let en_passants = en_passants(&board, &danger, &movers);
    let base = castles
        .add(castles.shl::<CASTLES>())
        .add(en_passants)
        .add(en_passants.shl::<CAPTURES>())
        .add(en_passants.shl::<EN_PASSANTS>());
    let captures = moves.sums.within(board.them.all);
    let [m1, m2, m4, ..] = moves.sums.planes;
    let [c1, c2, c4, ..] = captures.planes;
    let capture = 1 << CAPTURES;
    simd.store_weighted_counts(
        base,
        [m1, m2, m4, c1, c2, c4, moves.pawns.promotions(), moves.pawns.capture_promotions],
        [1, 2, 4, capture, 2 * capture, 4 * capture, 3 | 4 << PROMOTIONS, 3 * capture],
        &mut out.counts,
        at,
    );
    add_crowds(simd, moves.sums, 1, &mut out.counts, at);
    add_crowds(simd, captures, capture, &mut out.counts, at);
}

/// Adds the planes of a sum above those of weight 1, 2 and 4: squares that eight or more pieces can reach. These are
/// rare enough for a branch.
#[inline(always)]
fn add_crowds<S: Simd>(simd: S, sums: Sums<L<S>>, weight: u64, counts: &mut [u64; 8], at: usize) {
    let [.., eights, sixteens] = sums.planes;
    if (eights | sixteens).any() {
        let so_far = simd.load(counts, at);
        let weights = [8 * weight, 16 * weight];
        simd.store_weighted_counts(so_far, [eights, sixteens], weights, counts, at);
    }
}

/// Finds the attack maps of both sides.
#[inline(always)]
pub fn attack_maps<S: Simd>(simd: S, group: &Group, at: usize, out: &mut GroupResults) {
    let board = Board::load(simd, group, at);
    let rays = Rays::new(board.occupied);
    let (us, them) = (&board.us, &board.them);
    // In the same way as in `everything`, so that both agree even on lanes without a king.
    let ours =
        rays.lines(us.sliders()).union() | us.knights.jumps() | us.king.neighbours_of_bit() | pawn_attacks_up(us.pawns);
    let theirs = rays.lines(them.sliders()).union() | steps_down(them);
    let flip = inlined(
        #[inline(always)]
        |set: L<S>| set.swap_bytes_where(board.flipped),
    );
    let (ours, theirs) = (flip(ours), flip(theirs));
    let exchanged = (ours ^ theirs) & board.flipped;
    simd.store(ours ^ exchanged, &mut out.attacks_white, at);
    simd.store(theirs ^ exchanged, &mut out.attacks_black, at);
}

/// Finds the pieces that give check.
#[inline(always)]
pub fn checkers<S: Simd>(simd: S, group: &Group, at: usize, out: &mut GroupResults) {
    let board = Board::load(simd, group, at);
    let king = board.us.king;
    let rays = Rays::new(board.occupied);
    let sight = rays.sight_of(king, king.lines_through_bit());
    let pawn_squares = king.sides_of_bit::<1>().shl::<8>();
    let checkers = attackers(&board.them, king, pawn_squares, sight);
    simd.store(checkers.swap_bytes_where(board.flipped), &mut out.checkers, at);
}

/// Finds the pieces of the side to move that are absolutely pinned.
#[inline(always)]
pub fn pins<S: Simd>(simd: S, group: &Group, at: usize, out: &mut GroupResults) {
    let board = Board::load(simd, group, at);
    let king = board.us.king;
    let rays = Rays::new(board.occupied);
    let sight = rays.sight_of(king, king.lines_through_bit());
    let enemy = rays.lines(board.them.sliders());
    let seen = sight
        .zip(
            enemy,
            #[inline(always)]
            |king, enemy| king & enemy,
        )
        .union();
    simd.store((seen & board.us.all).swap_bytes_where(board.flipped), &mut out.pinned, at);
}

/// Counts, for both sides, the (knight or slider, target) pairs whose target holds no piece of the same side.
#[inline(always)]
pub fn mobility<S: Simd>(simd: S, group: &Group, at: usize, out: &mut GroupResults) {
    let board = Board::load(simd, group, at);
    let rays = Rays::new(board.occupied);
    let of = inlined(
        #[inline(always)]
        |side: &Side<L<S>>| Movers::all(side).reach(&rays).within(!side.all),
    );
    let (ours, theirs) = (of(&board.us), of(&board.them));
    let by_color = inlined(
        #[inline(always)]
        |of_us: Sums<L<S>>, of_them: Sums<L<S>>| of_us.or_where(board.flipped, of_them),
    );
    let (white, black) = (by_color(ours, theirs), by_color(theirs, ours));
    let [w1, w2, w4, ..] = white.planes;
    let [b1, b2, b4, ..] = black.planes;
    let of_black = 1 << 16;
    simd.store_weighted_counts(
        simd.splat(0),
        [w1, w2, w4, b1, b2, b4],
        [1, 2, 4, of_black, 2 * of_black, 4 * of_black],
        &mut out.mobility,
        at,
    );
    add_crowds(simd, white, 1, &mut out.mobility, at);
    add_crowds(simd, black, of_black, &mut out.mobility, at);
}

/// The lanes of a token.
type L<S> = <S as Simd>::Lanes;

impl<L: Lanes> Side<L> {
    /// The sliders of each line.
    #[inline(always)]
    pub(crate) fn sliders(&self) -> ByLine<L> {
        ByLine { rank: self.orthogonal, file: self.orthogonal, diagonal: self.diagonal, antidiagonal: self.diagonal }
    }
}

/// The pieces that may move along each line: sliders, and pawns with their three directions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Movers<L> {
    sliders: ByLine<L>,
    knights: L,
    pawns: ByLine<L>,
}

impl<L: Lanes> Movers<L> {
    /// All pieces of a side.
    #[inline(always)]
    fn all(side: &Side<L>) -> Self {
        let pawns = side.pawns;
        Self {
            sliders: side.sliders(),
            knights: side.knights,
            pawns: ByLine { rank: pawns, file: pawns, diagonal: pawns, antidiagonal: pawns },
        }
    }

    /// The pieces that are not pinned, or are pinned along that line.
    #[inline(always)]
    pub(super) fn unless_pinned(us: &Side<L>, danger: &Danger<L>) -> Self {
        let seen = danger.seen;
        let along = inlined(
            #[inline(always)]
            |movers: ByLine<L>| {
                movers.zip(
                    danger.seen_by_both,
                    #[inline(always)]
                    |movers, seen_along| movers.without_unless(seen, seen_along),
                )
            },
        );
        let all = Self::all(us);
        Self { sliders: along(all.sliders), knights: us.knights & !seen, pawns: along(all.pawns) }
    }

    /// The number of sliders and knights that reach each square.
    #[inline(always)]
    fn reach(&self, rays: &Rays<L>) -> Sums<L> {
        let Directions { east, west, north, south, north_east, south_west, north_west, south_east } =
            rays.directions(self.sliders);
        let knights = self.knights;
        let (one_right, one_left) = (knights.shl_in_bytes::<1>(), knights.shr_in_bytes::<1>());
        let (two_right, two_left) = (knights.shl_in_bytes::<2>(), knights.shr_in_bytes::<2>());
        Sums::of_sixteen([
            east,
            west,
            north,
            south,
            north_east,
            south_west,
            north_west,
            south_east,
            one_right.shl::<16>(),
            one_right.shr::<16>(),
            one_left.shl::<16>(),
            one_left.shr::<16>(),
            two_right.shl::<8>(),
            two_right.shr::<8>(),
            two_left.shl::<8>(),
            two_left.shr::<8>(),
        ])
    }

    /// The moves of knights to a set of targets: for each jump, one bit per move. The bits are not squares.
    #[inline(always)]
    fn knight_moves(&self, targets: L) -> [L; 8] {
        let knights = self.knights;
        let (one_right, one_left) = (knights.shl_in_bytes::<1>(), knights.shr_in_bytes::<1>());
        let (two_right, two_left) = (knights.shl_in_bytes::<2>(), knights.shr_in_bytes::<2>());
        // Moving the targets takes half as many shifts as moving the knights.
        let (above, below) = (targets.shr::<8>(), targets.shl::<8>());
        let (far_above, far_below) = (targets.shr::<16>(), targets.shl::<16>());
        [
            one_right & far_above,
            one_right & far_below,
            one_left & far_above,
            one_left & far_below,
            two_right & above,
            two_right & below,
            two_left & above,
            two_left & below,
        ]
    }
}

/// Legal moves, ready to be counted.
#[derive(Clone, Copy, Debug)]
struct Moves<L> {
    /// All moves except castling and en passant, each promotion once.
    sums: Sums<L>,
    pawns: PawnMoves<L>,
}

/// Pawn moves except en passant.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PawnMoves<L> {
    /// Targets of single steps; targets of double steps moved two ranks down.
    pub steps: L,
    pub takes_right: L,
    pub takes_left: L,
    /// One bit per step to the last rank; the bits are not squares.
    pub step_promotions: L,
    /// One bit per capture on the last rank; the bits are not squares, and not those of the steps.
    pub capture_promotions: L,
}

impl<L: Lanes> PawnMoves<L> {
    /// The moves, ending in `mask`, of the pawns that may move along each line.
    #[inline(always)]
    pub(crate) fn new(board: &Board<L>, pawns: ByLine<L>, mask: L) -> Self {
        // A double step ends on rank 4, a single one on rank 3 or above: moved down two ranks, the double steps fit
        // below the single ones in one set.
        let step = pawns.file.shl::<8>() & board.empty;
        let double_step = (step & mask.splat(RANK_3)).shl::<8>() & board.empty & mask;
        let step = step & mask;
        let victims = board.them.all & mask;
        let takes_right = pawns.diagonal.shl::<9>() & mask.splat(!FILE_A) & victims;
        let takes_left = pawns.antidiagonal.shl::<7>() & mask.splat(!FILE_H) & victims;
        let last_rank = mask.splat(RANK_8);
        Self {
            steps: step | double_step.shr::<16>(),
            takes_right,
            takes_left,
            step_promotions: step & last_rank,
            capture_promotions: (takes_right & last_rank).shr::<8>() | (takes_left & last_rank).shr::<16>(),
        }
    }

    /// One bit per step or capture to the last rank.
    #[inline(always)]
    pub(crate) fn promotions(&self) -> L {
        self.step_promotions | self.capture_promotions
    }
}

impl<L: Lanes> Moves<L> {
    /// `pieces`: the squares that sliders and knights reach, including occupied ones.
    #[inline(always)]
    fn new(board: &Board<L>, danger: &Danger<L>, movers: &Movers<L>, pieces: Sums<L>) -> Self {
        let targets = danger.targets;
        let pawns = PawnMoves::new(board, movers.pawns, targets);
        // Steps end on empty squares, captures on others.
        let [right, left] = [pawns.steps | pawns.takes_right, pawns.takes_left];
        let sums = pieces.within(targets).plus_three([danger.king_moves(board), right, left]);

        Self { sums, pawns }
    }
}

const C1: u64 = 1 << 2;
const G1: u64 = 1 << 6;

/// The data that decide about castling in standard chess.
#[derive(Clone, Copy, Debug)]
struct Castling<L> {
    /// Castling rooks that do not stand in a corner, or whose king is not on e1. The other field is then useless.
    elsewhere: L,
    /// Squares of the first rank that prevent it: not empty, attacked or without a rook.
    obstacles: L,
}

impl<L: Lanes> Castling<L> {
    /// `attacked`: the squares that the enemy attacks.
    #[inline(always)]
    fn new<S: Simd<Lanes = L>>(simd: S, board: &Board<L>, attacked: L) -> Self {
        // The king's own square must not be attacked either, so the fills need not see through the king: a slider
        // behind it on its rank would give check.
        const EMPTY: u64 = 0x6E;
        const SAFE: u64 = 0x7C;
        let rooks = board.castling & board.us.all;
        let outside = rooks & simd.splat(!CORNERS);
        Self {
            elsewhere: board.us.king.if_disjoint(simd.splat(E1), rooks, outside),
            obstacles: (board.occupied & simd.splat(EMPTY))
                | (attacked & simd.splat(SAFE))
                | (simd.splat(CORNERS) & !rooks),
        }
    }
    /// Not zero in lanes in which a castling rook or its king is not on its square of standard chess; and the rooks
    /// there with which castling is legal, of the king's side and of the queen's. `None` if there is no such lane.
    #[inline(always)]
    fn rooks_elsewhere<S: Simd<Lanes = L>>(&self, simd: S, board: &Board<L>, attacked: L) -> Option<(L, [L; 2])> {
        let first_rank = simd.splat(RANK_1);
        let elsewhere = self.elsewhere & first_rank;
        if !elsewhere.any() {
            return None;
        }
        let rooks = board.castling & board.us.all & first_rank;
        let rooks = elsewhere.if_zero(simd.splat(0), rooks);
        Some((elsewhere, castling_rooks_chess960(simd, board, attacked, rooks)))
    }
    /// Number of castling moves.
    #[inline(always)]
    fn count(&self) -> L {
        let (none, one) = (self.obstacles.splat(0), self.obstacles.splat(1));
        self.short(none, one).add(self.long(none, one))
    }
    /// `yes` in lanes where castling on the king's side is legal, `no` in others.
    #[inline(always)]
    fn short(&self, no: L, yes: L) -> L {
        self.obstacles.if_disjoint(no.splat(0xF0), yes, no)
    }
    /// The queenside moves, in the same form.
    #[inline(always)]
    fn long(&self, no: L, yes: L) -> L {
        self.obstacles.if_disjoint(no.splat(0x1F), yes, no)
    }
}

/// Number of legal castling moves, given the squares that the enemy attacks.
#[inline(always)]
pub(crate) fn castles<S: Simd>(simd: S, board: &Board<L<S>>, attacked: L<S>) -> L<S> {
    let castling = Castling::new(simd, board, attacked);
    let (none, one) = (simd.splat(0), simd.splat(1));
    let standard = castling.count();
    let Some((elsewhere, [short, long])) = castling.rooks_elsewhere(simd, board, attacked) else { return standard };
    elsewhere.if_zero(standard, short.if_zero(none, one).add(long.if_zero(none, one)))
}

/// The rooks with which castling is legal, given the squares that the enemy attacks.
#[inline(always)]
pub(super) fn castling_rooks<S: Simd>(simd: S, board: &Board<L<S>>, attacked: L<S>) -> L<S> {
    const H1: u64 = 1 << 7;
    const A1: u64 = 1;
    let castling = Castling::new(simd, board, attacked);
    let none = simd.splat(0);
    let standard = castling.short(none, simd.splat(H1)) | castling.long(none, simd.splat(A1));
    let Some((elsewhere, [short, long])) = castling.rooks_elsewhere(simd, board, attacked) else { return standard };
    elsewhere.if_zero(standard, short | long)
}

/// Of these rooks, on any squares of the first rank, those with which castling is legal: of the king's side and of the
/// queen's.
#[inline(always)]
fn castling_rooks_chess960<S: Simd>(simd: S, board: &Board<L<S>>, attacked: L<S>, rooks: L<S>) -> [L<S>; 2] {
    let none = simd.splat(0);
    let first_rank = simd.splat(RANK_1);
    let king = board.us.king & first_rank;
    let rooks = king.if_zero(none, rooks);
    let below_king = king.sub(simd.splat(1));
    let enemy_rooks = board.them.orthogonal & first_rank;

    // All squares from one bit to another of the first rank, both included: twice the higher minus the lower.
    let span = inlined(
        #[inline(always)]
        |from: L<S>, goal: u64| {
            let goal_bit = simd.splat(goal);
            let not_below_goal = simd.splat(RANK_1 & !(goal - 1));
            let down = from.shl::<1>().sub(goal_bit);
            let up = simd.splat(goal << 1).sub(from);
            from.if_disjoint(not_below_goal, up, down) & first_rank
        },
    );
    let one_side = inlined(
        #[inline(always)]
        |rook: L<S>, king_destination: u64, rook_destination: u64| {
            let king_way = span(king, king_destination);
            let both = king | rook;
            let stands = (king_way | span(rook, rook_destination)) & !both & board.occupied;
            // Does an enemy rook or queen attack the king along the rank once the castling rook has left?
            let goal = simd.splat(king_destination);
            let after = ((board.occupied & !both) | goal | simd.splat(rook_destination)) & first_rank;
            let sees =
                (after.sweep_up_in_bytes(goal) & enemy_rooks) | (after.sweep_up_in_bytes(enemy_rooks & after) & goal);
            (stands | (king_way & attacked) | sees).if_zero(rook, none)
        },
    );
    let short = one_side(rooks & !(below_king | king), 1 << 6, 1 << 5);
    let long = one_side(rooks & below_king, 1 << 2, 1 << 3);
    [short, long]
}

/// Number of legal en passant captures.
#[inline(always)]
fn en_passants<L: Lanes>(board: &Board<L>, danger: &Danger<L>, movers: &Movers<L>) -> L {
    let none = board.occupied.splat(0);
    let takers = en_passant_takers(board, danger, movers);
    // Two at the most: nothing is left of one pawn without the lowest.
    let one = takers.if_zero(none, none.splat(1));
    (takers & takers.sub(one)).if_zero(one, none.splat(2))
}

/// The pawns that may capture en passant.
#[inline(always)]
pub(super) fn en_passant_takers<L: Lanes>(board: &Board<L>, danger: &Danger<L>, movers: &Movers<L>) -> L {
    let none = board.occupied.splat(0);
    let victim = board.en_passant.shr::<8>() & board.them.pawns;
    let target = victim.shl::<8>();
    let from_left = target.shr::<9>() & target.splat(!FILE_H) & movers.pawns.diagonal;
    let from_right = target.shr::<7>() & target.splat(!FILE_A) & movers.pawns.antidiagonal;
    let takers = from_left | from_right;
    if !takers.any() {
        return none;
    }
    // Two pawns leave the rank at once: does the king see a rook across them? If there are two capturing pawns, the one
    // that stays is still in the way, so removing the lower one decides for both.
    let rank = target.splat(RANK_5);
    let taker = takers & none.sub(takers);
    let rest = board.occupied & !(victim | taker);
    let rooks = board.them.orthogonal;
    let across =
        ((rest.sweep_up_in_bytes(board.us.king) & rooks) | (rest.sweep_up_in_bytes(rooks) & board.us.king)) & rank;
    // The captured pawn itself may stand between the king and a bishop.
    let uncovered = (danger.seen_by_both.diagonal | danger.seen_by_both.antidiagonal) & victim;
    let met = danger.targets & (target | victim);
    let takers = (across | uncovered).if_zero(takers, none);
    met.if_zero(none, takers)
}
