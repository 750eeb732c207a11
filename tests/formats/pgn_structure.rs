//! The structure of PGN: which text is a game, where games begin, unusual tokens, limits, and that the running time is
//! linear in the size of the input.

use crate::support::Random;
use lanefish::choose::GameFilter;
use lanefish::formats::pgn::boundary;
use lanefish::formats::{Chunk, DecodeOptions, Decoded, Format};
use lanefish::table::{Field, Fields};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

fn options() -> DecodeOptions {
    DecodeOptions::default().fields(Fields::ALL)
}

fn decode_with(text: &[u8], options: &DecodeOptions) -> Decoded {
    let chunk = Chunk::new(Arc::from(Path::new("games.pgn")), text.to_vec().into());
    Format::PGN.decode(&chunk, options)
}

fn decode(text: &[u8]) -> Decoded {
    decode_with(text, &options())
}

fn positions(decoded: &Decoded) -> Vec<String> {
    let batches = decoded.batches.iter();
    batches.flat_map(|batch| (0..batch.len()).map(|row| batch.position(row).unwrap().to_string())).collect()
}

fn reasons(decoded: &Decoded) -> Vec<&'static str> {
    let rejects = decoded.rejects.iter();
    rejects.flat_map(|reject| reject.reasons.clone()).collect()
}

/// Games, positions and the reasons of rejects.
fn outcome(text: &[u8]) -> (u64, usize, Vec<&'static str>) {
    let decoded = decode(text);
    let count = positions(&decoded).len();
    assert_eq!(decoded.records, (count + decoded.rejects.len()) as u64, "{:?}", String::from_utf8_lossy(text));
    (decoded.games, count, reasons(&decoded))
}

#[test]
fn text_after_a_result_is_not_a_game() {
    for (text, games, positions) in [
        ("[Event \"x\"]\n\n1. e4 e5 1-0 (2. d4)\n", 1, 3),
        ("[Event \"x\"]\n\n1. e4 e5 1-0\n\n1-0\n", 1, 3),
        ("[Event \"x\"]\n\n1. e4 e5 1/2 - 1/2\n\n[Event \"y\"]\n\n1. d4 1-0\n", 2, 5),
        ("[Event \"x\"]\n\n1. e4 e5 1-0 ! $4 ) } +- {good}\n\n3.\n", 1, 3),
        ("1. e4 e5 1-0\n1. d4 *\n*\n( )\n1-0", 2, 5),
        ("*", 0, 0),
        ("{nothing} 12... $5 (1. e4 e5) 0-1\n", 0, 0),
        // Tags without moves are a game.
        ("[Event \"x\"]\n", 1, 1),
        ("[Event \"x\"]\n\n1-0\n\n1-0\n", 1, 1),
    ] {
        assert_eq!(outcome(text.as_bytes()), (games, positions, vec![]), "{text}");
    }
    // A truncated tag at the end of the text is not.
    let text = b"[Event \"x\"]\n\n1. e4 *\n\n[Event \"y\"]\n[White \"Kasp";
    assert_eq!(outcome(text), (2, 3, vec!["open_tag"]));
    // Neither is a variation, even if variations are read.
    let with_variations = options().games(Some(Arc::new(GameFilter::default().variations(true))));
    let decoded = decode_with(b"1. e4 e5 1-0 (2. d4)\n", &with_variations);
    assert_eq!((decoded.games, decoded.records), (1, 3));
    let broken = outcome(b"1. e4 e5 1-0 (2. d4\n");
    assert_eq!(broken, (1, 3, vec!["open_variation"]));
}

