//! Tests of the whole decoder.

use super::*;
use crate::chess::Position;
use crate::chess::random::Random;
use crate::formats::test_mutations::each_change;
use std::fmt::Write;
use std::path::Path;

/// Short games of random moves, in different styles.
fn games(random: &mut Random) -> String {
    let mut text = String::new();
    for game in 0..12 {
        let mut position = Position::standard();
        match game % 6 {
            4 => {
                let fen = "4k2r/8/8/8/8/8/P7/R3K3 w Qk - 3 20";
                position = Position::from_fen_unvalidated(fen).unwrap();
                writeln!(text, "[Event \"a\"]\n[SetUp \"1\"]\n[FEN \"{fen}\"]\n").unwrap();
            }
            5 => text += "\n",
            _ => writeln!(text, "[Event \"a\"]\n[White \"b\"]\n[Result \"1-0\"]\n").unwrap(),
        }
        for ply in 0..random.below(24) {
            let legal = position.legal_moves();
            let Some(&mv) = legal.get(random.below(legal.len().max(1) as u32) as usize) else { break };
            if ply % 2 == 0 {
                write!(text, "{}. ", 1 + ply / 2).unwrap();
            }
            text += &mv.san(&position);
            position.make(mv);
            text += match game % 6 {
                1 => " { [%eval 0.35] [%clk 0:01:09] }",
                2 => " {-0.12/9 0.5s}",
                3 if ply == 7 => " $1 (1. e4 {no} Nf3)",
                _ => "",
            };
            text.push(if ply % 9 == 8 { '\n' } else { ' ' });
        }
        text += "1-0\n\n";
    }
    text
}

/// Whatever is changed in a text, games played in lanes are those that are played as they are read.
#[test]
fn lanes_find_what_is_found_without_them() {
    let mut random = Random::new(11);
    let some = GameFilter { min_plies: 9, drop_bad_games: true, ..GameFilter::default() };
    let parts = GameFilter::default().first_ply(3).last_ply(Some(17)).every(2);
    let lasts = GameFilter { last_of_games: true, ..GameFilter::default() };
    let options = [
        DecodeOptions { fields: Fields::ALL, lost_tags: true, ..DecodeOptions::default() },
        DecodeOptions { max_record: 300, strict_pgn: true, game_rows: true, ..DecodeOptions::default() },
        DecodeOptions { games: Some(Arc::new(some)), game_rows: true, ..DecodeOptions::default() },
        DecodeOptions { games: Some(Arc::new(parts)), fields: Fields::ALL, ..DecodeOptions::default() },
        DecodeOptions { games: Some(Arc::new(lasts)), game_rows: true, max_record: 200, ..DecodeOptions::default() },
    ];
    let check = |text: &[u8], options: &DecodeOptions| {
        let chunk = Chunk::new(Path::new("x.pgn").into(), text.to_vec().into());
        let [found, expected] = [true, false].map(|lanes| decode_with(&chunk, options, lanes));
        assert_eq!(format!("{found:?}"), format!("{expected:?}"));
        !expected.rejects.is_empty()
    };
    for text in ["[Event \"a\"]\n[White \"b", "[Event \"a\"]\n\n1. e4", "[Event \"a\"]\n\n1. e4 e5 2. Ke2 Ke7 *"] {
        for options in &options {
            check(text.as_bytes(), options);
        }
    }
    let mut with_errors = 0;
    for _ in 0..3 {
        let text = games(&mut random);
        each_change(&text, b" abefhx18NBRQKO-=+#{}()[].;\n\"*$0", &mut random, |changed, _, random| {
            with_errors += usize::from(check(&changed, &options[random.below(5) as usize]));
        });
    }
    assert!(with_errors > 1000, "{with_errors}");
}

