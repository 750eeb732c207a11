//! From planes to piece sets, flipped so that the side to move plays up the board.

use super::RANK_6;
use crate::packed::{Group, Planes};
use crate::simd::{Lanes, Simd, inlined};

/// The pieces of one side; a queen is in both slider sets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Side<L> {
    pub all: L,
    pub pawns: L,
    pub knights: L,
    /// Bishops and queens.
    pub diagonal: L,
    /// Rooks and queens.
    pub orthogonal: L,
    pub king: L,
}

/// A board per lane, from the view of the side to move.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Board<L> {
    pub us: Side<L>,
    pub them: Side<L>,
    pub occupied: L,
    pub empty: L,
    /// Rooks of both sides that may still castle.
    pub castling: L,
    /// Sentinel bits: at most one on boards that decode.
    pub sentinels: L,
    /// The en passant square, on rank 6, whether or not a pawn stands before it.
    pub en_passant: L,
    /// All ones where Black is to move and the board is flipped.
    pub flipped: L,
}

/// The planes of the boards in the lanes `at..at + WIDTH` of a group.
#[inline(always)]
pub(super) fn load_planes<S: Simd>(simd: S, group: &Group, at: usize) -> Planes<S::Lanes> {
    let [color, t0, t1, t2] = &group.planes;
    Planes { color: simd.load(color, at), types: [simd.load(t0, at), simd.load(t1, at), simd.load(t2, at)] }
}

impl<L: Lanes> Board<L> {
    /// The boards in the lanes `at..at + WIDTH` of a group.
    #[inline(always)]
    pub(crate) fn load<S: Simd<Lanes = L>>(simd: S, group: &Group, at: usize) -> Self {
        let Planes { color, types: [t0, t1, t2] } = load_planes(simd, group, at);
        // Black is to move if an empty square outside rank 6 has its sentinel bit set.
        let sentinels = color & !(t0 | t1 | t2);
        let flipped = (sentinels & simd.splat(!RANK_6)).nonzero();
        let color = color.swap_bytes_where(flipped);
        let t0 = t0.swap_bytes_where(flipped);
        let t1 = t1.swap_bytes_where(flipped);
        let t2 = t2.swap_bytes_where(flipped);

        let planes = Planes { color, types: [t0, t1, t2] };
        let occupied = planes.occupied();
        let theirs = color ^ flipped;
        let us = occupied & !theirs;
        let them = occupied & theirs;
        let (pawns, knights, kings) = (planes.pawns(), planes.knights(), planes.kings());
        let (diagonal, orthogonal) = (planes.diagonal(), planes.orthogonal());
        let side = inlined(
            #[inline(always)]
            |all| Side {
                all,
                pawns: pawns & all,
                knights: knights & all,
                diagonal: diagonal & all,
                orthogonal: orthogonal & all,
                king: kings & all,
            },
        );
        Self {
            us: side(us),
            them: side(them),
            occupied,
            empty: !occupied,
            castling: planes.castling(),
            sentinels: color & !occupied,
            en_passant: color & !occupied & simd.splat(RANK_6),
            flipped,
        }
    }
}

/// The piece sets of each lane, from the view of the side to move, which comes first: all pieces, pawns, knights,
/// bishops and queens, rooks and queens, king.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
pub struct PieceSets(pub [[u64; Group::LEN]; 12]);

/// Finds the piece sets of all boards.
#[inline(always)]
pub fn piece_sets<S: Simd>(simd: S, groups: &[Group], out: &mut [PieceSets]) {
    for (group, PieceSets(out)) in groups.iter().zip(out) {
        for at in (0..Group::LEN).step_by(S::WIDTH) {
            let Board { us, them, .. } = Board::load(simd, group, at);
            let sets = [
                [us.all, us.pawns, us.knights],
                [us.diagonal, us.orthogonal, us.king],
                [them.all, them.pawns, them.knights],
                [them.diagonal, them.orthogonal, them.king],
            ];
            for (&set, to) in sets.as_flattened().iter().zip(&mut *out) {
                simd.store(set, to, at);
            }
        }
    }
}
