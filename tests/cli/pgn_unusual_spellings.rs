//! Games of PGN as many programs write them: results, castling, letters of pieces and tags in unusual forms are read,
//! counted or rejected, and never become something else.

use super::{Dir, output, stderr_of};
use std::path::Path;

/// The path of a file as another program writes it.
fn file(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/unread_files").join(name);
    path.to_str().expect("UTF-8").to_owned()
}

/// The number of plies and the result of each game of a file.
fn games(status: i32, file: &str) -> Vec<String> {
    output(status, &["games", "--columns", "plies,result", file]).lines().skip(1).map(str::to_owned).collect()
}

/// What `stats` notes about a file.
fn notes(status: i32, file: &str) -> String {
    let notes = stderr_of(status, &["stats", file]);
    // The last line says how long it took.
    notes.lines().filter(|line| !line.contains(" positions/s")).map(|line| format!("{line}\n")).collect()
}

/// The last position of each game of a file.
fn last_positions(status: i32, file: &str) -> Vec<String> {
    output(status, &["games", "--columns", "fen", file]).lines().skip(1).map(str::to_owned).collect()
}

fn with_tag(result: &str, moves: &str) -> String {
    format!("[Event \"x\"]\n[Result \"{result}\"]\n\n{moves}\n\n[Event \"y\"]\n\n1. d4 *\n")
}

#[test]
fn results_have_the_same_forms_in_tags_and_tokens() {
    let path = file("11-result-half-decimal.pgn");
    assert_eq!(games(0, &path), ["4,1/2-1/2", "2,1/2-1/2", "2,1/2-1/2", "2,1-0"]);
    assert_eq!(notes(0, &path), "");
    let dir = Dir::new();
    for (form, result) in [
        ("1:0", "1-0"),
        ("0:1", "0-1"),
        ("0 : 1", "0-1"),
        ("1 - 0", "1-0"),
        ("0 – 1", "0-1"),
        ("1—0", "1-0"),
        ("0−1", "0-1"),
        ("1‑0", "1-0"),
        ("½-½", "1/2-1/2"),
        ("½ – ½", "1/2-1/2"),
        ("½:½", "1/2-1/2"),
        ("½", "1/2-1/2"),
        ("1/2", "1/2-1/2"),
        ("1/2 - 1/2", "1/2-1/2"),
        ("1/2:1/2", "1/2-1/2"),
        ("0.5-0.5", "1/2-1/2"),
        ("0,5-0,5", "1/2-1/2"),
        (".5-.5", "1/2-1/2"),
        ("0.50 : 0.50", "1/2-1/2"),
        ("1.0-0.0", "1-0"),
        ("+:-", "1-0"),
        ("-:+", "0-1"),
        ("=:=", "1/2-1/2"),
    ] {
        let moves = "1. e4 e5 2. Nf3";
        for text in [
            with_tag(form, moves),
            with_tag("*", &format!("{moves} {form}")),
            with_tag(form, &format!("{moves} {form}")),
        ] {
            let path = dir.file("x.pgn", &text);
            assert_eq!(games(0, &path), [format!("3,{result}"), "1,".to_owned()], "{text}");
            assert!(!notes(0, &path).contains("result"), "{text}");
        }
        // Also after the move of Black, and with a comment behind it.
        let path = dir.file("x.pgn", with_tag("*", &format!("{moves} Nc6\n{form} {{good}}")));
        assert_eq!(games(0, &path)[0], format!("4,{result}"), "{form}");
    }
    for (form, result) in
        [(&b"1\x960"[..], "1-0"), (b"0 \x97 1", "0-1"), (b"\xBD\x96\xBD", "1/2-1/2"), (b"1\xAD0", "1-0")]
    {
        let path = dir.file("x.pgn", [b"[Event \"x\"]\n\n1. e4 e5 2. Nf3 ", form, b"\n"].concat());
        assert_eq!(games(0, &path), [format!("3,{result}")]);
    }
}

