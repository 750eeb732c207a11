//! Puts the boards of a block together, from anywhere in several batches.

use crate::packed::Group;
use crate::table::Batch;
use std::ops::Range;

/// Rows of batches, one after the other.
pub(super) type Runs<'a> = [(&'a Batch, Range<usize>)];

/// Adds the boards; lanes after the last one are zero.
pub(super) fn put_groups(section: &mut Vec<u8>, runs: &Runs<'_>, rows: usize) {
    section.reserve(rows.div_ceil(Group::LEN) * Group::BYTES);
    // The group that is being filled, and the number of its lanes that are filled.
    let (mut open, mut filled) = (Group::default(), 0);
    for (batch, rows) in runs {
        let groups = batch.groups();
        let mut row = rows.start;
        if filled != 0 {
            let count = rows.len().min(Group::LEN - filled);
            fill(&mut open, filled, groups, row..row + count);
            row += count;
            filled += count;
            if filled < Group::LEN {
                continue;
            }
            put_whole(section, &[std::mem::take(&mut open)]);
        }
        let whole = (rows.end - row) / Group::LEN;
        let from = &groups[row / Group::LEN..(row + whole * Group::LEN).div_ceil(Group::LEN)];
        match row % Group::LEN {
            0 => put_whole(section, from),
            1 => put_moved::<1>(section, from),
            2 => put_moved::<2>(section, from),
            3 => put_moved::<3>(section, from),
            4 => put_moved::<4>(section, from),
            5 => put_moved::<5>(section, from),
            6 => put_moved::<6>(section, from),
            _ => put_moved::<7>(section, from),
        }
        row += whole * Group::LEN;
        filled = rows.end - row;
        fill(&mut open, 0, groups, row..rows.end);
    }
    if filled > 0 {
        put_whole(section, &[open]);
    }
}

/// Copies rows of groups to lanes of a group, from one lane on.
fn fill(open: &mut Group, first: usize, groups: &[Group], rows: Range<usize>) {
    for (lane, row) in (first..).zip(rows) {
        open.set(lane, groups[row / Group::LEN].get(row % Group::LEN));
    }
}

/// Adds groups whose first board is in lane `FROM` of a group, and whose last one is in the lane before it of the last
/// group.
fn put_moved<const FROM: usize>(section: &mut Vec<u8>, groups: &[Group]) {
    let begin = section.len();
    section.resize(begin + groups.len().saturating_sub(1) * Group::BYTES, 0);
    let places = section[begin..].as_chunks_mut::<{ Group::BYTES }>().0;
    for (place, pair) in places.iter_mut().zip(groups.windows(2)) {
        let places = place.as_chunks_mut::<8>().0.as_chunks_mut::<{ Group::LEN }>().0;
        for ((place, plane), next) in places.iter_mut().zip(&pair[0].planes).zip(&pair[1].planes) {
            // The number of lanes is known when this is compiled, so these are a few moves of vectors.
            let (first, second) = place.split_at_mut(Group::LEN - FROM);
            for (place, word) in first.iter_mut().zip(&plane[FROM..]) {
                *place = word.to_le_bytes();
            }
            for (place, word) in second.iter_mut().zip(next) {
                *place = word.to_le_bytes();
            }
        }
    }
}

/// Adds groups as they are.
#[inline]
fn put_whole(section: &mut Vec<u8>, groups: &[Group]) {
    if cfg!(target_endian = "little") {
        section.extend_from_slice(bytemuck::cast_slice(groups));
    } else {
        section
            .extend(groups.iter().flat_map(|group| group.planes.as_flattened()).flat_map(|plane| plane.to_le_bytes()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::random::Random;
    use crate::packed::Packed;

    /// Boards from anywhere in several batches, against boards one after the other.
    #[test]
    fn boards_of_runs_are_put_together() {
        let mut random = Random::new(5);
        let mut word = || (0..3).fold(0, |word, _| word << 22 | u64::from(random.below(1 << 22)));
        let batches: Vec<Batch> = [1, 8, 40, 67]
            .into_iter()
            .map(|len| {
                let mut batch = Batch::new();
                for _ in 0..len {
                    batch.push(Packed { color: word(), types: [word(), word(), word()] }, 0, 1);
                }
                batch
            })
            .collect();
        let mut random = Random::new(6);
        let mut below = |bound: usize| random.below(bound as u32) as usize;
        for _ in 0..3000 {
            let mut runs = Vec::new();
            let mut expected = Vec::new();
            for _ in 0..below(5) {
                let batch = &batches[below(batches.len())];
                let start = below(batch.len() + 1);
                let rows = start..start + below(batch.len() - start + 1);
                expected.extend(rows.clone().map(|row| batch.board(row)));
                runs.push((batch, rows));
            }
            let mut section = vec![7; 64];
            put_groups(&mut section, &runs, expected.len());
            let groups = expected.chunks(Group::LEN).map(|boards| {
                let mut group = Group::default();
                boards.iter().enumerate().for_each(|(lane, &board)| group.set(lane, board));
                group
            });
            let bytes = groups.flat_map(|group| group.planes).flatten().flat_map(u64::to_le_bytes);
            assert!(section[64..].iter().copied().eq(bytes), "{runs:?}");
        }
    }
}
