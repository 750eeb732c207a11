//! PGN of other programs: tags with odd blanks, line ends, encodings, comments of engines. The files in `pgn_files` once
//! went wrong.

use crate::formats::round_trips::read;
use crate::support::Ended;
use lanefish::choose::TimeControl;
use lanefish::games::Speed;
use lanefish::table::{Batch, Field, Fields};
use std::path::Path;

/// A file of games, read in one piece, and in tiny chunks by many threads, with the same result.
fn records(content: &[u8]) -> (Batch, Ended) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.pgn");
    std::fs::write(&path, content).unwrap();
    let names = ["Event", "FEN", "SetUp", "Result", "White", "Black"];
    let tags: std::sync::Arc<[_]> = names.into_iter().map(std::sync::Arc::from).collect();
    let (batch, summary) = read(std::slice::from_ref(&path), |options| {
        options.read.decode.tags = tags.clone();
    });
    let (cut, cut_summary) = read(&[path], |options| {
        options.read.decode.tags = tags;
        (options.chunk_size, options.threads) = (64, 4);
    });
    assert_eq!(crate::formats::round_trips::lines(&cut), crate::formats::round_trips::lines(&batch));
    let remarks = |summary: &Ended| -> Vec<(&str, u64)> {
        let mut remarks: Vec<_> = summary.remarks.iter().map(|(what, count)| (what.how, count)).collect();
        remarks.sort_unstable();
        remarks
    };
    assert_eq!(remarks(&cut_summary), remarks(&summary));
    assert_eq!(cut_summary.rejected, summary.rejected);
    (batch, summary)
}

fn file(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pgn_files").join(name);
    std::fs::read(path).unwrap()
}

fn tag<'a>(batch: &'a Batch, name: &str, row: usize) -> Option<&'a str> {
    batch.tags.get(name)?.get(row)
}

/// Number of positions of each game.
fn games(batch: &Batch) -> Vec<usize> {
    let games = batch.values(Field::Game).unwrap();
    let mut counts: Vec<usize> = Vec::new();
    for row in 0..batch.len() {
        let game = games.number(row).unwrap() as usize;
        counts.resize(counts.len().max(game + 1), 0);
        counts[game] += 1;
    }
    counts
}

fn noted(summary: &Ended, words: &str) -> u64 {
    let notes = summary.remarks.iter().filter(|(remark, _)| remark.how.contains(words));
    notes.map(|(_, count)| count).sum()
}

