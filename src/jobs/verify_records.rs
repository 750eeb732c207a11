//! `verify`: reads all fields of all records, and says of each file what is wrong.

use crate::pipeline::Job;
use crate::queries::Queries;
use crate::table::{Fields, Needs, Tile};
#[cfg(feature = "json")]
use crate::{
    formats::Format,
    pipeline::{FileSummary, Summary},
};
#[cfg(feature = "json")]
use serde_json::{Map, Value, json};

/// Reads all fields of the records, so that unreadable values are found as `convert` finds them.
///
/// ```
/// use lanefish::jobs::VerifyRecords;
/// use lanefish::pipeline::{RunOptions, run};
/// use lanefish::{input::Inputs, tiers};
///
/// let options = RunOptions::new(tiers::best()).past_damage(true);
/// let summary = run(&Inputs::open(["data/sample.epd"])?, options, &VerifyRecords, |()| Ok(()))?;
/// assert_eq!(summary.rejected, 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct VerifyRecords;

impl Job for VerifyRecords {
    type Part = ();
    fn needs(&self) -> Needs {
        Needs::new(Queries::NONE, Fields::ALL)
    }
    fn begin(&self) {}
    fn tile(&self, (): &mut (), _: &Tile<'_>) {}
}

/// Whether nothing is wrong: no record is bad, and no file is damaged.
#[cfg(feature = "json")]
fn is_ok(summary: &Summary) -> bool {
    summary.rejected == 0 && summary.files.iter().all(|file| file.damage.is_empty())
}

/// What was found in each file, as `lanefish verify --json` prints it: `files` with their path, format, numbers of records,
/// reasons and damaged places, and whether all is `ok`.
#[cfg(feature = "json")]
pub fn verification_to_json(summary: &Summary) -> Map<String, Value> {
    let file = |file: &FileSummary| -> Value {
        let damage = file.damage.iter().map(|damage| json!({ "offset": damage.offset, "what": damage.what }));
        json!({
            "path": file.path.display().to_string(),
            "format": file.format.map(Format::name),
            "records": file.records - file.left_out,
            "rejected": file.rejected,
            "reasons": file.reasons,
            "damage": damage.collect::<Vec<_>>(),
        })
    };
    let files: Vec<Value> = summary.files.iter().map(file).collect();
    Map::from_iter([("files".to_owned(), files.into()), ("ok".to_owned(), json!(is_ok(summary)))])
}
