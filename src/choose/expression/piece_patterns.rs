//! Patterns of pieces on squares: a few operations on the planes of boards, for eight boards at once.

use crate::chess::{Color, Piece, Role, Square};
use crate::packed::Group;

/// A pattern: one of several boards with required pieces, arbitrary squares, and empty squares.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(super) struct Pattern {
    /// The boards that apply to both sides to move, or to White only.
    boards: Vec<Squares>,
    /// The boards for Black to move, if they are different.
    with_black_to_move: Option<Vec<Squares>>,
}

/// A board of a pattern.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
struct Squares {
    /// The squares on which White's pawns, knights, … and then Black's must be.
    pieces: [u64; 12],
    empty: u64,
}

/// The words that modify a pattern.
#[derive(Clone, Copy, Debug, Default)]
struct Words {
    exact: bool,
    flip: bool,
    mirror: bool,
    mover: bool,
}

impl Words {
    fn parse(text: &str) -> Result<Self, String> {
        let mut words = Self::default();
        for word in text.split(|letter: char| letter == ',' || letter.is_whitespace()).filter(|word| !word.is_empty()) {
            match word.to_ascii_lowercase().as_str() {
                "exact" => words.exact = true,
                "flip" => words.flip = true,
                "mirror" => words.mirror = true,
                "mover" => words.mover = true,
                _ => {
                    let word: String = word.escape_debug().take(24).collect();
                    return Err(format!("there is no word `{word}`: there are exact, flip, mirror and mover"));
                }
            }
        }
        Ok(words)
    }
}

impl Squares {
    fn parse(text: &str, is_exact: bool) -> Result<Self, String> {
        let mut board = Self::default();
        // A whole FEN may be pasted: its board is the first field.
        let placement = text.split_ascii_whitespace().next().unwrap_or("");
        let ranks: Vec<&str> = placement.split('/').collect();
        if ranks.len() != 8 {
            return Err(format!("a pattern has 8 ranks, separated by `/`, and this one has {}", ranks.len()));
        }
        for (rank, squares) in (0..8_u8).rev().zip(ranks) {
            let mut file = 0;
            for letter in squares.chars() {
                let square = 1_u64.checked_shl(u32::from(rank * 8 + file)).filter(|_| file < 8).unwrap_or(0);
                match letter {
                    '1'..='8' => {
                        let number = letter as u8 - b'0';
                        if is_exact && file + number <= 8 {
                            board.empty |= ((1 << number) - 1) << (rank * 8 + file);
                        }
                        file += number - 1;
                    }
                    '.' => board.empty |= square,
                    letter => board.pieces[number(piece(letter)?)] |= square,
                }
                file += 1;
                if file > 8 {
                    break;
                }
            }
            if file != 8 {
                let squares: String = squares.escape_debug().take(24).collect();
                return Err(format!("the rank `{squares}` does not have 8 squares"));
            }
        }
        Ok(board)
    }

    fn map(&self, squares: impl Fn(u64) -> u64) -> Self {
        Self { pieces: self.pieces.map(&squares), empty: squares(self.empty) }
    }
    /// With colours exchanged and ranks reversed.
    fn flipped(&self) -> Self {
        let mut flipped = self.map(u64::swap_bytes);
        flipped.pieces.rotate_left(6);
        flipped
    }
    /// With files reversed.
    fn mirrored(&self) -> Self {
        self.map(|squares| squares.swap_bytes().reverse_bits())
    }

    /// The lanes whose boards match it, as bits.
    fn lanes(&self, sets: &Sets) -> u8 {
        let mut missing = sets.occupied.map(|occupied| occupied & self.empty);
        for (place, &squares) in self.pieces.iter().enumerate().filter(|(_, squares)| **squares != 0) {
            let pieces = sets.pieces(place);
            missing.iter_mut().zip(pieces).for_each(|(missing, pieces)| *missing |= squares & !pieces);
        }
        lanes_where(missing.map(|missing| missing == 0))
    }
}

