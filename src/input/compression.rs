//! Compressed containers: detection and decompression.
//!
//! All three kinds may be concatenated (zstd frames, gzip members, bzip2 streams). Zero bytes may follow the last gzip
//! member or bzip2 stream. Zstd files may have skippable frames anywhere, even at the start: `pzstd` stores the size of
//! each frame in one. Windows are accepted up to a limit ([`Access::max_window`](super::Access::max_window)), and never
//! beyond 2 GiB, the decoder's maximum.

use super::zstd_window::Watch;
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
            Self::Gzip => Box::new(Members::<_, flate2::bufread::GzDecoder<R>>::new(inner)),
            Self::Bzip2 => Box::new(Members::<_, bzip2::bufread::BzDecoder<R>>::new(inner)),
        })
    }
}

/// A decoder of one gzip member or one bzip2 stream.
trait Member<R>: Read {
    fn begin(inner: R) -> Self;
    fn end(self) -> R;
}

impl<R: BufRead> Member<R> for flate2::bufread::GzDecoder<R> {
    fn begin(inner: R) -> Self {
        Self::new(inner)
    }
    fn end(self) -> R {
        self.into_inner()
    }
}

impl<R: BufRead> Member<R> for bzip2::bufread::BzDecoder<R> {
    fn begin(inner: R) -> Self {
        Self::new(inner)
    }
    fn end(self) -> R {
        self.into_inner()
    }
}

/// Members one after another, and zero bytes behind the last of them: tapes and block devices fill their blocks with these.
enum Members<R, M> {
    Within(M),
    /// Between members, or at the end.
    Between(R),
    /// A member could not be begun.
    Lost,
}

impl<R: BufRead, M: Member<R>> Members<R, M> {
    fn new(inner: R) -> Self {
        Self::Within(M::begin(inner))
    }

    /// Whether another member follows in the bytes.
    fn has_next(inner: &mut R) -> io::Result<bool> {
        let mut is_padding = false;
        loop {
            let bytes = match inner.fill_buf() {
                Ok(bytes) => bytes,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            let zeros = bytes.iter().take_while(|&&byte| byte == 0).count();
            is_padding |= zeros != 0;
            match bytes.len() {
                0 => return Ok(false),
                len if zeros == len => inner.consume(zeros),
                _ if is_padding => {
                    return Err(io::Error::new(
                        io::ErrorKind::InvalidData,
                        "the zero bytes at the end have data after them",
                    ));
                }
                _ => return Ok(true),
            }
        }
    }
}

impl<R: BufRead, M: Member<R>> Read for Members<R, M> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        loop {
            match self {
                Self::Within(member) => match member.read(buffer)? {
                    0 => {
                        if let Self::Within(member) = std::mem::replace(self, Self::Lost) {
                            *self = Self::Between(member.end());
                        }
                    }
                    read => return Ok(read),
                },
                Self::Between(inner) => {
                    if !Self::has_next(inner)? {
                        return Ok(0);
                    }
                    if let Self::Between(inner) = std::mem::replace(self, Self::Lost) {
                        *self = Self::Within(M::begin(inner));
                    }
                }
                Self::Lost => return Ok(0),
            }
        }
    }
}

impl fmt::Display for Compression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
