//! Rows of different lengths: some numbers, and bytes.

use super::keyed_rows::RowBuffer;
use std::io;
use std::marker::PhantomData;

/// Which rows are superfluous.
pub(crate) trait Superfluous<const N: usize>: Default + Send + Sync + Sized {
    /// Leaves out the rows that are known to be superfluous.
    fn leave_out(_rows: &mut ByteRows<N, Self>) {}
}

/// No row is superfluous.
#[derive(Debug, Default)]
pub(crate) struct NoneSuperfluous;

impl<const N: usize> Superfluous<N> for NoneSuperfluous {}

/// Rows of `N` numbers and bytes. The first number is the key.
#[derive(Debug)]
pub(crate) struct ByteRows<const N: usize, S = NoneSuperfluous> {
    bytes: Vec<u8>,
    /// The end of each row in the bytes.
    ends: Vec<u64>,
    pub(crate) numbers: Vec<[u64; N]>,
    rule: PhantomData<S>,
}

impl<const N: usize, S> Default for ByteRows<N, S> {
    fn default() -> Self {
        Self { bytes: Vec::new(), ends: Vec::new(), numbers: Vec::new(), rule: PhantomData }
    }
}

impl<const N: usize, S> ByteRows<N, S> {
    /// The bytes of a row.
    pub(crate) fn bytes_of(&self, row: usize) -> &[u8] {
        let start = row.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.bytes[start as usize..self.ends[row] as usize]
    }
    /// Adds a row with the bytes that a function appends, and with the numbers that it returns.
    pub(crate) fn push_with(&mut self, put: impl FnOnce(&mut Vec<u8>) -> [u64; N]) {
        let numbers = put(&mut self.bytes);
        self.numbers.push(numbers);
        self.ends.push(self.bytes.len() as u64);
    }
    /// Adds a row.
    pub(crate) fn push(&mut self, numbers: [u64; N], bytes: &[u8]) {
        self.push_with(|all| {
            all.extend_from_slice(bytes);
            numbers
        });
    }
    /// Adds a row of others.
    pub(crate) fn push_of<T>(&mut self, others: &ByteRows<N, T>, row: usize) {
        self.push(others.numbers[row], others.bytes_of(row));
    }
    /// All rows of some piles.
    pub(crate) fn joined(piles: Vec<Self>) -> Self {
        let mut piles = piles.into_iter();
        let mut all = piles.next().unwrap_or_default();
        for pile in piles {
            let before = all.bytes.len() as u64;
            all.bytes.extend_from_slice(&pile.bytes);
            all.ends.extend(pile.ends.iter().map(|end| before + end));
            all.numbers.extend_from_slice(&pile.numbers);
        }
        all
    }
    const HEAD: usize = size_of::<[u64; N]>() + size_of::<u64>();
}

impl<const N: usize, S: Superfluous<N>> RowBuffer for ByteRows<N, S>
where
    [u64; N]: bytemuck::Pod,
{
    fn len(&self) -> usize {
        self.numbers.len()
    }
    fn keys(&self, keys: &mut Vec<u64>) {
        keys.extend(self.numbers.iter().map(|numbers| numbers[0]));
    }
    fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
        self.numbers.clear();
    }
    fn take(&mut self, from: &Self, rows: &[u32]) -> u64 {
        let before = self.bytes.len();
        rows.iter().for_each(|&row| self.push_of(from, row as usize));
        (self.bytes.len() - before + rows.len() * Self::HEAD) as u64
    }
    fn thin(&mut self) {
        S::leave_out(self);
    }
    fn bytes(&self) -> u64 {
        (self.bytes.len() + self.numbers.len() * Self::HEAD) as u64
    }
    fn encode(self, to: &mut Vec<u8>) -> io::Result<()> {
        to.extend_from_slice(&(self.numbers.len() as u64).to_ne_bytes());
        to.extend_from_slice(bytemuck::cast_slice(&self.ends));
        to.extend_from_slice(bytemuck::cast_slice(&self.numbers));
        to.extend_from_slice(&self.bytes);
        Ok(())
    }
    fn decode(bytes: Vec<u8>) -> io::Result<Self> {
        let wrong = || io::Error::from(io::ErrorKind::UnexpectedEof);
        let (len, rest) = bytes.split_first_chunk().ok_or_else(wrong)?;
        let len = u64::from_ne_bytes(*len) as usize;
        let of_ends = len.checked_mul(size_of::<u64>()).ok_or_else(wrong)?;
        let of_numbers = len.checked_mul(size_of::<[u64; N]>()).ok_or_else(wrong)?;
        let (ends, rest) = rest.split_at_checked(of_ends).ok_or_else(wrong)?;
        let (numbers, bytes) = rest.split_at_checked(of_numbers).ok_or_else(wrong)?;
        let ends: Vec<u64> = ends.chunks_exact(size_of::<u64>()).map(bytemuck::pod_read_unaligned).collect();
        let numbers = numbers.chunks_exact(size_of::<[u64; N]>()).map(bytemuck::pod_read_unaligned).collect();
        if !ends.is_sorted() || ends.last().copied().unwrap_or(0) != bytes.len() as u64 {
            return Err(wrong());
        }
        Ok(Self { bytes: bytes.to_vec(), ends, numbers, rule: PhantomData })
    }
}
