//! The rules of one position, compared with the reference implementation, with cozy-chess and with known counts.

use crate::support::shared_text;
use lanefish::chess::fen::{self, CastlingStyle, FenOptions};
use lanefish::chess::perft::perft;
use lanefish::chess::random::{RandomPlay, Start};
use lanefish::chess::{
    Bitboard, CastlingRights, Color, Move, MoveKind, Piece, Position, Role, Square, Validity, reference,
};
use proptest::prelude::*;
use serde_json::Value;

/// A board with one king per side and up to `most` other pieces anywhere, pawns not on the back ranks. Random side to
/// move; perhaps castling rights for every rook on its back rank, and an en passant square anywhere.
fn any_board(most: usize) -> impl Strategy<Value = Position> {
    let piece = (0..64u8, 0..5usize, 0..2usize);
    let kings = (0..64u8, 0..64u8).prop_filter("two squares", |(white, black)| white != black);
    let rest = (any::<bool>(), any::<bool>(), proptest::option::of(0..64u8));
    (prop::collection::vec(piece, 0..=most), kings, rest).prop_map(|(pieces, kings, (black, castling, en_passant))| {
        let mut position = Position::empty();
        for (square, role, color) in pieces {
            let (square, role) = (Square::new(square), Role::ALL[role]);
            let color = Color::ALL[color];
            if role != Role::Pawn || !Bitboard::BACK_RANKS.contains(square) {
                position.put(square, Piece { color, role });
            }
        }
        for (square, color) in [(kings.0, Color::White), (kings.1, Color::Black)] {
            let role = Role::King;
            position.put(Square::new(square), Piece { color, role });
        }
        if black {
            position.side_to_move = Color::Black;
        }
        if castling {
            position.castling.0 = position.role(Role::Rook) & Bitboard::BACK_RANKS;
        }
        position.en_passant = en_passant.map(Square::new);
        position
    })
}

/// Ranks of a FEN board, mostly eight of them and mostly of eight squares.
fn ranks() -> impl Strategy<Value = Vec<String>> {
    let whole = "8|[pnbrqkPNBRQK]{8}|[qK]7|3[pP]{3}2|1[nN]5r|[bB]2k4";
    let any = "[0-9]|[pnbrqkPNBRQK1-3]{3,9}|[pK7]{2}|";
    let rank = prop_oneof![20 => whole, 1 => any];
    let ranks = |count| prop::collection::vec(rank.clone(), count);
    prop_oneof![9 => ranks(8..9), 1 => ranks(6..10)]
}

fn sorted(moves: &[Move]) -> Vec<u16> {
    let mut bits: Vec<u16> = moves.iter().map(|mv| mv.to_bits()).collect();
    bits.sort_unstable();
    bits
}

fn agrees_with_reference(position: &Position) {
    let expected = reference::legal_moves(position);
    let moves = position.legal_moves();
    assert_eq!(sorted(&moves), sorted(&expected), "{position}");
    let counts = position.legal_counts();
    let count = |kind: fn(&Position, Move) -> bool| expected.iter().filter(|&&mv| kind(position, mv)).count();
    assert_eq!(usize::from(counts.moves), expected.len(), "{position}");
    assert_eq!(counts.moves, position.count_legal_moves());
    let en_passants = count(|_, mv| mv.kind == MoveKind::EnPassant);
    let castles = count(|_, mv| mv.kind == MoveKind::Castle);
    let promotions = count(|_, mv| matches!(mv.kind, MoveKind::Promotion(_)));
    let captures =
        count(|position, mv| mv.kind == MoveKind::EnPassant || position.color(!position.side_to_move).contains(mv.to));
    assert_eq!(usize::from(counts.en_passants), en_passants, "{position}");
    assert_eq!(usize::from(counts.castles), castles, "{position}");
    assert_eq!(usize::from(counts.promotions), promotions, "{position}");
    assert_eq!(usize::from(counts.captures), captures, "{position}");
    let us = position.side_to_move;
    assert_eq!(position.checkers(), reference::checkers_of(position, us));
    assert_eq!(position.pinned(), reference::pinned(position), "{position}");
    for color in Color::ALL {
        let attacked = reference::attacked_by(position, color);
        assert_eq!(position.attacked_by(color), attacked, "{position}");
    }
}

