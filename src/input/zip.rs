//! Zip archives: the list of their members, and the content of each.
//!
//! The central directory at the end of an archive lists its members, and only these are read. First, the directory is
//! compared with the rest of the file. Every member must be where the directory says, with the same name, and must not
//! overlap another; the first member must be at the beginning of the archive. A truncated archive, or a file with
//! several archives, is therefore an error rather than a shorter list. The decompressed data must have the length and
//! the CRC-32 that the directory gives.
//!
//! Work and memory are linear in the size of the file, whatever numbers it contains: members do not overlap, and no
//! number in the file decides how much memory is reserved.

use super::mmap::Mapped;
use super::read_ahead::Counted;
use super::{Bytes, Compression};
use crate::error::{Damage, Error};
use crate::poisoned_locks::Unpoisoned;
use flate2::Crc;
use flate2::bufread::DeflateDecoder;
use rawzip::{
    CompressionMethod, EntryFlags, ErrorKind, FileReader, MAX_CENTRAL_DIRECTORY_RECORD_SIZE, RangeReader, ReaderAt,
    ZipArchive, ZipArchiveEntryWayfinder,
};
use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, OnceLock, Weak};

/// The container in messages.
pub(super) const NAME: &str = "zip";
/// A stored member of a mapped archive is handed out, and checked, in slices of this length: long enough that hardly
/// any record lies across two of them.
const SLICE: usize = 4 << 20;

/// Maximum size of the record at the end, including a comment.
const LONGEST_END: u64 = 22 + u16::MAX as u64;

/// Whether these are the first bytes of an archive: of its first member, or of an empty one.
pub(crate) fn is_archive(head: &[u8]) -> bool {
    head.starts_with(b"PK\x03\x04") || head.starts_with(b"PK\x05\x06")
}

/// Whether this is the name of an archive.
pub(crate) fn is_archive_name(name: &Path) -> bool {
    name.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("zip"))
}

/// A file that is an archive.
#[derive(Debug)]
pub(super) struct Archive {
    path: Arc<Path>,
    /// The length of the archive when the directory was read.
    len: u64,
    /// The open file, while it is needed.
    open: Mutex<Weak<OpenArchive>>,
}

/// An archive that is open.
#[derive(Debug)]
pub(super) struct OpenArchive {
    reader: FileReader,
    file: File,
    /// `None` if it cannot be mapped.
    map: OnceLock<Option<Mapped<u8>>>,
}

impl ReaderAt for OpenArchive {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        self.reader.read_at(buffer, offset)
    }
}

impl OpenArchive {
    fn new(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        Ok(Self { reader: FileReader::from(file.try_clone()?), file, map: OnceLock::new() })
    }

    fn map(&self) -> Option<&Mapped<u8>> {
        self.map.get_or_init(|| Mapped::of_file(&self.file).ok()).as_ref()
    }
}

/// A file of an archive.
#[derive(Debug)]
pub(super) struct Member {
    archive: Arc<Archive>,
    /// The place of its bytes, or the reason why they cannot be read.
    data: Result<Range<u64>, String>,
    packing: Packing,
    content: Content,
}

/// The way in which the content of a member is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Packing {
    /// The bytes are the content.
    Plain,
    /// The bytes are the content, which is a compressed file.
    Compressed,
    /// The bytes are deflated.
    Deflated,
}

/// The expected length and checksum of a member's content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Content {
    len: u64,
    crc: u32,
}

impl Content {
    /// Compares the bytes read with the expected values.
    fn check(self, len: u64, crc: u32) -> io::Result<()> {
        let Self { len: expected, crc: expected_crc } = self;
        if len != expected {
            return Err(damaged(format!("the member has {len} bytes instead of {expected}")));
        }
        if crc != expected_crc {
            return Err(damaged(format!("the CRC-32 of the member is {crc:08x} instead of {expected_crc:08x}")));
        }
        Ok(())
    }
}