#[test]
fn tags_are_tokens() {
    let no_rook = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBN1 w Qkq - 0 1";
    for (name, fen, white, positions) in [
        ("tag-space-before-FEN.pgn", Some(no_rook), None, 3),
        ("tag-space-before-name.pgn", None, Some("Lead"), 3),
        ("tag-tab-before-bracket.pgn", Some(no_rook), Some("W"), 3),
        ("tag-over-lines.pgn", None, Some("W"), 4),
        ("comment-among-tags.pgn", Some(no_rook), Some("w"), 3),
        ("tag-then-comment.pgn", None, None, 4),
    ] {
        let (batch, summary) = records(&file(name));
        assert_eq!((summary.rejected, games(&batch)), (0, vec![positions]), "{name}");
        assert_eq!(tag(&batch, "FEN", 0), fen, "{name}");
        let start = batch.position(0).unwrap().to_string();
        assert_eq!(start == no_rook, fen.is_some(), "{name}: {start}");
        assert_eq!(tag(&batch, "White", 0), white, "{name}");
        assert_eq!(tag(&batch, "Event", 0), Some("a"), "{name}");
        assert!(tag(&batch, "Result", 0) == Some("1-0"), "{name}");
    }
    for (text, event, white, moves, ignored) in [
        ("[\tEvent \"a\"]\n[White\t\"w\"]\n\n1. e4 *\n", Some("a"), Some("w"), 1, 0),
        ("[ Event\n\"a\"\n]\n[White \n \"w\" \n ]\n\n1. e4 *\n", Some("a"), Some("w"), 1, 0),
        ("[Event\"a\"][White\"w\"] 1. e4 *\n", Some("a"), Some("w"), 1, 0),
        ("[Event \"a\"]\n[White \"w\" junk]\n\n1. e4 *\n", Some("a"), Some("w"), 1, 1),
        ("[Event \"a\"]?\n[White \"w\"]?\n\n1. e4 *\n", Some("a"), Some("w"), 1, 0),
        ("[Event \"a\"] y \"z\"] v\n[White \"w\"]\n\n1. e4 *\n", Some("a"), Some("w"), 1, 1),
        ("[Event \"a\"] junk\n[White \"w\"] and more\n\n1. e4 *\n", Some("a"), Some("w"), 1, 2),
        ("[Event \"a \"b\" c\"]\n[White \"w\"]\n\n1. e4 *\n", Some("a \"b\" c"), Some("w"), 1, 0),
        ("[Event \"a [b] c\"]\n[White \"w\"]\n\n1. e4 *\n", Some("a [b] c"), Some("w"), 1, 0),
        (
            "[Event \"a\"]\n{one\ntwo [White \"x\"]}\n; [White \"y\"]\n[White \"w\"]\n\n1. e4 *\n",
            Some("a"),
            Some("w"),
            1,
            0,
        ),
        ("[Event \"a\"] {x} [White \"w\"]\n\n1. e4 *\n", Some("a"), Some("w"), 1, 0),
        ("[Event \"a\"]\n[White \"w\"] e4 e5 *\n", Some("a"), Some("w"), 2, 0),
        ("[Event \"a\"]\n[White \"w\"]\n{before the moves} 1. e4 *\n", Some("a"), Some("w"), 1, 0),
        ("[Event \"a\"]\n[White \"w\"] *\n", Some("a"), Some("w"), 0, 0),
    ] {
        let (batch, summary) = records(text.as_bytes());
        assert_eq!((summary.rejected, games(&batch)), (0, vec![moves + 1]), "{text}");
        assert_eq!((tag(&batch, "Event", 0), tag(&batch, "White", 0)), (event, white), "{text}");
        assert_eq!(noted(&summary, "was ignored"), ignored, "{text}");
    }
    // A comment alone is no reason to join two games.
    let (batch, _) = records(b"[Event \"a\"]\n\n{no moves}\n\n[Event \"b\"]\n\n1. e4 *\n\n[White \"c\"]\n\n{none}\n\n[White \"d\"]\n\n1. d4 *\n");
    assert_eq!(games(&batch), [1, 2, 1, 2]);
    let (batch, _) = records(b"[White \"a\"] {c}\n\n[White \"b\"]\n\n1. e4 *\n");
    assert_eq!(games(&batch), [1, 2]);
    assert_eq!(tag(&batch, "White", 1), Some("b"));
}

#[test]
fn games_begin_at_the_first_tag_after_junk() {
    let (batch, summary) = records(&file("first-tag-no-bracket.pgn"));
    assert_eq!(tag(&batch, "White", 0), Some("W"));
    assert_eq!((games(&batch).as_slice(), summary.rejected), (&[4, 3][..], 1));
    let (batch, summary) = records(&file("mid-tag-no-bracket.pgn"));
    assert_eq!((games(&batch).as_slice(), summary.rejected), (&[3, 4, 2][..], 1));
    assert_eq!(tag(&batch, "White", 3), Some("W"));
}

/// What a line of a FEN file may not have, a tag may not have.
#[test]
fn fen_tags_are_read_as_fen() {
    let (batch, summary) = records(&file("fen-tag-lenient.pgn"));
    assert_eq!((summary.rejected, batch.len()), (1, 3 * 2));
    let reject = &summary.first_rejects[0];
    assert_eq!((reject.place.line, reject.place.game), (Some(2), Some(0)));
    assert!(reject.message.contains('3'), "{}", reject.message);
    assert_eq!(noted(&summary, "after the position"), 1);
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.pgn");
    std::fs::write(&path, file("fen-tag-lenient.pgn")).unwrap();
    let (batch, summary) = read(&[path], |options| options.read.decode.strict_pgn = true);
    assert_eq!((batch.len(), summary.rejected), (0, 4));
    let (batch, summary) = records(&file("setup-without-fen.pgn"));
    assert_eq!((summary.rejected, batch.len(), noted(&summary, "no FEN tag")), (0, 4, 1));
}

