//! Which games of a part are kept, and which equal which.

use super::what_makes_games_equal::{AgreeingParts, agreeing_parts, read_text};
use super::{DuplicateGames, KeepGame, PLACE, is_against};
use crate::partition::keyed_rows::RowBuffer;
use crate::partition::rows_of_any_length::{ByteRows, Superfluous};
use std::collections::{BTreeMap, HashMap};

/// Games: the hash by which they are divided, their place in the order of judgment, their number, their line, the
/// lengths of what has to be equal and of what has to agree (32 bits each), and whether others are left out for them.
/// The bytes are what has to be equal, what has to agree, and what a list says about the game.
pub(super) type Entries = ByteRows<6, EqualEntries>;

/// Of games with the same entry, only the first matters, unless a list names the others.
#[derive(Debug, Default)]
pub(super) struct EqualEntries;

/// Pairs of games: a key; the places of a game and of one before it in the order of judgment; their numbers; their lines;
/// and whether this is a game with itself [that others are left out for](HAS_EQUALS). The bytes say what differs.
pub(super) type Links = ByteRows<8>;

/// Marks the link of a game with itself for which others are left out.
pub(super) const HAS_EQUALS: u64 = 1;

/// The lengths of what has to be equal, and of what has to agree.
const fn lens(numbers: &[u64; 6]) -> [usize; 2] {
    [numbers[4] as u32 as usize, (numbers[4] >> 32) as usize]
}

/// What has to be equal, what has to agree, and what a list says about the game.
fn parts(entries: &Entries, row: usize) -> [&[u8]; 3] {
    let [equal, agreeing] = lens(&entries.numbers[row]);
    let (equal, rest) = entries.bytes_of(row).split_at(equal);
    let (agreeing, details) = rest.split_at(agreeing);
    [equal, agreeing, details]
}

impl Superfluous<6> for EqualEntries {
    fn leave_out(entries: &mut Entries) {
        let has_details = |row: usize| lens(&entries.numbers[row]).iter().sum::<usize>() < entries.bytes_of(row).len();
        if (0..entries.len()).any(has_details) {
            return;
        }
        let mut first: HashMap<(u64, u64, &[u8]), (usize, u64)> = HashMap::new();
        for row in 0..entries.len() {
            let [hash, order, _, _, lens, has_equals] = entries.numbers[row];
            let (known, equals) = first.entry((hash, lens, entries.bytes_of(row))).or_insert((row, has_equals));
            if *known == row {
                continue;
            }
            let order_of_known = entries.numbers[*known][1];
            *equals |= has_equals | u64::from(!is_against(order.max(order_of_known)));
            if order < order_of_known {
                *known = row;
            }
        }
        let mut rows: Vec<(usize, u64)> = first.into_values().collect();
        rows.sort_unstable();
        let mut left = Entries::default();
        for (row, has_equals) in rows {
            let mut numbers = entries.numbers[row];
            numbers[5] = has_equals;
            left.push(numbers, entries.bytes_of(row));
        }
        *entries = left;
    }
}

/// What was found in a part.
#[derive(Debug, Default)]
pub(super) struct Judged {
    /// The numbers of the games that are kept.
    pub(super) kept: Vec<u64>,
    /// Number of games for which others are left out.
    pub(super) sets: u64,
    /// The games that are left out, for a list; or all pairs, if other parts may have more of them.
    pub(super) links: Links,
}

/// Games with the same entry, in the order of judgment.
struct Class<'a> {
    rows: &'a [usize],
    parts: AgreeingParts<'a>,
    /// Whether others with this entry are left out.
    has_equals: bool,
}

/// Judges the games of a part.
pub(super) fn judge(of: &DuplicateGames, entries: &Entries, lists: bool) -> Judged {
    let mut judge = Judge { of, entries, lists, judged: Judged::default() };
    let order = |row: usize| entries.numbers[row][1];
    let mut rows: Vec<usize> = (0..entries.len()).collect();
    rows.sort_unstable_by(|&one, &other| {
        let hash = |row: usize| entries.numbers[row][0];
        let equal = |row: usize| parts(entries, row);
        hash(one)
            .cmp(&hash(other))
            .then_with(|| equal(one)[..2].cmp(&equal(other)[..2]))
            .then_with(|| order(one).cmp(&order(other)))
    });
    let is_one_block = |&one: &usize, &other: &usize| {
        entries.numbers[one][0] == entries.numbers[other][0] && parts(entries, one)[0] == parts(entries, other)[0]
    };
    for block in rows.chunk_by(is_one_block) {
        let mut classes: Vec<Class<'_>> = block
            .chunk_by(|&one, &other| parts(entries, one)[1] == parts(entries, other)[1])
            .map(|rows| Class {
                rows,
                parts: agreeing_parts(&of.keys, parts(entries, rows[0])[1]),
                has_equals: rows[1..].iter().any(|&row| !is_against(order(row)))
                    || rows.iter().any(|&row| entries.numbers[row][5] != 0),
            })
            .collect();
        classes.sort_unstable_by_key(|class| order(class.rows[0]));
        if of.keys.has_pairs() {
            judge.pairs(&classes);
        } else {
            judge.block(&classes);
        }
    }
    judge.judged
}