fn unmakes(position: &Position) {
    let mut board = position.clone();
    for &mv in &position.legal_moves() {
        let undo = board.make(mv);
        board.unmake(mv, undo);
        assert_eq!(&board, position, "{mv:?}");
        assert_eq!(Move::from_bits(mv.to_bits()), Some(mv));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn moves_of_any_board_are_those_of_the_reference(position in any_board(24)) {
        agrees_with_reference(&position);
    }
    #[test]
    fn moves_of_sparse_boards_are_those_of_the_reference(position in any_board(8)) {
        agrees_with_reference(&position);
    }
    #[test]
    fn moves_of_any_board_can_be_taken_back(position in any_board(24)) {
        unmakes(&position);
    }
    #[test]
    fn fen_of_any_board_reads_back(position in any_board(32), clocks in any::<(u16, u16)>()) {
        let mut position = position;
        (position.halfmove, position.fullmove) = clocks;
        // A castling right without its king cannot be parsed.
        for color in Color::ALL {
            let rank = CastlingRights::back_rank(color);
            if position.king(color).is_none_or(|king| king.rank() != rank) {
                position.castling.0 -= Bitboard::rank(rank);
            }
            position.castling.0 -= Bitboard::rank(rank) - position.color(color);
        }
        let options = FenOptions::default().keep_en_passant(true);
        for style in [CastlingStyle::Outermost, CastlingStyle::Files] {
            let mut text = Vec::new();
            position.write_fen(&mut text, style);
            text.extend_from_slice(b" ;D1 20");
            let read = fen::parse(&text, options).expect("its own FEN");
            prop_assert_eq!(&read.position, &position);
            prop_assert_eq!(read.rest, b";D1 20");
        }
    }
    #[test]
    fn fen_reader_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
        let _ = fen::parse(&bytes, FenOptions::default());
    }
    #[test]
    fn almost_fen_never_panics(text in "[1-9pnbrqkPNBRQK/]{0,80}( [wb-])?( [KQkqA-Ha-h-]{0,5})?( [a-i0-9-]{0,3})?( [0-9]{0,7}){0,3}") {
        if let Ok(read) = fen::parse(text.as_bytes(), FenOptions::default()) {
            let _ = read.violations(Validity::Strict);
            let _ = read.position.legal_moves();
            // A board has only one notation.
            let board = |text: &str| text.split(' ').next().map(str::to_owned);
            prop_assert_eq!(board(&read.position.to_string()), board(&text));
        }
    }
    #[test]
    fn boards_are_accepted_exactly_when_complete(ranks in ranks()) {
        let text = ranks.join("/");
        let width = |rank: &String| rank.bytes().map(|byte| match byte {
            b'1'..=b'8' => usize::from(byte - b'0'),
            b'0' | b'9' => 99,
            _ => 1,
        }).sum::<usize>();
        let adjacent = text.as_bytes().windows(2).any(|pair| pair.iter().all(u8::is_ascii_digit));
        let whole = ranks.len() == 8 && ranks.iter().all(|rank| width(rank) == 8) && !adjacent;
        let read = fen::parse(format!("{text} w").as_bytes(), FenOptions::default()).is_ok();
        prop_assert_eq!(read, whole, "{}", text);
    }
    #[test]
    fn damaged_fen_never_panics(at in 0..56usize, byte in any::<u8>()) {
        let mut text = *b"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
        text[at] = byte;
        match fen::parse(&text, FenOptions::default()) {
            Ok(read) => {
                let _ = read.violations(Validity::Strict);
                let written = read.position.to_string();
                prop_assert!(text.starts_with(written.split(' ').next().unwrap().as_bytes()));
            }
            Err(error) => prop_assert!(error.column <= text.len() + 1, "{}", error),
        }
    }
}

/// The same position for cozy-chess, which limits the range of the clocks.
pub(crate) fn cozy(position: &Position) -> Result<cozy_chess::Board, cozy_chess::FenParseError> {
    let mut bounded = position.clone();
    bounded.halfmove = bounded.halfmove.min(100);
    bounded.fullmove = bounded.fullmove.max(1);
    cozy_chess::Board::from_fen(&bounded.shredder_fen(), true)
}