#[test]
fn carriage_returns_end_lines() {
    for name in ["cr-semicolon.pgn", "cr-percent.pgn"] {
        let content = file(name);
        assert!(!content.contains(&b'\n'));
        let (batch, summary) = records(&content);
        assert_eq!(summary.rejected, 0, "{name}");
        assert_eq!(games(&batch), if name.contains("semi") { [5, 3] } else { [3, 3] });
    }
    // Lines are counted, and long files are read in pieces.
    let game = "[Event \"a\"]\r[Result \"*\"]\r\r1. e4 e5 ; x\r2. Nf3 *\r\r".repeat(60_000);
    let (batch, summary) = records(format!("{game}[Event \"b\"]\r\r1. e5 *\r").as_bytes());
    assert_eq!((batch.len(), summary.rejected), (60_000 * 4 + 1, 1));
    assert_eq!(summary.first_rejects[0].place.line, Some(60_000 * 6 + 3));
}

#[test]
fn windows_1252_is_read_where_text_is_not_utf_8() {
    let (batch, _) = records(&file("tag-windows-1252.pgn"));
    assert_eq!(tag(&batch, "Event", 0), Some("Šahovski žurnal ‘x’ – €"));
    assert_eq!(tag(&batch, "White", 0), Some("Müller,Jörg"));
}

#[test]
fn results_may_have_en_dashes() {
    let (batch, summary) = records(&file("result-en-dash.pgn"));
    assert_eq!(summary.rejected, 0);
    assert_eq!(games(&batch), [4, 3]);
    let results = batch.values(Field::Result).unwrap();
    assert_eq!([0, 4].map(|row| results.number(row)), [Some(2), Some(1)]);
    for (token, code) in [("0–1", 0), ("1/2–1/2", 1), ("½–½", 1), ("½-½", 1), ("1–0", 2)] {
        for text in [
            format!("[Event \"a\"]\n\n1. e4 e5 {token}\n\n1. d4 *\n"),
            format!("[Event \"a\"]\n[Result \"{token}\"]\n\n1. e4 e5\n\n[Event \"b\"]\n\n1. d4 *\n"),
        ] {
            let (batch, summary) = records(text.as_bytes());
            assert_eq!((summary.rejected, games(&batch)), (0, vec![3, 2]), "{text}");
            assert_eq!(batch.values(Field::Result).unwrap().number(0), Some(code), "{text}");
        }
    }
    let (batch, _) = records(b"[Event \"a\"]\n[Result \"1\x960\"]\n\n1. e4 e5 1\x960\n");
    assert_eq!(batch.values(Field::Result).unwrap().number(0), Some(2));
}

#[test]
fn comments_of_engines_are_scores() {
    let (batch, summary) = records(&file("engine-comments.pgn"));
    assert_eq!(summary.rejected, 0);
    let scores = [None, None, Some(35), Some(31), None, None, Some(116), Some(0), None];
    assert_eq!(numbers(&batch, Field::Score)[..9], scores);
    // White mates in 7 plies; Black, to move, is mated in 6.
    assert_eq!(numbers(&batch, Field::Mate)[4..6], [Some(4), Some(3)]);
    assert_eq!(numbers(&batch, Field::Score)[9..], [Some(24), Some(-10), None]);
    assert_eq!(numbers(&batch, Field::Clock)[9..], [Some(178_765), Some(179_000), None]);
    let (batch, _) = records(&file("eval-chessbase.pgn"));
    assert_eq!(numbers(&batch, Field::Score), [None, Some(35), Some(14), None]);
    let (batch, _) = records(&file("clk-h-mm.ss.pgn"));
    let clocks = [15 * 60 + 10, 15 * 60 + 8, 15 * 60 + 17, 14 * 60 + 59];
    assert_eq!(numbers(&batch, Field::Clock)[..4], clocks.map(|seconds| Some(seconds * 100)));
    // The same where every token is read, as in variations and after odd ones; an explicit evaluation comes first.
    let text = "[Event \"x\"]\n\n1. e4 $1 {+0.35/12 0.022s} (1. d4 {+9.00/1 1s}) e5 {[%eval 0.5]} 2. Nf3 {+0.31/9 1s} \
                Nc6 {-0.40/9\n1s} 3. Bb5 {prose +0.35/12} a6 {+0.12/30 1s} *\n";
    let (batch, _) = records(text.as_bytes());
    assert_eq!(numbers(&batch, Field::Score)[..6], [Some(35), None, Some(50), Some(40), None, Some(-12)]);
}

