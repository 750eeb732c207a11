//! Children of a board, plane by plane: the move generator of perft on the lanes.
//!
//! A child differs from its parent in a few bits of four planes, so it is written directly instead of by making a
//! move: the board without the moving piece is prepared once per piece, and each of its targets costs two logic
//! operations per plane. All moves are legal by construction, with the same two masks as in
//! [`crate::chess::legal_moves`]. The loss of a castling right when a rook moves or is captured costs nothing, since
//! the right is part of the piece code.
//!
//! If the moves of the children are only counted, many children are not even written: see [`push_leaves`].
//!
//! The sentinel bits are valid for the lanes but not always the canonical ones of [`crate::packed`]: some empty
//! square outside ranks 3 and 6 indicates that Black is to move, and an en passant square is set whenever an
//! enemy pawn stands beside a double step, whether or not it can legally capture.

use crate::chess::attacks::{king_attacks, knight_attacks, pawn_attacks};
use crate::chess::geometry::{between, line_through};
use crate::chess::{Bitboard, Color, Square};
use crate::chess::{CastlingRights, CastlingSide};
use crate::kernels::Replies;
use crate::packed::{Group, Packed};
use crate::sliders::Sliders;

const FILE_A: u64 = 0x0101_0101_0101_0101;
const FILE_H: u64 = FILE_A << 7;
const RANK_1: u64 = 0xFF;
const RANK_3: u64 = RANK_1 << 16;
const RANK_6: u64 = RANK_1 << 40;
const RANK_8: u64 = RANK_1 << 56;

/// Piece codes of the packed record.
const PAWN: u8 = 1;
const KNIGHT: u8 = 2;
const BISHOP: u8 = 3;
const ROOK: u8 = 4;
const QUEEN: u8 = 5;
const KING: u8 = 6;

/// Boards in consecutive groups; the lanes after the last board hold old boards.
#[derive(Debug)]
pub(super) struct Boards {
    groups: Box<[Group]>,
    len: usize,
}

impl Boards {
    /// More than the legal moves of any playable board: 31 queens have less than 28 each.
    const MOST_CHILDREN: usize = 896;

    /// An empty list with capacity for `len` boards and the children of one more.
    pub(super) fn with_room(len: usize) -> Self {
        let groups = (len + Self::MOST_CHILDREN).div_ceil(Group::LEN);
        Self { groups: vec![Group::default(); groups].into_boxed_slice(), len: 0 }
    }
    pub(super) fn len(&self) -> usize {
        self.len
    }
    pub(super) fn clear(&mut self) {
        self.len = 0;
    }
    pub(super) fn groups(&self) -> &[Group] {
        &self.groups[..self.len.div_ceil(Group::LEN)]
    }
    pub(super) fn get(&self, index: usize) -> Packed {
        self.groups[index / Group::LEN].get(index % Group::LEN)
    }
    #[inline(always)]
    pub(super) fn push(&mut self, board: Packed) {
        self.push_if(true, board);
    }
    /// Writes a board, and adds it to the list only under a condition.
    #[inline(always)]
    fn push_if(&mut self, is_added: bool, board: Packed) {
        self.groups[self.len / Group::LEN].set(self.len % Group::LEN, board);
        self.len += usize::from(is_added);
    }
}

/// Boards whose moves are to be counted.
#[derive(Debug)]
pub(super) struct Leaves {
    pub(super) boards: Boards,
    /// Boards that stand for several moves: the index, and how many more.
    pub(super) repeats: Vec<(usize, u32)>,
}

impl Leaves {
    /// An empty list with capacity for `len` boards and the children of one more.
    pub(super) fn with_room(len: usize) -> Self {
        Self { boards: Boards::with_room(len), repeats: Vec::new() }
    }
    pub(super) fn clear(&mut self) {
        self.boards.clear();
        self.repeats.clear();
    }
    /// Adds a board that stands for one move or more.
    #[inline(always)]
    fn push_for(&mut self, moves: u32, board: Packed) {
        if moves > 1 {
            self.repeats.push((self.boards.len(), moves - 1));
        }
        self.boards.push(board);
    }
}

