//! Notations of moves in games: those that are accepted, and those that are rejected.

use crate::formats::round_trips::read;
use crate::support::Ended;
use crate::support::shared_data;
use lanefish::chess::Position;
use lanefish::table::Batch;

/// Reads a text as a PGN file.
fn read_text(text: &str, strict: bool) -> (Batch, Ended) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("games.pgn");
    std::fs::write(&path, text).unwrap();
    read(&[path], |options| options.read.decode.strict_pgn = strict)
}

/// The position after a move, or the reason why it is rejected.
fn after(fen: &str, mv: &str, strict: bool) -> String {
    let text = format!("[Event \"x\"]\n[FEN \"{fen}\"]\n\n1. {mv} *\n");
    let (batch, summary) = read_text(&text, strict);
    match summary.first_rejects.first() {
        Some(reject) => reject.reasons[0].to_owned(),
        None => {
            assert_eq!(batch.len(), 2, "{mv} in {fen}");
            batch.position(1).unwrap().to_string()
        }
    }
}

const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
/// A pawn and a bishop that can both take on c3, and a knight and a pawn that can take on d5.
const TENSE: &str = "4k3/8/4n3/3pb3/1p2P3/2N5/8/R3K2R b KQ - 0 1";

#[test]
fn moves_with_stray_letters_are_rejected() {
    let position = "rnbqkb1r/ppp1pppp/5n2/3p4/4P3/1PNB4/P1PP1PPP/R1BQK1NR w KQkq - 0 1";
    for mv in [
        "eBxd5", "exxd5", "NBe2", "BNe2", "aNxb3", "Nxxd5", "N-xd5", "Bx-e2", "exd5x", "eexd5", "Ng1g1e2", "N11e2",
        "Nxg1e2", "N1ge2", "Nge2=N", "eBd5", "R-xd8", "BBe2", "QKe2",
    ] {
        for strict in [false, true] {
            let rejected = after(position, mv, strict);
            assert!(["illegal_move", "bad_token"].contains(&rejected.as_str()), "{mv}: {rejected}");
        }
    }
    // Without its last sign the text is a move; only the lenient reader ignores the sign.
    for mv in ["exd5=", "Nge2-"] {
        assert!(after(position, mv, false).contains(' '), "{mv}");
        assert_eq!(after(position, mv, true), "bad_token", "{mv}");
    }
    for name in ["stray-piece-in-pawn-capture", "two-piece-letters"] {
        let Some(path) = shared_data(&format!("regressions/pgn/{name}.pgn")) else {
            continue;
        };
        let (_, summary) = read(&[path], |_| {});
        assert_eq!(summary.rejected, 1, "{name}");
    }
}

