//! What programs write that the standard does not know: comments of engines, clocks and scores in other forms, dashes,
//! code pages, and FEN tags that are no FEN.

use lanefish::formats::pgn::{FEN_REST, SETUP_WITHOUT_FEN};
use lanefish::formats::{Chunk, DecodeOptions, Decoded, Format};
use lanefish::games::Speed;
use lanefish::table::{Field, Fields};
use std::path::Path;
use std::sync::Arc;

fn decode_with(text: &[u8], options: &DecodeOptions) -> Decoded {
    let chunk = Chunk::new(Arc::from(Path::new("games.pgn")), text.to_vec().into());
    Format::PGN.decode(&chunk, options)
}

fn decode(text: &[u8]) -> Decoded {
    decode_with(text, &DecodeOptions::default().fields(Fields::ALL).game_rows(true))
}

fn column(decoded: &Decoded, field: Field) -> Vec<Option<i64>> {
    let batch = &decoded.batches[0];
    let values = batch.values(field);
    (0..batch.len()).map(|row| values.and_then(|values| values.number(row))).collect()
}

fn positions(decoded: &Decoded) -> Vec<String> {
    let batches = decoded.batches.iter();
    batches.flat_map(|batch| (0..batch.len()).map(|row| batch.position(row).unwrap().to_string())).collect()
}

#[test]
fn comments_of_engines_are_scores_of_the_position_before() {
    let text = "[Event \"x\"]\n\n1. e4 {book} e5 {+0.31/13 0.5s} 2. Nf3 {+0.35/12 0.022s} Nc6 {-M6/7 0.010s} \
        3. Bb5 { +1.16/8, 0.004s } a6 {1.e4 is best} 4. Ba4 {0.60} Nf6\n{-0.20/1 0s,\nDraw by adjudication} 1/2-1/2\n";
    let decoded = decode(text.as_bytes());
    let scores = [None, Some(-31), Some(35), None, Some(116), None, Some(60), Some(20), None];
    assert_eq!(column(&decoded, Field::Score), scores);
    let mates = column(&decoded, Field::Mate);
    // In plies: Black will be mated after six.
    assert_eq!(mates[3], Some(3));
    assert_eq!(mates.iter().flatten().count(), 1);
    // TCEC: White's view, and the time left.
    let text =
        "[Event \"x\"]\n\n1. d4 {d=40, sd=52, tl=1787655, pv=d4 Nf6 c4, wv=0.24,} Nf6 {wv=-0.10, tl=0:29:50,} *\n";
    let decoded = decode(text.as_bytes());
    assert_eq!(column(&decoded, Field::Score), [Some(24), Some(-10), None]);
    assert_eq!(column(&decoded, Field::Clock), [Some(178_765), Some(179_000), None]);
    // A command about the same position counts before it, and commands may follow within the comment.
    let text = "[Event \"x\"]\n\n1. e4 {[%eval 0.17]} e5 {+0.31/13 0.5s [%clk 0:01:00]} 2. d4 {+0.05/9 1s} *\n";
    let decoded = decode(text.as_bytes());
    assert_eq!(column(&decoded, Field::Score), [None, Some(17), Some(5), None]);
    assert_eq!(column(&decoded, Field::Clock), [None, Some(6_000), None, None]);
}

#[test]
fn scores_and_clocks_in_the_forms_of_other_programs() {
    let text = "[Event \"x\"]\n\n1. e4 {[%eval 35,21] [%emt 0:00:08]} e5 {[%eval 2.35,18]} 2. Nf3 {[%eval 0]} *\n";
    let decoded = decode(text.as_bytes());
    assert_eq!(column(&decoded, Field::Score), [None, Some(35), Some(235), Some(0)]);
    let text = "[Event \"x\"]\n\n1. e4 {[%clk 0:15.17]} e5 {[%clk 0:14.59]} 2. Nf3 {[%clk 1:75.00]} *\n";
    let decoded = decode(text.as_bytes());
    assert_eq!(column(&decoded, Field::Clock), [Some(91_700), Some(89_900), None, None]);
}

