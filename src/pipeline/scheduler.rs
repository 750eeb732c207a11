//! The scheduler: the chunks in flight, and the next task of each worker.
//!
//! The scheduler is a state machine without locks, waits or threads. The holder of its lock calls [`Scheduler::advance`], wakes
//! the workers that it names, and performs the task that it returns. The types of chunks and frames are generic, so
//! that a model whose chunks are plain numbers can go through every order of events (the tests of this module).

use std::collections::{BTreeMap, VecDeque};

/// The component that numbers chunks one after the other.
pub(super) trait Counter {
    /// A piece of work from the feed.
    type Work;
    /// The decoded chunk.
    type Decoded;
    /// A chunk whose records have their numbers.
    type Numbered;
    /// Numbers the next chunk.
    fn number(&mut self, place: u64, work: Self::Work, decoded: Self::Decoded) -> Self::Numbered;
    /// Whether all chunks after those numbered so far are ignored.
    fn is_over(&self) -> bool;
}

/// The source of work: the feed.
pub(super) trait Supply {
    type Work;
    /// A part of an input that any worker can decompress.
    type Frame;
    /// The next piece of work. `idle`: the collector has taken all work given out so far. Blocks only briefly.
    fn next(&mut self, idle: bool) -> Step<Self::Work, Self::Frame>;
}

/// The next item of a feed.
pub(super) enum Step<W, F> {
    Work(W),
    Frame(F),
    /// The feed has nothing at the moment.
    Wait,
    End,
}

/// A feed, with the places of chunks in the sequence.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Numbering<S> {
    pub(super) feed: S,
    /// Number of chunks given out.
    given: u64,
}

impl<S: Supply> Numbering<S> {
    pub(super) fn new(feed: S) -> Self {
        Self { feed, given: 0 }
    }

    /// Asks the feed on behalf of a worker in state `Taking`.
    pub(super) fn take<D, N>(&mut self, seen: RunState) -> WorkerTask<S::Work, D, S::Frame, N> {
        // This holds for all chunks given out so far: otherwise `given` would be larger.
        let idle = seen.taken == self.given;
        WorkerTask::FeedAnswer(
            seen,
            match self.feed.next(idle) {
                Step::Work(work) => {
                    let place = self.given;
                    self.given += 1;
                    return WorkerTask::Decoding(place, work);
                }
                Step::Frame(frame) => FeedAnswer::Frame(frame),
                Step::Wait => FeedAnswer::Nothing,
                Step::End => FeedAnswer::End,
            },
        )
    }
}

/// The current or next task of a worker.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum WorkerTask<W, D, F, N> {
    /// It asks the scheduler for a task.
    Asking,
    /// It sleeps until the scheduler moves, and asks again then.
    Waiting(Wait),
    /// It asks the feed.
    Taking(RunState),
    /// It reports to the scheduler that the feed had no chunk.
    FeedAnswer(RunState, FeedAnswer<F>),
    Decompressing(F),
    /// It reports to the scheduler that a frame is complete.
    Decompressed,
    Decoding(u64, W),
    /// It brings a decoded chunk to its place among those in flight.
    Decoded(u64, W, D),
    Judging(N),
    /// There is nothing more to do.
    Gone,
}

/// The state of a worker, for the types of a counter and its frames.
type DoingOf<C, F> = WorkerTask<<C as Counter>::Work, <C as Counter>::Decoded, F, <C as Counter>::Numbered>;

/// How long a worker sleeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Wait {
    /// Until it is woken.
    Endless,
    /// Until it is woken, or for a short time: no signal announces the data of a slow pipe.
    Short,
}

/// The answer of the feed, if it was not a chunk.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum FeedAnswer<F> {
    Frame(F),
    Nothing,
    End,
}

/// The progress of the run when a worker was sent to the feed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct RunState {
    frames: u64,
    taken: u64,
}

/// The workers to wake.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Wake {
    Nobody,
    One,
    All,
}

