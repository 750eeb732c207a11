//! Enters a file in the middle, through its index, so that a shard reads only its own blocks.
//!
//! Header, index and end are checked in every shard, and the blocks of a shard against its part of the index; together,
//! the shards check what one run over the whole file checks. If the header, index or end is faulty, a shard does not
//! use the index: it reads the headers of all sections, and reports what is wrong.

use super::header::read_header;
use super::section::{HEADER_LEN, Kind, SectionHeader, u64_at};
use super::section_order::Sequence;
use super::{Checksum, UNIT, UNKNOWN, VERSION};
use crate::formats::codec::layout::{Entry, ReadAt};
use crate::input::Shard;
use std::io;

/// Finds the part of a shard in a file of this length, of which `read` reads any bytes: its blocks, preceded by the
/// header in the first shard, and followed by the index and the end in the last one. With `reads_on`, the block before
/// them comes first, and those after them follow: games may begin and end there. If the block before them does not match
/// its checksum, it is the last one that does.
///
/// # Errors
/// If they cannot be read.
pub(super) fn enter(len: u64, shard: Shard, reads_on: bool, read: &ReadAt<'_>) -> io::Result<Option<Entry>> {
    let unit = UNIT as u64;
    if len < 3 * unit || !len.is_multiple_of(unit) {
        return Ok(None);
    }
    let known = SectionHeader::read(&read(0..unit)?);
    let header_len = known.map_or(0, |header| header.len);
    if header_len > HEADER_LEN as u64 || len < header_len + 2 * unit {
        return Ok(None);
    }
    let first = read(0..header_len)?;
    let Some(header) = section(&first, Kind::Header) else {
        return Ok(None);
    };
    if header.version().0 != VERSION.0 || read_header(&first, &header).is_err() {
        return Ok(None);
    }
    let Some(end) = section(&read(len - unit..len)?, Kind::End) else {
        return Ok(None);
    };
    let index_at = end.extra;
    let room = (header_len..len - unit).contains(&index_at) && index_at.is_multiple_of(unit);
    if !room {
        return Ok(None);
    }
    let bytes = read(index_at..len - unit)?;
    let Some(index) = section(&bytes, Kind::Index) else {
        return Ok(None);
    };
    let records = end.total;
    let block_len = u64::from(header.block_len());
    let agree = [end.first, index.first] == [records; 2]
        && [records, UNKNOWN].contains(&header.total)
        && u64::from(index.count) == records.div_ceil(block_len);
    let places: Vec<u64> = (0..index.count as usize).map(|number| u64_at(&bytes, UNIT + 8 * number)).collect();
    let in_order = places.windows(2).all(|pair| pair[0] < pair[1])
        && places.first().is_none_or(|&place| place == header_len)
        && places.last().is_none_or(|&place| place < index_at);
    if !agree || !in_order {
        return Ok(None);
    }
    let range = shard.range(len);
    let before = places.partition_point(|&place| place < range.start);
    let after = if shard.is_last() { places.len() } else { places.partition_point(|&place| place < range.end) };
    let place = |number: usize| places.get(number).copied().unwrap_or(index_at);
    let from = match before {
        0 => 0,
        _ => place(before),
    };
    let to = if shard.is_last() { len } else { place(after) };
    // The last block may have fewer records.
    let records_before = |number: usize| (number as u64 * block_len).min(records);
    let mut watch = Sequence::default();
    if before > 0 {
        watch.continue_after(header, records_before(before), &places[..before]);
    }
    watch.expect(&places[before..after]);
    if !shard.is_last() {
        watch.stop_after(records_before(after));
    }
    let own = from..to.max(from);
    let mut bytes = own.clone();
    if reads_on && after > before {
        for number in (0..before).rev() {
            bytes.start = place(number);
            if section(&read(place(number)..place(number + 1))?, Kind::Block).is_some() {
                break;
            }
        }
        if !shard.is_last() {
            bytes.end = index_at;
        }
    }
    Ok(Some(Entry { bytes, own, watch: Box::new(watch) }))
}

/// The header of a section that is exactly these bytes, and matches its checksum.
fn section(bytes: &[u8], kind: Kind) -> Option<SectionHeader> {
    let header = SectionHeader::read(bytes).ok()?;
    let is_whole = header.kind == kind && header.len == bytes.len() as u64;
    (is_whole && Checksum::of(&bytes[UNIT..]) == header.checksum).then_some(header)
}
