//! PGN and the other dumps of Lichess: every position of every game compared with an independent replay; chunks,
//! damage, accounting.

use crate::formats::round_trips::{lines, read};
use crate::support::Ended;
use crate::support::{Random, shared_data};
use cozy_chess::{Board, File, Move, Piece, Rank, Square};
use lanefish::chess::Position;
use lanefish::choose::GameFilter;
use lanefish::formats::Format;
use lanefish::formats::pgn::boundary;
use lanefish::table::{Batch, Field, Fields};
use std::io::Read;
use std::path::PathBuf;
use std::sync::Arc;

/// Reads a text as a PGN file.
fn read_text(text: &[u8], chunk_size: usize, threads: usize) -> (Batch, Ended) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("games.pgn");
    std::fs::write(&path, text).unwrap();
    read(&[path], |options| {
        options.chunk_size = chunk_size;
        options.threads = threads;
    })
}

/// Reads a text with a selection.
fn select(text: &str, selection: GameFilter) -> (Batch, Ended) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("games.pgn");
    std::fs::write(&path, text).unwrap();
    read(&[path], |options| {
        options.read.choose.games = Some(Arc::new(selection));
    })
}

fn fens(batch: &Batch) -> Vec<String> {
    (0..batch.len()).map(|row| batch.position(row).unwrap().to_string()).collect()
}

fn reasons(summary: &Ended) -> Vec<&'static str> {
    summary.first_rejects.iter().flat_map(|reject| reject.reasons.clone()).collect()
}

/// The FEN tag of each game and the moves of its main line, by a minimal parser for well-formed files.
fn plain_games(text: &str) -> Vec<(Option<String>, Vec<String>)> {
    let mut games = Vec::new();
    for game in text.split("[Event \"").skip(1) {
        let fen = game.lines().find_map(|line| line.strip_prefix("[FEN \"")?.strip_suffix("\"]"));
        let movetext: String = game
            .lines()
            .skip(1)
            .filter(|line| !line.starts_with('['))
            .flat_map(|line| line.chars().chain(['\n']))
            .collect();
        let mut bare = String::new();
        let (mut comment, mut depth) = (false, 0);
        for letter in movetext.chars() {
            match letter {
                '{' => comment = true,
                '}' => comment = false,
                '(' if !comment => depth += 1,
                ')' if !comment => depth -= 1,
                '\r' => {}
                _ if comment || depth > 0 => {}
                '.' => bare.push_str(". "),
                _ => bare.push(letter),
            }
        }
        let moves = bare
            .split_whitespace()
            .filter(|token| !token.starts_with(|first: char| first.is_ascii_digit() || ".*$".contains(first)))
            .map(|token| token.trim_end_matches(['+', '#', '!', '?']).to_owned())
            .collect();
        games.push((fen.map(str::to_owned), moves));
    }
    games
}

/// The legal move that matches a text in SAN, found by trying all legal moves.
fn find(board: &Board, san: &str) -> Option<Move> {
    let color = board.side_to_move();
    let mut legal = Vec::new();
    board.generate_moves(|moves| {
        legal.extend(moves);
        false
    });
    // cozy-chess encodes castling as king takes own rook.
    let castles = |mv: &Move| board.color_on(mv.to) == Some(color);
    if let "O-O" | "O-O-O" = san {
        return legal.into_iter().find(|mv| castles(mv) && (mv.to.file() > mv.from.file()) == (san == "O-O"));
    }
    let (san, promotion) = match san.split_once('=') {
        Some((san, piece)) => (san, piece.to_lowercase().parse::<Piece>().ok()),
        None => (san, None),
    };
    let (piece, rest) = match san.chars().next()? {
        letter @ ('K' | 'Q' | 'R' | 'B' | 'N') => (letter.to_lowercase().to_string().parse().ok()?, &san[1..]),
        _ => (Piece::Pawn, san),
    };
    let rest = rest.replace('x', "");
    let to: Square = rest[rest.len() - 2..].parse().ok()?;
    let origin = &rest[..rest.len() - 2];
    let fits = |mv: &Move| {
        board.piece_on(mv.from) == Some(piece)
            && mv.to == to
            && mv.promotion == promotion
            && !castles(mv)
            && origin.chars().all(|letter| {
                let letter = letter.to_string();
                letter
                    .parse::<File>()
                    .map_or_else(|_| letter.parse::<Rank>().unwrap() == mv.from.rank(), |file| file == mv.from.file())
            })
            && (piece != Piece::Pawn || !origin.is_empty() || mv.from.file() == to.file())
    };
    let mut fitting = legal.into_iter().filter(fits);
    let found = fitting.next()?;
    fitting.next().is_none().then_some(found)
}

/// The FEN of a board as we write it: an en passant square only if a capture is legal.
fn fen_of(board: &Board) -> String {
    let mut captures = false;
    if let Some(file) = board.en_passant() {
        let rank = Rank::Sixth.relative_to(board.side_to_move());
        board.generate_moves(|moves| {
            captures |= moves.piece == Piece::Pawn
                && moves.into_iter().any(|mv| mv.to == Square::new(file, rank) && mv.from.file() != mv.to.file());
            false
        });
    }
    let text = format!("{board:#}");
    let mut fields: Vec<&str> = text.split(' ').collect();
    if !captures {
        fields[3] = "-";
    }
    Position::from_fen_unvalidated(&fields.join(" ")).unwrap().to_string()
}

/// All positions of a file by the plain replay, up to the first bad move of each game.
fn replay(text: &str) -> Vec<String> {
    let mut positions = Vec::new();
    for (fen, moves) in plain_games(text) {
        let board = match fen {
            None => Some(Board::default()),
            Some(fen) => {
                let shredder = Position::from_fen_unvalidated(&fen).map(|position| position.shredder_fen());
                shredder.ok().and_then(|fen| Board::from_fen(&fen, true).ok())
            }
        };
        let Some(mut board) = board else { continue };
        positions.push(fen_of(&board));
        for san in moves {
            let Some(mv) = find(&board, &san) else { break };
            board.play(mv);
            positions.push(fen_of(&board));
        }
    }
    positions
}

