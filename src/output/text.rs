//! Positions as lines of text: FEN, EPD and perft files.
//!
//! FEN has the six fields and nothing else. EPD keeps the operations of the record behind the first four
//! fields, or behind all six where the clocks are not those of a fresh game: readers of EPD take two numbers
//! there as the clocks, so that nothing is lost. Control characters in them become blanks. A perft file is an EPD file whose operations are counts.

use crate::batch::{Batch, Field};
use crate::chess::fen::CastlingStyle;
use crate::formats::Format;
use crate::one_line;

/// Appends the line of a record.
///
/// # Panics
/// When the row is out of range.
pub fn write_line(format: Format, batch: &Batch, row: usize, out: &mut Vec<u8>) {
    // A board that does not decode never gets past a reader.
    let Ok(position) = batch.position(row) else {
        return;
    };
    position.write_fen(out, CastlingStyle::Outermost);
    let writes = format.about().writes;
    if writes.is_some_and(|fields| fields.contains(Field::Operations)) {
        if out.ends_with(b" 0 1") {
            out.truncate(out.len() - 4);
        }
        let operations = batch
            .values(Field::Operations)
            .and_then(|values| values.text(row));
        if let Some(operations) = operations.filter(|operations| !operations.is_empty()) {
            out.push(b' ');
            one_line::push(operations.as_bytes(), out);
        }
    }
    out.push(b'\n');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::Packed;
    use crate::chess::Position;

    #[test]
    fn clocks_are_written_where_they_matter() {
        let fresh = "8/8/8/4k3/8/8/8/4K2R w K - 0 1";
        let later = "8/8/8/4k3/8/8/8/4K2R w K - 10 1";
        let mut batch = Batch::new();
        for fen in [fresh, later] {
            let position = Position::from_fen(fen).unwrap();
            let board = Packed::pack(&position).unwrap();
            batch.push(board, position.halfmove, position.fullmove);
        }
        let mut values = Field::Operations.column(1);
        if let crate::batch::Values::Text(column) = &mut values {
            column.push(Some("id \"a\";".into()));
        }
        batch.fields.insert(Field::Operations, values);
        let lines = |format| {
            let mut out = Vec::new();
            (0..2).for_each(|row| write_line(format, &batch, row, &mut out));
            String::from_utf8(out).unwrap()
        };
        assert_eq!(lines(Format::FEN), format!("{fresh}\n{later}\n"));
        assert_eq!(
            lines(Format::EPD),
            format!("8/8/8/4k3/8/8/8/4K2R w K -\n{later} id \"a\";\n")
        );
    }
}
