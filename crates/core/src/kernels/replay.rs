//! Moves played on eight boards at once, one game per lane.
//!
//! An [order](Order) says what a word of a game says: the piece, its target, the squares that it may come from. The
//! piece is found backwards, as in the replay of one game: all squares from which such a piece reaches the target,
//! without a list of moves and without a branch. The king's safety is the same question once more, asked from the
//! king's square after the move.
//!
//! Castling is decided here, too, for the king and the rooks of the start position, but only in steps in which a lane
//! castles. What is rare is decided by a function for one lane: several pieces that fit, en passant, and everything
//! that is not a legal move.
//!
//! Boards are seen from White's side throughout, because the lanes differ in whose turn it is.

use super::rays::Rays;
use super::{FILE_A, RANK_1, RANK_3, RANK_6, RANK_8};
use crate::chess::CastlingSide;
use crate::packed::Group;
use crate::simd::{Lanes, Simd, inlined};

/// Eight boards during replay, one per lane. The words mean what they mean in [`crate::packed`], except that the planes
/// hold pieces only.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
pub(crate) struct Boards {
    /// Black's pieces.
    pub black: [u64; 8],
    /// The bits of the piece codes.
    pub types: [[u64; 8]; 3],
    /// The en passant square, or another mark on a last rank.
    pub en_passant: [u64; 8],
    /// All ones where Black is to move.
    pub turn: [u64; 8],
    /// The halfmove clock in bits 0 to 15, the fullmove number in bits 16 to 31.
    pub clocks: [u64; 8],
    /// All ones where the game could not be played on: nothing is asked for until the next one begins.
    pub dead: [u64; 8],
}

/// What one word of a game says, in two words: the squares that the piece may come from, and these bits.
///
/// | bits | content |
/// | --- | --- |
/// | 0-5 | the target |
/// | 6-8 | the code of the piece |
/// | 9-11 | the code of the piece that arrives |
/// | 12-22 | one bit each, see the constants |
/// | 23-24 | the move is known by its squares, see [`Order::of_move`] |
/// | 32-47 | the bits of the move without its origin |
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Order {
    pub origin: u64,
    pub bits: u64,
}

impl Order {
    /// The move captures.
    pub(crate) const CAPTURES: u64 = 1 << 12;
    pub(crate) const PAWN: u64 = 1 << 13;
    pub(crate) const KNIGHT: u64 = 1 << 14;
    pub(crate) const KING: u64 = 1 << 15;
    /// Bishop or queen.
    pub(crate) const DIAGONAL: u64 = 1 << 16;
    /// Rook or queen.
    pub(crate) const ORTHOGONAL: u64 = 1 << 17;
    pub(crate) const ROOK: u64 = 1 << 18;
    /// Castling, to the king's side or to the queen's.
    pub(crate) const SHORT: u64 = 1 << 19;
    pub(crate) const LONG: u64 = 1 << 20;
    /// A game begins here, in the start position.
    pub const START: Self = Self { origin: 0, bits: 1 << 21 };
    /// A row that is not for the lanes.
    pub const NONE: Self = Self { origin: 0, bits: 1 << 22 };

    /// Only the squares are known, and the promotion: which piece moves, whether it captures and whether it castles is
    /// found on the board.
    pub(crate) const SQUARES: u64 = 1 << 23;
    /// The same, but the bit of captures has to be right.
    pub(crate) const SAYS_CAPTURES: u64 = 1 << 24;
    /// The bits of the code of the piece that arrives.
    const ARRIVING: u64 = 7 << Self::ARRIVES;

    /// The order of a move from one square to another, below 64, as a pawn becomes the piece with the code `promotion`
    /// unless that is 0. Castling goes to the king's new square or to the rook. With `captures`, the move has to be a
    /// capture, or none.
    #[inline(always)]
    pub fn of_move([from, to]: [u8; 2], promotion: u8, captures: Option<bool>) -> Self {
        /// The bits for each promotion.
        const PROMOTIONS: [u64; 8] = {
            let mut promotions = [0; 8];
            let mut code = 2;
            while code < 8 {
                let kind = 1 << 14 | (code as u64 - 2) << 12;
                promotions[code] = (code as u64) << Order::ARRIVES | kind << Order::MOVE;
                code += 1;
            }
            promotions
        };
        let to = u64::from(to);
        let says = match captures {
            None => Self::SQUARES,
            Some(false) => Self::SQUARES | Self::SAYS_CAPTURES,
            Some(true) => Self::SQUARES | Self::SAYS_CAPTURES | Self::CAPTURES,
        };
        let bits = to | to << (Self::MOVE + 6) | PROMOTIONS[usize::from(promotion & 7)] | says;
        Self { origin: 1 << (from & 63), bits }
    }