#[test]
fn moves_after_a_result_are_not_played_from_the_start_position() {
    let text = b"[Event \"x\"]\n\n1. e4 e5 1-0 2. Nf3 Nc6\n\n[Event \"y\"]\n\n1. d4 *\n";
    let decoded = decode(text);
    assert_eq!((decoded.games, positions(&decoded).len()), (2, 5));
    let reject = &decoded.rejects[0];
    assert_eq!(reject.reasons, ["moves_after_result"]);
    assert_eq!(reject.message, "the moves begin with number 2, and there is no FEN tag with the position before them");
    assert_eq!(reject.raw, b"2. Nf3 Nc6");
    let place = &reject.place;
    assert_eq!((place.line, place.offset, place.record), (Some(3), 29, 3));
    assert_eq!((place.game, place.ply), (None, Some(0)));
    for (text, reason) in [
        ("7. Nf3 Nc6 *\n", "moves_after_result"),
        ("1... Nf3 *\n", "moves_after_result"),
        ("1. ... Nf3 *\n", "moves_after_result"),
        ("1\u{2026} Nf3 *\n", "moves_after_result"),
    ] {
        assert_eq!(outcome(text.as_bytes()), (0, 0, vec![reason]), "{text}");
    }
    // Four games without tags, each from the start position.
    assert_eq!(outcome(b"1. e4 1-0 1. d4 0-1 e4 e5 * 1 c4 *"), (4, 9, vec![]));
    // The FEN tag sets the position.
    let tagged = b"[FEN \"4k3/8/8/8/8/8/8/4K2R w - - 0 30\"]\n\n30. Rh2 Kd7 *\n";
    assert_eq!(outcome(tagged), (1, 3, vec![]));
    assert_eq!(outcome(b"[Event \"x\"]\n\n2. e4 e5 *\n"), (1, 3, vec![]));
}

#[test]
fn games_are_separated_without_an_event_tag_or_any_tags() {
    for (text, games, positions) in [
        (
            "[Event \"x\"]\n[Round \"1\"]\n[White \"a\"]\n\n[Round \"2\"]\n[White \"b\"]\n\n\
             [Round \"3\"]\n[White \"c\"]\n\n",
            3,
            3,
        ),
        // The repeated name is not the first of its section.
        ("[White \"a\"]\n[Black \"b\"]\n\n[Date \"?\"]\n[White \"c\"]\n\n1. e4 *\n", 2, 3),
        // One game with an empty line, or two, between its tags.
        ("[Event \"x\"]\n\n[Date \"?\"]\n[White \"a\"]\n\n1. e4 *\n", 1, 2),
        ("[Event \"x\"]\r\n\r\n[Date \"?\"]\r\n\r\n[White \"a\"]\r\n\r\n1. e4 *\r\n", 1, 2),
        // Repeated within one section.
        ("[White \"x\"]\n[White \"a\"]\n\n1. e4 *\n", 1, 2),
        ("1. e4 e5\n\n1. d4 d5\n\n1. c4\n", 3, 8),
        ("1. e4 e5\r\n\r\n1. d4 d5\r\n \r\n1.c4\r\n", 3, 8),
        ("[Event \"x\"]\n\n1. e4 e5\n\n1. d4 d5 *\n", 2, 6),
        // An empty line within a game, followed by a later move number or one of Black.
        ("1. e4 e5\n\n2. d4 d5\n\n3. c4\n", 1, 6),
        ("1. e4\n\n1... e5 (1... c5\n\n2. d4) 2. d4\n", 1, 4),
        ("1. e4 {so}\n\n1... e5\n1. d4\n", 1, 4),
        // Separated by the result.
        ("1. e4 (1. d4 1-0\n1. c4 c5 1-0\n", 2, 5),
    ] {
        let (found, count, reasons) = outcome(text.as_bytes());
        assert_eq!((found, count), (games, positions), "{text}: {reasons:?}");
    }
    assert_eq!(outcome(b"1. e4 (1. d4 1-0\n1. c4 c5 1-0\n").2, ["open_variation"]);
}

/// `@` is the last place where the text may be cut; without `@` there is none after the first byte.
#[test]
fn texts_are_cut_only_where_games_begin() {
    for text in [
        "[Event \"x\"]\n\n1. e4\n\n@[Event \"y\"]\n",
        "[Event \"x\"]\n\n1. e4\n@[Event \"y\"]\n",
        "[Event \"x\"]\n\n@[Event \"y\"]\n",
        "[Event \"x\"]\n[Event \"y\"]\n",
        "[White \"x\"]\n\n1. e4 1-0\n\n@[White \"y\"]\n",
        "[White \"x\"]\n\n1. e4 1-0\r\n \r\n@[Black \"y\"]\n",
        "[White \"x\"]\n\n1. e4 1-0\n[White \"y\"]\n",
        "[White \"x\"]\n\n1. e4\n\n[White \"y\"]\n",
        "[White \"x\"]\n[Black \"x\"]\n\n@[White \"y\"]\n",
        "[White \"x\"]\n[Black \"x\"]\n\n[Black \"y\"]\n",
        "[White \"x\"]\n[White \"y\"]\n",
        "1. e4 1-0\n@1. d4 *\n",
        "1. e4 1-0\n1. *\n",
        "1. e4\n1. d4 *\n",
        "1. e4 ; 1-0\n1. d4 *\n",
        "1. e4 {a\n\n[Event \"y\"]\n} *\n",
    ] {
        let expected = text.find('@');
        let bytes = text.replace('@', "").into_bytes();
        assert_eq!(boundary(&bytes, bytes.len(), true), expected, "{text}");
    }
}

