//! Tests that scanning a main line gives the same records as reading it token by token, and that lost text is never
//! overlooked.

use super::super::records::Requested;
use super::*;
use crate::formats::UnstoredTags;
use crate::formats::pgn::unstored_text;
use crate::table::Fields;
use proptest::prelude::*;

/// Everything read from a text, with main lines scanned or token by token.
fn read(text: &[u8], quick: bool) -> String {
    let requested = Requested {
        moves: true,
        plies: true,
        scores: true,
        clocks: true,
        pseudo_en_passants: true,
        texts: true,
        ..Requested::default()
    };
    let mut records = Records::new(requested, 0);
    let mut games = Games::new(text, false, false);
    games.quick = quick;
    let mut read = String::new();
    while let Some(game) = games.next(&mut records) {
        let Game { start, end, plies, .. } = game;
        let mut lost = UnstoredTags::default();
        let up_to = game.bad.as_ref().map_or(end, |bad| bad.offset.min(end));
        unstored_text::count(text, start + game.tags.len()..up_to, false, &mut lost);
        assert!(lost.is_empty() || records.may_lose_text(), "{lost} in {}", String::from_utf8_lossy(text));
        let unread = records.take_unread();
        read += &format!("{} {:?} {}; ", unread.count, unread.first, records.may_lose_text());
        let last = game.last.map(|last| last.to_string());
        let (bad, outcome) = (game.bad, game.outcome);
        read += &format!("{start}..{end} {plies} {outcome:?} {last:?} {bad:?}\n");
    }
    let batch = records.into_batch(Fields::ALL);
    for row in 0..batch.len() {
        let position = batch.position(row).map(|position| position.to_string());
        read += &format!("{position:?}");
        for values in batch.fields.values() {
            read += &format!(" {:?}", values.number(row));
        }
        read.push('\n');
    }
    read
}

/// Everything that the tags of the games of a text say.
fn tags_of(text: &[u8], at_once: bool) -> Vec<String> {
    let mut records = Records::new(Requested::default(), 0);
    let mut games = Games::new(text, false, false);
    let mut found = Vec::new();
    while let Some(game) = games.next(&mut records) {
        let tags = &game.tags;
        let known = ["Event", "Site", "White", "WhiteElo", "WhiteRatingDiff", "FEN", "Unknown", "Result"];
        let values = known.map(|name| tags.get(name));
        let all: Vec<_> = tags.pairs().collect();
        let rest = (tags.unread_variants(), tags.ignored(), tags.has_doubled(), tags.lacks_fen(), tags.has_comments());
        found.push(format!("{} {} {values:?} {all:?} {rest:?} {:?}", game.start, game.end, game.bad));
        if !at_once {
            // Nothing is known of the games before.
            games.usual_names = tags::UsualNames::default();
        }
    }
    found
}

/// What is known of the names of earlier games changes nothing.
#[test]
fn expected_names_of_tags_change_nothing() {
    let usual: [&[&str]; 4] = [
        &["Event", "Site", "White", "WhiteElo", "Result"],
        &["Event", "White", "WhiteRatingDiff", "FideIdOfThePlayer", "Result"],
        &["Site", "White", "FEN", "SetUp"],
        &["Event", "White", "whiteelo", "Unknown"],
    ];
    let odd_lines = [
        "[Event \"x\"]\n",
        "\n",
        "\n\n",
        "[White \"a\"][Black \"b\"]\n",
        "{text}\n",
        "; text\n",
        "% text\n",
        "[Fen \"x\"]\n",
        "[WhiteElo\t\"1\"]\n",
        "[WhiteElo \"2\"]\r\n",
        "[Site \"open\n",
        "[Site \"a\" ] \n",
        "[Site]\n",
        " [Site \"s\"]\n",
        "[Result \"1-0\"] 1. e4\n",
        "1. e4 e5\n",
    ];
    let mut random = crate::chess::random::Random::new(11);
    let mut below = |bound: usize| random.below(bound as u32) as usize;
    for round in 0..3_000 {
        let mut text = String::new();
        let mut names = usual[below(usual.len())];
        for _ in 0..8 {
            if below(4) == 0 {
                names = usual[below(usual.len())];
            }
            let end = if below(8) == 0 { "\r\n" } else { "\n" };
            for name in names {
                if below(12) == 0 {
                    text += odd_lines[below(odd_lines.len())];
                }
                let value =
                    ["1", "", "a [b", "a \\\"b", "long value that does not fit into a vector of bytes"][below(5)];
                let value = if *name == "FEN" { "4k3/8/8/8/8/8/8/4K2R w K - 0 1" } else { value };
                if below(24) > 0 {
                    text += &format!("[{name} \"{value}\"]{end}");
                }
            }
            text += [end, "", "\n\n"][if below(10) == 0 { below(3) } else { 0 }];
            text += ["1. Kd2 *\n\n", "1. e4 e5 1-0\n\n", "*\n\n", "\n"][below(4)];
        }
        if round % 3 == 0 {
            text.truncate(below(text.len()));
        }
        assert_eq!(tags_of(text.as_bytes(), true), tags_of(text.as_bytes(), false), "{text}");
    }
}

