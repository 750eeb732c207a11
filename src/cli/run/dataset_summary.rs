//! The final report of the commands for whole data sets.

use super::invocation::{Invocation, Timed};
use anyhow::Result;
use serde_json::{Map, Value, json};

/// Reports the result of a command, as JSON if requested.
pub(crate) fn conclude(
    invocation: &Invocation<'_>,
    done: Timed,
    json: bool,
    written: u64,
    own: impl IntoIterator<Item = (&'static str, Value)>,
) -> Result<u8> {
    let Timed { summary, failure, elapsed } = &done;
    if json && failure.is_none() {
        let left_out = summary.left_out.iter();
        let left_out: Map<String, Value> =
            left_out.map(|(option, left_out)| ((*option).to_owned(), json!(left_out.positions))).collect();
        let mut object = Map::new();
        object.insert("records".to_owned(), json!(summary.records));
        object.insert("rejected".to_owned(), json!(summary.rejected));
        object.insert("written".to_owned(), json!(written));
        object.insert("left_out".to_owned(), Value::Object(left_out));
        object.extend(own.into_iter().map(|(name, value)| (name.to_owned(), value)));
        object.insert("seconds".to_owned(), json!(elapsed.as_secs_f64()));
        crate::cli::print_object(&object)?;
    }
    invocation.conclude(done)
}