/// Checks that moves, checkers and pins are those that cozy-chess finds.
fn agrees_with_cozy(position: &Position, theirs: &cozy_chess::Board) {
    let mut expected = Vec::new();
    theirs.generate_moves(|moves| {
        expected.extend(moves.into_iter().map(|mv| {
            let promotion = mv.promotion.map(|piece| piece as usize);
            (mv.from as usize, mv.to as usize, promotion)
        }));
        false
    });
    let moves = position.legal_moves();
    let mut moves: Vec<_> = moves
        .iter()
        .map(|mv| {
            let promotion = match mv.kind {
                MoveKind::Promotion(role) => Some(role.index()),
                _ => None,
            };
            (mv.from.index(), mv.to.index(), promotion)
        })
        .collect();
    expected.sort_unstable();
    moves.sort_unstable();
    assert_eq!(moves, expected, "{position}");
    assert_eq!(position.checkers().0, theirs.checkers().0, "{position}");
    // cozy-chess also counts enemy pieces that shield the king as pinned.
    let own = position.color(position.side_to_move).0;
    assert_eq!(position.pinned().0, theirs.pinned().0 & own, "{position}");
}

/// Sums over a file, named as in the expected files.
#[derive(Default, Debug, PartialEq)]
struct Sums {
    accepted: u64,
    white_to_move: u64,
    moves: u64,
    in_check: u64,
    double_check: u64,
    checkmate: u64,
    stalemate: u64,
    attacked: [u64; 2],
    histogram: Vec<u64>,
}

impl Sums {
    fn add(&mut self, position: &Position) {
        let counts = position.legal_counts();
        let moves = usize::from(counts.moves);
        let checkers = position.checkers().len();
        self.accepted += 1;
        self.white_to_move += u64::from(position.side_to_move == Color::White);
        self.moves += moves as u64;
        self.in_check += u64::from(checkers > 0);
        self.double_check += u64::from(checkers > 1);
        self.checkmate += u64::from(moves == 0 && checkers > 0);
        self.stalemate += u64::from(moves == 0 && checkers == 0);
        for (sum, color) in self.attacked.iter_mut().zip(Color::ALL) {
            *sum += u64::from(position.attacked_by(color).len());
        }
        if self.histogram.len() <= moves {
            self.histogram.resize(moves + 1, 0);
        }
        self.histogram[moves] += 1;
    }

    fn expected(json: &Value) -> Self {
        let number = |name: &str| json[name].as_u64().expect("a number");
        let mut histogram = Vec::new();
        for (moves, count) in json["legal_moves_histogram"].as_object().expect("an object") {
            let moves: usize = moves.parse().expect("a number of moves");
            if histogram.len() <= moves {
                histogram.resize(moves + 1, 0);
            }
            histogram[moves] = count.as_u64().expect("a count");
        }
        Self {
            accepted: number("accepted_by_both"),
            white_to_move: number("white_to_move"),
            moves: json["legal_moves"]["sum"].as_u64().expect("a sum"),
            in_check: number("in_check"),
            double_check: number("double_check"),
            checkmate: number("checkmate"),
            stalemate: number("stalemate"),
            attacked: [number("attacked_by_white_sum"), number("attacked_by_black_sum")],
            histogram,
        }
    }
}

fn is_record(line: &&str) -> bool {
    !line.trim().is_empty() && !line.starts_with('#')
}

/// Reads every line of a sample file and compares each position with cozy-chess and the sums with the expected ones.
fn file_agrees(name: &str, expected: &str) {
    let (Some(text), Some(expected)) = (shared_text(name), shared_text(expected)) else {
        return;
    };
    let mut sums = Sums::default();
    for line in text.lines().filter(is_record) {
        let line = line.strip_prefix("epd ").unwrap_or(line);
        if line.starts_with("id ") || line.starts_with("perft ") {
            continue;
        }
        let read = match fen::parse(line.as_bytes(), FenOptions::default()) {
            Ok(read) => read,
            Err(error) => panic!("{line}: {error}"),
        };
        let violations = read.violations(Validity::Playable);
        assert!(violations.is_empty(), "{line}: {violations}");
        let position = read.position;
        sums.add(&position);
        agrees_with_cozy(&position, &cozy(&position).expect("accepted by both"));
        let written = Position::from_fen_unvalidated(&position.to_string());
        assert_eq!(written.as_ref(), Ok(&position));
        let written = Position::from_fen_unvalidated(&position.shredder_fen());
        assert_eq!(written.as_ref(), Ok(&position));
    }
    let expected = serde_json::from_str(&expected).expect("JSON");
    assert_eq!(sums, Sums::expected(&expected), "{name}");
}