#[test]
fn the_lichess_slice_agrees_with_the_plain_replay() {
    let Some(path) = shared_data("pgn/lichess_db_1000k.pgn") else {
        return;
    };
    let text = std::fs::read_to_string(&path).unwrap();
    let (batch, summary) = read(&[path], |_| {});
    assert_eq!((summary.games, summary.rejected), (438, 0));
    assert_eq!(batch.len(), 28_976);
    let (ours, theirs) = (fens(&batch), replay(&text));
    assert_eq!(ours.len(), theirs.len());
    for (ours, theirs) in ours.iter().zip(&theirs) {
        assert_eq!(ours, theirs);
    }
    let legal: u64 = (0..batch.len()).map(|row| u64::from(batch.position(row).unwrap().count_legal_moves())).sum();
    assert_eq!(legal, 849_107);
}

#[test]
fn the_sample_agrees_with_the_plain_replay() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("data/lichess-2025-05.pgn");
    let text = std::fs::read_to_string(&path).unwrap();
    let (batch, summary) = read(&[path], |_| {});
    assert_eq!((summary.games, summary.rejected), (12, 0));
    assert_eq!(fens(&batch), replay(&text));
}

#[test]
fn the_move_of_each_record_leads_to_the_next() {
    let Some(path) = shared_data("pgn/lichess_db_1000k.pgn") else {
        return;
    };
    let (batch, _) = read(&[path], |_| {});
    let number = |field, row| batch.values(field).unwrap().number(row);
    let mut results = [0; 3];
    for row in 0..batch.len() {
        let next = row + 1;
        let same_game = next < batch.len() && number(Field::Game, row) == number(Field::Game, next);
        let bits = number(Field::Move, row);
        assert_eq!(bits.is_some(), same_game, "row {row}");
        if let Some(bits) = bits {
            let mv = lanefish::chess::Move::from_bits(bits as u16).unwrap();
            let mut position = batch.position(row).unwrap();
            assert!(position.is_legal(mv));
            position.make(mv);
            assert_eq!(position, batch.position(next).unwrap());
            assert_eq!(number(Field::Ply, row).unwrap() + 1, number(Field::Ply, next).unwrap());
        } else {
            results[number(Field::Result, row).unwrap() as usize] += 1;
        }
    }
    assert_eq!(results, [215, 19, 204]);
}

/// Games and positions of the awkward files, and the reasons why games are cut short or skipped.
#[test]
fn awkward_files_keep_all_valid_games() {
    let expected: [(&str, u64, usize, &[&str]); 17] = [
        ("chess-library-backslash_header", 1, 96, &[]),
        ("chess-library-black2move", 1, 1, &["illegal_move"]),
        ("chess-library-comment_before_moves", 1, 140, &[]),
        // Ends within a move: all positions before it are kept.
        ("chess-library-corrupted", 1, 125, &["bad_token"]),
        ("chess-library-no_moves_two_games", 2, 2, &[]),
        ("chess-library-no_result", 1, 1, &[]),
        ("chess-library-variations", 1, 109, &[]),
        // A FEN tag has castling rights without rooks.
        ("chess_db-ambiguous", 4, 163, &["ambiguous_move"]),
        ("chess_db-hayes", 9, 646, &[]),
        // A blank line within the moves of a game, which some readers take for its end.
        ("chess_db-human_computer", 29, 2319, &[]),
        ("chess_db-immortal_games", 36, 1865, &["ambiguous_move"; 4]),
        ("python-chess-antichess-programfox", 2, 0, &["variant", "variant"]),
        ("python-chess-chessbase-empty-line", 1, 135, &[]),
        ("python-chess-cutechess-fischerrandom", 4, 400, &[]),
        ("python-chess-uci-moves", 1, 114, &[]),
        ("python-chess-utf8-bom", 2, 2, &[]),
        ("../lichess_db_1000k", 438, 28_976, &[]),
    ];
    for (name, games, positions, rejects) in expected {
        let Some(path) = shared_data(&format!("pgn/awkward/{name}.pgn")) else {
            continue;
        };
        let (batch, summary) = read(&[path], |_| {});
        assert_eq!((summary.games, batch.len()), (games, positions), "{name}: games and positions");
        let found = reasons(&summary);
        assert_eq!(found.len(), rejects.len(), "{name}: {found:?}");
        for (found, expected) in found.iter().zip(rejects) {
            let fen_error = expected.starts_with("fen_") && found.starts_with("fen_");
            assert!(found == expected || fen_error, "{name}: {found}, not {expected}");
        }
    }
}

#[test]
fn awkward_files_agree_with_the_plain_replay() {
    for name in [
        "chess-library-backslash_header",
        "chess-library-comment_before_moves",
        "chess-library-variations",
        "chess_db-hayes",
        "python-chess-cutechess-fischerrandom",
    ] {
        let Some(path) = shared_data(&format!("pgn/awkward/{name}.pgn")) else {
            continue;
        };
        let bytes = std::fs::read(&path).unwrap();
        let text: String = bytes.iter().map(|&byte| byte as char).collect();
        let (batch, _) = read(&[path], |_| {});
        assert_eq!(fens(&batch), replay(&text), "{name}");
    }
}

fn game(moves: &str) -> String {
    format!("[Event \"?\"]\n[Result \"*\"]\n\n{moves} *\n\n")
}

/// The last position of a game, or why it was cut short.
fn last(moves: &str) -> String {
    let (batch, summary) = read_text(game(moves).as_bytes(), 1 << 20, 1);
    match summary.first_rejects.first() {
        Some(reject) => format!("{} {:?}", reject.reasons[0], reject.place.ply.unwrap()),
        None => fens(&batch).pop().unwrap(),
    }
}