/// Nonstandard notations of real files, and the move in standard notation.
#[test]
fn common_nonstandard_notations() {
    let promotes = "3rk3/4P3/8/8/8/8/8/4K2R w K - 0 1";
    for (fen, plain, spellings) in [
        (
            START,
            "Nf3",
            &[
                "g1f3",
                "Ng1-f3",
                "Ng1f3",
                "g1-f3",
                "nf3",
                "ng1f3",
                "♘f3",
                "♞f3",
                "Nxf3",
                "N-f3",
                "♘\u{FE0E}f3",
                "Ng1–f3",
                "g1f3+!?",
                "Nf3‼",
                "Nf3+⁉",
                "♘f3!±",
            ][..],
        ),
        (START, "e4", &["e2e4", "e2-e4", "ee4", "Pe4", "pe4", "♙e4", "♟e2-e4"]),
        (TENSE, "bxc3", &["b4xc3", "b4c3", "b4:c3", "♟bxc3", "♟b×c3"]),
        (TENSE, "Nc5", &["nc5", "Nxc5", "e6c5", "♞c5"]),
        ("4k3/8/8/3p4/4P3/2N5/8/4K3 w - - 0 1", "Nxd5", &["Nd5", "c3d5", "c3xd5", "nxd5", "nd5", "N:d5", "Nc3xd5"]),
        ("4k3/8/8/3p4/4P3/2N5/8/4K3 w - - 0 1", "exd5", &["ed5", "e4d5", "e4-d5", "e:d5", "e4xd5", "e×d5"]),
        ("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1", "exd6", &["ed6", "e5d6", "exd6e.p.", "ed6 e.p."]),
        (
            "4k3/8/8/8/8/8/1B6/R3K2R w KQ - 0 1",
            "O-O",
            &["0-0", "o-o", "e1g1", "e1h1", "Kg1", "Kxh1", "Ke1-g1", "♔g1", "kg1"],
        ),
        ("4k3/8/8/8/8/8/1B6/R3K2R w KQ - 0 1", "O-O-O", &["0-0-0", "o-o-o", "e1c1", "e1a1", "Kc1"]),
        ("4k3/8/8/8/8/2p5/1B6/4K3 w - - 0 1", "Bxc3", &["bxc3", "bc3", "Bc3", "b2c3", "♗c3", "♗xc3"]),
        (promotes, "exd8=Q+", &["e7d8q", "exd8Q", "ed8=Q", "exd8(Q)", "exd8/Q", "e7xd8=q", "exd8=♕", "exd8♛"]),
        ("4k3/8/8/8/8/8/PPP5/4K3 w - - 0 1", "b3", &["b2b3", "bb3", "Pb3"]),
    ] {
        let expected = after(fen, plain, true);
        assert!(expected.contains(' '), "{plain} in {fen}: {expected}");
        for mv in spellings {
            assert_eq!(after(fen, mv, false), expected, "{mv} in {fen}");
        }
    }
    // Accepted by the lenient reader, rejected by the strict one.
    for mv in ["g1f3", "Ng1-f3", "nf3", "♘f3", "Nxf3", "N-f3", "e2e4", "Pe4", "ee4", "e2-e4"] {
        let rejected = after(START, mv, true);
        assert!(["illegal_move", "bad_token"].contains(&rejected.as_str()), "{mv}: {rejected}");
    }
    for mv in ["0-0", "o-o", "e1g1", "Kg1", "Kxh1"] {
        let rejected = after("4k3/8/8/8/8/8/1B6/R3K2R w KQ - 0 1", mv, true);
        assert!(["illegal_move", "bad_token"].contains(&rejected.as_str()), "{mv}: {rejected}");
    }
}

#[test]
fn ambiguous_notations_are_rejected() {
    // Bishop or pawn.
    assert_eq!(after(TENSE, "bc3", false), "ambiguous_move");
    let both = "4k3/8/8/2n5/8/B7/1P6/4K3 w - - 0 1";
    assert_eq!(after(both, "b4", false), after(both, "b2b4", false));
    assert_eq!(after(both, "bb4", false), "ambiguous_move");
    // A pawn capture needs its file, a promotion its piece, and castling is a move of the king.
    for (fen, mv) in [
        ("4k3/8/8/3p4/4P3/8/8/4K3 w - - 0 1", "d5"),
        ("4k3/8/8/3p4/4P3/8/8/4K3 w - - 0 1", "xd5"),
        ("8/4P3/8/8/8/8/k7/4K3 w - - 0 1", "e8"),
        ("8/4P3/8/8/8/8/k7/4K3 w - - 0 1", "e7e8"),
        ("8/4P3/8/8/8/8/k7/4K3 w - - 0 1", "e8=K"),
        ("4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1", "Rxe1"),
        ("4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1", "h1e1"),
        ("4k3/8/8/8/8/8/8/R3K2R w Q - 0 1", "Kg1"),
        (START, "g1e2"),
        (START, "e7e5"),
    ] {
        let rejected = after(fen, mv, false);
        assert!(["illegal_move", "bad_token"].contains(&rejected.as_str()), "{mv} in {fen}: {rejected}");
    }
    // A king move by two files or more is castling; by one file it is a step.
    let chess960 = "4k3/8/8/8/8/8/8/5K1R w H - 0 1";
    assert_eq!(after(chess960, "Kg1", false), "4k3/8/8/8/8/8/8/6KR b - - 1 1");
    assert_eq!(after(chess960, "O-O", false), "4k3/8/8/8/8/8/8/5RK1 b - - 1 1");
}

