//! The crates that define viriformat and bulletformat: they read what lanefish writes to the same records, and lanefish reads
//! what they write.
//!
//! Built for tests, `viriformat` checks each position and each move of the games that it reads.

use crate::formats::round_trips::read;
use crate::support::{Random, shared_data};
use assert_cmd::Command;
use bulletformat::{BulletFormat, ChessBoard};
use lanefish::chess::CastlingRights;
use lanefish::chess::random::{RandomPlay, Start};
use lanefish::chess::{Bitboard, Color, Move, MoveKind, Piece, Position, Role, Square};
use lanefish::table::Field;
use std::fs;
use std::path::{Path, PathBuf};
use viriformat::chess::board::{Board, DrawType, GameOutcome, WinType};
use viriformat::chess::chessmove::{Move as CrateMove, MoveFlags};
use viriformat::chess::piece::PieceType;
use viriformat::chess::types::Square as CrateSquare;
use viriformat::dataformat::{Filter, Game};

/// A record as both sides show it.
#[derive(Clone, Debug, PartialEq)]
struct Record {
    /// With an en passant square only if a capture on it is legal.
    position: Position,
    /// The en passant square beside which an enemy pawn stands that may not take.
    key_en_passant: Option<u8>,
    /// In UCI form, castling as king takes rook.
    mv: Option<String>,
    /// As White sees it.
    score: i16,
    /// 0 if Black won, 1 for a draw, 2 if White won.
    result: u8,
}

/// A game to be written by both sides.
#[derive(Debug)]
struct Played {
    /// Castling rights by files.
    start: String,
    /// The moves, and their scores as White sees them.
    moves: Vec<(Move, i16)>,
    result: u8,
}

/// Scores from one end to the other, as White sees them. Formats with scores of the side to move have no counterpart of the
/// lowest one, and only one sign of the sentinel, so that these come only where they can be stored.
fn score(number: usize, side_to_move: Color) -> i16 {
    let extremes = [i16::MIN, -32_767, 32_002, -32_001, -31_950, 31_950, 32_001, i16::MAX, 0, -1];
    match (extremes.get(number % 40), side_to_move) {
        (Some(&i16::MIN), Color::Black) => -32_000,
        (Some(&32_002), Color::Black) => -32_002,
        (Some(&extreme), _) => extreme,
        (None, _) => (number * 37 % 6000) as i16 - 3000,
    }
}