#[test]
fn text_outside_of_games_is_one_reject_without_a_position() {
    let game = "[Event \"x\"]\n\n1. e4 e5 1-0\n";
    for (text, reason) in [
        ("Dear all,\nhere are the games.\n\n", "bad_token"),
        ("Dear all,\nhe won 1-0 and 0-1, see *.\n", "bad_token"),
        ("<html>\n<body style=\"x\">\n<p>Games 1-0:</p>\n\n", "bad_token"),
        ("[see below]\n\n", "bad_token"),
        ("{never closed\n", "open_comment"),
        ("\u{fc}ber alles\n", "bad_token"),
    ] {
        let whole = format!("{text}{game}");
        assert_eq!(outcome(whole.as_bytes()), (1, 3, vec![reason]), "{whole}");
    }
    let decoded = decode(b"Dear all,\nhere are the games.\n\n[Event \"x\"]\n\n1. e4 e5 1-0\n");
    let reject = &decoded.rejects[0];
    assert_eq!(reject.message, "unexpected token `Dear`");
    assert_eq!(reject.raw, b"Dear all,\nhere are the games.");
    // Games without tags after it, and a bad one.
    assert_eq!(outcome(b"My games\n1. e4 e5 1-0\n\n1. d4 *\n"), (2, 5, vec!["bad_token"]));
    assert_eq!(outcome(b"1. Ke3 e5 1-0\n1. d4 *\n"), (2, 2, vec!["illegal_move"]));
    // If the first tag is damaged, the game begins at the next one, unless a comment swallows it.
    assert_eq!(
        outcome(b"{Event \"x\"]\n[Site \"y\"]\n\n1. e4 e5 1-0\n\n[Event \"z\"]\n\n1. d4 *\n"),
        (1, 2, vec!["open_comment"])
    );
    assert_eq!(
        outcome(b"kEvent \"x\"]\n[Site \"y\"]\n\n1. e4 e5 1-0\n\n[Event \"z\"]\n\n1. d4 *\n"),
        (2, 5, vec!["bad_token"])
    );
}

#[test]
fn utf_16_is_reported() {
    let game = "[Event \"x\"]\r\n\r\n1. e4 e5 1-0\r\n\r\n[Event \"y\"]\r\n\r\n1. e4 *\r\n";
    for bom in ["", "\u{FEFF}"] {
        let text = format!("{bom}{game}");
        let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        for text in [little, big] {
            let decoded = decode(&text);
            assert_eq!((decoded.games, decoded.records), (0, 1));
            assert_eq!(reasons(&decoded), ["utf16"]);
            assert!(decoded.rejects[0].message.contains("convert it to UTF-8"));
        }
    }
}

fn game(moves: &str) -> String {
    format!("[Event \"?\"]\n\n{moves}\n")
}

fn strict() -> DecodeOptions {
    options().strict_pgn(true)
}