/// The threats to the side to move.
#[derive(Clone, Copy, Debug)]
struct Threats {
    checkers: u64,
    pinned: u64,
    /// The squares that the king cannot enter.
    closed: u64,
}

/// Adds the board after each legal move.
///
/// The board must be playable; so are its children.
#[inline(always)]
pub(super) fn push_children<A: Sliders>(sliders: A, board: Packed, children: &mut Boards) {
    // The same code for each colour, with all shifts and masks constant.
    match board.side_to_move() {
        Color::White => {
            let parent = Parent::<A, false>::new(sliders, board);
            parent.push_children(&parent.threats(), children);
        }
        Color::Black => {
            let parent = Parent::<A, true>::new(sliders, board);
            parent.push_children(&parent.threats(), children);
        }
    }
}

/// Adds boards that have, counted as often as [`Leaves::repeats`] says, as many legal moves as the boards after each
/// legal move. The sensitive squares and threats of the board are those of a lane.
///
/// Moves that avoid the [sensitive squares](crate::kernels::replies()) are counted without being made. In their place,
/// one board is added: the one after a pass.
#[inline(always)]
pub(super) fn push_leaves<A: Sliders>(sliders: A, board: Packed, replies: &Replies, lane: usize, leaves: &mut Leaves) {
    let threats =
        Threats { checkers: replies.checkers[lane], pinned: replies.pinned[lane], closed: replies.closed[lane] };
    let sensitive = replies.sensitive.map(
        #[inline(always)]
        |set| set[lane],
    );
    let mut unlike_a_pass = UnlikeAPass { leaves, sensitive, others: 0 };
    let pass = match board.side_to_move() {
        Color::White => {
            let parent = Parent::<A, false>::new(sliders, board);
            parent.push_children(&threats, &mut unlike_a_pass);
            parent.pass(parent.planes, 0)
        }
        Color::Black => {
            let parent = Parent::<A, true>::new(sliders, board);
            parent.push_children(&threats, &mut unlike_a_pass);
            parent.pass(parent.planes, 0)
        }
    };
    let UnlikeAPass { leaves, others, .. } = unlike_a_pass;
    if others != 0 {
        leaves.push_for(others, pass);
    }
}

/// What becomes of the children of a board.
trait Children {
    /// The squares that a quiet move of such a piece must leave or reach to be pushed.
    fn sensitive(&self, code: u8) -> u64;
    /// Takes the targets of quiet moves that are not pushed.
    fn take_others(&mut self, targets: u64);
    /// Adds a child, or writes a board where the next child will be.
    fn push_if(&mut self, is_child: bool, board: Packed);
    /// Adds a child in place of several.
    fn push_for(&mut self, moves: u32, board: Packed);
    /// Adds a child.
    #[inline(always)]
    fn push(&mut self, board: Packed) {
        self.push_if(true, board);
    }
}

impl Children for Boards {
    #[inline(always)]
    fn sensitive(&self, _: u8) -> u64 {
        !0
    }
    #[inline(always)]
    fn take_others(&mut self, _: u64) {}
    #[inline(always)]
    fn push_if(&mut self, is_child: bool, board: Packed) {
        self.push_if(is_child, board);
    }
    #[inline(always)]
    fn push_for(&mut self, _: u32, board: Packed) {
        self.push(board);
    }
}

/// Keeps the children that may have other legal moves than there are after a pass, and counts the others.
struct UnlikeAPass<'a> {
    leaves: &'a mut Leaves,
    /// The sensitive squares for each piece code.
    sensitive: [u64; 6],
    others: u32,
}

impl Children for UnlikeAPass<'_> {
    #[inline(always)]
    fn sensitive(&self, code: u8) -> u64 {
        self.sensitive[usize::from(code - PAWN)]
    }
    #[inline(always)]
    fn take_others(&mut self, targets: u64) {
        self.others += targets.count_ones();
    }
    #[inline(always)]
    fn push_if(&mut self, is_child: bool, board: Packed) {
        self.leaves.boards.push_if(is_child, board);
    }
    #[inline(always)]
    fn push_for(&mut self, moves: u32, board: Packed) {
        self.leaves.push_for(moves, board);
    }
}

