//! Memory-mapped files: one of the two places with unsafe code.
//!
//! A mapped file is read without copying, and a run of groups in it is used in place. The price is a
//! contract that the language cannot check: **nobody may change the file while it is mapped**.
//!
//! If the contract is broken:
//!
//! - A file becomes shorter: its length is checked again before a chunk is read, after it has been decoded, after its
//!   records have been judged and used, and when records that stayed in the map are written. The run then ends with an
//!   error, and bytes that were read in between (such as the zeros of the last page) give neither records nor rejects.
//!   If pages vanish in the middle of a chunk, the system sends the signal `SIGBUS`. A program that has called
//!   [`explain_truncated_maps`] then reports what happened, removes its temporary files, and ends with status 2. The
//!   same happens if the disk fails.
//! - A file is written to in place: results are those of some mixture of old and new bytes. Nothing in this crate
//!   relies on such bytes: lengths taken from a map are checked where they are used, every value of a board's plain
//!   numbers is allowed, and text that must be UTF-8 is copied before it is validated and kept. Still, the language
//!   guarantees nothing for memory that changes behind a shared reference. To read files that others may be writing,
//!   open them without maps ([`Access::map`](super::Access::map), `--no-mmap`); files that are replaced by renaming,
//!   as they should be, are safe to map.
#![allow(unsafe_code, reason = "mapping a file is unsafe by nature; see the module's contract")]

use bytemuck::Pod;
use memmap2::Mmap;
#[cfg(unix)]
use memmap2::{Advice, UncheckedAdvice};
use std::fs::File;
use std::io;
use std::marker::PhantomData;
use std::ops::{Deref, Range};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A run of plain values inside a mapped file; cloning it is cheap.
#[derive(Clone, Debug)]
pub(crate) struct Mapped<T> {
    map: Arc<Map>,
    bytes: Range<usize>,
    values: PhantomData<T>,
}

/// The memory of a map is given back in regions, at addresses that are multiples of their length: that of a huge page.
/// To give back a part of such a page, the kernel would have to split it and to interrupt all other threads.
const REGION: usize = 2 << 20;
/// A region that is this number of regions behind is given back even if it is not complete, since not all bytes of a
/// file are in chunks.
const BEHIND: usize = 64;

/// A read-only map of a whole file.
#[derive(Debug)]
struct Map {
    map: Mmap,
    file: File,
    /// For each region of addresses, the number of its bytes that are no longer needed.
    released: Box<[AtomicUsize]>,
    /// Where the signal handler finds the map, if there was a free slot.
    slot: Option<&'static Slot>,
}

impl Map {
    /// The bytes of the map in a region.
    fn region(&self, number: usize) -> Range<usize> {
        let before = self.map.as_ptr() as usize % REGION;
        let start = (number * REGION).saturating_sub(before);
        start..((number + 1) * REGION - before).min(self.map.len())
    }
    /// Returns the memory of a region to the system.
    #[cfg(unix)]
    fn give_back(&self, number: usize) {
        let region = self.region(number);
        // SAFETY: the map is that of a file and never written to, so the pages return with the same content.
        let _ = unsafe { self.map.unchecked_advise_range(UncheckedAdvice::DontNeed, region.start, region.len()) };
    }
    /// Other systems have no such call.
    #[cfg(not(unix))]
    fn give_back(&self, _: usize) {}
}

impl Drop for Map {
    fn drop(&mut self) {
        if let Some(slot) = self.slot {
            slot.end.store(0, Ordering::Release);
            slot.start.store(FREE, Ordering::Release);
        }
    }
}

