//! Whether standard input and output were open when this process started.
//!
//! If one of them is closed, Rust's runtime opens `/dev/null` instead before `main`, so that results written to it
//! would be lost silently. Afterwards this cannot be distinguished from a `/dev/null` that the user chose. These
//! statics are therefore initialized when the program is loaded, before the runtime starts.

/// Whether standard input was closed.
pub(crate) fn stdin_is_closed() -> bool {
    #[cfg(unix)]
    return *at_start::STDIN;
    #[cfg(not(unix))]
    false
}

/// Whether standard output was closed.
pub(crate) fn stdout_is_closed() -> bool {
    #[cfg(unix)]
    return *at_start::STDOUT;
    #[cfg(not(unix))]
    false
}

#[cfg(unix)]
mod at_start {
    use rustix::io::{Errno, fcntl_getfd};
    use rustix::stdio::{stdin, stdout};
    use static_init::dynamic;

    #[dynamic]
    pub(super) static STDIN: bool = matches!(fcntl_getfd(stdin()), Err(Errno::BADF));
    #[dynamic]
    pub(super) static STDOUT: bool = matches!(fcntl_getfd(stdout()), Err(Errno::BADF));
}