fn numbers(batch: &Batch, field: Field) -> Vec<Option<i64>> {
    let values = batch.values(field);
    (0..batch.len()).map(|row| values?.number(row)).collect()
}

/// Comments of more programs: each of these files once lost its scores or some of them.
#[test]
fn comments_of_more_engines_are_scores() {
    let (batch, summary) = records(&file("openbench.pgn"));
    assert_eq!((summary.rejected, noted(&summary, "not read")), (0, 0));
    assert_eq!(numbers(&batch, Field::Score)[..3], [Some(57), Some(44), None]);
    assert_eq!(numbers(&batch, Field::Mate)[2..4], [Some(3), Some(2)]);
    assert_eq!(numbers(&batch, Field::Score)[5..], [Some(57), Some(44), None]);
    for (name, scores) in [
        ("xboard-minutes.pgn", &[35, -31, 40, -10][..]),
        ("wrapped-engine.pgn", &[35, 31, 40, -10]),
        ("arena.pgn", &[35, 31]),
        ("fastchess-tl.pgn", &[33, 33]),
    ] {
        let (batch, summary) = records(&file(name));
        let expected: Vec<_> = scores.iter().copied().map(Some).chain([None]).collect();
        assert_eq!(numbers(&batch, Field::Score), expected, "{name}");
        assert_eq!((summary.rejected, noted(&summary, "not read")), (0, 0), "{name}");
        let clocks: &[_] = if name.starts_with("fastchess") { &[Some(61), Some(70), None] } else { &[] };
        assert_eq!(&numbers(&batch, Field::Clock)[..clocks.len()], clocks, "{name}");
    }
    let text = "[Event \"x\"]\n\n1. e4 {[%EVAL .5]} e5 {[%eval M3]} 2. Nf3 {[%eval −1.5]} Nc6 {mate4} 3. Bb5 {−0.35/12 0.5s} \
                a6 {+0,35/12 0,5s} 4. Ba4 {[%eval x]} *\n";
    let (batch, summary) = records(text.as_bytes());
    assert_eq!(numbers(&batch, Field::Score), [None, Some(50), None, Some(-150), Some(-35), Some(-35), None, None]);
    assert_eq!(numbers(&batch, Field::Mate)[2..4], [Some(3), None]);
    assert_eq!(noted(&summary, "not read"), 1);
}

/// What looks like an evaluation and is none that is known is counted, with the first of them.
#[test]
fn unread_evaluations_are_counted() {
    let game = "[Event \"x\"]\n\n1. e4 {good} e5 {[%eval 0.3] fine} 2. Nf3 {0.60/4 pawns up} (2. f4 {+0.1 %}) Nc6 {eval: 3} \
                3. Bb5 {d4\n -M3/12 1s} a6 {[%eval 32766,0]} 4. Ba4 {[%eval ?]} *\n\n";
    let (_, summary) = records(game.repeat(50).as_bytes());
    assert_eq!(noted(&summary, "not read"), 50 * 4);
    let remark = &lanefish::formats::pgn::UNREAD_EVALUATIONS;
    assert_eq!(summary.remarks.first(remark), Some("0.60/4 pawns up"));
    for comment in ["Nf6 -#4/12 1s", "Nf6 -M4/12 1s", "Nf6 +0,35/12", "Nf6 +128.45/12"] {
        let (_, summary) = records(format!("[Event \"x\"]\n\n1. e4 {{{comment}}} *\n").as_bytes());
        assert_eq!(summary.remarks.first(remark), Some(comment));
    }
    // Without scores nothing is looked for.
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.pgn");
    std::fs::write(&path, game).unwrap();
    let (_, summary) = read(&[path], |options| {
        options.read.decode.fields = Fields::of(&[Field::Game, Field::Clock]);
    });
    assert_eq!(noted(&summary, "not read"), 0);
    let long = format!("[Event \"x\"]\n\n1. e4 {{+0.35   \u{7}\n{} -1.5/2}} *\n", "x".repeat(100));
    let (_, summary) = records(long.as_bytes());
    assert_eq!(summary.remarks.first(remark), Some(format!("+0.35 \u{FFFD} {}…", "x".repeat(52)).as_str()));
}