#[test]
fn notations_of_the_same_moves() {
    let plain = last("1. e4 e5 2. Nf3 Nc6 3. Bc4 Bc5 4. O-O Nf6 5. Re1 O-O");
    assert!(plain.starts_with("r1bq1rk1/pppp1ppp/2n2n2/2b1p3/2B1P3/5N2/PPPP1PPP/RNBQR1K1 w"));
    for other in [
        "1.e4 e5 2.Nf3 Nc6 3.Bc4 Bc5 4.O-O Nf6 5.Re1 O-O",
        "e4 e5 Nf3 Nc6 Bc4 Bc5 O-O Nf6 Re1 O-O",
        "1. e4 1... e5 2. Nf3 2... Nc6 3. Bc4 3. ... Bc5 4. 0-0 Nf6 5. Re1 0-0",
        "1. e4! e5? 2. Nf3!? Nc6?! 3. Bc4!! Bc5?? 4. O-O! Nf6 $1 5. Re1 $14 $142 O-O",
        "1. e4+ e5# 2. Nf3 {a comment} Nc6 ; another 3. Bb5\n3. Bc4 Bc5 (3... Be7 (3... d6) 4. d4) 4. O-O Nf6\n\
         % 5. d4\n5. Re1 O-O",
        "1. e2e4 e7e5 2. Ng1-f3 Nb8c6 3. Bf1c4 Bf8c5 4. O-O Ng8f6 5. Rf1e1 O-O",
        "1. e4 e5 2. Ngf3 Nbc6 3. Bc4 Bc5 4. O-O Nf6 5. Rfe1 O-O",
        "1. Pe4 Pe5 2. Nf3 Nc6 3. Bc4 Bc5 4. O-O+ Nf6 5. Re1 O-O",
        "1. e4 { [%eval 0.1] } { more } 1... e5 2. Nf3 Nc6\r\n\r\n3. Bc4 Bc5 4. O-O Nf6 5. Re1 O-O",
        "1… e4 e5 2. Nf3 Nc6 3. Bc4 Bc5 4. O-O Nf6 5. Re1 O-O",
    ] {
        assert_eq!(last(other), plain, "{other}");
    }
}

#[test]
fn promotions_and_en_passant_in_every_notation() {
    let start = "[FEN \"7k/P7/8/8/1p6/8/2P5/K7 w - - 0 1\"]\n\n1. c4 ";
    for (moves, expected) in [
        ("bxc3 2. a8=Q#", "Q6k/8/8/8/8/2p5/8/K7 b - - 0 2"),
        ("bxc3 e.p. 2. a8Q", "Q6k/8/8/8/8/2p5/8/K7 b - - 0 2"),
        ("bxc3e.p. 2. a8(N)", "N6k/8/8/8/8/2p5/8/K7 b - - 0 2"),
        ("bxc3 2. a8=(N)", "N6k/8/8/8/8/2p5/8/K7 b - - 0 2"),
        ("b4xc3 2. a8/R", "R6k/8/8/8/8/2p5/8/K7 b - - 0 2"),
        ("Kg7 2. a8=B", "B7/6k1/8/8/1pP5/8/8/K7 b - - 0 2"),
    ] {
        let (batch, summary) = read_text(format!("{start}{moves} *\n").as_bytes(), 1 << 20, 1);
        assert_eq!(summary.rejected, 0, "{moves}: {:?}", summary.first_rejects);
        assert_eq!(fens(&batch).last().unwrap(), expected, "{moves}");
        assert_eq!(fens(&batch)[1], "7k/P7/8/8/1pP5/8/8/K7 b - c3 0 1");
    }
}

#[test]
fn castling_in_every_notation() {
    for (start, castled, moves) in [
        (
            "4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1",
            "4k3/8/8/8/8/8/8/R4RK1 b - - 1 1",
            &["O-O", "0-0", "o-o+", "Kxh1", "Kh1", "Ke1xh1", "Kexh1!"][..],
        ),
        ("4k3/8/8/8/8/8/8/1R1K1R2 w FB - 0 1", "4k3/8/8/8/8/8/8/2KR1R2 b - - 1 1", &["O-O-O", "0-0-0", "Kxb1", "Kb1"]),
    ] {
        for mv in moves {
            let text = format!("[Variant \"Chess960\"]\n[FEN \"{start}\"]\n\n1. {mv} *\n");
            let (batch, summary) = read_text(text.as_bytes(), 1 << 20, 1);
            assert_eq!(summary.rejected, 0, "{mv}: {:?}", summary.first_rejects);
            assert_eq!(fens(&batch)[1], castled, "{mv}");
        }
    }
    for (start, mv) in [
        ("4k3/8/8/8/8/8/8/R3K2R w Q - 0 1", "Kxh1"),
        ("4k3/8/8/8/8/8/8/R3KB1R w KQ - 0 1", "Kxh1"),
        ("4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1", "Rxe1"),
    ] {
        let text = format!("[FEN \"{start}\"]\n\n1. {mv} *\n");
        let (_, summary) = read_text(text.as_bytes(), 1 << 20, 1);
        assert_eq!(reasons(&summary), ["illegal_move"], "{mv} in {start}");
    }
}

#[test]
fn illegal_moves_are_reported_with_their_ply() {
    for (moves, why) in [
        ("1. e4 e5 2. Ke3", "illegal_move 2"),
        ("1. e4 e5 2. Qh5 Nc6 3. Qxf7+ d5", "illegal_move 5"),
        // The knight is pinned.
        ("1. e4 e5 2. d4 Bb4+ 3. Nc3 Nf6 4. Nd5", "illegal_move 6"),
        ("1. e4 d5 2. exd6", "illegal_move 2"),
        ("1. e4 e5 2. O-O", "illegal_move 2"),
        ("1. Nf3 Nf6 2. Nd4 Nd5 3. Nc3 Ne3 4. Ndb5 Na6 5. Nd5 Nc5 6. Nc3", "ambiguous_move 10"),
        ("1. e4 e5 2. hello", "bad_token 2"),
        ("1. e4 e5 (2. Nf3", "open_variation 2"),
        ("1. e4 e5 {2. Nf3", "open_comment 2"),
        ("1. e9", "bad_token 0"),
    ] {
        assert_eq!(last(moves), why, "{moves}");
    }
}

