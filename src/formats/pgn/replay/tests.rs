//! Tests that the parser accepts exactly the form of the standard, and that the fast path plays by the rules.

use super::*;
use crate::chess::Move;
use crate::chess::moves::MoveKind;
use crate::chess::san;
use std::collections::HashSet;

/// All texts that are standard SAN, except castling.
fn standard() -> HashSet<String> {
    let maybe = |texts: &str| -> Vec<String> {
        let texts = texts.chars().map(String::from);
        texts.chain([String::new()]).collect()
    };
    let mut all = HashSet::new();
    for to in (0..64).map(|index| Square::new(index).to_string()) {
        for x in maybe("x") {
            for rank in maybe("12345678") {
                for file in maybe("abcdefgh") {
                    for piece in "NBRQK".chars() {
                        all.insert(format!("{piece}{file}{rank}{x}{to}"));
                    }
                    if rank.is_empty() && file.is_empty() == x.is_empty() {
                        let promotions = if to.ends_with(['1', '8']) { &["=N", "=B", "=R", "=Q"][..] } else { &[""] };
                        for promotion in promotions {
                            all.insert(format!("{file}{x}{to}{promotion}"));
                        }
                    }
                }
            }
        }
    }
    assert_eq!(all.len(), 64 * 2 * 9 * 9 * 5 + (1 + 8) * (16 * 4 + 48));
    all
}

fn decode(text: &[u8]) -> Option<San> {
    let mut word = [0; 8];
    word[..text.len()].copy_from_slice(text);
    // No piece comes from an empty set: see `Board::play`.
    San::decode(u64::from_le_bytes(word), text.len()).filter(|san| san.origin != 0)
}

#[test]
fn only_the_form_of_the_standard_is_decoded() {
    let standard = standard();
    for text in &standard {
        assert!(decode(text.as_bytes()).is_some(), "{text}");
    }
    // All texts over a small alphabet; for longer texts, a smaller one.
    for (letters, lengths) in [(&b"abgh1278NBRKx=-O"[..], 2..=5), (b"abd1BQx=-", 6..=6), (b"a1bNx=", 7..=8)] {
        for len in lengths {
            let mut digits = vec![0; len];
            loop {
                let text: Vec<u8> = digits.iter().map(|&digit| letters[digit]).collect();
                if decode(&text).is_some() {
                    let text = std::str::from_utf8(&text).unwrap();
                    assert!(standard.contains(text), "{text}");
                }
                let Some(place) = digits.iter().rposition(|&digit| digit + 1 < letters.len()) else {
                    break;
                };
                digits[place] += 1;
                digits[place + 1..].fill(0);
            }
        }
    }
}

#[test]
fn castling_is_to_the_side_that_the_word_says() {
    // Where both are legal, the wrong one would be played without a complaint.
    for (text, side) in [
        ("O-O", Some(CastlingSide::King)),
        ("O-O-O", Some(CastlingSide::Queen)),
        ("O-O-", None),
        ("-O-O", None),
        ("Nf3", None),
    ] {
        // Words are loaded together with the bytes around them.
        let bytes = format!("O-O-O-O {text} O-O-O-O");
        let san = San::of_word(bytes.as_bytes(), 8, 8 + text.len());
        assert_eq!(san.castles, side, "{text}");
    }
}

/// The legal move for a standard text, found in the plainest way.
fn meant(position: &Position, text: &str) -> Result<Move, Refused> {
    let (text, promotion) = text.split_once('=').unwrap_or((text, ""));
    let captures = text.contains('x');
    let text = text.replace('x', "");
    let (head, to) = text.split_at(text.len() - 2);
    let piece = head.chars().find(char::is_ascii_uppercase).unwrap_or('P');
    let origin: Vec<char> = head.chars().filter(|letter| *letter != piece).collect();
    let moves = position.legal_moves();
    let fitting: Vec<Move> = moves
        .iter()
        .copied()
        .filter(|mv| {
            let takes = mv.kind == MoveKind::EnPassant || position.role_at(mv.to).is_some();
            let becomes = match mv.kind {
                MoveKind::Promotion(role) => role.letter().to_ascii_uppercase().to_string(),
                _ => String::new(),
            };
            let from = mv.from.to_string();
            let role = position.role_at(mv.from).unwrap().letter();
            mv.kind != MoveKind::Castle
                && mv.to.to_string() == to
                && takes == captures
                && becomes == promotion
                && role.to_ascii_uppercase() == piece
                && origin.iter().all(|&letter| from.contains(letter))
                && (piece != 'P' || takes || from[..1] == to[..1])
        })
        .collect();
    match *fitting {
        [] => Err(Refused::Illegal),
        [mv] => Ok(mv),
        _ => Err(Refused::Ambiguous),
    }
}

/// The start position, and others with castling, promotions, pins and several pieces that reach a square.
const FENS: [&str; 5] = [
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "r3k2r/Pppp1ppp/1b3nbN/nPP5/B1P1P3/q4N2/Pp1P2PP/R2Q1RK1 b kq - 0 1",
    "2q1k3/1P6/8/N1NpPp2/8/N1N5/4K3/2Q1Q2Q w - d6 0 1",
    "4k3/8/8/8/7b/2n3N1/3N4/R3K2R w KQ - 0 1",
];

#[test]
fn moves_named_by_their_squares_are_those_of_the_rules() {
    for fen in &FENS[1..] {
        let position = Position::from_fen_unvalidated(fen).unwrap();
        let board = Board::new(&position);
        let mut played = 0;
        let squares = || (0..64).map(|index| Square::new(index).to_string());
        for from in squares() {
            for to in squares() {
                for promotion in ["", "q", "N", "k"] {
                    let text = format!("{from}{to}{promotion}");
                    let quick = board.play_squares(text.as_bytes());
                    let read = san::read(&position, text.as_bytes(), false);
                    if let Some((next, bits)) = quick {
                        assert_eq!(read.map(Move::to_bits), Ok(bits), "{text} in {fen}");
                        let mut position = position.clone();
                        position.make(read.unwrap());
                        assert_eq!(next.position(), position, "{text} in {fen}");
                        played += 1;
                    } else if let Ok(mv) = read {
                        assert_eq!(mv.kind, MoveKind::Castle, "{text} in {fen}");
                    }
                }
            }
        }
        assert!(played > 10);
    }
}

/// The fast path agrees with the rules, and leaves all other moves to them.
#[test]
fn quick_and_cold_moves_are_those_of_the_rules() {
    let texts = standard();
    for fen in FENS {
        let position = Position::from_fen_unvalidated(fen).unwrap();
        let board = Board::new(&position);
        for text in &texts {
            let expected = meant(&position, text).map(Move::to_bits);
            let quick = board.play(decode(text.as_bytes()).unwrap());
            let bits = |played: Result<(Board, u16), Refused>| played.map(|(_, bits)| bits);
            if let Ok((next, bits)) = quick {
                assert_eq!(Ok(bits), expected, "{text} in {fen}");
                let (cold, _) = board.play_spelled(text.as_bytes(), true).unwrap();
                assert_eq!(next.position(), cold.position(), "{text} in {fen}");
            }
            let strict = bits(board.play_spelled(text.as_bytes(), true));
            assert_eq!(strict, expected, "{text} in {fen}");
            let lenient = bits(board.play_spelled(text.as_bytes(), false));
            assert!(lenient == expected || expected == Err(Refused::Illegal), "{text} in {fen}");
        }
    }
}