/// An escape or a comment in a line of its own is no empty line, and does not divide a game.
#[test]
fn escapes_among_tags_belong_to_their_game() {
    let (batch, summary) = records(&file("escape-among-tags.pgn"));
    assert_eq!((summary.rejected, games(&batch)), (0, vec![3]));
    assert_eq!((tag(&batch, "Event", 0), tag(&batch, "White", 0)), (Some("a"), Some("b")));
    for (between, expected) in [
        ("; x\n", 1),
        ("%x\n; y\n%z\n", 1),
        ("{c}\n%x\n", 1),
        ("%x\n\n", 1),
        ("\n%x\n", 1),
        ("\n; x\n[White \"c\"]\n", 2),
    ] {
        let text = format!("[White \"a\"]\n{between}[Black \"b\"]\n\n1. e4 *\n");
        let (batch, summary) = records(text.as_bytes());
        assert_eq!((summary.rejected, games(&batch).len()), (0, expected), "{text}");
    }
}

/// Games with carriage returns and games with line feeds in one file.
#[test]
fn line_ends_may_change_within_a_file() {
    for (name, first, second) in
        [("cr-then-lf.pgn", ["a", "A"], ["b", "B"]), ("lf-then-cr.pgn", ["b", "B"], ["a", "A"])]
    {
        let (batch, summary) = records(&file(name));
        let counts = if first[0] == "a" { [5, 4] } else { [4, 5] };
        assert_eq!((summary.rejected, games(&batch).as_slice()), (0, &counts[..]), "{name}");
        for (row, [event, white]) in [(0, first), (counts[0], second)] {
            assert_eq!((tag(&batch, "Event", row), tag(&batch, "White", row)), (Some(event), Some(white)), "{name}");
        }
    }
    // Also without a result, and after an escape.
    let (batch, summary) = records(b"[Event \"a\"]\r\r%x\r1. e4 e5\r\r[Event \"b\"]\r%y\r[White \"c\"]\r\r1. d4 *\n");
    assert_eq!((summary.rejected, games(&batch)), (0, vec![3, 2]));
    assert_eq!(tag(&batch, "White", 3), Some("c"));
}

#[test]
fn values_of_tags_may_lack_straight_quotes() {
    let (batch, summary) = records(&file("tags-without-quotes.pgn"));
    assert_eq!((summary.rejected, games(&batch)), (0, vec![3]));
    let tags = ["Event", "White", "Black"].map(|name| tag(&batch, name, 0));
    assert_eq!(tags, [Some("a"), Some("b"), Some("c")]);
    for (value, expected) in [
        ("b", "b"),
        ("  two words ", "two words"),
        ("b\"", "b"),
        ("„b“", "b"),
        ("«b»", "b"),
        ("‘b’", "b"),
        ("“b", "b"),
        ("O'Neil", "O'Neil"),
        ("Ô", "Ô"),
    ] {
        let text = format!("[Event \"a\"]\n[White {value}]\n[Result \"*\"]\n\n1. e4 *\n");
        let (batch, summary) = records(text.as_bytes());
        assert_eq!((summary.rejected, games(&batch)), (0, vec![2]), "{text}");
        assert_eq!(tag(&batch, "White", 0), Some(expected), "{text}");
        assert_eq!((tag(&batch, "Event", 0), tag(&batch, "Result", 0)), (Some("a"), Some("*")), "{text}");
    }
    // The quotes of Windows-1252.
    for value in [&b"\x84b\x93"[..], b"\x82b\x91", b"\x91b\x92", b"\x92b\x92", b"\xABb\xBB", b"\xBBb\xAB", b"\x93b"] {
        let text = [b"[Event \"a\"]\n[White ", value, b"]\n\n1. e4 *\n"].concat();
        let (batch, _) = records(&text);
        assert_eq!(tag(&batch, "White", 0), Some("b"), "{}", value.escape_ascii());
    }
    let (batch, _) = records(b"[Event \x93a\x94]\n[White \x93b]\n\n1. e4 *\n");
    assert_eq!((tag(&batch, "Event", 0), tag(&batch, "White", 0)), (Some("a"), Some("b")));
    // The position of a game, and what is no tag.
    let (batch, summary) = records(b"[FEN 4k3/8/8/8/8/8/8/4K2R w K - 0 1]\n\n1. O-O *\n");
    assert_eq!((summary.rejected, batch.len()), (0, 2));
    assert_eq!(batch.position(0).unwrap().to_string(), "4k3/8/8/8/8/8/8/4K2R w K - 0 1");
    let (batch, summary) = records(b"[Event \"a\"]\n\n1. e4 *\n\n[see note 3]\n");
    assert_eq!((summary.rejected, batch.len()), (1, 2));
}