    /// The order itself, or that of [a move](Self::of_move) with the piece that stands on its square; `None` if the move
    /// is surely not legal.
    pub(crate) fn on_board(self, board: &LaneBoard) -> Option<Self> {
        const PAWN: u8 = 1;
        const KING: u8 = 6;
        if self.bits & Self::SQUARES == 0 {
            return Some(self);
        }
        let code = |square: u8| {
            let code = (0..3).map(|bit| (board.types[bit] >> square & 1) << bit).sum::<u64>() as u8;
            // Rooks that may castle have a code of their own.
            if code == 7 { 4 } else { code }
        };
        let is_black = board.black & self.origin != 0;
        if is_black != board.black_to_move {
            return None;
        }
        let (from, to) = (self.origin.trailing_zeros() as u8 & 63, self.to());
        let (moves, promotes) = (code(from), self.arrives() != 0);
        let mut captures = code(to) != 0;
        let says = |captures: bool| self.bits & Self::SAYS_CAPTURES == 0 || self.captures() == captures;
        match moves {
            0 => return None,
            // Pawns capture in passing on an empty square.
            PAWN => captures = from % 8 != to % 8,
            // From its square at the beginning, a king goes to its new square or to the rook.
            KING if matches!(from, 4 | 60) && matches!(to.wrapping_sub(from) as i8, 2 | 3 | -2 | -4) => {
                let side = if to > from { CastlingSide::King } else { CastlingSide::Queen };
                return (!promotes && says(false)).then(|| Self::castling(side));
            }
            _ => {}
        }
        if !says(captures) || promotes != (moves == PAWN && matches!(to / 8, 0 | 7)) {
            return None;
        }
        let mut order = Self::of_squares(moves, [from, to], captures);
        if promotes {
            let promotion = Self::ARRIVING | 0xF000 << Self::MOVE;
            order.bits = order.bits & !Self::ARRIVING | self.bits & promotion;
        }
        Some(order)
    }

    /// Castling to a side.
    pub const fn castling(side: CastlingSide) -> Self {
        let bits = match side {
            CastlingSide::King => Self::SHORT,
            CastlingSide::Queen => Self::LONG,
        };
        Self { origin: 0, bits }
    }

    /// The places of the codes, and of the move's bits.
    pub(crate) const CODE: u32 = 6;
    pub(crate) const ARRIVES: u32 = 9;
    pub(crate) const MOVE: u32 = 32;

    /// The order of a piece with a code, up to 6, that goes from one square to another, below 64, and stays what it is.
    #[inline(always)]
    pub fn of_squares(code: u8, [from, to]: [u8; 2], captures: bool) -> Self {
        /// The bits for each code.
        const PIECES: [u64; 8] = {
            let mut pieces = [0; 8];
            let mut code = 0;
            while code < 8 {
                pieces[code] =
                    (code as u64) << Order::CODE | (code as u64) << Order::ARRIVES | Order::kinds(code as u8);
                code += 1;
            }
            pieces
        };
        let to = u64::from(to);
        let captures = if captures { Self::CAPTURES } else { 0 };
        let bits = to | to << (Self::MOVE + 6) | PIECES[usize::from(code & 7)] | captures;
        Self { origin: 1 << (from & 63), bits }
    }

    /// Whether the move captures.
    pub const fn captures(self) -> bool {
        self.bits & Self::CAPTURES != 0
    }