fn damaged(what: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

/// The files of an archive in the order of their names, without directories and hidden files.
#[derive(Debug)]
pub(super) struct Listing {
    pub(super) members: Vec<(PathBuf, Member)>,
    /// Keeps the archive open, so that members need not open it again.
    pub(super) open: Arc<OpenArchive>,
}

/// Whether a file is an archive, by its content or its name.
///
/// # Errors
/// If the file cannot be read.
pub(super) fn is_archive_file(path: &Arc<Path>) -> Result<bool, Error> {
    let head = || {
        let mut head = Vec::with_capacity(4);
        File::open(path)?.take(4).read_to_end(&mut head)?;
        Ok(head)
    };
    let head = head().map_err(|source| Error::Open { path: Arc::clone(path), source })?;
    Ok(is_archive(&head) || is_archive_name(path))
}

/// Lists an archive.
///
/// # Errors
/// If it cannot be read, is not an archive, or its directory is damaged or does not agree with the rest.
pub(super) fn list(path: &Arc<Path>) -> Result<Listing, Error> {
    let failed = |source| Error::Open { path: Arc::clone(path), source };
    let open = Arc::new(OpenArchive::new(path).map_err(failed)?);
    let metadata = open.file.metadata().map_err(failed)?;
    let archive =
        Arc::new(Archive { path: Arc::clone(path), len: metadata.len(), open: Mutex::new(Arc::downgrade(&open)) });
    let mut head = [0; 4];
    let read = open.read_at(&mut head, 0).map_err(failed)?;
    match read_directory(&archive, Arc::clone(&open)) {
        Ok(listing) => Ok(listing),
        // Only its name is that of an archive.
        Err(Wrong::Damage(damage)) if damage.offset == archive.len && read == head.len() && !is_archive(&head) => {
            Err(Error::NoContainer { path: Arc::clone(path), container: NAME })
        }
        Err(Wrong::Damage(damage)) => Err(Error::Damaged { path: Arc::clone(path), damage }),
        Err(Wrong::Read(source)) => Err(failed(source)),
    }
}

/// An error in an archive.
enum Wrong {
    Read(io::Error),
    Damage(Damage),
}

impl Wrong {
    fn at(offset: u64, what: impl Into<String>) -> Self {
        Self::Damage(Damage::at(offset, what))
    }

    /// An error from the zip library, about this place.
    fn of(error: rawzip::Error, offset: u64, what: &str) -> Self {
        match error.into_kind() {
            ErrorKind::IO(source) if source.kind() != io::ErrorKind::UnexpectedEof => Self::Read(source),
            _ => Self::at(offset, what),
        }
    }
}

/// An entry of the directory.
struct Entry {
    name: Vec<u8>,
    /// Where the header of the member is.
    header: u64,
    wayfinder: ZipArchiveEntryWayfinder,
    flags: EntryFlags,
    method: CompressionMethod,
    content: Content,
}

impl Entry {
    fn shown(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.name)
    }
}

fn read_directory(archive: &Arc<Archive>, open: Arc<OpenArchive>) -> Result<Listing, Wrong> {
    const NO_END: &str = "the end is missing: the archive is truncated, and has no directory of its members";
    let mut buffer = vec![0; MAX_CENTRAL_DIRECTORY_RECORD_SIZE];
    let located = ZipArchive::with_max_search_space(LONGEST_END).locate_in_reader(&*open, &mut buffer, archive.len);
    let found = located.map_err(|(_, error)| Wrong::of(error, archive.len, NO_END))?;
    check_end(archive, &open, found.eocd_offset(), found.end_offset())?;
    let mut entries = read_entries(&found, &mut buffer)?;
    entries.sort_by_key(|entry| entry.header);
    // In this order, the end of each member is known: it must end before the next one begins.
    let directory = found.directory_offset();
    let ends = entries.iter().skip(1).map(|entry| entry.header).chain([directory]).collect::<Vec<_>>();
    let mut members = Vec::new();
    for (entry, &end) in entries.iter().zip(&ends) {
        members.push(member_of(archive, &found, entry, end)?);
    }
    let first = entries.first().map_or(directory, |entry| entry.header);
    let mut head = [0; 4];
    if first > 0 && open.read_exact_at(&mut head, 0).is_ok() && is_archive(&head) {
        let what = format!("the directory does not list the bytes before byte {first}: one archive follows another");
        return Err(Wrong::at(0, what));
    }
    let names = entries.into_iter().map(|entry| entry.name);
    Ok(listing(&archive.path, names.zip(members), open))
}

/// The entries of the directory.
fn read_entries(found: &ZipArchive<&OpenArchive>, buffer: &mut [u8]) -> Result<Vec<Entry>, Wrong> {
    let mut entries: Vec<Entry> = Vec::new();
    let mut place = found.directory_offset();
    let mut listed = found.entries(buffer);
    while let Some(entry) = listed.next_entry().map_err(|error| Wrong::of(error, place, "the directory is damaged"))? {
        place = entry.central_directory_offset();
        entries.push(Entry {
            name: entry.file_path().as_bytes().to_vec(),
            header: entry.local_header_offset(),
            wayfinder: entry.wayfinder(),
            flags: entry.flags(),
            method: entry.compression_method(),
            content: Content { len: entry.uncompressed_size_hint(), crc: entry.crc32() },
        });
    }
    // Some programs write archives with more entries than fit in 16 bits, but only have the 16-bit number.
    let (listed, hint) = (entries.len() as u64, found.entries_hint());
    if listed != hint && (hint > u64::from(u16::MAX) || listed & 0xFFFF != hint) {
        let what = format!("the directory has {listed} entries instead of {hint}");
        return Err(Wrong::at(found.directory_offset(), what));
    }
    Ok(entries)
}

