//! Polyglot opening books: entries of 16 bytes, sorted by the key of their position.
//!
//! The format is that of Polyglot by Fabien Letouzey, as his program and python-chess read it: numbers have the highest byte
//! first; castling is king takes rook.

use crate::chess::{Move, MoveKind, Position, Role, Square};
use crate::error::{Damage, Error};
use crate::formats::detect::open::is_book;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;

/// An entry of a Polyglot book.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BookEntry {
    /// The key of the position.
    pub key: u64,
    /// The move, with [castling](book_code) as king takes rook.
    pub code: u16,
    /// How often the move is to be played, beside the other moves of the position.
    pub weight: u16,
    /// A number for learning, which is 0 in books that nobody has learned from.
    pub learn: u32,
}

impl BookEntry {
    /// Number of bytes.
    pub const LEN: usize = 16;

    /// The bytes of the entry: numbers with the highest byte first.
    pub fn to_bytes(self) -> [u8; Self::LEN] {
        let mut bytes = [0; Self::LEN];
        bytes[..8].copy_from_slice(&self.key.to_be_bytes());
        bytes[8..10].copy_from_slice(&self.code.to_be_bytes());
        bytes[10..12].copy_from_slice(&self.weight.to_be_bytes());
        bytes[12..].copy_from_slice(&self.learn.to_be_bytes());
        bytes
    }
}

/// The code of a move in books: the square to which it goes in bits 0 to 5, the one from which it comes in bits 6 to 11, and
/// the piece of a promotion from bit 12 on, 1 for a knight up to 4 for a queen. Castling is king takes rook.
pub fn book_code(mv: Move) -> u16 {
    let piece = match mv.kind {
        MoveKind::Promotion(Role::Knight) => 1,
        MoveKind::Promotion(Role::Bishop) => 2,
        MoveKind::Promotion(Role::Rook) => 3,
        MoveKind::Promotion(_) => 4,
        _ => 0,
    };
    piece << 12 | (mv.from.index() as u16) << 6 | mv.to.index() as u16
}

impl BookEntry {
    /// The entry of some bytes.
    pub fn from_bytes(bytes: [u8; Self::LEN]) -> Self {
        let [k0, k1, k2, k3, k4, k5, k6, k7, c0, c1, w0, w1, l0, l1, l2, l3] = bytes;
        Self {
            key: u64::from_be_bytes([k0, k1, k2, k3, k4, k5, k6, k7]),
            code: u16::from_be_bytes([c0, c1]),
            weight: u16::from_be_bytes([w0, w1]),
            learn: u32::from_be_bytes([l0, l1, l2, l3]),
        }
    }

    /// Whether its move has a form that books know.
    fn is_plausible(self) -> bool {
        let (from, to) = (self.code >> 6 & 63, self.code & 63);
        self.code >> 15 == 0 && self.code >> 12 <= 4 && from != to
    }

    /// The move as text: castling is king takes rook.
    pub fn uci(self) -> String {
        let square = |number: u16| Square::new((number & 63) as u8).to_string();
        let piece = ["", "n", "b", "r", "q"].get(usize::from(self.code >> 12)).unwrap_or(&"?");
        format!("{}{}{piece}", square(self.code >> 6), square(self.code))
    }
}

/// A book that is open.
#[derive(Debug)]
pub struct PolyglotBook {
    path: Arc<Path>,
    file: BufReader<File>,
    entries: u64,
}

/// A move of a book.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BookMove {
    /// The move; `None` if it is not legal in its position.
    pub mv: Option<Move>,
    /// Its text.
    pub uci: String,
    /// Its weight.
    pub weight: u16,
    /// Its number for learning.
    pub learn: u32,
}

/// What a check of a book found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct BookFacts {
    /// Number of entries.
    pub entries: u64,
    /// Number of keys.
    pub positions: u64,
    /// Number of entries that were checked against a position that is known.
    pub checked: u64,
}

/// Number of entries that are looked at to recognize a book.
const SAMPLE: usize = 64;

