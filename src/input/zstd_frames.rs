//! zstd frames decompressed in parallel.
//!
//! Frames are independent, so all threads can decompress a file with many of them, such as the output of `pzstd` and
//! every Lichess dump. The end of a frame can be found without decompressing it and without an index: the header of the
//! frame and the three-byte headers of its blocks contain all lengths. The walk from block to block touches one page in
//! thirty. It stops early if a frame is too large for memory; such a file is streamed instead.

use super::read_ahead::DECODED;
use super::{Bytes, Mapped};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

/// Frames that may need more memory than this are not decompressed as a whole. `pzstd -19`, the setting of the Lichess
/// dumps, makes frames of 32 MiB.
const LARGEST_FRAME: usize = 64 << 20;
/// Maximum number of bytes of frames in memory: of those being decompressed and those waiting for their turn.
const BUDGET: usize = 96 << 20;
/// Maximum size of a decompressed block.
const LARGEST_BLOCK: usize = 128 << 10;
/// Maximum length of the header of a frame.
const HEADER: usize = 18;

/// The result of parsing the first bytes of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Header {
    /// Too few bytes to decide.
    Short,
    /// Not a frame.
    Unknown,
    /// A skippable frame, with the number of bytes after its header.
    Skippable { len: u64 },
    /// A frame: length of the header, size of the window, size of the content if it is given, and whether a checksum
    /// follows the last block.
    Frame { header: usize, window: u64, size: Option<u64>, checksum: bool },
}

impl Header {
    pub(super) fn of(bytes: &[u8]) -> Self {
        Self::read(bytes).unwrap_or(Self::Short)
    }

    fn read(bytes: &[u8]) -> Option<Self> {
        let word = |at: usize| Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?));
        match word(0)? {
            0x184D_2A50..=0x184D_2A5F => Some(Self::Skippable { len: word(4)?.into() }),
            0xFD2F_B528 => {
                let descriptor = *bytes.get(4)?;
                let single_segment = descriptor & 0x20 != 0;
                let dictionary = [0, 1, 2, 4][usize::from(descriptor & 3)];
                let size_bytes = match descriptor >> 6 {
                    0 => usize::from(single_segment),
                    code => 1 << code,
                };
                let at = 5 + usize::from(!single_segment) + dictionary;
                let size = match *bytes.get(at..at + size_bytes)? {
                    [] => None,
                    [a, b] => Some(u64::from(u16::from_le_bytes([a, b])) + 256),
                    ref bytes => Some(bytes.iter().rev().fold(0, |sum, &byte| sum << 8 | u64::from(byte))),
                };
                let window = match size {
                    Some(size) if single_segment => size,
                    _ => {
                        let (exponent, mantissa) = (bytes[5] >> 3, bytes[5] & 7);
                        let base = 1u64 << (10 + exponent);
                        base + base / 8 * u64::from(mantissa)
                    }
                };
                Some(Self::Frame { header: at + size_bytes, window, size, checksum: descriptor & 4 != 0 })
            }
            _ => Some(Self::Unknown),
        }
    }
}

/// The result of measuring the item at the start of some bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Extent {
    /// A skippable frame of this length.
    Skippable(usize),
    /// A frame of this length, and the maximum size of its content.
    Frame { len: usize, holds: usize },
    /// The frame is incomplete or too large, or needs a larger window than is allowed.
    Unfit,
}

/// Measures the frame at the start of `bytes`.
fn extent(bytes: &[u8], max_window: u64) -> Extent {
    measure(bytes, max_window).unwrap_or(Extent::Unfit)
}

fn measure(bytes: &[u8], max_window: u64) -> Option<Extent> {
    measure_with(Header::of(bytes), bytes.len(), max_window, |at| bytes.get(at..)?.first_chunk().copied())
}

/// Measures like [`measure`]; `block` returns the header of a block.
fn measure_with(
    header: Header,
    rest: usize,
    max_window: u64,
    mut block: impl FnMut(usize) -> Option<[u8; 3]>,
) -> Option<Extent> {
    match header {
        Header::Short | Header::Unknown => None,
        Header::Skippable { len } => {
            let len = usize::try_from(8 + len).ok()?;
            (len <= rest).then_some(Extent::Skippable(len))
        }
        Header::Frame { header, window, size, checksum } => {
            if window > max_window || size.is_some_and(|size| size > LARGEST_FRAME as u64) {
                return None;
            }
            let mut at = header;
            let mut blocks = 0;
            loop {
                let [a, b, c] = block(at)?;
                let header = u32::from_le_bytes([a, b, c, 0]);
                let (last, kind, len) = (header & 1 != 0, header >> 1 & 3, header >> 3);
                // A run-length block stores one byte.
                at += 3 + if kind == 1 { 1 } else { len as usize };
                blocks += 1;
                if kind == 3 || blocks * LARGEST_BLOCK > 2 * LARGEST_FRAME {
                    return None;
                }
                if last {
                    break;
                }
            }
            at += if checksum { 4 } else { 0 };
            let most = size.map_or(blocks * LARGEST_BLOCK, |size| size as usize);
            (at <= rest && most <= LARGEST_FRAME).then_some(Extent::Frame { len: at, holds: most })
        }
    }
}