    /// The bits for the piece with a code.
    pub(crate) const fn kinds(code: u8) -> u64 {
        match code {
            1 => Self::PAWN,
            2 => Self::KNIGHT,
            3 => Self::DIAGONAL,
            4 => Self::ORTHOGONAL | Self::ROOK,
            5 => Self::DIAGONAL | Self::ORTHOGONAL,
            6 => Self::KING,
            _ => 0,
        }
    }
    pub(crate) const fn to(self) -> u8 {
        (self.bits & 63) as u8
    }
    pub(crate) const fn code(self) -> u8 {
        (self.bits >> Self::CODE & 7) as u8
    }
    pub(crate) const fn arrives(self) -> u8 {
        (self.bits >> Self::ARRIVES & 7) as u8
    }
    /// The bits of the move without its squares.
    pub(crate) const fn kind(self) -> u16 {
        (self.bits >> Self::MOVE) as u16 & !0xFFF
    }
}

/// Orders of eight games, eight for each: by step, then by lane.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(crate) struct Orders {
    pub origins: [[u64; 8]; 8],
    pub bits: [[u64; 8]; 8],
}

/// The positions after eight orders: by step, then by lane.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
pub(crate) struct Positions {
    /// The planes of the records, the color plane first.
    pub planes: [[[u64; 8]; 8]; 4],
    /// The clocks, and in bits 32 to 47 the move that led here.
    pub facts: [[u64; 8]; 8],
}

/// The board of one lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LaneBoard {
    pub black: u64,
    pub types: [u64; 3],
    pub en_passant: u64,
    pub black_to_move: bool,
    pub clocks: u64,
}

/// The outcome of a rare order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Resolved {
    pub board: LaneBoard,
    /// The color plane of the record.
    pub color: u64,
    pub mv: u16,
}

impl Boards {
    pub(crate) fn get(&self, lane: usize) -> LaneBoard {
        LaneBoard {
            black: self.black[lane],
            types: self.types.map(|plane| plane[lane]),
            en_passant: self.en_passant[lane],
            black_to_move: self.turn[lane] != 0,
            clocks: self.clocks[lane],
        }
    }
    pub(crate) fn set(&mut self, lane: usize, board: &LaneBoard) {
        self.black[lane] = board.black;
        for (plane, &bits) in self.types.iter_mut().zip(&board.types) {
            plane[lane] = bits;
        }
        self.en_passant[lane] = board.en_passant;
        self.turn[lane] = u64::from(board.black_to_move).wrapping_neg();
        self.clocks[lane] = board.clocks;
    }
}

/// The planes of the start position: Black's pieces, and the bits of the piece codes.
const START: [u64; 4] = {
    const PAWNS: u64 = 0x00FF_0000_0000_FF00;
    const CASTLING_ROOKS: u64 = 0x8100_0000_0000_0081;
    const KNIGHTS: u64 = 0x4200_0000_0000_0042;
    const BISHOPS: u64 = 0x2400_0000_0000_0024;
    const QUEENS: u64 = 0x0800_0000_0000_0008;
    const KINGS: u64 = 0x1000_0000_0000_0010;
    [
        0xFFFF_0000_0000_0000,
        PAWNS | BISHOPS | QUEENS | CASTLING_ROOKS,
        KNIGHTS | BISHOPS | KINGS | CASTLING_ROOKS,
        QUEENS | KINGS | CASTLING_ROOKS,
    ]
};
/// The kind of a castling move, without its squares.
const CASTLING: u64 = 3 << 14;
/// Sentinel bits on these ranks are en passant squares.
const EN_PASSANT_RANKS: u64 = RANK_3 | RANK_6;

/// The boards in some of the lanes.
#[derive(Clone, Copy, Debug)]
struct BoardLanes<L> {
    black: L,
    types: [L; 3],
    en_passant: L,
    turn: L,
    clocks: L,
    dead: L,
}