/// Games of random play, standard and Chess960, of which every third begins in the middle; others of pawns that often stand
/// beside one another; and moves that are rare.
fn games() -> Vec<Played> {
    let mut games = Vec::new();
    for (seed, start) in [(21, Start::Standard), (22, Start::Chess960)] {
        let mut last = None;
        for played in RandomPlay::new(seed, start).take(3000) {
            let begins = last != Some(played.game);
            let is_left_out = played.game % 3 == 1 && u64::from(played.ply) < played.game % 50;
            let Some(mv) = played.next.filter(|_| !is_left_out) else {
                continue;
            };
            if begins {
                last = Some(played.game);
                let (start, result) = (played.position.shredder_fen(), (played.game % 3) as u8);
                games.push(Played { start, moves: Vec::new(), result });
            }
            let number = games.len() + usize::from(played.ply);
            games.last_mut().unwrap().moves.push((mv, score(number, played.position.side_to_move)));
        }
    }
    let mut random = Random::new(23);
    for game in 0..300 {
        let start = [
            "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
            "8/1p1p1p2/8/K1P1P1Pr/R1p1p1pk/8/1P1P1P2/8 w - - 0 1",
            "8/1p1p1p2/8/K1P1P1Pr/R1p1p1pk/8/1P1P1P2/8 b - - 0 1",
        ][game % 3];
        let mut position = Position::from_fen_unvalidated(start).unwrap();
        let mut played = Played { start: start.to_owned(), moves: Vec::new(), result: (game % 3) as u8 };
        for ply in 0..16 {
            let moves = position.legal_moves();
            let Some(&mv) = moves.get(random.below(moves.len().max(1) as u64) as usize) else {
                break;
            };
            played.moves.push((mv, score(game + ply, position.side_to_move)));
            position.make(mv);
        }
        games.push(played);
    }
    for (start, moves) in [
        ("4k3/P6p/8/8/1p6/8/2P5/4K3 w - - 0 50", "c2c4 b4c3 a7a8n"),
        ("4k3/P6p/8/8/1p6/8/2P5/4K3 w - - 0 50", "c2c4 b4c3 a7a8b"),
        ("4k3/P6p/8/8/1p6/8/2P5/4K3 w - - 0 50", "c2c4 b4c3 a7a8r"),
        ("4k3/P6p/8/8/1p6/8/2P5/4K3 w - - 0 50", "c2c4 b4c3 a7a8q"),
        // A promotion that takes a rook with castling rights; the largest clocks.
        ("1n2k3/P7/8/8/8/8/6p1/4K2R b H - 99 65535", "g2h1q"),
        ("1n2k3/P7/8/8/8/8/6p1/4K2R b H - 0 65534", "g2g1n e1f1"),
        ("r3k2r/8/8/8/3pP3/8/8/R3K2R b HAha e3 0 7", "d4e3 e1h1 e8a8"),
        ("r3k2r/8/8/3pP3/8/8/8/R3K2R w HAha d6 0 8", "e5d6 e8h8 e1a1"),
        // The pawn that stands beside is pinned, at the start and after a move.
        ("8/8/8/8/k2pP2R/8/8/4K3 b - e3 0 1", "a4b4 h4h5"),
        ("8/8/8/8/k2p3R/8/4P3/4K3 w - - 5 9", "e2e4 a4b4"),
        // No pawn stands beside.
        ("4k3/4p3/8/8/8/8/4P3/4K3 w - - 0 1", "e2e4 e7e5"),
        // Chess960: the king stays, the rook stays, they change places, and the inner one of two rooks castles.
        ("6kr/8/8/8/8/8/8/6KR w Hh - 0 1", "g1h1 g8h8"),
        ("4kr2/5p2/8/8/8/8/5P2/4KR2 w Ff - 0 1", "e1f1 e8f8"),
        ("5kr1/5pp1/8/8/8/8/5PP1/5KR1 w Gg - 0 1", "f1g1 f8g8"),
        ("r1k4r/3p4/8/8/8/8/3P4/R1K4R w HAha - 0 1", "c1a1 c8h8"),
        ("rr2k1rr/pppppppp/8/8/8/8/PPPPPPPP/RR2K1RR w GBgb - 3 9", "e1g1 e8b8"),
        ("1rk5/8/8/8/8/8/8/1RK5 w Bb - 0 1", "c1b1 c8b8"),
    ] {
        let mut position = Position::from_fen_unvalidated(start).unwrap();
        let mut played = Played { start: start.to_owned(), moves: Vec::new(), result: (games.len() % 3) as u8 };
        for text in moves.split(' ') {
            let mv = Move::from_uci(text, &position).unwrap_or_else(|error| panic!("{text} in {position}: {error}"));
            played.moves.push((mv, score(games.len(), position.side_to_move)));
            position.make(mv);
        }
        games.push(played);
    }
    games
}

/// The game as the crate has it.
fn game_of_crate(played: &Played) -> Game {
    let mut board = Board::default();
    board.set_from_fen(&played.start, true).unwrap();
    let mut game = Game::new(&board);
    for &(mv, score) in &played.moves {
        let [from, to] = [mv.from, mv.to].map(|square| CrateSquare::new(square.index() as u8).unwrap());
        let mv = match mv.kind {
            MoveKind::Normal => CrateMove::new(from, to),
            MoveKind::EnPassant => CrateMove::new_with_flags(from, to, MoveFlags::EnPassant),
            MoveKind::Castle => CrateMove::new_with_flags(from, to, MoveFlags::Castle),
            MoveKind::Promotion(role) => {
                CrateMove::new_with_promo(from, to, PieceType::new(role.index() as u8).unwrap())
            }
        };
        game.add_move(mv, score);
    }
    game.set_outcome(match played.result {
        0 => GameOutcome::BlackWin(WinType::Mate),
        1 => GameOutcome::Draw(DrawType::Adjudication),
        _ => GameOutcome::WhiteWin(WinType::Mate),
    });
    game
}