#[test]
fn pins_resolve_ambiguity() {
    // First game: the knight on f2 is pinned, so no knight can move to d3. Second: two knights attack e4, but the one
    // on g3 is pinned.
    let text = "[FEN \"4k3/8/8/8/7b/8/5N2/1N2K3 w - - 0 1\"]\n\n1. Nd3 *\n\n\
        [FEN \"4k3/8/8/8/7b/6N1/3N4/4K3 w - - 0 1\"]\n\n1. Ne4 Kd7 2. Nc3 *\n";
    let (batch, summary) = read_text(text.as_bytes(), 1 << 20, 1);
    assert_eq!(reasons(&summary), ["illegal_move"]);
    assert_eq!(
        fens(&batch)[2],
        "4k3/8/8/8/4N2b/6N1/8/4K3 b - - 1 1",
        "the knight on g3 is pinned, so the one on d2 moves"
    );
}

#[test]
fn null_moves_pass_the_turn() {
    assert!(last("1. e4 -- 2. d4 Z0 3. Nf3").contains(" b KQkq - "));
    assert_eq!(last("1. e4 e5 2. Qh5 Nc6 3. Qxf7+ --"), "illegal_move 5");
}

#[test]
fn starts_of_games() {
    for (text, games, positions) in [
        ("", 0, 0),
        ("\n\n \r\n", 0, 0),
        ("\u{FEFF}", 0, 0),
        // Without tags and moves there is no game.
        ("*\n", 0, 0),
        ("1-0\n\n0-1\n", 0, 0),
        ("{only a comment} *\n", 0, 0),
        ("1. e4 e5 1-0 {trailing} \n", 1, 3),
        ("1. e4 e5\n\n[White \"x\"]\n\n1. d4\n", 2, 5),
        ("[Event \"a\"]\n[Event \"b\"]\n", 2, 2),
        ("[Event \"a\"]\n\n[Event \"b\"]\n\n*\n", 2, 2),
        ("[Event \"a\"]\n\n[Site \"b\"]\n\n1. e4 *\n", 1, 2),
        ("[Event \"a\"]\n1. e4 *\n[Event \"b\"]\n1. d4 *\n", 2, 4),
        ("[Event \"a\"] [Site \"b\"]\n\n1. e4 *\n\u{FEFF}[Event \"b\"]\n\n1. d4 *\n\u{1A}", 2, 4),
        ("% escaped\n[Event \"a\"]\n% [Event \"no\"]\n\n1. e4\n%1... Kx\ne5 *\n", 1, 3),
        ("; comment\n[Event \"a\"]\n\n1. e4 ; [Event \"no\"]\ne5 *", 1, 3),
        ("[Event \"a \"quoted\" [name]\"]\n\n1. e4 *\n", 1, 2),
        // Moves on the line of a tag, old line ends, and a line end with a flipped bit.
        ("[Event \"a\"] [Site \"b\"] 1. e4 e5\n2. Nf3 *\n", 1, 4),
        ("[Event \"a\"]\r[Site \"b\"]\r\r1. e4 e5 *\r", 1, 3),
        ("[Event \"a\"]\n[Site \"b\"]J\n1. e4 e5 *\n", 1, 3),
        ("[Event \"a\"]\n\n1. e4 {\n\n[Event \"no\"]\n\n1. d4 *\n} e5 *\n", 1, 3),
    ] {
        let (batch, summary) = read_text(text.as_bytes(), 1 << 20, 1);
        assert_eq!(
            (summary.games, batch.len(), summary.rejected),
            (games, positions, 0),
            "{text:?}: {:?}",
            summary.first_rejects
        );
    }
}

#[test]
fn an_unterminated_comment_costs_one_game() {
    let text = "[Event \"a\"]\n\n1. e4 {lost e5 *\n\n[Event \"b\"]\n\n1. d4 {x} d5 *\n";
    let (batch, summary) = read_text(text.as_bytes(), 1 << 20, 1);
    assert_eq!((summary.games, batch.len()), (2, 5));
    assert_eq!(reasons(&summary), ["open_comment"]);
    assert_eq!(summary.first_rejects[0].place.line, Some(3));
    assert_eq!(summary.first_rejects[0].place.offset, 19);
}

#[test]
fn rejects_have_their_place_and_position() {
    let text = "[Event \"a\"]\n\n1. e4 *\n\n[Event \"b\"]\n\n1. d4\nd5 2. Nh6 Nf6 *\n\n[Event \"c\"]\n\n1. c4 *\n";
    let (batch, summary) = read_text(text.as_bytes(), 1 << 20, 1);
    assert_eq!((summary.games, summary.records, batch.len()), (3, 8, 7));
    let reject = &summary.first_rejects[0];
    let place = &reject.place;
    assert_eq!(
        (place.line, place.offset, place.game, place.ply, place.record),
        (Some(8), text.find("Nh6").unwrap() as u64, Some(1), Some(2), 5)
    );
    assert_eq!(reject.message, "illegal move `Nh6` in rnbqkbnr/ppp1pppp/8/3p4/3P4/8/PPP1PPPP/RNBQKBNR w KQkq - 0 2");
    assert!(reject.raw.starts_with(b"[Event \"b\"]") && reject.raw.ends_with(b"*"));
    assert_eq!(batch.values(Field::Game).unwrap().number(6), Some(2));
}

/// The faulty tag precedes the moves that the reader has already passed.
#[test]
fn rejects_of_tags_have_the_line_of_the_tag() {
    let text = "[Event \"a\"]\n[Variant \"Standard\"]\n[FEN \"nothing\"]\n[Site \"x\"]\n\n1. e4 *\n\n\
        [Event \"b\"]\n[Site \"x\"]\n[Variant \"Atomic\"]\n[Date \"x\"]\n\n1. e4\ne5 *\n\n\
        [Event \"c\"]\n\n1. e4\ne4 *\n";
    let (_, summary) = read_text(text.as_bytes(), 1 << 20, 1);
    let places: Vec<_> =
        summary.first_rejects.iter().map(|reject| (reject.place.line, reject.place.offset as usize)).collect();
    assert_eq!(
        places,
        [
            (Some(3), text.find("[FEN").unwrap()),
            (Some(10), text.find("[Variant \"Atomic").unwrap()),
            (Some(19), text.rfind("e4").unwrap()),
        ]
    );
}