macro_rules! files_agree {
    ($($test:ident: $name:literal, $expected:literal;)*) => {$(
        #[test]
        fn $test() {
            file_agrees($name, concat!("expected/", $expected, ".json"));
        }
    )*};
}
files_agree! {
    three_moves_frc: "epd/3moves_FRC.epd.zst", "3moves_FRC.epd";
    dfrc_openings: "epd/DFRC_openings.sample_a.epd.zst", "DFRC_openings.sample_a.epd";
    frc_openings: "epd/FRC_openings.epd.zst", "FRC_openings.epd";
    uho: "epd/UHO_4060_v2.half_a.epd.zst", "UHO_4060_v2.half_a.epd";
    bratko_kopec: "epd/bratko-kopec.epd", "bratko-kopec.epd";
    cozy_valid: "epd/cozy_valid.half_a.sfens.zst", "cozy_valid.half_a.sfens";
    endgames: "epd/endgames.half_a.epd.zst", "endgames.half_a.epd";
    hybrid_book: "epd/hybrid_book_beta.epd.zst", "hybrid_book_beta.epd";
    noob: "epd/noob_3moves.epd.zst", "noob_3moves.epd";
    popular: "epd/popularpos_lichess_v3.epd.zst", "popularpos_lichess_v3.epd";
    stalemates: "epd/stalemates_200d30_v1.half_a.epd.zst", "stalemates_200d30_v1.half_a.epd";
    terminal: "epd/terminal_and_checks.half_a.epd.zst", "terminal_and_checks.half_a.epd";
    perft_random: "perft/random.half_a.perft", "random.half_a.perft";
    perft_chess960: "perft/chess960.half_a.perft", "chess960.half_a.perft";
}

#[test]
fn strict_accepts_reachable_positions() {
    for name in [
        "epd/cozy_valid.half_a.sfens.zst",
        "epd/endgames.half_a.epd.zst",
        "epd/UHO_4060_v2.half_a.epd.zst",
        "epd/3moves_FRC.epd.zst",
        "epd/popularpos_lichess_v3.epd.zst",
        "epd/terminal_and_checks.half_a.epd.zst",
        "epd/stalemates_200d30_v1.half_a.epd.zst",
    ] {
        let Some(text) = shared_text(name) else {
            return;
        };
        for line in text.lines().filter(is_record) {
            let read = fen::parse(line.as_bytes(), FenOptions::default()).expect("FEN");
            let violations = read.violations(Validity::Strict);
            assert!(violations.is_empty(), "{name}: {line}: {violations}");
        }
    }
}

#[test]
fn strict_rejects_unreachable_positions() {
    let Some(text) = shared_text("epd/cozy_invalid.half_a.sfens.zst") else {
        return;
    };
    let accepted = |line: &&str| match fen::parse(line.as_bytes(), FenOptions::default()) {
        Ok(read) => read.violations(Validity::Strict).is_empty(),
        Err(_) => false,
    };
    let accepted: Vec<&str> = text.lines().filter(is_record).filter(accepted).collect();
    assert!(accepted.is_empty(), "{}: {accepted:#?}", accepted.len());
}

#[test]
fn absurd_but_playable_positions_are_playable() {
    for name in ["perft/tricky.perft", "perft/perftsuite.epd"] {
        let Some(text) = shared_text(name) else {
            return;
        };
        for line in text.lines().filter(is_record) {
            let line = line.strip_prefix("epd ").unwrap_or(line);
            if line.contains('/') {
                let read = fen::parse(line.as_bytes(), FenOptions::default()).expect("FEN");
                let violations = read.violations(Validity::Playable);
                assert!(violations.is_empty(), "{line}: {violations}");
                agrees_with_reference(&read.position);
            }
        }
    }
}

#[test]
fn random_games_go_forward_and_back() {
    for start in [Start::Standard, Start::Chess960] {
        let mut played = Vec::new();
        let mut position: Option<Position> = None;
        for step in RandomPlay::new(7, start).take(20_000) {
            let here = position.get_or_insert_with(|| step.position.clone());
            assert_eq!(*here, step.position);
            match step.next {
                Some(mv) => {
                    assert_eq!(here.parse_san(&mv.san(here)), Ok(mv), "{here}");
                    for text in [mv.uci(here), mv.uci_as(true)] {
                        assert_eq!(Move::from_uci(text.as_str(), here), Ok(mv), "{here}");
                    }
                    let key = here.polyglot_key();
                    played.push((mv, here.clone(), key, here.make(mv)));
                }
                None => {
                    let mut back = position.take().expect("a position");
                    for (mv, before, key, undo) in played.drain(..).rev() {
                        back.unmake(mv, undo);
                        assert_eq!(back, before);
                        assert_eq!(back.polyglot_key(), key);
                    }
                }
            }
        }
    }
}