fn bytes_of_crate(games: &[Game]) -> Vec<u8> {
    let mut bytes = Vec::new();
    games.iter().for_each(|game| game.serialise_into(&mut bytes).unwrap());
    bytes
}

/// The first games of a file of viriformat, read by the crate, and the bytes that were not read. As built for tests, the crate
/// finds all legal moves of each position, so that long files take too long.
fn read_by_crate(mut bytes: &[u8]) -> (Vec<Game>, &[u8]) {
    const ENOUGH: usize = 20_000;
    let (mut games, mut positions) = (Vec::new(), 0);
    while !bytes.is_empty() && positions < ENOUGH {
        let game = Game::deserialise_from(&mut bytes, Vec::new()).unwrap();
        positions += game.len();
        games.push(game);
    }
    (games, bytes)
}

/// All games of a file of viriformat, read by the crate.
fn all_by_crate(bytes: &[u8]) -> Vec<Game> {
    let (games, rest) = read_by_crate(bytes);
    assert!(rest.is_empty());
    games
}

/// The position of a board of the crate, and its en passant square if no capture on it is legal.
fn position_of(board: &Board) -> (Position, Option<u8>) {
    let square = |square: CrateSquare| Square::new(square.inner());
    let mut position = Position::empty();
    for at in CrateSquare::all() {
        if let Some(piece) = board.piece_at(at) {
            let color = Color::ALL[usize::from(piece.colour().inner())];
            let role = Role::ALL[usize::from(piece.piece_type().inner())];
            position.put(square(at), Piece { color, role });
        }
    }
    position.side_to_move = Color::ALL[usize::from(board.turn().inner())];
    let rights = board.castling_rights();
    let rooks = [rights.wk, rights.wq, rights.bk, rights.bq].into_iter().flatten();
    position.castling = CastlingRights(rooks.fold(Bitboard::EMPTY, |all, rook| all | Bitboard::square(square(rook))));
    position.en_passant = board.ep_sq().map(square);
    position.halfmove = board.fifty_move_counter().into();
    position.fullmove = board.full_move_number() as u16;
    let given = position.en_passant;
    let key_en_passant = given.filter(|_| position.drop_unusable_en_passant()).map(|square| square.index() as u8);
    (position, key_en_passant)
}

fn uci_of(mv: CrateMove) -> String {
    mv.display(true).to_string().to_ascii_lowercase()
}

/// The records of games, as the crate replays them.
fn records_of(games: &[Game]) -> Vec<Record> {
    let mut records = Vec::new();
    for game in games {
        let (_, _, result, _) = game.initial_position.unpack();
        let mut moves = game.moves();
        game.visit_positions(|board, score| {
            let (position, key_en_passant) = position_of(board);
            let mv = moves.next().map(uci_of);
            records.push(Record { position, key_en_passant, mv, score: score as i16, result });
        });
    }
    records
}

/// The records of a file, as lanefish reads them.
fn records(path: &Path) -> Vec<Record> {
    let (batch, summary) = read(&[path.to_owned()], |_| {});
    assert_eq!((summary.rejected, batch.is_empty()), (0, false), "{}", path.display());
    let number = |field, row| batch.values(field).and_then(|values| values.number(row));
    let record = |row| Record {
        position: batch.position(row).unwrap(),
        key_en_passant: number(Field::KeyEnPassant, row).map(|square| square as u8),
        mv: number(Field::Move, row).map(|bits| Move::from_bits(bits as u16).unwrap().uci_as(true).to_string()),
        score: number(Field::Score, row).unwrap() as i16,
        result: number(Field::Result, row).unwrap() as u8,
    };
    (0..batch.len()).map(record).collect()
}