const TWO_GAMES: &str = "[Event \"a\"]\n[Site \"https://x/1\"]\n[UTCDate \"2025.05.01\"]\n[WhiteElo \"1500\"]\n\
    [BlackElo \"1600\"]\n[ECO \"C20\"]\n[Opening \"King's Pawn\"]\n[TimeControl \"300+3\"]\n\
    [Termination \"Normal\"]\n[Result \"1-0\"]\n\n\
    1. e4 { [%eval 0.17] [%clk 0:05:00] } e5 { [%eval -1.2] [%clk 0:04:59.5] } 2. Nf3 { [%eval #4] } 1-0\n\n\
    [Event \"b\"]\n[Date \"2024.??.??\"]\n[WhiteElo \"?\"]\n[TimeControl \"-\"]\n[Result \"0-1\"]\n\n\
    1. d4 { [%eval #-2] } 0-1\n";

#[test]
fn columns_come_from_tags_and_comments() {
    let (batch, summary) = read_text(TWO_GAMES.as_bytes(), 1 << 20, 1);
    assert_eq!(summary.rejected, 0);
    let fields = |row: usize| lines(&batch)[row].split_once(" 1 ").map(|(_, rest)| rest.to_owned());
    assert_eq!(
        fields(0).unwrap(),
        "result=2 move=1804 ply=0 game=0 white_elo=1500 black_elo=1600 clock=30000 eco=C20 \
         opening=King's Pawn time_control=300+3 date=2025.05.01 site=https://x/1 termination=Normal"
    );
    let number = |field, row| batch.values(field).unwrap().number(row);
    let scores: Vec<_> = (0..6).map(|row| number(Field::Score, row)).collect();
    assert_eq!(scores, [None, Some(17), Some(-120), None, None, None]);
    let mates: Vec<_> = (0..6).map(|row| number(Field::Mate, row)).collect();
    assert_eq!(mates, [None, None, None, Some(4), None, Some(-2)]);
    assert_eq!(number(Field::Clock, 1), Some(29950));
    assert_eq!(number(Field::Clock, 2), None);
    assert_eq!(number(Field::WhiteElo, 4), None);
    assert_eq!(number(Field::Result, 4), Some(0));
    let text = |field, row| batch.values(field).unwrap().text(row).map(|text| text.to_string());
    assert_eq!(text(Field::Date, 4).as_deref(), Some("2024.??.??"));
    assert_eq!(text(Field::TimeControl, 4).as_deref(), Some("-"));
}

/// Tags by name: the last of repeated ones, nothing if the value is unknown, text in either encoding.
#[test]
fn any_tag_can_be_requested() {
    let mut text = b"[Event \"a \\\"b\\\" \\\\\"]\n[White \"?\"]\n[Round \"1\"]\n[Round \"2.1\"]\n\n1. e4 e5 *\n\n\
        [Event \"M\xE1laga\"]\n[White \"\"]\n[Black \"B, A.\"]\n\n1. d4 *\n\n\
        1. c4 Qh5 *\n\n[White \"W\"][Event \"c\"]\n[round \"3\"]\n\n*\n"
        .to_vec();
    text.extend(b"\n[Event \"d\"]\n\n1. e4 *\n".repeat(100));
    let names = ["Black", "Event", "Missing", "Round", "White"];
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("games.pgn");
    std::fs::write(&path, text).unwrap();
    for (chunk_size, threads) in [(1 << 20, 1), (1, 1), (100, 3)] {
        let (batch, summary) = read(std::slice::from_ref(&path), |options| {
            options.chunk_size = chunk_size;
            options.threads = threads;
            options.read.decode.tags = names.map(Arc::from).into();
        });
        assert_eq!((summary.rejected, summary.games), (1, 104));
        let tag = |name: &str, row| batch.tags.get(name)?.get(row);
        let found: Vec<String> = (0..batch.len())
            .map(|row| {
                assert_eq!(tag("Missing", row), None);
                let values = names.map(|name| tag(name, row).unwrap_or("-"));
                values.join("|")
            })
            .collect();
        assert_eq!(
            found[..8],
            [
                "-|a \"b\" \\|-|2.1|-",
                "-|a \"b\" \\|-|2.1|-",
                "-|a \"b\" \\|-|2.1|-",
                "B, A.|Málaga|-|-|-",
                "B, A.|Málaga|-|-|-",
                "-|-|-|-|-",
                "-|-|-|-|-",
                "-|c|-|-|W",
            ]
        );
        assert_eq!(found.len(), 208);
        assert!(found[8..].iter().all(|row| row == "-|d|-|-|-"));
        // Fields with the same content.
        for (field, name) in [(Field::White, "White"), (Field::Black, "Black")] {
            for row in 0..batch.len() {
                let value = batch.values(field).and_then(|values| values.text(row));
                assert_eq!(value, tag(name, row));
            }
        }
        let rows: Vec<u32> = (3..9).collect();
        let some = batch.select(&rows);
        for (row, &from) in rows.iter().enumerate() {
            let event = some.tags["Event"].get(row);
            assert_eq!(event, tag("Event", from as usize));
        }
    }
}

#[test]
fn selections_count_what_they_skip() {
    let plain = GameFilter::default;
    let cases: [(&str, GameFilter, usize, u64, u64); 16] = [
        ("plies", plain().first_ply(1).last_ply(Some(2)), 3, 0, 3),
        ("skip-book", plain().skip_book(2), 2, 0, 4),
        ("every", plain().every(2), 3, 0, 3),
        ("last", plain().last(true), 2, 0, 4),
        ("max-per-game", plain().max_per_game(Some(1)), 2, 0, 4),
        ("min-elo", plain().min_elo(Some(1500)), 4, 1, 2),
        ("max-elo", plain().max_elo(Some(1550)), 0, 2, 6),
        ("time-control", plain().time_controls(vec!["rapid".parse().unwrap()]), 0, 2, 6),
        ("time-control", plain().time_controls(vec!["blitz".parse().unwrap()]), 4, 1, 2),
        ("time-control", plain().time_controls(vec!["-".parse().unwrap()]), 2, 1, 4),
        ("result", plain().results(vec![None]), 0, 2, 6),
        ("min-plies", plain().min_plies(2), 4, 1, 2),
        ("termination", plain().terminations(vec!["normal".into()]), 4, 1, 2),
        ("eco", plain().ecos(vec!["C2-C30".parse().unwrap()]), 4, 1, 2),
        ("since", plain().since(Some("2025".parse().unwrap())), 4, 1, 2),
        ("until", plain().until(Some("2024-12-31".parse().unwrap())), 2, 1, 4),
    ];
    for (option, selection, positions, games_out, positions_out) in cases {
        let (batch, summary) = select(TWO_GAMES, selection);
        let left_out = summary.left_out[option];
        assert_eq!(
            (batch.len(), left_out.games, left_out.positions),
            (positions, games_out, positions_out),
            "{option}"
        );
        assert_eq!(summary.games, 2);
    }
}

