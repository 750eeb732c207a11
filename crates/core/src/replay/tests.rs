//! Tests that the parser accepts exactly the form of the standard, and that the fast path plays by the rules.

use super::lanes::play_rare;
use super::*;
use crate::chess::{Move, MoveKind, san};
use crate::kernels::replay::{Boards, Order, Orders, Positions, Resolve, Resolved, replay};
use crate::packed::Group;
use crate::simd::{Scalar, Simd};
use std::collections::HashSet;

/// All texts that are standard SAN, except castling.
fn standard() -> HashSet<String> {
    let maybe = |texts: &str| -> Vec<String> {
        let texts = texts.chars().map(String::from);
        texts.chain([String::new()]).collect()
    };
    let mut all = HashSet::new();
    for to in (0..64).map(|index| Square::new(index).to_string()) {
        for x in maybe("x") {
            for rank in maybe("12345678") {
                for file in maybe("abcdefgh") {
                    for piece in "NBRQK".chars() {
                        all.insert(format!("{piece}{file}{rank}{x}{to}"));
                    }
                    if rank.is_empty() && file.is_empty() == x.is_empty() {
                        let promotions = if to.ends_with(['1', '8']) { &["=N", "=B", "=R", "=Q"][..] } else { &[""] };
                        for promotion in promotions {
                            all.insert(format!("{file}{x}{to}{promotion}"));
                        }
                    }
                }
            }
        }
    }
    assert_eq!(all.len(), 64 * 2 * 9 * 9 * 5 + (1 + 8) * (16 * 4 + 48));
    all
}

fn decode(text: &[u8]) -> Option<San> {
    let mut word = [0; 8];
    word[..text.len()].copy_from_slice(text);
    // No piece comes from an empty set: see `Board::play`.
    San::decode(u64::from_le_bytes(word), text.len()).filter(|san| san.origin != 0)
}

#[test]
fn only_the_form_of_the_standard_is_decoded() {
    let standard = standard();
    for text in &standard {
        assert!(decode(text.as_bytes()).is_some(), "{text}");
    }
    // All texts over a small alphabet; for longer texts, a smaller one.
    for (letters, lengths) in [(&b"abgh1278NBRKx=-O"[..], 2..=5), (b"abd1BQx=-", 6..=6), (b"a1bNx=", 7..=8)] {
        for len in lengths {
            let mut digits = vec![0; len];
            loop {
                let text: Vec<u8> = digits.iter().map(|&digit| letters[digit]).collect();
                if decode(&text).is_some() {
                    let text = std::str::from_utf8(&text).unwrap();
                    assert!(standard.contains(text), "{text}");
                }
                let Some(place) = digits.iter().rposition(|&digit| digit + 1 < letters.len()) else {
                    break;
                };
                digits[place] += 1;
                digits[place + 1..].fill(0);
            }
        }
    }
}

#[test]
fn castling_is_to_the_side_that_the_word_says() {
    // Where both are legal, the wrong one would be played without a complaint.
    for (text, side) in [
        ("O-O", Some(CastlingSide::King)),
        ("O-O-O", Some(CastlingSide::Queen)),
        ("O-O-", None),
        ("-O-O", None),
        ("Nf3", None),
    ] {
        // Words are loaded together with the bytes around them.
        let bytes = format!("O-O-O-O {text} O-O-O-O");
        let san = San::of_word(bytes.as_bytes(), 8, 8 + text.len());
        assert_eq!(san.castles, side, "{text}");
    }
}