impl Mapped<u8> {
    /// Maps a whole file.
    ///
    /// # Errors
    /// If the system cannot map it: empty files, pipes, most files of `/proc`, some network file systems.
    /// Such files can still be read.
    pub(super) fn of_file(file: &File) -> io::Result<Self> {
        let file = file.try_clone()?;
        // SAFETY: the map is read-only and private to this value and its clones, which give out shared
        // slices of plain bytes only. That nobody changes the file meanwhile is the contract stated above.
        let map = unsafe { Mmap::map(&file)? };
        if map.is_empty() {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        // Only a hint: without it the kernel reads ahead less.
        #[cfg(unix)]
        let _ = map.advise(Advice::Sequential);
        let addresses = map.as_ptr_range();
        let regions = addresses.start as usize / REGION..=addresses.end as usize / REGION;
        Ok(Self {
            bytes: 0..map.len(),
            map: Arc::new(Map {
                released: regions.map(|_| AtomicUsize::new(0)).collect(),
                slot: Slot::take(addresses.start as usize..addresses.end as usize),
                map,
                file,
            }),
            values: PhantomData,
        })
    }
    /// A part of the values.
    ///
    /// # Panics
    /// If the range is out of bounds.
    #[must_use]
    pub(super) fn slice(&self, range: Range<usize>) -> Self {
        assert!(range.start <= range.end && range.end <= self.bytes.len());
        Self {
            map: Arc::clone(&self.map),
            bytes: self.bytes.start + range.start..self.bytes.start + range.end,
            values: PhantomData,
        }
    }
    /// Checks that the file still contains these bytes.
    pub(super) fn check(&self) -> io::Result<()> {
        let len = self.map.file.metadata()?.len();
        if len < self.bytes.end as u64 { Err(cut_to(len)) } else { Ok(()) }
    }
    /// The regions in which these bytes are, with the number of bytes in each.
    fn regions(&self) -> impl Iterator<Item = (usize, usize)> {
        // Distances from the beginning of the first region.
        let before = self.map.map.as_ptr() as usize % REGION;
        let own = before + self.bytes.start..before + self.bytes.end;
        (own.start / REGION..own.end.div_ceil(REGION)).map(move |number| {
            let region = self.map.region(number);
            let start = own.start.max(region.start + before);
            (number, own.end.min(region.end + before) - start)
        })
    }
    /// Declares that these bytes are needed beyond their next release; another one has to follow.
    pub(super) fn retain(&self) {
        for (number, len) in self.regions() {
            // Below zero, the number wraps around until the releases have followed.
            self.map.released[number].fetch_sub(len, Ordering::Relaxed);
        }
    }
    /// Declares that these bytes are no longer needed. Their memory is returned to the system once all bytes around
    /// them, or many bytes after them, are no longer needed either. They can still be accessed, and are then read from
    /// the file again.
    pub(super) fn release(&self) {
        let map = &self.map;
        for (number, len) in self.regions() {
            let earlier = map.released[number].fetch_add(len, Ordering::Relaxed);
            if earlier.wrapping_add(len) == map.region(number).len() {
                map.give_back(number);
            }
            if earlier == 0
                && let Some(behind) = number.checked_sub(BEHIND)
                && map.released[behind].load(Ordering::Relaxed) < map.region(behind).len()
            {
                map.give_back(behind);
            }
        }
    }
    /// The same bytes as values, or `None` if they are misaligned or not a whole number of values.
    pub(super) fn cast<T: Pod>(&self) -> Option<Mapped<T>> {
        bytemuck::try_cast_slice::<u8, T>(self).ok()?;
        Some(Mapped { map: Arc::clone(&self.map), bytes: self.bytes.clone(), values: PhantomData })
    }
}

#[cfg(all(test, target_os = "linux"))]
impl Mapped<u8> {
    /// The memory used by the whole map, according to the system.
    pub(super) fn resident(&self) -> usize {
        let smaps = std::fs::read_to_string("/proc/self/smaps").unwrap();
        let start = format!("{:x}-", self.map.map.as_ptr() as usize);
        let mut lines = smaps.lines().skip_while(|line| !line.starts_with(&start));
        let rss = lines.find_map(|line| line.strip_prefix("Rss:")).unwrap();
        let kilobytes = rss.trim().strip_suffix(" kB").unwrap();
        kilobytes.parse::<usize>().unwrap() << 10
    }
}

impl<T: Pod> Deref for Mapped<T> {
    type Target = [T];
    #[inline]
    fn deref(&self) -> &[T] {
        bytemuck::cast_slice(&self.map.map[self.bytes.clone()])
    }
}

impl<T> Mapped<T> {
    /// The same as [`Mapped::check`], for values.
    pub(crate) fn check_values(&self) -> io::Result<()> {
        let bytes = Mapped::<u8> { map: Arc::clone(&self.map), bytes: self.bytes.clone(), values: PhantomData };
        bytes.check()
    }
}

/// The error for a file that became shorter.
pub(super) fn cut_to(len: u64) -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, format!("the file was cut to {len} bytes while it was being read"))
}

