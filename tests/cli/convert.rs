//! `convert`: round trips, and the fields reported as lost.

use super::{Dir, KIWIPETE, START, lanefish, output, sample, stderr_of};
use std::collections::BTreeSet;
use std::fs;

#[test]
fn text_to_boards_and_back_is_the_same_text() {
    let dir = Dir::new();
    let input = sample("sample.epd");
    let boards = dir.name("a.boards");
    output(0, &["convert", &input, "-o", &boards]);
    assert!(output(0, &["convert", "--to", "fen", &boards]) == fs::read_to_string(&input).unwrap());
    assert!(fs::read(&boards).unwrap() == fs::read(sample("sample.boards")).unwrap());
}

#[test]
fn operations_survive_in_boards_and_epd() {
    let dir = Dir::new();
    let boards = dir.name("a.boards");
    let famous = sample("famous.epd");
    output(0, &["convert", &famous, "-o", &boards]);
    let epd = output(0, &["convert", "--to", "epd", &famous]);
    assert!(epd.contains("id \"Reti 1921\";"));
    assert!(output(0, &["convert", "--to", "epd", &boards]) == epd);
}

/// The fields of games and puzzles survive in boards files; everything that EPD can express as operations is kept.
#[test]
fn fields_survive_in_boards() {
    let dir = Dir::new();
    let columns = "white,black,termination,puzzle_id,puzzle_rating,rating_deviation,popularity,plays,themes,move,\
                   operations";
    let games = dir.file(
        "a.pgn",
        "[Event \"x\"]\n[White \"Ann\"]\n[Black \"Bea, \\\"B\\\"\"]\n[Termination \"Normal\"]\n\n1. e4 e5 *\n\n\
         [Event \"y\"]\n[White \"?\"]\n\n1. d4 *\n",
    );
    let puzzles = dir.file(
        "b.csv",
        "0aB,4k3/8/8/8/8/8/4P3/4K3 w - - 0 1,e2e4 e8e7,1432,80,90,100,endgame short,,\n\
         1aB,4k3/8/8/8/8/8/4P3/4K3 w - - 0 1,e2e4 e8e7,high,80,90,100,,,\n",
    );
    let epd = dir.file("c.epd", format!("{START} bm Nf3 e4;\n{START} bm Ke2;\n"));
    let inputs = [&*games, &puzzles, &epd];
    let boards = dir.name("x.boards");
    let convert = [&["convert", "-o", &boards], &inputs[..]].concat();
    let note = "lanefish: boards cannot store these fields, so they were dropped: tag `Event` (2 games)\n";
    let unread = format!("lanefish: 1 value that `move` cannot hold was left out, first `Ke2` at {epd}:2\n");
    let rating =
        format!("lanefish: 1 value that `puzzle_rating` cannot hold was left out, first `high` at {puzzles}:2\n");
    assert_eq!(stderr_of(0, &convert), format!("{note}{unread}{rating}"));
    let rows = |inputs: &[&str]| output(0, &[&["compute", "--columns", columns], inputs].concat());
    assert_eq!(rows(&[&boards]), rows(&inputs));
    let info = output(0, &["info", &boards]);
    for column in ["1.4", " white black termination puzzle_id puzzle_rating themes popularity plays rating_deviation"] {
        assert!(info.contains(column), "{column}: {info}");
    }
    // To EPD: boards files and the original inputs give the same text and lose the same fields.
    let to_epd = |inputs: &[&str]| {
        let arguments = [&["convert", "--to", "epd"], inputs].concat();
        (output(0, &arguments), stderr_of(0, &arguments))
    };
    let (text, stderr) = to_epd(&inputs);
    assert!(stderr.contains(&rating), "{stderr}");
    let stderr = stderr.replace(&rating, "");
    let of_boards = stderr.replace(", tag `Event` (2 games)", "").replace(&unread, "");
    assert_eq!(to_epd(&[&boards]), (text.clone(), of_boards));
    assert!(text.contains(" id \"0aB\"; c0 \"rating 1432\"; c1 \"endgame short\";\n"));
    for lost in ["`move` (5 records)", "`white` (3 records)", "`black` (3 records)", "`termination` (3 records)"] {
        assert!(stderr.contains(lost), "{stderr}");
    }
    assert!(!stderr.contains("puzzle") && !stderr.contains("themes"), "{stderr}");
    for lost in
        ["`popularity` (2 records)", "`plays` (2 records)", "`rating_deviation` (2 records)", "tag `Event` (2 games)"]
    {
        assert!(stderr.contains(lost), "{stderr}");
    }
    assert_eq!(to_epd(&[&epd]).1, unread);
    let stderr = stderr_of(0, &["convert", "--to", "fen", &puzzles]);
    for lost in
        ["`puzzle_id` (2 records)", "`puzzle_rating` (1 record)", "`themes` (1 record)", "`operations` (2 records)"]
    {
        assert!(stderr.contains(lost), "{stderr}");
    }
}

