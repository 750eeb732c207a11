//! Standard input, if no input is named.
//!
//! It is read only if it evidently has data: if it is a pipe or a regular file. Shells, cron, services and CI systems
//! start processes with a terminal, `/dev/null`, a socket or a closed descriptor, none of which has data. Some of them
//! pass a pipe to which nobody writes. Therefore an empty pipe is not accepted as an empty input unless it was named
//! (`-`).

/// The kind of standard input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stdin {
    /// A pipe, named or not.
    Pipe,
    /// A regular file.
    File,
    /// Anything else.
    Other,
}

impl Stdin {
    #[cfg(unix)]
    pub(crate) fn find() -> Self {
        use rustix::fs::{FileType, fstat};
        if super::closed_streams::stdin_is_closed() {
            return Self::Other;
        }
        match fstat(rustix::stdio::stdin()).map(|stat| FileType::from_raw_mode(stat.st_mode)) {
            Ok(FileType::Fifo) => Self::Pipe,
            Ok(FileType::RegularFile) => Self::File,
            _ => Self::Other,
        }
    }

    #[cfg(not(unix))]
    pub(crate) fn find() -> Self {
        use std::io::IsTerminal;
        if std::io::stdin().is_terminal() { Self::Other } else { Self::Pipe }
    }
}

/// Waits until a pipe has something to read; false if it ends first. `note` is called once if that takes
/// more than a second.
#[cfg(unix)]
pub(crate) fn pipe_has_bytes(note: impl FnOnce()) -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let stdin = rustix::stdio::stdin();
    let wait = |limit: Option<&Timespec>| {
        let mut ready = [PollFd::new(&stdin, PollFlags::IN)];
        loop {
            match poll(&mut ready, limit) {
                Err(rustix::io::Errno::INTR) => {}
                Ok(0) => return None,
                // Errors are reported when it is read.
                Err(_) => return Some(PollFlags::IN),
                Ok(_) => return Some(ready[0].revents()),
            }
        }
    };
    let second = Timespec { tv_sec: 1, tv_nsec: 0 };
    let events = wait(Some(&second)).or_else(|| {
        note();
        wait(None)
    });
    events.is_none_or(|events| events.contains(PollFlags::IN))
}

#[cfg(not(unix))]
pub(crate) fn pipe_has_bytes(_: impl FnOnce()) -> bool {
    true
}