#[test]
fn unusual_tokens_of_real_files() {
    let plain = positions(&decode(game("1. e4 e5 2. Nf3 Nc6 1-0").as_bytes()));
    for moves in [
        "1. e4 e5 2. Nf3 Nc61-0",
        "1. e4 e5 2. Nf3 Nc6+1-0",
        "1. e4 } e5 2. Nf3 Nc6 1-0",
        "1. e4 e5 ch 2. Nf3 mate Nc6 dis+ 1-0",
        "1. e4 e5ch 2. Nf3mate Nc6dis+ 1-0",
        "1. e4 e5 dbl.ch 2. Nf3++ Nc6 ++ ch. 1-0",
        "1. e4 +- e5 -+ 2. Nf3 = Nc6 ~ 1-0",
        "1. e4+- e5-+ 2. Nf3= Nc6+/= 1-0",
        "1. e4 \u{b1} e5\u{2a72} 2. Nf3 \u{221e}\u{25a1} Nc6 \u{22a5} \u{2192} \u{203c} 1-0",
        "1. e4 N e5 D 2. Nf3 #D Nc6 TN 1-0",
        "1. e4\u{a0}e5 2.\u{a0}Nf3\u{2009}Nc6\u{202f}1-0",
        "1. e4 \u{2013} e5 \u{200b}2. Nf3\u{2026} Nc6 \u{d7} 1-0",
    ] {
        let text = game(moves);
        let decoded = decode(text.as_bytes());
        assert_eq!(positions(&decoded), plain, "{moves}: {:?}", decoded.rejects);
        assert_eq!(decoded.rejects.len(), 0, "{moves}");
        let result = decoded.batches[0].values(Field::Result).unwrap();
        assert_eq!(result.number(0), Some(2), "{moves}");
        let decoded = decode_with(text.as_bytes(), &strict());
        assert_eq!(reasons(&decoded), ["bad_token"], "{moves}");
    }
    for moves in [
        "1. e4 - e5 2. Nf3 Nc6 1-0",
        "1. e4 = e5 2. Nf3 Nc6 1-0",
        "1. e4 e5 2. Nf3 Nc6 \u{bd}-\u{bd}",
        "1. e4 e5 2. Nf3 Nc6 1/2",
    ] {
        let text = game(moves);
        assert_eq!(positions(&decode(text.as_bytes())), plain, "{moves}");
        let decoded = decode_with(text.as_bytes(), &strict());
        assert_eq!(reasons(&decoded), ["bad_token"], "{moves}");
    }
    // ISO-8859-1.
    let latin = b"[Event \"?\"]\n\n1. e4\xA0e5 \xB1 2. Nf3 Nc6 1-0\n";
    assert_eq!(positions(&decode(latin)), plain);
    for moves in ["1. e4 e5 2. Nf3 Nc6 1-0", "1 e4! e5 $2 2 Nf3 {x} Nc6?! 1-0"] {
        let decoded = decode_with(game(moves).as_bytes(), &strict());
        assert_eq!((positions(&decoded), decoded.rejects.len()), (plain.clone(), 0));
    }
}

#[test]
fn results_in_every_notation() {
    for (moves, result) in [
        ("1. e4 \u{bd}-\u{bd}", Some(1)),
        ("1. e4 1/2", Some(1)),
        ("1. e41/2-1/2", Some(1)),
        ("1. e40-1", Some(0)),
        ("1. e4*", None),
        ("1. Nf3 Nf6 2. g3 g6 3. Bg2 Bg7 4. 0-01-0", Some(2)),
        ("1. Nf3 Nf6 2. g3 g6 3. Bg2 Bg7 4. O-O0-1", Some(0)),
        ("1. e4 {x} e5 Kxx Nf30-1", Some(0)),
    ] {
        let text = game(moves) + "1. d4 *";
        let decoded = decode(text.as_bytes());
        assert_eq!(decoded.games, 2, "{moves}");
        let results = decoded.batches[0].values(Field::Result);
        assert_eq!(results.and_then(|results| results.number(0)), result, "{moves}");
    }
    let latin = decode(b"[Event \"?\"]\n\n1. e4 \xBD-\xBD\n");
    assert_eq!(latin.batches[0].values(Field::Result).unwrap().number(0), Some(1));
}

#[test]
fn null_moves_in_every_notation() {
    let plain = positions(&decode(game("1. e4 -- 2. d4").as_bytes()));
    assert!(plain[2].contains(" w KQkq - 1 2"));
    for null in ["Z0", "0000", "@@@@", "null", "pass", "--"] {
        let text = game(&format!("1. e4 {null} 2. d4"));
        assert_eq!(positions(&decode(text.as_bytes())), plain, "{null}");
        let strict = decode_with(text.as_bytes(), &strict());
        assert_eq!(reasons(&strict), ["bad_token"], "{null}");
    }
}

