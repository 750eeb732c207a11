//! Texts that are read, refused with the right words, and written back.

use super::read::parse_slowly;
use super::*;
use crate::chess::random::{Random, RandomPlay, Start};
use crate::simd::board_text::RankText;

const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

fn fails(text: &str) -> String {
    Position::from_fen_unvalidated(text).unwrap_err().to_string()
}

#[test]
fn names_the_byte_and_what_was_expected() {
    let cases = [
        ("", "the line is empty"),
        (
            "8/8/8/8/8/8/8/7",
            "pieces, column 16: found the end of the line, expected more of the rank: it has fewer than 8 squares",
        ),
        ("8/8/8/8/8/8/8 w", "pieces, column 14: found a blank, expected more ranks: the board has fewer than 8"),
        ("8/8/8/8/8/8/8/8/8 w", "pieces, column 16: found `/`, expected a blank: the board has its 8 ranks"),
        ("8/8/8/8/8/8/8/8Q w", "pieces, column 16: found `Q`, expected a blank: the board has its 8 ranks"),
        (
            "44/8/8/8/8/8/8/8 w",
            "pieces, column 2: found `4`, expected a piece or `/`: adjacent empty squares are one number",
        ),
        ("8/7/9/8/8/8/8/8 w", "pieces, column 4: found `/`, expected more of the rank: it has fewer than 8 squares"),
        ("8/7pp/8/8/8/8/8/8 w", "pieces, column 5: found `p`, expected `/`: the rank has its 8 squares"),
        (
            "8/7x/8/8/8/8/8/8 w",
            "pieces, column 4: found `x`, expected a piece (PNBRQK or pnbrqk) or a number of empty squares (1-8)",
        ),
        ("8/8/8/8/8/8/8/8", "side to move, column 16: found the end of the line, expected `w` or `b`"),
        ("8/8/8/8/8/8/8/8 white", "side to move, column 18: found `h`, expected a blank"),
        ("8/8/8/8/8/8/8/8 w X", "castling rights, column 19: found `X`, expected `-` or letters out of KQkq, A-H, a-h"),
        (
            "8/8/8/8/8/8/8/8 w K",
            "castling rights, column 19: found `K`, expected a king of that colour on its first rank",
        ),
        (
            "8/8/8/8/8/8/8/R3K3 w K",
            "castling rights, column 22: found `K`, expected a rook of that colour there on its first rank",
        ),
        (
            "8/8/8/8/8/8/8/R3K3 w QA",
            "castling rights, column 23: found `A`, expected another right: this one was already given",
        ),
        ("8/8/8/8/8/8/8/8 w - e9", "en passant square, column 22: found `9`, expected `-` or a square (a-h, then 1-8)"),
        ("8/8/8/8/8/8/8/8 w - - 65536 1", "halfmove clock, column 23: found `6`, expected a number of at most 65535"),
        ("8/8/8/8/8/8/8/8 w - - 0 1 1", "end, column 27: found `1`, expected nothing more"),
        ("8/8/8/8/8/8/8/8 w - - bm", "end, column 23: found `b`, expected nothing more"),
    ];
    for (text, message) in cases {
        assert_eq!(fails(text), message, "{text}");
    }
}

#[test]
fn every_prefix_of_a_position_is_read_or_refused_without_panic() {
    for end in 0..START.len() {
        let read = Position::from_fen_unvalidated(&START[..end]);
        let fields_begin = START.find(" w").unwrap();
        assert_eq!(read.is_ok(), end >= fields_begin + 2, "{end}");
    }
}

#[test]
fn missing_fields_have_defaults() {
    let full = Position::from_fen_unvalidated("4k3/8/8/8/8/8/8/4K3 b - - 0 1").unwrap();
    for text in [
        "4k3/8/8/8/8/8/8/4K3 b",
        "4k3/8/8/8/8/8/8/4K3 b -",
        "4k3/8/8/8/8/8/8/4K3 b - -  ",
        "  4k3/8/8/8/8/8/8/4K3  b  -  -  0\r\n",
    ] {
        assert_eq!(Position::from_fen_unvalidated(text).as_ref(), Ok(&full), "{text:?}");
    }
}

#[test]
fn clocks_are_two_numbers_and_else_operations_begin() {
    let read = |text| parse(text, FenOptions::default()).unwrap();
    let line = read(b"4k3/8/8/8/8/8/8/4K3 w - - 12 34 ;D1 5");
    assert_eq!((line.position.halfmove, line.position.fullmove), (12, 34));
    assert_eq!(line.rest, b";D1 5");
    let line = read(b"4k3/8/8/8/8/8/8/4K3 w - - 12 bm Kd2;\r");
    assert_eq!((line.position.halfmove, line.position.fullmove), (0, 1));
    assert_eq!(line.rest, b"12 bm Kd2;");
}