struct Judge<'a> {
    of: &'a DuplicateGames,
    entries: &'a Entries,
    lists: bool,
    judged: Judged,
}

impl Judge<'_> {
    fn order(&self, row: usize) -> u64 {
        self.entries.numbers[row][1]
    }

    /// Judges classes that no other part has anything to do with.
    fn block(&mut self, classes: &[Class<'_>]) {
        let mut before = ClassesBefore::new(self.of, classes);
        let mut has_equals = vec![false; classes.len()];
        for (number, class) in classes.iter().enumerate() {
            let first = class.rows[0];
            let is_of_others = is_against(self.order(first));
            let head = before.first_equal(number);
            has_equals[head.unwrap_or(number)] |= class.has_equals || head.is_some() && !is_of_others;
            if head.is_none() || is_of_others {
                before.keep(number);
            }
            if head.is_none() && !is_of_others {
                self.judged.kept.push(self.entries.numbers[first][2]);
            }
            if self.lists {
                let kept = head.map_or(first, |head| classes[head].rows[0]);
                let entries = self.entries;
                for &row in class.rows.iter().filter(|&&row| row != kept && !is_against(entries.numbers[row][1])) {
                    self.link(row, kept, |of, order| of.keep.place(order) << (u64::BITS - PLACE));
                }
            }
        }
        self.judged.sets += has_equals.into_iter().filter(|&has_equals| has_equals).count() as u64;
    }

    /// Notes all pairs of equal games.
    fn pairs(&mut self, classes: &[Class<'_>]) {
        let key = |of: &DuplicateGames, order| KeepGame::key(of.keep, order);
        let mut before = ClassesBefore::new(self.of, classes);
        for (number, class) in classes.iter().enumerate() {
            let first = class.rows[0];
            let equal = before.all_equal(number);
            before.keep(number);
            let rows = if self.lists { class.rows } else { &class.rows[..1] };
            for &row in rows {
                let [_, order, game, line, _, _] = self.entries.numbers[row];
                let is_of_others = is_against(order);
                if is_of_others && !(row == first && class.has_equals) {
                    continue;
                }
                equal.iter().for_each(|&other| self.link(row, classes[other].rows[0], key));
                if row != first {
                    self.link(row, first, key);
                } else {
                    let has_equals = if class.has_equals { HAS_EQUALS } else { 0 };
                    let numbers = [self.of.keep.key(order), order, order, game, game, line, line, has_equals];
                    self.judged.links.push(numbers, b"");
                }
            }
        }
    }

    /// Notes that a game equals one before it.
    fn link(&mut self, row: usize, kept: usize, key: impl Fn(&DuplicateGames, u64) -> u64) {
        let [_, order, game, line, _, _] = self.entries.numbers[row];
        let [_, head, game_of_head, line_of_head, _, _] = self.entries.numbers[kept];
        let differs = match self.lists {
            true => differences(parts(self.entries, row)[2], parts(self.entries, kept)[2]),
            false => String::new(),
        };
        let numbers = [key(self.of, order), order, head, game, game_of_head, line, line_of_head, 0];
        self.judged.links.push(numbers, differs.as_bytes());
    }
}

/// The classes of a block that are kept so far, found by what has to agree.
enum ClassesBefore<'a> {
    /// By the words that may end the family names of White and Black.
    ByNames {
        classes: &'a [Class<'a>],
        kept: HashMap<[&'a str; 2], Vec<usize>>,
    },
    /// By moves, of which one game may have the beginning.
    ByMoves(MoveTree<'a>),
    All {
        classes: &'a [Class<'a>],
        kept: Vec<usize>,
    },
}