/// The places where the frames of a file begin, in order, up to one that cannot be measured because it is incomplete or
/// too large. Windows of any size are allowed, so that the result depends only on the file.
#[derive(Debug)]
pub(super) struct FrameStarts<'a> {
    file: &'a File,
    len: u64,
    at: u64,
}

impl<'a> FrameStarts<'a> {
    pub(super) fn new(file: &'a File, len: u64) -> Self {
        Self { file, len, at: 0 }
    }

    /// The place of the next frame.
    pub(super) fn next(&mut self) -> io::Result<Option<u64>> {
        while self.at < self.len {
            let start = self.at;
            let head = self.read::<HEADER>(start)?;
            let header = Header::of(&head);
            let rest = usize::try_from(self.len - start).unwrap_or(usize::MAX);
            let mut failure = None;
            let extent = measure_with(header, rest, u64::MAX, |at| {
                let read = self.read::<3>(start + at as u64);
                let bytes = read.unwrap_or_else(|error| {
                    failure = Some(error);
                    Vec::new()
                });
                bytes.try_into().ok()
            });
            if let Some(error) = failure {
                return Err(error);
            }
            match extent {
                Some(Extent::Skippable(len)) => self.at += len as u64,
                Some(Extent::Frame { len, .. }) => {
                    self.at += len as u64;
                    return Ok(Some(start));
                }
                _ => {
                    self.at = self.len;
                    let is_frame = matches!(header, Header::Frame { .. });
                    return Ok(is_frame.then_some(start));
                }
            }
        }
        Ok(None)
    }

    /// Reads some bytes of the file; fewer at its end.
    fn read<const N: usize>(&self, at: u64) -> io::Result<Vec<u8>> {
        let mut file = self.file;
        let mut bytes = Vec::with_capacity(N);
        file.seek(SeekFrom::Start(at))?;
        file.take(N as u64).read_to_end(&mut bytes)?;
        Ok(bytes)
    }
}

/// The frames of a mapped file, handed out as jobs and taken back in order.
#[derive(Debug)]
pub(super) struct Frames {
    map: Mapped<u8>,
    max_window: u64,
    /// Where the next frame to be handed out begins.
    at: usize,
    /// Number of the next frame to be handed out, and of the next to be taken.
    given: u64,
    taken: u64,
    /// Maximum content of the frames handed out or waiting, and where each ends in the file.
    held: BTreeMap<u64, (usize, usize)>,
    done: BTreeMap<u64, FrameDone>,
    /// Bytes of the file that have been taken.
    used: usize,
}

/// A frame to be decompressed by any idle thread.
#[derive(Debug)]
pub(crate) struct FrameJob {
    number: u64,
    bytes: Mapped<u8>,
    holds: usize,
}

/// A decompressed frame.
#[derive(Debug)]
pub(crate) struct FrameDone {
    number: u64,
    bytes: Vec<u8>,
    error: Option<io::Error>,
}

impl FrameJob {
    /// Decompresses the frame.
    pub(crate) fn run(self) -> FrameDone {
        if let Err(error) = self.bytes.check() {
            return FrameDone { number: self.number, bytes: Vec::new(), error: Some(error) };
        }
        let mut decompressor = zstd::bulk::Decompressor::new().ok();
        let whole =
            decompressor.as_mut().and_then(|decompressor| decompressor.decompress(&self.bytes, self.holds).ok());
        let (bytes, error) = match whole {
            Some(bytes) => (bytes, None),
            // A second attempt, for the bytes before the damage.
            None => {
                let mut bytes = Vec::new();
                let error = decode_until_damage(&self.bytes, self.holds, &mut bytes).err();
                (bytes, error)
            }
        };
        // Bytes decompressed from beyond the new end do not belong to the file.
        let (bytes, error) = match self.bytes.check() {
            Ok(()) => (bytes, error),
            Err(cut) => (Vec::new(), Some(cut)),
        };
        self.bytes.release();
        FrameDone { number: self.number, bytes, error }
    }
}

/// Decompresses as much as possible. A call that reaches damage loses its output, so calls are small.
fn decode_until_damage(frame: &[u8], most: usize, bytes: &mut Vec<u8>) -> io::Result<()> {
    let mut decoder = zstd::stream::read::Decoder::with_buffer(frame)?;
    decoder.window_log_max(31)?;
    let mut some = [0; DECODED];
    while bytes.len() <= most {
        match decoder.read(&mut some)? {
            0 => break,
            read => bytes.extend_from_slice(&some[..read]),
        }
    }
    Ok(())
}

/// The next step.
#[derive(Debug)]
pub(super) enum FrameStep {
    /// The next bytes, an error that follows them, and the number of file bytes consumed.
    Bytes(Bytes, Option<io::Error>, usize),
    Job(FrameJob),
    /// The next bytes are being decompressed elsewhere.
    Wait,
    /// From here on the file has to be streamed.
    Stream(Mapped<u8>),
    End,
}

