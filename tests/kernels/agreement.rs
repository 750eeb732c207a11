//! Every kernel in every implementation that the CPU supports, compared with the plain rules of `chess`.

use crate::support::{self, Random};
use lanefish::chess::attacks::{bishop_attacks, knight_attacks, rook_attacks};
use lanefish::chess::{CastlingRights, Color, Piece, Position, Role, Square, Validity};
use lanefish::packed::{Group, Packed};
use lanefish::queries::{GroupResults, Queries};
use lanefish::tiers::{self, Alternative, Analyzer, Tier};
use lanefish_core::kernels::{BoardCounts, MoveLists};

/// All results for one board.
#[derive(Debug, PartialEq)]
struct Results {
    moves: [u16; 5],
    checkers: u64,
    pinned: u64,
    attacks: [u64; 2],
    mobility: [u64; 2],
    playable: bool,
}

fn mobility(position: &Position, color: Color) -> u64 {
    let occupied = position.occupied();
    let mut pairs = 0;
    for square in position.color(color) {
        let targets = match position.piece_at(square).unwrap().role {
            Role::Knight => knight_attacks(square),
            Role::Bishop => bishop_attacks(square, occupied),
            Role::Rook => rook_attacks(square, occupied),
            Role::Queen => bishop_attacks(square, occupied) | rook_attacks(square, occupied),
            Role::Pawn | Role::King => continue,
        };
        pairs += u64::from((targets - position.color(color)).len());
    }
    pairs
}

/// The results by the plain rules.
fn reference(position: &Position) -> Results {
    let legal = position.legal_counts();
    Results {
        moves: [legal.moves, legal.captures, legal.promotions, legal.castles, legal.en_passants],
        checkers: position.checkers().0,
        pinned: position.pinned().0,
        attacks: Color::ALL.map(|color| position.attacked_by(color).0),
        mobility: Color::ALL.map(|color| mobility(position, color)),
        playable: position.is_valid(Validity::Playable),
    }
}

/// The results of an analyzer.
fn result(results: &GroupResults, lane: usize) -> Results {
    let legal = results.legal(lane);
    Results {
        moves: [legal.moves, legal.captures, legal.promotions, legal.castles, legal.en_passants],
        checkers: results.checkers[lane],
        pinned: results.pinned[lane],
        attacks: [results.attacks_white[lane], results.attacks_black[lane]],
        mobility: [results.mobility[lane] & 0xFFFF, results.mobility[lane] >> 16],
        playable: results.invalid[lane] == 0,
    }
}

/// The [`BoardCounts`] of a position by the plain rules.
fn plain_board_counts(position: &Position) -> u64 {
    let count = |role| u64::from(position.role(role).len());
    let minors = count(Role::Knight) + count(Role::Bishop);
    let phase = minors + 2 * count(Role::Rook) + 4 * count(Role::Queen);
    let material = |color| {
        let count = |role| u64::from(position.pieces(color, role).len());
        let minors = count(Role::Knight) + count(Role::Bishop);
        count(Role::Pawn) + 3 * minors + 5 * count(Role::Rook) + 9 * count(Role::Queen)
    };
    let mut state = u64::from(position.side_to_move == Color::Black);
    for (index, color) in Color::ALL.into_iter().enumerate() {
        let king = position.king(color).unwrap();
        for rook in position.castling.0 & position.color(color) {
            state |= if rook > king { 2 } else { 4 } << (2 * index);
        }
    }
    state |= u64::from(position.en_passant.is_some()) << 5;
    state |= u64::from(position.in_check()) << 6;
    state |= u64::from(position.checkers().several()) << 7;
    let moves = u64::from(position.count_legal_moves()) & 0xFF;
    u64::from(position.occupied().len())
        | phase << 7
        | (material(Color::White) + 128 * material(Color::Black)) << 16
        | material(Color::White) << 34
        | state << 48
        | moves << 56
}