impl<L: Lanes> BoardLanes<L> {
    #[inline(always)]
    fn load<S: Simd<Lanes = L>>(simd: S, from: &Boards, at: usize) -> Self {
        let [t0, t1, t2] = &from.types;
        Self {
            black: simd.load(&from.black, at),
            types: [simd.load(t0, at), simd.load(t1, at), simd.load(t2, at)],
            en_passant: simd.load(&from.en_passant, at),
            turn: simd.load(&from.turn, at),
            clocks: simd.load(&from.clocks, at),
            dead: simd.load(&from.dead, at),
        }
    }
    #[inline(always)]
    fn store<S: Simd<Lanes = L>>(&self, simd: S, to: &mut Boards, at: usize) {
        simd.store(self.black, &mut to.black, at);
        let [t0, t1, t2] = &mut to.types;
        simd.store(self.types[0], t0, at);
        simd.store(self.types[1], t1, at);
        simd.store(self.types[2], t2, at);
        simd.store(self.en_passant, &mut to.en_passant, at);
        simd.store(self.turn, &mut to.turn, at);
        simd.store(self.clocks, &mut to.clocks, at);
        simd.store(self.dead, &mut to.dead, at);
    }
}

/// Decides a rare order: gets the step, the lane and the board before it. `None` if it cannot be played.
pub(crate) type Resolve<'a> = dyn FnMut(usize, usize, &LaneBoard) -> Option<Resolved> + 'a;

/// Plays eight orders on each board.
#[inline(always)]
pub(crate) fn replay<S: Simd>(
    simd: S,
    boards: &mut Boards,
    orders: &Orders,
    positions: &mut Positions,
    resolve: &mut Resolve<'_>,
) {
    for at in (0..8).step_by(S::WIDTH) {
        let mut before = BoardLanes::load(simd, boards, at);
        for step in 0..8 {
            let (after, rare) = play(simd, &before, orders, step, at, positions);
            if rare.any() {
                let (mut olds, mut news) = (Boards::default(), Boards::default());
                before.store(simd, &mut olds, at);
                after.store(simd, &mut news, at);
                play_rare(rare.nonzero_bits(), step, at, &olds, &mut news, positions, resolve);
                before = BoardLanes::load(simd, &news, at);
            } else {
                before = after;
            }
        }
        before.store(simd, boards, at);
    }
}

/// Decides the rare orders of a step, whose lanes from `at` on are given.
#[cold]
#[inline(never)]
fn play_rare(
    mut lanes: u64,
    step: usize,
    at: usize,
    before: &Boards,
    after: &mut Boards,
    positions: &mut Positions,
    resolve: &mut Resolve<'_>,
) {
    while lanes != 0 {
        let lane = at + lanes.trailing_zeros() as usize;
        match resolve(step, lane, &before.get(lane)) {
            Some(resolved) => {
                after.set(lane, &resolved.board);
                let [color, types @ ..] = &mut positions.planes;
                color[step][lane] = resolved.color;
                for (plane, bits) in types.iter_mut().zip(resolved.board.types) {
                    plane[step][lane] = bits;
                }
                positions.facts[step][lane] = resolved.board.clocks | u64::from(resolved.mv) << Order::MOVE;
            }
            None => after.dead[lane] = !0,
        }
        lanes &= lanes - 1;
    }
}

/// The pieces after a move, before the king's safety is known.
#[derive(Clone, Copy, Debug)]
struct Moved<L> {
    black: L,
    types: [L; 3],
    /// The bits of the move, from bit [`Order::MOVE`] on.
    mv: L,
    /// Not zero where the move has to be decided for the lane alone.
    rare: L,
}

impl<L: Lanes> Moved<L> {
    /// `self` in lanes where the set is empty, `otherwise` in the others.
    #[inline(always)]
    fn where_zero(&self, set: L, otherwise: &Self) -> Self {
        let [t0, t1, t2] = self.types;
        Self {
            black: set.if_zero(self.black, otherwise.black),
            types: [
                set.if_zero(t0, otherwise.types[0]),
                set.if_zero(t1, otherwise.types[1]),
                set.if_zero(t2, otherwise.types[2]),
            ],
            mv: set.if_zero(self.mv, otherwise.mv),
            rare: set.if_zero(self.rare, otherwise.rare),
        }
    }
}

