//! The positions of files, one after the other.

use super::background_stream::{Sender, Stream};
use crate::chess::Position;
use crate::error::Error;
use crate::input::Inputs;
use crate::pipeline::{Job, ReadOptions, RunOptions, Summary, run_to_end};
use crate::table::{Batch, Needs, Tile};
use crate::tiers;
use std::fmt;
use std::path::Path;
use std::task::Poll;
use std::time::Duration;

/// Maximum number of parts that wait to be taken.
const WAITING: usize = 4;

/// Keeps the boards and clocks of all records.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Collect;

impl Job for Collect {
    type Part = Batch;
    fn needs(&self) -> Needs {
        Needs::NONE
    }
    fn begin(&self) -> Batch {
        Batch::new()
    }
    fn tile(&self, part: &mut Batch, tile: &Tile<'_>) {
        part.extend_from(tile.batch, tile.rows());
    }
}

/// An iterator over the positions of files of any format, in order. Other threads read them, a little ahead.
///
/// After an error the iterator ends. After the end, [`PositionReader::summary`] has the numbers of records.
///
/// ```
/// use lanefish::jobs::PositionReader;
///
/// let mut checks = 0;
/// for position in PositionReader::open("data/sample.epd")? {
///     checks += u32::from(!position?.checkers().is_empty());
/// }
/// assert!(checks > 0);
/// # Ok::<(), lanefish::Error>(())
/// ```
#[must_use = "positions come only as they are asked for"]
pub struct PositionReader {
    stream: Option<Stream<Batch, Summary>>,
    batch: Batch,
    next: usize,
    summary: Option<Summary>,
}

impl fmt::Debug for PositionReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PositionReader").field("summary", &self.summary).finish_non_exhaustive()
    }
}

impl PositionReader {
    /// The positions of a file, or of the files in a directory. A bad record is an error.
    ///
    /// # Errors
    /// If there is no such file, or a thread cannot be started. All other errors are items of the iterator.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        let inputs = Inputs::resolve(&[path.as_ref().to_owned()], crate::formats::is_supported)?;
        Self::new(inputs, ReadOptions::default().strict(true), 1)
    }

    /// The positions of these inputs, decoded by this number of threads. Without [`ReadOptions::strict`], bad records
    /// are left out and counted in the [summary](Self::summary).
    ///
    /// # Errors
    /// If a thread cannot be started.
    pub fn new(inputs: Inputs, read: ReadOptions, threads: usize) -> Result<Self, Error> {
        let work = move |sender: &Sender<Batch>| {
            let mut options = RunOptions::new(tiers::best()).threads(threads).read(read);
            options.interrupt = Some(sender.interrupt());
            run_to_end(&inputs, options, &Collect, |part| sender.send(part))
        };
        let stream = Some(Stream::begin(WAITING, work)?);
        Ok(Self { stream, batch: Batch::new(), next: 0, summary: None })
    }

    /// The summary, once the end or an error was reached.
    pub fn summary(&self) -> Option<&Summary> {
        self.summary.as_ref()
    }
}

impl Iterator for PositionReader {
    type Item = Result<Position, Error>;
    fn next(&mut self) -> Option<Self::Item> {
        loop {
            while self.next < self.batch.len() {
                let row = self.next;
                self.next += 1;
                // Boards that the judge accepted can be unpacked.
                if let Ok(position) = self.batch.position(row) {
                    return Some(Ok(position));
                }
            }
            match self.stream.as_mut()?.wait(Duration::from_secs(1)) {
                Poll::Pending => {}
                Poll::Ready(Some(batch)) => (self.batch, self.next) = (batch, 0),
                Poll::Ready(None) => {
                    let mut summary = self.stream.take()?.end().unwrap_or_else(|_| Summary {
                        failure: Some(Error::Threads { threads: 1, reason: "a thread ended with a panic".to_owned() }),
                        ..Summary::default()
                    });
                    let failure = summary.failure.take();
                    self.summary = Some(summary);
                    return failure.map(Err);
                }
            }
        }
    }
}