/// The chunks in flight.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Scheduler<C: Counter> {
    /// Number of further chunks that may be in flight.
    room: u64,
    /// Number of workers that are taking or decoding a chunk.
    busy: usize,
    /// Decoded chunks, by place, that wait for those before them.
    decoded: BTreeMap<u64, (C::Work, C::Decoded)>,
    /// The place of the chunk that is numbered next.
    next: u64,
    counter: C,
    /// Numbered chunks that have not been judged yet.
    due: VecDeque<C::Numbered>,
    /// There is nothing more to take: the inputs have ended, or all later chunks are ignored.
    ended: bool,
    /// The run is over, even for chunks in flight.
    stopped: bool,
    /// Number of frames completed and of chunks taken by the collector.
    seen: RunState,
}

impl<C: Counter> Scheduler<C> {
    /// The scheduler at the beginning of a run, with room for this number of chunks.
    pub(super) fn new(counter: C, room: u64) -> Self {
        Self {
            room,
            busy: 0,
            decoded: BTreeMap::new(),
            next: 0,
            counter,
            due: VecDeque::new(),
            ended: false,
            stopped: false,
            seen: RunState { frames: 0, taken: 0 },
        }
    }

    /// Whether no more work is taken from the feed.
    pub(super) fn is_over(&self) -> bool {
        self.ended || self.stopped
    }

    /// The next task of a worker after its last one, and the workers to wake.
    pub(super) fn advance<F>(&mut self, doing: DoingOf<C, F>) -> (DoingOf<C, F>, Wake) {
        let wake = match doing {
            WorkerTask::FeedAnswer(seen, found) => {
                self.room += 1;
                self.busy -= 1;
                match found {
                    FeedAnswer::Frame(frame) => return (WorkerTask::Decompressing(frame), Wake::Nobody),
                    FeedAnswer::End => {
                        self.ended = true;
                        Wake::All
                    }
                    FeedAnswer::Nothing if seen == self.seen && self.due.is_empty() && !self.is_over() => {
                        return (WorkerTask::Waiting(Wait::Short), Wake::Nobody);
                    }
                    FeedAnswer::Nothing => Wake::Nobody,
                }
            }
            WorkerTask::Decompressed => {
                self.seen.frames += 1;
                Wake::All
            }
            WorkerTask::Decoded(place, work, decoded) => {
                self.busy -= 1;
                self.decoded.insert(place, (work, decoded));
                while !self.counter.is_over()
                    && let Some((work, decoded)) = self.decoded.remove(&self.next)
                {
                    let numbered = self.counter.number(self.next, work, decoded);
                    self.due.push_back(numbered);
                    self.next += 1;
                }
                self.ended |= self.counter.is_over();
                Wake::All
            }
            _ => Wake::Nobody,
        };
        let (doing, more) = self.ask();
        (doing, wake.max(more))
    }

    fn ask<F>(&mut self) -> (DoingOf<C, F>, Wake) {
        if self.stopped {
            return (WorkerTask::Gone, Wake::Nobody);
        }
        // The chunk that is nearest to completion comes first, because it is still in a cache and makes room.
        if let Some(numbered) = self.due.pop_front() {
            return (WorkerTask::Judging(numbered), Wake::Nobody);
        }
        if self.ended && self.busy == 0 {
            // Others may wait for a worker that found nothing to take.
            return (WorkerTask::Gone, Wake::All);
        }
        if self.ended || self.room == 0 {
            return (WorkerTask::Waiting(Wait::Endless), Wake::Nobody);
        }
        self.room -= 1;
        self.busy += 1;
        (WorkerTask::Taking(self.seen), Wake::Nobody)
    }

    /// The collector has taken the next chunk: there is room for one more.
    pub(super) fn leave(&mut self) -> Wake {
        self.room += 1;
        self.seen.taken += 1;
        Wake::One
    }

    /// Ends the run.
    pub(super) fn stop(&mut self) -> Wake {
        self.stopped = true;
        Wake::All
    }
}