/// The enemies that attack a square, of which each lane has at most one.
#[inline(always)]
fn attackers<L: Lanes>([t0, t1, t2]: [L; 3], enemies: L, square: L, turn: L) -> L {
    let sight = Rays::new(t0 | t1 | t2).sight_of(square, square.lines_through_bit());
    let front = turn.choose(square.shr::<8>(), square.shl::<8>());
    let pieces = (sight.diagonal | sight.antidiagonal) & t0 & (t1 ^ t2)
        | (sight.rank | sight.file) & t2 & (t0 | !t1)
        | square.jumps_of_bit() & t1 & !t0 & !t2
        | square.neighbours_of_bit() & t1 & t2 & !t0
        | front.sides_of_bit::<1>() & t0 & !t1 & !t2;
    pieces & enemies
}

/// Castles in every lane, on the king's side where `short` is all ones, on the queen's where it is zero. Whether the
/// king is safe on its target is not looked at here.
#[inline(always)]
fn castle<S: Simd>(simd: S, board: &BoardLanes<S::Lanes>, short: S::Lanes) -> Moved<S::Lanes> {
    let (none, all) = (simd.splat(0), simd.splat(!0));
    let BoardLanes { black, types, turn, .. } = *board;
    let [t0, t1, t2] = types;
    let occupied = t0 | t1 | t2;
    let own = black ^ (occupied & !turn);
    let rights = t0 & t1 & t2 & own;

    let king = own & t1 & t2 & !t0 & simd.splat((FILE_A << 4) & (RANK_1 | RANK_8));
    let rook = short.choose(king.shl::<3>(), king.shr::<4>());
    let passed = short.choose(king.shl::<1>(), king.shr::<1>());
    let to = short.choose(king.shl::<2>(), king.shr::<2>());
    let between = passed | to | king.shr::<3>() & !short;
    let attacked = inlined(
        #[inline(always)]
        |square: S::Lanes| attackers(types, occupied ^ own, square, turn),
    );
    let rare = (rook & rights).if_zero(all, none) | between & occupied | attacked(king) | attacked(passed);

    let clear = !(king | rook);
    let number = inlined(
        #[inline(always)]
        |square: S::Lanes| square.sub(simd.splat(1)).count_ones(),
    );
    let squares = number(king) | number(rook).shl::<6>();
    Moved {
        black: black & clear | (to | passed) & turn,
        types: [t0 & clear & !rights, t1 & clear & !rights | to, t2 & clear | to | passed],
        mv: (squares | simd.splat(CASTLING)).shl::<{ Order::MOVE }>(),
        rare,
    }
}

/// Orders of [moves](Order::of_move) with the pieces that stand on their squares, and the others as they are. Also
/// returns the lanes, as those that are not zero, in which the move is surely not legal or rare.
#[inline(always)]
fn on_boards<S: Simd>(
    simd: S,
    board: &BoardLanes<S::Lanes>,
    order: S::Lanes,
    origin: S::Lanes,
    to: S::Lanes,
) -> (S::Lanes, S::Lanes) {
    let (none, all) = (simd.splat(0), simd.splat(!0));
    let [t0, t1, t2] = board.types;
    let occupied = t0 | t1 | t2;
    let own = board.black ^ (occupied & !board.turn);
    let rook = t2 & !t1 & !t0 | t0 & t1 & t2;
    let on_origin = inlined(
        #[inline(always)]
        |pieces: S::Lanes| pieces.if_disjoint(origin, none, all),
    );
    let [c0, c1, c2] = [on_origin(t0 & !rook), on_origin(t1 & !rook), on_origin(t2)];
    let pawn = c0 & !c1 & !c2;
    let king = c1 & c2;
    let captures = occupied.if_disjoint(to, none, simd.splat(Order::CAPTURES));
    let promotes = order.where_any::<{ Order::ARRIVING }>(all, none);

    let codes =
        c0 & simd.splat(1 << Order::CODE) | c1 & simd.splat(2 << Order::CODE) | c2 & simd.splat(4 << Order::CODE);
    let arrives = codes.shl::<{ Order::ARRIVES - Order::CODE }>() & !promotes;
    let kinds = pawn & simd.splat(Order::PAWN)
        | c1 & !c0 & !c2 & simd.splat(Order::KNIGHT)
        | king & simd.splat(Order::KING)
        | c0 & (c1 ^ c2) & simd.splat(Order::DIAGONAL)
        | c2 & !c1 & simd.splat(Order::ORTHOGONAL)
        | c2 & !c1 & !c0 & simd.splat(Order::ROOK);
    let found = order & simd.splat(!Order::CAPTURES) | codes | arrives | kinds | captures;

    // A king of the start position goes to its new square or to the rook.
    let at_home = king & origin & own & simd.splat((FILE_A << 4) & (RANK_1 | RANK_8));
    let short = (at_home.shl::<2>() | at_home.shl::<3>()).if_disjoint(to, none, simd.splat(Order::SHORT));
    let long = (at_home.shr::<2>() | at_home.shr::<4>()).if_disjoint(to, none, simd.splat(Order::LONG));
    let castles = short | long;
    let captures = castles.if_zero(captures, none);
    let found = castles.if_zero(found, castles);

    let says_wrong =
        order.where_any::<{ Order::SAYS_CAPTURES }>((order ^ captures) & simd.splat(Order::CAPTURES), none);
    let on_last_rank = to.if_disjoint(simd.splat(RANK_1 | RANK_8), none, all);
    let rare = says_wrong | (pawn & on_last_rank) ^ promotes;
    (order.where_any::<{ Order::SQUARES }>(found, order), order.where_any::<{ Order::SQUARES }>(rare, none))
}

