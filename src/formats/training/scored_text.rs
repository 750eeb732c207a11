//! Training data as lines: `FEN | score | result`, as White sees them.
//!
//! Lines of the trainer bullet and its relatives: six fields of FEN (or the first four), the score in centipawns, and
//! the result as `1.0`, `0.5` or `0.0`, between bars. Blanks, commas and semicolons instead of bars are read as well,
//! and so are results such as `1`, `0`, `1/2` and all forms that PGN has (`1-0`, `½-½`, …), also in brackets. A result
//! that no number could be may come before the score. Lines with an invalid score or result, with a score that is not a
//! whole number of 16 bits, or without a score are rejected; the move number of a position is never taken for one. Lines
//! that are all without a score are EPD. Blank lines and lines that begin with `#` are skipped.
//!
//! Lines are written with bars, six fields, and results with a point.

use super::decode_chains::{Run, Scored};
use super::encode_chains;
use super::scored_line::{divide, sniff, usual_values};
use crate::chess::fen::{CastlingStyle, Coded};
use crate::formats::codec::decode_records::BadRecord;
use crate::formats::codec::encode::{Encoded, Encoder, lost_columns};
use crate::formats::codec::encoder_columns::Rows;
use crate::formats::codec::layout::Text;
use crate::formats::codec::line_records::strip_bom;
use crate::formats::text::{Refusal, UsualLines, unusual, usual};
use crate::formats::{About, Chunk, Codec, DecodeOptions, Decoded, Layout, Likeness, Losses, too_long};
use crate::table::{Batch, Field, Fields, Tile};
use crate::text::short_text::ShortText;
use crate::text::text_writer::Room;
use memchr::memchr;
use std::ops::Range;

/// The fields of the records.
const CARRIES: Fields = Fields::of(&[Field::Score, Field::Result, Field::KeyEnPassant]);

/// The codec of lines with a position, a score and a result.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ScoredText;

impl Text for ScoredText {}

impl Codec for ScoredText {
    fn about(&self) -> &'static About {
        static ABOUT: About = About {
            name: "text",
            title: "training data as lines: FEN | score | result, as White sees them",
            extensions: &["text"],
            has_games: false,
            can_be_empty: false,
            selects: false,
            carries: CARRIES,
        };
        &ABOUT
    }
    fn likeness(&self, head: &[u8]) -> Likeness {
        Likeness::certain_if(sniff(head))
    }
    fn layout(&self) -> Layout {
        Layout::Text(&Self)
    }
    fn decode(&self, chunk: &Chunk, options: &DecodeOptions) -> Decoded {
        read_lines(chunk, options, true)
    }
    fn encoder(&self) -> Option<&'static dyn Encoder> {
        Some(&Self)
    }
}

impl From<Refusal> for BadRecord {
    fn from(refusal: Refusal) -> Self {
        Self::new(refusal.reasons.first().copied().unwrap_or("fen"), refusal.message)
    }
}

/// Reads all lines of a chunk. For tests, it can read every line in the way meant for unusual ones.
fn read_lines(chunk: &Chunk, options: &DecodeOptions, has_usual: bool) -> Decoded {
    let bytes: &[u8] = &chunk.bytes;
    let mut records = Scored::new(chunk, options, CARRIES);
    let mut lines = UsualLines::default();
    let mut start = 0;
    while start < bytes.len() {
        let end = memchr(b'\n', &bytes[start..]).map_or(bytes.len(), |len| start + len);
        let line = &bytes[start..end];
        if has_usual
            && end < bytes.len()
            && line.len() <= options.max_record
            && let Some((len, score, result)) = usual_values(line)
            && let Some((board, clocks)) = usual(&bytes[start..], len)
        {
            records.push_packed(board, clocks, None, score, None);
            records.end_run(Run { origin: start, result, ply: 0, game: 0 });
            records.decoded.lines += 1;
            start = end + 1;
            continue;
        }
        let number = records.decoded.lines + 1;
        records.decoded.lines += u64::from(end < bytes.len());
        if line.len() > options.max_record {
            let mut reject = too_long(&chunk.file, line, options.max_record);
            reject.place.line = Some(number);
            records.push_reject(start, reject);
        } else {
            let line = strip_bom(line).trim_ascii();
            if !line.is_empty() && !line.starts_with(b"#") {
                let read = divide(line).and_then(|(fen, score, result)| {
                    let run = Run { origin: start, result, ply: 0, game: 0 };
                    if let Some((board, clocks)) = lines.read(fen) {
                        records.push_packed(board, clocks, None, score, None);
                        records.end_run(run);
                        return Ok(());
                    }
                    let remarks = &mut records.decoded.remarks;
                    let line = unusual(fen, fen.len(), 0, options, remarks)?;
                    if !line.rest.is_empty() {
                        return Err(BadRecord::new("fen_trailing_text", "text between the position and the score"));
                    }
                    records.push_packed(line.board, line.clocks, line.pseudo_en_passant, score, None);
                    records.end_run(run);
                    Ok(())
                });
                if let Err(bad) = read {
                    records.reject_line(start, number, bad, line);
                }
            }
        }
        start = end + 1;
    }
    records.finish()
}

