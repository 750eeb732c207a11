//! The workers take chunks, decode them independently, and number their records one chunk after the other.
//!
//! Only [`Count::number`] runs in order: it counts, and checks properties of a file as a whole. No worker waits with a
//! decoded chunk: the one that completes the sequence numbers all chunks that are due, and any worker judges them
//! before it takes a new chunk. Threads therefore only affect how chunks overlap in time.

use super::chunk_feed::{Current, Feed, Work};
use super::record_judge::{Judged, RecordJudge};
use super::record_numbering::{Count, Numbered, before_reject, merge, overlap};
use super::scheduler::{Counter, FeedAnswer, Numbering, Scheduler, Wait, Wake, WorkerTask};
use super::settings::{PATIENCE, Settings};
use super::summary::Outcome;
use super::{Job, SecondFile, TILE};
use crate::error::{Error, Place, Reject};
use crate::formats::codec::game_selection;
use crate::formats::{Chunk, Decoded, Format, Remark, Remarks};
use crate::games::{GameRow, GameVerdict, MoveForms};
use crate::input::FrameJob;
use crate::poisoned_locks::Unpoisoned;
use crate::queries::GroupResults;
use crate::table::{Batch, Needs, Tile};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};

/// Notes which records are chosen.
struct Numbers;

impl Job for Numbers {
    type Part = Vec<u64>;
    fn needs(&self) -> Needs {
        Needs::NONE
    }
    fn begin(&self) -> Vec<u64> {
        Vec::new()
    }
    fn tile(&self, part: &mut Vec<u64>, tile: &Tile<'_>) {
        for row in tile.rows() {
            part.push(tile.batch.index(row));
        }
    }
}

/// The state that the workers share. No thread takes one lock while holding the other, or performs long operations
/// under a lock: inputs that may block are opened by separate threads.
pub(super) struct Shared<'a> {
    feed: Mutex<Numbering<Feed<'a>>>,
    line: Mutex<Scheduler<Counting<'a>>>,
    /// Signals that the scheduler has changed.
    moved: Condvar,
    /// The feed is no longer used: workers that wait for its lock leave at once.
    over: AtomicBool,
    /// No more chunks are taken, so nobody should wait for chunks that will not come.
    stopped: AtomicBool,
}

/// Numbers the chunks of a run.
struct Counting<'a> {
    count: Count,
    settings: &'a Settings<'a>,
}

impl Counter for Counting<'_> {
    type Work = Work;
    type Decoded = Option<Decoded>;
    type Numbered = Box<Numbered>;
    fn number(&mut self, place: u64, work: Work, decoded: Option<Decoded>) -> Box<Numbered> {
        Box::new(self.count.number(place, work, decoded, self.settings))
    }
    fn is_over(&self) -> bool {
        self.count.over
    }
}

/// The task of a worker.
type Task = WorkerTask<Work, Option<Decoded>, (usize, FrameJob), Box<Numbered>>;

impl<'a> Shared<'a> {
    /// The state at the beginning of a run, with room for this number of chunks.
    pub(super) fn new(feed: Feed<'a>, settings: &'a Settings<'a>, room: u64) -> Self {
        let count = Count::new(settings.before);
        Self {
            feed: Mutex::new(Numbering::new(feed)),
            line: Mutex::new(Scheduler::new(Counting { count, settings }, room)),
            moved: Condvar::new(),
            over: AtomicBool::new(false),
            stopped: AtomicBool::new(false),
        }
    }
    fn line(&self) -> MutexGuard<'_, Scheduler<Counting<'a>>> {
        self.line.lock().unpoisoned()
    }
    fn feed(&self) -> MutexGuard<'_, Numbering<Feed<'a>>> {
        self.feed.lock().unpoisoned()
    }
    fn wake(&self, wake: Wake) {
        match wake {
            Wake::Nobody => {}
            Wake::One => self.moved.notify_one(),
            Wake::All => self.moved.notify_all(),
        }
    }
    /// Gets the next task of a worker from the scheduler, and sleeps until there is one.
    fn advance(&self, mut task: Task) -> Task {
        let mut line = self.line();
        loop {
            let (next, wake) = line.advance(task);
            if line.is_over() {
                self.over.store(true, Ordering::Relaxed);
            }
            self.wake(wake);
            line = match next {
                WorkerTask::Waiting(Wait::Endless) => self.moved.wait(line).unpoisoned(),
                WorkerTask::Waiting(Wait::Short) => {
                    let woken = self.moved.wait_timeout(line, PATIENCE);
                    woken.unpoisoned().0
                }
                next => return next,
            };
            task = WorkerTask::Asking;
        }
    }
    /// Makes room for one more chunk, after the next one was taken.
    pub(super) fn leave(&self) {
        let wake = self.line().leave();
        self.wake(wake);
    }
}

