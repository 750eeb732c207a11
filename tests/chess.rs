//! The rules of one position against themselves said plainly, against cozy-chess and against known counts.

use lanefish::chess::{Bitboard, Color, Move, Piece, Position, Role, Square, reference};
use proptest::prelude::*;

/// A board with one king a side and up to `most` other pieces anywhere, pawns not on the back ranks; random
/// side, castling rights for every rook on its back rank, en passant mark anywhere.
fn any_board(most: usize) -> impl Strategy<Value = Position> {
    let piece = (0..64u8, 0..5usize, 0..2usize);
    let kings = (0..64u8, 0..64u8).prop_filter("two squares", |(white, black)| white != black);
    let rest = (any::<bool>(), any::<bool>(), proptest::option::of(0..64u8));
    (prop::collection::vec(piece, 0..=most), kings, rest).prop_map(
        |(pieces, kings, (black, castling, en_passant))| {
            let mut position = Position::empty();
            for (square, role, color) in pieces {
                let (square, role) = (Square::new(square), Role::ALL[role]);
                let color = Color::ALL[color];
                if role != Role::Pawn || !Bitboard::BACK_RANKS.contains(square) {
                    position.put(square, Piece { color, role });
                }
            }
            for (square, color) in [(kings.0, Color::White), (kings.1, Color::Black)] {
                let role = Role::King;
                position.put(Square::new(square), Piece { color, role });
            }
            if black {
                position.side_to_move = Color::Black;
            }
            if castling {
                position.castling.0 = position.role(Role::Rook) & Bitboard::BACK_RANKS;
            }
            position.en_passant = en_passant.map(Square::new);
            position
        },
    )
}

fn sorted(moves: &[Move]) -> Vec<u16> {
    let mut bits: Vec<u16> = moves.iter().map(|mv| mv.to_bits()).collect();
    bits.sort_unstable();
    bits
}

fn agrees_with_reference(position: &Position) {
    let expected = reference::legal_moves(position);
    let moves = position.legal_moves();
    assert_eq!(sorted(&moves), sorted(&expected), "{position}");
    let counts = position.legal_counts();
    let count = |kind: fn(&Position, Move) -> bool| {
        expected.iter().filter(|&&mv| kind(position, mv)).count()
    };
    use lanefish::chess::MoveKind::*;
    assert_eq!(usize::from(counts.moves), expected.len(), "{position}");
    assert_eq!(counts.moves, position.count_legal());
    let en_passants = count(|_, mv| mv.kind == EnPassant);
    let castles = count(|_, mv| mv.kind == Castle);
    let promotions = count(|_, mv| matches!(mv.kind, Promotion(_)));
    let captures = count(|position, mv| {
        mv.kind == EnPassant || position.color(!position.side_to_move).contains(mv.to)
    });
    assert_eq!(usize::from(counts.en_passants), en_passants, "{position}");
    assert_eq!(usize::from(counts.castles), castles, "{position}");
    assert_eq!(usize::from(counts.promotions), promotions, "{position}");
    assert_eq!(usize::from(counts.captures), captures, "{position}");
    let us = position.side_to_move;
    assert_eq!(position.checkers(), reference::checkers_of(position, us));
    assert_eq!(position.pinned(), reference::pinned(position), "{position}");
    for color in Color::ALL {
        let attacked = reference::attacked_by(position, color);
        assert_eq!(position.attacked_by(color), attacked, "{position}");
    }
}

fn unmakes(position: &Position) {
    let mut board = position.clone();
    for &mv in &position.legal_moves() {
        let undo = board.make(mv);
        board.unmake(mv, undo);
        assert_eq!(&board, position, "{mv:?}");
        assert_eq!(Move::from_bits(mv.to_bits()), Some(mv));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn moves_of_any_board_are_those_of_the_reference(position in any_board(24)) {
        agrees_with_reference(&position);
    }
    #[test]
    fn moves_of_sparse_boards_are_those_of_the_reference(position in any_board(8)) {
        agrees_with_reference(&position);
    }
    #[test]
    fn moves_of_any_board_can_be_taken_back(position in any_board(24)) {
        unmakes(&position);
    }
}
