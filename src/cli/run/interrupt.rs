//! Ctrl-C and SIGTERM: a run is asked to stop cleanly, and ended if it takes too long.
//!
//! A thread waits for signals. The first one sets the [`flag`], if a run watches it. A run that sees the flag stops
//! between two chunks, removes its temporary files and ends. But a chunk can take long, and a write can block on a
//! reader that does nothing. So after a short grace period, or at the second signal, the thread removes the temporary
//! files itself and ends the process.
//!
//! While a [`Prompt`] is open, Ctrl-C ends the statement that runs and not the process. Only the third Ctrl-C for the same
//! statement ends the process, in case that the statement does not end.
//!
//! SIGXFSZ does not end the process: the write that raised it fails.

#[cfg(unix)]
use crate::cli::terminal::progress::{CLEAR, take_drawn};
#[cfg(unix)]
use std::sync::Arc;
#[cfg(unix)]
use std::sync::atomic::AtomicU64;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

static ASKED: AtomicBool = AtomicBool::new(false);
static WATCHED: AtomicBool = AtomicBool::new(false);
static SAID: AtomicBool = AtomicBool::new(false);
/// Whether a prompt is open.
static PROMPT: AtomicBool = AtomicBool::new(false);
/// How often Ctrl-C was pressed since the statement of a prompt began.
static PRESSED: AtomicU8 = AtomicU8::new(0);
/// The number of times after which Ctrl-C ends the process even if a prompt is open.
const MOST_PRESSED: u8 = 3;
/// Exit status of an interrupted process, as shells expect it after Ctrl-C.
static STATUS: AtomicU8 = AtomicU8::new(130);

/// The grace period in which the process may stop by itself, in milliseconds.
#[cfg(unix)]
static GRACE: AtomicU64 = AtomicU64::new(250);

/// Gives the process more time: the processes of a cluster have more to end than a run.
#[cfg(feature = "cluster")]
pub(crate) fn wait_longer() {
    #[cfg(unix)]
    GRACE.store(30_000, Ordering::SeqCst);
}

/// The flag, for runs that check it from time to time.
pub(crate) fn flag() -> &'static AtomicBool {
    WATCHED.store(true, Ordering::SeqCst);
    &ASKED
}

/// An open prompt.
#[cfg(feature = "sql")]
#[derive(Debug)]
pub(crate) struct Prompt(());

#[cfg(feature = "sql")]
impl Prompt {
    /// Opens a prompt: from now on, Ctrl-C ends statements.
    pub(crate) fn open() -> Self {
        #[cfg(unix)]
        terminal_mode::keep();
        PROMPT.store(true, Ordering::SeqCst);
        Self(())
    }

    /// Begins a statement: earlier signals do not end it.
    pub(crate) fn begin_statement(&self) {
        PRESSED.store(0, Ordering::SeqCst);
        ASKED.store(false, Ordering::SeqCst);
    }
}

#[cfg(feature = "sql")]
impl Drop for Prompt {
    fn drop(&mut self) {
        self.begin_statement();
        PROMPT.store(false, Ordering::SeqCst);
    }
}

/// Whether a Ctrl-C is only for the statement of a prompt; it is counted.
fn is_for_statement() -> bool {
    PROMPT.load(Ordering::SeqCst) && PRESSED.fetch_add(1, Ordering::SeqCst) + 1 < MOST_PRESSED
}

/// The mode of the terminal, which the prompt changes while a line is edited.
#[cfg(all(unix, feature = "sql"))]
mod terminal_mode {
    use rustix::stdio::stdin;
    use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};
    use std::sync::{Mutex, PoisonError};

    static BEFORE: Mutex<Option<Termios>> = Mutex::new(None);

    /// Remembers the mode.
    pub(super) fn keep() {
        *BEFORE.lock().unwrap_or_else(PoisonError::into_inner) = tcgetattr(stdin()).ok();
    }

    /// Restores the mode, if a prompt has been opened.
    pub(super) fn restore() {
        if let Some(mode) = &*BEFORE.lock().unwrap_or_else(PoisonError::into_inner) {
            let _ = tcsetattr(stdin(), OptionalActions::Now, mode);
        }
    }
}