/// The legal moves of a position by the plain rules, in the order of lists.
fn plain_moves(position: &Position) -> Vec<u16> {
    let mut moves: Vec<u16> = position.legal_moves().iter().map(|mv| mv.to_bits()).collect();
    moves.sort_by_key(|mv| (mv & 63, mv >> 6 & 63, mv >> 12));
    moves
}

/// All implementations of all tiers, also those for CPUs that have less, and all alternatives.
fn implementations(alternatives: &[Alternative]) -> Vec<&dyn Analyzer> {
    let mut all: Vec<&dyn Analyzer> = Vec::new();
    for tier in Tier::all() {
        if !tier.is_available() {
            support::skipped(&format!("this CPU cannot run the tier {tier}"));
        }
        for analyzer in tier.implementations() {
            all.push(analyzer);
        }
    }
    for alternative in alternatives {
        all.extend(alternative.analyzer.as_deref());
    }
    all
}

/// Compares all implementations with the reference on all positions: all queries at once, and each on its own. What is
/// expected is computed once: the plain rules take longer than all implementations together.
fn check(positions: &[Position]) {
    let boards: Vec<Packed> = positions.iter().map(|p| Packed::pack(p).unwrap()).collect();
    let expected: Vec<_> = positions.iter().map(|p| (reference(p), plain_board_counts(p))).collect();
    let moves: Vec<Vec<u16>> = positions.iter().map(plain_moves).collect();
    let groups = support::groups(&boards);
    let alternatives = tiers::alternatives();
    for analyzer in implementations(&alternatives) {
        let mut all = vec![GroupResults::default(); groups.len()];
        analyzer.analyze(&groups, Queries::ALL, &mut all);
        for (index, position) in positions.iter().enumerate() {
            let found = result(&all[index / Group::LEN], index % Group::LEN);
            assert_eq!(found, expected[index].0, "{analyzer:?}: {position}");
        }
        check_one_by_one(analyzer, &groups, &all);
        check_lists(analyzer, &groups, positions, &moves);
        let mut board_counts = vec![BoardCounts::default(); groups.len()];
        analyzer.board_counts(&groups, &all, &mut board_counts);
        for (index, position) in positions.iter().enumerate() {
            let found = board_counts[index / Group::LEN][index % Group::LEN];
            assert_eq!(found, expected[index].1, "{analyzer:?}: {position}");
        }
    }
}

/// Checks the lists of moves of all boards, and of every third one behind others.
fn check_lists(analyzer: &dyn Analyzer, groups: &[Group], positions: &[Position], expected: &[Vec<u16>]) {
    let thirds = 0o1111_1111_1111_1111_1111_u64 << 1;
    for masks in [vec![!0; groups.len().div_ceil(8)], vec![thirds; groups.len().div_ceil(8)]] {
        let mut lists = MoveLists::default();
        analyzer.list_moves(&[Group::default()], &[0], &mut lists);
        analyzer.list_moves(groups, &masks, &mut lists);
        assert_eq!(lists.len(), (groups.len() + 1) * Group::LEN);
        for (index, position) in positions.iter().enumerate() {
            let wanted = masks[index / 64] >> (index % 64) & 1 != 0;
            let expected = if wanted { &expected[index][..] } else { &[] };
            assert_eq!(lists.get(index + Group::LEN), expected, "{analyzer:?}: {position}");
        }
    }
}