/// Ends all waiting when the run is over, including when a thread panicked.
pub(super) struct StopOnDrop<'a, 'b>(pub(super) &'a Shared<'b>);

impl Drop for StopOnDrop<'_, '_> {
    fn drop(&mut self) {
        self.0.over.store(true, Ordering::Relaxed);
        self.0.stopped.store(true, Ordering::Relaxed);
        let wake = self.0.line().stop();
        self.0.wake(wake);
    }
}

struct StopOnPanic<'a, 'b>(&'a Shared<'b>);

impl Drop for StopOnPanic<'_, '_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            drop(StopOnDrop(self.0));
        }
    }
}

/// The loop of a worker.
pub(super) fn work<J: Job>(
    shared: &Shared<'_>,
    settings: &Settings<'_>,
    job: &J,
    sender: &Sender<(u64, Outcome, Option<J::Part>)>,
) {
    let _guard = StopOnPanic(shared);
    let mut scratch = vec![GroupResults::default(); TILE];
    let mut task: Task = WorkerTask::Asking;
    loop {
        task = match task {
            WorkerTask::Gone => return,
            WorkerTask::Taking(seen) => {
                let mut feed = shared.feed();
                if shared.over.load(Ordering::Relaxed) {
                    WorkerTask::FeedAnswer(seen, FeedAnswer::Nothing)
                } else {
                    feed.take(seen)
                }
            }
            WorkerTask::Decompressing((file, frame)) => {
                let done = frame.run();
                if let Some(Current::Bytes(current)) = &mut shared.feed().feed.current
                    && current.file == file
                {
                    current.opened.input.complete(done);
                }
                WorkerTask::Decompressed
            }
            WorkerTask::Decoding(place, work) => {
                let (work, decoded) = decode(work, settings);
                WorkerTask::Decoded(place, work, decoded)
            }
            WorkerTask::Judging(numbered) => {
                let place = numbered.place;
                let (outcome, output) = judge(settings, job, *numbered, &shared.stopped, &mut scratch);
                if sender.send((place, outcome, output)).is_err() {
                    return;
                }
                WorkerTask::Asking
            }
            task => shared.advance(task),
        };
    }
}

/// The error for a file that no longer contains the bytes of a chunk.
fn cut_short(work: &Work) -> Option<Error> {
    match work {
        Work::Chunk { chunk, .. } => cut_off(chunk),
        _ => None,
    }
}

fn cut_off(chunk: &Chunk) -> Option<Error> {
    let source = chunk.check().err()?;
    Some(Error::Read { path: Arc::clone(&chunk.file), offset: chunk.offset, source })
}

/// Decodes a chunk.
fn decode(mut work: Work, settings: &Settings<'_>) -> (Work, Option<Decoded>) {
    if let Some(error) = cut_short(&work) {
        work = Work::Failure(error);
    }
    let decoded = match &work {
        Work::Chunk { format, chunk, giant, .. } => Some(match giant {
            None => settings.decode_chunk(*format, chunk, None),
            // The shard in which it begins reports it.
            Some(_) if chunk.of_other_shard => Decoded::default(),
            Some(feeds) => format.decode_giant(chunk, *feeds, &settings.decode),
        }),
        _ => None,
    };
    match cut_short(&work) {
        // Bytes read beyond the new end do not belong to the file.
        Some(error) => (Work::Failure(error), None),
        None => (work, decoded),
    }
}