/// The legal move for a standard text, found in the plainest way.
fn meant(position: &Position, text: &str) -> Result<Move, Refused> {
    let (text, promotion) = text.split_once('=').unwrap_or((text, ""));
    let captures = text.contains('x');
    let text = text.replace('x', "");
    let (head, to) = text.split_at(text.len() - 2);
    let piece = head.chars().find(char::is_ascii_uppercase).unwrap_or('P');
    let origin: Vec<char> = head.chars().filter(|letter| *letter != piece).collect();
    let moves = position.legal_moves();
    let fitting: Vec<Move> = moves
        .iter()
        .copied()
        .filter(|mv| {
            let takes = mv.kind == MoveKind::EnPassant || position.role_at(mv.to).is_some();
            let becomes = match mv.kind {
                MoveKind::Promotion(role) => role.letter().to_ascii_uppercase().to_string(),
                _ => String::new(),
            };
            let from = mv.from.to_string();
            let role = position.role_at(mv.from).unwrap().letter();
            mv.kind != MoveKind::Castle
                && mv.to.to_string() == to
                && takes == captures
                && becomes == promotion
                && role.to_ascii_uppercase() == piece
                && origin.iter().all(|&letter| from.contains(letter))
                && (piece != 'P' || takes || from[..1] == to[..1])
        })
        .collect();
    match *fitting {
        [] => Err(Refused::Illegal),
        [mv] => Ok(mv),
        _ => Err(Refused::Ambiguous),
    }
}

/// The start position, and others with castling, promotions, pins and several pieces that reach a square.
const FENS: [&str; 5] = [
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "r3k2r/Pppp1ppp/1b3nbN/nPP5/B1P1P3/q4N2/Pp1P2PP/R2Q1RK1 b kq - 0 1",
    "2q1k3/1P6/8/N1NpPp2/8/N1N5/4K3/2Q1Q2Q w - d6 0 1",
    "4k3/8/8/8/7b/2n3N1/3N4/R3K2R w KQ - 0 1",
];

#[test]
fn moves_named_by_their_squares_are_those_of_the_rules() {
    for fen in &FENS[1..] {
        let position = Position::from_fen_unvalidated(fen).unwrap();
        let board = Board::new(&position);
        let mut played = 0;
        let squares = || (0..64).map(|index| Square::new(index).to_string());
        for from in squares() {
            for to in squares() {
                for promotion in ["", "q", "N", "k"] {
                    let text = format!("{from}{to}{promotion}");
                    let quick = board.play_squares(text.as_bytes());
                    let read = san::read(&position, text.as_bytes(), false);
                    if let Some((next, bits)) = quick {
                        assert_eq!(read.map(Move::to_bits), Ok(bits), "{text} in {fen}");
                        let mut position = position.clone();
                        position.make(read.unwrap());
                        assert_eq!(next.position(), position, "{text} in {fen}");
                        played += 1;
                    } else if let Ok(mv) = read {
                        assert_eq!(mv.kind, MoveKind::Castle, "{text} in {fen}");
                    }
                }
            }
        }
        assert!(played > 10);
    }
}

/// The fast path agrees with the rules, and leaves all other moves to them.
#[test]
fn quick_and_cold_moves_are_those_of_the_rules() {
    let texts = standard();
    for fen in FENS {
        let position = Position::from_fen_unvalidated(fen).unwrap();
        let board = Board::new(&position);
        for text in &texts {
            let expected = meant(&position, text).map(Move::to_bits);
            let quick = board.play(decode(text.as_bytes()).unwrap());
            let bits = |played: Result<(Board, u16), Refused>| played.map(|(_, bits)| bits);
            if let Ok((next, bits)) = quick {
                assert_eq!(Ok(bits), expected, "{text} in {fen}");
                let (cold, _) = board.play_spelled(text.as_bytes(), true).unwrap();
                assert_eq!(next.position(), cold.position(), "{text} in {fen}");
            }
            let strict = bits(board.play_spelled(text.as_bytes(), true));
            assert_eq!(strict, expected, "{text} in {fen}");
            let lenient = bits(board.play_spelled(text.as_bytes(), false));
            assert!(lenient == expected || expected == Err(Refused::Illegal), "{text} in {fen}");
        }
    }
}

