//! Whether standard input and output were open when this process started.
//!
//! Where one of them is closed, Rust's runtime opens `/dev/null` in its place before `main`, so that results
//! written to it would be lost silently. Afterwards that cannot be distinguished from a `/dev/null` that the user
//! meant, and so they are checked before the runtime starts.

use std::sync::atomic::{AtomicBool, Ordering};

static STDIN: AtomicBool = AtomicBool::new(false);
static STDOUT: AtomicBool = AtomicBool::new(false);

/// Whether standard input was closed.
pub(crate) fn stdin_is_closed() -> bool {
    STDIN.load(Ordering::Relaxed)
}

/// Whether standard output was closed.
pub(crate) fn stdout_is_closed() -> bool {
    STDOUT.load(Ordering::Relaxed)
}

// SAFETY: two system calls and two atomics; nothing here needs the runtime, which has not started yet.
#[cfg(unix)]
#[ctor::ctor(unsafe)]
fn look() {
    use rustix::io::{Errno, fcntl_getfd};
    let closed = |descriptor| matches!(fcntl_getfd(descriptor), Err(Errno::BADF));
    STDIN.store(closed(rustix::stdio::stdin()), Ordering::Relaxed);
    STDOUT.store(closed(rustix::stdio::stdout()), Ordering::Relaxed);
}
