//! The temporary files of this process, registered by name so that they can be removed however the process ends.
//!
//! A run that fails or panics removes its own files. If a signal ends the process, they are removed by the thread that
//! handles Ctrl-C ([`abandon_outputs`]), or by the handler of a fatal signal, which may neither wait for a lock nor
//! allocate and finds the names in fixed memory ([`for_each_temporary_file`]).

use crate::input::TEMPORARY_FILES;
use crate::poisoned_locks::Unpoisoned;
use std::ffi::CStr;
use std::fs;
use std::mem;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering, fence};
use std::sync::{Mutex, MutexGuard, TryLockError};

/// All temporary files. This lock is held while one is created or gets its final name.
static FILES: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

pub(super) type Files = MutexGuard<'static, Vec<PathBuf>>;

pub(super) fn lock() -> Files {
    FILES.lock().unpoisoned()
}

/// Removes the temporary files of all unfinished outputs. Afterwards no output can be begun or renamed in this
/// process: a thread that tries waits forever. For a thread that is about to end the process.
pub fn abandon_outputs() {
    let files = lock();
    for file in files.iter() {
        // A file that cannot be removed can still be recognized by its name.
        let _ = fs::remove_file(file);
    }
    mem::forget(files);
}

/// A registered temporary file; unregistered when this is dropped.
#[derive(Debug)]
pub(super) struct Known {
    path: PathBuf,
    slot: Option<&'static Slot>,
}

impl Known {
    pub(super) fn new(files: &mut Files, path: &Path) -> Self {
        TEMPORARY_FILES.get_or_init(|| for_each_temporary_file);
        // A program that uses the library may change the working directory later.
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        files.push(path.clone());
        Self { slot: Slot::take(path.as_os_str().as_encoded_bytes()), path }
    }

    /// Does the same as `drop`, for callers that hold the lock.
    pub(super) fn forget(mut self, files: &mut Files) {
        self.remove(files);
    }

    fn remove(&mut self, files: &mut Files) {
        if let Some(slot) = self.slot.take() {
            slot.give_back();
        }
        let path = mem::take(&mut self.path);
        if let Some(at) = files.iter().position(|other| *other == path) {
            files.swap_remove(at);
        }
    }
}

impl Drop for Known {
    fn drop(&mut self) {
        if self.path != Path::new("") {
            self.remove(&mut lock());
        }
    }
}

/// The longest name, including its terminator, that a slot can hold.
const LONGEST: usize = 4096;

/// A name in fixed memory.
#[derive(Debug)]
struct Slot {
    /// Low two bits: [`FREE`], [`CHANGING`] or [`READY`]. The other bits count the changes, so that a reader can detect
    /// that its copy is stale.
    state: AtomicU32,
    name: [AtomicU8; LONGEST],
}

const FREE: u32 = 0;
const CHANGING: u32 = 1;
const READY: u32 = 2;
const STATES: u32 = 3;

/// Number of slots, enough for the outputs of a run. Files without a slot are removed by everything except the signal
/// handler.
static SLOTS: [Slot; 8] =
    [const { Slot { state: AtomicU32::new(FREE), name: [const { AtomicU8::new(0) }; LONGEST] } }; 8];

impl Slot {
    fn take(name: &[u8]) -> Option<&'static Self> {
        if name.len() >= LONGEST || name.contains(&0) {
            return None;
        }
        let slot = SLOTS.iter().find(|slot| {
            let state = slot.state.load(Ordering::Relaxed);
            let changing = state.wrapping_add(CHANGING);
            state & STATES == FREE
                && slot.state.compare_exchange(state, changing, Ordering::AcqRel, Ordering::Relaxed).is_ok()
        })?;
        for (to, &byte) in slot.name.iter().zip(name.iter().chain(&[0])) {
            to.store(byte, Ordering::Relaxed);
        }
        slot.state.fetch_add(READY - CHANGING, Ordering::Release);
        Some(slot)
    }

    fn give_back(&self) {
        // Free, with the next count.
        self.state.fetch_add(4 - READY, Ordering::AcqRel);
    }

    fn copy<'a>(&self, to: &'a mut [u8; LONGEST]) -> Option<&'a CStr> {
        let before = self.state.load(Ordering::Acquire);
        if before & STATES != READY {
            return None;
        }
        for (to, byte) in to.iter_mut().zip(&self.name) {
            *to = byte.load(Ordering::Relaxed);
        }
        fence(Ordering::Acquire);
        let unchanged = self.state.load(Ordering::Relaxed) == before;
        CStr::from_bytes_until_nul(to).ok().filter(|_| unchanged)
    }
}

/// Calls `take` with the names of the temporary files. For signal handlers: it does not allocate, and waits only for
/// other calls of itself.
#[cfg_attr(not(unix), expect(dead_code, reason = "no signal handler on this system"))]
fn for_each_temporary_file(take: &mut dyn FnMut(&CStr)) {
    // Not on the stack, because the stack of a signal handler may be hardly larger than a name.
    static NAME: Mutex<[u8; LONGEST]> = Mutex::new([0; LONGEST]);
    let mut name = loop {
        match NAME.try_lock() {
            Ok(name) => break name,
            Err(TryLockError::Poisoned(name)) => break name.into_inner(),
            Err(TryLockError::WouldBlock) => std::hint::spin_loop(),
        }
    };
    for slot in &SLOTS {
        if let Some(name) = slot.copy(&mut name) {
            take(name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_known_until_they_are_forgotten() {
        let name = Path::new("/nowhere/.a-temporary-name.part");
        let known = || {
            let mut known = 0;
            for_each_temporary_file(&mut |path| {
                known += u32::from(path.to_bytes() == name.as_os_str().as_encoded_bytes());
            });
            (known, lock().iter().any(|other| other == name))
        };
        assert_eq!(known(), (0, false));
        for _ in 0..100 {
            let one = Known::new(&mut lock(), name);
            assert_eq!(known(), (1, true));
            drop(one);
            assert_eq!(known(), (0, false));
        }
        // A name that is too long has no slot; it is registered only in the list.
        let long = Path::new("/nowhere").join("x".repeat(LONGEST));
        let one = Known::new(&mut lock(), &long);
        assert!(one.slot.is_none());
        one.forget(&mut lock());
        assert!(!lock().contains(&long));
    }
}