/// Takes the lowest square out of a set.
#[inline(always)]
fn next(set: &mut u64) -> Option<u64> {
    let bit = *set & set.wrapping_neg();
    *set ^= bit;
    (bit != 0).then_some(bit)
}

#[inline(always)]
fn square_of(bit: u64) -> Square {
    Square::new(bit.trailing_zeros() as u8 & 63)
}

/// A board whose children are generated, from the view of the side to move.
#[derive(Clone, Copy)]
struct Parent<A, const BLACK: bool> {
    sliders: A,
    /// The planes, without any sentinel bit.
    planes: Packed,
    en_passant: u64,
    occupied: u64,
    us: u64,
    them: u64,
    pawns: u64,
    knights: u64,
    /// Bishops and queens.
    diagonal: u64,
    /// Rooks and queens.
    orthogonal: u64,
    kings: u64,
    /// Two empty squares outside ranks 3 and 6. Whatever White's move, one of them stays empty, and its sentinel
    /// bit indicates that Black is to move.
    free: u64,
}

impl<A: Sliders, const BLACK: bool> Parent<A, BLACK> {
    #[inline(always)]
    fn new(sliders: A, board: Packed) -> Self {
        let planes = board.planes();
        let occupied = board.occupied();
        let color = board.color & occupied;
        let black = color;
        let white = occupied ^ color;
        let free = !(occupied | RANK_3 | RANK_6);
        let but_lowest = free & free.wrapping_sub(1);
        Self {
            sliders,
            planes: Packed { color, ..board },
            en_passant: board.color & !occupied & if BLACK { RANK_3 } else { RANK_6 },
            occupied,
            us: if BLACK { black } else { white },
            them: if BLACK { white } else { black },
            pawns: planes.pawns(),
            knights: planes.knights(),
            diagonal: planes.diagonal(),
            orthogonal: planes.orthogonal(),
            kings: planes.kings(),
            free: free ^ but_lowest & but_lowest.wrapping_sub(1),
        }
    }

    /// One rank towards the enemy.
    #[inline(always)]
    fn up(set: u64) -> u64 {
        if BLACK { set >> 8 } else { set << 8 }
    }
    #[inline(always)]
    fn down(set: u64) -> u64 {
        if BLACK { set << 8 } else { set >> 8 }
    }
    #[inline(always)]
    fn us_color() -> Color {
        if BLACK { Color::Black } else { Color::White }
    }

    /// The planes without the pieces on `gone`.
    #[inline(always)]
    fn without(&self, gone: u64) -> Packed {
        let [t0, t1, t2] = self.planes.types;
        Packed { color: self.planes.color & !gone, types: [t0 & !gone, t1 & !gone, t2 & !gone] }
    }

    /// The planes with a piece of the side to move on a square, replacing any piece there.
    #[inline(always)]
    fn place<const CODE: u8>(planes: Packed, to: u64) -> Packed {
        let Packed { mut color, types: [mut t0, mut t1, mut t2] } = planes;
        color = if BLACK { color | to } else { color & !to };
        t0 = if CODE & 1 != 0 { t0 | to } else { t0 & !to };
        t1 = if CODE & 2 != 0 { t1 | to } else { t1 & !to };
        t2 = if CODE & 4 != 0 { t2 | to } else { t2 & !to };
        Packed { color, types: [t0, t1, t2] }
    }

    /// Gives the move to the other side, after a move to this square.
    #[inline(always)]
    fn pass(&self, mut planes: Packed, to: u64) -> Packed {
        if !BLACK {
            let free = self.free & !to;
            planes.color |= free & free.wrapping_neg();
        }
        planes
    }

