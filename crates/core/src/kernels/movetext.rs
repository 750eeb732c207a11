//! Where moves begin and end in movetext: eight blocks of text at once, one per lane.
//!
//! The classes of a block of sixty-four bytes come as bit sets, one bit per byte, and everything else is arithmetic on
//! whole sets: comments are what is between braces (each brace flips all bits after it), a token begins after a blank,
//! a move is a token that begins with a letter, and adding the first bit of a run to the run carries out where it ends.
//!
//! A lane needs little of the one before it: the bits that a shift moves across, whether a comment is open, and the
//! carry of an addition. Shifts take the lane before from the vector itself. The other two are one bit per lane, in a
//! word; there a carry that passes through several lanes is one addition again.

use crate::simd::bytes::Classes;
use crate::simd::{Lanes, Simd, inlined};

/// The parts of comments to report: commands, and comments that do not begin with a command and so may be those of
/// engines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Commands {
    /// Nothing.
    None,
    /// Commands whose name begins with `e` or `E`, and comments.
    Evals,
    /// All commands, and comments.
    All,
}

/// What the blocks before have to do with the next ones. Of each set, only the last lane counts.
#[derive(Debug)]
pub struct Carry<L> {
    comments: L,
    /// Line feeds of the text.
    feeds: L,
    /// Blanks and closing braces.
    edges: L,
    dots: L,
    signs: L,
    percents: L,
    opens: L,
    blanks: L,
    /// All ones within a comment.
    comment: u64,
    /// Whether a number or a move extends up to here.
    number: u64,
    word: u64,
}

/// The contents of blocks, by lane.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
pub struct Found {
    pub moves: [u64; 8],
    pub ends: [u64; 8],
    pub commands: [u64; 8],
    /// The beginnings of tokens and comments.
    pub begins: [u64; 8],
    /// Bytes that are not part of simple text.
    pub odd: [u64; 8],
    /// A bit for each lane that has one of them.
    pub odd_lanes: u64,
}

impl<L: Lanes> Carry<L> {
    /// Where a token begins.
    #[inline(always)]
    pub fn begin<S: Simd<Lanes = L>>(simd: S) -> Self {
        let none = simd.splat(0);
        Self {
            comments: none,
            feeds: none,
            edges: simd.splat(!0),
            dots: none,
            signs: none,
            percents: none,
            opens: none,
            blanks: none,
            comment: 0,
            number: 0,
            word: 0,
        }
    }
    /// Whether a comment is open.
    #[inline(always)]
    pub const fn is_in_comment(&self) -> bool {
        self.comment != 0
    }
}

/// Looks at as many blocks as the vectors have lanes.
#[inline(always)]
pub fn scan_block<S: Simd>(
    simd: S,
    classes: &Classes,
    commands: Commands,
    carry: &mut Carry<S::Lanes>,
    found: &mut Found,
) {
    let load = inlined(
        #[inline(always)]
        |set: &[u64; 8]| simd.load(set, 0),
    );
    // The bits before, one or two places away, in the lane or in the one before it.
    let after = inlined(
        #[inline(always)]
        |set: S::Lanes, carried: &mut S::Lanes| {
            let before = simd.delayed(set, *carried);
            *carried = set;
            set.shl::<1>() | before.shr::<63>()
        },
    );
    let blank = load(&classes.blank);
    let open = load(&classes.open);
    let close = load(&classes.close);

    let braces = open | close;
    let parities = braces ^ braces.shl::<1>();
    let parities = parities ^ parities.shl::<2>();
    let parities = parities ^ parities.shl::<4>();
    let parities = parities ^ parities.shl::<8>();
    let parities = parities ^ parities.shl::<16>();
    let parities = parities ^ parities.shl::<32>();
    let highest = simd.splat(1 << 63);
    let mut flips = (parities & highest).nonzero_bits() << 1;
    flips ^= flips << 1;
    flips ^= flips << 2;
    flips ^= flips << 4;
    flips ^= carry.comment;
    carry.comment = (flips >> S::WIDTH & 1).wrapping_neg();
    let comments = parities ^ simd.mask(flips);
    let before = after(comments, &mut carry.comments);
    let text = !(comments | braces);
    // A token begins after one of these.
    let after_edge = after(blank | close, &mut carry.edges);
    let starts = text & !blank & after_edge;

    let digits = text & load(&classes.digit);
    let dots = text & load(&classes.dot);
    let signs = text & load(&classes.sign);
    let letters = text & load(&classes.letter);
    let words = letters | digits;
    let after_dot = after(dots, &mut carry.dots);
    let after_sign = after(signs, &mut carry.signs);
    let number_ends = run_ends(simd, starts & digits, digits, &mut carry.number);
    let moves = letters & (starts | after_dot);
    let ends = run_ends(simd, moves, words, &mut carry.word);

    let feed = load(&classes.feed);
    let foreign = text & !(blank | words | signs | dots);
    let odd_start = starts & !(letters | digits | dots);
    // Without a dot it may be `0000`, a null move.
    let odd_number = text & number_ends & !dots;
    let odd_dot = dots & !(number_ends | after_dot | after_edge);
    let odd_after_sign = (words | dots) & after_sign;
    let odd_after_dot = (digits | signs) & after_dot;
    let odd_comment = comments & feed;
    // An empty line, after which a game may begin, or one that is indented.
    let odd_line = blank & text & after(text & feed, &mut carry.feeds);
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
    simd.store(moves, &mut found.moves, 0);
    simd.store(ends, &mut found.ends, 0);
    simd.store(starts | braces & !before, &mut found.begins, 0);
    simd.store(odd, &mut found.odd, 0);
    found.odd_lanes = odd.nonzero_bits();

    if commands == Commands::None {
        found.commands = [0; 8];
        return;
    }
    let percent = load(&classes.percent);
    let named = before & after(percent, &mut carry.percents);
    let named = if commands == Commands::Evals { named & load(&classes.letter_e) } else { named };
    // A comment that may be that of an engine, also after a blank: it does not begin with a command, as far as this
    // block shows.
    let open_before = simd.delayed(open, carry.opens);
    carry.opens = open;
    let first = (open.shl::<1>() | open_before.shr::<63>()) & !blank;
    let second = (open.shl::<2>() | open_before.shr::<62>()) & after(blank, &mut carry.blanks);
    let begun = comments & (first | second) & !percent.shr::<1>();
    simd.store(named | begun, &mut found.commands, 0);
}

/// The ends of the runs that begin at these bits, or before the first lane. The carry is one bit.
#[inline(always)]
fn run_ends<S: Simd>(simd: S, begins: S::Lanes, runs: S::Lanes, carry: &mut u64) -> S::Lanes {
    let sums = begins.add(runs);
    // The runs contain the beginnings, so a sum is too large if both have the highest bit, or if one has it and the sum
    // has not.
    let carries = ((begins | runs & !sums) & simd.splat(1 << 63)).nonzero_bits();
    // A lane of ones passes a carry on.
    let full = !(!sums).nonzero_bits() & ((1 << S::WIDTH) - 1);
    let through = (carries << 1 | *carry).wrapping_add(full);
    *carry = (through ^ full) >> S::WIDTH & 1;
    sums.sub(simd.mask(through ^ full)) & !runs
}
