//! Ctrl-C: what can stop in good order is asked to, everything else ends at once.

use std::sync::atomic::{AtomicBool, Ordering};

static ASKED: AtomicBool = AtomicBool::new(false);
static WATCHED: AtomicBool = AtomicBool::new(false);

/// Installs the handler. The first Ctrl-C sets the [`flag`] where somebody watches it, so that temporary
/// files are removed on the way out; otherwise, and the second time, the process ends.
pub(crate) fn install() {
    // It can only fail when there is a handler already.
    let _ = ctrlc::set_handler(|| {
        if !WATCHED.load(Ordering::SeqCst) || ASKED.swap(true, Ordering::SeqCst) {
            std::process::exit(super::INTERRUPTED.into());
        }
    });
}

/// The flag, for those who will look at it from time to time.
pub(crate) fn flag() -> &'static AtomicBool {
    WATCHED.store(true, Ordering::SeqCst);
    &ASKED
}