impl PolyglotBook {
    /// Whether some first bytes are those of a book, and whether they are all of it: entries in order with plausible moves,
    /// of which no two are equal. Other formats do not have numbers that rise so.
    pub(crate) fn is_likely(head: &[u8], all: bool) -> bool {
        let (entries, rest) = head.as_chunks::<{ BookEntry::LEN }>();
        let entries: Vec<BookEntry> = entries.iter().take(SAMPLE).map(|&bytes| BookEntry::from_bytes(bytes)).collect();
        let order = |entry: &BookEntry| (entry.key, u16::MAX - entry.weight);
        let is_text = head.iter().all(|byte| byte.is_ascii_graphic() || byte.is_ascii_whitespace());
        !entries.is_empty()
            && !is_text
            && (!all || rest.is_empty())
            && entries.iter().all(|entry| entry.is_plausible())
            && entries.iter().any(|entry| entry.weight > 0)
            && entries.windows(2).all(|pair| order(&pair[0]) <= order(&pair[1]) && pair[0] != pair[1])
            && entries.last().is_some_and(|last| last.key >> 32 != 0)
    }

    /// Whether a file is a book, by its first bytes.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn is_one(path: &Path) -> io::Result<bool> {
        let mut head = Vec::new();
        File::open(path)?.take((SAMPLE * BookEntry::LEN) as u64 + 1).read_to_end(&mut head)?;
        let all = head.len() <= SAMPLE * BookEntry::LEN;
        Ok(is_book(&head, all, path))
    }

    /// Opens a book.
    ///
    /// # Errors
    /// If it cannot be opened, or its length is not a number of entries.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let path: Arc<Path> = path.into();
        let failed = |source| Error::Open { path: Arc::clone(&path), source };
        let file = File::open(&path).map_err(failed)?;
        let metadata = file.metadata().map_err(failed)?;
        if metadata.is_dir() {
            return Err(failed(io::ErrorKind::IsADirectory.into()));
        }
        let len = metadata.len();
        if !len.is_multiple_of(BookEntry::LEN as u64) {
            let what = format!("not a whole Polyglot book: {len} bytes are no number of entries of {}", BookEntry::LEN);
            return Err(Error::Damaged { path, damage: Damage::at(len, what) });
        }
        Ok(Self { path, file: BufReader::new(file), entries: len / BookEntry::LEN as u64 })
    }

    /// Number of entries.
    pub fn len(&self) -> u64 {
        self.entries
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.entries == 0
    }

    fn failed(&self, source: io::Error) -> Error {
        Error::Read { path: Arc::clone(&self.path), offset: 0, source }
    }

    fn entry(&mut self, number: u64) -> Result<BookEntry, Error> {
        let place = SeekFrom::Start(number * BookEntry::LEN as u64);
        let mut bytes = [0; BookEntry::LEN];
        let read = self.file.seek(place).and_then(|_| self.file.read_exact(&mut bytes));
        read.map_err(|source| self.failed(source))?;
        Ok(BookEntry::from_bytes(bytes))
    }

    /// The number of the first entry whose key is not below this one.
    fn place_of(&mut self, key: u64) -> Result<u64, Error> {
        let (mut low, mut high) = (0, self.entries);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.entry(middle)?.key < key { low = middle + 1 } else { high = middle }
        }
        Ok(low)
    }

    /// The entries of a key, in the order of the book.
    ///
    /// # Errors
    /// If the book cannot be read.
    pub fn entries_of(&mut self, key: u64) -> Result<Vec<BookEntry>, Error> {
        let mut low = self.place_of(key)?;
        let mut found = Vec::new();
        while low < self.entries {
            let entry = self.entry(low)?;
            if entry.key != key {
                break;
            }
            found.push(entry);
            low += 1;
        }
        Ok(found)
    }

    /// The moves that the book has in a position, in its order. An en passant square of the position counts in its key, even
    /// if no capture there is legal; [`play`] keeps such squares.
    ///
    /// # Errors
    /// If the book cannot be read.
    pub fn moves_of(&mut self, position: &Position) -> Result<Vec<BookMove>, Error> {
        let legal = position.legal_moves();
        let find = |code: u16| legal.iter().copied().find(|&mv| book_code(mv) == code || other_code(mv) == Some(code));
        let moves = self.entries_of(position.polyglot_key())?.into_iter().map(|entry| {
            let mv = find(entry.code);
            let uci = mv.map_or_else(|| entry.uci(), |mv| mv.uci_as(!position.castles_as_standard()).to_string());
            BookMove { mv, uci, weight: entry.weight, learn: entry.learn }
        });
        Ok(moves.collect())
    }

    /// Checks that the entries are in order and their moves have the right form; and that moves are legal in the positions
    /// that the book leads to from the start position.
    ///
    /// # Errors
    /// If it cannot be read. What is wrong is passed to `found`: the number of an entry, and what is wrong with it.
    pub fn verify(&mut self, mut found: impl FnMut(u64, String)) -> Result<BookFacts, Error> {
        let mut facts = BookFacts { entries: self.entries, ..BookFacts::default() };
        let mut last: Option<BookEntry> = None;
        self.file.seek(SeekFrom::Start(0)).map_err(|source| self.failed(source))?;
        for number in 0..self.entries {
            let mut bytes = [0; BookEntry::LEN];
            self.file.read_exact(&mut bytes).map_err(|source| self.failed(source))?;
            let entry = BookEntry::from_bytes(bytes);
            if !entry.is_plausible() {
                found(number, format!("{:#06x} is not the code of a move", entry.code));
            }
            match last {
                Some(last) if last.key > entry.key => {
                    found(number, "the key is smaller than that before it".to_owned())
                }
                Some(last) if last.key == entry.key && last.weight < entry.weight => {
                    found(number, "the weight is larger than that before it".to_owned());
                }
                _ => {}
            }
            facts.positions += u64::from(last.is_none_or(|last| last.key != entry.key));
            last = Some(entry);
        }
        let mut seen = std::collections::HashSet::from([Position::standard().polyglot_key()]);
        let mut next = vec![Position::standard()];
        while let Some(position) = next.pop() {
            let first = self.place_of(position.polyglot_key())?;
            for (number, entry) in (first..).zip(self.moves_of(&position)?) {
                facts.checked += 1;
                let Some(mv) = entry.mv else {
                    found(number, format!("{} is not legal in {position}", entry.uci));
                    continue;
                };
                let mut after = position.clone();
                play(&mut after, mv);
                if seen.len() < MOST_SEEN && seen.insert(after.polyglot_key()) {
                    next.push(after);
                }
            }
        }
        Ok(facts)
    }
}