/// Depth and nodes of evaluations are columns; EPD has an operation for the depth only.
#[test]
fn evaluations_keep_depth_and_nodes() {
    let dir = Dir::new();
    let evals = dir.file(
        "a.jsonl",
        "{\"fen\":\"4k3/8/8/8/8/8/4P3/4K3 w - -\",\"evals\":[{\"pvs\":[{\"cp\":69,\"line\":\"e2e4 e8e7\"}],\
         \"knodes\":4189972999,\"depth\":46}]}\n\
         {\"fen\":\"4k3/8/8/8/8/8/4P3/4K3 b - -\",\"evals\":[]}\n",
    );
    let boards = dir.name("a.boards");
    let lost = "lanefish: boards cannot store these fields, so they were dropped: moves of lines of play after the first (1)\n";
    assert_eq!(stderr_of(0, &["convert", &evals, "-o", &boards]), lost);
    let columns = "score,depth,knodes,move";
    for input in [&evals, &boards] {
        assert_eq!(
            output(0, &["compute", "--columns", columns, input]),
            "score,depth,knodes,move\n69,46,4189972999,e2e4\n,,,\n"
        );
    }
    let stderr = stderr_of(0, &["convert", &boards, "--to", "epd"]);
    assert!(stderr.contains("`knodes` (1 record)") && !stderr.contains("depth"), "{stderr}");
}

/// The note on tags names each tag that no field carries, whatever the threads and the format.
#[test]
fn lost_tags_are_named() {
    let dir = Dir::new();
    let game = "[Event \"a\"]\n[Round \"-\"]\n[Round \"3\"]\n[White \"x\"]\n[Result \"1-0\"]\n[WhiteTitle \"GM\"]\n\n1. e4 1-0\n\n\
                [Event \"?\"]\n[Round \"2\"]\n\n1. d4 *\n\n";
    let many: String = (0..25).map(|at| format!("[X{at:02} \"1\"]\n")).collect();
    let pgn = dir.file("a.pgn", game.repeat(500));
    let wide = dir.file("b.pgn", format!("{many}\n1. e4 *\n"));
    let lost = "tag `Event` (500 games), tag `Round` (1,000 games), tag `WhiteTitle` (500 games)";
    for threads in ["1", "3"] {
        let out = dir.name(&format!("{threads}.boards"));
        let stderr = stderr_of(0, &["convert", "--threads", threads, &pgn, "-o", &out]);
        assert_eq!(stderr, format!("lanefish: boards cannot store these fields, so they were dropped: {lost}\n"));
    }
    let stderr = stderr_of(0, &["convert", &wide, "-o", &dir.name("w.boards")]);
    assert!(stderr.contains("tag `X00` (1 game), ") && stderr.ends_with("tag `X19` (1 game) and 5 more\n"), "{stderr}");
    assert!(!stderr_of(0, &["stats", &pgn]).contains("Event"));
    #[cfg(feature = "parquet")]
    {
        let stderr = stderr_of(0, &["convert", &pgn, "-o", &dir.name("p.parquet")]);
        assert!(stderr.contains(lost), "{stderr}");
    }
}