/// Compares records one by one, so that a difference is readable.
fn assert_same(found: &[Record], expected: &[Record], what: &str) {
    for (number, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert_eq!(found, expected, "record {number} of {what}");
    }
    assert_eq!(found.len(), expected.len(), "{what}");
}

/// The bytes that `convert` writes, on one thread and on several.
fn converted(input: &Path, to: &str) -> Vec<u8> {
    let directory = tempfile::tempdir().unwrap();
    let [one, several] = ["1", "3"].map(|threads| {
        let output = directory.path().join(threads);
        let mut command = Command::cargo_bin("lanefish").unwrap();
        command.args(["-q", "convert", "--to", to, "--threads", threads]).arg(input).arg("-o").arg(&output);
        command.assert().code(0);
        fs::read(output).unwrap()
    });
    assert!(one == several, "{to}");
    one
}

fn file(directory: &Path, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
    let path = directory.join(name);
    fs::write(&path, content).unwrap();
    path
}

/// All positions of games in bulletformat, as the crates write them.
fn bullet_of_crate(games: &[Game]) -> Vec<ChessBoard> {
    let mut boards = Vec::new();
    for game in games {
        let push = |board| {
            boards.push(board);
            Ok(())
        };
        game.splat_to_bulletformat(push, &Filter::UNRESTRICTED).unwrap();
    }
    boards
}

/// All positions of games in marlinformat, as the crate writes them.
fn marlin_of_crate(games: &[Game]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for game in games {
        game.splat_to_marlinformat(
            |board| {
                bytes.extend_from_slice(&board.as_bytes());
                Ok(())
            },
            &Filter::UNRESTRICTED,
        )
        .unwrap();
    }
    bytes
}

/// The games as text of Stockfish, in which each record is a whole position.
fn plain(games: &[Played]) -> String {
    let mut text = String::new();
    for played in games {
        let mut position = Position::from_fen_unvalidated(&played.start).unwrap();
        let mut fen = played.start.clone();
        for &(mv, score) in &played.moves {
            let (mv_text, sign) = (mv.uci(&position), if position.side_to_move == Color::White { 1 } else { -1 });
            let ply = (i32::from(position.fullmove) - 1) * 2 + i32::from(sign < 0);
            let (score, result) = (sign * i32::from(score), sign * (i32::from(played.result) - 1));
            text += &format!("fen {fen}\nmove {mv_text}\nscore {score}\nply {ply}\nresult {result}\ne\n");
            position.make(mv);
            fen = position.shredder_fen();
        }
    }
    text
}

/// The games without those whose plies or scores are beyond what text of Stockfish can hold.
fn for_plain() -> Vec<Played> {
    let mut games = games();
    games.retain(|played| !played.start.contains(" 6553"));
    for (_, score) in games.iter_mut().flat_map(|played| &mut played.moves) {
        *score = (*score).max(-i16::MAX);
    }
    games
}

#[test]
fn records_are_written_as_games_of_the_crate() {
    let directory = tempfile::tempdir().unwrap();
    let games = for_plain();
    let of_crate: Vec<Game> = games.iter().map(game_of_crate).collect();
    let written = converted(&file(directory.path(), "x.plain", plain(&games)), "viri");
    let again = all_by_crate(&written);
    for (number, (found, expected)) in again.iter().zip(&of_crate).enumerate() {
        assert_eq!(found, expected, "game {number}: {:?}", games[number]);
    }
    assert!(written == bytes_of_crate(&of_crate));
}

#[test]
fn games_of_the_crate_are_read_and_written_to_the_byte() {
    let directory = tempfile::tempdir().unwrap();
    let games: Vec<Game> = games().iter().map(game_of_crate).collect();
    let bytes = bytes_of_crate(&games);
    let path = file(directory.path(), "x.viri", &bytes);
    let expected = records_of(&games);
    let rare = expected.iter().filter(|record| record.key_en_passant.is_some()).count();
    assert!(rare > 5, "{rare}");
    assert_same(&records(&path), &expected, "viriformat");
    assert!(converted(&path, "viri") == bytes);
    let boards = file(directory.path(), "x.boards", converted(&path, "boards"));
    assert!(converted(&boards, "viri") == bytes);
}