/// Checks that each query on its own has the same results as all of them together.
fn check_one_by_one(analyzer: &dyn Analyzer, groups: &[Group], all: &[GroupResults]) {
    let queries = [
        Queries::MOVES,
        Queries::KINDS,
        Queries::CHECKERS,
        Queries::PINNED,
        Queries::ATTACKS,
        Queries::MOBILITY,
        Queries::INVALID,
    ];
    for query in queries {
        let mut results = vec![GroupResults::default(); groups.len()];
        analyzer.analyze(groups, query, &mut results);
        for (index, (found, expected)) in results.iter().zip(all).enumerate() {
            let same = (0..8).all(|lane| {
                (!query.contains(Queries::MOVES) || found.legal(lane).moves == expected.legal(lane).moves)
                    && (!query.contains(Queries::KINDS) || found.counts[lane] == expected.counts[lane])
                    && (!query.contains(Queries::CHECKERS) || found.checkers[lane] == expected.checkers[lane])
                    && (!query.contains(Queries::PINNED) || found.pinned[lane] == expected.pinned[lane])
                    && (!query.contains(Queries::ATTACKS) || found.attacks_white[lane] == expected.attacks_white[lane])
                    && (!query.contains(Queries::ATTACKS) || found.attacks_black[lane] == expected.attacks_black[lane])
                    && (!query.contains(Queries::MOBILITY) || found.mobility[lane] == expected.mobility[lane])
                    && (!query.contains(Queries::INVALID)
                        || (found.invalid[lane] == 0) == (expected.invalid[lane] == 0))
            });
            assert!(same, "{analyzer:?}: {query:?} of group {index} differs when requested alone");
        }
    }
}

#[test]
fn real_positions() {
    let mut positions = Vec::new();
    for (name, text) in support::shared_texts("epd") {
        if name.contains("invalid") {
            continue;
        }
        let step = (text.lines().count() / 2_000).max(1);
        for line in text.lines().step_by(step) {
            let fen = lanefish::chess::fen::parse(line.as_bytes(), Default::default());
            positions.push(fen.unwrap_or_else(|error| panic!("{line}: {error}")).position);
        }
    }
    for line in support::FAMOUS {
        positions.push(Position::from_fen_unvalidated(line).unwrap());
    }
    check(&positions);
}

/// Any pieces anywhere (except pawns on the first and last rank), one king per side, any sentinel bit, well-formed
/// castling rights.
pub(crate) fn artificial(random: &mut Random, pieces: u64) -> Position {
    loop {
        let mut position = Position::empty();
        if random.below(2) == 1 {
            position.side_to_move = Color::Black;
        }
        let square = |random: &mut Random| Square::new(random.below(64) as u8);
        for color in Color::ALL {
            let home = random.below(3) == 0;
            let king = if home {
                let rank = CastlingRights::back_rank(color);
                let file = if random.below(2) == 0 { 4 } else { random.below(8) };
                Square::at(lanefish::chess::File::new(file as u8), rank)
            } else {
                square(random)
            };
            if position.piece_at(king).is_some() {
                continue;
            }
            position.put(king, Piece { color, role: Role::King });
            if home {
                for file in [0, 7, random.below(8)] {
                    let rook = Square::at(lanefish::chess::File::new(file as u8), CastlingRights::back_rank(color));
                    if position.piece_at(rook).is_none() && random.below(2) == 0 {
                        position.put(rook, Piece { color, role: Role::Rook });
                        let below = rook < king;
                        let taken = position.castling.of(color).iter().any(|other| (other < king) == below);
                        if !taken {
                            position.castling.0 |= rook.into();
                        }
                    }
                }
            }
        }
        for _ in 0..random.below(pieces + 1) {
            let at = square(random);
            let color = Color::ALL[random.below(2) as usize];
            let role = Role::ALL[random.below(5) as usize];
            let outer = matches!(at.rank().index(), 0 | 7);
            if position.piece_at(at).is_none() && !(role == Role::Pawn && outer) {
                position.put(at, Piece { color, role });
            }
        }
        if random.below(2) == 0 {
            let rank = if position.side_to_move == Color::White { 5 } else { 2 };
            let at = Square::new((rank * 8 + random.below(8)) as u8);
            if position.piece_at(at).is_none() {
                position.en_passant = Some(at);
            }
        }
        if Color::ALL.iter().all(|&color| position.pieces(color, Role::King).len() == 1)
            && Packed::pack(&position).is_ok()
        {
            return position;
        }
    }
}