/// Calls with the token of each instruction set that the CPU has.
macro_rules! each_token {
    ($run:ident) => {{
        $run(Scalar);
        #[cfg(target_arch = "x86_64")]
        {
            use crate::simd::{Avx2, Avx2Gfni, Avx512, Avx512Gfni};
            Avx2::detect().into_iter().for_each($run);
            Avx2Gfni::detect().into_iter().for_each($run);
            Avx512::detect().into_iter().for_each($run);
            Avx512Gfni::detect().into_iter().for_each($run);
        }
    }};
}

/// The order that a word is, from how it is read alone.
fn order(text: &str) -> Option<Order> {
    let san = San::of_word(format!("{text}        ").as_bytes(), 0, text.len());
    match san.castles {
        Some(side) => Some(Order::castling(side)),
        None => (san.origin != 0).then(|| san.order()),
    }
}

/// Words are read in lanes as they are alone.
#[test]
fn words_in_lanes_are_those_read_one_by_one() {
    fn run<S: Simd>(simd: S) {
        let mut texts: Vec<String> = standard().into_iter().chain(["O-O", "O-O-O"].map(str::to_owned)).collect();
        let rights = texts.len();
        // All texts over a small alphabet, for longer ones over a smaller one, and letters around those of pieces.
        for (letters, lengths) in
            [(&b"abgh1278NBRKx=-O"[..], 1..=4), (b"b1BQx=", 5..=6), (b"a8N=x", 7..=8), (b"O-a", 1..=9)]
        {
            for len in lengths {
                let count = letters.len().pow(len);
                texts.extend((0..count).step_by(1 + count / 20_000).map(|mut number| {
                    let mut next = || {
                        let letter = letters[number % letters.len()];
                        number /= letters.len();
                        letter as char
                    };
                    (0..len).map(|_| next()).collect::<String>()
                }));
            }
        }
        for byte in b' ' + 1..=b'~' {
            let letter = byte as char;
            texts.extend([
                format!("{letter}a1"),
                format!("a8={letter}"),
                format!("{letter}4"),
                format!("R{letter}xa1"),
            ]);
        }
        for (number, texts) in texts.chunks(8).enumerate() {
            let mut text = "before: ".to_owned();
            let (mut starts, mut ends) = (Vec::new(), Vec::new());
            for word in texts {
                starts.push(text.len() as u32);
                text += word;
                ends.push(text.len() as u32);
                text += [" ", "! ", "x"][number % 3];
            }
            text += "1-0 1-0 ";
            let mut from = 0;
            while from < texts.len() {
                let mut rows = OrderRows::default();
                let count = rows.push_words_with(simd, text.as_bytes(), &starts[from..], &ends[from..]);
                let expected: Vec<Order> = texts[from..].iter().map_while(|text| order(text)).collect();
                let found = rows.origins.iter().zip(&rows.bits);
                let found: Vec<Order> = found.map(|(&origin, &bits)| Order { origin, bits }).collect();
                assert_eq!((count, found), (expected.len(), expected), "{simd:?}: {texts:?} from {from}");
                from += count + 1;
            }
        }
        assert!(rights > 50_000);
    }
    each_token!(run);
}

#[test]
fn orders_of_squares_are_those_of_moves() {
    for code in 1..=6 {
        for (from, to) in (0..64).flat_map(|from| (0..64).map(move |to| (from, to))) {
            for captures in [false, true] {
                let order = Order::of_squares(code, [from, to], captures);
                assert_eq!(order, San::of_squares(code, [from, to], captures, 0).order());
                assert_eq!(order.captures(), captures);
            }
        }
    }
}

/// All moves by their squares, with each promotion, and without a word on captures or with one.
fn orders_of_moves() -> Vec<Order> {
    let mut orders = Vec::new();
    for (from, to) in (0..64).flat_map(|from| (0..64).map(move |to| (from, to))) {
        for promotion in [0, 2, 3, 4, 5] {
            let says = [None, Some(false), Some(true)];
            orders.extend(says.map(|captures| Order::of_move([from, to], promotion, captures)));
        }
    }
    orders
}

