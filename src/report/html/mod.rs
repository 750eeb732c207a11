//! Reports as pages: one HTML file with everything in it, for a browser, a phone and paper.
//!
//! # What is shown, in which order
//!
//! The first screen answers two questions: *what is in this dataset, and is anything odd?* It has the numbers that
//! people ask for first, and the [remarks](Report::remarks) beside them, each with the option that helps. What follows
//! is for those who want to know more, from what a dataset is made for to what it is made of: results and scores,
//! positions and moves, material, boards, joint distributions, games, groups. What a dataset does not have is left out.
//!
//! All of it comes from the [`facts`](super::facts): a plot that is new there appears here by itself, among
//! "Positions and moves" unless a section claims its key.
//!
//! # How
//!
//! * Drawings are SVG, written by hand: histograms, boards, joint distributions. They are about as wide as a phone, and
//!   wider screens put more of them beside each other, so that letters have the same size everywhere.
//! * Axes begin at zero. Where a few bars dwarf the rest they are cut off, where the scale is logarithmic, and where the
//!   range is cropped, the title or the line below it says so. The numbers are in tables below the drawings.
//! * One hue means "how much" (blue, darker is more; lighter is more in the dark). A second one (orange) only means
//!   dataset B in a comparison; people who do not see colours well tell blue from orange. Results have no hue: white,
//!   grey, black. Text has a contrast of at least 4.5 to 1 in both modes.
//! * Every drawing has a text that says what is to be seen in it, every table a caption and named rows and columns.
//! * The page is complete without its script, which only shows the values of what is pointed at, touched or reached with
//!   the arrow keys, sooner and on more devices than a browser does by itself.
//! * Nothing is loaded from anywhere, and everything that comes from outside is escaped.

mod bars;
mod bins;
mod board;
mod compared;
mod joint;
mod markup;
mod plot;
mod sections;
#[cfg(test)]
mod tests;

use super::{Comparison, Report};
use std::fmt;

/// Where a report comes from.
#[derive(Clone, Debug, PartialEq, Default)]
#[non_exhaustive]
pub struct About {
    /// The title of the page.
    pub title: String,
    /// The inputs, as people know them.
    pub inputs: Vec<String>,
    /// The command that counted it, as typed, if it is known.
    pub command: Option<String>,
    /// What its options left out: sentences without their full stops.
    pub left_out: Vec<String>,
    /// Number of games that were read, if the inputs have games.
    pub games: Option<u64>,
    /// How it was counted; `None` if it was not counted now.
    pub run: Option<Run>,
}

impl About {
    /// A title and nothing else.
    pub fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), ..Self::default() }
    }
}

/// How a report was counted.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Run {
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
/// use lanefish::report::html::{About, page};
///
/// let mut about = About::new("My positions");
/// about.inputs.push("positions <new>.epd".to_owned());
/// let page = page(&Report::default(), &about);
/// assert!(page.starts_with("<!doctype html>"));
/// assert!(page.contains("<li>positions &lt;new&gt;.epd</li>"));
/// assert!(page.contains("There is no position."));
/// ```
pub fn page(report: &Report, about: &About) -> String {
    written(|out| sections::write(out, report, about))
}

/// A page about the differences of two datasets: what differs most first, then all histograms, one over the other,
/// and the boards.
///
/// ```
/// use lanefish::report::html::{About, comparison};
/// use lanefish::report::{Comparison, Report};
///
/// let report = Report::default();
/// let page = comparison(&Comparison::of(&report, &report), [&About::new("old"), &About::new("new")]);
/// assert!(page.contains("<h1>old and new</h1>"));
/// ```
pub fn comparison(comparison: &Comparison, abouts: [&About; 2]) -> String {
    written(|out| compared::write(out, comparison, abouts))
}

fn written(write: impl FnOnce(&mut String) -> fmt::Result) -> String {
    let mut out = String::new();
    write(&mut out).expect("a string takes every text");
    out
}