fn lanes_where(is: [bool; Group::LEN]) -> u8 {
    is.iter().enumerate().fold(0, |lanes, (lane, &is)| lanes | u8::from(is) << lane)
}

/// The pieces and empty squares of eight boards.
struct Sets<'a> {
    group: &'a Group,
    occupied: [u64; Group::LEN],
}

impl<'a> Sets<'a> {
    fn of(group: &'a Group) -> Self {
        let [_, t0, t1, t2] = &group.planes;
        let occupied = std::array::from_fn(|lane| t0[lane] | t1[lane] | t2[lane]);
        Self { group, occupied }
    }
    /// The squares of the pieces at a place of [`Squares::pieces`].
    fn pieces(&self, place: usize) -> [u64; Group::LEN] {
        let role = Role::ALL[place % 6];
        let turn = if place < 6 { !0 } else { 0 };
        std::array::from_fn(|lane| {
            let board = self.group.get(lane);
            board.planes().role(role) & (board.color ^ turn)
        })
    }
}

/// The place of a piece in [`Squares::pieces`].
fn number(piece: Piece) -> usize {
    let role = Role::ALL.iter().position(|&role| role == piece.role).unwrap_or(0);
    if piece.color == Color::White { role } else { role + 6 }
}

impl Pattern {
    /// The board part of a FEN, in which digits are arbitrary squares and `.` is an empty one, and words that modify
    /// it.
    pub(super) fn parse(text: &str, words: &str) -> Result<Self, String> {
        let words = Words::parse(words)?;
        let board = Squares::parse(text, words.exact)?;
        let variants = |board: Squares| -> Vec<Squares> {
            let mut boards = vec![board];
            if words.flip {
                boards.extend(boards.clone().iter().map(Squares::flipped));
            }
            if words.mirror {
                boards.extend(boards.clone().iter().map(Squares::mirrored));
            }
            boards.sort_unstable();
            boards.dedup();
            boards
        };
        let with_black_to_move = words.mover.then(|| variants(board.flipped()));
        Ok(Self { boards: variants(board), with_black_to_move })
    }

    /// The lanes whose boards match, a bit each.
    pub(super) fn lanes(&self, group: &Group) -> u8 {
        let sets = Sets::of(group);
        let any = |boards: &[Squares]| boards.iter().fold(0, |lanes, board| lanes | board.lanes(&sets));
        let white = any(&self.boards);
        let Some(black) = &self.with_black_to_move else {
            return white;
        };
        let is_black = lanes_where(std::array::from_fn(|lane| group.get(lane).side_to_move() == Color::Black));
        white & !is_black | any(black) & is_black
    }
}

/// A square, and pieces of which one must be on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct On {
    square: u64,
    /// The places of the pieces in [`Squares::pieces`].
    pieces: Vec<usize>,
}

impl On {
    pub(super) fn parse(square: &str, letters: &str) -> Result<Self, String> {
        let on = square.parse::<Square>().map_err(|_| format!("`{}` is not a square", square.escape_debug()))?;
        if letters.is_empty() {
            return Err("no pieces are named".to_owned());
        }
        let mut pieces: Vec<usize> =
            letters.chars().map(|letter| piece(letter).map(number)).collect::<Result<_, _>>()?;
        pieces.sort_unstable();
        pieces.dedup();
        Ok(Self { square: 1 << on.index(), pieces })
    }

    /// The lanes on whose boards one of these pieces is on the square, as bits.
    pub(super) fn lanes(&self, group: &Group) -> u8 {
        let sets = Sets::of(group);
        let all = self.pieces.iter().fold([0; Group::LEN], |mut all, &place| {
            all.iter_mut().zip(sets.pieces(place)).for_each(|(all, pieces)| *all |= pieces);
            all
        });
        lanes_where(all.map(|pieces| pieces & self.square != 0))
    }
}

fn piece(letter: char) -> Result<Piece, String> {
    let piece = u8::try_from(letter).ok().and_then(Piece::from_letter);
    piece.ok_or_else(|| format!("`{}` is not a piece: expected one of KQRBNPkqrbnp", letter.escape_debug()))
}