/// The member for an entry; it must end before `limit`, where the next one begins.
fn member_of(
    archive: &Arc<Archive>,
    found: &ZipArchive<&OpenArchive>,
    entry: &Entry,
    limit: u64,
) -> Result<Member, Wrong> {
    let &Entry { header, flags, method, content, .. } = entry;
    let at_header = |error| Wrong::of(error, header, &format!("`{}` is not where the directory says", entry.shown()));
    let local = found.get_entry(entry.wayfinder).map_err(at_header)?;
    let (start, end) = local.compressed_data_range();
    if end > limit {
        return Err(Wrong::at(header, format!("`{}` overlaps what follows it", entry.shown())));
    }
    let mut buffer = vec![0; usize::try_from(start - header).unwrap_or(0)];
    let local_header = local.local_header(&mut buffer).map_err(at_header)?;
    if local_header.file_path().as_bytes() != entry.name
        || local_header.compression_method() != method
        || local_header.flags().is_encrypted() != flags.is_encrypted()
    {
        return Err(Wrong::at(header, format!("the directory and the header of `{}` differ", entry.shown())));
    }
    let mut head = [0; 4];
    let head_len = match method {
        CompressionMethod::STORE => {
            let read = found.get_ref().read_at(&mut head, start).map_err(Wrong::Read)?;
            read.min((end - start).min(4) as usize)
        }
        _ => 0,
    };
    Ok(Member {
        archive: Arc::clone(archive),
        data: refusal(method, flags.is_encrypted() || flags.has_strong_encryption()).map_or(Ok(start..end), Err),
        packing: match (method, Compression::detect(&head[..head_len])) {
            (CompressionMethod::STORE, None) => Packing::Plain,
            (CompressionMethod::STORE, Some(_)) => Packing::Compressed,
            _ => Packing::Deflated,
        },
        content,
    })
}

/// Checks the record at the end.
fn check_end(archive: &Archive, open: &OpenArchive, at: u64, end: u64) -> Result<(), Wrong> {
    let mut record = [0; 12];
    open.read_exact_at(&mut record, at).map_err(Wrong::Read)?;
    let number = |place: usize| u16::from_le_bytes([record[place], record[place + 1]]);
    let (disk, first_disk) = (number(4), number(6));
    // Both are 65,535 if longer numbers are stored elsewhere.
    if ![(0, 0), (u16::MAX, u16::MAX)].contains(&(disk, first_disk)) || number(8) != number(10) {
        return Err(Wrong::at(at, "this is one part of an archive in several files; join them first"));
    }
    match archive.len.checked_sub(end) {
        Some(0) => Ok(()),
        rest => Err(Wrong::at(end, format!("the archive ends here, and {} bytes follow", rest.unwrap_or_default()))),
    }
}

/// The reason why a member cannot be read.
fn refusal(method: CompressionMethod, is_encrypted: bool) -> Option<String> {
    let what = match method {
        _ if is_encrypted => "is encrypted".to_owned(),
        CompressionMethod::STORE | CompressionMethod::DEFLATE => return None,
        _ => match method.name() {
            Some(name) => format!("is compressed by the method {name}"),
            None => format!("is compressed by the method number {}", method.as_u16()),
        },
    };
    Some(format!("it {what} in the zip archive; only stored and deflated members are read: extract it first"))
}

/// The members in the order of their names.
fn listing(path: &Path, members: impl Iterator<Item = (Vec<u8>, Member)>, open: Arc<OpenArchive>) -> Listing {
    let mut listing = Listing { members: Vec::new(), open };
    for (name, member) in members {
        if name.ends_with(b"/") || is_hidden(&name) {
            continue;
        }
        // `join` would drop the archive before an absolute name.
        let mut shown = path.as_os_str().to_owned();
        shown.push("/");
        shown.push(&*String::from_utf8_lossy(&name));
        listing.members.push((shown.into(), member));
    }
    listing.members.sort_by(|(name, _), (other, _)| name.cmp(other));
    listing
}

/// Whether a member is not part of a dataset, like the files that macOS adds: see [`Inputs::resolve`](super::Inputs).
fn is_hidden(name: &[u8]) -> bool {
    let is_hidden = |part: &[u8]| part.starts_with(b"_") || part.starts_with(b".") && part != b"." && part != b"..";
    name.split(|&byte| byte == b'/').any(is_hidden)
}

