//! Turns panics of libraries on damaged files into errors.
//!
//! The libraries are meant to report damage as errors, and mostly do. On some files, however, they index out of bounds
//! or unwrap `None`. After such a panic, none of their values are used.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

thread_local! {
    static IS_GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Hides the messages of panics that are caught: the libraries that read Parquet and Arrow files panic on some damaged
/// files. This crate always catches such a panic and reports the damage as an error. Without this call, however, the
/// panic hook of the process still sees it first, and the usual hook prints it on standard error.
///
/// Meant for programs, which own the panic hook of their process: this installs one that passes all other panics to the
/// previous hook. The first call has this effect, and later ones have none.
pub fn hide_caught_panics() {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let previous = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !IS_GUARDED.get() {
                previous(info);
            }
        }));
    });
}

/// Runs code of a library. The panic hook sees its panics as well, and [`hide_caught_panics`] makes it ignore them.
///
/// # Errors
/// If it fails or panics.
pub(super) fn guarded<T, E: ToString>(work: impl FnOnce() -> Result<T, E>) -> Result<T, String> {
    let before = IS_GUARDED.replace(true);
    let done = panic::catch_unwind(AssertUnwindSafe(work));
    IS_GUARDED.set(before);
    match done {
        Ok(done) => done.map_err(|error| plain(&error.to_string()).to_owned()),
        Err(payload) => {
            let text = payload
                .downcast_ref::<&str>()
                .copied()
                .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
                .unwrap_or("unknown reason");
            Err(format!("cannot be decoded ({text})"))
        }
    }
}

/// A message without the prefixes that the layers of the libraries add.
fn plain(mut message: &str) -> &str {
    const LAYERS: [&str; 3] = ["Parquet argument error: ", "Parquet error: ", "Arrow: "];
    while let Some(rest) = LAYERS.iter().find_map(|layer| message.strip_prefix(layer)) {
        message = rest;
    }
    message
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panics_are_errors() {
        assert_eq!(guarded(|| Ok::<_, String>(1)), Ok(1));
        assert_eq!(guarded(|| Err::<(), _>("a")), Err("a".to_owned()));
        let error = "Parquet argument error: Parquet error: a";
        assert_eq!(guarded(|| Err::<(), _>(error)), Err("a".to_owned()));
        let message = guarded(|| -> Result<(), String> { panic!("b{}", 1) });
        assert_eq!(message, Err("cannot be decoded (b1)".to_owned()));
    }
}