/// The addresses of a map, where a signal handler can read them without a lock.
#[derive(Debug)]
struct Slot {
    start: AtomicUsize,
    /// Zero while the rest is not valid.
    end: AtomicUsize,
}

/// No map begins there.
const FREE: usize = usize::MAX;

/// Number of slots: more files than a run ever maps at once. Further maps would lack the explanation.
static SLOTS: [Slot; 64] = [const { Slot { start: AtomicUsize::new(FREE), end: AtomicUsize::new(0) } }; 64];

impl Slot {
    fn take(addresses: Range<usize>) -> Option<&'static Self> {
        let slot = SLOTS.iter().find(|slot| {
            slot.start.compare_exchange(FREE, addresses.start, Ordering::AcqRel, Ordering::Relaxed).is_ok()
        })?;
        slot.end.store(addresses.end, Ordering::Release);
        Some(slot)
    }
    #[cfg(unix)]
    fn holds(&self, address: usize) -> bool {
        address < self.end.load(Ordering::Acquire) && self.start.load(Ordering::Acquire) <= address
    }
}

/// Ends the process with status 2 and a message on standard error, rather than by a signal, when pages of a mapped
/// input are no longer available: the file was truncated, or its disk failed. Temporary files of outputs are removed
/// first.
///
/// Meant for programs, which own the signals of their process: this installs a handler for `SIGBUS`. Signals that do
/// not come from maps of this crate go to the previous handler. Does nothing on systems without this signal.
pub fn explain_truncated_maps() {
    #[cfg(unix)]
    fault::install();
}

/// Removes the temporary files of outputs when the process aborts: an allocation failed, or a thread panicked while it
/// panicked. The process then ends as it would without this.
///
/// Meant for programs, which own the signals of their process: this installs a handler for `SIGABRT`, which passes the
/// signal on to the previous one. Does nothing on systems without this signal.
pub fn clean_up_after_aborts() {
    #[cfg(unix)]
    fault::install_for_aborts();
}

/// Calls its argument for the name of each temporary file, and does only what is allowed in a signal handler.
pub(crate) type ForEachName = fn(&mut dyn FnMut(&std::ffi::CStr));

/// Enumerates the temporary files to remove before a signal ends the process.
pub(crate) static TEMPORARY_FILES: std::sync::OnceLock<ForEachName> = std::sync::OnceLock::new();

#[cfg(unix)]
mod fault {
    use super::SLOTS;
    use super::TEMPORARY_FILES;
    use std::ffi::{c_int, c_void};
    use std::mem::MaybeUninit;
    use std::ptr;
    use std::sync::OnceLock;

    const MESSAGE: &[u8] = b"lanefish: a mapped input became shorter while it was read, or its disk failed; \
        --no-mmap reads files without mapping them\n";

    /// The previous action for a signal.
    type Previous = OnceLock<libc::sigaction>;
    static OF_FAULTS: Previous = OnceLock::new();
    static OF_ABORTS: Previous = OnceLock::new();

