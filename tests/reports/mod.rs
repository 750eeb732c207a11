//! Reports of datasets.

/// Reports as pages, in a browser.
pub(super) mod html;
/// Reports of datasets, compared with plain counting.
pub(super) mod statistics;