#[test]
fn points_that_are_no_win_and_no_draw_are_counted() {
    let path = file("89-broadcast-results.pgn");
    let seven = std::iter::repeat_n("7,", 8);
    assert_eq!(games(0, &path), seven.chain(["0,", "0,"]).collect::<Vec<_>>());
    let note = "10 values that `result` cannot hold were left out, first `0-0` at ";
    assert!(notes(0, &path).contains(note), "{}", notes(0, &path));
    let of_rows = stderr_of(0, &["games", &path]);
    assert!(of_rows.contains(note), "{of_rows}");
    // Copies do not read results.
    assert_eq!(stderr_of(0, &["games", "--format", "pgn", &path]), "");
    let moves = "1. e4 e5 2. Nf3 Nf6 3. Bc4 Bc5 4. d3";
    let dir = Dir::new();
    for form in [
        "1/2-0", "0-1/2", "½-0", "0-½", "0.5-0", "0-0.5", "0:0", "1/2 - 0", "0 – ½", "½:0", "0,5-0", "-:-", "1-1",
        "0–1/2",
    ] {
        let note = format!("1 value that `result` cannot hold was left out, first `{form}`");
        for text in [
            with_tag(form, moves),
            with_tag("*", &format!("{moves} {form}")),
            with_tag("1-0", &format!("{moves} {form}")),
        ] {
            let in_token = text.contains(&format!("d3 {form}"));
            let path = dir.file("x.pgn", &text);
            assert_eq!(games(0, &path), ["7,", "1,"], "{text}");
            assert!(notes(0, &path).contains(&note), "{text} {in_token}: {}", notes(0, &path));
        }
    }
    // Both lost, in any form of castling with zeros.
    for form in ["0-0", "0–0", "0−0", "0 - 0", "0 — 0"] {
        for tag in ["0-0", "0 : 0", "1/2-0"] {
            for behind in ["", " {both lost}", "\n; both lost", "\n\n"] {
                let path = dir.file("x.pgn", with_tag(tag, &format!("{moves} {form}{behind}")));
                assert_eq!(games(0, &path), ["7,", "1,"], "{form} {tag}");
                assert!(notes(0, &path).contains(&format!("first `{tag}`")), "{form} {tag}");
            }
        }
        // Another tag, or more moves: then a player castles.
        for (tag, rest) in
            [("1-0", ""), ("*", ""), ("0-0", " 5. O-O"), ("0-0", " 0-0"), ("0-0", " 1/2-0"), ("1/2-1/2", " 1/2-1/2")]
        {
            let path = dir.file("x.pgn", with_tag(tag, &format!("{moves} {form}{rest}")));
            let plies = if rest.contains("O-O") { 9 } else { 8 };
            assert!(games(0, &path)[0].starts_with(&format!("{plies},")), "{form} {tag} {rest}");
        }
    }
    // Values in no form of a result.
    for tag in ["White wins", "1-0 FF", "2-0", "adjourned", "+/-", "1", "0-0-0"] {
        for token in ["*", "1-0"] {
            let path = dir.file("x.pgn", with_tag(tag, &format!("{moves} {token}")));
            assert!(notes(0, &path).contains(&format!("first `{tag}`")), "{tag} {token}: {}", notes(0, &path));
        }
    }
    for tag in ["*", "?", "", "-"] {
        assert_eq!(notes(0, &dir.file("x.pgn", with_tag(tag, &format!("{moves} *")))), "", "{tag}");
    }
}

#[test]
fn castling_is_played_in_every_form() {
    let path = file("35c-castling-zeros-en-dash.pgn");
    assert_eq!(games(0, &path), ["10,1-0", "12,"]);
    let ends = [
        "rnbq1rk1/ppp2ppp/3p1n2/2b1p3/2B1P3/3P1N2/PPP2PPP/RNBQ1RK1 w - - 0 6",
        "2kr1bnr/pppq1ppp/2n1p3/3p1b2/3P1B2/2N1P3/PPPQ1PPP/2KR1BNR w - - 0 7",
    ];
    assert_eq!(last_positions(0, &path), ends);
    let dir = Dir::new();
    let letters = [
        "O-O", "0-0", "o-o", "O-0", "0-O", "o-0", "O–O", "0—0", "O−O", "0‑0", "OO", "oo", "00", "0 - 0", "O - O",
        "O –O", "0- 0", "0 -\n0",
    ];
    for form in letters {
        let long = match form {
            "OO" | "oo" | "00" => format!("{form}{}", &form[1..]),
            form => {
                let first = form.chars().next().unwrap();
                format!("{form}{}", form.strip_prefix(first).unwrap())
            }
        };
        let short = format!("1. e4 e5 2. Nf3 Nf6 3. Bc4 Bc5 4. {form} {form} 5. d3 d6");
        let both = format!("1. d4 d5 2. Nc3 Nc6 3. Bf4 Bf5 4. Qd2 Qd7 5. {long} {long}! 6. e3 e6");
        let path = dir.file("x.pgn", format!("[Event \"x\"]\n\n{short} 1-0\n\n[Event \"y\"]\n\n{both} *\n"));
        assert_eq!(last_positions(0, &path), ends, "{form} {long}");
        assert_eq!(notes(0, &path), "", "{form}");
        // Where castling is not legal, the game is rejected there.
        let path = dir.file("x.pgn", format!("[Event \"x\"]\n\n1. e4 e5 2. {form} Nc6 3. Nf3 *\n"));
        assert_eq!(games(1, &path), ["2,"], "{form}");
    }
    for form in [&b"0\x960"[..], b"O\x97O", b"0 \x96 0"] {
        let text =
            [b"[Event \"x\"]\n\n1. e4 e5 2. Nf3 Nf6 3. Bc4 Bc5 4. ", form, b" ", form, b" 5. d3 d6 1-0\n"].concat();
        assert_eq!(last_positions(0, &dir.file("x.pgn", text)), ends[..1]);
    }
    // Nearly castling: rejected, never left out.
    for form in [
        "0-0x",
        "0-00",
        "00-0",
        "0-0-0-0",
        "0-0.",
        "0-0=",
        "O–x",
        "O",
        "0=0",
        "0_0",
        "0?0",
        "0 0",
        "0",
        "0\u{FFFD}0",
        "ООО",
        "О-О",
    ] {
        let path = dir.file("x.pgn", format!("[Event \"x\"]\n\n1. e4 e5 2. Nf3 Nf6 3. Bc4 Bc5 4. {form} d3 *\n"));
        assert_eq!(games(1, &path), ["6,"], "{form}");
    }
    let strict = dir.file("x.pgn", "[Event \"x\"]\n\n1. e4 e5 2. Nf3 Nf6 3. Bc4 Bc5 4. 0–0 d6 *\n");
    output(1, &["games", "--strict-pgn", &strict]);
}