/// Whatever else is in the text of games is named by its kind, exactly, for every format, selection and range.
#[test]
fn lost_texts_are_named() {
    let dir = Dir::new();
    let plain = "[White \"x\"]\n[WhiteElo \"2500\"]\n\n1. e4 { [%eval 0.17] [%clk 0:05:00] } e5 { [%clk 0:05:00] } 2. Nf3 {+0.35} *\n\n";
    let game = "[White \"x\"]\n\n1. e4 $1 {best} (1. d4 {x} (1. c4)) e5 {[%emt 0:00:01] [%csl Ga1]} 2. Nf3 {+0.35/12 1s} Nc6 ; so\n*\n\n";
    let pgn = dir.file("a.pgn", [plain.repeat(300), format!("{game}{plain}").repeat(2000)].concat());
    let lost = |games: u64| {
        let n = |each: u64| lanefish_core::text::numbers::grouped(each * games);
        format!(
            "variations ({0}), depths, times and more beside scores of engines ({0}), comments ({1}), `[%emt]` ({0}), `[%csl]` ({0}), NAGs ({0})",
            n(1),
            n(2)
        )
    };
    let convert = |arguments: &[&str], threads: &str| {
        let out = dir.name("x.boards");
        let stderr =
            stderr_of(0, &[&["convert", &pgn, "-o", &out, "--force", "--threads", threads], arguments].concat());
        stderr.replace("lanefish: boards cannot store these fields, so they were dropped: ", "").trim_end().to_owned()
    };
    for threads in ["1", "3"] {
        assert_eq!(convert(&[], threads), lost(2000));
        assert_eq!(convert(&["--limit", "1200"], threads), "");
        // Five positions of each game, four of the plain ones.
        assert_eq!(convert(&["--limit", "1201"], threads), lost(1));
        assert_eq!(convert(&["--skip", "1205"], threads), lost(1999));
        assert_eq!(convert(&["--skip", "1204", "--limit", "6"], threads), lost(2));
        let selected = convert(&["--min-elo", "2000"], threads);
        assert!(!selected.contains("comments"), "{selected}");
    }
    let with_variations = convert(&["--variations"], "3");
    assert!(
        with_variations.contains("comments (6,000)") && !with_variations.contains("variations"),
        "{with_variations}"
    );
    assert!(!stderr_of(0, &["stats", &pgn]).contains("comments"));
    #[cfg(feature = "parquet")]
    {
        let stderr = stderr_of(0, &["convert", &pgn, "-o", &dir.name("p.parquet")]);
        assert!(stderr.contains(&lost(2000)), "{stderr}");
    }
}