#[test]
fn games_become_the_single_records_that_the_crate_makes_of_them() {
    let directory = tempfile::tempdir().unwrap();
    let games: Vec<Game> = games().iter().map(game_of_crate).collect();
    let path = file(directory.path(), "x.viri", bytes_of_crate(&games));
    let expected = marlin_of_crate(&games);
    let found = converted(&path, "marlin");
    for (number, (found, expected)) in found.as_chunks::<32>().0.iter().zip(expected.as_chunks::<32>().0).enumerate() {
        assert_eq!(found, expected, "record {number} of marlinformat");
    }
    assert!(found == expected);
    // As a start position of a game without moves, a record of marlinformat can be read by the crate.
    let mut without_moves = Vec::new();
    for record in found.as_chunks::<32>().0 {
        without_moves.extend_from_slice(record);
        without_moves.extend_from_slice(&[0; 4]);
    }
    let read: Vec<Record> = all_by_crate(&without_moves)
        .iter()
        .map(|game| {
            let (board, score, result, _) = game.initial_position.unpack();
            let (position, key_en_passant) = position_of(&board);
            Record { position, key_en_passant, mv: None, score, result }
        })
        .collect();
    assert_same(&records(&file(directory.path(), "x.marlin", &found)), &read, "marlinformat");

    let expected = bullet_of_crate(&games);
    let found = converted(&path, "bullet");
    for (number, (found, expected)) in found.as_chunks::<32>().0.iter().zip(&expected).enumerate() {
        assert_eq!(found, BulletFormat::as_bytes_slice(&[*expected]), "record {number} of bulletformat");
    }
    assert!(found == BulletFormat::as_bytes_slice(&expected));
}

/// The pieces of a record of bulletformat, as the crate iterates over them, and its score and result: those of White.
fn record_of(board: ChessBoard) -> Record {
    let mut position = Position::empty();
    for (piece, square) in board {
        let [color, role] = [piece >> 3, piece & 7].map(usize::from);
        position.put(Square::new(square), Piece { color: Color::ALL[color], role: Role::ALL[role] });
    }
    let king = |color| position.king(color).map(|square| square.index() as u8);
    assert_eq!(king(Color::White), Some(board.our_ksq()));
    assert_eq!(king(Color::Black), Some(board.opp_ksq() ^ 56));
    let (score, result) = (board.score(), board.result_idx() as u8);
    Record { position, key_en_passant: None, mv: None, score, result }
}

/// The records of a file of bulletformat, as the crate loads them.
fn loaded_by_crate(path: &Path) -> Vec<Record> {
    let mut found = Vec::new();
    let loader = bulletformat::DataLoader::<ChessBoard>::new(path, 1).unwrap();
    loader.map_batches(1000, |batch| found.extend(batch.iter().copied().map(record_of)));
    found
}

#[test]
fn records_of_bulletformat_are_read_alike() {
    let directory = tempfile::tempdir().unwrap();
    let games: Vec<Game> = games().iter().map(game_of_crate).collect();
    let boards = bullet_of_crate(&games);
    let path = file(directory.path(), "x.bullet", BulletFormat::as_bytes_slice(&boards));
    let found = records(&path);
    assert_same(&found, &loaded_by_crate(&path), "bulletformat");
    assert_eq!(found.len(), boards.len());
    assert!(converted(&path, "bullet") == fs::read(&path).unwrap());
}