#[test]
fn numeric_notation_is_played() {
    let dir = Dir::new();
    let text = "[Event \"x\"]\n\n1. 5254 5755 2. 7163 2836 3. 6134 6835 4. 5171 *\n";
    let fen = "r1bqk1nr/pppp1ppp/2n5/2b1p3/2B1P3/5N2/PPPP1PPP/RNBQ1RK1 b kq - 5 4";
    let path = dir.file("x.pgn", text);
    assert_eq!((last_positions(0, &path), notes(0, &path).as_str()), (vec![fen.to_owned()], ""));
    // A bishop does not move like that.
    let path = dir.file("x.pgn", text.replace("6835", "6834"));
    assert_eq!(games(1, &path), ["5,"]);
    assert!(notes(1, &path).contains("illegal move `6834`"));
    for (moves, plies, status) in [
        ("1.5254 5755", 2, 0),
        ("1 5254 5755 2 7163", 3, 0),
        ("1. 5254 e5 2. Ng1f3", 3, 0),
        ("1. 5254! 5755?", 2, 0),
        ("1. 5255", 0, 1),
        ("1. 5254 5254", 1, 1),
        ("1. e4 e5 2. 1111 Nf3", 3, 0),
        ("1. e4 e5 2. 5192 Nf3", 3, 0),
    ] {
        let path = dir.file("x.pgn", format!("[Event \"x\"]\n\n{moves} *\n"));
        assert_eq!(games(status, &path), [format!("{plies},")], "{moves}");
    }
    let path = dir.file("x.pgn", "[Event \"x\"]\n[FEN \"8/4P3/8/8/8/k7/8/4K3 w - - 0 1\"]\n\n1. 57583 *\n");
    assert_eq!(last_positions(0, &path), ["4B3/8/8/8/8/k7/8/4K3 b - - 0 1"]);
}

#[test]
fn digits_and_dashes_are_counted() {
    let dir = Dir::new();
    for (moves, plies, count, first) in [
        ("1. e4 17 e5", 2, 1, "17"),
        ("1. e4 e5 2 2 Nf3 3 Nc6", 4, 1, "3"),
        ("1. e4 30 e5", 2, 1, "30"),
        ("1. e4 - e5", 2, 1, "-"),
        ("1. e4 – e5 2. – Nf3", 3, 2, "–"),
        ("1. e4 — e5", 2, 1, "—"),
        ("1. e4 e5 2. Nf3 2026 Nc6", 4, 1, "2026"),
        ("1. e4 e5 2. Nf3 - - Nc6", 4, 2, "-"),
        ("1. e4 e5 3 Nf3", 3, 1, "3"),
        ("1. e4 9 9 9 e5", 2, 3, "9"),
    ] {
        let path = dir.file("x.pgn", format!("[Event \"x\"]\n\n{moves} *\n"));
        assert_eq!(games(0, &path), [format!("{plies},")], "{moves}");
        let tokens = if count == 1 { "token" } else { "tokens" };
        let note = format!("{count} {tokens} of digits or dashes between moves skipped");
        let text = notes(0, &path);
        assert!(text.contains(&note) && text.contains(&format!("the first is `{first}`")), "{moves}: {text}");
    }
    // Move numbers of every form, and signs of evaluation.
    for (moves, plies) in [
        ("1 e4 e5 2 Nf3 Nc6 3 Bb5", 5),
        ("1 e4 1 e5 2 Nf3 2 Nc6", 4),
        ("1.e4 1...e5 2.Nf3 2..Nc6", 4),
        ("1 . e4 e5 2 . Nf3", 3),
        ("1... e4 e5", 2),
        ("5. e4 7. e5", 2),
        ("1. e4 +-- e5 --+ 2. Nf3 +- Nc6 -+ 3. Bb5 --++", 5),
        ("1. e4 += e5 =+ 2. Nf3 -/+ Nc6 +/- 3. Bb5 +− a6 −+", 6),
        ("1. e4 ± e5 ∓ 2. Nf3 = ", 3),
        ("1. e4 -- 2. d4 --", 4),
        ("1. e4 <> 2. d4 <>", 4),
    ] {
        let path = dir.file("x.pgn", format!("[Event \"x\"]\n\n{moves} *\n"));
        assert_eq!((games(0, &path), notes(0, &path).as_str()), (vec![format!("{plies},")], ""), "{moves}");
    }
}

