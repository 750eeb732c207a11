//! Compression of pages.

use crate::ParseError;
use std::fmt;
use std::io;
use std::str::FromStr;

/// The compression of pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "cluster", derive(serde::Serialize, serde::Deserialize))]
pub enum Compression {
    /// No compression.
    None,
    /// Snappy.
    Snappy,
    /// Zstandard, with a level from 1 to 22.
    Zstd(u8),
}

/// How the pages of a Parquet file are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "cluster", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct ParquetPages {
    /// Their compression.
    pub compression: Compression,
    /// Whether the columns `key` and `fen` have Bloom filters, with which readers skip row groups that lack a value.
    pub bloom_filters: bool,
}

impl ParquetPages {
    /// The columns that can have Bloom filters: those in which people look for single values.
    pub const FILTERED: [&str; 2] = ["fen", "key"];

    /// Pages with this compression, and Bloom filters if they are wanted.
    pub const fn new(compression: Compression, bloom_filters: bool) -> Self {
        Self { compression, bloom_filters }
    }
}

impl Default for Compression {
    fn default() -> Self {
        Self::Zstd(1)
    }
}

impl FromStr for Compression {
    type Err = ParseError;
    fn from_str(name: &str) -> Result<Self, ParseError> {
        let unknown = || {
            ParseError::new(format!("unknown compression `{name}`: expected zstd, zstd:1 to zstd:22, snappy or none"))
        };
        match name.split_once(':') {
            None if name == "none" => Ok(Self::None),
            None if name == "snappy" => Ok(Self::Snappy),
            None if name == "zstd" => Ok(Self::default()),
            Some(("zstd", digits)) => match digits.parse() {
                // Not `+3` or `03`.
                Ok(level @ 1u8..=22) if level.to_string() == digits => Ok(Self::Zstd(level)),
                _ => Err(unknown()),
            },
            _ => Err(unknown()),
        }
    }
}

impl fmt::Display for Compression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("none"),
            Self::Snappy => f.write_str("snappy"),
            Self::Zstd(level) => write!(f, "zstd:{level}"),
        }
    }
}

impl Compression {
    /// The representation of the compression in the metadata of a file.
    pub(super) fn codec(self) -> parquet::basic::Compression {
        match self {
            Self::None => parquet::basic::Compression::UNCOMPRESSED,
            Self::Snappy => parquet::basic::Compression::SNAPPY,
            // The level is not stored in files.
            Self::Zstd(_) => parquet::basic::Compression::ZSTD(Default::default()),
        }
    }
    pub(super) fn compressor(self) -> io::Result<Compressor> {
        Ok(match self {
            Self::None => Compressor::None,
            Self::Snappy => Compressor::Snappy(Box::new(snap::raw::Encoder::new())),
            Self::Zstd(level) => Compressor::Zstd(zstd::bulk::Compressor::new(level.into())?),
        })
    }
}

/// A compressor for one page after the other.
pub(super) enum Compressor {
    None,
    Snappy(Box<snap::raw::Encoder>),
    Zstd(zstd::bulk::Compressor<'static>),
}

impl fmt::Debug for Compressor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Compressor")
    }
}

impl Compressor {
    /// The compressed content.
    pub(super) fn compress(&mut self, content: &[u8]) -> io::Result<Vec<u8>> {
        match self {
            Self::None => Ok(content.to_vec()),
            Self::Snappy(encoder) => Ok(encoder.compress_vec(content)?),
            Self::Zstd(compressor) => compressor.compress(content),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        for name in ["none", "snappy", "zstd:1", "zstd:22"] {
            assert_eq!(name.parse::<Compression>().unwrap().to_string(), name);
        }
        assert_eq!("zstd".parse(), Ok(Compression::Zstd(1)));
        for name in ["", "gzip", "zstd:", "zstd:0", "zstd:23", "zstd:+3", "zstd:03", "none:1", "snappy:3"] {
            assert!(name.parse::<Compression>().is_err(), "{name}");
        }
    }
}