    /// Pushes the moves of the piece on `from`, not a pawn, to all its targets; `rest` is the board without it.
    #[inline(always)]
    fn push_moves<const CODE: u8>(&self, rest: Packed, from: u64, mut targets: u64, children: &mut impl Children) {
        let sensitive = children.sensitive(CODE);
        let mut quiet = targets & !sensitive;
        if from & sensitive == 0 {
            children.take_others(quiet);
            targets ^= quiet;
        } else if CODE == KNIGHT {
            // What its departure changes is the same for all of these moves: lines through the square that it leaves,
            // and no knight goes to one of those.
            targets ^= quiet;
            let moves = quiet.count_ones();
            if let Some(to) = next(&mut quiet) {
                children.push_for(moves, self.pass(Self::place::<CODE>(rest, to), to));
            }
        }
        // Two at a time, the second one perhaps in vain: the ends of loops are what a CPU cannot predict.
        while let Some(to) = next(&mut targets) {
            children.push(self.pass(Self::place::<CODE>(rest, to), to));
            let second = next(&mut targets);
            let to = second.unwrap_or(0);
            children.push_if(second.is_some(), self.pass(Self::place::<CODE>(rest, to), to));
        }
    }

    /// Finds checks, pins, and the squares that are closed to the king.
    #[inline(always)]
    fn threats(&self) -> Threats {
        let Self { sliders, us, them, .. } = *self;
        let king_bit = self.kings & us;
        let king = square_of(king_bit);
        // The enemy sliders that would attack the king without our other pieces.
        let enemies = Bitboard(them);
        let mut snipers =
            (sliders.rook(king, enemies).0 & self.orthogonal | sliders.bishop(king, enemies).0 & self.diagonal) & them;
        let mut checkers =
            (knight_attacks(king).0 & self.knights | pawn_attacks(Self::us_color(), king).0 & self.pawns) & them;
        let mut pinned = 0;
        while let Some(sniper) = next(&mut snipers) {
            let shield = between(king, square_of(sniper)).0 & us;
            if shield == 0 {
                checkers |= sniper;
            } else if shield & (shield - 1) == 0 {
                pinned |= shield;
            }
        }
        Threats { checkers, pinned, closed: self.attacked(self.occupied ^ king_bit) }
    }

    #[inline(always)]
    fn push_children(self, threats: &Threats, children: &mut impl Children) {
        let Self { sliders, occupied, us, .. } = self;
        let Threats { checkers, pinned, .. } = *threats;
        let king_bit = self.kings & us;
        let king = square_of(king_bit);

        self.push_king(king, threats, children);
        if checkers & checkers.wrapping_sub(1) != 0 {
            return;
        }
        let evasions = if checkers == 0 { !0 } else { between(king, square_of(checkers)).0 | checkers };
        let targets = evasions & !us;

        self.push_pawns(self.pawns & us & !pinned, evasions, children);
        self.push_en_passants(king, checkers, children);
        let mut knights = self.knights & us & !pinned;
        while let Some(from) = next(&mut knights) {
            let to = knight_attacks(square_of(from)).0 & targets;
            self.push_moves::<KNIGHT>(self.without(from), from, to, children);
        }
        let queens = self.diagonal & self.orthogonal;
        let bishops = (self.diagonal ^ queens) & us;
        let rooks = (self.orthogonal ^ queens) & us;
        let queens = queens & us;
        let blockers = Bitboard(occupied);
        macro_rules! push_sliders {
            ($code:ident, $attacks:ident, $set:expr, |$from:ident| $targets:expr) => {
                let mut set = $set;
                while let Some(bit) = next(&mut set) {
                    let $from = square_of(bit);
                    let to = sliders.$attacks($from, blockers).0 & $targets;
                    self.push_moves::<$code>(self.without(bit), bit, to, children);
                }
            };
        }
        push_sliders!(BISHOP, bishop, bishops & !pinned, |from| targets);
        push_sliders!(ROOK, rook, rooks & !pinned, |from| targets);
        push_sliders!(QUEEN, queen, queens & !pinned, |from| targets);

        if pinned != 0 {
            let mut pawns = self.pawns & pinned;
            while let Some(from) = next(&mut pawns) {
                let along = line_through(king, square_of(from)).0;
                self.push_pawns(from, evasions & along, children);
            }
            push_sliders!(BISHOP, bishop, bishops & pinned, |from| targets & line_through(king, from).0);
            push_sliders!(ROOK, rook, rooks & pinned, |from| targets & line_through(king, from).0);
            push_sliders!(QUEEN, queen, queens & pinned, |from| targets & line_through(king, from).0);
        }
    }

