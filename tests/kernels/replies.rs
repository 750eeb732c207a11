//! Moves that leave the number of replies as it is after a pass, in every tier, compared with counting the replies.
//!
//! Most of the boards are made to be difficult: lines of pieces through the square of the enemy king and those beside
//! it, pawns about to meet, kings and rooks that may castle from any squares.
//!
//! | variable | meaning |
//! | --- | --- |
//! | `LANEFISH_REPLIES_POSITIONS` | positions of each kind |
//! | `LANEFISH_REPLIES_SEED` | the random seed |

use crate::kernels::agreement::artificial;
use crate::support::{self, Random};
use lanefish::chess::attacks::king_attacks;
use lanefish::chess::random::{RandomPlay, Start};
use lanefish::chess::{CastlingRights, Color, File, Move, MoveKind, Piece, Position, Rank, Role, Square, Validity};
use lanefish::packed::{Group, Packed};
use lanefish::tiers::{Analyzer, Tier};
use lanefish_core::kernels::Replies;
use std::collections::HashMap;

/// A number from the environment.
pub(crate) fn variable(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// An endless supply of playable positions of each kind, by name.
pub(crate) fn kinds(seed: u64) -> Vec<(&'static str, Box<dyn Iterator<Item = Position>>)> {
    fn made(seed: u64, make: impl Fn(&mut Random) -> Position + 'static) -> Box<dyn Iterator<Item = Position>> {
        let mut random = Random::new(seed);
        let positions = std::iter::repeat_with(move || make(&mut random));
        Box::new(positions.filter(|position| position.is_valid(Validity::Playable)))
    }
    fn play(seed: u64, start: Start) -> Box<dyn Iterator<Item = Position>> {
        Box::new(RandomPlay::new(seed, start).map(|step| step.position))
    }
    vec![
        ("random play", play(seed, Start::Standard)),
        ("random play of Chess960", play(seed, Start::Chess960)),
        ("lines", made(seed, lines)),
        ("castling", made(seed, castling)),
        ("pawns", made(seed, pawns)),
        ("endings", made(seed, |random| artificial(random, 4))),
        ("anything", made(seed, |random| artificial(random, 14))),
        ("queens", made(seed, queens)),
    ]
}

fn any_square(random: &mut Random) -> Square {
    Square::new(random.below(64) as u8)
}

fn any_color(random: &mut Random) -> Color {
    Color::ALL[random.below(2) as usize]
}

/// Puts a piece on an empty square, unless it is a pawn on the first or last rank.
fn put(position: &mut Position, square: Square, color: Color, role: Role) {
    let is_outer = matches!(square.rank().index(), 0 | 7);
    if position.piece_at(square).is_none() && !(role == Role::Pawn && is_outer) {
        position.put(square, Piece { color, role });
    }
}

/// Both kings and nothing else.
fn two_kings(random: &mut Random) -> Position {
    let mut position = Position::empty();
    position.side_to_move = any_color(random);
    let (white, mut black) = (any_square(random), any_square(random));
    while white == black {
        black = any_square(random);
    }
    position.put(white, Piece { color: Color::White, role: Role::King });
    position.put(black, Piece { color: Color::Black, role: Role::King });
    position
}

/// Up to four pieces, often sliders, along some of the lines through a square, at any distances.
fn add_lines(random: &mut Random, position: &mut Position, center: Square) {
    const STEPS: [(i8, i8); 8] = [(1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1)];
    for _ in 0..=random.below(3) {
        let (files, ranks) = STEPS[random.below(8) as usize];
        let slider = if files == 0 || ranks == 0 { Role::Rook } else { Role::Bishop };
        let density = 2 + random.below(3);
        let mut pieces = 1 + random.below(4);
        let mut square = center;
        while let Some(next) = square.offset(files, ranks) {
            square = next;
            if pieces > 0 && random.below(density) == 0 {
                let roles = [slider, Role::Queen, Role::Pawn, Role::Knight, Role::Bishop, Role::Rook];
                let color = any_color(random);
                put(position, square, color, roles[random.below(6) as usize]);
                pieces -= 1;
            }
        }
    }
}

/// Lines of pieces through the squares around both kings.
fn lines(random: &mut Random) -> Position {
    let mut position = two_kings(random);
    for color in Color::ALL {
        let king = position.king(color).expect("a king");
        let beside = king.offset(random.below(3) as i8 - 1, random.below(3) as i8 - 1).unwrap_or(king);
        add_lines(random, &mut position, king);
        add_lines(random, &mut position, beside);
    }
    for _ in 0..random.below(5) {
        let (square, color) = (any_square(random), any_color(random));
        put(&mut position, square, color, Role::ALL[random.below(5) as usize]);
    }
    position
}

/// Kings and rooks on their back ranks, with rights, and a few lines of pieces through these ranks.
fn castling(random: &mut Random) -> Position {
    let mut position = Position::empty();
    position.side_to_move = any_color(random);
    for color in Color::ALL {
        let rank = CastlingRights::back_rank(color);
        let is_standard = random.below(2) == 0;
        let file = |file: u64| Square::at(File::new(file as u8), rank);
        let king = if is_standard { 4 } else { random.below(8) };
        position.put(file(king), Piece { color, role: Role::King });
        for side in [0..king, king + 1..8] {
            let corner = if side.start == 0 { 0 } else { 7 };
            let rook = if is_standard { corner } else { side.start + random.below((side.end - side.start).max(1)) };
            if side.contains(&rook) && random.below(4) != 0 {
                position.put(file(rook), Piece { color, role: Role::Rook });
                position.castling.0 |= file(rook).into();
            }
        }
    }
    for color in Color::ALL {
        let center = Square::at(File::new(random.below(8) as u8), CastlingRights::back_rank(color));
        add_lines(random, &mut position, center);
    }
    for _ in 0..random.below(6) {
        let (square, color) = (any_square(random), any_color(random));
        put(&mut position, square, color, Role::ALL[random.below(5) as usize]);
    }
    position
}

/// Pawns that are about to meet, on their first squares and beside each other, between lines of pieces; in half of the
/// positions one can be captured en passant.
fn pawns(random: &mut Random) -> Position {
    let mut position = two_kings(random);
    for _ in 0..2 + random.below(8) {
        let color = any_color(random);
        let rank = [1, 3, 4, 6, 1 + random.below(6)][random.below(5) as usize];
        put(&mut position, Square::at(File::new(random.below(8) as u8), Rank::new(rank as u8)), color, Role::Pawn);
    }
    let king = position.king(any_color(random)).expect("a king");
    add_lines(random, &mut position, king);
    let (target, behind) = match position.side_to_move {
        Color::White => (5, -1),
        Color::Black => (2, 1),
    };
    let square = Square::at(File::new(random.below(8) as u8), Rank::new(target));
    let enemy_pawns = position.pieces(!position.side_to_move, Role::Pawn);
    let has_pawn = square.offset(0, behind).is_some_and(|square| enemy_pawns.contains(square));
    if has_pawn && position.piece_at(square).is_none() {
        position.en_passant = Some(square);
    }
    position
}

/// More queens than any game can have, of one side or both.
fn queens(random: &mut Random) -> Position {
    let mut position = two_kings(random);
    let is_one_sided = random.below(2) == 0;
    for _ in 0..3 + random.below(28) {
        let color = if is_one_sided { Color::White } else { any_color(random) };
        put(&mut position, any_square(random), color, Role::Queen);
    }
    position
}

/// The sensitive squares and threats of all positions: the same in every implementation.
fn replies_to(positions: &[Position]) -> Vec<Replies> {
    let boards: Vec<Packed> = positions.iter().map(|position| Packed::pack(position).expect("playable")).collect();
    let groups = support::groups(&boards);
    let all = |analyzer: &dyn Analyzer| {
        let mut replies = vec![Replies::default(); groups.len()];
        analyzer.replies(&groups, &mut replies);
        replies
    };
    let sets = |replies: &[Replies], index: usize| {
        let Replies { sensitive, checkers, pinned, closed } = &replies[index / Group::LEN];
        [&sensitive[..], &[*checkers, *pinned, *closed]].concat().iter().map(|set| set[index % 8]).collect::<Vec<_>>()
    };
    let mut analyzers = Tier::all().flat_map(Tier::implementations);
    let expected = all(analyzers.next().expect("the portable tier"));
    for analyzer in analyzers {
        let found = all(analyzer);
        for (index, position) in positions.iter().enumerate() {
            assert_eq!(sets(&found, index), sets(&expected, index), "{analyzer:?}: {position}");
        }
    }
    expected
}

/// Whether only its squares decide about a move.
fn is_quiet(position: &Position, mv: Move, role: Role) -> bool {
    let is_double_step = role == Role::Pawn && mv.from.index().abs_diff(mv.to.index()) == 16;
    let enemy_pawns = position.pieces(!position.side_to_move, Role::Pawn);
    let mut beside = [-1, 1].into_iter().filter_map(|files| mv.to.offset(files, 0));
    mv.kind == MoveKind::Normal
        && position.piece_at(mv.to).is_none()
        && !(is_double_step && beside.any(|square| enemy_pawns.contains(square)))
}

/// Compares the replies to all moves that the kernel takes for a pass; returns their number and that of all moves.
fn check(position: &Position, replies: &Replies, lane: usize) -> (u64, u64) {
    let king = position.king(position.side_to_move).expect("a king");
    let moves = position.legal_moves();
    assert_eq!(replies.checkers[lane], position.checkers().0, "{position}");
    assert_eq!(replies.pinned[lane], position.pinned().0, "{position}");
    let steps = king_attacks(king).0 & !(position.color(position.side_to_move).0 | replies.closed[lane]);
    let legal = moves.iter().filter(|mv| mv.from == king && mv.kind == MoveKind::Normal);
    assert_eq!(steps, legal.fold(0, |set, mv| set | 1 << mv.to.index()), "{position}");

    let mut pass = position.clone();
    pass.side_to_move = !pass.side_to_move;
    pass.en_passant = None;
    let after_pass = pass.count_legal_moves();
    let mut knights = HashMap::new();
    let mut like_a_pass = 0;
    for &mv in &moves {
        let role = position.piece_at(mv.from).expect("a piece").role;
        let sensitive = replies.sensitive[role.index()][lane];
        let [leaves, reaches] = [mv.from, mv.to].map(|square| sensitive >> square.index() & 1 != 0);
        if reaches || !is_quiet(position, mv, role) || (leaves && role != Role::Knight) {
            continue;
        }
        let mut after = position.clone();
        after.make(mv);
        let found = after.count_legal_moves();
        // All moves of a knight from a sensitive square have the same number of replies, but not that after a pass.
        let expected = if leaves { *knights.entry(mv.from).or_insert(found) } else { after_pass };
        assert_eq!(found, expected, "{position} {}", mv.uci(position));
        like_a_pass += u64::from(!leaves);
    }
    (like_a_pass, moves.len() as u64)
}

#[test]
fn replies_are_those_to_a_pass() {
    let number = variable("LANEFISH_REPLIES_POSITIONS").unwrap_or(10_000);
    let seed = variable("LANEFISH_REPLIES_SEED").unwrap_or(1);
    for (name, mut positions) in kinds(seed) {
        let (mut like_a_pass, mut moves, mut left) = (0, 0, number as usize);
        while left > 0 {
            let some: Vec<Position> = positions.by_ref().take(left.min(4096)).collect();
            left -= some.len();
            let replies = replies_to(&some);
            for (index, position) in some.iter().enumerate() {
                let (found, all) = check(position, &replies[index / Group::LEN], index % Group::LEN);
                like_a_pass += found;
                moves += all;
            }
        }
        if number > 10_000 {
            eprintln!("{name}: {number} positions, {like_a_pass} of {moves} moves are like a pass");
        }
        // Nothing would be tested if all squares were sensitive.
        assert!(like_a_pass * 200 > moves, "{name}: {like_a_pass} of {moves}");
    }
}
