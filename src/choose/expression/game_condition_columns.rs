//! The columns of conditions on games: those that are the same for all positions of a game, and those of its end.

use crate::table::{Array, ChosenColumn, Column, ComputedColumn, Kind, Needs, TextList, Texts, Tile, Values};
use std::sync::Arc;

/// The columns that are known once a game has been replayed and numbered: how it ended on the board, its last position,
/// its number.
pub(super) const OF_LAST_POSITIONS: [&str; 3] = ["outcome", "fen", "game"];

/// The column of this name in conditions on games.
pub(super) fn column_of_game(name: &str) -> Option<ChosenColumn> {
    match name {
        "outcome" => Some(ChosenColumn::Computed(Arc::new(Outcome))),
        "fen" => Some(ChosenColumn::Computed(Arc::new(LastPosition))),
        "game" => ChosenColumn::named(name),
        _ => ChosenColumn::named(name).filter(ChosenColumn::is_of_games),
    }
}

/// Whether a game has a last position; a game without any has an empty board.
fn has_position(tile: &Tile<'_>, row: usize) -> bool {
    tile.batch.board(tile.start + row).occupied() != 0
}

/// The last position.
#[derive(Debug)]
struct LastPosition;

impl ComputedColumn for LastPosition {
    fn name(&self) -> &str {
        "fen"
    }
    fn kind(&self) -> Kind {
        Kind::Text
    }
    fn meaning(&self) -> &str {
        "the last position"
    }
    fn needs(&self) -> Needs {
        ChosenColumn::named(self.name()).map_or(Needs::NONE, |column| column.needs())
    }
    fn fill(&self, tile: &Tile<'_>) -> Array {
        let all = Column::named(self.name()).map(|column| column.fill(tile));
        let mut fens = Texts::default();
        for row in 0..tile.len {
            fens.push(all.as_ref().and_then(|all| all.text(row)).filter(|_| has_position(tile, row)));
        }
        Array::Text(fens)
    }
}

/// `checkmate` or `stalemate`, where the last position is one.
#[derive(Debug)]
struct Outcome;

/// The columns that decide, by the values of the outcome.
const FLAGS: [&str; 2] = ["checkmate", "stalemate"];

impl ComputedColumn for Outcome {
    fn name(&self) -> &str {
        "outcome"
    }
    fn kind(&self) -> Kind {
        Kind::Text
    }
    fn meaning(&self) -> &str {
        "checkmate or stalemate, where the last position is one"
    }
    fn needs(&self) -> Needs {
        FLAGS.into_iter().filter_map(ChosenColumn::named).map(|column| column.needs()).collect()
    }
    fn fill(&self, tile: &Tile<'_>) -> Array {
        let flags: Vec<Array> = FLAGS.into_iter().filter_map(Column::named).map(|column| column.fill(tile)).collect();
        let code = |row| flags.iter().position(|flags| flags.number(row) == Some(1)).map(|code| code as u32);
        let mut codes = Values::default();
        (0..tile.len).for_each(|row| codes.push(code(row).filter(|_| has_position(tile, row))));
        Array::Text(Texts::from_parts(codes, FLAGS.into_iter().collect::<TextList>()))
    }
}