    /// All squares that the enemy attacks, its sliders up to the occupied squares.
    #[inline(always)]
    fn attacked(&self, occupied: u64) -> u64 {
        let them = self.them;
        let pawns = Self::down(self.pawns & them);
        let mut attacked = (pawns & !FILE_A) >> 1 | (pawns & !FILE_H) << 1;
        let mut knights = self.knights & them;
        while let Some(from) = next(&mut knights) {
            attacked |= knight_attacks(square_of(from)).0;
        }
        let mut diagonal = self.diagonal & them;
        while let Some(from) = next(&mut diagonal) {
            attacked |= self.sliders.bishop(square_of(from), Bitboard(occupied)).0;
        }
        let mut orthogonal = self.orthogonal & them;
        while let Some(from) = next(&mut orthogonal) {
            attacked |= self.sliders.rook(square_of(from), Bitboard(occupied)).0;
        }
        attacked | king_attacks(square_of(self.kings & them)).0
    }

    /// King steps and castling moves.
    #[inline(always)]
    fn push_king(&self, king: Square, threats: &Threats, children: &mut impl Children) {
        let Threats { checkers, closed, .. } = *threats;
        let king_bit = self.kings & self.us;
        let [t0, t1, t2] = self.planes.types;
        let rights = t0 & t1 & t2 & self.us;
        // Rooks that may no longer castle: their code loses two bits.
        let mut rest = self.without(king_bit);
        rest.types[0] &= !rights;
        rest.types[1] &= !rights;
        let to = king_attacks(king).0 & !(self.us | closed);
        self.push_moves::<KING>(rest, king_bit, to, children);
        if checkers != 0 || rights == 0 {
            return;
        }
        let mut rooks = rights;
        while let Some(rook_bit) = next(&mut rooks) {
            let rook = square_of(rook_bit);
            let side = CastlingSide::of(king, rook);
            let rank = CastlingRights::back_rank(Self::us_color());
            let king_destination = Square::at(side.king_destination(), rank);
            let rook_destination = Square::at(side.rook_destination(), rank);
            let goal_bit = Bitboard::square(king_destination).0;
            let goals = goal_bit | Bitboard::square(rook_destination).0;
            let way = between(king, king_destination).0;
            let others = self.occupied ^ king_bit ^ rook_bit;
            if (goals | way | between(rook, rook_destination).0) & others != 0 || (way | goal_bit) & closed != 0 {
                continue;
            }
            // In Chess960 the castling rook itself may have shielded the king from an enemy rook.
            let seen = self.sliders.rook(king_destination, Bitboard(others | goals)).0;
            if seen & self.orthogonal & self.them & (RANK_1 | RANK_8) != 0 {
                continue;
            }
            let gone = king_bit | rook_bit;
            let color = rest.color & !gone;
            let child = Packed {
                color: if BLACK { color | goals } else { color },
                types: [rest.types[0] & !gone, rest.types[1] & !gone | goal_bit, rest.types[2] & !gone | goals],
            };
            // Both free squares may be among the destinations.
            let free = !(others | goals | RANK_3 | RANK_6);
            let sentinel = if BLACK { 0 } else { free & free.wrapping_neg() };
            children.push(Packed { color: child.color | sentinel, ..child });
        }
    }