/// Every short text that begins like a move, read as part of a game.
#[test]
fn short_texts_agree_with_the_rules() {
    let letters = "abdeh1345NBRQKx=-";
    let mut texts: Vec<String> = vec![String::new()];
    let mut all = Vec::new();
    for _ in 0..4 {
        texts = texts
            .iter()
            .flat_map(|text| letters.chars().map(move |letter| format!("{text}{letter}")))
            .filter(|text| text.starts_with(|first: char| first.is_ascii_alphabetic() && first != 'x'))
            .collect();
        all.extend(texts.iter().cloned());
    }
    // `N` by itself is a sign (novelty), not a move.
    all.retain(|text| text != "N");
    let fen = "r3k2r/p1pp1pb1/bn2Qnp1/2qPN3/1p2P3/2N5/PPPBBPPP/R3K2R b KQkq - 3 2";
    let position = Position::from_fen_unvalidated(fen).unwrap();
    for strict in [true, false] {
        let text: String = all.iter().map(|mv| format!("[Event \"x\"]\n[FEN \"{fen}\"]\n\n1... {mv} *\n\n")).collect();
        let (batch, summary) = read_text(&text, strict);
        assert_eq!(summary.games as usize, all.len());
        let moves = batch.values(lanefish::table::Field::Move);
        let games = batch.values(lanefish::table::Field::Game).unwrap();
        let mut played = vec![None; all.len()];
        for row in 0..batch.len() {
            if let Some(bits) = moves.and_then(|moves| moves.number(row)) {
                played[games.number(row).unwrap() as usize] = Some(bits as u16);
            }
        }
        for (text, played) in all.iter().zip(played) {
            let san: Vec<u16> = position
                .legal_moves()
                .iter()
                .filter(|mv| {
                    // Without origin, or with its file, rank or both.
                    let plain = mv.san(&position).replace(['+', '#'], "");
                    let from = mv.from.to_string();
                    if !plain.starts_with(['N', 'B', 'R', 'Q', 'K']) {
                        return plain == *text;
                    }
                    let tail = &plain[plain.find('x').unwrap_or(plain.len() - 2)..];
                    ["", &from[..1], &from[1..], &from]
                        .iter()
                        .any(|origin| *text == format!("{}{origin}{tail}", &plain[..1]))
                })
                .map(|mv| mv.to_bits())
                .collect();
            if let [one] = *san {
                assert_eq!(played, Some(one), "{text}");
            } else if strict {
                assert_eq!(played, None, "{text}");
            }
            if !strict && played.is_some() && !text.starts_with('b') {
                let read = position.parse_san(text).map(|mv| mv.to_bits());
                assert_eq!(read.ok(), played, "{text}");
            }
        }
        assert!(summary.rejected as usize > all.len() * 9 / 10);
    }
}

#[test]
fn fen_tags_may_end_early_and_lose_castling_rights() {
    let read_start = |fen: &str, strict: bool| {
        let text = format!("[Event \"x\"]\n[FEN \"{fen}\"]\n\n*\n");
        let (batch, summary) = read_text(&text, strict);
        let start = (!batch.is_empty()).then(|| batch.position(0).unwrap().to_string());
        (start, summary.remarks.count(&lanefish::formats::pgn::DROPPED_CASTLING), summary.rejected)
    };
    let board = "4k3/8/8/8/8/8/4P3/4K2R";
    for (fen, expected, dropped) in [
        (board.to_owned(), format!("{board} w - - 0 1"), 0),
        (format!("{board} b"), format!("{board} b - - 0 1"), 0),
        (format!("{board} w K"), format!("{board} w K - 0 1"), 0),
        (format!("{board} w KQkq - 3 9"), format!("{board} w K - 3 9"), 3),
        (format!("{board} b A"), format!("{board} b - - 0 1"), 1),
        ("r3k3/8/8/8/8/8/4K3/7R b KQq - 0 1".to_owned(), "r3k3/8/8/8/8/8/4K3/7R b q - 0 1".to_owned(), 2),
    ] {
        assert_eq!(read_start(&fen, false), (Some(expected), dropped, 0), "{fen}");
        let rejected = fen == board || dropped > 0;
        assert_eq!(read_start(&fen, true).2, u64::from(rejected), "{fen}");
    }
    // Malformed castling rights and positions are still errors.
    for fen in [format!("{board} w KX"), format!("{board} x"), format!("{board} w KK"), "8/8".to_owned()] {
        assert_eq!(read_start(&fen, false), (None, 0, 1), "{fen}");
    }
}

#[test]
fn chess960_as_named_by_chess_com() {
    let text = "[Variant \"Live Chess - Chess960\"]\n[FEN \"4k3/8/8/8/8/8/8/1R1K1R2 w FB - 0 1\"]\n\n1. O-O-O *\n";
    let (batch, summary) = read_text(text, false);
    assert_eq!(summary.rejected, 0);
    assert_eq!(batch.position(1).unwrap().to_string(), "4k3/8/8/8/8/8/8/2KR1R2 b - - 1 1");
}