#[test]
fn samples_depend_on_the_seed_alone() {
    let Some(path) = shared_data("pgn/lichess_db_1000k.pgn") else {
        return;
    };
    let sample = |seed, chunk_size, threads| {
        let (batch, _) = read(std::slice::from_ref(&path), |options| {
            options.chunk_size = chunk_size;
            options.threads = threads;
            options.read.choose.games = Some(Arc::new(GameFilter::default().max_per_game(Some(3)).seed(seed)));
        });
        lines(&batch)
    };
    let one = sample(1, 1 << 20, 1);
    assert!(one.len() > 3 * 400);
    assert!(one == sample(1, 1 << 17, 2));
    assert!(one != sample(2, 1 << 20, 1));
}

#[test]
fn variations_are_read_on_request() {
    let text = game("1. e4 e5 (1... c5 2. Nf3 (2. c3 d5) 2... d6) (1... e6) 2. Nf3 Nc6");
    let variations = GameFilter::default().variations(true);
    let (batch, summary) = select(&text, variations);
    assert_eq!((summary.rejected, batch.len()), (0, 11));
    let plies: Vec<_> = (0..11).map(|row| batch.values(Field::Ply).unwrap().number(row).unwrap()).collect();
    assert_eq!(plies, [0, 1, 2, 2, 3, 3, 4, 4, 2, 3, 4]);
    assert!(fens(&batch)[5].starts_with("rnbqkbnr/pp1ppppp/8/2p5/4P3/2P5/PP1P1PPP/RNBQKBNR b"));
    assert!(fens(&batch)[10].starts_with("r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w"));
}

#[test]
fn bad_games_can_be_dropped_whole() {
    let text = game("1. e4 e5 2. Ke3") + &game("1. d4");
    let dropping = GameFilter::default().drop_bad_games(true);
    let (batch, summary) = select(&text, dropping);
    assert_eq!((batch.len(), summary.games, summary.rejected), (2, 2, 1));
    assert_eq!(summary.left_out["drop-bad-games"].positions, 3);
}

/// All awkward files and part of the slice in one text.
fn everything() -> Option<Vec<u8>> {
    let directory = shared_data("pgn/awkward")?;
    let mut paths: Vec<PathBuf> = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.push(shared_data("wrappers/lichess_db_100k.pgn")?);
    let mut all = Vec::new();
    for path in paths {
        all.extend(std::fs::read(path).unwrap());
        all.extend(b"\n\n");
    }
    Some(all)
}

#[test]
fn neither_chunks_nor_threads_change_anything() {
    let Some(text) = everything() else { return };
    // The text twice, since a cut needs some text after it.
    let text = [&text[..], &text].concat();
    let (whole, summary) = read_text(&text, 1 << 30, 1);
    let whole = lines(&whole);
    for (chunk_size, threads) in [(64, 1), (10_000, 2), (100_000, 8)] {
        let (batch, other) = read_text(&text, chunk_size, threads);
        assert!(lines(&batch) == whole, "{chunk_size}");
        assert_eq!(other.games, summary.games);
        assert_eq!(other.records, summary.records);
        let rejects = |summary: &Ended| -> Vec<_> {
            let rejects = summary.first_rejects.iter();
            rejects
                .map(|reject| {
                    let place = &reject.place;
                    let game = (place.game, place.ply, reject.message.clone());
                    (place.line, place.offset, place.record, game)
                })
                .collect()
        };
        assert_eq!(rejects(&other), rejects(&summary));
    }
}

/// A simple count of games: `[Event "` after an empty line or at the start of the text.
fn events(text: &[u8]) -> u64 {
    let mut count = u64::from(text.starts_with(b"[Event \""));
    count += text.windows(10).filter(|window| window == b"\n\n[Event \"").count() as u64;
    count
}

#[test]
fn cuts_and_flipped_bits_lose_nothing_silently() {
    let Some(path) = shared_data("wrappers/lichess_db_100k.pgn") else {
        return;
    };
    let text = std::fs::read(path).unwrap();
    let text = &text[..30_000];
    let mut random = Random::new(7);
    for round in 0..600 {
        let mut damaged = text.to_vec();
        if round % 2 == 0 {
            damaged.truncate(random.below(text.len() as u64) as usize);
        } else {
            let at = random.below(text.len() as u64) as usize;
            damaged[at] ^= 1 << random.below(8);
        }
        let (batch, summary) = read_damaged(&damaged);
        assert!(summary.games >= events(&damaged), "round {round}: {} games of {}", summary.games, events(&damaged));
        assert_eq!(batch.len() as u64 + summary.rejected, summary.records);
    }
}

/// Complete games of a truncated container are read; an incomplete one is a reject.
#[test]
fn games_of_truncated_containers_are_accounted_for() {
    let Some(path) = shared_data("wrappers/lichess_db_100k.pgn") else {
        return;
    };
    let tagged = std::fs::read(path).unwrap();
    // Without tags, games begin only after results.
    let game = b"1. e4 e5 2. Nf3 Nc6 1-0\n\n";
    let bare = game.repeat(100_000);
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("games.pgn.zst");
    let mut random = Random::new(5);
    for (text, cuts) in [(&tagged, 60), (&bare, 20)] {
        let packed = zstd::encode_all(&text[..], -5).unwrap();
        for _ in 0..cuts {
            let cut = &packed[..10 + random.below(packed.len() as u64 - 10) as usize];
            std::fs::write(&path, cut).unwrap();
            let mut left = Vec::new();
            zstd::Decoder::new(cut).unwrap().read_to_end(&mut left).unwrap_err();
            let (batch, summary) = read(std::slice::from_ref(&path), |options| {
                options.read.from = Some(lanefish::formats::Format::PGN);
                options.chunk_size = 100_000;
                options.threads = 2;
            });
            assert!(summary.failure.is_some());
            let begun = if text.starts_with(game) { left.len().div_ceil(game.len()) as u64 } else { events(&left) };
            // The cut may be within a tag.
            assert!([begun, begun + 1].contains(&summary.games), "{begun}");
            let cut_off = summary.reasons.get("cut_off").copied().unwrap_or(0);
            assert_eq!((cut_off, summary.rejected), (cut_off.min(1), cut_off));
            assert_eq!(batch.len() as u64 + summary.rejected, summary.records);
            if text.starts_with(game) {
                assert_eq!(batch.len() as u64, 5 * (summary.games - cut_off));
            }
        }
    }
}

