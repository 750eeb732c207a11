//! Compressed outputs: blocks of fixed size, compressed on several threads and written in order.
//!
//! The data is cut after a fixed number of bytes, so that the result depends only on the content and the level, not
//! on the number of threads or the sizes of the writes.
//!
//! - zstd: one frame per block, with its content size and a checksum, preceded by the skippable frame in which `pzstd`
//!   stores the length of a frame. Readers that use either can decompress the frames in parallel.
//! - gzip: one member. Blocks are deflated independently and end on a byte boundary, as with `pigz
//!   --independent`.
//! - bzip2: one stream per block, as `pbzip2` writes them.

use crate::error::Error;
use crate::input::Compression;
use crate::poisoned_locks::Unpoisoned;
use flate2::{Compress, Crc, FlushCompress, Status};
use std::collections::VecDeque;
use std::fmt;
use std::io::{self, Write};
use std::ops::RangeInclusive;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread;

/// Levels of a compression, from fast to small.
pub const fn levels(compression: Compression) -> RangeInclusive<i32> {
    match compression {
        Compression::Zstd => 1..=22,
        Compression::Gzip | Compression::Bzip2 => 1..=9,
    }
}

/// The default level of the program of the same name.
pub const fn default_level(compression: Compression) -> i32 {
    match compression {
        Compression::Zstd => 3,
        Compression::Gzip => 6,
        Compression::Bzip2 => 9,
    }
}

/// Bytes per block. Smaller ones compress worse, larger ones keep fewer threads busy.
const fn block_len(compression: Compression, level: i32) -> usize {
    match compression {
        // From this level on, the encoder looks back further than 4 MiB.
        Compression::Zstd if level >= 17 => 16 << 20,
        Compression::Zstd | Compression::Bzip2 => 4 << 20,
        Compression::Gzip => 1 << 20,
    }
}

/// Maximum number of threads, which limits the memory of blocks in flight.
const MOST_THREADS: usize = 32;

/// Compresses the data written to it, on several threads. [`Compressed::finish`] completes the container; without it
/// the output is truncated.
///
/// ```
/// use lanefish::input::Compression;
/// use lanefish::output::compress::Compressed;
/// use std::io::Write;
///
/// let mut out = Compressed::new(Vec::new(), Compression::Zstd, 3, 2)?;
/// out.write_all(b"8/8/8/8/8/8/8/8")?;
/// assert!(out.finish()?.starts_with(b"\x50\x2A\x4D\x18"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Compressed<W> {
    out: W,
    compression: Compression,
    level: i32,
    block: Vec<u8>,
    block_len: usize,
    /// Sends blocks to the threads; `None` if the calling thread compresses them.
    workers: Option<Sender<Task>>,
    threads: usize,
    /// Blocks in flight, in order.
    pending: VecDeque<Receiver<io::Result<Block>>>,
    begun: bool,
    /// For gzip: checksum and length of everything.
    crc: Crc,
}

/// A block to be compressed, and where the result goes.
struct Task {
    content: Vec<u8>,
    done: std::sync::mpsc::SyncSender<io::Result<Block>>,
}

/// A compressed block.
struct Block {
    bytes: Vec<u8>,
    crc: Crc,
}

impl<W: fmt::Debug> fmt::Debug for Compressed<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Compressed")
            .field("out", &self.out)
            .field("compression", &self.compression)
            .field("level", &self.level)
            .finish_non_exhaustive()
    }
}

impl<W: Write> Compressed<W> {
    /// Begins a container. With `threads` = 1 the calling thread does all the work; levels out of range become the
    /// nearest of [`levels`].
    ///
    /// # Errors
    /// [`Error::Threads`] if they cannot be started.
    pub fn new(out: W, compression: Compression, level: i32, threads: usize) -> Result<Self, Error> {
        let levels = levels(compression);
        let level = level.clamp(*levels.start(), *levels.end());
        let threads = threads.clamp(1, MOST_THREADS);
        let workers = match threads {
            1 => None,
            _ => Some(start(compression, level, threads)?),
        };
        Ok(Self {
            out,
            compression,
            level,
            block: Vec::new(),
            block_len: block_len(compression, level),
            workers,
            threads,
            pending: VecDeque::new(),
            begun: false,
            crc: Crc::new(),
        })
    }