/// Plays one order on each board, and writes the positions. Also returns the lanes, as those that are not zero, in
/// which that has yet to be done.
#[inline(always)]
fn play<S: Simd>(
    simd: S,
    before: &BoardLanes<S::Lanes>,
    orders: &Orders,
    step: usize,
    at: usize,
    positions: &mut Positions,
) -> (BoardLanes<S::Lanes>, S::Lanes) {
    let (none, all) = (simd.splat(0), simd.splat(!0));
    let mut order = simd.load(&orders.bits[step], at);
    let origin = simd.load(&orders.origins[step], at);

    let BoardLanes { black, types: [t0, t1, t2], turn, clocks, .. } = *before;
    let occupied = t0 | t1 | t2;
    let own = black ^ (occupied & !turn);
    let castling = t0 & t1 & t2;
    let to = simd.splat(1).shl_by(order & simd.splat(63));
    let mut undecided = none;
    if (order & simd.splat(Order::SQUARES)).any() {
        (order, undecided) = on_boards(simd, before, order, origin, to);
    }

    // The pieces of the kind.
    let coded = (t0 ^ order.where_any::<{ 1 << Order::CODE }>(none, all))
        & (t1 ^ order.where_any::<{ 2 << Order::CODE }>(none, all))
        & (t2 ^ order.where_any::<{ 4 << Order::CODE }>(none, all));
    let pieces = (coded | order.where_any::<{ Order::ROOK }>(castling, none)) & own & origin;
    // The squares from which they reach the target.
    let rays = Rays::new(occupied);
    let sight = rays.sight_of(to, to.lines_through_bit());
    let back = turn.choose(to.shl::<8>(), to.shr::<8>());
    let empty = back & !occupied;
    let further = turn.choose((empty & simd.splat(RANK_6)).shl::<8>(), (empty & simd.splat(RANK_3)).shr::<8>());
    let pawns = order.where_any::<{ Order::CAPTURES }>(back.sides_of_bit::<1>(), back | further);
    let slides = order.where_any::<{ Order::DIAGONAL }>(sight.diagonal | sight.antidiagonal, none)
        | order.where_any::<{ Order::ORTHOGONAL }>(sight.rank | sight.file, none);
    let reach = order.where_any::<{ Order::PAWN }>(
        pawns,
        order.where_any::<{ Order::KING }>(
            to.neighbours_of_bit(),
            order.where_any::<{ Order::KNIGHT }>(to.jumps_of_bit(), slides),
        ),
    );
    let from = pieces & reach;

    let barred = own | order.where_any::<{ Order::CAPTURES }>(!occupied, occupied);
    let en_passant = order.where_any::<{ Order::PAWN }>(before.en_passant, none);
    let several = from & from.sub(simd.splat(1));

    // The board after the move. A king that moves loses the castling rights of its side.
    let clear = !(from | to);
    let lost = order.where_any::<{ Order::KING }>(castling & own, none);
    let arrives = [
        order.where_any::<{ 1 << Order::ARRIVES }>(to, none),
        order.where_any::<{ 2 << Order::ARRIVES }>(to, none),
        order.where_any::<{ 4 << Order::ARRIVES }>(to, none),
    ];
    let squares = from.sub(simd.splat(1)).count_ones().shl::<{ Order::MOVE }>();
    let mut moved = Moved {
        black: black & clear | to & turn,
        types: [(t0 ^ lost) & clear | arrives[0], (t1 ^ lost) & clear | arrives[1], t2 & clear | arrives[2]],
        mv: (order & simd.splat(0xFFFF << Order::MOVE)).add(squares),
        rare: several | from.if_zero(all, none) | to & (barred | en_passant),
    };
    let castles = order & simd.splat(Order::SHORT | Order::LONG);
    if castles.any() {
        let short = order.where_any::<{ Order::SHORT }>(all, none);
        moved = moved.where_zero(castles, &castle(simd, before, short));
    }
    let Moved { black, types, mv, mut rare } = moved;

    // The king's safety.
    let [t0, t1, t2] = types;
    let occupied = t0 | t1 | t2;
    let own = black ^ (occupied & !turn);
    let enemies = occupied ^ own;
    let king = own & t1 & t2 & !t0;
    rare = rare | attackers(types, enemies, king, turn);
    // A pawn that makes a double step beside one of theirs may be captured in passing.
    let double = order.where_any::<{ Order::PAWN }>(from & (to.shl::<16>() | to.shr::<16>()), none);
    let passed = double.if_zero(none, to.sides_of_bit::<1>() & enemies & t0 & !t1 & !t2);
    rare = rare | passed | undecided;

    let counted = clocks.add(simd.splat(1));
    let clocks = order.where_any::<{ Order::PAWN | Order::CAPTURES }>(clocks & simd.splat(!0xFFFF), counted);
    let clocks = clocks.add(turn & simd.splat(1 << 16));

    // Where a game begins, none of that counts.
    let or_start = inlined(
        #[inline(always)]
        |then: S::Lanes, start: u64| order.where_any::<{ Order::START.bits }>(simd.splat(start), then),
    );
    let turn = or_start(!turn, 0);
    let after = BoardLanes {
        black: or_start(black, START[0]),
        types: [or_start(t0, START[1]), or_start(t1, START[2]), or_start(t2, START[3])],
        en_passant: none,
        turn,
        clocks: or_start(clocks, 1 << 16),
        dead: or_start(before.dead, 0),
    };
    let rare = order.where_any::<{ Order::START.bits | Order::NONE.bits }>(none, rare & !before.dead);

    let [t0, t1, t2] = after.types;
    let free = !(t0 | t1 | t2 | simd.splat(EN_PASSANT_RANKS));
    let sentinel = free & none.sub(free) & turn;
    let [color, p0, p1, p2] = &mut positions.planes;
    simd.store(after.black | sentinel, &mut color[step], at);
    simd.store(t0, &mut p0[step], at);
    simd.store(t1, &mut p1[step], at);
    simd.store(t2, &mut p2[step], at);
    simd.store(after.clocks | or_start(mv, 0), &mut positions.facts[step], at);
    (after, rare)
}

impl Positions {
    /// Writes the same by lane, then by step: what was the number of a step is that of a lane.
    #[inline(always)]
    pub(crate) fn turn<S: Simd>(&self, simd: S, by_lane: &mut Self) {
        let [color, t0, t1, t2] = &self.planes;
        let [lane_color, lane_t0, lane_t1, lane_t2] = &mut by_lane.planes;
        simd.turn(color, lane_color);
        simd.turn(t0, lane_t0);
        simd.turn(t1, lane_t1);
        simd.turn(t2, lane_t2);
        simd.turn(&self.facts, &mut by_lane.facts);
    }
    /// The rows of a lane as a group, if this is [by lane](Self::turn).
    #[inline(always)]
    pub(crate) fn group(&self, lane: usize) -> Group {
        let [color, t0, t1, t2] = &self.planes;
        Group { planes: [color[lane], t0[lane], t1[lane], t2[lane]] }
    }
}