#[test]
fn letters_alone_are_pieces_or_signs() {
    let path = file("87e-piece-letter-alone.pgn");
    assert_eq!(games(1, &path), ["2,", "2,"]);
    assert_eq!(last_positions(1, &path)[0], "rnbqkb1r/pppppppp/5n2/8/8/5N2/PPPPPPPP/RNBQKB1R w KQkq - 2 2");
    let dir = Dir::new();
    for (moves, plies, last) in [
        // The letter of a knight in front of its move.
        ("1. N f3 N f6 2. N c3", 3, "Nf3 Nf6 Nc3"),
        ("1.N f3", 1, "Nf3"),
        ("1. e4 e5 2. N f3", 3, "e4 e5 Nf3"),
        ("1. e4 e5 2. {x} N f3!", 3, "e4 e5 Nf3"),
        ("1. e4 e5 2. N\nf3 N c6", 4, "e4 e5 Nf3 Nc6"),
        ("1 N f3 d5 2 N xd4", 3, "Nf3 d5 Nd4"),
        ("1. Nf3 d5 2. N d4 Nf6 3. N b5", 5, "Nf3 d5 Nd4 Nf6 Nb5"),
        ("1. Nf3 d5 2. N bd2", -2, "Nf3 d5"),
        ("1. Nf3 d5 2. d3 Nf6 3. N bd2", 5, "Nf3 d5 d3 Nf6 Nbd2"),
        ("1. e4 Nf6 2. e5 N xe4", 4, "e4 Nf6 e5 Ne4"),
        ("N f3", 1, "Nf3"),
        // The sign of a novelty or a diagram.
        ("1. Nf3 N Nf6", 2, "Nf3 Nf6"),
        ("1. Nf3 Nf6 N 2. d4", 3, "Nf3 Nf6 d4"),
        ("1. e4 N e5", 2, "e4 e5"),
        ("1. e4 c5 2. Nf3 N d6", 4, "e4 c5 Nf3 d6"),
        ("1. e4 D e5 D 2. Nf3 N", 3, "e4 e5 Nf3"),
        ("1. e4 e5 2. Nf3 TN Nc6", 4, "e4 e5 Nf3 Nc6"),
        ("1. e4 {x} N e5", 2, "e4 e5"),
        // Neither is certain, or no move of the piece.
        ("1. e4 N f6", -1, "e4"),
        ("1. e4 N c6", -1, "e4"),
        ("1. N e4", -0, ""),
        ("1. N d3 d5", -0, ""),
        ("1. e4 e5 2. D h5", -2, "e4 e5"),
        ("1. D h4", -0, ""),
        ("1. d4 d5 2. D a4", -2, "d4 d5"),
        ("1. e4 e6 2. d4 D h4", -3, "e4 e6 d4"),
        ("1. K e2", -0, ""),
        ("1. e4 e5 2. B c4", -2, "e4 e5"),
        ("1. S f3", -0, ""),
        ("1. n f3", -0, ""),
        ("1. e4 d5 2. N exd5", -2, "e4 d5"),
    ] {
        let is_bad = plies < 0 || last.is_empty();
        let bad = dir.file("x.pgn", format!("[Event \"x\"]\n\n{moves} *\n"));
        let good = dir.file("y.pgn", format!("[Event \"x\"]\n\n{last} *\n"));
        assert_eq!(games(i32::from(is_bad), &bad), [format!("{},", i32::abs(plies))], "{moves}");
        assert_eq!(last_positions(i32::from(is_bad), &bad), last_positions(0, &good), "{moves}");
    }
}

