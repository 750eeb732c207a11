//! Functions that are not columns: patterns of pieces, moves, bits.

use super::{ValidityOptions, ValuesWithoutPosition, arrays, as_given, failed, position_type, positions_of, text_type};
use crate::chess::{Move, Piece, Position, Square};
use crate::pipeline::Job;
use crate::table::{Needs, Tile};
use datafusion::arrow::array::{Array, ArrayRef, AsArray, BooleanArray, Int16Array, StringArray};
use datafusion::arrow::datatypes::{DataType, Int64Type, UInt64Type};
use datafusion::common::{Result, plan_datafusion_err, plan_err};
use datafusion::logical_expr::{ColumnarValue, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility};
use std::sync::Arc;

/// A value for each position that counts, with its row.
struct Each<F>(F);

impl<T: Send, F: Fn(usize, &Position) -> Option<T> + Sync> Job for Each<F> {
    type Part = Vec<(usize, Option<T>)>;
    fn needs(&self) -> Needs {
        Needs::NONE
    }
    fn begin(&self) -> Self::Part {
        Vec::new()
    }
    fn tile(&self, part: &mut Self::Part, tile: &Tile<'_>) {
        let positions = tile.positions();
        for row in tile.rows() {
            let index = tile.batch.index(row) as usize;
            part.push((index, (self.0)(index, &positions[row - tile.start])));
        }
    }
}

/// The value of each row; `None` if the row is not a position, or has no value.
fn each<T: Clone + Send>(
    (function, judging, told): (&'static str, ValidityOptions, &ValuesWithoutPosition),
    array: &ArrayRef,
    value: impl Fn(usize, &Position) -> Option<T> + Sync,
) -> Result<Vec<Option<T>>> {
    let mut values = vec![None; array.len()];
    let mut has_position = vec![false; array.len()];
    let positions = positions_of(array)?;
    let (options, analyzer) = (judging.options(), judging.analyzer()?);
    let take = |part: Vec<(usize, Option<T>)>, _| {
        for (row, value) in part {
            values[row] = value;
            has_position[row] = true;
        }
        Ok(())
    };
    crate::jobs::judge(&positions, &options, analyzer, &Each(value), take).map_err(failed)?;
    told.add(function, array, (0..array.len()).filter(|&row| !has_position[row]));
    Ok(values)
}

/// Arguments that are a position and a text.
fn position_and_text(function: &str, what: &str, given: &[DataType]) -> Result<Vec<DataType>> {
    match given {
        [position, text] => Ok(vec![position_type(function, position)?, text_type(function, what, text)?]),
        _ => plan_err!("{function} takes a FEN or board, and {what}"),
    }
}

/// `matches(fen, 'PLACEMENT')`.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct Matches {
    judging: ValidityOptions,
    told: ValuesWithoutPosition,
    signature: Signature,
}

impl Matches {
    #[cfg(feature = "cluster")]
    pub(super) fn judging(&self) -> ValidityOptions {
        self.judging
    }

    pub(super) fn new(judging: ValidityOptions, told: ValuesWithoutPosition) -> Self {
        Self { judging, told, signature: Signature::user_defined(Volatility::Immutable) }
    }
}

/// The board part of a FEN as a pattern: a letter is a piece, a digit that many arbitrary squares, a dot an empty
/// square.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Pattern {
    pieces: Vec<(Square, Piece)>,
    empty: Vec<Square>,
}

impl Pattern {
    fn parse(text: &str) -> Result<Self> {
        let wrong = |what: &str| plan_datafusion_err!("matches: the pattern '{text}' {what}");
        let mut pattern = Self { pieces: Vec::new(), empty: Vec::new() };
        let ranks: Vec<&str> = text.split('/').collect();
        if ranks.len() != 8 {
            return Err(wrong("does not have eight ranks, separated by /"));
        }
        for (rank, letters) in ranks.into_iter().rev().enumerate() {
            let mut file = 0;
            for letter in letters.bytes() {
                let width = match letter {
                    b'1'..=b'8' => usize::from(letter - b'0'),
                    _ => 1,
                };
                if file + width > 8 {
                    return Err(wrong("has a rank of more than eight squares"));
                }
                let square = Square::new((8 * rank + file) as u8);
                match (letter, Piece::from_letter(letter)) {
                    (b'1'..=b'8', _) => {}
                    (b'.', _) => pattern.empty.push(square),
                    (_, Some(piece)) => pattern.pieces.push((square, piece)),
                    (_, None) => {
                        return Err(wrong("has other characters than PNBRQK, pnbrqk, 1 to 8, . and /"));
                    }
                }
                file += width;
            }
            if file < 8 {
                return Err(wrong("has a rank of fewer than eight squares"));
            }
        }
        Ok(pattern)
    }

    fn fits(&self, position: &Position) -> bool {
        let has = |&(square, piece): &(Square, Piece)| position.piece_at(square) == Some(piece);
        self.pieces.iter().all(has) && !self.empty.iter().any(|&square| position.occupied().contains(square))
    }
}