impl<'a> ClassesBefore<'a> {
    fn new(of: &DuplicateGames, classes: &'a [Class<'a>]) -> Self {
        if of.keys.players {
            Self::ByNames { classes, kept: HashMap::new() }
        } else if of.keys.prefix.is_some() {
            Self::ByMoves(MoveTree::new(classes))
        } else {
            Self::All { classes, kept: Vec::new() }
        }
    }

    /// Adds a class.
    fn keep(&mut self, number: usize) {
        match self {
            Self::ByNames { classes, kept } => {
                for words in pairs_of_words(&classes[number].parts) {
                    kept.entry(words).or_default().push(number);
                }
            }
            Self::ByMoves(tree) => tree.kept[number] = true,
            Self::All { kept, .. } => kept.push(number),
        }
    }

    /// The first class that was added and equals one after it.
    fn first_equal(&self, number: usize) -> Option<usize> {
        match self {
            Self::ByNames { classes, kept } => {
                let parts = &classes[number].parts;
                let candidates = pairs_of_words(parts).into_iter().filter_map(|words| {
                    kept.get(&words)?.iter().copied().find(|&other| classes[other].parts.agree_with(parts))
                });
                candidates.min()
            }
            Self::ByMoves(tree) => {
                let kept = tree.relatives(number).filter(|&other| tree.kept[other]);
                kept.filter(|&other| tree.classes[other].parts.agree_with(&tree.classes[number].parts)).min()
            }
            Self::All { classes, kept } => {
                kept.iter().copied().find(|&other| classes[other].parts.agree_with(&classes[number].parts))
            }
        }
    }

    /// All classes that were added and equal one after them, in order.
    fn all_equal(&self, number: usize) -> Vec<usize> {
        let Self::ByNames { classes, kept } = self else { return self.first_equal(number).into_iter().collect() };
        let parts = &classes[number].parts;
        let words = pairs_of_words(parts);
        let candidates = words.iter().filter_map(|words| kept.get(words)).flatten().copied();
        let mut equal: Vec<usize> = candidates.filter(|&other| classes[other].parts.agree_with(parts)).collect();
        equal.sort_unstable();
        equal.dedup();
        equal
    }
}

/// The words that may end the family names of White and Black.
fn pairs_of_words<'a>(parts: &'a AgreeingParts<'_>) -> Vec<[&'a str; 2]> {
    let Some([white, black]) = &parts.players else { return Vec::new() };
    let blacks = black.ends_of_family_names();
    white.ends_of_family_names().into_iter().flat_map(|white| blacks.iter().map(move |&black| [white, black])).collect()
}

/// Classes by their moves: those of which one game may have the beginning.
struct MoveTree<'a> {
    classes: &'a [Class<'a>],
    /// The classes in the order of their moves.
    sorted: Vec<usize>,
    /// For each class, its place in that order.
    places: Vec<usize>,
    /// For each place, the end of those whose moves begin with the moves of this one, and the last place before whose moves
    /// are the beginning of these.
    ends: Vec<usize>,
    parents: Vec<Option<usize>>,
    kept: Vec<bool>,
}

impl<'a> MoveTree<'a> {
    fn new(classes: &'a [Class<'a>]) -> Self {
        let moves = |class: usize| classes[class].parts.moves;
        let mut sorted: Vec<usize> = (0..classes.len()).collect();
        sorted.sort_by(|&one, &other| moves(one).cmp(moves(other)));
        let mut places = vec![0; classes.len()];
        let (mut ends, mut parents) = (vec![classes.len(); classes.len()], vec![None; classes.len()]);
        let mut open: Vec<usize> = Vec::new();
        for (place, &class) in sorted.iter().enumerate() {
            places[class] = place;
            while let Some(&last) = open.last()
                && !moves(class).starts_with(moves(sorted[last]))
            {
                ends[last] = place;
                open.pop();
            }
            parents[place] = open.last().copied();
            open.push(place);
        }
        Self { classes, sorted, places, ends, parents, kept: vec![false; classes.len()] }
    }

    /// The classes whose moves are the beginning of those of a class, or begin with them.
    fn relatives(&self, class: usize) -> impl Iterator<Item = usize> + '_ {
        let place = self.places[class];
        let before = std::iter::successors(self.parents[place], |&place| self.parents[place]);
        let after = place + 1..self.ends[place];
        before.chain(after).map(|place| self.sorted[place])
    }
}

/// What differs between two games: names of tags, `moves`, `comments`.
fn differences(own: &[u8], other: &[u8]) -> String {
    /// Numbers for annotations and moves, and the tags.
    type Details<'a> = ([u64; 2], Vec<(&'a str, &'a str)>);
    fn read(details: &[u8]) -> Option<Details<'_>> {
        let (annotations, rest) = details.split_first_chunk()?;
        let (moves, mut rest) = rest.split_first_chunk()?;
        let mut tags = Vec::new();
        while !rest.is_empty() {
            let name = read_text(&mut rest)?;
            tags.push((name, read_text(&mut rest)?));
        }
        Some(([u64::from_le_bytes(*annotations), u64::from_le_bytes(*moves)], tags))
    }
    let Some(((own_numbers, own), (other_numbers, other))) = read(own).zip(read(other)) else { return String::new() };
    let [values, others]: [BTreeMap<&str, &str>; 2] = [&own, &other].map(|tags| tags.iter().copied().collect());
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in own.iter().chain(&other) {
        if values.get(name) != others.get(name) && !names.contains(name) {
            names.push(name);
        }
    }
    for (what, place) in [("moves", 1), ("comments", 0)] {
        if own_numbers[place] != other_numbers[place] {
            names.push(what);
        }
    }
    names.join(" ")
}