/// In truncated input the last game is complete only if it has its result and a line end.
#[test]
fn a_truncated_game_is_a_reject() {
    let truncated = |text: &str, max_record: usize| {
        let chunk = Chunk::new(Path::new("x").into(), text.as_bytes().to_vec().into()).truncated(true);
        let options = options().max_record(max_record);
        let decoded = Format::PGN.decode(&chunk, &options);
        (positions(&decoded).len(), reasons(&decoded))
    };
    for (moves, records, expected) in [
        ("1. e4 e5 1-0\n", 3, &[][..]),
        ("1. e4 e5 *\r\n", 3, &[]),
        ("1. e4 e5 1-0", 0, &["cut_off"]),
        ("1. e4 e5\n", 0, &["cut_off"]),
        ("1. e4 e", 0, &["cut_off"]),
    ] {
        let text = format!("[Event \"x\"]\n\n{moves}");
        assert_eq!(truncated(&text, 1000), (records, expected.to_vec()), "{moves}");
        let two = format!("[Event \"x\"]\n\n1. d4 *\n\n{text}");
        assert_eq!(truncated(&two, 1000), (2 + records, expected.to_vec()), "{moves}");
    }
    let (_, reasons) = truncated(&game(&"1. Nf3 Nf6 2. Ng1 Ng8 ".repeat(100)), 1000);
    assert_eq!(reasons, ["record_too_long"]);
}

#[test]
fn variation_depth_and_game_length_are_limited() {
    let deep = |depth: usize| {
        let inner = "(1. e4 ".repeat(depth) + &")".repeat(depth);
        game(&format!("1. e4 {inner} e5 *"))
    };
    for variations in [false, true] {
        let options = options().games(Some(Arc::new(GameFilter::default().variations(variations))));
        let decoded = decode_with(deep(1000).as_bytes(), &options);
        assert_eq!(reasons(&decoded), Vec::<&str>::new());
        let decoded = decode_with(deep(1001).as_bytes(), &options);
        assert_eq!(reasons(&decoded), ["variation_too_deep"]);
    }
    let shuffle = "Nf3 Nf6 Ng1 Ng8 ";
    let moves = |plies: usize| game(&format!("{} *", &shuffle.repeat(20_000)[..4 * plies]));
    assert_eq!(outcome(moves(65_535).as_bytes()), (1, 65_536, vec![]));
    assert_eq!(outcome(moves(65_536).as_bytes()), (1, 65_536, vec!["too_many_moves"]));
    assert_eq!(outcome(moves(70_000).as_bytes()).2, ["too_many_moves"]);
}

#[test]
fn a_game_that_is_too_long_is_one_reject() {
    let limited = options().max_record(200_000);
    let small = game("1. e4 e5 1-0");
    let giant = game(&format!("1. d4 {} *", "{a long comment} ".repeat(20_000)));
    // A game of exactly the maximum length.
    let fill = 200_000 - game("1. d4  *").len();
    let longest = game(&format!("1. d4 {} *", " ".repeat(fill)));
    let text = format!("{small}\n{longest}\n{giant}\nc4 *\n\n{small}\n{small}");
    let decoded = decode_with(text.as_bytes(), &limited);
    assert_eq!(reasons(&decoded), ["record_too_long"]);
    // The reject ends where a game begins in any context.
    assert_eq!((decoded.games, positions(&decoded).len()), (5, 3 + 2 + 3 + 3));
    let reject = &decoded.rejects[0];
    assert_eq!(reject.message, "longer than 200000 bytes; --max-record SIZE sets the limit");
    assert_eq!(reject.raw.len(), 4096);
    let place = &reject.place;
    assert_eq!(place.offset as usize, text.find(&giant).unwrap());
    assert_eq!((place.game, place.ply, place.record), (Some(2), Some(0), 5));
    // If no other game follows, it ends with the text.
    let decoded = decode_with(giant.as_bytes(), &limited);
    assert_eq!((decoded.games, decoded.records), (1, 1));
    // Any kind of content.
    for giant in [
        "1. e4 e5 ".to_owned() + &"\n".repeat(300_000),
        "x".repeat(300_000),
        "(".repeat(300_000),
        "[A \"b\"]\n".repeat(50_000),
        "{".to_owned() + &"x".repeat(300_000) + "}",
        "1. e4 ".to_owned() + &"Nf6 Nf3 Ng8 Ng1 ".repeat(30_000),
    ] {
        let text = format!("{giant}\n\n{small}");
        let decoded = decode_with(text.as_bytes(), &limited);
        assert_eq!(reasons(&decoded)[0], "record_too_long");
        assert_eq!(positions(&decoded).len(), 3, "{}", &giant[..20]);
    }
}

