//! Locks after a panic.

use std::sync::PoisonError;

/// Takes the guard of a lock, even if a thread has panicked while holding it.
///
/// The code that joins the thread reports the panic. Threads that find the lock poisoned carry on, so that they can end
/// normally: a second panic would hide the first.
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