/// Decides which records of a chunk count, and runs the job on them.
fn judge<J: Job>(
    settings: &Settings<'_>,
    job: &J,
    numbered: Numbered,
    stopped: &AtomicBool,
    scratch: &mut [GroupResults],
) -> (Outcome, Option<J::Part>) {
    let Numbered { work, mut ahead, mut decoded, before, mut range, mut outcome, .. } = numbered;
    let chunk_number = numbered.chunk;
    if let Some(decoded) = &decoded {
        settings.records_read.fetch_max(before.records + decoded.records, Ordering::Relaxed);
    }
    let mut output = None;
    let mut first_taken = 0;
    let mut record_before = numbered.record_before;
    if decoded.is_some() || !ahead.is_empty() {
        let shared = |decoded: &mut Decoded| -> Vec<Arc<Batch>> {
            std::mem::take(&mut decoded.batches).into_iter().map(Arc::new).collect()
        };
        let held = ahead.iter_mut().map(|held| &mut held.decoded);
        let mut batches: VecDeque<Vec<Arc<Batch>>> = held.chain(&mut decoded).map(shared).collect();
        if let Some(chosen) = &settings.chosen {
            let own = match (&work, &decoded) {
                (Work::Chunk { format, chunk, .. }, Some(decoded)) => Some((*format, chunk, decoded)),
                _ => None,
            };
            let mut numbers = Vec::new();
            let held = ahead.iter().map(|held| (held.format, &held.chunk, &held.decoded));
            for ((format, chunk, decoded), batches) in held.chain(own).zip(&batches) {
                let judge = RecordJudge {
                    texts: decoded.texts.as_deref(),
                    set: None,
                    only: None,
                    beside: None,
                    ..RecordJudge::new(settings, &Numbers, (format, chunk), range.clone(), &mut numbers, scratch)
                };
                judge.batches(batches);
            }
            let requested = chosen.requested(chunk_number, &numbers, stopped);
            (range, outcome.is_last) = (range.start..range.end.min(requested.end), requested.is_last);
            first_taken = requested.first_taken;
            record_before = record_before.filter(|_| requested.takes_earlier);
            outcome.records = overlap(before.records..before.records + outcome.records, &range);
            for decoded in ahead.iter_mut().map(|held| &mut held.decoded).chain(&mut decoded) {
                decoded.rejects.retain(|reject| range.contains(&reject.place.record));
            }
        }
        let mut part = job.begin();
        let mut last = None;
        let forms = job.move_forms();
        let texts_of_rows = decoded.as_ref().filter(|_| forms.movetext).and_then(|decoded| decoded.game_texts.clone());
        let mut judge = |format: Format, chunk: &Chunk, decoded: &mut Decoded, lines: u64| {
            let lines = settings.knows_lines.then_some(lines);
            match decoded.game_texts.take() {
                Some(bytes) => job.source(&mut part, &Chunk { bytes, ..chunk.clone() }, lines),
                None => job.source(&mut part, chunk, lines),
            }
            let batches = batches.pop_front().unwrap_or_default();
            let found = std::mem::take(&mut decoded.found_in_games);
            let mut games = match settings.makes_game_rows(format) {
                true => game_selection::rows_of_games(&batches, found),
                false => Vec::new(),
            };
            let texts = decoded.texts.take();
            let judge = RecordJudge {
                texts: texts.as_deref(),
                lines_before: lines,
                rejects: std::mem::take(&mut decoded.rejects),
                first_taken,
                taken: decoded.lost_of_each.is_some().then(Vec::new),
                before: last.take(),
                ..RecordJudge::new(settings, job, (format, chunk), range.clone(), &mut part, scratch)
            };
            let judge = match record_before.take() {
                Some(record) => judge.after(record),
                None => judge,
            };
            let Judged { mut rejects, left_out, remarks, taken: taken_records, last: own_last, not_beside } =
                judge.batches(&batches);
            let is_wrong = not_beside.is_some();
            outcome.failure = outcome.failure.take().or(not_beside);
            last = own_last;
            merge(&mut outcome.left_out, left_out);
            if let Some(mut lost) = decoded.lost_of_each.take() {
                lost.number(before.records);
                lost.mark(&taken_records);
                match &settings.lost_of_candidates {
                    Some(candidates) => candidates.add(*lost),
                    None => outcome.lost_tags.merge(&lost.of_marked()),
                }
            }
            let mut taken = range.start.max(first_taken)..range.end;
            taken.end = taken.end.min(before.records + decoded.records);
            if settings.strict
                && let Some(first) = rejects.first()
            {
                let end = first.place.record + 1;
                outcome.records = overlap(before.records..end, &settings.records);
                taken.end = taken.end.min(end);
                if let Some(read) = before_reject(format, chunk, first, before, settings) {
                    outcome.games = read.games;
                    outcome.remarks = read.remarks;
                    outcome.left_out = read.left_out;
                }
                if settings.selection(format).is_none() {
                    outcome.dropped_values.retain(|dropped_value| dropped_value.place.record < end);
                }
                rejects.truncate(1);
            }
            outcome.remarks.merge(&remarks);
            for reject in &rejects {
                // If the last position of a game is not a position, the rest of the game is still known.
                if let Ok(at) = games.binary_search_by_key(&reject.place.record, |&(record, _)| record) {
                    let (_, row) = &mut games[at];
                    (row.last, row.error) = (None, Some(reject.message.to_string()));
                }
            }
            if !forms.is_none() {
                let mut writing = WritingMoves { job, forms, rejects: &mut rejects, remarks: &mut outcome.remarks };
                games.retain_mut(|(_, row)| writing.takes(row, None, chunk));
                rejects.sort_by_key(|reject| reject.place.record);
            }
            if !games.is_empty() {
                let rows: Vec<GameRow> = games.into_iter().map(|(_, row)| row).collect();
                job.games(&mut part, &rows);
            }
            let played = decoded
                .game_records
                .iter()
                .map(|game| before.records + game.start..before.records + game.end)
                .filter(|game| overlap(game.clone(), &taken) > 0);
            outcome.games_taken += played.count() as u64;
            outcome.rejects.append(&mut rejects);
            is_wrong || settings.strict && !outcome.rejects.is_empty()
        };
        let mut stopped = false;
        let mut cut = None;
        for mut held in ahead {
            stopped = stopped || judge(held.format, &held.chunk, &mut held.decoded, held.lines);
            cut = cut.or_else(|| cut_off(&held.chunk));
            held.chunk.bytes.release();
        }
        if let (Work::Chunk { format, chunk, .. }, Some(mut decoded)) = (&work, decoded) {
            if !stopped {
                judge(*format, chunk, &mut decoded, before.lines);
            }
            if !forms.is_none() {
                let text = texts_of_rows.as_deref().unwrap_or(&chunk.bytes);
                let (rejects, remarks) = (&mut outcome.rejects, &mut outcome.remarks);
                let mut writing = WritingMoves { job, forms, rejects, remarks };
                decoded.game_rows.retain_mut(|row| writing.takes(row, Some(text), chunk));
                outcome.rejects.sort_by_key(|reject| reject.place.record);
            }
            if !decoded.game_rows.is_empty() {
                job.games(&mut part, &decoded.game_rows);
            }
        }
        cut = cut.or_else(|| cut_short(&work));
        // The judged bytes may have been read from the map after the file became shorter; then its records and rejects
        // do not belong to the file.
        if let Some(error) = cut {
            outcome = Outcome { file: outcome.file, failure: Some(error), ..Outcome::default() };
            part = job.begin();
        }
        if outcome.failure.is_none()
            && let Some(error) = settings.beside.and_then(SecondFile::take_failure)
        {
            outcome.failure = Some(error);
        }
        job.end(&mut part, chunk_number);
        output = Some(part);
    }
    match work {
        Work::Chunk { chunk, .. } => chunk.bytes.release(),
        Work::Failure(error) => outcome.failure = Some(error),
        Work::Broken { error, .. } => outcome.broken = Some(error),
        _ => {}
    }
    (outcome, output)
}