    /// Steps and captures of pawns, without en passant, to the squares of a mask.
    #[inline(always)]
    fn push_pawns(&self, pawns: u64, mask: u64, children: &mut impl Children) {
        const LAST_RANKS: u64 = RANK_1 | RANK_8;
        let planes = self.planes;
        let step = Self::up(pawns) & !self.occupied;
        let third = if BLACK { RANK_6 } else { RANK_3 };
        let mut double = Self::up(step & third) & !self.occupied & mask;
        let step = step & mask;

        let enemy_pawns = self.pawns & self.them;
        let beside_them = (enemy_pawns & !FILE_A) >> 1 | (enemy_pawns & !FILE_H) << 1;
        let sensitive = children.sensitive(PAWN);
        let from_sensitive = Self::up(sensitive);
        let mut quiet = step & !LAST_RANKS;
        let others = quiet & !(sensitive | from_sensitive);
        children.take_others(others);
        quiet ^= others;
        let others = double & !(sensitive | Self::up(from_sensitive) | beside_them);
        children.take_others(others);
        double ^= others;
        while let Some(to) = next(&mut quiet) {
            let moved = to | Self::down(to);
            let mut child = planes;
            child.types[0] ^= moved;
            if BLACK {
                child.color ^= moved;
            }
            children.push(self.pass(child, to));
        }
        while let Some(to) = next(&mut double) {
            let passed = Self::down(to);
            let moved = to | Self::down(passed);
            let mut child = planes;
            child.types[0] ^= moved;
            if BLACK {
                child.color ^= moved;
            }
            let mut child = self.pass(child, to);
            if to & beside_them != 0 {
                child.color = child.color & self.occupied | if BLACK { to | passed } else { passed };
            }
            children.push(child);
        }

        let forward = Self::up(pawns);
        let victims = self.them & mask;
        let east = (forward & !FILE_H) << 1 & victims;
        let west = (forward & !FILE_A) >> 1 & victims;
        let mut takes = east & !LAST_RANKS;
        while let Some(to) = next(&mut takes) {
            let rest = self.without(Self::down(to >> 1));
            children.push(self.pass(Self::place::<PAWN>(rest, to), to));
        }
        let mut takes = west & !LAST_RANKS;
        while let Some(to) = next(&mut takes) {
            let rest = self.without(Self::down(to << 1));
            children.push(self.pass(Self::place::<PAWN>(rest, to), to));
        }

        if (step | east | west) & LAST_RANKS != 0 {
            self.push_promotions(step & LAST_RANKS, 0, children);
            self.push_promotions(east & LAST_RANKS, 1, children);
            self.push_promotions(west & LAST_RANKS, -1, children);
        }
    }

    /// Promotions of the pawns that come from N files to the left.
    #[inline(always)]
    fn push_promotions(&self, mut targets: u64, files: i32, children: &mut impl Children) {
        while let Some(to) = next(&mut targets) {
            let from = Self::down(match files {
                0 => to,
                1 => to >> 1,
                _ => to << 1,
            });
            let rest = self.without(from);
            children.push(self.pass(Self::place::<KNIGHT>(rest, to), to));
            children.push(self.pass(Self::place::<BISHOP>(rest, to), to));
            children.push(self.pass(Self::place::<ROOK>(rest, to), to));
            children.push(self.pass(Self::place::<QUEEN>(rest, to), to));
        }
    }

    /// En passant captures; each is verified individually, since two pawns leave the rank at once.
    #[inline(always)]
    fn push_en_passants(&self, king: Square, checkers: u64, children: &mut impl Children) {
        let to = self.en_passant;
        let victim = Self::down(to) & self.pawns & self.them;
        if victim == 0 {
            return;
        }
        let behind = Self::down(to);
        let mut captors = ((behind & !FILE_A) >> 1 | (behind & !FILE_H) << 1) & self.pawns & self.us;
        while let Some(from) = next(&mut captors) {
            let after = Bitboard(self.occupied ^ (from | to | victim));
            let seen = (self.sliders.rook(king, after).0 & self.orthogonal
                | self.sliders.bishop(king, after).0 & self.diagonal)
                & self.them;
            let others = checkers & (self.knights | self.pawns) & !victim;
            if seen | others == 0 {
                let rest = self.without(from | victim);
                children.push(self.pass(Self::place::<PAWN>(rest, to), to));
            }
        }
    }
}
