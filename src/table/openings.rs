//! Openings by position: Lichess' list, looked up by the key of a position.
//!
//! The list (`data/openings.tsv`, a line for each code and name) has the [keys](crate::canonical::keys) of its positions
//! rather than their moves, so that nothing is replayed when it is first needed. Nearly all positions are in no list: few
//! pieces, or one bit of a filter that stays in the nearest cache, show that at once.

use crate::canonical::{Canonical, keys};
use crate::packed::Packed;
use std::sync::{Arc, LazyLock};

/// An opening.
#[derive(Debug)]
pub(crate) struct Opening {
    /// The code, such as `B12`.
    pub(crate) eco: Arc<str>,
    /// The name.
    pub(crate) name: Arc<str>,
}

/// The minimum number of pieces of the positions in the list.
const FEWEST_PIECES: u32 = 22;
/// A power of two, more than twice the number of positions.
const SLOTS: usize = 1 << 13;
/// Words of the filter, a power of two.
const WORDS: usize = 1 << 10;
/// The value of an empty slot, instead of the number of an opening.
const EMPTY: u16 = u16::MAX;

struct List {
    openings: Vec<Opening>,
    /// A bit of each key.
    filter: [u64; WORDS],
    /// Keys and numbers of openings, at the place of the key or after it.
    slots: Vec<(u64, u16)>,
}

static LIST: LazyLock<List> = LazyLock::new(|| {
    let mut list = List { openings: Vec::new(), filter: [0; WORDS], slots: vec![(0, EMPTY); SLOTS] };
    let mut last: Arc<str> = Arc::default();
    for line in include_str!("../../data/openings.tsv").lines() {
        let mut fields = line.split('\t');
        let (Some(eco), Some(name), Some(positions)) = (fields.next(), fields.next(), fields.next()) else {
            continue;
        };
        if *last != *eco {
            last = eco.into();
        }
        let number = list.openings.len() as u16;
        list.openings.push(Opening { eco: Arc::clone(&last), name: name.into() });
        for key in positions.split(' ').filter_map(|key| u64::from_str_radix(key, 16).ok()) {
            let (word, bit) = place(key);
            list.filter[word] |= bit;
            let mut slot = key as usize % SLOTS;
            while list.slots[slot].1 != EMPTY {
                slot = (slot + 1) % SLOTS;
            }
            list.slots[slot] = (key, number);
        }
    }
    list
});

/// The bit of a key in the filter.
#[inline]
fn place(key: u64) -> (usize, u64) {
    let bits = key >> 48;
    (bits as usize / 64 % WORDS, 1 << (bits % 64))
}

/// The opening of this number.
pub(crate) fn get(number: u16) -> Option<&'static Opening> {
    LIST.openings.get(usize::from(number))
}

/// The number of the opening that the list has for a position, whose en passant square counts only if a capture there is
/// legal.
#[inline]
pub(crate) fn number_of(board: &Packed, en_passant_is_legal: bool) -> Option<u16> {
    if !may_have(board) {
        return None;
    }
    let [.., key] = keys(&Canonical::of(board, en_passant_is_legal));
    let list = &*LIST;
    let (word, bit) = place(key);
    if list.filter[word] & bit == 0 {
        return None;
    }
    let mut slot = key as usize % SLOTS;
    loop {
        match list.slots[slot] {
            (_, EMPTY) => return None,
            (other, number) if other == key => return Some(number),
            _ => slot = (slot + 1) % SLOTS,
        }
    }
}

/// Whether the list may have this position, or any that follows from it.
#[inline]
pub(crate) fn may_have(board: &Packed) -> bool {
    board.occupied().count_ones() >= FEWEST_PIECES
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::Position;
    use std::collections::BTreeMap;
    use std::path::PathBuf;

    /// `data/openings.tsv` is what this makes of the list of Lichess; with `LANEFISH_OPENINGS` set it is written again.
    #[test]
    fn the_list_is_that_of_lichess() {
        let Some(source) = crate::testing::shared_data("openings") else { return };
        let mut openings: BTreeMap<(String, String), Vec<String>> = BTreeMap::new();
        let mut positions = BTreeMap::new();
        let mut fewest = 32;
        for volume in ["a", "b", "c", "d", "e"] {
            let text = std::fs::read_to_string(source.join(volume).with_extension("tsv")).unwrap();
            for line in text.lines().skip(1) {
                let fields: Vec<&str> = line.split('\t').collect();
                let [eco, name, moves] = fields[..] else { panic!("{line}") };
                let mut position = Position::standard();
                for word in moves.split(' ').filter(|word| !word.ends_with('.')) {
                    let mv = position.parse_san(word).unwrap_or_else(|_| panic!("{line}"));
                    position.make(mv);
                }
                let board = Packed::pack(&position).unwrap();
                let [.., key] = keys(&Canonical::of(&board, position.en_passant.is_some()));
                fewest = fewest.min(board.occupied().count_ones());
                assert_eq!(positions.insert(key, line.to_owned()), None, "{line}: the position comes twice");
                let keys = openings.entry((eco.to_owned(), name.to_owned())).or_default();
                keys.push(format!("{key:016x}"));
            }
        }
        assert_eq!(fewest, FEWEST_PIECES);
        assert!(2 * positions.len() < SLOTS && openings.len() < usize::from(EMPTY));
        let lines = openings.iter().map(|((eco, name), keys)| format!("{eco}\t{name}\t{}\n", keys.join(" ")));
        let made: String = lines.collect();
        if std::env::var_os("LANEFISH_OPENINGS").is_some() {
            let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("data/openings.tsv");
            std::fs::write(path, &made).unwrap();
            return;
        }
        assert!(made == include_str!("../../data/openings.tsv"), "LANEFISH_OPENINGS=1 writes it again");
    }

    #[test]
    fn positions_are_found_by_any_order_of_moves() {
        let of = |moves: &str| {
            let mut position = Position::standard();
            for word in moves.split(' ') {
                let mv = position.parse_san(word).unwrap();
                position.make(mv);
            }
            let board = Packed::pack(&position).unwrap();
            let number = number_of(&board, position.en_passant.is_some());
            number.map(|number| (&*get(number).unwrap().eco, &*get(number).unwrap().name))
        };
        assert_eq!(of("e4 c6"), Some(("B10", "Caro-Kann Defense")));
        assert_eq!(of("c4 Nf6 d4"), of("d4 Nf6 c4"));
        assert!(of("d4 Nf6 c4").is_some());
        assert_eq!(of("e4 c6 a3 h6 h3 a6"), None);
    }
}
