//! Reports as pages: one HTML file with everything in it, for a browser, a phone and paper.
//!
//! # Content and order
//!
//! The first screen answers two questions: *what is in this dataset, and is anything unusual?* It has the most striking
//! facts, the groups if there are any, and the results. The summary follows, with the [remarks](Report::remarks), each with
//! the option that helps. Then there are games, scores, positions and moves, material, joint distributions, and boards.
//! Sections without data are left out.
//!
//! The page is generated from the [`plots_and_tables`](super::plots_and_tables). A new plot there appears here automatically, in "Positions
//! and moves" unless another section claims its key.
//!
//! # Design
//!
//! * Drawings are hand-written SVG: histograms, boards, joint distributions. They are about as wide as a phone and keep
//!   this size: wider screens show more of them next to each other, so that letters have the same size everywhere.
//! * Axes begin at zero. If high bars are cut off, the scale is logarithmic, or the range is cropped, then the title or
//!   the line below it says so. The numbers are in tables below the drawings.
//! * A colour has a meaning, the same as in the terminal: see [`Hue`](super::plots_and_tables::Hue). Heat maps are like
//!   fire: darker is more, and lighter is more in the dark. Orange lines and bars are dataset B of a comparison. Results
//!   have no hue: white, grey, black, with outlines. Text has a contrast of at least 4.5 to 1 in both modes.
//! * Pages are below one megabyte: cells of one colour are one path, and the script takes their values from the table
//!   below.
//! * Every drawing has a text that describes its content, every table a caption and named rows and columns.
//! * The page is complete without its script. The script shows the values below the pointer, a finger or the selection
//!   by arrow keys.
//! * The page loads nothing from elsewhere, and all input is escaped.

mod bars;
mod bins;
mod board;
mod comparison;
mod joint_plots;
mod markup;
mod plot;
mod score_results;
mod sections;
#[cfg(test)]
mod tests;

use super::{Comparison, Origin, Report};
use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Where a report comes from.
#[derive(Clone, Debug, PartialEq, Default)]
#[non_exhaustive]
pub struct About {
    /// The title of the page.
    pub title: String,
    /// The inputs.
    pub inputs: Vec<Input>,
    /// The command that counted it, as typed, if it is known.
    pub command: Option<String>,
    /// Records that its options left out: sentences without their full stops.
    pub left_out: Vec<String>,
    /// Number of games that were read, if the inputs have games.
    pub games: Option<u64>,
    /// What remarks say of it.
    pub origin: Origin,
    /// The run that counted the report; `None` for a report that was read from a file.
    pub run: Option<Run>,
}

impl About {
    /// A title and nothing else.
    pub fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), ..Self::default() }
    }
}

/// An input of a report.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Input {
    /// The name of the input, as people know it.
    pub name: String,
    /// The size of the input in bytes, if it is a file.
    pub bytes: Option<u64>,
    /// The BLAKE3 hash of the input, if a manifest of this size is beside it.
    pub hash: Option<String>,
}

impl Input {
    /// An input of which only the name is known.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), ..Self::default() }
    }
}

/// The run that counted a report. Pages without it are the same whenever they are made.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Run {
    /// When it ended, such as `2026-08-01 12:30 UTC`.
    pub date: String,
    /// The name of the tier.
    pub tier: String,
    /// Number of threads.
    pub threads: usize,
    /// Time taken.
    pub seconds: f64,
    /// Positions per second.
    pub rate: f64,
    /// Bytes read.
    pub bytes: u64,
}

/// A page about a dataset.
///
/// ```
/// use lanefish::report::Report;
/// use lanefish::report::html::{About, Input, page};
///
/// let mut about = About::new("My positions");
/// about.inputs.push(Input::new("positions <new>.epd"));
/// let page = page(&Report::default(), &about);
/// assert!(page.starts_with("<!doctype html>"));
/// assert!(page.contains("<li>positions &lt;new&gt;.epd</li>"));
/// assert!(page.contains("The dataset has no position."));
/// ```
pub fn page(report: &Report, about: &About) -> String {
    written(|out| sections::write(out, report, about))
}

/// A page about the differences between the first dataset and each of the others: what is furthest beyond chance comes
/// first, then all histograms, one over the other, and the boards. There is a comparison for each dataset after the
/// first one; `abouts` describes all of them.
///
/// ```
/// use lanefish::report::html::{About, comparison};
/// use lanefish::report::{Comparison, Report};
///
/// let report = Report::default();
/// let page = comparison(&[Comparison::of(&report, &report)], &[About::new("old"), About::new("new")]);
/// assert!(page.contains("<h1>old and new</h1>"));
/// ```
pub fn comparison(comparisons: &[Comparison], abouts: &[About]) -> String {
    written(|out| comparison::write(out, comparisons, abouts))
}

/// Whether a file is a page of lanefish: its head names the program that made it. Anything else, such as a file that
/// cannot be read, is not one.
pub fn is_page(path: &Path) -> bool {
    // A named pipe would wait for its writer.
    if !path.metadata().is_ok_and(|metadata| metadata.is_file()) {
        return false;
    }
    let mut head = Vec::new();
    let read = File::open(path).and_then(|file| file.take(HEAD).read_to_end(&mut head));
    let names = |name: &str| memchr::memmem::find(&head, name.as_bytes()).is_some();
    read.is_ok() && head.starts_with(b"<!doctype html>") && names(markup::GENERATOR)
}

/// Number of first bytes of a page that name the program.
const HEAD: u64 = 1 << 10;

fn written(write: impl FnOnce(&mut String) -> fmt::Result) -> String {
    let mut out = String::new();
    write(&mut out).expect("a string takes every text");
    out
}