/// Words that only the slow path understands lead to the same games in lanes, in one piece and in small ones.
#[test]
fn unusual_words_are_read_alike_in_lanes() {
    let words = [
        "1:0", "0 - 1", "½", "½-½", "1/2-0", "0-½", "0-0", "0–0", "0 - 0", "O–O", "oo", "00", "0-0-0", "5254", "5755",
        "17", "-", "–", "--", "<>", "+--", "--+", "N", "N f3", "N e5", "N f6", "D", "D h4", "D e5", "TN", "+:-",
        "0.5-0.5", ".5-.5", "0-0x", "1.0-0", "N.", "Nf3", "e5", "e4", "2.", "2", "{x}", "$1", "(e5)", "*", "\n",
        "\n\n",
    ];
    let tags = [
        "[Event \"a\"]\n",
        "[Event \"a\"]\n[Result \"0-0\"]\n",
        "[Event \"a\"]\n[RESULT \"1-0\"]\n[White_Elo \"1\"]\n",
        "[Event \"a\nb\"]\n[Result \"1/2-0\"]\n",
        "[Event \"a\"]\n[Fen \"4k2r/8/8/8/8/8/P7/R3K3 w Qk - 3 20\"]\n",
        "",
    ];
    let mut random = Random::new(12);
    let options = [
        DecodeOptions { fields: Fields::ALL, lost_tags: true, ..DecodeOptions::default() },
        DecodeOptions { strict_pgn: true, game_rows: true, ..DecodeOptions::default() },
        DecodeOptions { fields: Fields::ALL, game_rows: true, ..DecodeOptions::default() },
    ];
    for round in 0..3000 {
        let mut text = String::new();
        for _ in 0..3 {
            text += tags[random.below(tags.len() as u32) as usize];
            text += "\n1. e4 e5 2. Nf3 ";
            for _ in 0..random.below(6) {
                text += words[random.below(words.len() as u32) as usize];
                text.push(' ');
            }
            text += ["1-0\n\n", "\n\n", "0-0\n\n", "0-0 {x}\n\n"][random.below(4) as usize];
        }
        let chunk = Chunk::new(Path::new("x.pgn").into(), text.clone().into_bytes().into());
        let options = &options[round % 3];
        let [found, expected] = [true, false].map(|lanes| decode_with(&chunk, options, lanes));
        assert_eq!(format!("{found:?}"), format!("{expected:?}"), "{text}");
        // Cut where games begin.
        let mut pieces = Vec::new();
        let mut rest = text.as_bytes();
        while let Some(end) = boundary(rest, rest.len() - 1, true) {
            pieces.push(&rest[end..]);
            rest = &rest[..end];
        }
        pieces.push(rest);
        let parts: Vec<Decoded> = pieces
            .iter()
            .rev()
            .map(|piece| decode_with(&Chunk::new(Path::new("x.pgn").into(), piece.to_vec().into()), options, true))
            .collect();
        let games: u64 = parts.iter().map(|part| part.games).sum();
        let records: u64 = parts.iter().map(|part| part.records).sum();
        let dropped_values: usize = parts.iter().map(|part| part.dropped_values.len()).sum();
        let remarks: u64 = parts.iter().flat_map(|part| part.remarks.iter()).map(|(_, times)| times).sum();
        let whole: u64 = expected.remarks.iter().map(|(_, times)| times).sum();
        assert_eq!(
            (games, records, dropped_values, remarks),
            (expected.games, expected.records, expected.dropped_values.len(), whole),
            "{text}"
        );
    }
}

#[test]
fn an_incomplete_last_game_is_noted() {
    for (text, open) in [
        ("[Event \"x\"]\n\n1. e4 *\n", false),
        ("[Event \"x\"]\n\n1. e4 *", false),
        ("[Event \"x\"]\n\n1. e4\n\n[Event \"x\"]\n\n*", false),
        ("[Event \"x\"]\n\n1. e4 1-0 {end}\n", false),
        ("[Event \"x\"]\n\n1. e4\n", true),
        ("[Event \"x\"]\n", true),
        ("[Event \"x\"]\n\n1. e4\n\n[Event \"x\"]\n\n*\n", false),
        ("[Event \"x\"]\n\n1. e4 *\n\n1. d4 d5", true),
        ("", false),
    ] {
        let chunk = Chunk::new(Path::new("x.pgn").into(), text.as_bytes().to_vec().into());
        let mut watch = Pgn.watch().unwrap();
        watch.chunk(Pgn.decode(&chunk, &DecodeOptions::default()).evidence, 0);
        let (_, note) = watch.end(text.len() as u64);
        assert_eq!(note.is_some(), open, "{text}");
    }
}