impl Frames {
    /// The frames of a mapped zstd file, or `None` unless there are at least two that fit in memory.
    pub(super) fn new(map: &Mapped<u8>, max_window: u64) -> Option<Self> {
        let mut at = 0;
        let mut frames = 0;
        while at < map.len() && frames < 2 {
            match extent(&map[at..], max_window) {
                Extent::Skippable(len) => at += len,
                Extent::Frame { len, .. } => {
                    frames += 1;
                    at += len;
                }
                Extent::Unfit => return None,
            }
        }
        (frames == 2).then(|| Self::of(map.clone(), max_window))
    }

    /// The frames of these bytes of a file.
    pub(super) fn of(map: Mapped<u8>, max_window: u64) -> Self {
        Self { map, max_window, at: 0, given: 0, taken: 0, held: BTreeMap::new(), done: BTreeMap::new(), used: 0 }
    }

    pub(super) fn complete(&mut self, done: FrameDone) {
        self.done.insert(done.number, done);
    }

    pub(super) fn step(&mut self) -> FrameStep {
        if let Some(done) = self.done.remove(&self.taken) {
            // The memory of this frame counts until the next one is taken.
            self.held.retain(|&number, _| number >= self.taken);
            let end = self.held.get(&self.taken).map_or(0, |&(_, end)| end);
            let used = end - std::mem::replace(&mut self.used, end);
            self.taken += 1;
            return FrameStep::Bytes(done.bytes.into(), done.error, used);
        }
        let held: usize = self.held.values().map(|&(holds, _)| holds).sum();
        while self.at < self.map.len() {
            match extent(&self.map[self.at..], self.max_window) {
                Extent::Skippable(len) => {
                    self.map.slice(self.at..self.at + len).release();
                    self.at += len;
                }
                Extent::Frame { len, holds } => {
                    if self.given > self.taken && held + holds > BUDGET {
                        return FrameStep::Wait;
                    }
                    let job = FrameJob { number: self.given, bytes: self.map.slice(self.at..self.at + len), holds };
                    self.at += len;
                    self.held.insert(self.given, (holds, self.at));
                    self.given += 1;
                    return FrameStep::Job(job);
                }
                Extent::Unfit if self.given > self.taken => return FrameStep::Wait,
                Extent::Unfit => {
                    let rest = self.map.slice(self.at..self.map.len());
                    self.at = self.map.len();
                    return FrameStep::Stream(rest);
                }
            }
        }
        if self.given > self.taken { FrameStep::Wait } else { FrameStep::End }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_measured_with_and_without_size() {
        let text = b"chess ".repeat(60_000);
        for size in [true, false] {
            for checksum in [true, false] {
                let mut bytes = Vec::new();
                let mut encoder = zstd::stream::write::Encoder::new(&mut bytes, 3).unwrap();
                encoder.include_checksum(checksum).unwrap();
                if size {
                    encoder.set_pledged_src_size(Some(text.len() as u64)).unwrap();
                }
                io::Write::write_all(&mut encoder, &text).unwrap();
                encoder.finish().unwrap();
                let len = bytes.len();
                let Extent::Frame { len: found, holds } = extent(&bytes, u64::MAX) else { panic!("not measured") };
                assert_eq!(found, len);
                assert!(if size { holds == text.len() } else { holds >= text.len() });
                let Header::Frame { window, .. } = Header::of(&bytes) else { panic!("no header") };
                assert_eq!(extent(&bytes, window - 1), Extent::Unfit);
                for cut in 0..len {
                    assert_eq!(extent(&bytes[..cut], u64::MAX), Extent::Unfit);
                }
            }
        }
    }

    /// As `pzstd` writes them: a skippable frame before each frame.
    #[cfg(target_os = "linux")]
    #[test]
    fn frames_and_what_is_between_them_give_their_memory_back() {
        let mut random = crate::chess::random::Random::new(1);
        let content: Vec<u8> = (0..80_000).flat_map(|_| random.bits().to_le_bytes()).collect();
        let frame = zstd::bulk::compress(&content, 1).unwrap();
        let mut bytes = Vec::new();
        for _ in 0..12 {
            bytes.extend(0x184D_2A50_u32.to_le_bytes());
            bytes.extend(4_u32.to_le_bytes());
            bytes.extend((frame.len() as u32).to_le_bytes());
            bytes.extend(&frame);
        }
        let mut file = tempfile::tempfile().unwrap();
        io::Write::write_all(&mut file, &bytes).unwrap();
        let map = Mapped::of_file(&file).unwrap();
        let mut frames = Frames::new(&map, u64::MAX).unwrap();
        let mut taken = 0;
        loop {
            match frames.step() {
                FrameStep::Job(job) => frames.complete(job.run()),
                FrameStep::Bytes(bytes, error, _) => {
                    assert!(error.is_none() && *bytes == content);
                    taken += 1;
                }
                FrameStep::End => break,
                FrameStep::Wait | FrameStep::Stream(_) => unreachable!(),
            }
        }
        assert_eq!(taken, 12);
        assert_eq!(map.resident(), 0);
    }
}
