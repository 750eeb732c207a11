//! Patterns of pieces on squares: a few operations on the planes of boards, for eight boards at once.
//!
//! The pieces of a pattern are planes, too, so that a board is compared with all of them at once. Only a rook has two
//! codes: one for rooks that may still castle.

use crate::chess::{Color, Piece, Role, Square};
use crate::packed::Group;

/// A pattern: one of several boards with required pieces, arbitrary squares, and empty squares.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(super) struct Pattern {
    /// The boards that apply to both sides to move, or to White only.
    boards: Vec<Compared>,
    /// The boards for Black to move, if they are different.
    with_black_to_move: Option<Vec<Compared>>,
}

/// A board of a pattern as it is compared with the planes of boards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Compared {
    /// The squares that pieces must be on, and those of rooks among them.
    pieces: u64,
    rooks: u64,
    /// What the planes must be on these squares; of the rooks only the colour and the highest bit of the code.
    color: u64,
    types: [u64; 3],
    empty: u64,
}

impl Compared {
    fn of(squares: &Squares) -> Self {
        let of = |role: usize| squares.pieces[role] | squares.pieces[role + 6];
        let [pawns, knights, bishops, rooks, queens, kings] = std::array::from_fn(of);
        Self {
            pieces: pawns | knights | bishops | rooks | queens | kings,
            rooks,
            color: squares.pieces[6..].iter().fold(0, |all, squares| all | squares),
            types: [pawns | bishops | queens, knights | bishops | kings, rooks | queens | kings],
            empty: squares.empty,
        }
    }
    /// The squares of a board that are not as they must be, none of which is 0. A square that must hold two pieces is
    /// never as it must be.
    #[inline(always)]
    fn wrong(&self, color: u64, [t0, t1, t2]: [u64; 3]) -> u64 {
        let Self { pieces, rooks, .. } = *self;
        let low = (t0 ^ self.types[0] | t1 ^ self.types[1]) & (pieces & !rooks);
        let high = (color ^ self.color | t2 ^ self.types[2]) & pieces;
        low | high | (t0 ^ t1) & rooks | (t0 | t1 | t2) & self.empty
    }
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
        let text = text.trim();
        let placement = match text.split_once(|letter: char| letter.is_ascii_whitespace()) {
            None => text,
            // A whole FEN may be pasted.
            Some((placement, rest)) => {
                let rest = plain(rest.trim());
                return Err(format!(
                    "`matches` compares the board alone, and not `{rest}`: leave that out, or use \
                     same_position('FEN'), which also compares the side to move, castling rights and en passant: \
                     matches('{}')",
                    plain(placement)
                ));
            }
        };
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
}

fn lanes_where(is: [bool; Group::LEN]) -> u8 {
    is.iter().enumerate().fold(0, |lanes, (lane, &is)| lanes | u8::from(is) << lane)
}

/// A text that fits into a message.
fn plain(text: &str) -> String {
    text.escape_debug().take(72).collect()
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
        let variants = |board: Squares| -> Vec<Compared> {
            let mut boards = vec![board];
            if words.flip {
                boards.extend(boards.clone().iter().map(Squares::flipped));
            }
            if words.mirror {
                boards.extend(boards.clone().iter().map(Squares::mirrored));
            }
            boards.sort_unstable();
            boards.dedup();
            boards.iter().map(Compared::of).collect()
        };
        let with_black_to_move = words.mover.then(|| variants(board.flipped()));
        Ok(Self { boards: variants(board), with_black_to_move })
    }

    /// The lanes whose boards match, a bit each.
    pub(super) fn lanes(&self, group: &Group) -> u8 {
        let [color, t0, t1, t2] = &group.planes;
        let any = |boards: &[Compared]| {
            let lanes = boards.iter().map(|board| {
                let wrong: [u64; Group::LEN] =
                    std::array::from_fn(|lane| board.wrong(color[lane], [t0[lane], t1[lane], t2[lane]]));
                lanes_where(wrong.map(|wrong| wrong == 0))
            });
            lanes.fold(0, |all, lanes| all | lanes)
        };
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
    /// The number of the square.
    square: u32,
    /// A bit for each piece: for the code of a square, its three bits and then that of Black.
    codes: u16,
}

impl On {
    pub(super) fn parse(square: &str, letters: &str) -> Result<Self, String> {
        let on = square.parse::<Square>().map_err(|_| format!("`{}` is not a square", square.escape_debug()))?;
        if letters.is_empty() {
            return Err("no pieces are named".to_owned());
        }
        let mut codes = 0;
        for letter in letters.chars() {
            let piece = piece(letter)?;
            let of_role: u16 = match piece.role {
                Role::Pawn => 1 << 0b001,
                Role::Knight => 1 << 0b010,
                Role::Bishop => 1 << 0b011,
                Role::Rook => 1 << 0b100 | 1 << 0b111,
                Role::Queen => 1 << 0b101,
                Role::King => 1 << 0b110,
            };
            codes |= if piece.color == Color::Black { of_role << 8 } else { of_role };
        }
        Ok(Self { square: on.index() as u32, codes })
    }

    /// The lanes on whose boards one of these pieces is on the square, as bits.
    pub(super) fn lanes(&self, group: &Group) -> u8 {
        let [color, t0, t1, t2] = &group.planes;
        lanes_where(std::array::from_fn(|lane| {
            let bit = |plane: u64| plane >> self.square & 1;
            let code = bit(t0[lane]) | bit(t1[lane]) << 1 | bit(t2[lane]) << 2 | bit(color[lane]) << 3;
            self.codes >> code & 1 != 0
        }))
    }
}

fn piece(letter: char) -> Result<Piece, String> {
    let piece = u8::try_from(letter).ok().and_then(Piece::from_letter);
    piece.ok_or_else(|| format!("`{}` is not a piece: expected one of KQRBNPkqrbnp", letter.escape_debug()))
}