/// Plays a move, and keeps the square that it passed over as the en passant square where a pawn stands beside that takes
/// there, legally or not: so the square counts in the keys of books.
///
/// ```
/// use lanefish::chess::{Move, Position};
/// use lanefish::formats::polyglot_book::play;
///
/// let mut position: Position = "4r2k/3p4/8/4P3/8/8/8/4K3 b - - 0 1".parse().unwrap();
/// let last = Move::from_uci("d7d5", &position).unwrap();
/// let mut without = position.clone();
/// without.make(last);
/// play(&mut position, last);
/// assert_eq!(position.polyglot_key(), without.polyglot_key_after(last));
/// assert_ne!(position.polyglot_key(), without.polyglot_key());
/// ```
pub fn play(position: &mut Position, mv: Move) {
    position.make(mv);
    position.en_passant = position.en_passant.or_else(|| position.idle_en_passant_after(mv));
}

/// Most positions that a check follows.
const MOST_SEEN: usize = 1 << 22;

/// The code of castling as the king's own move, which some programs write.
fn other_code(mv: Move) -> Option<u16> {
    let is_castling = mv.kind == MoveKind::Castle;
    is_castling.then(|| {
        let file = if mv.to.index() > mv.from.index() { 6 } else { 2 };
        (mv.from.index() as u16) << 6 | (mv.from.index() as u16 & !7) | file
    })
}