/// Writes the moves of games, and counts what cannot be written.
struct WritingMoves<'a, J> {
    job: &'a J,
    forms: MoveForms,
    rejects: &'a mut Vec<Reject>,
    remarks: &'a mut Remarks,
}

/// What of games is written in another way.
static CUT_CLOCKS: Remark =
    Remark { what: "clock", how: "with a fraction of a second, which is cut", is_detail: false };
static CUT_NUMBERS: Remark = Remark {
    what: "clock or mate",
    how: "beyond the numbers that the form has, written as its last one",
    is_detail: false,
};

impl<J: Job> WritingMoves<'_, J> {
    /// Writes the moves of a game, from the text of its chunk if it has one; returns whether it is taken.
    fn takes(&mut self, row: &mut GameRow, text: Option<&[u8]>, chunk: &Chunk) -> bool {
        let is_whole = |row: &GameRow| row.main_line.as_ref().is_some_and(|line| line.is_whole && line.has_start);
        let verdict = if text.is_none() && row.error.is_none() && !is_whole(row) {
            let what = "not all of its positions are there, one after the other, so that its moves are not known";
            GameVerdict::Reject("incomplete_game", what)
        } else {
            let moves = text.map(|text| text.get(row.movetext..row.moves_end).unwrap_or_default());
            let cut = row.write_moves(self.forms, moves);
            self.remarks.add(&CUT_CLOCKS, cut.fractions);
            self.remarks.add(&CUT_NUMBERS, cut.beyond);
            self.job.judge_game(row)
        };
        if let GameVerdict::Reject(reason, what) = verdict {
            let file = Arc::clone(&chunk.file);
            self.rejects.push(Reject {
                place: Place { record: row.record, game: Some(row.game), ..Place::start_of(file) },
                reasons: vec![reason],
                message: what.into(),
                raw: Vec::new(),
            });
        }
        verdict == GameVerdict::Take
    }
}
