//! The 960 start positions of Chess960, by Scharnagl's numbers.

use super::bitboard::Bitboard;
use super::castling::CastlingRights;
use super::piece::{Color, Piece, Role};
use super::position::Position;
use super::square::{File, Rank, Square};

/// Number of start positions.
pub const START_POSITIONS: u16 = 960;

/// The number of the start position of standard chess.
pub const STANDARD: u16 = 518;

/// The pieces of a start position from the a- to the h-file, or `None` from 960 on.
///
/// ```
/// use lanefish_core::chess::{Role, chess960};
/// let letters: String = chess960::start_position(chess960::STANDARD).unwrap().map(Role::letter).iter().collect();
/// assert_eq!(letters, "rnbqkbnr");
/// ```
pub fn start_position(number: u16) -> Option<[Role; 8]> {
    /// Which two of the remaining five squares hold the knights.
    const KNIGHTS: [(usize, usize); 10] =
        [(0, 1), (0, 2), (0, 3), (0, 4), (1, 2), (1, 3), (1, 4), (2, 3), (2, 4), (3, 4)];
    if number >= START_POSITIONS {
        return None;
    }
    let mut rest = usize::from(number);
    let mut digit = |base| {
        let digit = rest % base;
        rest /= base;
        digit
    };
    let mut files = [None; 8];
    files[2 * digit(4) + 1] = Some(Role::Bishop);
    files[2 * digit(4)] = Some(Role::Bishop);
    let mut place = |nth: usize, role: Role| {
        let mut free = files.iter_mut().filter(|file| file.is_none());
        if let Some(file) = free.nth(nth) {
            *file = Some(role);
        }
    };
    place(digit(6), Role::Queen);
    let (first, second) = KNIGHTS[digit(10)];
    place(second, Role::Knight);
    place(first, Role::Knight);
    for role in [Role::Rook, Role::King, Role::Rook] {
        place(0, role);
    }
    Some(files.map(|role| role.unwrap_or(Role::Rook)))
}

impl Position {
    /// The initial position of a Chess960 game with these start positions for White and Black (double Chess960 if they
    /// differ), or `None` for numbers from 960 on.
    pub fn chess960(white: u16, black: u16) -> Option<Self> {
        let mut position = Self::empty();
        for (color, number) in [(Color::White, white), (Color::Black, black)] {
            let back = CastlingRights::back_rank(color);
            let second = match color {
                Color::White => Rank::new(1),
                Color::Black => Rank::new(6),
            };
            for (file, role) in File::all().zip(start_position(number)?) {
                position.put(Square::at(file, back), Piece { color, role });
                let role = Role::Pawn;
                position.put(Square::at(file, second), Piece { color, role });
            }
        }
        position.castling.0 = position.role(Role::Rook) & Bitboard::BACK_RANKS;
        Some(position)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn start_positions_are_distinct_and_valid() {
        let starts: Vec<_> = (0..START_POSITIONS).map(|number| start_position(number).unwrap()).collect();
        for (number, start) in starts.iter().enumerate() {
            let places = |role| (0..8).filter(move |&file| start[file] == role);
            let [first, second] = [places(Role::Rook).min(), places(Role::Rook).max()];
            let king = places(Role::King).next();
            assert!(first < king && king < second, "{number}");
            assert_eq!(places(Role::Bishop).sum::<usize>() % 2, 1, "{number}");
            assert_eq!(places(Role::Knight).count(), 2);
            assert!(!starts[..number].contains(start), "{number}");
        }
        assert_eq!(start_position(START_POSITIONS), None);
        let standard = Position::chess960(STANDARD, STANDARD);
        assert_eq!(standard, Some(Position::standard()));
    }
}