/// The note on what the output cannot store counts what was taken, whatever chooses the records: a game counts if one of
/// its records is in the output.
#[test]
fn losses_are_those_of_what_is_taken() {
    const GAMES: usize = 3000;
    let dir = Dir::new();
    let moves: Vec<&str> = "1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4 Nf6".split(' ').collect();
    let has_comment = |game: usize| game.is_multiple_of(5);
    let name = |game: usize| ["Annotator", "Event", "Round"][game % 3];
    let text: String = (0..GAMES)
        .map(|game| {
            let plies = 1 + game % 7;
            let moves = moves[..plies + plies.div_ceil(2)].join(" ");
            let comment = if has_comment(game) { " {so}" } else { "" };
            let elo = 1000 + game;
            format!("[White \"x\"]\n[WhiteElo \"{elo}\"]\n[{} \"7\"]\n\n{moves}{comment} *\n\n", name(game))
        })
        .collect();
    let pgn = dir.file("a.pgn", text);
    let outs = [dir.name("a.boards"), dir.name("b.boards")];
    let pattern = dir.name("{part}.boards");
    let expected = |outs: &[String]| {
        let outs: Vec<&str> = outs.iter().map(|out| &**out).collect();
        let csv = output(0, &[&["compute", "--columns", "white_elo"], &outs[..]].concat());
        let games: BTreeSet<usize> = csv.lines().skip(1).map(|elo| elo.parse::<usize>().unwrap() - 1000).collect();
        let tags = ["Annotator", "Event", "Round"].into_iter().filter_map(|tag| {
            let count = games.iter().filter(|&&game| name(game) == tag).count() as u64;
            (count != 0).then(|| format!("tag `{tag}` ({})", lanefish_core::text::numbers::counted(count, "game")))
        });
        let comments = games.iter().filter(|&&game| has_comment(game)).count() as u64;
        let comments =
            (comments != 0).then(|| format!("comments ({})", lanefish_core::text::numbers::grouped(comments)));
        tags.chain(comments).collect::<Vec<_>>().join(", ")
    };
    let mut different = BTreeSet::new();
    let mut threads = ["1", "4"].into_iter().cycle();
    for choice in [
        &[][..],
        &["--where", "white_elo >= 3500"],
        &["--where", "white_elo >= 9999"],
        &["--where", "ply = 5"],
        &["--where", "ply = 5", "--skip", "100", "--limit", "57"],
        &["--where", "white_elo % 2 = 1", "--limit", "1"],
        &["--where", "white_elo % 2 = 1", "--skip", "5500"],
        &["--skip", "100", "--limit", "57"],
        &["--sample", "1%"],
        &["--sample", "1%", "--seed", "7", "--where", "ply > 2"],
        &["--sample", "100"],
        &["--sample", "1000", "--seed", "3"],
        &["--sample", "100", "--where", "ply > 2"],
        &["--sample", "100", "--skip", "20", "--limit", "30"],
        &["--sample", "1000000"],
    ] {
        for (command, outs) in [
            (&["convert", "-o", &outs[0]][..], &outs[..1]),
            (&["shuffle", "-o", &outs[0]], &outs[..1]),
            (&["interleave", "-o", &outs[0]], &outs[..1]),
            (&["dedup", "-o", &outs[0]], &outs[..1]),
            (&["dedup", "--key", "record", "--counts", "-o", &outs[0]], &outs[..1]),
            (&["split", "--parts", "a=0.3,b=0.7", "-o", &pattern], &outs),
        ] {
            let threads = threads.next().unwrap();
            let stderr = stderr_of(0, &[command, choice, &[&pgn, "--force", "--threads", threads]].concat());
            let note = "lanefish: boards cannot store these fields, so they were dropped: ";
            let lost = stderr.lines().find_map(|line| line.strip_prefix(note)).unwrap_or_default();
            assert_eq!(lost, expected(outs), "{command:?} {choice:?} with {threads} threads");
            different.insert(lost.to_owned());
        }
        // Six commands: the next choice meets each of them with the other number of threads.
        threads.next();
    }
    assert!(different.len() > 15 && different.contains(""), "{different:#?}");
}

/// The same for formats without games: what is lost of each record.
#[test]
fn losses_of_lines_are_those_of_the_records_taken() {
    let dir = Dir::new();
    let evals: String = (0..3000)
        .map(|number| {
            let line = ["e2e4", "e2e4 e8e7", "e2e4 e8e7 e4e5"][number % 3];
            format!(
                "{{\"fen\":\"4k3/8/8/8/8/8/4P3/4K3 w - -\",\"evals\":[{{\"pvs\":[{{\"cp\":{number},\"line\":\"{line}\"}}],\
                 \"knodes\":1,\"depth\":46}}]}}\n"
            )
        })
        .collect();
    let puzzles: String = (0..3000)
        .map(|number| {
            let moves = ["e2e4 e8e7", "e2e4 e8e7 e4e5", "e2e4 e8e7 e4e5 e7e8"][number % 3];
            format!("x,4k3/8/8/8/8/8/4P3/4K3 w - - 0 1,{moves},{},80,90,100,,,\n", 1000 + number)
        })
        .collect();
    let table = format!("PuzzleId\tFEN\tMoves\tRating\n{}", {
        let lines = puzzles.lines().map(|line| line.split(',').take(4).collect::<Vec<_>>().join("\t") + "\n");
        lines.collect::<String>()
    });
    let inputs = [
        (dir.file("a.jsonl", evals), "score", 0, "moves of lines of play after the first"),
        (dir.file("a.csv", puzzles), "puzzle_rating", 1000, "moves of solutions after the first"),
        (dir.file("a.tsv", table), "puzzle_rating", 1000, "moves of solutions after the first"),
    ];
    let out = dir.name("a.boards");
    for (input, column, least, what) in &inputs {
        let above = format!("{column} >= {}", least + 2000);
        let none = format!("{column} < 0");
        for choice in [
            &[][..],
            &["--where", &above],
            &["--where", &above, "--skip", "10", "--limit", "5"],
            &["--where", &none],
            &["--sample", "3%"],
            &["--sample", "70"],
        ] {
            for threads in ["1", "4"] {
                let stderr =
                    stderr_of(0, &[&["convert", input, "-o", &out, "--force", "--threads", threads], choice].concat());
                let taken = output(0, &["compute", "--columns", column, &out]);
                let taken = taken.lines().skip(1).map(|number| number.parse::<u64>().unwrap() - least);
                let moves: u64 = taken.map(|number| number % 3).sum();
                let expected = match moves {
                    0 => String::new(),
                    moves => format!("{what} ({})", lanefish_core::text::numbers::grouped(moves)),
                };
                let note = "lanefish: boards cannot store these fields, so they were dropped: ";
                let lost = stderr.lines().find_map(|line| line.strip_prefix(note)).unwrap_or_default();
                assert_eq!(lost, expected, "{input} {choice:?}: {stderr}");
            }
        }
    }
}