    type Handler = extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void);

    pub(super) fn install() {
        set(libc::SIGBUS, on_fault, &OF_FAULTS);
    }

    pub(super) fn install_for_aborts() {
        set(libc::SIGABRT, on_abort, &OF_ABORTS);
    }

    fn set(signal: c_int, handler: Handler, known: &Previous) {
        if known.get().is_some() {
            return;
        }
        let mut previous = MaybeUninit::<libc::sigaction>::uninit();
        // SAFETY: a null new action only asks for the present one, which is written to `previous`; it is
        // read only where the call succeeded.
        let previous = unsafe {
            if libc::sigaction(signal, ptr::null(), previous.as_mut_ptr()) != 0 {
                return;
            }
            previous.assume_init()
        };
        // Set before the handler can run, so that it always finds the previous one.
        if known.set(previous).is_err() {
            return;
        }
        // SAFETY: all-zero is a valid value of this plain structure; its fields are set below.
        let mut action: libc::sigaction = unsafe { MaybeUninit::zeroed().assume_init() };
        action.sa_sigaction = handler as usize;
        // On the alternate stack: stack overflows also end here.
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        // SAFETY: the action is complete, and its handler calls only what is allowed in one: it reads
        // atomics, and calls `write`, `unlink`, `_exit`, `sigaction`, `raise` and the handler that was there before.
        unsafe {
            libc::sigemptyset(&raw mut action.sa_mask);
            libc::sigaction(signal, &raw const action, ptr::null_mut());
        }
    }

    fn remove_temporary_files() {
        if let Some(for_each) = TEMPORARY_FILES.get() {
            for_each(&mut |path| {
                // SAFETY: a string with its end, alive during the call.
                unsafe { libc::unlink(path.as_ptr()) };
            });
        }
    }

    extern "C" fn on_fault(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
        // SAFETY: with SA_SIGINFO the kernel passes a valid structure. The address is one only where the
        // signal comes from the kernel, and only then it is looked at; otherwise it is some number.
        let (code, address) = unsafe { ((*info).si_code, (*info).si_addr() as usize) };
        if code > 0 && SLOTS.iter().any(|slot| slot.holds(address)) {
            // SAFETY: plain system calls on memory that outlives them; what they return changes nothing.
            unsafe { libc::write(2, MESSAGE.as_ptr().cast(), MESSAGE.len()) };
            remove_temporary_files();
            // SAFETY: ends the process without running anything else of it.
            unsafe { libc::_exit(2) };
        }
        pass_on(&OF_FAULTS, signal, info, context);
    }

    extern "C" fn on_abort(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
        remove_temporary_files();
        pass_on(&OF_ABORTS, signal, info, context);
    }

    /// Performs the previous action for a signal.
    fn pass_on(previous: &Previous, signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
        let Some(previous) = previous.get() else {
            return;
        };
        // SAFETY: with SA_SIGINFO the kernel passes a valid structure.
        let code = unsafe { (*info).si_code };
        match previous.sa_sigaction {
            libc::SIG_IGN if code <= 0 => {}
            libc::SIG_DFL | libc::SIG_IGN => {
                // The signal is raised again after the return, with the effect that it has without this handler.
                // SAFETY: the action is what the system gave, and both calls are allowed here.
                unsafe {
                    libc::sigaction(signal, previous, ptr::null_mut());
                    libc::raise(signal);
                }
            }
            handler if previous.sa_flags & libc::SA_SIGINFO != 0 => {
                // SAFETY: it was installed with SA_SIGINFO, so it is such a function.
                let handler: Handler = unsafe { std::mem::transmute(handler) };
                handler(signal, info, context);
            }
            handler => {
                // SAFETY: it was installed without SA_SIGINFO, so it is such a function.
                let handler: extern "C" fn(c_int) = unsafe { std::mem::transmute(handler) };
                handler(signal);
            }
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    fn touched(len: usize) -> Mapped<u8> {
        let file = tempfile::tempfile().unwrap();
        file.set_len(len as u64).unwrap();
        let map = Mapped::of_file(&file).unwrap();
        // A system short of memory evicts pages that were just read, so a few may be missing at any time.
        for _ in 0..100 {
            assert!(map.iter().all(|&byte| byte == 0));
            if map.resident() >= len - len / 16 {
                return map;
            }
        }
        panic!("{} of {len} bytes are resident after each was read", map.resident());
    }

    #[test]
    fn what_is_released_in_any_pieces_is_given_back() {
        let len = 4 * REGION + 12_345;
        for (piece, step) in [(len, 1), (1_000_003, 7), (70_000, 31), (REGION, 3)] {
            let map = touched(len);
            // All pieces, in another order.
            let pieces = len.div_ceil(piece);
            for number in 0..pieces {
                let start = number * step % pieces * piece;
                map.slice(start..len.min(start + piece)).release();
            }
            assert_eq!(map.resident(), 0, "{piece}");
            assert!(map.iter().all(|&byte| byte == 0));
        }
    }

    #[test]
    fn what_lies_far_behind_is_given_back_with_its_gaps() {
        let len = (BEHIND + 8) * REGION;
        let map = touched(len);
        let piece = 100_000;
        for start in (0..len - piece).step_by(piece) {
            map.slice(start + 1..start + piece).release();
        }
        assert!(map.resident() <= (BEHIND + 1) * REGION);
    }
}
