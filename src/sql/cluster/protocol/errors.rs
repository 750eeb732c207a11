//! Errors that are sent through the cluster, which passes them on as text, quoted several times.
//!
//! Our errors contain their message a second time, as hexadecimal digits between two marks, so that the client finds it
//! whatever text is around it.

use crate::error::Error;
use ballista_core::error::BallistaError;
use datafusion::arrow::error::ArrowError;
use datafusion::common::DataFusionError;
use std::fmt::{self, Write};

/// The mark before the digits. The name of a file in a directory cannot have it, so that a file cannot be named to
/// forge an error.
const BEGIN: &str = "[lanefish://";
/// The mark after the digits.
const END: char = ']';

/// An error that the client will find again.
#[derive(thiserror::Error)]
#[error("{0} {BEGIN}{hex}{END}", hex = hex(.0))]
pub(in crate::sql::cluster) struct Carried(pub(in crate::sql::cluster) String);

impl Carried {
    /// As an error of the engine.
    pub(in crate::sql::cluster) fn into_error(self) -> DataFusionError {
        DataFusionError::External(Box::new(self))
    }
}

// The engine writes errors of tasks with this.
impl fmt::Debug for Carried {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

fn hex(text: &str) -> String {
    text.bytes().fold(String::new(), |mut hex, byte| {
        // Writing to a string does not fail.
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

/// An error for the client.
pub(in crate::sql) fn carried(message: &str) -> DataFusionError {
    Carried(message.to_owned()).into_error()
}

/// An error for the client: what failed, why, and where.
pub(in crate::sql::cluster) fn failure_of(failure: &Error) -> DataFusionError {
    let mut text = failure.to_string();
    let mut source = std::error::Error::source(failure);
    while let Some(cause) = source {
        text += &format!(": {cause}");
        source = cause.source();
    }
    carried(&format!("{text} (on {})", machine()))
}

/// Whether rows could not be fetched from an executor: it was lost after it had made them.
///
/// The engine keeps some of these errors as they are, and others as text.
pub(in crate::sql::cluster) fn is_lost_executor(error: &DataFusionError) -> bool {
    match error.find_root() {
        DataFusionError::External(error) => matches!(
            error.downcast_ref(),
            Some(
                BallistaError::FetchFailed(..)
                    | BallistaError::GrpcActionError(_)
                    | BallistaError::GrpcConnectionError(_)
                    | BallistaError::GrpcError(_)
                    | BallistaError::TonicError(_)
            )
        ),
        DataFusionError::ArrowError(error, _) => matches!(**error, ArrowError::IpcError(_)),
        DataFusionError::Execution(text) => text.starts_with("GrpcConnectionError("),
        _ => false,
    }
}

/// The message of an error of the cluster, if it is one.
pub(in crate::sql) fn explained(error: &DataFusionError) -> Option<String> {
    let text = error.to_string();
    if found(&text).is_none() && is_lost_executor(error) {
        return Some(format!("an executor was lost before its rows were fetched: {}", shortened(&text)));
    }
    explained_text(&text)
}

fn explained_text(text: &str) -> Option<String> {
    if let Some(ours) = found(text) {
        return Some(ours);
    }
    // The engine does not read some of the plans that it writes.
    if text.contains("PlanParsingFailure") {
        return Some("the cluster cannot carry out this query; without --cluster, one process can".to_owned());
    }
    // The text of failed calls to the scheduler.
    if let Some((_, status)) = text.split_once("Status { code: ") {
        let message = status
            .split_once("message: \"")
            .map(|(_, rest)| rest)
            .and_then(|rest| rest.split_once('"'))
            .map_or(status, |(message, _)| message);
        return Some(format!("the scheduler is gone: {}", shortened(message)));
    }
    let (_, failed) = text.split_once("Job ")?;
    let (_, failed) = failed.split_once(" failed: ")?;
    if let Some((_, operator)) = failed.split_once("Unsupported plan node, name: [") {
        let operator = operator.split([' ', ']']).next().unwrap_or_default();
        let what = match operator {
            "RecursiveQueryExec" => "recursive queries",
            other => other,
        };
        return Some(format!("the cluster cannot carry out {what}; without --cluster, one process can"));
    }
    let mut reason = failed;
    for wrapped in [" failed: ", "execution error: ", "IO error: "] {
        reason = reason.rsplit_once(wrapped).map_or(reason, |(_, inner)| inner);
    }
    Some(format!("a task of the cluster failed: {}", shortened(reason)))
}

/// The beginning of a text that may have a whole plan in it.
fn shortened(text: &str) -> String {
    const MOST: usize = 400;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{} ..", &text[..end]),
        None => text.to_owned(),
    }
}

/// The message that a text of the cluster carries.
pub(in crate::sql::cluster) fn found(text: &str) -> Option<String> {
    let (_, rest) = text.split_once(BEGIN)?;
    let (digits, _) = rest.split_once(END)?;
    let bytes = digits.as_bytes().chunks(2).map(|pair| {
        let pair = std::str::from_utf8(pair).ok()?;
        u8::from_str_radix(pair, 16).ok()
    });
    String::from_utf8(bytes.collect::<Option<Vec<_>>>()?).ok()
}

/// The name of this machine, for messages that are read on another one.
pub(in crate::sql) fn machine() -> String {
    #[cfg(unix)]
    return rustix::system::uname().nodename().to_string_lossy().into_owned();
    #[cfg(not(unix))]
    std::env::var("COMPUTERNAME").unwrap_or_else(|_| "a machine of the cluster".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_engine_wraps_around_is_left_out() {
        let explained = |text| explained_text(text).unwrap();
        assert_eq!(
            explained(
                "Execution error: Job 038G6 failed: Job failed due to stage 3 failed: Task failed due to runtime \
                 execution error: DataFusionError(Plan(\"odd\"))"
            ),
            "a task of the cluster failed: DataFusionError(Plan(\"odd\"))"
        );
        assert_eq!(
            explained("Job 03 failed: Internal error: Unsupported plan node, name: [RecursiveQueryExec] . Plan: X"),
            "the cluster cannot carry out recursive queries; without --cluster, one process can"
        );
        assert_eq!(
            explained("Execution error: Status { code: Unavailable, message: \"tcp connect error\", source: x }"),
            "the scheduler is gone: tcp connect error"
        );
        assert_eq!(explained_text("Schema error: no field"), None);
    }

    #[test]
    fn lost_executors_are_no_lost_scheduler() {
        let status = "Status { code: Unavailable, message: \"tcp connect error\", source: x }";
        let lost = [
            BallistaError::FetchFailed("e".to_owned(), 1, 2, status.to_owned()).into_datafusion(),
            BallistaError::GrpcConnectionError(status.to_owned()).into_datafusion(),
            DataFusionError::Execution(format!("{:?}", BallistaError::GrpcConnectionError(status.to_owned()))),
            DataFusionError::ArrowError(Box::new(ArrowError::IpcError(status.to_owned())), None),
        ];
        for error in lost {
            assert!(is_lost_executor(&error), "{error}");
            assert!(explained(&error).unwrap().starts_with("an executor was lost before its rows were fetched: "));
        }
        let scheduler = DataFusionError::Execution(status.to_owned());
        assert!(!is_lost_executor(&scheduler) && !is_lost_executor(&carried("a file is missing")));
        assert_eq!(explained(&scheduler).unwrap(), "the scheduler is gone: tcp connect error");
    }

    #[test]
    fn messages_survive_quotes() {
        let message = "cannot open \"/data/Kasparov\u{2019}s.pgn\": [it] is\nmissing";
        let error = carried(message);
        let once = format!("Job x failed: {:?}", format!("{error:?}"));
        let twice = format!("{once:?}");
        for text in [error.to_string(), once, twice] {
            assert_eq!(found(&text).as_deref(), Some(message));
        }
        assert_eq!(found("nothing"), None);
        assert_eq!(found("[lanefish://zz]"), None);
        assert_eq!(found("[lanefish://61"), None);
    }

    #[test]
    fn names_of_files_forge_no_error() {
        let error = carried("cannot open /data/[lanefish:61].pgn/[lanefish:/62].pgn: it is missing");
        assert!(found(&format!("{error:?}")).unwrap().ends_with("it is missing"));
    }
}