    /// Passes on the block being filled, and writes those that are finished.
    fn end_block(&mut self) -> io::Result<()> {
        let content = std::mem::take(&mut self.block);
        let Some(workers) = &self.workers else {
            let block = compress(self.compression, self.level, &content)?;
            self.block = content;
            self.block.clear();
            return self.put(&block);
        };
        let (done, receiver) = sync_channel(1);
        workers.send(Task { content, done }).map_err(|_| io::Error::other("a compressing thread ended early"))?;
        self.pending.push_back(receiver);
        // At most one block per thread is in flight.
        while self.pending.len() > self.threads {
            self.take_first(true)?;
        }
        while self.take_first(false)? {}
        Ok(())
    }

    /// Writes the first of the pending blocks; false if there is none, or if it is not finished.
    fn take_first(&mut self, wait: bool) -> io::Result<bool> {
        let Some(first) = self.pending.front() else {
            return Ok(false);
        };
        let lost = || io::Error::other("a compressing thread ended early");
        let block = if wait {
            first.recv().map_err(|_| lost())?
        } else {
            match first.try_recv() {
                Ok(block) => block,
                Err(TryRecvError::Empty) => return Ok(false),
                Err(TryRecvError::Disconnected) => return Err(lost()),
            }
        };
        self.pending.pop_front();
        self.put(&block?)?;
        Ok(true)
    }

    fn put(&mut self, block: &Block) -> io::Result<()> {
        self.begin()?;
        if self.compression == Compression::Zstd {
            let len = u32::try_from(block.bytes.len()).map_err(io::Error::other)?;
            let mut announcement = [0; 12];
            announcement[..4].copy_from_slice(&0x184D_2A50_u32.to_le_bytes());
            announcement[4..8].copy_from_slice(&4_u32.to_le_bytes());
            announcement[8..].copy_from_slice(&len.to_le_bytes());
            self.out.write_all(&announcement)?;
        }
        self.crc.combine(&block.crc);
        self.out.write_all(&block.bytes)
    }

    /// The bytes before the first block.
    fn begin(&mut self) -> io::Result<()> {
        if !self.begun && self.compression == Compression::Gzip {
            // Deflate, no flags, no time, no hint, unknown system.
            self.out.write_all(&[0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 255])?;
        }
        self.begun = true;
        Ok(())
    }

    /// Completes the container and returns the inner writer.
    ///
    /// # Errors
    /// If writing fails.
    pub fn finish(mut self) -> io::Result<W> {
        // An empty output is a container as well.
        if !self.block.is_empty() || (!self.begun && self.pending.is_empty()) {
            self.end_block()?;
        }
        while self.take_first(true)? {}
        if self.compression == Compression::Gzip {
            // An empty last block, then checksum and length.
            self.out.write_all(&[3, 0])?;
            self.out.write_all(&self.crc.sum().to_le_bytes())?;
            self.out.write_all(&self.crc.amount().to_le_bytes())?;
        }
        Ok(self.out)
    }

    /// The inner writer.
    pub fn get_ref(&self) -> &W {
        &self.out
    }
}

impl<W: Write> Write for Compressed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.block.capacity() == 0 {
            self.block.reserve_exact(self.block_len);
        }
        let taken = bytes.len().min(self.block_len - self.block.len());
        self.block.extend_from_slice(&bytes[..taken]);
        if self.block.len() == self.block_len {
            self.end_block()?;
        }
        Ok(taken)
    }

    /// Does not end the current block: only finished blocks are written.
    fn flush(&mut self) -> io::Result<()> {
        while self.take_first(false)? {}
        self.out.flush()
    }
}

/// Starts threads that compress until the sender is dropped.
fn start(compression: Compression, level: i32, threads: usize) -> Result<Sender<Task>, Error> {
    let (sender, tasks) = channel::<Task>();
    let tasks = Arc::new(Mutex::new(tasks));
    for _ in 0..threads {
        let tasks = Arc::clone(&tasks);
        let work = move || {
            loop {
                let task = tasks.lock().unpoisoned().recv();
                let Ok(Task { content, done }) = task else {
                    return;
                };
                // The receiver is gone if the output was abandoned.
                let _ = done.send(compress(compression, level, &content));
            }
        };
        thread::Builder::new()
            .name("compress".to_owned())
            .spawn(work)
            .map_err(|reason| Error::Threads { threads, reason: reason.to_string() })?;
    }
    Ok(sender)
}

/// Compresses one block.
fn compress(compression: Compression, level: i32, content: &[u8]) -> io::Result<Block> {
    let mut crc = Crc::new();
    let bytes = match compression {
        Compression::Zstd => {
            // Compressing at once puts the size of the content into the header.
            let mut encoder = zstd::bulk::Compressor::new(level)?;
            encoder.set_parameter(zstd::zstd_safe::CParameter::ChecksumFlag(true))?;
            encoder.compress(content)?
        }
        Compression::Gzip => {
            crc.update(content);
            deflate(level, content)?
        }
        Compression::Bzip2 => {
            let level = bzip2::Compression::new(level.unsigned_abs());
            let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), level);
            encoder.write_all(content)?;
            encoder.finish()?
        }
    };
    Ok(Block { bytes, crc })
}