fn read_damaged(text: &[u8]) -> (Batch, Ended) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("games.pgn");
    std::fs::write(&path, text).unwrap();
    read(&[path], |options| {
        options.read.from = Some(lanefish::formats::Format::PGN);
    })
}

#[test]
fn arbitrary_bytes_are_read_to_the_end() {
    let mut random = Random::new(11);
    let alphabet = b"[]{}();%$*!?+#=.-/\\\"\n\n\r \t012345678abcdefghxNBRQKOPZ\xFF\xC3";
    for round in 0..400 {
        let len = random.below(300) as usize;
        let text: Vec<u8> = (0..len)
            .map(|_| match random.below(12) {
                0 => random.next() as u8,
                _ => alphabet[random.below(alphabet.len() as u64) as usize],
            })
            .collect();
        let (whole, summary) = read_damaged(&text);
        assert_eq!(whole.len() as u64 + summary.rejected, summary.records, "round {round}");
    }
}

#[test]
fn comments_do_not_mislead_boundaries() {
    let pieces = [
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
    ];
    let mut random = Random::new(3);
    for _ in 0..300 {
        let count = 20 + random.below(40);
        let text: String = (0..count).map(|_| pieces[random.below(pieces.len() as u64) as usize]).collect();
        let text = text.as_bytes();
        let (whole, summary) = read_damaged(text);
        let mut limit = text.len();
        while let Some(cut) = boundary(text, limit, true) {
            let (first, before) = read_damaged(&text[..cut]);
            let (second, after) = read_damaged(&text[cut..]);
            assert_eq!(before.games + after.games, summary.games);
            assert_eq!(before.rejected + after.rejected, summary.rejected);
            assert!([fens(&first), fens(&second)].concat() == fens(&whole));
            limit = cut - 1;
        }
    }
}

#[test]
fn large_files_are_cut_without_tags_or_empty_lines() {
    for game in [
        "1. e4 e5 2. Nf3 {ok} Nc6 1-0\n",
        "[White \"w\"]\n\n1. e4 e5 2. Nf3 (2. f4 *)\nNc6 1-0\n\n",
        "[Event \"x\"]\n[White \"w\"]\n1. e4 e5 2. Nf3 Nc6 1-0\n",
    ] {
        let games = (9 << 20) / game.len();
        let (batch, summary) = read_text(game.repeat(games).as_bytes(), 1 << 16, 2);
        assert_eq!((summary.games, summary.rejected), (games as u64, 0));
        assert_eq!(batch.len(), 5 * games);
    }
}

/// Without tags and move numbers a text can be cut only after results.
#[test]
fn large_texts_are_cut_after_results_as_a_last_resort() {
    let game = "e4 e5 Nf3 Nc6 1-0\n";
    let cut = |text: &str| lanefish::formats::Format::PGN.cut(text.as_bytes(), 16 << 20);
    let games = game.repeat((4 << 20) / game.len() + 1);
    for rest in ["e4 e5", "e4 e5\nNf3", "; 1-0\ne4", "{a\n1-0\n} e4\n"] {
        assert_eq!(cut(&format!("{games}{rest}")), Some(games.len()), "{rest}");
    }
    // A better place may still follow.
    assert_eq!(cut(&games[..4 << 19]), None);
}

#[test]
fn an_endless_game_is_a_reject() {
    let text = game("1. e4") + &game(&"1. Nf3 Nf6 2. Ng1 Ng8\n".repeat(1 << 20));
    let (batch, summary) = read_text(text.as_bytes(), 1 << 20, 2);
    assert!(summary.failure.is_none());
    assert_eq!((batch.len(), summary.games), (2, 2));
    assert_eq!(reasons(&summary), ["record_too_long"]);
}

#[test]
fn puzzles_begin_after_the_opponents_move() {
    let Some(path) = shared_data("csv/lichess_db_puzzle.half_a.csv") else {
        return;
    };
    let (plain, summary) = read(&[path], |_| {});
    assert_eq!((plain.len(), summary.rejected), (750, 0));
    assert_eq!(
        lines(&plain)[0],
        "2kr1b1r/p1p2pp1/2pqN3/7p/6n1/2NPB3/PPP2PPP/R2Q1RK1 b - - 0 13 move=1003 \
         opening=Scandinavian_Defense Scandinavian_Defense_Modern_Variation \
         site=https://lichess.org/seIMDWkD#25 operations=id \"000rZ\"; c0 \"rating 633\"; \
         c1 \"kingsideAttack mate mateIn1 oneMove opening\"; puzzle_id=000rZ puzzle_rating=633 \
         themes=kingsideAttack mate mateIn1 oneMove opening popularity=100 plays=616 \
         rating_deviation=93"
    );
    let packed = shared_data("csv/lichess_db_puzzle.half_a.csv.zst").unwrap();
    let (other, _) = read(&[packed], |options| options.chunk_size = 1000);
    assert!(lines(&other) == lines(&plain));
    for row in 0..plain.len() {
        let bits = plain.values(Field::Move).unwrap().number(row).unwrap();
        let mv = lanefish::chess::Move::from_bits(bits as u16).unwrap();
        assert!(plain.position(row).unwrap().is_legal(mv));
    }
}