/// Comments that look like evaluations and are none that is known are named once by every command that reads scores.
#[test]
fn unread_evaluations_are_named() {
    let dir = Dir::new();
    let game = "[White \"x\"]\n\n1. e4 {e7e5 +0.35/12} e5 {0.60/4 pawns} *\n\n";
    let pgn = dir.file("a.pgn", game.repeat(2000));
    let note =
        "lanefish: 4,000 comments with what looks like an evaluation that was not read; the first is `e7e5 +0.35/12`\n";
    for threads in ["1", "3"] {
        let out = dir.name("x.boards");
        for arguments in [
            &["stats", &pgn][..],
            &["compute", "--columns", "score", &pgn],
            &["compute", "--columns", "mate", &pgn],
            &["convert", "--force", "-o", &out, &pgn],
        ] {
            let stderr = stderr_of(0, &[arguments, &["--threads", threads]].concat());
            assert_eq!(stderr.matches(note).count(), 1, "{arguments:?}: {stderr}");
        }
    }
    let stderr = stderr_of(0, &["compute", "--columns", "score", "--skip", "2", "--limit", "2", &pgn]);
    assert!(stderr.contains("4 comments with"), "{stderr}");
    for arguments in [&["compute", "--columns", "fen,clock", &pgn][..], &["games", &pgn]] {
        assert_eq!(stderr_of(0, arguments), "");
    }
}

#[test]
fn lost_fields_are_reported() {
    let stderr = stderr_of(0, &["convert", "--to", "fen", &sample("famous.epd")]);
    assert!(stderr.contains("`operations`") && stderr.contains("426"), "{stderr}");
    assert_eq!(stderr_of(0, &["-q", "convert", "--to", "fen", &sample("famous.epd")]), "");
}

#[test]
fn perft_files_keep_their_counts() {
    let dir = Dir::new();
    let (boards, perft) = (dir.name("a.boards"), dir.name("a.perft"));
    output(0, &["convert", &sample("perft.epd"), "-o", &boards]);
    output(0, &["convert", &boards, "-o", &perft]);
    let report = output(0, &["perft", "--suite", &perft, "--max-nodes", "10000"]);
    assert!(report.starts_with("9 positions, "), "{report}");
}

#[test]
fn existing_files_are_replaced_only_with_force() {
    let dir = Dir::new();
    let out = dir.file("a.fen", "mine");
    let stderr = stderr_of(2, &["convert", &sample("perft.epd"), "-o", &out]);
    assert!(stderr.contains("--force"), "{stderr}");
    assert_eq!(fs::read_to_string(&out).unwrap(), "mine");
    output(0, &["-q", "convert", &sample("perft.epd"), "-o", &out, "--force"]);
    assert!(fs::read_to_string(&out).unwrap().starts_with(START));
}