/// Deflates a block that ends on a byte boundary and is not the last of its stream.
fn deflate(level: i32, content: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = Compress::new(flate2::Compression::new(level.unsigned_abs()), false);
    let mut bytes = Vec::with_capacity(content.len() / 2 + 1024);
    loop {
        let done = usize::try_from(encoder.total_in()).map_err(io::Error::other)?;
        let status = encoder.compress_vec(&content[done..], &mut bytes, FlushCompress::Sync)?;
        // Free space in the buffer means that all output has been written.
        if encoder.total_in() == content.len() as u64 && bytes.len() < bytes.capacity() {
            return Ok(bytes);
        }
        if status == Status::StreamEnd {
            return Err(io::Error::other("deflate ended early"));
        }
        bytes.reserve(bytes.capacity().max(1024));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    const ALL: [Compression; 3] = [Compression::Zstd, Compression::Gzip, Compression::Bzip2];

    fn text(len: usize) -> Vec<u8> {
        (0..).flat_map(|line: u64| format!("{line} {}\n", line.wrapping_mul(line)).into_bytes()).take(len).collect()
    }

    fn compressed(compression: Compression, threads: usize, content: &[u8], step: usize) -> Vec<u8> {
        let mut out = Compressed::new(Vec::new(), compression, 1, threads).unwrap();
        for bytes in content.chunks(step.max(1)) {
            out.write_all(bytes).unwrap();
        }
        out.finish().unwrap()
    }

    fn decompressed(compression: Compression, bytes: &[u8]) -> Vec<u8> {
        let mut content = Vec::new();
        match compression {
            Compression::Zstd => zstd::stream::read::Decoder::new(bytes).unwrap().read_to_end(&mut content),
            // gzip has a single member.
            Compression::Gzip => flate2::read::GzDecoder::new(bytes).read_to_end(&mut content),
            Compression::Bzip2 => bzip2::read::MultiBzDecoder::new(bytes).read_to_end(&mut content),
        }
        .unwrap();
        content
    }

    #[test]
    fn the_bytes_depend_only_on_the_content() {
        for compression in ALL {
            let block = block_len(compression, 1);
            for len in [0, 1, block - 1, block, block + 1, 2 * block + 77] {
                let content = text(len);
                let one = compressed(compression, 1, &content, len);
                assert!(decompressed(compression, &one) == content, "{compression} {len}");
                for (threads, step) in [(2, 1 << 16), (5, len / 2 + 1)] {
                    let other = compressed(compression, threads, &content, step);
                    assert!(one == other, "{compression} {len} {threads}");
                }
            }
        }
    }

    #[test]
    fn incompressible_data_is_complete() {
        let mut bits = 1u64;
        let noise: Vec<u8> = std::iter::repeat_with(|| {
            bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (bits >> 56) as u8
        })
        .take(3 << 20)
        .collect();
        let bytes = compressed(Compression::Gzip, 2, &noise, 12_345);
        assert!(decompressed(Compression::Gzip, &bytes) == noise);
    }

    #[test]
    fn frames_have_their_length_and_content_size() {
        let content = text(block_len(Compression::Zstd, 1) + 1000);
        let bytes = compressed(Compression::Zstd, 2, &content, 1 << 20);
        let (mut at, mut sizes) = (0, Vec::new());
        while at < bytes.len() {
            assert_eq!(bytes[at..at + 8], [0x50, 0x2A, 0x4D, 0x18, 4, 0, 0, 0]);
            let len = u32::from_le_bytes(bytes[at + 8..at + 12].try_into().unwrap()) as usize;
            let frame = &bytes[at + 12..at + 12 + len];
            sizes.push(zstd::zstd_safe::get_frame_content_size(frame).unwrap());
            at += 12 + len;
        }
        assert_eq!(sizes, [Some(4 << 20), Some(1000)]);
    }

    #[test]
    fn errors_of_the_output_are_returned() {
        #[derive(Debug)]
        struct Full;
        impl Write for Full {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::ErrorKind::StorageFull.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        for threads in [1, 3] {
            let mut out = Compressed::new(Full, Compression::Zstd, 1, threads).unwrap();
            let error = out.write_all(&text(100)).and_then(|()| out.finish().map(drop)).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::StorageFull);
        }
    }
}