/// Separators between values.
const BAR: ShortText = ShortText::of(b" | ");
/// The results at the ends of lines.
const RESULTS: [ShortText; 3] = [ShortText::of(b"0.0\n"), ShortText::of(b"0.5\n"), ShortText::of(b"1.0\n")];

impl Encoder for ScoredText {
    fn fields(&self) -> Fields {
        CARRIES.without(Field::KeyEnPassant)
    }
    fn encode(&self, batch: &Batch, rows: &[Range<usize>], piece: &mut Encoded) {
        let mut room = Room::behind(&mut piece.bytes);
        let columns = Rows::of(batch);
        for row in rows.iter().cloned().flatten() {
            let result = RESULTS[usize::from(columns.result(row).min(2))];
            room.write(Coded::ROOM + 4 * ShortText::ROOM, |line| {
                let position = batch.board(row).coded(batch.halfmove[row], batch.fullmove[row]);
                let at = position.write(line, CastlingStyle::Outermost);
                let at = BAR.write(line, at);
                let at = ShortText::signed(columns.score(row)).write(line, at);
                let at = BAR.write(line, at);
                result.write(line, at)
            });
        }
    }
    fn losses(&self, tile: &Tile<'_>, losses: &mut Losses) {
        lost_columns(tile, losses, |field| field == Field::Mate || self.fields().contains(field));
        encode_chains::made_up(tile, losses);
    }
    fn can_change(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::random::Random;
    use crate::formats::test_mutations::{each_change, positions};
    use std::fmt::Write;

    #[test]
    fn lines_with_any_byte_changed_are_read_in_both_ways() {
        let mut random = Random::new(3);
        let mut text = String::new();
        for position in positions() {
            let (score, result) =
                (random.below(70_000) as i32 - 35_000, ["0.0", "0.5", "1.0"][random.below(3) as usize]);
            writeln!(text, "{position} | {score} | {result}").unwrap();
        }
        const BYTES: &[u8] = b"\n\r -+0159aehk/ |;[]\0\xFF";
        let options = DecodeOptions { fields: CARRIES, ..DecodeOptions::default() };
        each_change(&text, BYTES, &mut random, |changed, _, _| {
            let chunk = Chunk::new(std::path::Path::new("x").into(), changed.into());
            let [fast, slow] = [true, false].map(|has_usual| read_lines(&chunk, &options, has_usual));
            assert!(fast.records > 30);
            assert_eq!(format!("{fast:?}"), format!("{slow:?}"));
        });
    }

    #[test]
    fn variants_of_lines_are_read() {
        const FEN: &str = "8/8/8/4k3/8/4K3/8/8 b - - 3 40";
        for (rest, score, result) in [
            (" | 20 | 1.0", 20, 2),
            ("|-20|0.5", -20, 1),
            (" 13 0", 13, 0),
            (" [0.5] -7", -7, 1),
            (" 0.5 -7", -7, 1),
            (";31950;1/2-1/2", 31950, 1),
            (",-32768,[1.0]", i16::MIN, 2),
            (" | +5 | 1-0 ", 5, 2),
            (" | 20 | 1:0", 20, 2),
            (" | 20 | ½-½", 20, 1),
            (" | 20 | 0–1", 20, 0),
            (" 1-0 20", 20, 2),
            (" 1/2-1/2 0", 0, 1),
            ("[0.5] -7", -7, 1),
            (" -7[0.5]", -7, 1),
            (" | 20 | 0.500", 20, 1),
        ] {
            let line = format!("{FEN}{rest}");
            let (fen, found, outcome) = divide(line.as_bytes()).unwrap();
            assert_eq!((fen, found, outcome), (FEN.as_bytes(), score, result), "{line}");
        }
        for (rest, reason) in [
            (" | 70000 | 1.0", "invalid_score"),
            (" | x | 1.0", "invalid_score"),
            (" | 20 | 0.7", "invalid_result"),
            (" | 1.5 | 0.5", "invalid_score"),
            (" [1.0] 35.5", "invalid_score"),
            (" 0.5 35.5", "invalid_score"),
            (" | 20 | 0-0", "invalid_result"),
            (" | 20 | 1/2-0", "invalid_result"),
            (" [0.7] 20", "invalid_result"),
        ] {
            let bad = divide(format!("{FEN}{rest}").as_bytes()).unwrap_err();
            assert_eq!(bad.reason, reason, "{rest}");
        }
        // Without a score, no field of the position becomes one.
        const FOUR: &str = "8/8/8/4k3/8/4K3/8/8 b - -";
        for fen in [FEN, FOUR, "8/8/8/4k3/8/4K3/8/8 b - - 0 1", "8/8/8/4k3/8/4K3/8/8 b - e3 12 45"] {
            for rest in [
                " [1.0]", "[0.5]", " | 1.0", "|0.5", ";0.0", "; 1.0", ", 1-0", ",0-1", " 1.0", " 1-0", " 1/2-1/2",
                " ½-½", " | 1:0", " | 1", ";0", " 1", " | 35", " -35", "", " |", " [1]", " [1-0]",
            ] {
                let bad = divide(format!("{fen}{rest}").as_bytes()).unwrap_err();
                assert_eq!(bad.reason, "incomplete_line", "{fen}{rest}");
            }
            for rest in [" | 35 | 1.0", ";35;1.0", " [1.0] 35", " 35 [1.0]", ",35,1-0", " 35 0.5", " 1.0 | 35"] {
                let line = format!("{fen}{rest}");
                let (found, score, _) = divide(line.as_bytes()).unwrap();
                assert_eq!((found, score), (fen.as_bytes(), 35), "{line}");
            }
        }
        assert!(sniff(format!("{FEN} [1.0] 35.5\n").as_bytes()));
        for rest in [" [1.0]", " | 1.0", ";0.5", ", 1-0", " 0.0"] {
            assert!(!sniff(format!("{FEN}{rest}\n").as_bytes()), "{rest}");
            assert!(!sniff(format!("{FOUR}{rest}\n").as_bytes()), "{rest}");
        }
        assert_eq!(usual_values(b"x | -35 | 0.5"), Some((1, -35, 1)));
        for line in ["x | 35 | 0.7", "x |35 | 1.0", "x | | 1.0", "x | 40000 | 1.0", "x | 100000 | 1.0", "| 1.0", "1.0"]
        {
            assert_eq!(usual_values(line.as_bytes()), None, "{line}");
        }
        assert_eq!(divide(b"|").unwrap_err().reason, "incomplete_line");
        assert_eq!(divide(FEN.as_bytes()).unwrap_err().reason, "incomplete_line");
        assert_eq!(divide(b"8/8/8/4k3/8/4K3/8/8 b - - 13 1").unwrap_err().reason, "incomplete_line");
        assert!(sniff(b"\xEF\xBB\xBF# data\n\n8/8/8/4k3/8/4K3/8/8 b - - 3 40 | 1 | 0.0\n"));
        assert!(!sniff(b"8/8/8/4k3/8/4K3/8/8 b - - 3 40\n"));
    }
}