/// Reports that the run was interrupted and returns its exit status.
pub(crate) fn conclude() -> u8 {
    say("interrupted");
    STATUS.load(Ordering::SeqCst)
}

/// Reports the interruption once, and only if that does not block.
fn say(what: &str) {
    if SAID.swap(true, Ordering::SeqCst) {
        return;
    }
    #[cfg(unix)]
    {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        let stderr = rustix::stdio::stderr();
        let mut ready = [PollFd::new(&stderr, PollFlags::OUT)];
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        if poll(&mut ready, Some(&now)).is_ok_and(|ready| ready > 0) {
            // A progress line is cleared first.
            let clear = if take_drawn() { CLEAR } else { "" };
            let _ = rustix::io::write(stderr, format!("{clear}lanefish: {what}\n").as_bytes());
        }
    }
    #[cfg(not(unix))]
    eprintln!("lanefish: {what}");
}

/// Removes the temporary files and ends the process.
fn end() -> ! {
    lanefish::output::abandon_outputs();
    #[cfg(all(unix, feature = "sql"))]
    terminal_mode::restore();
    std::process::exit(conclude().into());
}

/// Starts to listen for signals.
///
/// # Errors
/// If the thread cannot be started.
#[cfg(unix)]
pub(crate) fn install() -> Result<(), lanefish::Error> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
    use signal_hook::iterator::Signals;
    use std::time::{Duration, Instant};

    /// Interval between checks for a second signal.
    const STEP: Duration = Duration::from_millis(10);

    let mut signals = vec![SIGINT, SIGTERM];
    // `nohup` is respected.
    if !is_ignored(SIGHUP) {
        signals.push(SIGHUP);
    }
    let failed = |reason: std::io::Error| lanefish::Error::Threads { threads: 1, reason: reason.to_string() };
    let mut signals = Signals::new(signals).map_err(failed)?;
    // Any handler will do: a write beyond the maximum file size then fails like other writes.
    signal_hook::flag::register(SIGXFSZ, Arc::default()).map_err(failed)?;
    let listen = move || {
        let signal = loop {
            let Some(signal) = signals.forever().next() else {
                return;
            };
            if signal != SIGINT || !is_for_statement() {
                break signal;
            }
            ASKED.store(true, Ordering::SeqCst);
        };
        STATUS.store(128 + signal as u8, Ordering::SeqCst);
        ASKED.store(true, Ordering::SeqCst);
        let begin = Instant::now();
        let grace = Duration::from_millis(GRACE.load(Ordering::SeqCst));
        while WATCHED.load(Ordering::SeqCst) && begin.elapsed() < grace {
            if signals.pending().next().is_some() {
                break;
            }
            std::thread::sleep(STEP);
        }
        end();
    };
    std::thread::Builder::new().name("signals".to_owned()).spawn(listen).map_err(failed)?;
    Ok(())
}

/// Whether the parent made this process ignore a signal, if the system reports that.
#[cfg(unix)]
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status
        .lines()
        .find_map(|line| line.strip_prefix("SigIgn:"))
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    ignored.is_some_and(|mask| mask >> (signal - 1) & 1 != 0)
}

/// Starts to listen for signals.
///
/// # Errors
/// If no handler can be installed.
#[cfg(not(unix))]
pub(crate) fn install() -> Result<(), lanefish::Error> {
    let handler = || {
        if is_for_statement() {
            ASKED.store(true, Ordering::SeqCst);
            return;
        }
        if !WATCHED.load(Ordering::SeqCst) || ASKED.swap(true, Ordering::SeqCst) {
            end();
        }
    };
    ctrlc::set_handler(handler).map_err(|error| lanefish::Error::Threads { threads: 1, reason: error.to_string() })
}
