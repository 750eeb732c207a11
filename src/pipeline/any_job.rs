//! Jobs behind a pointer, so that the pipeline is compiled once and not for each job.
//!
//! A generic [`run`](super::run) makes all of the pipeline anew for each job, most of it in the crates that define
//! jobs: sixty copies were half of the program and of the time to build it. What is generic here is small: a [`Part`]
//! holds the part of a chunk with its job. The calls cost nothing that can be measured, because there is one for each
//! tile of five hundred records.
//!
//! A part need not be `'static`, so it cannot be an [`Any`](std::any::Any). Instead, it delivers itself into a
//! [`Mailbox`] that knows its type, on the thread that takes the parts.

use super::{Job, Refusal};
use crate::error::Error;
use crate::formats::Chunk;
use crate::games::{GameRow, GameVerdict, MoveForms};
use crate::poisoned_locks::Unpoisoned;
use crate::table::{Fields, Needs, Tile};
use std::sync::{Arc, Mutex};

/// Where the parts of a job are delivered, one at a time.
struct Mailbox<'a, J: Job> {
    job: &'a J,
    part: Mutex<Option<J::Part>>,
}

/// The part of a chunk, with the job that fills it.
struct Part<'a, J: Job> {
    mailbox: &'a Mailbox<'a, J>,
    part: J::Part,
}

/// What the pipeline does with the part of a chunk; see [`Job`].
pub(crate) trait PartOfChunk: Send {
    fn source(&mut self, chunk: &Chunk, lines: Option<u64>);
    fn tile(&mut self, tile: &Tile<'_>);
    fn games(&mut self, games: &[GameRow]);
    fn end(&mut self, chunk: u64);
    /// Puts the part into the mailbox.
    fn deliver(self: Box<Self>);
}

impl<J: Job> PartOfChunk for Part<'_, J> {
    fn source(&mut self, chunk: &Chunk, lines: Option<u64>) {
        self.mailbox.job.source(&mut self.part, chunk, lines);
    }
    fn tile(&mut self, tile: &Tile<'_>) {
        self.mailbox.job.tile(&mut self.part, tile);
    }
    fn games(&mut self, games: &[GameRow]) {
        self.mailbox.job.games(&mut self.part, games);
    }
    fn end(&mut self, chunk: u64) {
        self.mailbox.job.end(&mut self.part, chunk);
    }
    fn deliver(self: Box<Self>) {
        *self.mailbox.part.lock().unpoisoned() = Some(self.part);
    }
}

/// What the pipeline asks of a job; see [`Job`].
trait Questions<'a>: Sync {
    fn needs(&self) -> Needs;
    fn needs_of_annotated_games(&self) -> Fields;
    fn reads_games(&self) -> bool;
    fn copies_games(&self) -> bool;
    fn reads_game_rows(&self) -> bool;
    fn reads_main_lines(&self) -> bool;
    fn move_forms(&self) -> MoveForms;
    fn judge_game(&self, game: &GameRow) -> GameVerdict;
    fn game_tags(&self) -> Option<Vec<Arc<str>>>;
    fn reads_lost_tags(&self) -> bool;
    fn passes_blocks_on(&self) -> bool;
    fn refusal(&self) -> Option<Refusal>;
    fn begin(&'a self) -> Box<dyn PartOfChunk + 'a>;
}

impl<'a, J: Job> Questions<'a> for Mailbox<'a, J> {
    fn needs(&self) -> Needs {
        self.job.needs()
    }
    fn needs_of_annotated_games(&self) -> Fields {
        self.job.needs_of_annotated_games()
    }
    fn reads_games(&self) -> bool {
        self.job.reads_games()
    }
    fn copies_games(&self) -> bool {
        self.job.copies_games()
    }
    fn reads_game_rows(&self) -> bool {
        self.job.reads_game_rows()
    }
    fn reads_main_lines(&self) -> bool {
        self.job.reads_main_lines()
    }
    fn move_forms(&self) -> MoveForms {
        self.job.move_forms()
    }
    fn judge_game(&self, game: &GameRow) -> GameVerdict {
        self.job.judge_game(game)
    }
    fn game_tags(&self) -> Option<Vec<Arc<str>>> {
        self.job.game_tags()
    }
    fn reads_lost_tags(&self) -> bool {
        self.job.reads_lost_tags()
    }
    fn passes_blocks_on(&self) -> bool {
        self.job.passes_blocks_on()
    }
    fn refusal(&self) -> Option<Refusal> {
        self.job.refusal()
    }
    fn begin(&'a self) -> Box<dyn PartOfChunk + 'a> {
        Box::new(Part { mailbox: self, part: self.job.begin() })
    }
}

/// Any job.
#[derive(Clone, Copy)]
pub(crate) struct AnyJob<'a>(&'a dyn Questions<'a>);

/// Takes the parts of any job, in order.
pub(crate) type AnySink<'s, 'a> = dyn FnMut(Box<dyn PartOfChunk + 'a>) -> Result<(), Error> + 's;

/// Passes a job on as any job, with a sink that takes the parts of any job and passes them to the sink of this one.
pub(crate) fn erased<J: Job, R>(
    job: &J,
    mut sink: impl FnMut(J::Part) -> Result<(), Error>,
    run: impl for<'a> FnOnce(AnyJob<'a>, &mut AnySink<'_, 'a>) -> R,
) -> R {
    let mailbox = Mailbox { job, part: Mutex::new(None) };
    run(AnyJob(&mailbox), &mut |part| {
        part.deliver();
        let part = mailbox.part.lock().unpoisoned().take();
        part.map_or(Ok(()), &mut sink)
    })
}

impl<'a> Job for AnyJob<'a> {
    type Part = Box<dyn PartOfChunk + 'a>;
    fn needs(&self) -> Needs {
        self.0.needs()
    }
    fn needs_of_annotated_games(&self) -> Fields {
        self.0.needs_of_annotated_games()
    }
    fn reads_games(&self) -> bool {
        self.0.reads_games()
    }
    fn copies_games(&self) -> bool {
        self.0.copies_games()
    }
    fn reads_game_rows(&self) -> bool {
        self.0.reads_game_rows()
    }
    fn reads_main_lines(&self) -> bool {
        self.0.reads_main_lines()
    }
    fn move_forms(&self) -> MoveForms {
        self.0.move_forms()
    }
    fn judge_game(&self, game: &GameRow) -> GameVerdict {
        self.0.judge_game(game)
    }
    fn game_tags(&self) -> Option<Vec<Arc<str>>> {
        self.0.game_tags()
    }
    fn reads_lost_tags(&self) -> bool {
        self.0.reads_lost_tags()
    }
    fn passes_blocks_on(&self) -> bool {
        self.0.passes_blocks_on()
    }
    fn refusal(&self) -> Option<Refusal> {
        self.0.refusal()
    }
    fn begin(&self) -> Self::Part {
        self.0.begin()
    }
    fn source(&self, part: &mut Self::Part, chunk: &Chunk, lines: Option<u64>) {
        part.source(chunk, lines);
    }
    fn tile(&self, part: &mut Self::Part, tile: &Tile<'_>) {
        part.tile(tile);
    }
    fn games(&self, part: &mut Self::Part, games: &[GameRow]) {
        part.games(games);
    }
    fn end(&self, part: &mut Self::Part, chunk: u64) {
        part.end(chunk);
    }
}