/// Fragments that matter to the structure of a text.
const PIECES: [&str; 34] = [
    "\n\n[Event \"x\"]\n\n",
    "{",
    "}",
    " 1. e4 e5 ",
    "; {\n",
    "\n% }\n",
    "*",
    "(",
    ")",
    "\r\n\r\n[Event \"y\"]\r\n",
    "[Site \"}{\"]\n",
    "\n[Event \"z\"]\n",
    " 1-0\n\n[White \"w\"]\n",
    "\n[White \"v\"]\n\n",
    "\n  \n",
    " *\n",
    "garbage",
    "\n\n1. d4 d5 ",
    "\n1. c4 ",
    " 1-0\n1. e4 ",
    "1/2-1/2\n\n1. Nf3 Nf6 ",
    " 2. d4",
    "\n\n[White \"a\"]\n[Black \"b\"]\n",
    "\n\n[Date \"d\"]\n[White \"c\"]\n",
    "\u{FEFF}[Site \"s\"]\n",
    " 1-0 [Round \"r\"]\n",
    "{c} [Round \"r\"] ",
    "\x1A",
    "kEvent \"x\"]\n",
    "[no tag]\n",
    " 0-1;\n",
    "e41-0\n",
    "\n\n\n",
    "\t",
];

fn pieces(random: &mut Random, count: u64) -> String {
    (0..count).map(|_| PIECES[random.below(PIECES.len() as u64) as usize]).collect()
}

/// All positions and rejects, with offsets from the start of the text.
fn read(text: &[u8], offset: usize, options: &DecodeOptions) -> Vec<String> {
    let decoded = decode_with(text, options);
    let mut read = positions(&decoded);
    read.extend(decoded.rejects.iter().map(|reject| {
        let at = reject.place.offset as usize + offset;
        format!("{at} {} {:?}", reject.message, reject.raw)
    }));
    read.sort();
    read
}

#[test]
fn parts_decode_like_the_whole_wherever_it_is_cut() {
    let mut random = Random::new(8);
    for round in 0..1500 {
        let count = 10 + random.below(40);
        let text = pieces(&mut random, count);
        let text = text.as_bytes();
        let whole = read(text, 0, &options());
        let mut limit = text.len();
        while let Some(cut) = boundary(text, limit, true) {
            let (before, after) = text.split_at(cut);
            let mut parts = read(before, 0, &options());
            parts.extend(read(after, cut, &options()));
            parts.sort();
            assert!(
                parts == whole,
                "round {round}, cut at {cut}: {:?}\n{parts:#?}\n{whole:#?}",
                String::from_utf8_lossy(text)
            );
            limit = cut - 1;
        }
    }
}

#[test]
fn no_text_is_lost_silently_or_counted_twice() {
    let mut random = Random::new(9);
    for _ in 0..500 {
        let text = pieces(&mut random, 30);
        let decoded = decode(text.as_bytes());
        let count = positions(&decoded).len();
        assert_eq!(decoded.records, (count + decoded.rejects.len()) as u64);
        // A limit does not affect games below it.
        let limited = options().max_record(text.len());
        assert_eq!(read(text.as_bytes(), 0, &limited), read(text.as_bytes(), 0, &options()));
        // With a small limit all records are still accounted for.
        let limited = options().max_record(40);
        let decoded = decode_with(text.as_bytes(), &limited);
        assert_eq!(decoded.records, (positions(&decoded).len() + decoded.rejects.len()) as u64);
    }
}