/// Operations may begin at once, and so may the results of training data.
#[test]
fn separators_end_the_fields_of_a_position() {
    fn read(text: &[u8]) -> Fen<'_> {
        parse(text, FenOptions::default()).unwrap()
    }
    let [one, two, three, four] = [&b"8/8/8/4k3/8/8/8/4K3 b - -"[..], b" 12 34", b";", b" dtm; id \"x\";"];
    for (text, clocks, rest) in [
        ([one, b"", three, four], (0, 1), &b"; dtm; id \"x\";"[..]),
        ([one, two, three, four], (12, 34), b"; dtm; id \"x\";"),
        ([one, b"", three, b"hmvc 5;"], (0, 1), b";hmvc 5;"),
        ([one, b"", three, b""], (0, 1), b";"),
        ([one, b" ", three, b""], (0, 1), b";"),
        ([one, two, b"[1.0]", b""], (12, 34), b"[1.0]"),
        ([one, two, b"|", b" 1.0"], (12, 34), b"| 1.0"),
        ([one, two, b",", b" 1-0"], (12, 34), b", 1-0"),
        ([one, b"", b"[1.0]", b""], (0, 1), b"[1.0]"),
        ([one, b" 12", b",", b"5"], (0, 1), b"12,5"),
    ] {
        let text = text.concat();
        let line = read(&text);
        assert_eq!((line.position.halfmove, line.position.fullmove), clocks, "{}", text.escape_ascii());
        assert_eq!(line.rest, rest, "{}", text.escape_ascii());
    }
    let line = read(b"rnbqkbnr/ppp1pppp/8/8/3pP3/8/PPPP1PPP/RNBQKBNR b KQkq e3;id \"x\";");
    assert_eq!(
        (line.position.en_passant.map(|square| square.to_string()).as_deref(), line.rest),
        (Some("e3"), &b";id \"x\";"[..])
    );
    for text in ["8/8/8/4k3/8/8/8/4K3 b - -x", "8/8/8/4k3/8/8/8/4K3 b -; -", "8/8/8/4k3/8/8/8/4K3;b - -"] {
        assert!(parse(text.as_bytes(), FenOptions::default()).is_err(), "{text}");
    }
}

#[test]
fn castling_dialects_name_the_same_rooks() {
    let board = "1r2k1rr/8/8/8/8/8/8/RR2K2R w ";
    let read = |rights: &str| Position::from_fen_unvalidated(&format!("{board}{rights} - 0 1")).unwrap();
    assert_eq!(read("KQkq"), read("qkQK"));
    assert_eq!(read("KQkq"), read("HAhb"));
    assert_eq!(read("HAhb").to_string(), format!("{board}KQkq - 0 1"));
    assert_eq!(read("HBgb").to_string(), format!("{board}KBgq - 0 1"));
    assert_eq!(read("KQkq").shredder_fen(), format!("{board}HAhb - 0 1"));
}

#[test]
fn en_passant_is_kept_where_a_capture_is_legal() {
    let keep = FenOptions { keep_en_passant: true };
    let text = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 1";
    let e3 = Some("e3".parse().unwrap());
    let read = parse(text.as_bytes(), FenOptions::default()).unwrap();
    assert_eq!(read.position.en_passant, None);
    assert_eq!(read.written_en_passant, e3);
    assert!(read.dropped_en_passant());
    let read = parse(text.as_bytes(), keep).unwrap();
    assert_eq!(read.position.en_passant, e3);
    assert_eq!(read.position.to_string(), text);
    // Legal; and pinned along the rank, where both pawns leave at once.
    for (text, kept) in [("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1", true), ("8/8/8/K2pP2q/8/8/8/4k3 w - d6 0 1", false)] {
        assert_eq!(Position::from_fen_unvalidated(text).unwrap().en_passant.is_some(), kept, "{text}");
    }
}

#[test]
fn what_is_read_at_once_is_what_is_read_byte_by_byte() {
    let mut random = Random::new(9);
    let mut below = |end: usize| random.below(end as u32) as usize;
    let starts = [Start::Standard, Start::Chess960].map(|start| RandomPlay::new(11, start));
    let positions = starts.into_iter().flat_map(|play| play.take(1500));
    let bytes = b"pnbrqkPNBRQK12345678/ -wbKQkqAHahe36 09;\t\r\0\xFFx";
    let (mut usual, mut errors) = (0, 0);
    for played in positions {
        let plain = match below(3) {
            0 => played.position.shredder_fen(),
            _ => played.position.to_string(),
        };
        for changes in [0, 0, 1, 1, 1, 2, 3] {
            let mut line = plain.clone().into_bytes();
            for _ in 0..changes {
                let at = below(line.len());
                match below(5) {
                    0 => line.truncate(at + 1),
                    1 => line.insert(at, bytes[below(bytes.len())]),
                    2 if line.len() > 1 => {
                        line.remove(at);
                    }
                    3 => {
                        let end = at + below(line.len() - at);
                        line.extend_from_within(at..end);
                    }
                    _ => line[at] = bytes[below(bytes.len())],
                }
            }
            let text = String::from_utf8_lossy(&line).into_owned();
            let options = FenOptions { keep_en_passant: below(2) == 0 };
            let expected = parse_slowly(&line, options);
            errors += usize::from(expected.is_err());
            assert_eq!(parse(&line, options), expected, "{text:?}");
            // The same line with others behind it.
            let len = line.len();
            let others = [&b"\n"[..], b" ", b"8/8/8/8 w - - 0 1\n", &[b' '; 100]];
            let mut longer = line.clone();
            longer.extend_from_slice(others[below(others.len())]);
            longer.extend_from_slice(plain.repeat(2).as_bytes());
            assert_eq!(parse_in(&longer, len, options), expected, "{text:?}");
            if let Some(coded) = parse_usual(&longer, len) {
                let expected = expected.unwrap();
                assert_eq!(Position::from(&coded), expected.position, "{text:?}");
                assert!(expected.rest.is_empty() && !expected.dropped_en_passant());
                usual += 1;
            }
        }
    }
    assert!(errors > 1000);
    let has_vectors = RankText::detect().is_some();
    assert!(usual > 1000 || !has_vectors);
}
