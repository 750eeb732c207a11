//! `position_stats`: the statistics of a group of positions, as in `stats --json`.
//!
//! The state of a group is its report. Reports merge exactly, whatever thread or machine counted the parts. The encoded
//! state is the JSON of the report, compressed, after four bytes with its kind and version.

use super::{ValidityOptions, failed, position_type, positions_of, present};
use crate::jobs::Statistics;
use crate::report::Report;
use datafusion::arrow::array::{ArrayRef, AsArray};
use datafusion::arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::{DataFusionError, Result, ScalarValue, plan_err};
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::{Accumulator, AggregateUDFImpl, Signature, Volatility};
use std::sync::Arc;

/// The first bytes of states; the last byte is their version.
const MAGIC: &[u8; 4] = b"LFS\x01";
/// Maximum size of a state: a report has some thousand numbers.
const MOST_BYTES: usize = 64 << 20;
/// The level of compression.
const LEVEL: i32 = 1;
/// Approximate memory of the counters of a group, measured with 2,000 groups.
const COUNTERS: usize = 512 << 10;
/// Approximate memory of a report.
const REPORT: usize = 64 << 10;

/// The aggregate.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct PositionStats {
    judging: ValidityOptions,
    signature: Signature,
}

impl PositionStats {
    #[cfg(feature = "cluster")]
    pub(super) fn judging(&self) -> ValidityOptions {
        self.judging
    }

    pub(super) fn new(judging: ValidityOptions) -> Self {
        Self { judging, signature: Signature::user_defined(Volatility::Immutable) }
    }
}

impl AggregateUDFImpl for PositionStats {
    fn name(&self) -> &str {
        "position_stats"
    }
    fn signature(&self) -> &Signature {
        &self.signature
    }
    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        match given {
            [position] => Ok(vec![position_type(self.name(), position)?]),
            _ => plan_err!("position_stats takes one FEN or board"),
        }
    }
    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Utf8)
    }
    fn state_fields(&self, _: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        Ok(vec![Arc::new(Field::new("state", DataType::Binary, true))])
    }
    fn accumulator(&self, _: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        Ok(Box::new(Group { judging: self.judging, counting: None, rejected: 0, merged: Report::default() }))
    }
}

/// The statistics of a group.
#[derive(Debug)]
struct Group {
    judging: ValidityOptions,
    /// The positions counted here.
    counting: Option<Statistics>,
    rejected: u64,
    /// The reports counted elsewhere.
    merged: Report,
}

impl Group {
    /// The complete report.
    fn report(&mut self) -> Result<&Report> {
        if let Some(counting) = self.counting.take() {
            let counted = counting.finish(self.rejected, self.judging.keep_en_passant);
            self.merged.merge(&counted.map_err(failed)?);
            self.rejected = 0;
        }
        Ok(&self.merged)
    }
}

impl Accumulator for Group {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let analyzer = self.judging.analyzer()?;
        let counting = self.counting.get_or_insert_with(Statistics::new);
        let positions = positions_of(&present(&values[0])?)?;
        let rejected = &mut self.rejected;
        let take = |part, bad| {
            *rejected += bad;
            counting.add(part)
        };
        crate::jobs::judge(&positions, &self.judging.options(), analyzer, &*counting, take).map_err(failed)
    }
    fn evaluate(&mut self) -> Result<ScalarValue> {
        Ok(ScalarValue::Utf8(Some(serde_json::Value::Object(self.report()?.to_json()).to_string())))
    }
    fn size(&self) -> usize {
        match self.counting {
            Some(_) => COUNTERS + REPORT,
            None => REPORT,
        }
    }
    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        Ok(vec![ScalarValue::Binary(Some(encoded(self.report()?)?))])
    }
    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        for state in states[0].as_binary::<i32>().iter().flatten() {
            self.merged.merge(&decoded(state)?);
        }
        Ok(())
    }
}

/// A report as a state.
pub(in crate::sql) fn encoded(report: &Report) -> Result<Vec<u8>> {
    let json = serde_json::Value::Object(report.to_json()).to_string();
    let compressed = zstd::bulk::compress(json.as_bytes(), LEVEL)?;
    Ok([MAGIC.as_slice(), &compressed].concat())
}

/// Decodes the report in a state.
pub(in crate::sql) fn decoded(state: &[u8]) -> Result<Report> {
    let wrong = |what: String| DataFusionError::Execution(format!("position_stats: a state {what}"));
    let Some(compressed) = state.strip_prefix(MAGIC) else {
        return Err(wrong("of another version; all machines must have the same".to_owned()));
    };
    let json = zstd::bulk::decompress(compressed, MOST_BYTES)?;
    let json = serde_json::from_slice(&json).map_err(|error| wrong(format!("is not JSON: {error}")))?;
    Report::from_json(&json).map_err(|error| wrong(format!("is not a report: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_are_what_they_were() {
        let report = Report::default();
        assert_eq!(decoded(&encoded(&report).unwrap()).unwrap(), report);
    }

    #[test]
    fn other_bytes_are_errors() {
        let state = encoded(&Report::default()).unwrap();
        let later = [b"LFS\x02".as_slice(), &state[4..]].concat();
        for wrong in [&b""[..], b"LFS", b"LFS\x01", &state[..state.len() - 1], &later] {
            assert!(decoded(wrong).is_err());
        }
    }
}