/// An open member.
pub(super) enum OpenMember {
    /// The content of the member is a part of the mapped archive, and not compressed.
    Stored(Stored),
    /// The member has to be read.
    Read(Box<dyn Read + Send>),
}

impl Member {
    /// The archive.
    pub(super) fn archive(&self) -> &Arc<Path> {
        &self.archive.path
    }

    /// The number of bytes of the member in the archive.
    pub(super) fn len(&self) -> u64 {
        self.data.as_ref().map_or(0, |data| data.end - data.start)
    }

    /// Whether it is used in place, if the archive can be mapped.
    pub(super) fn is_in_place(&self, map: bool) -> bool {
        map && self.packing == Packing::Plain
    }

    /// Opens the member. `count` counts the bytes that are read from the archive.
    pub(super) fn open(&self, map: bool, count: &Arc<AtomicU64>) -> io::Result<OpenMember> {
        let data = self.data.clone().map_err(|reason| io::Error::new(io::ErrorKind::Unsupported, reason))?;
        let open = self.archive.open()?;
        if self.is_in_place(map)
            && let Some(map) = open.map()
            && let Ok(range) = usize::try_from(data.start).and_then(|start| Ok(start..usize::try_from(data.end)?))
            && range.end <= map.len()
        {
            return Ok(OpenMember::Stored(Stored { bytes: Bytes::mapped(map.slice(range)), content: self.content }));
        }
        let counted = Counted { inner: RangeReader::new(open, data), count: Arc::clone(count) };
        Ok(OpenMember::Read(match self.packing {
            Packing::Deflated => {
                let buffered = BufReader::with_capacity(256 << 10, counted);
                Box::new(Checked::new(DeflateDecoder::new(buffered), self.content))
            }
            Packing::Plain | Packing::Compressed => Box::new(Checked::new(counted, self.content)),
        }))
    }
}

impl Archive {
    /// Opens the file, unless it is open for another member.
    fn open(&self) -> io::Result<Arc<OpenArchive>> {
        let mut open = self.open.lock().unpoisoned();
        if let Some(open) = open.upgrade() {
            return Ok(open);
        }
        let opened = Arc::new(OpenArchive::new(&self.path)?);
        if opened.file.metadata()?.len() != self.len {
            return Err(io::Error::other("the zip archive changed after its directory was read"));
        }
        *open = Arc::downgrade(&opened);
        Ok(opened)
    }
}

/// Reads the content of a member, and checks it at its end.
struct Checked<R> {
    inner: R,
    content: Content,
    len: u64,
    crc: Crc,
}

impl<R> Checked<R> {
    fn new(inner: R, content: Content) -> Self {
        Self { inner, content, len: 0, crc: Crc::new() }
    }
}

impl<R: Read> Read for Checked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.crc.update(&buffer[..read]);
        self.len += read as u64;
        if self.len > self.content.len {
            return Err(damaged(format!("the member has more than {} bytes", self.content.len)));
        }
        if read == 0 && !buffer.is_empty() {
            self.content.check(self.len, self.crc.sum())?;
        }
        Ok(read)
    }
}

/// The content of a stored member, as a part of the mapped archive.
#[derive(Clone, Debug)]
pub(super) struct Stored {
    pub(super) bytes: Bytes,
    content: Content,
}

impl Stored {
    /// Checks the whole content.
    pub(super) fn check(&self) -> io::Result<()> {
        let mut slices = self.slices();
        while let Some(slice) = slices.next()? {
            slice.release();
        }
        Ok(())
    }

    /// The slices of the member.
    pub(super) fn slices(&self) -> Slices {
        Slices { stored: self.clone(), at: 0, crc: Crc::new() }
    }
}

/// Slices of a stored member, one after the other.
#[derive(Debug)]
pub(super) struct Slices {
    stored: Stored,
    at: usize,
    crc: Crc,
}

impl Slices {
    /// The next slice; the error after the last one, if the content is wrong.
    pub(super) fn next(&mut self) -> io::Result<Option<Bytes>> {
        let Stored { bytes, content } = &self.stored;
        if self.at == bytes.len() {
            content.check(self.at as u64, self.crc.sum())?;
            return Ok(None);
        }
        let end = bytes.len().min(self.at + SLICE);
        let slice = bytes.slice(self.at..end);
        self.crc.update(&slice);
        // If the file has become shorter, there are zeros beyond its end.
        slice.check()?;
        self.at = end;
        Ok(Some(slice))
    }
}