/// A model of a run: workers, the collector and inputs, in every order in which they can act.
///
/// A step is what happens under one lock, or between two of them, and is taken by the code above; only the locks, the
/// sleep of the workers and the inputs are modelled. The states that can be reached are few, and all are visited. A run
/// hangs if there is a state from which no end can be reached.
#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::{BTreeSet, HashMap};

    /// An input of the model: a beginning, and this number of chunks.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    enum Input {
        File(u64),
        /// Each chunk has to be decompressed by someone.
        Frames(u64),
        /// The writer of the pipe opens it at some time, and writes whenever it likes.
        Pipe(u64),
        /// The same, but it never ends.
        EndlessPipe(u64),
        /// Nobody ever opens it to write.
        SilentPipe,
    }
    use Input::*;

    /// Faults of earlier versions, and others of their kind.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    enum Fault {
        None,
        /// Inputs are opened under the lock of the feed.
        OpensUnderLock,
        /// Pipes are opened when everything before them has been read, not when it has been taken.
        OpensEarly,
        /// Both.
        OpensEarlyUnderLock,
        /// A worker that found nothing to take after the end wakes nobody.
        GoesSilently,
        /// Nobody is woken when a chunk is decoded.
        DecodesSilently,
        /// Nobody is woken when a chunk makes room.
        LeavesSilently,
        /// Nobody is woken when the run ends.
        StopsSilently,
    }

    /// One run of the model.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    struct Script {
        inputs: &'static [Input],
        workers: usize,
        room: u64,
        /// The last chunk that counts, which is known when it is numbered: `--limit`.
        limit: Option<u64>,
        /// The chunk at which the collector stops: a reject under `--strict`, an output that is full.
        stop: Option<u64>,
        /// Whether Ctrl-C may be pressed, at any time.
        interrupts: bool,
        fault: Fault,
    }

    impl Script {
        /// The number of the first chunk that is not needed.
        fn needed(&self) -> u64 {
            let last = self.limit.into_iter().chain(self.stop).min();
            last.map_or(u64::MAX, |last| last + 1)
        }
        /// The chunks before the first input that does not end, and whether there is one.
        fn available(&self) -> (u64, bool) {
            let mut chunks = 0;
            for input in self.inputs {
                match input {
                    File(more) | Frames(more) | Pipe(more) => chunks += 1 + more,
                    EndlessPipe(more) => return (chunks + 1 + more, false),
                    SilentPipe => return (chunks, false),
                }
            }
            (chunks, true)
        }
        /// Whether the run ends without an interrupt.
        fn ends(&self) -> bool {
            let (chunks, is_all) = self.available();
            is_all || self.needed() <= chunks
        }
    }

    /// The inputs as a feed.
    #[derive(Clone, Debug, PartialEq, Eq, Hash)]
    struct Inputs {
        script: Script,
        input: usize,
        /// Whether a thread opens the present input, and whether it is open; then its beginning has been given out.
        opening: bool,
        open: bool,
        /// Chunks of the present input that have arrived, and those given out; of frames, also those that are being
        /// decompressed.
        arrived: u64,
        given: u64,
        pending: u64,
        /// Work given out of all inputs.
        total: u64,
        /// The worker that asked is blocked, and holds the lock.
        blocked: bool,
        /// A pipe was opened that is not needed.
        is_hasty: bool,
    }

    impl Inputs {
        fn now(&self) -> Option<Input> {
            self.script.inputs.get(self.input).copied()
        }
        fn give(&mut self) -> Step<(), ()> {
            self.total += 1;
            Step::Work(())
        }
        /// What the writer of the present input may do.
        fn write(&self) -> Option<Self> {
            let mut next = self.clone();
            match self.now()? {
                Pipe(_) | EndlessPipe(_) if self.opening => {
                    (next.opening, next.blocked) = (false, false);
                    next.open = true;
                }
                Pipe(most) | EndlessPipe(most) if self.open && self.arrived < most => {
                    next.arrived += 1;
                }
                _ => return None,
            }
            Some(next)
        }
    }

    impl Supply for Inputs {
        type Work = ();
        type Frame = ();
        fn next(&mut self, idle: bool) -> Step<(), ()> {
            let Some(input) = self.now() else {
                return Step::End;
            };
            let fault = self.script.fault;
            // The first chunk of every input is its beginning.
            let is_new = self.given == 0;
            if is_new && !self.open {
                match input {
                    File(_) | Frames(_) => self.open = true,
                    _ if self.opening => return Step::Wait,
                    _ if idle || matches!(fault, Fault::OpensEarly | Fault::OpensEarlyUnderLock) => {
                        self.opening = true;
                        self.is_hasty |= self.total >= self.script.needed();
                        self.blocked = matches!(fault, Fault::OpensUnderLock | Fault::OpensEarlyUnderLock);
                        return Step::Wait;
                    }
                    _ => return Step::Wait,
                }
            }
            if is_new {
                self.given = 1;
                return self.give();
            }
            let chunks = match input {
                File(chunks) | Frames(chunks) | Pipe(chunks) | EndlessPipe(chunks) => chunks,
                SilentPipe => 0,
            };
            let is_there = matches!(input, File(_)) || self.given <= self.arrived;
            if self.given <= chunks && is_there {
                self.given += 1;
                return self.give();
            }
            if matches!(input, Frames(_)) && self.arrived + self.pending < chunks {
                self.pending += 1;
                return Step::Frame(());
            }
            if self.given <= chunks || matches!(input, EndlessPipe(_)) {
                return Step::Wait;
            }
            self.input += 1;
            (self.open, self.arrived, self.given) = (false, 0, 0);
            self.next(idle)
        }
    }

    /// Counts chunks.
    #[derive(Clone, Debug, PartialEq, Eq, Hash)]
    struct Chunks {
        limit: Option<u64>,
        numbered: u64,
    }

    impl Counter for Chunks {
        type Work = ();
        type Decoded = ();
        type Numbered = u64;
        fn number(&mut self, place: u64, (): (), (): ()) -> u64 {
            assert_eq!(place, self.numbered);
            self.numbered += 1;
            place
        }
        fn is_over(&self) -> bool {
            self.limit.is_some_and(|limit| self.numbered > limit)
        }
    }

    /// A state of a run.
    #[derive(Clone, Debug, PartialEq, Eq, Hash)]
    struct State {
        feed: Numbering<Inputs>,
        line: Scheduler<Chunks>,
        /// In no order: all workers are alike.
        workers: Vec<WorkerTask<(), (), (), u64>>,
        /// Judged chunks that the collector has not taken, and the number of those it has.
        sent: BTreeSet<u64>,
        taken: u64,
        is_stopped: bool,
    }

    impl State {
        fn first(script: Script) -> Self {
            let inputs = Inputs {
                script,
                input: 0,
                opening: false,
                open: false,
                arrived: 0,
                given: 0,
                pending: 0,
                total: 0,
                blocked: false,
                is_hasty: false,
            };
            let chunks = Chunks { limit: script.limit, numbered: 0 };
            Self {
                feed: Numbering::new(inputs),
                line: Scheduler::new(chunks, script.room),
                workers: vec![WorkerTask::Asking; script.workers],
                sent: BTreeSet::new(),
                taken: 0,
                is_stopped: false,
            }
        }

        fn is_end(&self) -> bool {
            let is_all = self.workers.iter().all(|worker| *worker == WorkerTask::Gone);
            is_all && (self.is_stopped || !self.sent.contains(&self.taken))
        }

        /// The states after waking workers.
        fn woken(self, wake: Wake) -> Vec<Self> {
            let sleepers: BTreeSet<_> =
                (0..self.workers.len()).filter(|&at| matches!(self.workers[at], WorkerTask::Waiting(_))).collect();
            match wake {
                Wake::One if !sleepers.is_empty() => sleepers
                    .into_iter()
                    .map(|at| {
                        let mut next = self.clone();
                        next.workers[at] = WorkerTask::Asking;
                        next
                    })
                    .collect(),
                Wake::All => {
                    let mut next = self;
                    for at in sleepers {
                        next.workers[at] = WorkerTask::Asking;
                    }
                    vec![next]
                }
                _ => vec![self],
            }
        }

        /// The states after a step of a worker, and what it is.
        fn after(&self, at: usize, script: &Script) -> (&'static str, Vec<Self>) {
            let mut next = self.clone();
            let inputs = &mut next.feed.feed;
            let (name, doing) = match self.workers[at].clone() {
                WorkerTask::Gone | WorkerTask::Waiting(Wait::Endless) => return ("", Vec::new()),
                WorkerTask::Waiting(Wait::Short) => ("has waited", WorkerTask::Asking),
                // Both need the lock of the feed.
                WorkerTask::Taking(_) | WorkerTask::Decompressing(()) if inputs.blocked => {
                    return ("", Vec::new());
                }
                WorkerTask::Taking(seen) => match next.feed.take(seen) {
                    // In the midst of asking.
                    _ if next.feed.feed.blocked => ("blocks", WorkerTask::Taking(seen)),
                    doing => ("asked the feed", doing),
                },
                WorkerTask::Decompressing(()) => {
                    inputs.pending -= 1;
                    inputs.arrived += 1;
                    ("decompressed", WorkerTask::Decompressed)
                }
                WorkerTask::Decoding(place, ()) => ("decoded", WorkerTask::Decoded(place, (), ())),
                WorkerTask::Judging(place) => {
                    assert!(next.sent.insert(place));
                    ("judged", WorkerTask::Asking)
                }
                told => {
                    let decodes = matches!(told, WorkerTask::Decoded(..));
                    let (doing, mut wake) = next.line.advance(told);
                    match script.fault {
                        Fault::GoesSilently if doing == WorkerTask::Gone => wake = Wake::Nobody,
                        Fault::DecodesSilently if decodes => wake = Wake::Nobody,
                        _ => {}
                    }
                    // It falls asleep under the same lock, after the others are woken.
                    let mut states = next.woken(wake);
                    states.iter_mut().for_each(|state| state.workers[at] = doing.clone());
                    return ("told the line", states);
                }
            };
            next.workers[at] = doing;
            (name, vec![next])
        }

        /// All states that may come next.
        fn steps(&self, script: &Script) -> Vec<(&'static str, Self)> {
            let mut steps = Vec::new();
            for at in 0..self.workers.len() {
                if at == 0 || self.workers[at] != self.workers[at - 1] {
                    let (name, states) = self.after(at, script);
                    steps.extend(states.into_iter().map(|state| (name, state)));
                }
            }
            let mut stop = |name| {
                let mut next = self.clone();
                next.is_stopped = true;
                let wake = match (next.line.stop(), script.fault) {
                    (_, Fault::StopsSilently) => Wake::Nobody,
                    (wake, _) => wake,
                };
                steps.extend(next.woken(wake).into_iter().map(|state| (name, state)));
            };
            if !self.is_stopped && self.sent.contains(&self.taken) {
                if script.stop == Some(self.taken) {
                    stop("the collector stops");
                } else {
                    let mut next = self.clone();
                    next.sent.remove(&self.taken);
                    next.taken += 1;
                    let wake = match (next.line.leave(), script.fault) {
                        (_, Fault::LeavesSilently) => Wake::Nobody,
                        (wake, _) => wake,
                    };
                    let states = next.woken(wake).into_iter();
                    steps.extend(states.map(|state| ("the collector takes a chunk", state)));
                }
            } else if script.interrupts && !self.is_stopped && !self.is_end() {
                stop("Ctrl-C");
            }
            if let Some(inputs) = self.feed.feed.write() {
                let mut next = self.clone();
                next.feed.feed = inputs;
                steps.push(("the writer of a pipe acts", next));
            }
            for (_, state) in &mut steps {
                state.workers.sort();
            }
            steps
        }

        /// What must hold in every state.
        fn check(&self, script: &Script) -> Result<(), &'static str> {
            let needed = script.needed().min(script.available().0);
            if self.feed.feed.is_hasty && script.fault != Fault::OpensEarlyUnderLock {
                Err("opened a pipe that is not needed")
            } else if self.feed.given - self.taken > script.room {
                Err("more chunks under way than there is room")
            } else if self.is_end() && !self.is_stopped && self.taken != needed {
                Err("lost chunks")
            } else {
                Ok(())
            }
        }
    }

    /// Visits all states of a run: their number, or what is wrong and how it came to that.
    fn explore(script: Script) -> Result<usize, String> {
        let first = State::first(script);
        let mut numbers = HashMap::from([(first.clone(), 0)]);
        let mut states = vec![first];
        // How each state was reached first, and from where each can be reached.
        let mut origins = vec![(0, "begins")];
        let mut sources: Vec<Vec<usize>> = vec![Vec::new()];
        let story = |mut at: usize, origins: &[(usize, &str)], what: &str| {
            let mut steps = vec![what];
            while at != 0 {
                steps.push(origins[at].1);
                at = origins[at].0;
            }
            steps.reverse();
            format!("{script:?}: {}", steps.join(", "))
        };
        let mut at = 0;
        while at < states.len() {
            if let Err(what) = states[at].check(&script) {
                return Err(story(at, &origins, what));
            }
            for (name, state) in states[at].clone().steps(&script) {
                let number = *numbers.entry(state).or_insert_with_key(|state| {
                    states.push(state.clone());
                    origins.push((at, name));
                    sources.push(Vec::new());
                    states.len() - 1
                });
                sources[number].push(at);
            }
            at += 1;
        }
        let mut can_end = vec![false; states.len()];
        let mut found: Vec<usize> = (0..states.len()).filter(|&at| states[at].is_end()).collect();
        while let Some(at) = found.pop() {
            if !std::mem::replace(&mut can_end[at], true) {
                found.extend(&sources[at]);
            }
        }
        let must_end = |state: &State| script.ends() || state.is_stopped;
        match (0..states.len()).find(|&at| !can_end[at] && must_end(&states[at])) {
            Some(at) => Err(story(at, &origins, "never ends")),
            None => Ok(states.len()),
        }
    }

    const LISTS: [&[Input]; 13] = [
        &[],
        &[File(2)],
        &[File(0), File(1)],
        &[Frames(3)],
        &[Frames(1), File(1)],
        &[Pipe(2)],
        &[File(1), Pipe(1)],
        &[Pipe(1), Frames(2)],
        &[Pipe(0), Pipe(1)],
        &[SilentPipe],
        &[File(2), SilentPipe],
        &[Frames(2), SilentPipe, File(1)],
        &[File(1), EndlessPipe(2)],
    ];

    /// All scripts of this size.
    fn scripts(fault: Fault, workers: usize, room: u64) -> impl Iterator<Item = Script> {
        let mut scripts = Vec::new();
        for inputs in LISTS {
            for last in [None, Some(0), Some(1), Some(2), Some(3)] {
                for (limit, stop) in [(last, None), (None, last), (last, Some(1))] {
                    for interrupts in [false, true] {
                        scripts.push(Script { inputs, workers, room, limit, stop, interrupts, fault });
                    }
                }
            }
        }
        scripts.into_iter()
    }

    #[test]
    fn every_run_ends_and_takes_what_it_needs() {
        let mut states = 0;
        for (workers, room) in [(1, 1), (1, 3), (2, 1), (2, 2), (3, 2)] {
            for script in scripts(Fault::None, workers, room) {
                // With more workers there are many states, and little that is new.
                if workers < 3 || script.limit.is_none() && !script.interrupts {
                    states += explore(script).unwrap();
                }
            }
        }
        assert!(states > 100_000, "{states}");
    }

    /// The model finds what went wrong once, and would go wrong if a part of the protocol were left out.
    #[test]
    fn faults_are_found() {
        for (fault, what) in [
            (Fault::OpensUnderLock, "never ends"),
            (Fault::OpensEarlyUnderLock, "never ends"),
            (Fault::OpensEarly, "opened a pipe that is not needed"),
            (Fault::GoesSilently, "never ends"),
            (Fault::DecodesSilently, "never ends"),
            (Fault::LeavesSilently, "never ends"),
            (Fault::StopsSilently, "never ends"),
        ] {
            let error = scripts(fault, 2, 2).find_map(|script| explore(script).err()).unwrap_or_default();
            assert!(error.ends_with(what), "{fault:?}: {error}");
        }
        // Also without an interrupt: what was read suffices, and a silent pipe follows.
        let script = Script {
            inputs: &[File(2), SilentPipe],
            workers: 2,
            room: 2,
            limit: Some(2),
            stop: None,
            interrupts: false,
            fault: Fault::OpensEarlyUnderLock,
        };
        let error = explore(script).unwrap_err();
        assert!(error.ends_with("never ends"), "{error}");
    }
}