/// A game whose moves are all legal in this order.
const MOVES: [&str; 24] = [
    "e4", "e5", "Nf3", "Nc6", "Bb5", "a6", "Ba4", "Nf6", "O-O", "Be7", "Re1", "b5", "Bb3", "d6", "c3", "O-O", "h3",
    "Nb8", "d4", "Nbd7", "c4", "c6", "cxb5", "axb5",
];
const USUAL: [&str; 8] = [
    " ",
    "\n",
    " { [%eval 0.17] [%clk 0:05:00] } ",
    " { [%clk 0:05:00] } 1... ",
    " 12. ",
    "! ",
    " 3.",
    "{a comment that is longer than one block of sixty-four bytes, which is where scans are cut}",
];
const ODD: [&str; 73] = [
    "{[%}",
    "{x%}",
    "{[x]}",
    "{%%}",
    "{   }",
    "{x%[%clk 0:05:00]}",
    "{[%clk 0:05:00] x] [%clk 0:05:00]}",
    "{ [%eval 0.17]. }",
    "{+0.35/12 1s}",
    " {  -0.31/13 0.5s } ",
    " { +0,40/10 1:05} ",
    "{(Nf3) +0.12/9 1}",
    "{−0.5}",
    "{.5/3}",
    "{?}",
    "{ +0.60/4 pawns up}",
    "{e4 +0.35/12}",
    "{\n-0.31/13 0.5s }",
    "{[%EVAL 0.3]}",
    "{[%eval M3] [%Eval x]}",
    "{[%csl Ga1]}",
    " {  [%clk 0:01:00] [%emt 0:00:01]}",
    "{ % }",
    "(",
    ")",
    " (e4 e5) ",
    "$1 ",
    " $14",
    "+",
    "#",
    "!?",
    " 1-0 ",
    " 0-1",
    " *",
    " 1/2-1/2 ",
    "\n\n",
    "\n%escape\n",
    " ;rest of line\n",
    "\n[Event \"x\"]\n\n",
    "{",
    "}",
    "{two\nlines}",
    " {lost\n\n[Event \"y\"]\n\n",
    " 0-0 ",
    " e.p. ",
    " -- ",
    " 12abc",
    ".",
    "..",
    "-",
    " =",
    " e8=Q ",
    "\u{a0}",
    " Nbxd7",
    " {[%eval #3]",
    " {[%eval [%eval 2.5] [%e",
    "[%clk 1",
    " {[%clk\n0:01:00]}",
    " {[%clk  0:01:00] [%clk 0:02:00]}",
    " {[%eval\t0.3] [%eval #-2]}",
    " {[%eval\r\n #3,\n20]}",
    "\t",
    "\n\n1. d4 ",
    "\n1. d4 ",
    "\r\n \r\n1.e4 e5",
    "\n 5. ",
    " 0000 ",
    " null",
    "-----",
    " e41-0 ",
    " 0-01-0",
    " Nf3ch ",
    " e9",
];

proptest! {
    #[test]
    fn scanned_lines_are_read_like_tokens(
        picks in prop::collection::vec((0..100u8, any::<prop::sample::Index>()), 0..80)
    ) {
        let mut moves = MOVES.iter();
        let mut text = String::new();
        for (kind, index) in picks {
            text += match kind {
                0..8 => *index.get(&ODD),
                8..12 => *index.get(&MOVES),
                _ => moves.next().copied().unwrap_or(" "),
            };
            text += if kind % 10 == 0 { "" } else { *index.get(&USUAL) };
        }
        prop_assert_eq!(read(text.as_bytes(), true), read(text.as_bytes(), false), "{}", text);
    }
}

/// Games with nothing but moves, scores and clocks do not get the second look for lost text, wherever blocks end and
/// whichever moves are left to the slow path.
#[test]
fn plain_games_need_no_second_look() {
    let requested = Requested { scores: true, clocks: true, texts: true, ..Requested::default() };
    let mut moves = String::new();
    for (ply, san) in MOVES.iter().enumerate() {
        let odd = if ply % 5 == 3 { "!?+" } else { "" };
        moves += &format!("{}. {san}{odd} {{ [%eval 0.{ply:02}] [%clk 0:05:{ply:02}] }} ", ply / 2 + 1);
        moves += if ply % 7 == 3 { "{\n[%eval #-3]\r\n[%clk 1:00:00.5]\n} e.p. \n" } else { "" };
    }
    for blanks in 0..130 {
        let blanks = " ".repeat(blanks);
        for (more, expected) in [("", false), ("{x}", true), ("{[%eval 1,2]}", true), ("$1", true), ("; x\n", true)] {
            let text = format!("[Event \"x\"]\n\n{blanks}{moves}{more} 1-0\n\n");
            for quick in [true, false] {
                let mut records = Records::new(requested, 0);
                let mut games = Games::new(text.as_bytes(), false, false);
                games.quick = quick;
                let game = games.next(&mut records).unwrap();
                assert_eq!((game.plies as usize, game.bad), (MOVES.len(), None));
                assert_eq!(records.may_lose_text(), expected, "{more} {} {quick}", blanks.len());
            }
        }
    }
}

/// Comments between the tags and the moves get the second look for lost text, too.
#[test]
fn comments_behind_tags_are_not_overlooked() {
    for comment in [";rest of line\n", " ;rest of line\n\n", "{a comment}\n", "{a\n\ncomment} ;rest\n"] {
        for text in [format!("[Event \"x\"]\n\n{comment}1. e4 *\n"), format!("[Event \"x\"]\n{comment}")] {
            assert_eq!(read(text.as_bytes(), true), read(text.as_bytes(), false), "{text}");
            let mut lost = UnstoredTags::default();
            unstored_text::count(text.as_bytes(), text.find(']').unwrap() + 1..text.len(), false, &mut lost);
            assert!(!lost.is_empty(), "{text}");
        }
    }
}
