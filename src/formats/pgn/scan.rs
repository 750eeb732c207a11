//! Movetext, sixty-four bytes at a time: where its moves begin and end.
//!
//! The classes of a block of bytes come as bit sets, one bit a byte, and everything else is arithmetic on
//! whole sets: comments are what lies between braces (each brace flips all bits after it), a token begins
//! after a blank, a move is a token that begins with a letter, and adding the first bit of a run to the run
//! carries out where it ends. Next to nothing is carried from block to block, so that blocks overlap in the
//! CPU; the cost does not depend on what the text holds, there is hardly a branch to mispredict, and the
//! places of the next hundred moves are known before the first of them is played.
//!
//! What is passed here is only what needs no thought: moves, move numbers, blanks, and comments in one line.
//! [`Scan::fill`] stops in front of the token that holds anything else (variations, NAGs, results, tags,
//! broken braces, garbage), and [`super::game`] looks at that with care.

use crate::simd::bytes::{Classes, Text};

/// What is to be reported of comments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Commands {
    /// Nothing.
    None,
    /// Commands whose name begins with `e`.
    Evals,
    /// All commands.
    All,
}

/// What a scan finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token {
    /// A move: its first byte, and how many it has without check and annotation signs.
    Move { at: usize, len: usize },
    /// The byte after the `%` of a comment.
    Command { at: usize },
}

const BLOCK: usize = 64;
/// Tokens that are looked for at once.
const ENOUGH: usize = 128;
/// Marks a place as that of a command.
const COMMAND: u32 = 1 << 31;
/// Longer texts are not scanned.
const LONGEST: usize = COMMAND as usize - BLOCK;

/// The next tokens of a text.
#[derive(Debug)]
pub(super) struct Scan {
    /// Where tokens begin.
    starts: Vec<u32>,
    /// Where moves end, one for each.
    ends: Vec<u32>,
}

/// What one block leaves to the next.
struct Carry {
    /// All ones within a comment.
    comment: u64,
    /// Whether the last byte was a blank or a closing brace, a dot, a sign, a percent sign.
    edge: u64,
    dot: u64,
    sign: u64,
    percent: u64,
    /// Whether a number or a move reaches up to here.
    number: bool,
    word: bool,
    /// Where the last token or comment begins.
    begin: usize,
}

/// What a block holds.
struct Found {
    moves: u64,
    ends: u64,
    commands: u64,
    /// Where the token or comment begins that needs thought, if there is one.
    stop: Option<usize>,
}

impl Scan {
    pub(super) fn new() -> Self {
        Self {
            starts: Vec::with_capacity(ENOUGH + BLOCK),
            ends: Vec::with_capacity(ENOUGH + BLOCK),
        }
    }

    /// What [`Scan::fill`] has found, in the order of the text.
    #[inline(always)]
    pub(super) fn tokens(&self) -> impl Iterator<Item = Token> {
        let mut ends = self.ends.iter();
        self.starts.iter().map_while(move |&start| {
            let at = (start & !COMMAND) as usize;
            Some(if start & COMMAND == 0 {
                let len = *ends.next()? as usize - at;
                Token::Move { at, len }
            } else {
                Token::Command { at }
            })
        })
    }

    /// Looks for tokens from `at` on, where one begins. Gives the place up to which all is found, and whether
    /// there is something there that needs thought.
    #[inline(always)]
    pub(super) fn fill<T: Text>(
        &mut self,
        text: T,
        bytes: &[u8],
        at: usize,
        commands: Commands,
    ) -> (usize, bool) {
        self.starts.clear();
        self.ends.clear();
        if bytes.len() > LONGEST {
            return (at, true);
        }
        let mut carry = Carry {
            comment: 0,
            edge: 1,
            dot: 0,
            sign: 0,
            percent: 0,
            number: false,
            word: false,
            begin: at,
        };
        let mut block = at;
        loop {
            let rest = &bytes[block..];
            let (classes, is_last) = match rest.first_chunk::<BLOCK>() {
                Some(window) => (text.classes(window), false),
                None => {
                    // Zeros need thought.
                    let mut window = [0; BLOCK];
                    window[..rest.len()].copy_from_slice(rest);
                    (text.classes(&window), true)
                }
            };
            let found = look(&classes, commands, block, &mut carry);
            self.keep(block, &found);
            if let Some(stop) = found.stop.or(is_last.then_some(carry.begin)) {
                self.drop_from(stop);
                return (stop, true);
            }
            block += BLOCK;
            if self.starts.len() >= ENOUGH && carry.comment == 0 {
                self.drop_from(carry.begin);
                return (carry.begin, false);
            }
        }
    }