#[test]
fn puzzles_with_missing_or_odd_values() {
    let fen = "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1,e2e4 e8e7";
    for (line, expected) in [
        (
            format!("a\"b,{fen}, 1500 ,1,1,1,fork é"),
            "operations=id \"a'b\"; c0 \"rating  1500 \"; c1 \"fork é\"; puzzle_id=a\"b puzzle_rating=1500 \
             themes=fork é popularity=1 plays=1 rating_deviation=1",
        ),
        (format!(",{fen},,1,1,1,"), "operations= popularity=1 plays=1 rating_deviation=1"),
        (fen.to_owned(), "operations="),
        (format!("x,{fen},65536"), "operations=id \"x\"; c0 \"rating 65536\"; puzzle_id=x"),
        (format!("x,{fen},-1,,,,fork"), "operations=id \"x\"; c0 \"rating -1\"; c1 \"fork\"; puzzle_id=x themes=fork"),
    ] {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("puzzles.csv");
        std::fs::write(&path, &line).unwrap();
        let (batch, summary) = read(std::slice::from_ref(&path), |options| {
            options.read.from = Some(Format::PUZZLES);
        });
        assert_eq!(summary.rejected, 0);
        let found = lines(&batch).remove(0);
        assert_eq!(found.split_once(" operations").unwrap().1, &expected[10..]);
        // Each field on its own has the same values.
        for (&field, values) in &batch.fields {
            let (alone, _) = read(std::slice::from_ref(&path), |options| {
                options.read.from = Some(Format::PUZZLES);
                options.read.decode.fields = Fields::of(&[field]);
            });
            assert_eq!(alone.fields.len(), 1);
            assert_eq!(alone.values(field), Some(values));
        }
    }
}

#[test]
fn bad_puzzles_are_rejected_by_line() {
    let text = b"a,8/8/8/8/8/8/8/8 w - - 0 1,e2e4,1\n\
        b,4k3/8/8/8/8/8/4P3/4K3 w - - 0 1,e2e4 e8e7,1\n\
        c,4k3/8/8/8/8/8/4P3/4K3 w - - 0 1,e2e5 e8e7,1\n\
        d,nothing,e2e4,1\n";
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("puzzles.csv");
    std::fs::write(&path, text).unwrap();
    let (batch, summary) = read(&[path], |_| {});
    assert_eq!(fens(&batch), ["4k3/8/8/8/4P3/8/8/4K3 b - - 0 1"]);
    assert_eq!(reasons(&summary), ["not_one_king_each", "illegal_move", "puzzle_without_fen"]);
    assert_eq!(summary.first_rejects[1].place.line, Some(3));
}

#[test]
fn evaluations_give_the_best_line() {
    let Some(path) = shared_data("jsonl/lichess_db_eval.sample.jsonl") else {
        return;
    };
    let (batch, summary) = read(&[path], |_| {});
    assert_eq!(summary.rejected, 0);
    assert_eq!(
        lines(&batch),
        [
            "7r/1p3k2/p1bPR3/5p2/2B2P1p/8/PP4P1/3K4 b - - 0 1 score=69 move=3509 operations=acd 46; \
             depth=46 knodes=4189972",
            "6k1/6p1/8/4K3/4NN2/8/8/8 w - - 0 1 move=2852 operations=acd 95; mate=15 depth=95 \
             knodes=589893",
            "2bq1rk1/pr3ppn/1p2p3/7P/2pP1B1P/2P5/PPQ2PB1/R3R1K1 w - - 0 1 score=311 move=1806 \
             operations=acd 36; depth=36 knodes=206765",
        ]
    );
    let derived = shared_data("jsonl/derived_eval_from_lichess_pgn.jsonl.zst").unwrap();
    let (batch, summary) = read(&[derived], |options| options.chunk_size = 10_000);
    assert_eq!((batch.len(), summary.rejected), (2025, 0));
    let scores = batch.values(Field::Score).unwrap();
    let mates = batch.values(Field::Mate).unwrap();
    assert_eq!((scores.count_present(), mates.count_present()), (1858, 167));
    assert!((0..2025).all(|row| scores.number(row).is_some() != mates.number(row).is_some()));
}

#[test]
fn evaluations_in_any_order_and_shape() {
    let fen = "rnbqkbnr\\/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -";
    let good = [
        format!("{{ \"evals\": [], \"x\": [1, {{\"y\": null}}, \"]\"], \"fen\": \"{fen}\" }}"),
        format!(
            "{{\"fen\":\"{fen}\",\"evals\":[{{\"depth\":9,\"pvs\":[{{\"cp\":5}}],\"knodes\":7}},\
             {{\"pvs\":[{{\"mate\":-3,\"line\":\"e2e4\"}}],\"knodes\":8,\"depth\":9}}]}}"
        ),
    ];
    let bad = [
        "{\"fen\":1}",
        "{\"fen\":\"\"}",
        "{\"evals\":[]}",
        "{\"fen\":\"x",
        "[]",
        "{\"fen",
        "{\"fen\":\"4k3/8/8/8/8/8/8/4K3 w - -\"} and more",
        "{\"x\":,\"fen\":\"4k3/8/8/8/8/8/8/4K3 w - -\"}",
        "{\"fen\":\"4k3/8/8/8/8/8/8/4K3 w - -\",\"evals\":[{\"depth\":,\"pvs\":[]}]}",
    ];
    let text = format!("{}\n{}\n{}\n", good[0], good[1], bad.join("\n"));
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("evals.jsonl");
    std::fs::write(&path, text).unwrap();
    let (batch, summary) = read(&[path], |options| {
        options.read.from = Some(lanefish::formats::Format::EVALS);
    });
    assert_eq!((batch.len(), summary.rejected), (2, bad.len() as u64));
    let message = &summary.first_rejects[6].message;
    assert!(message.starts_with("column 36: "), "{message}");
    assert!(batch.values(Field::Score).is_none());
    let operations = batch.values(Field::Operations).unwrap();
    assert_eq!(operations.text(0), None);
    assert_eq!(operations.text(1), Some("acd 9;"));
    let mate = |row| batch.values(Field::Mate).unwrap().number(row);
    assert_eq!((mate(0), mate(1)), (None, Some(-3)));
}