/// On a board alone, a move by its squares is the legal move with these squares.
#[test]
fn orders_of_moves_are_those_of_the_rules() {
    let passing = "rnbqkbnr/ppp1p1pp/8/3pPp2/8/8/PPPP1PPP/RNBQKBNR w KQkq f6 0 3";
    for fen in FENS.into_iter().chain([passing, "r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 0 1"]) {
        let position = Position::from_fen_unvalidated(fen).unwrap();
        let board = Board::new(&position).in_lane();
        let mut orders = orders_of_moves().into_iter();
        let mut played = 0;
        for (from, to) in (0..64).flat_map(|from| (0..64).map(move |to| (from, to))) {
            for promotion in ["", "n", "b", "r", "q"] {
                let [from, to] = [from, to].map(|index| Square::new(index).to_string());
                let text = format!("{from}{to}{promotion}");
                let mv = Move::from_uci(&text, &position).ok();
                let is_capture = |mv: Move| {
                    mv.kind == MoveKind::EnPassant || mv.kind != MoveKind::Castle && position.role_at(mv.to).is_some()
                };
                for says in [None, Some(false), Some(true)] {
                    let found = play_rare(&board, orders.next().unwrap());
                    let expected = mv.filter(|&mv| says.is_none_or(|captures| captures == is_capture(mv)));
                    assert_eq!(found.map(|(_, bits)| bits), expected.map(Move::to_bits), "{text} {says:?} in {fen}");
                    played += u32::from(found.is_some());
                }
            }
        }
        assert!(played > 10);
    }
}

/// In every position, each standard text does in a lane what it does on a board alone, with both colours to move.
#[test]
fn lanes_play_what_a_board_plays() {
    fn run<S: Simd>(simd: S) {
        let texts: Vec<String> = standard().into_iter().chain(["O-O", "O-O-O"].map(str::to_owned)).collect();
        let mut orders: Vec<Order> = texts.iter().map(|text| order(text).unwrap()).collect();
        orders.extend(orders_of_moves());
        // Both kinds side by side.
        orders.extend(orders_of_moves().into_iter().zip(orders.clone()).step_by(7).flat_map(|(a, b)| [a, b]));
        let turned = "r3k2r/Pppp1ppp/1b3nbN/nPP5/B1P1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1";
        let passing = "rnbqkbnr/ppp1p1pp/8/3pPp2/8/8/PPPP1PPP/RNBQKBNR w KQkq f6 0 3";
        for fen in FENS.into_iter().chain([turned, passing, "4k3/8/8/8/3pP3/8/8/4K2R b K e3 7 40"]) {
            let mut position = Position::from_fen_unvalidated(fen).unwrap();
            position.halfmove = 9;
            let board = Board::new(&position);
            for orders in orders.chunks(8) {
                let mut boards = Boards::default();
                (0..8).for_each(|lane| boards.set(lane, &board.in_lane()));
                let none = Order::NONE.bits;
                let mut block = Orders { origins: [[0; 8]; 8], bits: [[none; 8]; 8] };
                for (lane, order) in orders.iter().enumerate() {
                    (block.origins[0][lane], block.bits[0][lane]) = (order.origin, order.bits);
                }
                let mut positions = Positions::default();
                simd.enter(
                    #[inline(always)]
                    || {
                        let resolve: &mut Resolve<'_> = &mut |_, lane, board| {
                            let (board, mv) = play_rare(board, orders[lane])?;
                            Some(Resolved { board: board.in_lane(), color: board.packed().color, mv })
                        };
                        replay(simd, &mut boards, &block, &mut positions, resolve);
                    },
                );
                let mut by_lane = Positions::default();
                simd.enter(|| positions.turn(simd, &mut by_lane));
                for (lane, &order) in orders.iter().enumerate() {
                    let expected = play_rare(&board.in_lane(), order);
                    assert_eq!(boards.dead[lane] != 0, expected.is_none(), "{simd:?}: {order:x?} in {fen}");
                    let Some((next, mv)) = expected else { continue };
                    let facts = by_lane.facts[lane];
                    assert_eq!(by_lane.group(lane).get(0), next.packed(), "{simd:?}: {order:x?} in {fen}");
                    let clocks = u64::from(next.halfmove) | u64::from(next.fullmove) << 16;
                    assert_eq!(facts[0], clocks | u64::from(mv) << 32, "{simd:?}: {order:x?} in {fen}");
                }
            }
        }
    }
    each_token!(run);
}