#[test]
fn tags_in_another_case_are_read() {
    let path = file("72-fen-tag-mixed-case-960.pgn");
    let fens = output(0, &["compute", "--columns", "fen", "--plies", "0", &path]);
    let fens: Vec<&str> = fens.lines().skip(1).collect();
    assert_eq!(fens[0], "qrknnbbr/pppppppp/8/8/8/8/PPPPPPPP/QRKNNBBR w KQkq - 0 1");
    assert_eq!(fens[1], "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKB1R w KQkq - 0 1");
    let dir = Dir::new();
    let fen = "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1";
    for name in ["FEN", "Fen", "fen", "fEN", "FeN"] {
        let path =
            dir.file("x.pgn", format!("[Event \"a\"]\n\n1. e4 *\n\n[Event \"x\"]\n[{name} \"{fen}\"]\n\n1. e4 *\n"));
        let fens = output(0, &["compute", "--columns", "fen", "--plies", "0", &path]);
        assert_eq!(fens.lines().nth(2), Some(fen), "{name}");
        assert_eq!(notes(0, &path), "", "{name}");
    }
    for (tag, column, value) in [
        ("WhiteELO \"2100\"", "white_elo", "2100"),
        ("whiteelo \"2100\"", "white_elo", "2100"),
        ("BLACKELO \"1900\"", "black_elo", "1900"),
        ("white \"Ada\"", "white", "Ada"),
        ("BLACK \"Bert\"", "black", "Bert"),
        ("RESULT \"1-0\"", "result", "1-0"),
        ("result \"½-½\"", "result", "1/2-1/2"),
        ("Timecontrol \"300+3\"", "time_control", "300+3"),
        ("TIMECONTROL \"300+3\"", "speed", "blitz"),
        ("eco \"B20\"", "eco", "B20"),
        ("Eco \"B20\"", "eco", "B20"),
        ("opening \"Pirc\"", "opening", "Pirc"),
        ("date \"2026.01.02\"", "month", "2026.01"),
        ("utcdate \"2026.01.02\"", "month", "2026.01"),
        ("site \"Here\"", "site", "Here"),
        ("termination \"Normal\"", "termination", "Normal"),
    ] {
        let path = dir.file("x.pgn", format!("[Event \"x\"]\n[{tag}]\n\n1. e4\n"));
        assert_eq!(
            output(0, &["compute", "--columns", column, "--plies", "0", &path]),
            format!("{column}\n{value}\n"),
            "{tag}"
        );
        if !matches!(column, "speed" | "month") {
            let row = output(0, &["games", "--columns", column, &path]);
            assert_eq!(row, format!("{column}\n{value}\n"), "{tag}");
        }
        let notes = notes(0, &path);
        assert!(!notes.contains("almost"), "{tag}: {notes}");
    }
    let variant = dir.file("x.pgn", "[Event \"x\"]\n[VARIANT \"Antichess\"]\n\n1. e4 *\n");
    assert!(notes(1, &variant).contains("rejected"));
    // In another case beside the usual one, or nearly the name.
    for (tags, name) in [
        ("[WhiteElo \"2000\"]\n[WhiteELO \"2100\"]", "WhiteELO"),
        ("[White_Elo \"2000\"]", "White_Elo"),
        ("[EC0 \"B20\"]", "EC0"),
        ("[WhiteEl0 \"2000\"]", "WhiteEl0"),
        ("[WhiteE1o \"2000\"]", "WhiteE1o"),
        ("[FEN1 \"x\"]", "FEN1"),
        ("[Time-Control \"60\"]", "Time-Control"),
        ("[Black2 \"x\"]", "Black2"),
    ] {
        let path = dir.file("x.pgn", format!("[Event \"x\"]\n{tags}\n\n1. e4 *\n"));
        let text = notes(0, &path);
        let note = format!("1 tag not read, with a name almost like that of a known tag; the first is `{name}`");
        assert!(text.contains(&note), "{tags}: {text}");
    }
    for names in
        ["WhiteTitle", "WhiteFideId", "EventDate", "PlyCount", "Whitey", "Annotator", "FENS", "WhiteRatingDiff"]
    {
        let path = dir.file("x.pgn", format!("[Event \"x\"]\n[{names} \"1\"]\n\n1. e4 *\n"));
        assert_eq!(notes(0, &path), "", "{names}");
    }
}

#[test]
fn moves_behind_a_position_are_rejected() {
    let dir = Dir::new();
    for rest in [
        "moves e2e4 e7e5",
        " moves e2e4",
        "moves",
        "MOVES e2e4",
        "moves: e2e4",
        "moves\te2e4",
        "Moves e2e4",
        "moves  e2e4",
    ] {
        for clocks in ["", "0 1 "] {
            let fen = format!("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - {clocks}{rest}");
            let path = dir.file("x.pgn", format!("[Event \"x\"]\n[FEN \"{fen}\"]\n\n1. d4 *\n"));
            assert!(
                notes(1, &path).contains("FEN tag: `moves`: moves after the position"),
                "{rest}: {}",
                notes(1, &path)
            );
            for name in ["x.fen", "x.epd"] {
                let path = dir.file(name, format!("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1\n{fen}\n"));
                assert!(notes(1, &path).contains("`moves`: moves after the position"), "{name} {rest}");
            }
        }
    }
}