impl ScalarUDFImpl for Matches {
    fn name(&self) -> &str {
        "matches"
    }
    fn signature(&self) -> &Signature {
        &self.signature
    }
    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        position_and_text(self.name(), "a pattern", given)
    }
    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Boolean)
    }
    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let arrays = arrays(&args.args, args.number_rows)?;
        let texts = arrays[1].as_string::<i32>();
        // Mostly it is the same pattern.
        let mut patterns: Vec<(String, Pattern)> = Vec::new();
        let mut places = Vec::with_capacity(texts.len());
        for text in texts {
            let Some(text) = text else {
                places.push(None);
                continue;
            };
            let place = match patterns.iter().rposition(|(known, _)| known == text) {
                Some(place) => place,
                None => {
                    patterns.push((text.to_owned(), Pattern::parse(text)?));
                    patterns.len() - 1
                }
            };
            places.push(Some(place));
        }
        let fits = |row: usize, position: &Position| places[row].map(|place| patterns[place].1.fits(position));
        let values: BooleanArray = each(("matches", self.judging, &self.told), &arrays[0], fits)?.into();
        as_given(&args.args, Arc::new(values))
    }
}

/// `play(fen, 'e2e4')`.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct Play {
    judging: ValidityOptions,
    told: ValuesWithoutPosition,
    signature: Signature,
}

impl Play {
    #[cfg(feature = "cluster")]
    pub(super) fn judging(&self) -> ValidityOptions {
        self.judging
    }

    pub(super) fn new(judging: ValidityOptions, told: ValuesWithoutPosition) -> Self {
        Self { judging, told, signature: Signature::user_defined(Volatility::Immutable) }
    }
}

/// The FEN after a move in UCI form or SAN; `None` if it is not a legal move.
fn after(position: &Position, text: &str) -> Option<String> {
    let mv = Move::from_uci(text, position).or_else(|_| position.parse_san(text)).ok()?;
    let mut after = position.clone();
    after.make(mv);
    after.drop_unusable_en_passant();
    Some(after.to_string())
}

impl ScalarUDFImpl for Play {
    fn name(&self) -> &str {
        "play"
    }
    fn signature(&self) -> &Signature {
        &self.signature
    }
    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        position_and_text(self.name(), "a move", given)
    }
    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Utf8)
    }
    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let arrays = arrays(&args.args, args.number_rows)?;
        let moves = arrays[1].as_string::<i32>();
        let play = |row: usize, position: &Position| {
            if moves.is_valid(row) { after(position, moves.value(row)) } else { None }
        };
        let values: StringArray = each(("play", self.judging, &self.told), &arrays[0], play)?.into();
        as_given(&args.args, Arc::new(values))
    }
}

/// `popcount(bits)`.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct PopCount {
    signature: Signature,
}

impl PopCount {
    pub(super) fn new() -> Self {
        Self { signature: Signature::user_defined(Volatility::Immutable) }
    }
}

impl ScalarUDFImpl for PopCount {
    fn name(&self) -> &str {
        "popcount"
    }
    fn signature(&self) -> &Signature {
        &self.signature
    }
    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        match given {
            [DataType::UInt64 | DataType::UInt32 | DataType::UInt16 | DataType::UInt8] => Ok(vec![DataType::UInt64]),
            // Negative numbers as 64 bits.
            [bits] if bits.is_integer() || bits.is_null() => Ok(vec![DataType::Int64]),
            _ => plan_err!("popcount takes one integer"),
        }
    }
    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Int16)
    }
    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let arrays = arrays(&args.args, args.number_rows)?;
        let counts: Int16Array = match arrays[0].data_type() {
            DataType::UInt64 => arrays[0].as_primitive::<UInt64Type>().unary(|bits| bits.count_ones() as i16),
            _ => arrays[0].as_primitive::<Int64Type>().unary(|bits| bits.count_ones() as i16),
        };
        as_given(&args.args, Arc::new(counts))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_fit_where_all_of_it_is_there() {
        let position: Position = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1".parse().unwrap();
        let fits = |text: &str| Pattern::parse(text).unwrap().fits(&position);
        assert!(fits("8/8/8/8/8/8/8/8"));
        assert!(fits("r...k..r/8/8/8/8/8/8/R3K2R"));
        assert!(fits("8/......../8/8/8/8/8/4K3"));
        assert!(!fits("8/8/8/8/8/8/8/4k3"));
        assert!(!fits("8/8/8/8/8/8/8/....K..."));
        assert!(!fits("8/8/8/8/3P4/8/8/8"));
    }

    #[test]
    fn wrong_patterns_are_errors() {
        for text in [
            "",
            "8/8/8/8/8/8/8",
            "9/8/8/8/8/8/8/8",
            "8/8/8/8/8/8/8/7",
            "8/8/8/8/8/8/8/8K",
            "8/8/8/8/8/8/8/x7",
            "PPPPPPPPP/8/8/8/8/8/8/8",
        ] {
            assert!(Pattern::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn moves_are_uci_or_san() {
        let start: Position = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1".parse().unwrap();
        let e4 = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1";
        assert_eq!(after(&start, "e2e4").as_deref(), Some(e4));
        assert_eq!(after(&start, "e4").as_deref(), Some(e4));
        assert_eq!(after(&start, "e2e5"), None);
        assert_eq!(after(&start, "Ke2"), None);
        assert_eq!(after(&start, ""), None);
        let castle: Position = "8/8/8/8/8/8/6k1/R3K3 w Q - 0 1".parse().unwrap();
        for text in ["e1c1", "e1a1", "O-O-O"] {
            assert_eq!(after(&castle, text).as_deref(), Some("8/8/8/8/8/8/6k1/2KR4 b - - 1 1"), "{text}");
        }
    }
}