#[test]
fn artificial_boards() {
    let mut random = Random::new(1);
    for pieces in [4, 8, 16, 30, 60] {
        let positions: Vec<_> = (0..12_000).map(|_| artificial(&mut random, pieces)).collect();
        check(&positions);
    }
}

/// One square of a playable board is replaced by anything, including a sentinel bit or a rook that may castle. Every
/// tier finds the invalid boards, whether or not anything else is requested.
#[test]
fn boards_that_break_a_rule() {
    let mut random = Random::new(6);
    let mut positions: Vec<_> =
        support::FAMOUS.iter().map(|fen| Position::from_fen_unvalidated(fen).unwrap()).cycle().take(20_000).collect();
    while positions.len() < 40_000 {
        let position = artificial(&mut random, 12);
        if position.is_valid(Validity::Playable) {
            positions.push(position);
        }
    }
    let boards: Vec<Packed> = positions
        .iter()
        .map(|position| {
            let mut board = Packed::pack(position).unwrap();
            let (square, kind) = (1 << random.below(64), random.next());
            let [t0, t1, t2] = &mut board.types;
            for (bit, plane) in [&mut board.color, t0, t1, t2].into_iter().enumerate() {
                *plane = *plane & !square | if kind >> bit & 1 != 0 { square } else { 0 };
            }
            board
        })
        .collect();
    let playable: Vec<bool> = boards
        .iter()
        .map(|board| {
            let position = board.unpack(0, 1);
            position.is_ok_and(|position| position.is_valid(Validity::Playable))
        })
        .collect();
    let good = playable.iter().filter(|&&playable| playable).count();
    assert!((5_000..35_000).contains(&good), "{good}");
    let alone = Queries::INVALID;
    let groups = support::groups(&boards);
    let alternatives = tiers::alternatives();
    for analyzer in implementations(&alternatives) {
        for requested in [alone, Queries::ALL] {
            let mut results = vec![GroupResults::default(); groups.len()];
            analyzer.analyze(&groups, requested, &mut results);
            for (index, board) in boards.iter().enumerate() {
                let found = results[index / Group::LEN].invalid[index % Group::LEN] == 0;
                assert_eq!(found, playable[index], "{analyzer:?}: {board:?}");
            }
        }
    }
}

/// Kings and rooks on the first rank of sparse boards: castling from every square, checks discovered by the rook.
#[test]
fn castling_from_everywhere() {
    let mut random = Random::new(2);
    let mut positions = Vec::new();
    while positions.len() < 30_000 {
        let mut position = artificial(&mut random, 3);
        if position.castling.is_empty() {
            continue;
        }
        if random.below(2) == 0 {
            let at = Square::new((random.below(8) + 56 * random.below(2)) as u8);
            let color = Color::ALL[random.below(2) as usize];
            if position.piece_at(at).is_none() {
                position.put(at, Piece { color, role: Role::Rook });
            }
        }
        if Packed::pack(&position).is_ok() {
            positions.push(position);
        }
    }
    check(&positions);
}

/// Pawns side by side on the fifth rank, with kings and sliders near them: checks discovered by en passant captures.
#[test]
fn en_passant_everywhere() {
    let mut random = Random::new(3);
    let mut positions = Vec::new();
    while positions.len() < 40_000 {
        let mut position = artificial(&mut random, 6);
        let us = position.side_to_move;
        let rank = if us == Color::White { 4 } else { 3 };
        let beyond = if us == Color::White { 5 } else { 2 };
        let file = random.below(8);
        let at = |file: u64, rank: u64| Square::new((rank * 8 + file) as u8);
        let is_king = |position: &Position, square| {
            position.piece_at(square).is_some_and(|piece: Piece| piece.role == Role::King)
        };
        let mut squares = vec![(at(file, rank), !us)];
        if file > 0 && random.below(3) > 0 {
            squares.push((at(file - 1, rank), us));
        }
        if file < 7 && random.below(3) > 0 {
            squares.push((at(file + 1, rank), us));
        }
        if squares.iter().any(|&(square, _)| is_king(&position, square)) {
            continue;
        }
        for (square, color) in squares {
            position.put(square, Piece { color, role: Role::Pawn });
            position.castling.0 -= square.into();
        }
        if position.piece_at(at(file, beyond)).is_none() {
            position.en_passant = Some(at(file, beyond));
        }
        if Packed::pack(&position).is_ok() {
            positions.push(position);
        }
    }
    check(&positions);
}

