//! Bloom filters of column chunks: a reader that looks for a key or a FEN skips row groups that cannot have it.
//!
//! After the specification at <https://github.com/apache/parquet-format/blob/master/BloomFilter.md>: blocks of eight words of
//! 32 bits, in each of which a value sets one bit; XXH64 of its plain bytes says which. The hashes of a page are made with
//! the page, on any thread, and the filter when all pages of the row group are there.

use crate::table::Array;
use parquet::bloom_filter::Sbbf;
use parquet::errors::ParquetError;
use twox_hash::XxHash64;

/// The share of values that are not in a row group and look as if they were.
const FALSE_POSITIVES: f64 = 0.01;
/// Words of a block.
const WORDS: usize = 8;
/// Of the specification: the multipliers that choose the bits of a block.
const SALT: [u32; WORDS] =
    [0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d, 0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31];

/// The hashes of the values of a page; none for values that are neither sets, keys nor texts.
pub(super) fn hashes(values: &Array) -> Vec<u64> {
    let hash = |bytes: &[u8]| XxHash64::oneshot(0, bytes);
    match values {
        Array::U64(values) => {
            (0..values.len()).filter_map(|row| values.get(row)).map(|value| hash(&value.to_le_bytes())).collect()
        }
        Array::Text(texts) => {
            (0..texts.len()).filter_map(|row| texts.get(row)).map(|text| hash(text.as_bytes())).collect()
        }
        Array::TextBuffer(texts) => {
            (0..texts.len()).filter(|&row| texts.is_present(row)).map(|row| hash(texts.bytes(row))).collect()
        }
        _ => Vec::new(),
    }
}

/// Header and blocks of a filter for values with these hashes.
///
/// # Errors
/// None that is known.
pub(super) fn filter(mut hashes: Vec<u64>) -> Result<Vec<u8>, ParquetError> {
    hashes.sort_unstable();
    hashes.dedup();
    let blocks = Sbbf::new_with_ndv_fpp(hashes.len() as u64, FALSE_POSITIVES)?.num_blocks();
    let mut words = vec![0u32; WORDS * blocks];
    for hash in hashes {
        let block = (((hash >> 32) * blocks as u64) >> 32) as usize;
        for (word, salt) in words[WORDS * block..][..WORDS].iter_mut().zip(SALT) {
            *word |= 1 << ((hash as u32).wrapping_mul(salt) >> 27);
        }
    }
    let bytes: Vec<u8> = words.into_iter().flat_map(u32::to_le_bytes).collect();
    let mut out = Vec::with_capacity(bytes.len() + 32);
    Sbbf::new(&bytes).write(&mut out)?;
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{TextBuffer, Texts, Values};

    #[test]
    fn filters_have_what_they_were_made_of() {
        let mut numbers = Values::<u64>::default();
        (0..5_000u64).for_each(|n| numbers.push((n % 3 > 0).then_some(n * n)));
        let (mut repeated, mut texts) = (Texts::default(), TextBuffer::default());
        for n in 0..5_000 {
            repeated.push((n % 3 > 0).then_some(&format!("text {}", n / 10)));
            texts.push((n % 3 > 0).then_some(&format!("text {n}")));
        }
        let made = [Array::U64(numbers), Array::Text(repeated), Array::TextBuffer(texts)]
            .map(|values| Sbbf::from_bytes(&filter(hashes(&values)).unwrap()).unwrap());
        for n in (0..5_000u64).filter(|n| n % 3 > 0) {
            assert!(made[0].check(&(n * n)));
            assert!(made[1].check(&*format!("text {}", n / 10)));
            assert!(made[2].check(&*format!("text {n}")));
        }
        let found = (5_000..15_000u64).filter(|&n| made[2].check(&*format!("text {n}"))).count();
        assert!(found < 200, "{found} of 10,000");
        assert_eq!(Sbbf::from_bytes(&filter(Vec::new()).unwrap()).unwrap().num_blocks(), 1);
    }
}