#[test]
fn random_games_agree_with_cozy_and_are_strictly_valid() {
    for start in [Start::Standard, Start::Chess960] {
        let mut played: Option<cozy_chess::Board> = None;
        for step in RandomPlay::new(3, start).take(30_000) {
            let position = step.position;
            let violations = position.violations(Validity::Strict);
            assert!(violations.is_empty(), "{position}: {violations}");
            let theirs = cozy(&position).expect("valid");
            agrees_with_cozy(&position, &theirs);
            // The board of cozy-chess after it has made all moves; only its rule for en passant squares differs.
            let board = played.get_or_insert(theirs);
            let (ours, theirs) = (position.shredder_fen(), format!("{board:#}"));
            let both = ours.split(' ').zip(theirs.split(' '));
            for (field, (ours, theirs)) in both.enumerate() {
                assert!(ours == theirs || field == 3, "{position}: {ours} {theirs}");
            }
            match step.next {
                Some(mv) => {
                    let text = mv.uci_as(true);
                    board.play(text.as_str().parse().expect("the form that cozy-chess reads"));
                }
                None => played = None,
            }
        }
    }
}

/// Positions of a perft file with the counts by depth.
fn perft_records(name: &str) -> Vec<(Position, Vec<(u32, u64)>)> {
    let text = shared_text(name).unwrap_or_default();
    let mut records = Vec::new();
    for line in text.lines().filter(is_record) {
        if let Some(count) = line.strip_prefix("perft ") {
            let mut numbers = count.split_whitespace().map(|number| number.parse::<u64>());
            if let (Some(Ok(depth)), Some(Ok(nodes))) = (numbers.next(), numbers.next())
                && let Some((_, counts)) = records.last_mut()
            {
                let counts: &mut Vec<_> = counts;
                counts.push((depth as u32, nodes));
            }
            continue;
        }
        let line = line.strip_prefix("epd ").unwrap_or(line);
        if line.starts_with("id ") {
            continue;
        }
        let read = fen::parse(line.as_bytes(), FenOptions::default()).expect("FEN");
        let rest = std::str::from_utf8(read.rest).expect("ASCII");
        let counts = rest.split(';').filter_map(|operation| {
            let (depth, nodes) = operation.trim().strip_prefix('D')?.split_once(' ')?;
            Some((depth.parse().ok()?, nodes.trim().parse().ok()?))
        });
        records.push((read.position, counts.collect()));
    }
    records
}

#[test]
fn perft_files() {
    for (name, most, every) in [
        ("perft/tricky.perft", 1_500_000, 1),
        ("perft/perftsuite.epd", 1_000_000, 1),
        ("perft/chess960.half_a.perft", 200_000, 5),
        ("perft/random.half_a.perft", 200_000, 20),
    ] {
        for (mut position, counts) in perft_records(name).into_iter().step_by(every) {
            // Depths beyond the end of the tree (the "prison") cost only the recursion.
            for (depth, nodes) in counts.into_iter().filter(|&(_, nodes)| nodes <= most) {
                assert_eq!(perft(&mut position, depth), nodes, "{name}: {position} {depth}");
            }
        }
    }
}

#[test]
fn polyglot_book_is_found_by_its_keys() {
    let Some(path) = crate::support::shared_data("polyglot/lasker-trap.bin") else {
        return;
    };
    let book = std::fs::read(path).expect("readable");
    let entries = book.as_chunks::<16>().0;
    let mut position = Position::standard();
    let line = "d4 d5 c4 e5 dxe5 d4 e3 Bb4+ Bd2 dxe3 Bxb4 exf2+ Ke2 fxg1=N+";
    for (ply, text) in line.split_whitespace().enumerate() {
        let mv = position.parse_san(text).expect("legal");
        assert_eq!(mv.san(&position), text);
        let key = position.polyglot_key().to_be_bytes();
        let found = entries.iter().find(|entry| entry.starts_with(&key));
        // The book has only Black's moves.
        assert_eq!(found.is_some(), ply % 2 == 1, "{text}");
        if let Some(entry) = found {
            // To and from, each as file and rank in three bits.
            let move_bits = u16::from_be_bytes([entry[8], entry[9]]);
            assert_eq!(usize::from(move_bits & 63), mv.to.index());
            assert_eq!(usize::from(move_bits >> 6 & 63), mv.from.index());
        }
        position.make(mv);
    }
    assert_eq!(entries.len(), 7);
}