#[test]
fn a_failed_run_leaves_nothing_behind() {
    let dir = Dir::new();
    let input = dir.file("a.fen", format!("{START}\nnonsense\n{KIWIPETE}\n"));
    stderr_of(2, &["convert", "--strict", &input, "-o", &dir.name("b.fen")]);
    assert_eq!(dir.list(), ["a.fen"]);
    stderr_of(1, &["convert", &input, "-o", &dir.name("b.fen")]);
    assert_eq!(fs::read_to_string(dir.path("b.fen")).unwrap(), format!("{START}\n{KIWIPETE}\n"));
}

#[test]
fn a_format_is_needed_and_must_be_known() {
    let input = sample("perft.epd");
    assert!(stderr_of(2, &["convert", &input]).contains("--to"));
    let dir = Dir::new();
    assert!(stderr_of(2, &["convert", &input, "-o", &dir.name("a.xyz")]).contains("--to"));
    assert!(stderr_of(2, &["convert", &input, "--to", "xyz"]).contains("boards"));
    assert!(stderr_of(2, &["convert", "--from", "xyz", &input, "--to", "fen"]).contains("xyz"));
    assert_eq!(dir.list(), [""; 0]);
}

#[test]
fn boards_through_pipes() {
    let boards =
        lanefish(&["convert", "--to", "boards", &sample("perft.epd")]).assert().success().get_output().stdout.clone();
    lanefish(&["convert", "--to", "fen", "-q", "-"])
        .write_stdin(boards)
        .assert()
        .success()
        .stdout(output(0, &["-q", "convert", "--to", "fen", &sample("perft.epd")]));
}

#[test]
fn an_output_in_a_missing_directory() {
    let dir = Dir::new();
    let stderr = stderr_of(2, &["convert", &sample("perft.epd"), "-o", &dir.name("no/such/a.fen")]);
    assert!(stderr.contains("a.fen"), "{stderr}");
}

#[test]
fn read_only_formats_are_rejected_before_anything_is_opened() {
    let dir = Dir::new();
    let input = sample("perft.epd");
    for name in ["a.pgn", "a.pgn.zst"] {
        let stderr = stderr_of(2, &["convert", &input, "-o", &dir.name(name)]);
        assert!(
            stderr.contains("pgn can be read but not written") && stderr.contains("fen, epd, perft, boards"),
            "{stderr}"
        );
    }
    for command in ["convert", "generate"] {
        for format in ["pgn", "puzzles", "evals"] {
            let stderr = stderr_of(2, &[command, "--to", format, "-o", &dir.name("a.fen")]);
            assert!(stderr.contains("not written") && stderr.contains("boards"), "{stderr}");
        }
        let stderr = stderr_of(2, &[command, "--to", "board", "-o", &dir.name("a.fen")]);
        assert!(stderr.contains("did you mean `boards`?"), "{stderr}");
    }
    assert_eq!(dir.list(), [""; 0]);
}

/// Whole blocks and nothing else, written from text by several threads and read in chunks that end where a block does.
#[test]
fn exactly_whole_blocks_are_written_and_read() {
    let dir = Dir::new();
    let text = fs::read_to_string(sample("sample.epd")).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    for blocks in [1, 4, 12] {
        let records = blocks * 4096;
        let input: String = (0..records).map(|record| format!("{}\n", lines[record % lines.len()])).collect();
        let epd = dir.file("x.epd", &input);
        let boards = dir.name("x.boards");
        for threads in ["1", "3"] {
            let convert = ["convert", "--force", "--threads", threads, &epd, "-o", &boards];
            output(0, &convert);
            for threads in ["1", "3"] {
                let back = ["convert", "--to", "fen", "--threads", threads, &boards];
                assert!(output(0, &back) == input, "{blocks} blocks");
            }
            let verified = super::json(0, &["verify", "--json", &boards]);
            assert_eq!(verified["files"][0]["records"], records);
        }
    }
}

