//! Scans movetext, sixty-four bytes at a time, for the places where moves begin and end.
//!
//! The classes of a block of bytes come as bit sets, one bit per byte, and everything else is arithmetic on
//! whole sets: comments are what is between braces (each brace flips all bits after it), a token begins
//! after a blank, a move is a token that begins with a letter, and adding the first bit of a run to the run
//! carries out where it ends. Almost nothing is carried from block to block, so that the CPU can work on several blocks
//! at once; the cost does not depend on the text, there is hardly a branch to mispredict, and the places of the next
//! hundred moves are known before the first of them is played.
//!
//! Only simple text is handled here: moves, move numbers, blanks, and comments in one line.
//! [`Scan::fill`] stops before any token that is something else (variations, NAGs, results, tags, empty
//! lines, unbalanced braces, garbage), which is left to [`super::game`].

use crate::simd::bytes::{Classes, Classifier};

/// The parts of comments to report: commands, and comments that do not begin with a command and so may be those of
/// engines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Commands {
    /// Nothing.
    None,
    /// Commands whose name begins with `e` or `E`, and comments.
    Evals,
    /// All commands, and comments.
    All,
}

/// A command of a comment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Command {
    /// Offset of the byte after its `%`, or after the brace of a comment and at most one blank.
    pub(super) at: u32,
    /// Number of moves before it.
    pub(super) moves: u32,
}

const BLOCK: usize = 64;
/// A block rarely has more beginnings or ends of moves.
const USUAL: usize = 4;
/// Maximum number of moves to look for at once.
pub(super) const ENOUGH: usize = 128;
/// Maximum number of commands that are kept; a comment with more of them is read on its own.
const COMMANDS: usize = 1 << 12;
/// Longer texts are not scanned.
const LONGEST: usize = u32::MAX as usize - BLOCK;

/// The places found in a text, in order.
#[derive(Debug)]
pub(super) struct Scan {
    classifier: Classifier,
    starts: Places,
    ends: Places,
    /// Commands of comments.
    pub(super) commands: Vec<Command>,
}

/// A list that may be written past its end.
#[derive(Debug, Default)]
struct Places {
    slots: Vec<u32>,
    len: usize,
}

impl Places {
    fn all(&self) -> &[u32] {
        &self.slots[..self.len]
    }
    #[cold]
    fn grow(&mut self) {
        self.slots.resize(2 * self.len + 16 * BLOCK, 0);
    }
}

/// The state carried from one block to the next.
struct Carry {
    /// All ones within a comment.
    comment: u64,
    /// Whether the last byte was a line feed in the text.
    feed: u64,
    /// Whether the last byte was a blank or a closing brace, a dot, a sign, a percent sign.
    edge: u64,
    dot: u64,
    sign: u64,
    percent: u64,
    /// Whether the last two bytes opened a comment, and whether the last one was a blank.
    open: u64,
    blank: u64,
    /// Whether a number or a move extends up to here.
    number: bool,
    word: bool,
    /// Where the last token or comment begins.
    begin: usize,
}

/// The content of a block.
struct Found {
    moves: u64,
    ends: u64,
    commands: u64,
    /// The beginning of the token or comment that is not simple, if there is one.
    stop: Option<usize>,
}

impl Default for Scan {
    fn default() -> Self {
        Self {
            classifier: Classifier::detect(),
            starts: Places::default(),
            ends: Places::default(),
            commands: Vec::new(),
        }
    }
}

impl Scan {
    /// The beginnings of moves.
    #[inline(always)]
    pub(super) fn starts(&self) -> &[u32] {
        self.starts.all()
    }
    /// The ends of moves, without check and annotation signs.
    #[inline(always)]
    pub(super) fn ends(&self) -> &[u32] {
        self.ends.all()
    }

    /// Removes everything.
    pub(super) fn clear(&mut self) {
        self.starts.len = 0;
        self.ends.len = 0;
        self.commands.clear();
    }

    /// Scans the text from `at` on, where a token begins, until there are `enough` moves. Returns the place up to which
    /// everything has been found, and whether the token there is not simple.
    #[inline(always)]
    pub(super) fn fill(&mut self, bytes: &[u8], at: usize, commands: Commands, enough: usize) -> (usize, bool) {
        if bytes.len() > LONGEST {
            return (at, true);
        }
        let mut carry = Carry {
            comment: 0,
            feed: 0,
            edge: 1,
            dot: 0,
            sign: 0,
            percent: 0,
            open: 0,
            blank: 0,
            number: false,
            word: false,
            begin: at,
        };
        let mut block = at;
        loop {
            let rest = &bytes[block..];
            let (classes, is_last) = match rest.first_chunk::<BLOCK>() {
                Some(window) => (self.classifier.classes(window), false),
                None => {
                    // Zeros are not simple.
                    let mut window = [0; BLOCK];
                    window[..rest.len()].copy_from_slice(rest);
                    (self.classifier.classes(&window), true)
                }
            };
            let found = look(&classes, commands, block, &mut carry);
            if found.commands != 0 {
                self.keep_commands(block, &found);
            }
            put_bits(&mut self.starts, found.moves, block);
            put_bits(&mut self.ends, found.ends, block);
            let full = found.commands != 0 && self.commands.len() > COMMANDS;
            if let Some(stop) = found.stop.or((is_last || full).then_some(carry.begin)) {
                self.drop_from(stop);
                return (stop, true);
            }
            block += BLOCK;
            if self.starts.len >= enough && carry.comment == 0 {
                self.drop_from(carry.begin);
                return (carry.begin, false);
            }
        }
    }

