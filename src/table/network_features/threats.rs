//! Threats: pairs of pieces of which one attacks the other, and pairs of pawns on files beside each other.
//!
//! An input of threats is a kind of piece on a square that attacks a kind of piece on another one. The attackers come first in the
//! order of their kinds, own pieces before the other side's; within an attacker the attacked kinds; within these the pairs of squares
//! that such an attacker has on an empty board. So all inputs of a position are found in ascending order: for each attacking
//! kind, the attacks of its pieces are found once, and then intersected with each attacked kind.
//!
//! After `src/nnue/features/full_threats.cpp` and `pp_3wide.cpp` of Stockfish, whose versions differ in the attacked kinds that
//! have inputs.

use super::active_features::ActiveFeatures;
use super::{View, piece_name, squares};
use crate::chess::attacks::{bishop_attacks, king_attacks, knight_attacks, pawn_attacks, queen_attacks, rook_attacks};
use crate::chess::{Bitboard, Color, Role, Square};
use crate::simd::bytes::Blocks;
use std::sync::LazyLock;

/// A version of the set.
#[derive(Clone, Copy, Debug)]
pub(super) struct Threats(&'static Version);

struct Version {
    names: &'static [&'static str],
    /// The attacked kinds that have inputs, for each attacking kind.
    places: [&'static [Role]; 6],
    /// Whether a pawn also threatens a pawn right before it.
    has_pushes: bool,
    size: u32,
}

use Role::{Bishop, King, Knight, Pawn, Queen, Rook};

static VERSIONS: [Version; 5] = [
    Version {
        names: &["sfnnv10"],
        places: [
            &[Pawn, Knight, Rook],
            &[Pawn, Knight, Bishop, Rook, Queen, King],
            &[Pawn, Knight, Bishop, Rook, King],
            &[Pawn, Knight, Bishop, Rook, King],
            &[Pawn, Knight, Bishop, Rook, Queen, King],
            &[Pawn, Knight, Bishop, Rook],
        ],
        has_pushes: false,
        size: 79_856,
    },
    Version {
        names: &["sfnnv11"],
        places: [
            &[Pawn, Knight, Rook],
            &[Pawn, Knight, Bishop, Rook, Queen],
            &[Pawn, Knight, Bishop, Rook],
            &[Pawn, Knight, Bishop, Rook],
            &[Pawn, Knight, Bishop, Rook, Queen],
            &[Pawn, Knight, Bishop, Rook],
        ],
        has_pushes: false,
        size: 66_864,
    },
    Version { names: &["sfnnv12", "sfnnv13"], places: WITHOUT_KINGS, has_pushes: false, size: 60_144 },
    Version { names: &["sfnnv14", "sfnnv15"], places: WITHOUT_KINGS, has_pushes: true, size: 60_720 },
    Version {
        names: &["sfnnv16"],
        places: {
            let mut places = WITHOUT_KINGS;
            places[Pawn as usize] = &[Knight, Rook];
            places
        },
        has_pushes: false,
        size: 59_808,
    },
];

const WITHOUT_KINGS: [&[Role]; 6] = [
    &[Pawn, Knight, Rook],
    &[Pawn, Knight, Bishop, Rook, Queen],
    &[Pawn, Knight, Bishop, Rook],
    &[Pawn, Knight, Bishop, Rook],
    &[Pawn, Knight, Bishop, Rook, Queen],
    &[],
];

impl std::fmt::Debug for Version {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.names[0])
    }
}

/// The pairs of squares of an attacker on an empty board: the targets from each square, and the number of pairs from squares
/// before it.
struct Pairs {
    targets: [u64; 64],
    before: [u16; 64],
    count: u32,
}

impl Pairs {
    fn of(targets: impl Fn(Square) -> u64) -> Self {
        let mut pairs = Self { targets: [0; 64], before: [0; 64], count: 0 };
        for square in Square::all() {
            let at = square.index();
            pairs.before[at] = pairs.count as u16;
            pairs.targets[at] = targets(square);
            pairs.count += pairs.targets[at].count_ones();
        }
        pairs
    }
    /// The squares of the pair at a place.
    fn squares(&self, place: u32) -> (Square, Square) {
        let from = (0..64).rev().find(|&from| u32::from(self.before[from]) <= place && self.targets[from] != 0);
        let from = from.unwrap_or_default();
        let to = squares(self.targets[from]).nth((place - u32::from(self.before[from])) as usize);
        (Square::new(from as u8), Square::new(to.unwrap_or_default() as u8))
    }
    /// The targets from a square, and the place of the pair with the first of them.
    #[inline(always)]
    fn of_square(&self, from: u32) -> (u64, u32) {
        (self.targets[from as usize & 63], self.before[from as usize & 63].into())
    }
}

