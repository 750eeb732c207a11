//! Pieces of inputs that cannot be mapped.
//!
//! A pipe is read by a separate thread, because its writer may be slow. A file that must be decompressed from start to
//! end is read by the thread that requests the next piece, while the others continue, so there are never more threads
//! than the user requested. Files of a zip archive are decompressed by separate threads, several at the same time, if
//! the user requested more than one thread.

use super::Bytes;
use super::mmap::cut_to;
use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::time::Duration;

/// Bytes per piece.
const PIECE: usize = 1 << 20;
/// Maximum number of pieces that wait to be taken.
const WAITING: usize = 4;
/// Time to wait for the next piece before reporting that there is none yet.
const PATIENCE: Duration = Duration::from_millis(50);
/// Decompressed bytes per call: at damage, the output of the current call is lost.
pub(super) const DECODED: usize = 16 << 10;
/// A read that returns less than this has emptied the pipe: its writer is slow.
const SHORT_READ: usize = 64 << 10;

enum Message {
    Piece(Vec<u8>),
    Error(io::Error),
    End,
}

/// The source of pieces. Dropping it ends a reading thread after its current read.
#[derive(Debug)]
pub(super) struct Stream {
    source: Source,
    ended: bool,
}

#[derive(Debug)]
enum Source {
    Thread(Receiver<Message>),
    Here(Pieces),
}

impl Stream {
    /// Starts a thread that reads. With `eager`, data of a slow writer is passed on immediately.
    pub(super) fn spawn(reader: Box<dyn Read + Send>, eager: bool) -> io::Result<Self> {
        let (sender, messages) = sync_channel(WAITING);
        std::thread::Builder::new().name("reader".to_owned()).spawn(move || {
            if eager {
                pump(reader, &sender);
            } else {
                Pieces { reader, step: DECODED, last: None }.send(&sender);
            }
        })?;
        Ok(Self { source: Source::Thread(messages), ended: false })
    }

    /// Starts a thread that reads a stream which was read on demand so far.
    pub(super) fn onto_thread(self) -> io::Result<Self> {
        let Self { source: Source::Here(mut pieces), ended: false } = self else {
            return Ok(self);
        };
        let (sender, messages) = sync_channel(WAITING);
        std::thread::Builder::new().name("reader".to_owned()).spawn(move || pieces.send(&sender))?;
        Ok(Self { source: Source::Thread(messages), ended: false })
    }

    /// Reads on demand. `plain`: the data does not come from a decoder.
    pub(super) fn here(reader: Box<dyn Read + Send>, plain: bool) -> Self {
        Self {
            source: Source::Here(Pieces { reader, step: if plain { PIECE } else { DECODED }, last: None }),
            ended: false,
        }
    }

    /// The next piece.
    pub(super) fn next(&mut self) -> io::Result<StreamStep> {
        if self.ended {
            return Ok(StreamStep::End);
        }
        let message = match &mut self.source {
            Source::Here(pieces) => pieces.next(),
            Source::Thread(messages) => match messages.recv_timeout(PATIENCE) {
                Ok(message) => message,
                Err(RecvTimeoutError::Timeout) => return Ok(StreamStep::Wait),
                Err(RecvTimeoutError::Disconnected) => {
                    Message::Error(io::Error::other("the reading thread ended unexpectedly"))
                }
            },
        };
        let message = match message {
            Message::Piece(piece) => return Ok(StreamStep::Piece(piece.into())),
            message => message,
        };
        self.ended = true;
        match message {
            Message::Error(error) => Err(error),
            _ => Ok(StreamStep::End),
        }
    }
}

/// The current state of a stream.
pub(super) enum StreamStep {
    Piece(Bytes),
    /// Nothing yet.
    Wait,
    End,
}

/// Full pieces, then a last one, then the end or an error.
struct Pieces {
    reader: Box<dyn Read + Send>,
    /// Bytes requested at once.
    step: usize,
    last: Option<Message>,
}

impl fmt::Debug for Pieces {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pieces").finish_non_exhaustive()
    }
}

impl Pieces {
    /// Sends all pieces, until the receiver is gone.
    fn send(&mut self, sender: &SyncSender<Message>) {
        let mut more = true;
        while more {
            let message = self.next();
            more = matches!(message, Message::Piece(_));
            more &= sender.send(message).is_ok();
        }
    }

    fn next(&mut self) -> Message {
        if let Some(last) = self.last.take() {
            return last;
        }
        let mut piece = vec![0; PIECE];
        let mut filled = 0;
        while filled < PIECE {
            let end = PIECE.min(filled + self.step);
            let last = match self.reader.read(&mut piece[filled..end]) {
                Ok(0) => Message::End,
                Ok(read) => {
                    filled += read;
                    continue;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => Message::Error(error),
            };
            if filled == 0 {
                return last;
            }
            self.last = Some(last);
            break;
        }
        piece.truncate(filled);
        Message::Piece(piece)
    }
}

/// Sends the data, in small pieces if the writer is slow.
fn pump(mut reader: Box<dyn Read + Send>, sender: &SyncSender<Message>) {
    let mut piece = vec![0; PIECE];
    let mut filled = 0;
    let last = loop {
        let read = match reader.read(&mut piece[filled..]) {
            Ok(0) => break Message::End,
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => break Message::Error(error),
        };
        filled += read;
        if filled == PIECE {
            let full = std::mem::replace(&mut piece, vec![0; PIECE]);
            filled = 0;
            if sender.send(Message::Piece(full)).is_err() {
                return;
            }
        } else if read < SHORT_READ {
            match sender.try_send(Message::Piece(piece[..filled].to_vec())) {
                Ok(()) => filled = 0,
                // The receiver is busy: the piece grows in the meantime.
                Err(TrySendError::Full(_)) => {}
                Err(TrySendError::Disconnected(_)) => return,
            }
        }
    };
    piece.truncate(filled);
    if piece.is_empty() || sender.send(Message::Piece(piece)).is_ok() {
        let _ = sender.send(last);
    }
}

/// A regular file that is read. If it ends earlier than when it was opened, it was truncated.
#[derive(Debug)]
pub(super) struct Uncut {
    pub(super) file: File,
    /// The length of the file when it was opened.
    pub(super) len: u64,
}

impl Read for Uncut {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(buffer)?;
        if read == 0 && !buffer.is_empty() {
            // Not the number of bytes read: some systems have files that are shorter than they report.
            let len = self.file.metadata()?.len();
            if len < self.len {
                return Err(cut_to(len));
            }
        }
        Ok(read)
    }
}

/// Counts the bytes that pass.
#[derive(Debug)]
pub(super) struct Counted<R> {
    pub(super) inner: R,
    pub(super) count: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.count.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}