/// Text, from which both make records of bulletformat.
#[test]
fn text_becomes_the_same_records_of_bulletformat() {
    let directory = tempfile::tempdir().unwrap();
    let games: Vec<Game> = for_plain().iter().map(game_of_crate).collect();
    let mut text = String::new();
    for record in records_of(&games) {
        let result = ["0.0", "0.5", "1.0"][usize::from(record.result)];
        text += &format!("{} | {} | {result}\n", record.position.shredder_fen(), record.score);
    }
    let expected: Vec<ChessBoard> = text.lines().map(|line| line.parse().unwrap()).collect();
    let found = converted(&file(directory.path(), "x.text", &text), "bullet");
    assert!(found == BulletFormat::as_bytes_slice(&expected));
    // The text that lanefish writes is read by the crate, but for castling rights and clocks, which it leaves out.
    let again = converted(&file(directory.path(), "x.viri", bytes_of_crate(&games)), "text");
    let again = String::from_utf8(again).unwrap();
    let again: Vec<ChessBoard> = again.lines().map(|line| line.parse().unwrap()).collect();
    assert!(again == expected);
}

/// The sentinel is the positive number where scores are those of the side to move; the crates turn it like any score.
#[test]
fn the_sentinel_is_positive_for_the_side_to_move() {
    let directory = tempfile::tempdir().unwrap();
    let normal = |from, to| (Move { from, to, kind: MoveKind::Normal }, 32_002);
    let [e2, e4, e5, e7] = [12, 28, 36, 52].map(Square::new);
    let start = Position::standard().shredder_fen();
    let game = game_of_crate(&Played { start, moves: vec![normal(e2, e4), normal(e7, e5)], result: 1 });
    let path = file(directory.path(), "x.viri", bytes_of_crate(std::slice::from_ref(&game)));
    let mut expected = bullet_of_crate(&[game]);
    assert_eq!(expected.iter().map(BulletFormat::score).collect::<Vec<_>>(), [32_002, -32_002]);
    expected[1].score = 32_002;
    assert!(converted(&path, "bullet") == BulletFormat::as_bytes_slice(&expected));
}

/// Games of the shared sample data: those of viriformat, and the others converted to it.
#[test]
fn games_of_sample_data_are_read_alike() {
    let directory = tempfile::tempdir().unwrap();
    for (name, bullet) in [
        ("example.vf", Some("example.bullet.data")),
        ("slice_a.vf", Some("slice_a.bullet.data")),
        ("example.plain", None),
        ("slice_a.plain", None),
        ("example.binpack", None),
        ("slice_a.binpack", None),
        ("ep1.binpack", None),
        ("example.sfen.bin", None),
        ("slice_a.sfen.bin", None),
        ("small.binpack", None),
    ] {
        let Some(path) = shared_data(&format!("nnue/{name}")) else {
            return;
        };
        let written = converted(&path, "viri");
        if name.ends_with(".vf") {
            assert!(written == fs::read(&path).unwrap(), "{name}");
        }
        // What the crate writes, which is the same below, comes back as the original.
        if name.ends_with(".binpack") {
            let viri = file(directory.path(), "again.viri", &written);
            assert!(converted(&viri, "binpack") == fs::read(&path).unwrap(), "{name}");
        }
        // Of a long file, only the first games are compared.
        let games = match read_by_crate(&written) {
            (games, []) => games,
            (games, rest) => {
                assert_eq!(name, "small.binpack");
                let part = &written[..written.len() - rest.len()];
                let path = file(directory.path(), "part.viri", part);
                assert_same(&records(&path), &records_of(&games), name);
                continue;
            }
        };
        assert!(bytes_of_crate(&games) == written, "{name}");
        assert_same(&records(&path), &records_of(&games), name);
        let found = converted(&path, "bullet");
        let expected = bullet_of_crate(&games);
        assert!(found == BulletFormat::as_bytes_slice(&expected), "{name}");
        assert!(converted(&path, "marlin") == marlin_of_crate(&games), "{name}");
        if let Some(path) = bullet.and_then(|name| shared_data(&format!("nnue/{name}"))) {
            assert!(found == fs::read(&path).unwrap(), "{name}");
            assert_same(&records(&path), &loaded_by_crate(&path), name);
        }
    }
}