#[test]
fn values_of_tags_may_be_broken_over_lines() {
    let path = file("46-tag-value-over-lines.pgn");
    let row = "event,white,black,result,white_elo,plies\n\
               A very long name of an event that some program wrapped at eighty columns,Ada,Bert,1-0,2100,2\n";
    assert_eq!(output(0, &["games", "--columns", "event,white,black,result,white_elo,plies", &path]), row);
    let dir = Dir::new();
    for (tags, event, site, white) in [
        ("[Event \"a\nb\"]\n[White \"w\"]", "a b", "", "w"),
        ("[Event \"a\nb\nc\"]\n[White \"w\"]", "a b c", "", "w"),
        ("[Event \"a\r\nb\"]\r\n[White \"w\"]\r", "a b", "", "w"),
        ("[Event \"a \n  b\"]\n[White \"w\"]", "a b", "", "w"),
        ("[Event \"a\"]\n[Site \"s\nt\"]\n[White \"w\"]", "a", "s t", "w"),
        ("[Site \"s\nt\"]\n[Event \"a\"]\n[White \"w\"]", "a", "s t", "w"),
        ("[Event \"a\"]\n[White \"w\nx\"]", "a", "", "w x"),
        ("[Event \"a\n(b) 1. e4\"]\n[White \"w\"]", "a (b) 1. e4", "", "w"),
        ("[Event \"a\nb\" ]\n[White \"w\"]", "a b", "", "w"),
        ("[Event \"a [x] b\nc\"]\n[White \"w\"]", "a [x] b c", "", "w"),
    ] {
        let path = dir.file("x.pgn", format!("{tags}\n\n1. e4 e5 *\n\n[Event \"z\"]\n\n1. d4 *\n"));
        let rows = output(0, &["games", "--columns", "event,site,white,plies", &path]);
        assert_eq!(rows, format!("event,site,white,plies\n{event},{site},{white},2\nz,,,1\n"), "{tags}");
    }
    // A value that is never closed ends with its line.
    let path = dir.file("x.pgn", "[Event \"a\n[White \"w\"]\n\n1. e4 *\n\n[Event \"b\n\n1. d4 *\n");
    assert_eq!(output(0, &["games", "--columns", "event,white,plies", &path]), "event,white,plies\na,w,1\nb,,1\n");
}

#[test]
fn zero_bytes_behind_compressed_members_are_padding() {
    let path = file("96-gz-concat-and-padding.pgn.gz");
    assert_eq!((games(0, &path), notes(0, &path).as_str()), (vec!["2,".to_owned(), "2,".to_owned()], ""));
    let dir = Dir::new();
    let games_of = |text: &str| text.as_bytes().to_vec();
    let first = games_of("[Event \"a\"]\n\n1. e4 e5 *\n\n");
    let second = games_of("[Event \"b\"]\n\n1. d4 d5 2. c4 *\n");
    let gz = |text: &[u8]| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        std::io::Write::write_all(&mut encoder, text).unwrap();
        encoder.finish().unwrap()
    };
    let bz2 = |text: &[u8]| {
        let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::default());
        std::io::Write::write_all(&mut encoder, text).unwrap();
        encoder.finish().unwrap()
    };
    for (name, members) in [("x.pgn.gz", [gz(&first), gz(&second)]), ("x.pgn.bz2", [bz2(&first), bz2(&second)])] {
        for zeros in [0, 1, 7, 511, 1 << 12, 300_000] {
            let path = dir.file(name, [&members.concat()[..], &vec![0; zeros]].concat());
            assert_eq!(
                (games(0, &path), notes(0, &path).as_str()),
                (vec!["2,".to_owned(), "3,".to_owned()], ""),
                "{zeros}"
            );
        }
        // Anything else behind them is damage, as before.
        for behind in [&b"x"[..], b"\0\0x", b"\x1f\x8b", b"BZ"] {
            let path = dir.file(name, [&members.concat()[..], behind].concat());
            assert_eq!(games(2, &path).len(), 2, "{name} {behind:?}");
        }
    }
}

#[test]
fn evaluations_beyond_the_range_are_counted() {
    let dir = Dir::new();
    for (comment, value, is_beyond) in [
        ("[%eval 310.00]", "31000,", false),
        ("[%eval 310.01]", "31000,", true),
        ("[%eval 1000]", "31000,", true),
        ("[%eval -400.5]", "-31000,", true),
        ("[%eval +99999]", "31000,", true),
        ("[%eval 327.67,20]", "31000,", true),
        ("[%eval #1000]", ",1000", false),
        ("[%eval #1001]", ",1000", true),
        ("[%eval #-5000]", ",-1000", true),
        ("[%eval 31000,12]", "31000,", false),
    ] {
        let path = dir.file("x.pgn", format!("[Event \"x\"]\n\n1. e4 {{ {comment} }} e5 *\n"));
        let rows = output(0, &["compute", "--columns", "score,mate", &path]);
        assert_eq!(rows.lines().nth(2), Some(value), "{comment}");
        let text = notes(0, &path);
        let note = "1 comment with an evaluation beyond 310 pawns or 1,000 moves to mate, read as that; the first is";
        assert_eq!(text.contains(&format!("{note} `{comment}`")), is_beyond, "{comment}: {text}");
    }
    for comment in ["+400.00/12 1s", "-310.01/9 0.5s", "400.00/12", "d=1, wv=500.00,"] {
        let path = dir.file("x.pgn", format!("[Event \"x\"]\n\n1. e4 {{{comment}}} e5 *\n"));
        assert!(notes(0, &path).contains("1 comment with an evaluation beyond 310 pawns"), "{comment}");
    }
}