/// Full, empty and partly filled groups: lanes after the last board change nothing.
#[test]
fn group_edges() {
    let mut random = Random::new(4);
    let positions: Vec<_> = (0..65).map(|_| artificial(&mut random, 20)).collect();
    for len in [0, 1, 7, 8, 9, 15, 16, 17, 63, 64, 65] {
        check(&positions[..len]);
    }
}

/// Sliders from all eight directions and eight knights reach one square, as do random subsets of them: the sums over
/// pieces have enough binary digits.
#[test]
fn sixteen_pieces_reach_one_square() {
    let mut random = Random::new(5);
    let mut positions = Vec::new();
    while positions.len() < 20_000 {
        let (file, rank) = (2 + random.below(4) as i8, 2 + random.below(4) as i8);
        let at = |file: i8, rank: i8| {
            ((0..8).contains(&file) && (0..8).contains(&rank)).then(|| Square::new((8 * rank + file) as u8))
        };
        let us = Color::ALL[random.below(2) as usize];
        let mut position = Position::empty();
        position.side_to_move = if random.below(8) == 0 { !us } else { us };
        let of = |color, role| Piece { color, role };
        let few = random.below(3) == 0;
        for (x, y) in [(1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2)] {
            let square = at(file + x, rank + y).unwrap();
            if !few || random.below(4) > 0 {
                position.put(square, of(us, Role::Knight));
            }
        }
        for (x, y) in [(0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1)] {
            let far = 1 + random.below(3) as i8;
            let square = at(file + far * x, rank + far * y).unwrap_or_else(|| at(file + x, rank + y).unwrap());
            let straight = if x * y == 0 { Role::Rook } else { Role::Bishop };
            let role = if random.below(2) == 0 { Role::Queen } else { straight };
            if !few || random.below(4) > 0 {
                position.put(square, of(us, role));
            }
        }
        if random.below(2) == 0 {
            position.put(at(file, rank).unwrap(), of(!us, Role::Queen));
        }
        for color in [us, !us] {
            let square = Square::new(random.below(64) as u8);
            if position.piece_at(square).is_none() && square != at(file, rank).unwrap() {
                position.put(square, of(color, Role::King));
            }
        }
        let kings = Color::ALL.map(|color| position.pieces(color, Role::King).len());
        if kings == [1, 1] && Packed::pack(&position).is_ok() {
            positions.push(position);
        }
    }
    let reaching = |position: &Position, square| {
        let pieces = position.occupied();
        let reaches = |from: Square| match position.piece_at(from).unwrap().role {
            Role::Knight => knight_attacks(from).contains(square),
            Role::Bishop => bishop_attacks(from, pieces).contains(square),
            Role::Rook => rook_attacks(from, pieces).contains(square),
            Role::Queen => (bishop_attacks(from, pieces) | rook_attacks(from, pieces)).contains(square),
            _ => false,
        };
        let side = position.color(position.side_to_move);
        side.into_iter().filter(|&from| reaches(from)).count()
    };
    let most = |position: &Position| Square::all().map(|square| reaching(position, square)).max();
    let full = positions.iter().filter(|p| most(p) == Some(16)).count();
    assert!(full > 3_000, "only {full} positions have sixteen pieces that reach one square");
    check(&positions);
}
