//! Text appended to a buffer where it is made: room is there before anyone knows how long the text will be.

/// The end of a buffer, with room behind it that is made many texts at a time.
///
/// Bytes of the room that no text took are given back at the end.
#[derive(Debug)]
pub struct Room<'a> {
    out: &'a mut Vec<u8>,
    /// Where the next text begins.
    at: usize,
}

/// Bytes that room is made for at once.
const STEP: usize = 16 << 10;

impl<'a> Room<'a> {
    /// Behind everything that is there.
    pub fn behind(out: &'a mut Vec<u8>) -> Self {
        let at = out.len();
        Self { out, at }
    }
    /// Has a text written, which returns its length, into room for `most` bytes at least.
    #[inline(always)]
    pub fn write(&mut self, most: usize, write: impl FnOnce(&mut [u8]) -> usize) {
        if self.out.len() - self.at < most {
            self.grow(most);
        }
        self.at += write(&mut self.out[self.at..]);
    }
    #[cold]
    #[inline(never)]
    fn grow(&mut self, most: usize) {
        self.out.resize(self.at + most.max(STEP), 0);
    }
    /// Length of the buffer up to the end of the last text.
    pub fn end(&self) -> usize {
        self.at
    }
}

impl Drop for Room<'_> {
    fn drop(&mut self) {
        self.out.truncate(self.at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_any_length_stand_one_after_the_other() {
        let mut out = b"first".to_vec();
        let mut expected = out.clone();
        let mut room = Room::behind(&mut out);
        for len in [0, 1, 100, STEP - 1, STEP, STEP + 1, 7] {
            room.write(len + 3, |text| {
                assert!(text.len() >= len + 3);
                text[..len].fill(b'x');
                text[len] = b'?';
                len
            });
            expected.resize(expected.len() + len, b'x');
            assert_eq!(room.end(), expected.len());
        }
        drop(room);
        assert_eq!(out, expected);
    }
}