#[test]
fn clocks_that_are_not_read_are_counted() {
    let dir = Dir::new();
    for (value, clock) in [
        ("0:05:00", "30000"),
        ("5:00", "30000"),
        ("1:05:30.7", "393070"),
        ("300", "30000"),
        ("0:15.17", "91700"),
        ("1:75.00", ""),
        ("--:--", ""),
        ("5 min", "500"),
        ("9m", ""),
        ("99999999:00:00", ""),
    ] {
        let comment = format!("[%clk {value}]");
        let path = dir.file("x.pgn", format!("[Event \"x\"]\n\n1. e4 {{ {comment} }} e5 {{[%clk 0:01:00]}} *\n"));
        let rows = output(0, &["compute", "--columns", "clock", &path]);
        assert_eq!(rows.lines().nth(1), Some(clock), "{comment}");
        let text = stderr_of(0, &["compute", "--columns", "clock", &path]);
        let note = format!("1 clock in a comment that was not read; the first is `{comment}`");
        assert_eq!(text.contains(&note), clock.is_empty(), "{comment}: {text}");
        assert_eq!(text.contains("that was not read"), clock.is_empty(), "{comment}: {text}");
    }
    // Only where clocks are read, whatever the threads; neither an empty one nor those of variations.
    let game = "[Event \"x\"]\n\n1. e4 {[%clk ?]} e5 {[%clk ]} 2. d4 {[%clk x] so} (2. Nf3 {[%clk y]}) *\n\n";
    let path = dir.file("y.pgn", game.repeat(3000));
    for threads in ["1", "3"] {
        let text = stderr_of(0, &["compute", "--columns", "clock", "--threads", threads, &path]);
        let note = "lanefish: 6,000 clocks in a comment that was not read; the first is `[%clk ?]`\n";
        assert_eq!(text, note);
    }
    assert_eq!(stderr_of(0, &["compute", "--columns", "fen,score", &path]), "");
}

#[test]
fn scores_of_the_evaluations_file_beyond_the_range_are_counted() {
    let dir = Dir::new();
    let line = |score: &str| {
        format!(
            "{{\"fen\":\"4k3/8/8/8/8/8/4P3/4K3 w - -\",\"evals\":[{{\"pvs\":[{{{score},\"line\":\"e2e4\"}}],\"knodes\":1,\
             \"depth\":9}}]}}\n"
        )
    };
    for (score, value, said) in [
        ("\"cp\":31000", "31000,", ""),
        ("\"cp\":31001", "31000,", "cp 31001"),
        ("\"cp\":-99999", "-31000,", "cp -99999"),
        ("\"mate\":1000", ",1000", ""),
        ("\"mate\":-1001", ",-1000", "mate -1001"),
    ] {
        let path = dir.file("x.jsonl", line(score));
        assert_eq!(output(0, &["compute", "--columns", "score,mate", &path]).lines().nth(1), Some(value), "{score}");
        let text = stderr_of(0, &["compute", "--columns", "mate", &path]);
        let note =
            format!("lanefish: 1 score beyond 310 pawns or 1,000 moves to mate, read as that; the first is `{said}`\n");
        assert_eq!(text, if said.is_empty() { "" } else { &note }, "{score}");
        assert_eq!(stderr_of(0, &["compute", "--columns", "fen", &path]), "");
    }
    let lines = line("\"cp\":40000") + &line("\"cp\":7") + &line("\"mate\":2000");
    let path = dir.file("y.jsonl", lines.repeat(2000));
    for threads in ["1", "3"] {
        let text = stderr_of(0, &["stats", "--threads", threads, &path]);
        let note = "4,000 scores beyond 310 pawns or 1,000 moves to mate, read as that; the first is `cp 40000`";
        assert!(text.contains(note), "{text}");
    }
}

