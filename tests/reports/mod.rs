//! Reports of datasets.

/// Reports as pages, in a browser.
pub(super) mod html;
/// The schema of reports.
pub(super) mod json_schema;
/// Reports of datasets, compared with plain counting.
pub(super) mod statistics;