/// The pairs of each kind of piece of a side; of pawns without the squares before them, and with them.
struct AllPairs {
    pieces: [Pairs; 6],
    pawns: [[Pairs; 2]; 2],
}

/// Pairs of all kinds.
static PAIRS: LazyLock<AllPairs> = LazyLock::new(|| {
    let none = Bitboard::EMPTY;
    let pawns = |color: Color, has_pushes: bool| {
        Pairs::of(|from| {
            if matches!(from.rank().index(), 0 | 7) {
                return 0;
            }
            let before = 1 << (if color == Color::White { from.index() + 8 } else { from.index() - 8 });
            pawn_attacks(color, from).0 | if has_pushes { before } else { 0 }
        })
    };
    AllPairs {
        pieces: Role::ALL.map(|role| match role {
            Pawn => Pairs::of(|_| 0),
            Knight => Pairs::of(|from| knight_attacks(from).0),
            Bishop => Pairs::of(|from| bishop_attacks(from, none).0),
            Rook => Pairs::of(|from| rook_attacks(from, none).0),
            Queen => Pairs::of(|from| queen_attacks(from, none).0),
            King => Pairs::of(|from| king_attacks(from).0),
        }),
        pawns: Color::ALL.map(|color| [pawns(color, false), pawns(color, true)]),
    }
});

impl Threats {
    /// The version of this name.
    pub(super) fn parse(name: &str) -> Result<Self, String> {
        let version = VERSIONS.iter().find(|version| version.names.contains(&name));
        version.map(Self).ok_or_else(|| {
            let names: Vec<String> =
                VERSIONS.iter().flat_map(|version| version.names).map(|name| format!("threats:{name}")).collect();
            format!("threats are numbered in another way in each version: there are {}", names.join(", "))
        })
    }
    pub(super) fn size(self) -> u32 {
        self.0.size
    }
    /// The pairs of an attacker; own pawns move up.
    fn pairs(self, is_other: bool, role: Role) -> &'static Pairs {
        match role {
            Pawn => &PAIRS.pawns[usize::from(is_other)][usize::from(self.0.has_pushes)],
            role => &PAIRS.pieces[role as usize],
        }
    }

    /// What an input stands for.
    pub(super) fn meaning(self, index: u32) -> Option<String> {
        let mut first = 0;
        for is_other in [false, true] {
            for role in Role::ALL {
                let (places, pairs) = (self.0.places[role as usize], self.pairs(is_other, role));
                for attacked_is_other in [false, true] {
                    for &kind in places {
                        if index - first < pairs.count {
                            let (from, to) = pairs.squares(index - first);
                            let [attacker, attacked] = [(is_other, role), (attacked_is_other, kind)]
                                .map(|(other, role)| piece_name(other, role));
                            return Some(format!("{attacker} on {from} attacks {attacked} on {to}"));
                        }
                        first += pairs.count;
                    }
                }
            }
        }
        None
    }

    /// Adds the active inputs. A side without a king has none.
    #[inline(always)]
    pub(super) fn put<B: Blocks>(self, blocks: B, view: &View, first: u32, indices: &mut ActiveFeatures) {
        let Some(king) = view.king() else { return };
        let view = if king % 8 > 3 { view.mirrored() } else { *view };
        let occupied = Bitboard(view.occupied());
        let pawns = view.pieces[0][Pawn as usize] | view.pieces[1][Pawn as usize];
        let mut block = first;
        // Attacks of the pieces of a kind, which are few, but 64 fit.
        let mut attacks = [(0, 0); 64];
        for (attacker, of_side) in view.pieces.iter().enumerate() {
            let color = if attacker == 0 { Color::White } else { Color::Black };
            for role in Role::ALL {
                let places = self.0.places[role as usize];
                let pairs = self.pairs(attacker == 1, role);
                let size_of_place = pairs.count;
                if of_side[role as usize] == 0 || places.is_empty() {
                    block += 2 * places.len() as u32 * size_of_place;
                    continue;
                }
                let (mut count, mut all) = (0, 0);
                for from in squares(of_side[role as usize]) {
                    let square = Square::new(from as u8);
                    let found = match role {
                        Pawn => {
                            let before = if attacker == 0 { 1_u64 << from << 8 } else { 1_u64 << from >> 8 };
                            let pushes = if self.0.has_pushes { before & pawns } else { 0 };
                            pawn_attacks(color, square).0 & occupied.0 | pushes
                        }
                        Knight => knight_attacks(square).0,
                        Bishop => bishop_attacks(square, occupied).0,
                        Rook => rook_attacks(square, occupied).0,
                        Queen => queen_attacks(square, occupied).0,
                        King => king_attacks(square).0,
                    };
                    attacks[count & 63] = (from, found & occupied.0);
                    all |= found & occupied.0;
                    count += 1;
                }
                for (attacked, pieces) in view.pieces.iter().enumerate() {
                    for &kind in places {
                        let targets = pieces[kind as usize];
                        if all & targets == 0 {
                            block += size_of_place;
                            continue;
                        }
                        // Of two that attack each other, the one on the lower square has no input.
                        let is_mutual = role == kind && (role != Pawn || attacker != attacked);
                        for &(from, found) in &attacks[..count] {
                            let found = found & targets;
                            let found = if is_mutual { found & ((1 << from) - 1) } else { found };
                            // A pawn right before a pawn is the only piece that is threatened there.
                            let (among, before) = pairs.of_square(from);
                            indices.put_ranks(blocks, found, among, block + before);
                        }
                        block += size_of_place;
                    }
                }
            }
        }
    }
}