#[test]
fn dates_time_controls_and_ratings_of_other_formats_are_counted() {
    let dir = Dir::new();
    let fen = "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1";
    let rows = [
        ("2026.01.02", "300+3", "2000"),
        ("22 Apr 2023", "300+3", "2000"),
        ("?", "3 min", "12000"),
        ("May 1", "fast", "abc"),
    ];
    let mut csv = "fen,date,time_control,white_elo\n".to_owned();
    let mut tsv = "fen\tdate\ttime_control\twhite_elo\n".to_owned();
    let mut jsonl = String::new();
    let mut pgn = String::new();
    for (date, control, elo) in rows {
        csv += &format!("{fen},{date},{control},{elo}\n");
        tsv += &format!("{fen}\t{date}\t{control}\t{elo}\n");
        jsonl += &format!(
            "{{\"fen\":\"{fen}\",\"date\":\"{date}\",\"time_control\":\"{control}\",\"white_elo\":\"{elo}\"}}\n"
        );
        pgn += &format!(
            "[Event \"x\"]\n[Date \"{date}\"]\n[TimeControl \"{control}\"]\n[WhiteElo \"{elo}\"]\n[FEN \"{fen}\"]\n\n*\n\n"
        );
    }
    let columns = "fen,date,time_control,white_elo";
    for (name, text) in [("x.csv", csv), ("x.tsv", tsv), ("x.jsonl", jsonl), ("x.pgn", pgn)] {
        let path = dir.file(name, text);
        let text = stderr_of(0, &["compute", "--columns", columns, &path]);
        for note in [
            "2 values of `date` were not understood (they have no month), first `22 Apr 2023` at ",
            "2 values of `time_control` were not understood (they have no speed), first `3 min` at ",
            "that `white_elo` cannot hold w",
        ] {
            assert!(text.contains(note), "{name}: {text}");
        }
        // As a table.
        #[cfg(feature = "parquet")]
        for table in ["y.parquet", "y.arrow"] {
            let table = dir.name(table);
            output(0, &["compute", "--columns", "fen,date,time_control", &path, "-o", &table, "--force"]);
            let text = stderr_of(0, &["compute", "--columns", "date,time_control", &table]);
            assert!(text.contains("2 values of `time_control` were not understood"), "{text}");
            assert_eq!(stderr_of(0, &["compute", "--columns", "fen", &table]), "");
        }
    }
    // Puzzles.
    let header = "PuzzleId,FEN,Moves,Rating,RatingDeviation,Popularity,NbPlays,Themes,GameUrl,OpeningTags\n";
    let puzzle = |numbers: &str| format!("0,6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1,h2h3 h7h6,{numbers},x,y,\n");
    for (numbers, column, value) in [
        ("high,75,90,100", "puzzle_rating", "high"),
        ("1500.5,75,90,100", "puzzle_rating", "1500.5"),
        ("-5,75,90,100", "puzzle_rating", "-5"),
        ("70000,75,90,100", "puzzle_rating", "70000"),
        ("1500?,75,90,100", "puzzle_rating", "1500?"),
        ("1500,x,90,100", "rating_deviation", "x"),
        ("1500,75,90%,100", "popularity", "90%"),
        ("1500,75,90,many", "plays", "many"),
    ] {
        let path = dir.file("p.csv", format!("{header}{}{}", puzzle("1500,75,90,100"), puzzle(numbers)));
        let text = stderr_of(0, &["compute", "--columns", column, &path]);
        assert!(
            text.contains(&format!("1 value that `{column}` cannot hold was left out, first `{value}` at ")),
            "{text}"
        );
        assert!(text.contains("p.csv:3"), "{text}");
        assert_eq!(stderr_of(0, &["compute", "--columns", "fen", &path]), "");
    }
}

#[test]
fn options_say_how_many_games_lack_what_they_test() {
    let dir = Dir::new();
    let game = |white: &str, black: &str| {
        format!("[Event \"x\"]\n[WhiteElo \"{white}\"]\n[BlackElo \"{black}\"]\n\n1. e4 *\n\n")
    };
    let ratings =
        [("2000", "2100"), ("?", "2100"), ("2000", "-"), ("1000", "?"), ("12000", "2100"), ("1000", "2100"), ("", "")];
    let path = dir.file("x.pgn", ratings.map(|(white, black)| game(white, black)).concat());
    for (option, elo, games, unknown) in [
        ("--min-elo", "1500", 6, 4),
        ("--max-elo", "2500", 5, 5),
        ("--max-elo", "1500", 7, 2),
        ("--min-elo", "900", 5, 5),
    ] {
        let text = stderr_of(0, &["games", option, elo, &path]);
        let note = format!("{option} left out {games} games");
        let lacking = format!(", {unknown} games for a rating that is unknown or cannot be read");
        assert!(text.contains(&note) && text.contains(&lacking), "{option} {elo}: {text}");
    }
    let known = dir.file("y.pgn", [game("2000", "2100"), game("1000", "2100")].concat());
    assert!(!stderr_of(0, &["games", "--min-elo", "1500", &known]).contains("unknown"));
}

/// Names are looked at once for all games that have the same: those that only begin alike are others.
#[test]
fn names_that_begin_alike_are_looked_at_again() {
    let dir = Dir::new();
    let usual = "[Event \"x\"]\n[TimeControl \"60+0\"]\n[Termination \"Normal\"]\n\n1. e4 *\n\n";
    for (other, value) in [("TimeContRol", "60+0"), ("TimeControL", "60+0"), ("TerminatioN", "Normal")] {
        let column = if value == "Normal" { "termination" } else { "time_control" };
        let game = format!("[Event \"y\"]\n[{other} \"{value}\"]\n\n1. d4 *\n\n");
        let known = usual.lines().filter(|line| !line.starts_with(&format!("[{}", &other[..4])));
        let before: String = known.map(|line| format!("{line}\n")).collect();
        let same_places = usual.replace(if value == "Normal" { "Termination" } else { "TimeControl" }, other);
        for text in [format!("{usual}{game}"), format!("{usual}{same_places}"), format!("{before}{same_places}")] {
            let path = dir.file("a.pgn", &text);
            let rows = output(0, &["games", "--columns", column, &path]);
            assert_eq!(rows.lines().last(), Some(value), "{text}");
        }
    }
}
