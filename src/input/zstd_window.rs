//! Limits the memory that zstd frames request, before a decoder sees them.
//!
//! A few bytes can request a window of two gigabytes. The decoder has its own limit, but whether it is checked depends
//! on how the bytes arrive (a frame that is completely in the buffer is decoded without a window), and it does not
//! report the requested size. So the compressed bytes pass through a filter before they reach the decoder. The filter
//! steps from frame to frame and from block to block, and stops at the header of a frame that requests too much.

use super::zstd_frames::Header;
use std::fmt;
use std::io::{self, BufRead, Read};

/// A frame's window is larger than allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WindowTooLarge {
    pub(super) needed: u64,
    pub(super) allowed: u64,
}

impl fmt::Display for WindowTooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a zstd frame needs a window of {} bytes; the limit is {}", self.needed, self.allowed)
    }
}

impl std::error::Error for WindowTooLarge {}

/// The position of the filter in the compressed bytes.
#[derive(Clone, Copy, Debug)]
enum State {
    /// In the header of a frame, skippable or not; this many of its bytes have been seen.
    Frame,
    /// In the header of a block.
    Block,
    /// In data that need not be inspected: the number of bytes left, and what follows.
    Inside(u64, After),
    /// Not zstd: the decoder will report it.
    Lost,
}

#[derive(Clone, Copy, Debug)]
enum After {
    Frame,
    Block,
}

/// Passes compressed bytes on, except for the header of a frame whose window is too large.
#[derive(Debug)]
pub(super) struct Watch<R> {
    inner: R,
    allowed: u64,
    state: State,
    /// Bytes of a header that arrived in parts.
    header: Vec<u8>,
    checksum: bool,
    /// Bytes at the start of the inner buffer that have been inspected.
    seen: usize,
    failure: Option<WindowTooLarge>,
}

impl<R: BufRead> Watch<R> {
    pub(super) fn new(inner: R, allowed: u64) -> Self {
        Self { inner, allowed, state: State::Frame, header: Vec::new(), checksum: false, seen: 0, failure: None }
    }
}

/// Inspects more bytes and returns how many of them may be passed on: all, unless a frame requests too much.
struct Look<'a> {
    state: &'a mut State,
    header: &'a mut Vec<u8>,
    checksum: &'a mut bool,
    allowed: u64,
}

impl Look<'_> {
    fn at(&mut self, bytes: &[u8]) -> (usize, Option<WindowTooLarge>) {
        let mut at = 0;
        while at < bytes.len() {
            match *self.state {
                State::Lost => return (bytes.len(), None),
                State::Inside(left, after) => {
                    let here = left.min((bytes.len() - at) as u64);
                    at += here as usize;
                    *self.state = match (left - here, after) {
                        (0, After::Frame) => State::Frame,
                        (0, After::Block) => State::Block,
                        (left, after) => State::Inside(left, after),
                    };
                }
                State::Block => {
                    self.header.push(bytes[at]);
                    at += 1;
                    if let [a, b, c] = self.header[..] {
                        self.header.clear();
                        *self.state = self.after_block(u32::from_le_bytes([a, b, c, 0]));
                    }
                }
                State::Frame => {
                    self.header.push(bytes[at]);
                    at += 1;
                    match Header::of(self.header) {
                        Header::Unknown => *self.state = State::Lost,
                        Header::Short => {}
                        Header::Skippable { len } => {
                            self.header.clear();
                            *self.state = inside(len, After::Frame);
                        }
                        Header::Frame { window, checksum, .. } => {
                            self.header.clear();
                            if window > self.allowed {
                                let failure = WindowTooLarge { needed: window, allowed: self.allowed };
                                // Without the last byte of the header no decoder can allocate the window.
                                return (at - 1, Some(failure));
                            }
                            *self.checksum = checksum;
                            *self.state = State::Block;
                        }
                    }
                }
            }
        }
        (at, None)
    }

    fn after_block(&self, header: u32) -> State {
        let (last, kind, len) = (header & 1 != 0, header >> 1 & 3, header >> 3);
        // A run-length block stores one byte.
        let len = if kind == 1 { 1 } else { u64::from(len) };
        match (last, kind) {
            (_, 3) => State::Lost,
            (true, _) => inside(len + if *self.checksum { 4 } else { 0 }, After::Frame),
            (false, _) => inside(len, After::Block),
        }
    }
}

fn inside(len: u64, after: After) -> State {
    match (len, after) {
        (0, After::Frame) => State::Frame,
        (0, After::Block) => State::Block,
        _ => State::Inside(len, after),
    }
}

impl<R: BufRead> BufRead for Watch<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        let bytes = self.inner.fill_buf()?;
        if self.failure.is_none() && self.seen < bytes.len() {
            let mut look = Look {
                state: &mut self.state,
                header: &mut self.header,
                checksum: &mut self.checksum,
                allowed: self.allowed,
            };
            let (more, failure) = look.at(&bytes[self.seen..]);
            self.seen += more;
            self.failure = failure;
        }
        match self.failure {
            Some(failure) if self.seen == 0 => Err(io::Error::other(failure)),
            _ => Ok(&bytes[..self.seen]),
        }
    }
    fn consume(&mut self, read: usize) {
        self.seen -= read;
        self.inner.consume(read);
    }
}

impl<R: BufRead> Read for Watch<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.fill_buf()?.read(buffer)?;
        self.consume(read);
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufReader, Write};

    /// Returns a few bytes at a time.
    struct Slow<'a>(&'a [u8], usize);

    impl Read for Slow<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let len = self.1.min(buffer.len());
            (&mut self.0).take(len as u64).read(buffer)
        }
    }

    fn frame(text: &[u8], window_log: u32, checksum: bool) -> Vec<u8> {
        let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 1).unwrap();
        encoder.include_checksum(checksum).unwrap();
        encoder.include_contentsize(false).unwrap();
        encoder.window_log(window_log).unwrap();
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn the_first_frame_above_the_limit_is_stopped_however_the_bytes_arrive() {
        let text = b"chess ".repeat(60_000);
        let mut bytes = frame(&text, 17, true);
        bytes.extend([0x50, 0x2A, 0x4D, 0x18, 3, 0, 0, 0, 1, 2, 3]);
        bytes.extend(frame(b"", 12, false));
        bytes.extend(frame(&text, 19, false));
        let good = bytes.len();
        bytes.extend(frame(&text, 20, true));
        for step in [1, 2, 3, 7, 1000, usize::MAX] {
            let mut passed = Vec::new();
            let mut watch = Watch::new(BufReader::new(Slow(&bytes, step)), 1 << 19);
            let error = watch.read_to_end(&mut passed).unwrap_err();
            let error: WindowTooLarge = *error.get_ref().unwrap().downcast_ref().unwrap();
            let expected = WindowTooLarge { needed: 1 << 20, allowed: 1 << 19 };
            assert_eq!(error, expected);
            assert_eq!(passed[..good], bytes[..good]);
            assert!(passed.len() - good < 6, "the header is incomplete");

            let mut passed = Vec::new();
            let mut watch = Watch::new(BufReader::new(Slow(&bytes, step)), 1 << 20);
            watch.read_to_end(&mut passed).unwrap();
            assert!(passed == bytes);
        }
    }

    #[test]
    fn data_other_than_frames_passes() {
        let bytes: Vec<u8> = (0..=255).collect();
        let mut passed = Vec::new();
        let mut watch = Watch::new(&bytes[..], 1);
        watch.read_to_end(&mut passed).unwrap();
        assert_eq!(passed, bytes);
    }
}