/// Games of random moves, of which some words are changed, between rows that are not for the lanes.
#[test]
fn games_in_lanes_are_those_played_one_by_one() {
    fn run<S: Simd>(simd: S) {
        let mut random = crate::chess::random::Random::new(3);
        for round in 0..60 {
            let mut orders = OrderRows::default();
            let (mut boards, mut moves, mut failed) = (Vec::new(), Vec::new(), Vec::new());
            let games = [0, 1, 3, 9, 40][round % 5];
            for game in 0..games {
                if game % 7 == 3 {
                    for _ in 0..random.below(20) {
                        orders.push(Order::NONE);
                        boards.push(None);
                        moves.push(0);
                    }
                }
                let mut position = Position::standard();
                let mut board = Some(Board::new(&position));
                orders.push(Order::START);
                boards.push(board);
                moves.push(0);
                let wrong = if random.below(3) == 0 { random.below(60) } else { u32::MAX };
                for ply in 0..random.below(120) {
                    let legal = position.legal_moves();
                    let Some(&mv) = legal.get(random.below(legal.len().max(1) as u32) as usize) else { break };
                    let mut text = mv.san(&position);
                    position.make(mv);
                    if ply == wrong {
                        text =
                            ["Qh5", "e4", "Nd5", "O-O-O", "dxe5", "Kd4", "a8=Q"][random.below(7) as usize].to_owned();
                    }
                    let text = text.trim_end_matches(['+', '#']);
                    let order = order(text).unwrap();
                    orders.push(order);
                    let next = board.and_then(|board| play_rare(&board.in_lane(), order));
                    if let (Some(_), None) = (board, next) {
                        failed.push(boards.len());
                    }
                    if let Some((_, bits)) = next {
                        *moves.last_mut().unwrap() = bits;
                    }
                    board = next.map(|(board, _)| board);
                    boards.push(board);
                    moves.push(0);
                    if ply == wrong && board.is_some() {
                        // The wrong word was a legal move.
                        break;
                    }
                }
            }
            let len = boards.len();
            let mut groups = vec![Group::default(); len.div_ceil(8)];
            let (mut halfmove, mut fullmove, mut played) = (vec![0; len], vec![0; len], vec![0; len]);
            let mut rows = Rows {
                groups: &mut groups,
                halfmove: &mut halfmove,
                fullmove: &mut fullmove,
                moves: &mut played,
                pseudo_en_passants: Vec::new(),
                failed: Vec::new(),
            };
            orders.fill();
            orders.play_with(simd, &mut rows);
            let Rows { mut pseudo_en_passants, failed: mut found, .. } = rows;
            found.sort_unstable();
            assert_eq!(found, failed, "{simd:?}");
            pseudo_en_passants.sort_unstable();
            let idle = |(row, board): (usize, &Option<Board>)| Some((row, board.as_ref()?.pseudo_en_passant()?));
            let expected: Vec<(usize, u8)> = boards.iter().enumerate().filter_map(idle).collect();
            assert_eq!(pseudo_en_passants, expected, "{simd:?}");
            for (row, board) in boards.iter().enumerate() {
                let Some(board) = board else { continue };
                let found = (groups[row / 8].get(row % 8), halfmove[row], fullmove[row]);
                assert_eq!(found, (board.packed(), board.halfmove, board.fullmove), "{simd:?}: row {row}");
                if !failed.contains(&(row + 1)) {
                    assert_eq!(played[row], moves[row], "{simd:?}: row {row}");
                }
            }
        }
    }
    each_token!(run);
}