/// Games are counted in the note on tags where they have a position in what is converted.
#[test]
fn lost_tags_of_skipped_games_are_not_named() {
    let dir = Dir::new();
    let game = "[Round \"1\"]\n[White \"x\"]\n\n1. e4 e5 2. Nf3 *\n\n[Event \"?\"]\n[Round \"2\"]\n\n1. d4 *\n\n";
    let pgn = dir.file("a.pgn", format!("{}[A \"1\"]\n\n1. c4 *\n", game.repeat(20_000)));
    for range in [["3", "1"], ["70000", "40000"], ["119999", "100"], ["120000", "5"]] {
        let range = ["--skip", range[0], "--limit", range[1]];
        let games = output(0, &[&["compute", "--columns", "game", &pgn], &range[..]].concat());
        let mut games: Vec<u64> = games.lines().skip(1).map(|line| line.parse().unwrap()).collect();
        games.dedup();
        let last = u64::from(games.last() == Some(&40_000));
        let rounds = games.len() as u64 - last;
        for threads in ["1", "3"] {
            let out = dir.name("x.boards");
            let convert = ["convert", &pgn, "-o", &out, "--threads", threads];
            let stderr = stderr_of(0, &[&convert[..], &range].concat());
            fs::remove_file(&out).unwrap();
            let has = |tag: &str, count: u64| match count {
                0 => assert!(!stderr.contains(tag), "{range:?}: {stderr}"),
                _ => {
                    let count = stderr.replace(',', "").contains(&format!("`{tag}` ({count} game"));
                    assert!(count, "{range:?}: {rounds} {stderr}");
                }
            };
            has("A", last);
            has("Round", rounds);
        }
    }
}

/// What no field carries of puzzles and evaluations is named, with counts; not more of them than are converted.
#[test]
fn lost_moves_and_lines_are_named() {
    let dir = Dir::new();
    let fen = "r6k/pp2r2p/4Rp1Q/3p4/8/1N1P2R1/PqP2bPP/7K b - - 0 24";
    let puzzle = format!("a,{fen},f2g3 e6e7 b2b1 b3c1 b1c1 h6c1,1760,80,83,72,short,https://lichess.org/x,");
    let puzzles = dir.file("p.csv", format!("{puzzle}\n{puzzle}\n"));
    let evals = dir.file(
        "e.jsonl",
        "{\"fen\":\"8/8/8/4k3/8/4K3/4P3/8 w - -\",\"evals\":[{\"pvs\":[{\"cp\":1,\"line\":\"e3d3 e5d5 e2e4\"},{\"cp\":0,\"line\":\"e3f3\"}],\
         \"knodes\":5,\"depth\":20},{\"pvs\":[{\"cp\":2,\"line\":\"e3d3\"}],\"knodes\":4,\"depth\":10}]}\n",
    );
    let note = |arguments: &[&str]| stderr_of(0, &[&["convert", "--to", "boards"], arguments].concat());
    assert!(note(&[&puzzles]).contains("moves of solutions after the first (8)"));
    assert!(note(&["--limit", "1", &puzzles]).contains("moves of solutions after the first (4)"));
    assert!(note(&["--skip", "1", "--threads", "3", &puzzles]).contains("moves of solutions after the first (4)"));
    let text = note(&[&evals]);
    for kind in ["further lines of play (1)", "shallower evaluations (1)", "moves of lines of play after the first (2)"]
    {
        assert!(text.contains(kind), "{kind}: {text}");
    }
    #[cfg(feature = "parquet")]
    if let Some(table) = crate::support::shared_data("regressions/tables3/hf-puzzles.parquet") {
        assert!(note(&[table.to_str().unwrap()]).contains("moves of solutions after the first"));
    }
}

/// Scripts hear nothing of success; -v says what was written.
#[test]
fn written_records_are_reported_on_request() {
    let dir = Dir::new();
    let boards = dir.name("a.boards");
    let arguments = ["convert", "--force", "--limit", "3", "-o", &boards, &sample("sample.epd")];
    assert_eq!(stderr_of(0, &arguments), "");
    let told = stderr_of(0, &[&["-v"], &arguments[..]].concat());
    assert!(told.contains(&format!("lanefish: wrote {boards}: 3 records\n")), "{told}");
}