    fn keep_commands(&mut self, block: usize, found: &Found) {
        let mut commands = found.commands;
        while commands != 0 {
            let place = commands.trailing_zeros();
            let before = found.moves & ((1 << place) - 1);
            self.commands
                .push(Command { at: block as u32 + place, moves: self.starts.len as u32 + before.count_ones() });
            commands &= commands - 1;
        }
    }

    /// Removes everything that begins at this place or later.
    fn drop_from(&mut self, at: usize) {
        while self.starts().last().is_some_and(|&start| start as usize >= at) {
            self.starts.len -= 1;
        }
        self.ends.len = self.starts.len;
        while self.commands.last().is_some_and(|last| last.at as usize >= at) {
            self.commands.pop();
        }
    }
}

/// Adds the place of each bit of a block.
#[inline(always)]
fn put_bits(places: &mut Places, mut bits: u64, block: usize) {
    let base = block as u32;
    if places.slots.len() < places.len + BLOCK {
        places.grow();
    }
    let slots = &mut places.slots[places.len..places.len + BLOCK];
    let count = bits.count_ones() as usize;
    places.len += count;
    // All of these are written, whether they exist or not, because no branch predictor could know their number.
    for slot in &mut slots[..count.max(USUAL)] {
        *slot = base + bits.trailing_zeros();
        bits &= bits.wrapping_sub(1);
    }
}

/// Each bit becomes the parity of the bits up to and including it.
#[inline(always)]
const fn parities(mut bits: u64) -> u64 {
    let mut step = 1;
    while step < 64 {
        bits ^= bits << step;
        step *= 2;
    }
    bits
}

/// The ends of the runs that begin at these bits, or before the block.
#[inline(always)]
const fn run_ends(begins: u64, runs: u64, carry: &mut bool) -> u64 {
    let (sum, over) = begins.overflowing_add(runs);
    let (sum, over_again) = sum.overflowing_add(*carry as u64);
    *carry = over | over_again;
    sum & !runs
}

/// Classifies a block.
#[inline(always)]
fn look(classes: &Classes, commands: Commands, block: usize, carry: &mut Carry) -> Found {
    let Classes { blank, open, close, .. } = *classes;
    let comments = parities(open | close) ^ carry.comment;
    let before = comments << 1 | carry.comment & 1;
    carry.comment = all_if_highest(comments);
    let text = !(comments | open | close);
    // A token begins after one of these.
    let edges = blank | close;
    let after_edge = edges << 1 | carry.edge;
    carry.edge = edges >> 63;
    let starts = text & !blank & after_edge;

    let digits = text & classes.digit;
    let dots = text & classes.dot;
    let signs = text & classes.sign;
    let letters = text & classes.letter;
    let words = letters | digits;
    let after_dot = dots << 1 | carry.dot;
    carry.dot = dots >> 63;
    let after_sign = signs << 1 | carry.sign;
    carry.sign = signs >> 63;
    let number_ends = run_ends(starts & digits, digits, &mut carry.number);
    let moves = letters & (starts | after_dot);
    let ends = run_ends(moves, words, &mut carry.word);

    let foreign = text & !(blank | words | signs | dots);
    let odd_start = starts & !(letters | digits | dots);
    // Without a dot it may be `0000`, a null move.
    let odd_number = text & number_ends & !dots;
    let odd_dot = dots & !(number_ends | after_dot | after_edge);
    let odd_after_sign = (words | dots) & after_sign;
    let odd_after_dot = (digits | signs) & after_dot;
    let odd_comment = comments & classes.feed;
    // An empty line, after which a game may begin, or one that is indented.
    let feeds = text & classes.feed;
    let odd_line = blank & text & (feeds << 1 | carry.feed);
    carry.feed = feeds >> 63;
    let odd_brace = open & before | close & !before;
    let odd = foreign
        | odd_start
        | odd_number
        | odd_dot
        | odd_after_sign
        | odd_after_dot
        | odd_comment
        | odd_line
        | odd_brace;

    let begins = starts | (open | close) & !before;
    let last = |begins: u64| {
        if begins == 0 { carry.begin } else { block + (63 - begins.leading_zeros()) as usize }
    };
    // Goes back to the beginning of the token or comment that contains it.
    let stop = (odd != 0).then(|| last(begins & (odd ^ (odd - 1))));
    carry.begin = last(begins);
    let named = before & (classes.percent << 1 | carry.percent);
    carry.percent = classes.percent >> 63;
    // A comment that may be that of an engine, also after a blank: it does not begin with a command, as far as this
    // block shows.
    let first = (open << 1 | carry.open >> 1) & !blank;
    let second = (open << 2 | carry.open) & (blank << 1 | carry.blank);
    let begun = comments & (first | second) & !(classes.percent >> 1);
    carry.open = open >> 62;
    carry.blank = blank >> 63;
    Found {
        moves,
        ends,
        commands: match commands {
            Commands::None => 0,
            Commands::Evals => named & classes.letter_e | begun,
            Commands::All => named | begun,
        },
        stop,
    }
}

/// All ones if the highest bit is set.
#[inline(always)]
const fn all_if_highest(bits: u64) -> u64 {
    (bits as i64 >> 63) as u64
}
