//! A memory budget for all parts of tables that are unpacked at the same time.
//!
//! The memory that a part needs is known when the part is cut, from the sizes that its file claims for pages and
//! buffers; nothing may become larger than claimed. A part is handed out when that much memory is free, and gives it
//! back once it is no longer used. Parts are handed out in order. So the parts that others wait for have their memory,
//! and every part gets its turn. A part that would exceed the budget even alone is refused, whatever else is running.

use crate::poisoned_locks::Unpoisoned;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

/// The budget of a run.
#[derive(Debug)]
pub(crate) struct Budget {
    most: u64,
    used: Mutex<u64>,
}

impl Budget {
    pub(crate) fn of(most: u64) -> Arc<Self> {
        Arc::new(Self { most, used: Mutex::new(0) })
    }
    fn used(&self) -> MutexGuard<'_, u64> {
        self.used.lock().unpoisoned()
    }
}

/// The bytes of something unpacked: they count from when they are granted until it is no longer used.
#[derive(Debug)]
pub(in crate::formats) struct Charge {
    bytes: u64,
    budget: OnceLock<Arc<Budget>>,
}

#[cfg(feature = "parquet")]
impl Charge {
    pub(in crate::formats) fn of(bytes: u64) -> Arc<Self> {
        Arc::new(Self { bytes, budget: OnceLock::new() })
    }
    pub(in crate::formats) fn bytes(&self) -> u64 {
        self.bytes
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        if let Some(budget) = self.budget.get() {
            *budget.used() -= self.bytes;
        }
    }
}

/// Grants charges that have not been granted yet: all of them, or, if there is not enough room, none.
pub(in crate::formats) fn grant(charges: &[Arc<Charge>], budget: &Arc<Budget>) -> bool {
    let due = || charges.iter().filter(|it| it.budget.get().is_none());
    let bytes = due().fold(0, |sum: u64, it| sum.saturating_add(it.bytes));
    let mut used = budget.used();
    match used.checked_add(bytes) {
        Some(sum) if sum <= budget.most => *used = sum,
        _ => return false,
    }
    drop(used);
    for charge in due() {
        // Only the feed grants, one part at a time.
        let _ = charge.budget.set(Arc::clone(budget));
    }
    true
}

#[cfg(all(test, feature = "parquet"))]
mod tests {
    use super::*;

    #[test]
    fn what_is_granted_comes_back() {
        let budget = Budget::of(10);
        let (one, two) = (Charge::of(6), Charge::of(4));
        assert!(grant(&[Arc::clone(&one)], &budget));
        // Charges that have been granted are not granted again.
        assert!(grant(&[Arc::clone(&one), Arc::clone(&two)], &budget));
        let three = [Charge::of(1)];
        assert!(!grant(&three, &budget));
        drop(two);
        assert!(grant(&three, &budget));
        assert_eq!(*budget.used(), 7);
        drop((one, three));
        assert_eq!(*budget.used(), 0);
    }
}
