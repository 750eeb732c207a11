//! Texts with changed bytes, for the tests of readers that have a fast way for usual text and a slow one for any.

use crate::chess::Position;
use crate::chess::random::{Random, RandomPlay, Start};

/// Forty positions, standard and Chess960.
pub(super) fn positions() -> impl Iterator<Item = Position> {
    let plays = RandomPlay::new(1, Start::Standard).chain(RandomPlay::new(2, Start::Chess960));
    plays.step_by(7).take(40).map(|played| played.position)
}

/// Passes on 4,000 variants of a text. In each, a byte of the text is replaced by one of these bytes, one of these bytes
/// is inserted, or a byte is removed; its place is the second argument.
pub(super) fn each_change(
    text: &str,
    bytes: &[u8],
    random: &mut Random,
    mut check: impl FnMut(Vec<u8>, usize, &mut Random),
) {
    for _ in 0..4000 {
        let mut changed = text.as_bytes().to_vec();
        let at = random.below(changed.len() as u32) as usize;
        let byte = bytes[random.below(bytes.len() as u32) as usize];
        match random.below(3) {
            0 => changed[at] = byte,
            1 => changed.insert(at, byte),
            _ => drop(changed.remove(at)),
        }
        check(changed, at, random);
    }
}