#[test]
fn results_with_an_en_dash() {
    for (token, code) in [
        (&b"1\xE2\x80\x930"[..], 2),
        (b"0\xE2\x80\x931", 0),
        ("½–½".as_bytes(), 1),
        ("1/2–1/2".as_bytes(), 1),
        ("½-½".as_bytes(), 1),
        (b"1\x960", 2),
        (b"1/2\x961/2", 1),
        (b"\xBD\x96\xBD", 1),
    ] {
        let as_token = [b"[Event \"x\"]\n\n1. e4 e5 ", token, b"\n\n[Event \"y\"]\n\n1. d4 *\n"];
        let decoded = decode(&as_token.concat());
        assert_eq!((decoded.games, decoded.rejects.len()), (2, 0));
        assert_eq!(column(&decoded, Field::Result)[0], Some(code));
        let as_tag = [b"[Event \"x\"]\n[Result \"", token, b"\"]\n\n1. e4 e5\n"].concat();
        assert_eq!(column(&decode(&as_tag), Field::Result)[0], Some(code));
        let strict = DecodeOptions::default().strict_pgn(true);
        assert_eq!(decode_with(&as_token.concat(), &strict).rejects.len(), 1);
    }
    for token in ["1:0", "1 - 0", "½", "1/2", "0.5-0.5", "½ — ½", "+:-"] {
        let tag = format!("[Result \"{token}\"]\n\n1. e4 e5\n");
        assert!(column(&decode(tag.as_bytes()), Field::Result)[0].is_some(), "{token}");
    }
    for token in ["1–1", "0–0", "1–½"] {
        let tag = format!("[Result \"{token}\"]\n\n1. e4 e5\n");
        assert_eq!(column(&decode(tag.as_bytes()), Field::Result)[0], None, "{token}");
    }
}

#[test]
fn text_that_is_not_utf_8_is_windows_1252() {
    let text = b"[White \"\x8Aahovski \x9Eurnal \x91x\x92 \x96 \x80 M\xFCller \x81\"]\n\n1. e4 *\n";
    let decoded = decode(text);
    let tag = decoded.game_rows[0].tags.iter().next().unwrap();
    assert_eq!(tag, ("White", "Šahovski žurnal ‘x’ – € Müller \u{FFFD}"));
}

#[test]
fn fen_tags_follow_the_rule_of_fen_files() {
    let game = |fen: &str| format!("[Event \"x\"]\n[FEN \"4k3/8/8/8/8/8/4P3/4K3 w - -{fen}\"]\n\n39. e4 *\n");
    let strict = DecodeOptions::default().strict_pgn(true);
    for (fen, reject, note) in [
        ("", false, 0),
        (" 5", false, 0),
        (" 5 39", false, 0),
        (" 3+3 5 39", true, 0),
        (" 5 39 3+3", true, 0),
        (" 5 x", true, 0),
        (" -1 39", true, 0),
        (" bm e4;", false, 1),
        (" O 39", false, 1),
    ] {
        let decoded = decode(game(fen).as_bytes());
        assert_eq!(decoded.rejects.len(), usize::from(reject), "{fen}");
        assert_eq!(decoded.remarks.count(&FEN_REST), note, "{fen}");
        let refused = decode_with(game(fen).as_bytes(), &strict).rejects.len();
        assert_eq!(refused, usize::from(reject || note > 0), "{fen}");
    }
    let reject = &decode(game(" 3+3 5 39").as_bytes()).rejects[0];
    assert_eq!((reject.place.line, reject.reasons.as_slice()), (Some(2), &["fen_trailing_text"][..]));
    assert!(reject.message.contains("column 29: found `3`"), "{}", reject.message);
}

#[test]
fn a_set_up_position_that_is_missing_is_noted() {
    for (tags, noted) in [
        ("[SetUp \"1\"]", 1),
        ("[SetUp \"0\"]", 0),
        ("[SetUp \"1\"]\n[FEN \"4k3/8/8/8/8/8/4P3/4K3 w - - 0 1\"]", 0),
        ("[White \"x\"]", 0),
    ] {
        let decoded = decode(format!("{tags}\n\n1. e4 *\n").as_bytes());
        assert_eq!(positions(&decoded).len(), 2, "{tags}");
        assert_eq!(decoded.remarks.count(&SETUP_WITHOUT_FEN), noted, "{tags}");
    }
}

#[test]
fn time_controls_of_several_periods_and_of_days() {
    use Speed::*;
    for (tag, class) in [
        ("40/7200:3600", Some(Classical)),
        ("40/7200:20/3600:900+30", Some(Classical)),
        ("40/1980:40/1980:40/1980", Some(Classical)),
        ("40/60:60", Some(Bullet)),
        ("40/60+1:60+1", Some(Bullet)),
        ("40/9000", Some(Classical)),
        ("1/86400", Some(Correspondence)),
        ("1/259200", Some(Correspondence)),
        ("10/2592000", Some(Correspondence)),
        ("10+0.05", Some(UltraBullet)),
        ("0.5+0.01", Some(UltraBullet)),
        ("154.283+1.543", Some(Blitz)),
        ("40/", None),
        ("/40", None),
        ("0/40", None),
        ("40/7200:", None),
        (":", None),
        ("120/40+60/20+30(61)", None),
    ] {
        assert_eq!(Speed::of_tag(tag.as_bytes()), class, "{tag}");
    }
}
