//! Games as Aix writes them at its level *Low*: two bytes a move, and lists of clocks and evaluations.

use super::MainLine;
use super::write_moves::CutValues;
use crate::chess::{Move, MoveKind, Role};
use crate::formats::pgn::write_movetext::played;

/// The columns of a game that has been written so.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct AixGame {
    pub(crate) movedata: Vec<u8>,
    /// Seconds after each move of White, and of Black, if there is any clock.
    pub(crate) clocks: [Option<Vec<i32>>; 2],
    /// Evaluations after each move, if there is any.
    pub(crate) evals: Option<Vec<i32>>,
}

/// The longest mate that evaluations can say.
const LONGEST_MATE: i32 = 512;

impl AixGame {
    /// `None` for a game with a null move, which this form cannot hold.
    pub(crate) fn of(line: &MainLine, cut: &mut CutValues) -> Option<Self> {
        let mut position = line.position.clone()?;
        let mut movedata = Vec::with_capacity(2 * line.moves.len() + 1);
        for &bits in &line.moves {
            let mv = played(bits)?;
            let captures = match mv.kind {
                MoveKind::Castle => false,
                MoveKind::EnPassant => true,
                _ => position.piece_at(mv.to).is_some(),
            };
            movedata.extend_from_slice(&word(mv, captures));
            position.make(mv);
        }
        // The level.
        movedata.push(0);
        let plies = line.moves.len();
        let of = |ply: usize| line.values.get(ply).copied().unwrap_or_default();
        let clocks = [0, 1].map(|side| {
            let of_side = (side..plies).step_by(2).map(|ply| {
                of(ply).clock.map(|clock| {
                    cut.fractions += u64::from(clock % 100 != 0);
                    cut.beyond += u64::from(clock / 100 > u16::MAX.into());
                    (clock / 100).min(u16::MAX.into()) as i32
                })
            });
            without_gaps(of_side)
        });
        let evals = (1..=plies).map(|ply| match (of(ply).score, of(ply).mate) {
            (Some(score), _) => Some(i32::from(score)),
            (None, Some(0)) | (None, None) => None,
            (None, Some(mate)) => {
                let mate = i32::from(mate);
                cut.beyond += u64::from(mate.abs() > LONGEST_MATE);
                let moves = mate.abs().min(LONGEST_MATE);
                Some(if mate > 0 { 32_768 - moves } else { moves - 32_769 })
            }
        });
        let evals = without_gaps(evals);
        Some(Self { movedata, clocks, evals })
    }
}

/// The two bytes of a move.
fn word(mv: Move, captures: bool) -> [u8; 2] {
    let (promotes, piece) = match mv.kind {
        MoveKind::Promotion(Role::Queen) => (1, 0),
        MoveKind::Promotion(Role::Rook) => (1, 1),
        MoveKind::Promotion(Role::Bishop) => (1, 2),
        MoveKind::Promotion(_) => (1, 3),
        _ => (0, 0),
    };
    let [from, to] = [mv.from, mv.to].map(|square| square.index() as u8);
    [from | promotes << 6 | u8::from(captures) << 7, to | piece << 6]
}

/// Values up to the last one that is there; where one is missing, the one before, or 0.
fn without_gaps(values: impl Iterator<Item = Option<i32>>) -> Option<Vec<i32>> {
    let mut all = Vec::new();
    let (mut last, mut len) = (0, 0);
    for value in values {
        last = value.unwrap_or(last);
        all.push(last);
        if value.is_some() {
            len = all.len();
        }
    }
    all.truncate(len);
    (len > 0).then_some(all)
}
