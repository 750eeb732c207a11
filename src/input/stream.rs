//! A reader on a thread of its own, so that reading and decompressing overlap with everything else.

use super::Bytes;
use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::time::Duration;

/// Bytes handed over at once.
const PIECE: usize = 1 << 20;
/// Pieces that may wait to be taken.
const WAITING: usize = 4;
/// How long the next piece is waited for before whoever asks is told that there is none yet.
const PATIENCE: Duration = Duration::from_millis(50);
/// Decompressed bytes asked for at once: what a decoder has made when it meets damage is lost with that call.
pub(super) const DECODED: usize = 16 << 10;
/// A read that gives less than this did not find more: the writer of the pipe is slow.
const SHORT_READ: usize = 64 << 10;

enum Message {
    Piece(Vec<u8>),
    Error(io::Error),
    End,
}

/// The receiving side of a reading thread. Dropping it ends the thread after its current read.
#[derive(Debug)]
pub(super) struct Stream {
    messages: Receiver<Message>,
    ended: bool,
}

impl Stream {
    /// Starts a thread that reads. With `eager`, what a slow writer gives is handed over at once.
    pub(super) fn spawn(reader: Box<dyn Read + Send>, eager: bool) -> io::Result<Self> {
        let (sender, messages) = sync_channel(WAITING);
        std::thread::Builder::new()
            .name("reader".to_owned())
            .spawn(move || pump(reader, &sender, eager))?;
        Ok(Self {
            messages,
            ended: false,
        })
    }

    /// The next piece.
    pub(super) fn next(&mut self) -> io::Result<StreamStep> {
        if self.ended {
            return Ok(StreamStep::End);
        }
        let message = match self.messages.recv_timeout(PATIENCE) {
            Ok(Message::Piece(piece)) => return Ok(StreamStep::Piece(piece.into())),
            Err(RecvTimeoutError::Timeout) => return Ok(StreamStep::Wait),
            Ok(message) => message,
            Err(RecvTimeoutError::Disconnected) => {
                Message::Error(io::Error::other("the reading thread ended unexpectedly"))
            }
        };
        self.ended = true;
        match message {
            Message::Error(error) => Err(error),
            _ => Ok(StreamStep::End),
        }
    }
}

/// What a stream has now.
pub(super) enum StreamStep {
    Piece(Bytes),
    /// Nothing yet.
    Wait,
    End,
}

fn pump(mut reader: Box<dyn Read + Send>, sender: &SyncSender<Message>, eager: bool) {
    let mut piece = vec![0; PIECE];
    let mut filled = 0;
    let at_once = if eager { PIECE } else { DECODED };
    let last = loop {
        let end = PIECE.min(filled + at_once);
        let read = match reader.read(&mut piece[filled..end]) {
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
        } else if eager && read < SHORT_READ {
            match sender.try_send(Message::Piece(piece[..filled].to_vec())) {
                Ok(()) => filled = 0,
                // Nobody waits for it.
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