/// The number of inputs of pairs of pawns: of 96 places of pawns.
pub(super) const PAWN_PAIRS: u32 = 96 * 95 / 2;

/// Adds the pairs of pawns that are on the same file or on files beside each other. A side without a king has none.
///
/// Own pawns have the numbers of their squares from a2 on, those of the other side 48 more. The pairs of a pawn with those of lower
/// numbers have consecutive indices.
#[inline(always)]
pub(super) fn put_pawn_pairs<B: Blocks>(blocks: B, view: &View, first: u32, indices: &mut ActiveFeatures) {
    const FILE_A: u64 = 0x0101_0101_0101_0101;
    const FILE_H: u64 = FILE_A << 7;
    // Pawns stand on ranks 2 to 7.
    const PLACES: u64 = !0 >> 16;
    let Some(king) = view.king() else { return };
    let view = if king % 8 > 3 { view.mirrored() } else { *view };
    let [own, other] = view.pieces.map(|pieces| pieces[Pawn as usize] >> 8 & PLACES);
    let beside = |square: u32| {
        let file = FILE_A << (square % 8);
        file | (file & !FILE_A) >> 1 | (file & !FILE_H) << 1
    };
    let below = |square: u32| (1 << square) - 1;
    let before = |id: u32| first + id * id.saturating_sub(1) / 2;
    for square in squares(own) {
        indices.put(blocks, own & beside(square) & below(square), before(square));
    }
    for square in squares(other) {
        let before = before(48 + square);
        indices.put(blocks, own & beside(square), before);
        indices.put(blocks, other & beside(square) & below(square), before + 48);
    }
}

/// What an input of pairs of pawns stands for; `None` if the pawns are not on files beside each other.
pub(super) fn meaning_of_pawn_pair(index: u32) -> Option<String> {
    let high = (1..96).rev().find(|high| high * (high - 1) / 2 <= index)?;
    let ids = [high, index - high * (high - 1) / 2];
    let [first, second] = ids.map(|id| {
        let square = Square::new((id % 48 + 8) as u8);
        format!("{} on {square}", piece_name(id >= 48, Pawn))
    });
    // Two pawns are not on one square.
    let is_possible = (ids[0] % 8).abs_diff(ids[1] % 8) < 2 && ids[0] % 48 != ids[1] % 48;
    is_possible.then(|| format!("{second} and {first}"))
}