/// Texts that could make a reader scan the same bytes again and again: a prefix, and a unit that is repeated.
const ADVERSE: [(&str, &str); 62] = [
    ("", "("),
    ("", ")"),
    ("", "{"),
    ("", "}"),
    ("", "["),
    ("", "]"),
    ("", "\""),
    ("", ";"),
    ("", "%"),
    ("", "\n"),
    ("", " "),
    ("", "\n\n"),
    ("", "\r\n"),
    ("", "-"),
    ("", "1"),
    ("", "1."),
    ("", "1.\n\n"),
    ("", "0-"),
    ("", "0-0-0"),
    ("", "1-0 "),
    ("", "1-0\n\n1. "),
    ("", "1-0\n1. e4 "),
    ("", "e4"),
    ("", "e4 "),
    ("", "$"),
    ("", "*"),
    ("", "\u{a0}"),
    ("", "e4\u{a0}"),
    ("", "\u{2658}"),
    ("", "\u{2658}f3 "),
    ("", "\0"),
    ("", "[A "),
    ("", "[A]"),
    ("", "[A \"x"),
    ("", "[A \"x\"]"),
    ("", "[A \"x\"] e4 * "),
    ("", "[A \"x\"]\n"),
    ("", "[A \"x\"]\n\n"),
    ("", "[FEN "),
    ("", "[FEN \"x\"]\n"),
    ("", "[Event \"x\"]"),
    ("", "[Event \"x\"]\n"),
    ("", "[Event \"x\"]\n\n"),
    ("", "[Event "),
    ("", "[Event\n"),
    ("", "{\n[Event \""),
    ("", "{\n\n[Event \"x\"]\n\n"),
    ("", "{}\n\n[Event \"x\"]\n\n"),
    ("", "\n%"),
    ("", "% ["),
    ("", ";["),
    ("", "x\n["),
    ("[Event \"x\"]\n\n1. e4 {", "[%"),
    ("[Event \"x\"]\n\n1. e4 {", "[%clk "),
    ("[Event \"x\"]\n\n1. e4 {\n", "[%eval "),
    ("[Event \"x\"]\n\n1. e4 {", "\n\n[Event \""),
    ("[Event \"x\"]\n\n1. e4 {", "\n\n[White \"x\"]\n 1-0"),
    ("[Event \"x\"]\n\n1. e4 {", "1-0\n\n1. e4 "),
    ("[Event \"x\"]\n\n1. e4 ", "e2e4 {x} "),
    ("[Event \"x\"]\n\n", "-- {[%clk 0:01:00]} "),
    ("[Event \"x\"]\n\n1. e4 ", "(1. d4 "),
    ("x\n", "1. e9\n\n"),
];

/// CPU time of this thread, so that other load on the machine does not count; on systems other than Linux, elapsed
/// time.
fn cpu_time() -> Duration {
    static BEGIN: std::sync::LazyLock<Instant> = std::sync::LazyLock::new(Instant::now);
    std::fs::read_to_string("/proc/thread-self/schedstat")
        .ok()
        .and_then(|text| text.split(' ').next()?.parse().ok())
        .map_or_else(|| BEGIN.elapsed(), Duration::from_nanos)
}

/// The time to decode a text and to search it for boundaries.
fn cost(text: &[u8], options: &DecodeOptions) -> Duration {
    let begin = cpu_time();
    let decoded = decode_with(text, options);
    assert!(decoded.records <= text.len() as u64);
    boundary(text, text.len(), true);
    boundary(text, text.len(), false);
    cpu_time() - begin
}

fn adverse(prefix: &str, unit: &str, len: usize) -> Vec<u8> {
    let mut text = prefix.to_owned() + &unit.repeat(len / unit.len());
    // With a brace at the end, text that looks like a game may be part of a comment.
    text.push('}');
    text.into_bytes()
}

/// The ratio of the times for a text and one four times as long, if it is suspicious: 16 if the time is quadratic;
/// linear time stays well below 9, even on a busy machine.
fn superlinear_ratio(prefix: &str, unit: &str, len: usize, options: &DecodeOptions) -> Option<f64> {
    let mut least = f64::MAX;
    for _ in 0..4 {
        let small = cost(&adverse(prefix, unit, len), options).as_secs_f64();
        let large = cost(&adverse(prefix, unit, 4 * len), options).as_secs_f64();
        // Times below a few milliseconds are noise.
        least = least.min(large / small.max(0.003));
        if least < 9.0 {
            return None;
        }
    }
    Some(least)
}

#[test]
fn decoding_time_is_linear() {
    let games =
        |variations| options().games(Some(Arc::new(GameFilter::default().variations(variations)))).game_rows(true);
    for (prefix, unit) in ADVERSE {
        // Text that looks like a game ends only long comments, so both texts must be long.
        let len = if prefix.contains('{') { 1 << 18 } else { 1 << 16 };
        let ratio = superlinear_ratio(prefix, unit, len, &games(unit.contains('(')));
        assert_eq!(ratio, None, "{prefix:?} {unit:?}");
    }
}

/// Games between distant braces: each possible boundary depends on text far away.
#[test]
fn boundary_search_time_is_linear() {
    let far = format!("}}{}{{", "\n\n[Event \"x\"]\n".repeat(4000));
    let near = format!("{{{}}}", "\n\n[Event \"x\"]\n".repeat(4000));
    for unit in [far, near] {
        assert_eq!(superlinear_ratio("", &unit, 1 << 18, &options()), None);
    }
}
