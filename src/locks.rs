//! Locks after a panic.

use std::sync::PoisonError;

/// What a lock guards, also if a thread has panicked with it.
///
/// A panic is reported by whoever waits for the thread. Those who meet its locks before go on, so that they can end in
/// order: a second panic would hide the first.
pub trait Unpoisoned<T> {
    /// The guard or the value.
    fn unpoisoned(self) -> T;
}

impl<T> Unpoisoned<T> for Result<T, PoisonError<T>> {
    #[inline]
    fn unpoisoned(self) -> T {
        self.unwrap_or_else(PoisonError::into_inner)
    }
}