    #[inline(always)]
    fn keep(&mut self, block: usize, found: &Found) {
        let base = block as u32;
        put_bits(&mut self.starts, found.moves | found.commands, |start| {
            let kind = (found.commands >> start & 1) as u32 * COMMAND;
            (base + start) | kind
        });
        put_bits(&mut self.ends, found.ends, |end| base + end);
    }

    /// Forgets the tokens that begin at this place or later.
    fn drop_from(&mut self, at: usize) {
        while let Some(&start) = self.starts.last()
            && (start & !COMMAND) as usize >= at
        {
            self.starts.pop();
        }
    }
}

/// Adds what `place` makes of the number of each bit.
#[inline(always)]
fn put_bits(places: &mut Vec<u32>, mut bits: u64, place: impl Fn(u32) -> u32) {
    /// So many are written without a look at how many there are, which no branch predictor could know.
    const USUAL: usize = 4;
    let len = places.len();
    places.resize(len + USUAL, 0);
    let mut count = 0;
    for slot in &mut places[len..len + USUAL] {
        count += usize::from(bits != 0);
        *slot = place(bits.trailing_zeros() & 63);
        bits &= bits.wrapping_sub(1);
    }
    places.truncate(len + count);
    while bits != 0 {
        places.push(place(bits.trailing_zeros()));
        bits &= bits - 1;
    }
}

/// Each bit the parity of the bits up to and including it.
#[inline(always)]
const fn parities(mut bits: u64) -> u64 {
    let mut step = 1;
    while step < 64 {
        bits ^= bits << step;
        step *= 2;
    }
    bits
}

/// Where the runs end that begin at these bits, or before the block.
#[inline(always)]
const fn run_ends(begins: u64, runs: u64, carry: &mut bool) -> u64 {
    let (sum, over) = begins.overflowing_add(runs);
    let (sum, over_again) = sum.overflowing_add(*carry as u64);
    *carry = over | over_again;
    sum & !runs
}

/// Takes a block apart.
#[inline(always)]
fn look(classes: &Classes, commands: Commands, block: usize, carry: &mut Carry) -> Found {
    let Classes {
        blank, open, close, ..
    } = *classes;
    let comments = parities(open | close) ^ carry.comment;
    let before = comments << 1 | carry.comment & 1;
    carry.comment = all_if_highest(comments);
    let text = !(comments | close);
    // What a token begins after.
    let edges = blank | close;
    let after_edge = edges << 1 | carry.edge;
    carry.edge = edges >> 63;
    let starts = text & !blank & after_edge;

    let digits = text & classes.digit;
    let dots = text & classes.dot;
    let signs = text & classes.sign;
    let joints = text & classes.joint;
    let letters = text & classes.letter;
    let words = letters | digits | joints;
    let after_dot = dots << 1 | carry.dot;
    carry.dot = dots >> 63;
    let after_sign = signs << 1 | carry.sign;
    carry.sign = signs >> 63;
    let number_ends = run_ends(starts & digits, digits, &mut carry.number);
    let moves = letters & (starts | after_dot);
    let ends = run_ends(moves, words, &mut carry.word);

    let foreign = text & !(blank | words | signs | dots);
    let odd_start = starts & !(letters | digits | dots);
    let odd_number = text & number_ends & !(blank | dots);
    let odd_dot = dots & !(number_ends | after_dot | after_edge);
    let odd_after_sign = (words | dots) & after_sign;
    let odd_after_dot = (digits | joints | signs) & after_dot;
    let odd_comment = comments & classes.feed;
    let odd_brace = open & before | close & !before;
    let odd = foreign
        | odd_start
        | odd_number
        | odd_dot
        | odd_after_sign
        | odd_after_dot
        | odd_comment
        | odd_brace;

    let begins = starts | open | odd_brace;
    let last = |begins: u64| {
        if begins == 0 {
            carry.begin
        } else {
            block + (63 - begins.leading_zeros()) as usize
        }
    };
    // Back to where the token or comment begins that holds it.
    let stop = (odd != 0).then(|| last(begins & (odd ^ (odd - 1))));
    carry.begin = last(begins);
    let named = comments & (classes.percent << 1 | carry.percent);
    carry.percent = classes.percent >> 63;
    Found {
        moves,
        ends,
        commands: match commands {
            Commands::None => 0,
            Commands::Evals => named & classes.letter_e,
            Commands::All => named,
        },
        stop,
    }
}

/// All ones if the highest bit is set.
#[inline(always)]
const fn all_if_highest(bits: u64) -> u64 {
    (bits as i64 >> 63) as u64
}