/// A file that is known by its content alone may lack quotes as well.
#[test]
fn tags_without_quotes_are_recognized() {
    use lanefish::formats::{Format, detect};
    let named = |text: &[u8]| detect(text, true, Path::new("x"), None);
    assert_eq!(named(&file("tags-without-quotes.pgn")), Ok(Format::PGN));
    assert!(named(b"[White noise]\n").is_ok());
    for text in ["[settings]\na=1\n", "[Event]\n", "[Eventually x]\n", "[Event x\n"] {
        assert!(named(text.as_bytes()).is_err(), "{text}");
    }
}

/// The place of a reject has the number of its game, whatever is requested.
#[test]
fn rejects_have_the_number_of_their_game() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.pgn");
    // Ten pawns: a position that may be played, but that no game reaches.
    let pawns = "[FEN \"4k3/8/8/8/8/PP6/PPPPPPPP/4K3 w - - 0 1\"]\n\n1. Kd1 *\n";
    let bad = String::from_utf8(file("second-game-bad.pgn")).unwrap();
    std::fs::write(&path, format!("{bad}\n{pawns}")).unwrap();
    for fields in [Fields::NONE, Fields::of(&[Field::Ply]), Fields::ALL] {
        let (_, summary) = read(std::slice::from_ref(&path), |options| {
            options.read.decode.fields = fields;
            options.read.decode.validity = lanefish::chess::Validity::Strict;
        });
        let places = summary.first_rejects.iter().map(|reject| (reject.place.game, reject.place.ply));
        assert_eq!(places.collect::<Vec<_>>(), [(Some(1), Some(1)), (Some(2), Some(0)), (Some(2), Some(1))]);
    }
}

#[test]
fn time_controls_have_classes() {
    for (tag, class) in [
        ("40/7200:3600", Some(Speed::Classical)),
        ("40/7200:20/3600:900+30", Some(Speed::Classical)),
        ("40/300:60", Some(Speed::Blitz)),
        ("40/60", Some(Speed::Bullet)),
        ("10/60:20+1", Some(Speed::Bullet)),
        ("1/86400", Some(Speed::Correspondence)),
        ("1/259200", Some(Speed::Correspondence)),
        ("-", Some(Speed::Correspondence)),
        ("*180", Some(Speed::Blitz)),
        ("10+0.1", Some(Speed::UltraBullet)),
        ("10.931+0.109", Some(Speed::UltraBullet)),
        ("154.283+1.543", Some(Speed::Blitz)),
        ("300+3", Some(Speed::Blitz)),
        ("?", None),
        ("", None),
        ("40/", None),
        ("/60", None),
        ("60+", None),
        ("inf", None),
        ("5 min", None),
    ] {
        assert_eq!(Speed::of_tag(tag.as_bytes()), class, "{tag}");
    }
    let controls: Vec<TimeControl> = vec!["correspondence".parse().unwrap()];
    let (all, _) = records(&file("tc2.pgn"));
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.pgn");
    std::fs::write(&path, file("tc2.pgn")).unwrap();
    let (slow, _) = read(&[path], |options| {
        let selection = lanefish::choose::GameFilter::default().time_controls(controls);
        options.read.choose.games = Some(std::sync::Arc::new(selection));
    });
    assert!(slow.len() >= 4 && slow.len() < all.len());
}
