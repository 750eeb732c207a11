//! Compares the records of a run with those beside them.

use super::stored_rows::{BOARD, WITH_POSITION};
use super::{SecondFile, StoredFile, each_row};
use crate::chess::Position;
use crate::error::shown;
use crate::formats::Remark;
use crate::packed::Packed;
use crate::table::{Batch, rows_of};
use crate::text::numbers::counted;

/// The remark on records whose counters differ.
pub(in crate::pipeline) static OTHER_COUNTERS: Remark = Remark {
    what: "record",
    how: "whose halfmove clock or move number is another one in the second file; these are not compared",
    is_detail: false,
};

/// The position without its counters, and without an en passant square on which no capture is legal.
fn plain(board: Packed) -> Option<Position> {
    let mut position = board.unpack(0, 1).ok()?;
    position.drop_unusable_en_passant();
    Some(position)
}

/// Whether two boards are the same position.
fn is_same(one: Packed, other: Packed) -> bool {
    one == other || plain(one).is_some_and(|position| plain(other) == Some(position))
}

impl SecondFile {
    /// Compares records of a batch, from the row `start` on, with those beside them: the ones of the mask. Returns the
    /// number of those whose counters differ.
    ///
    /// # Errors
    /// The first row that is not the same position, or has no record beside it, and the rest of a sentence that begins
    /// with its place.
    pub(in crate::pipeline) fn compare(
        &self,
        batch: &Batch,
        start: usize,
        mask: &[u64],
    ) -> Result<u64, (usize, String)> {
        let StoredFile { path, records, rows, boards, has_boards, .. } = &*self.0;
        let mut missing = None;
        let mut places = Vec::new();
        for row in rows_of(mask).map(|row| start + row) {
            match batch.index(row) {
                number if number < *records => places.push((row, number)),
                _ => {
                    let all = counted(*records, "record");
                    missing = Some((row, format!("{} ends after {all}, before the one beside this", shown(path))));
                    break;
                }
            }
        }
        let mut different = 0;
        let mut wrong = None;
        if *has_boards {
            let mut with_positions = Vec::new();
            let flags = each_row(rows, self.0.row_len(), &places, |row, stored| {
                if stored[0] == WITH_POSITION {
                    with_positions.push((row, batch.index(row)));
                }
                Ok(())
            });
            if let Err(source) = flags {
                self.0.failed(rows, source);
            }
            let read = each_row(boards, BOARD, &with_positions, |row, stored| {
                let (board, counters) = stored.split_at(size_of::<Packed>());
                let beside: Packed = bytemuck::pod_read_unaligned(board);
                let counter = |at: usize| u16::from_le_bytes([counters[at], counters[at + 1]]);
                let (halfmove, fullmove) = (counter(0), counter(2));
                if wrong.is_none() && !is_same(batch.board(row), beside) {
                    let fen = |position: Option<Position>| position.map_or_else(String::new, |it| it.to_string());
                    wrong = Some((
                        row,
                        format!(
                            "the position is {}, but that of record {} in {} is {}",
                            fen(batch.position(row).ok()),
                            batch.index(row),
                            shown(path),
                            fen(beside.unpack(halfmove, fullmove).ok())
                        ),
                    ));
                }
                different += u64::from((halfmove, fullmove) != (batch.halfmove[row], batch.fullmove[row]));
                Ok(())
            });
            if let Err(source) = read {
                self.0.failed(boards, source);
            }
        }
        match wrong.or(missing) {
            Some(wrong) => Err(wrong),
            None => Ok(different),
        }
    }
}
