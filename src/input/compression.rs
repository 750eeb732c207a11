//! Compressed containers: detection and decompression.
//!
//! All three kinds may be concatenated (zstd frames, gzip members, bzip2 streams), and zstd files may have skippable
//! frames anywhere, even at the start: `pzstd` stores the size of each frame in one. Windows are accepted up to a limit
//! ([`Access::max_window`](super::Access::max_window)), and never beyond 2 GiB, the decoder's maximum.

use super::window::Watch;
use std::fmt;
use std::io::{self, BufRead, BufReader, Read};

/// A compressed container.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Compression {
    /// Zstandard: frames, and skippable frames between them.
    Zstd,
    /// gzip: members.
    Gzip,
    /// bzip2: streams.
    Bzip2,
}

impl Compression {
    /// Detects a container by its first bytes.
    pub fn detect(head: &[u8]) -> Option<Self> {
        match head {
            [0x28, 0xB5, 0x2F, 0xFD, ..] | [0x50..=0x5F, 0x2A, 0x4D, 0x18, ..] => Some(Self::Zstd),
            [0x1F, 0x8B, 8, ..] => Some(Self::Gzip),
            [b'B', b'Z', b'h', b'1'..=b'9', ..] => Some(Self::Bzip2),
            _ => None,
        }
    }
    /// Detects a container by the file extension.
    pub fn of_extension(extension: &str) -> Option<Self> {
        match extension.to_ascii_lowercase().as_str() {
            "zst" | "zstd" => Some(Self::Zstd),
            "gz" => Some(Self::Gzip),
            "bz2" => Some(Self::Bzip2),
            _ => None,
        }
    }
    /// `zstd`, `gzip` or `bzip2`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Zstd => "zstd",
            Self::Gzip => "gzip",
            Self::Bzip2 => "bzip2",
        }
    }
    /// Detects the container of a reader's bytes, and returns it with a reader of the content.
    ///
    /// # Errors
    /// If the first bytes cannot be read.
    pub(super) fn find<R: Read + Send + 'static>(
        mut reader: R,
        max_window: u64,
    ) -> io::Result<(Option<Self>, Box<dyn Read + Send>)> {
        // A pipe may deliver one byte at a time, so read until the magic number is complete.
        let mut head = [0; 4];
        let mut len = 0;
        while len < head.len() {
            match reader.read(&mut head[len..]) {
                Ok(0) => break,
                Ok(read) => len += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        let head = head[..len].to_vec();
        let found = Self::detect(&head);
        let whole = io::Cursor::new(head).chain(reader);
        let reader = match found {
            None => Box::new(whole),
            Some(compression) => compression.reader(BufReader::with_capacity(256 << 10, whole), max_window)?,
        };
        Ok((found, reader))
    }
    /// A reader of the content.
    pub(super) fn reader<R: BufRead + Send + 'static>(
        self,
        inner: R,
        max_window: u64,
    ) -> io::Result<Box<dyn Read + Send>> {
        Ok(match self {
            Self::Zstd => {
                let mut decoder = zstd::stream::read::Decoder::with_buffer(Watch::new(inner, max_window))?;
                decoder.window_log_max(31)?;
                Box::new(decoder)
            }
            Self::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(inner)),
            Self::Bzip2 => Box::new(bzip2::bufread::MultiBzDecoder::new(inner)),
        })
    }
}

impl fmt::Display for Compression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
