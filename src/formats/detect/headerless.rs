//! Recognising formats without a header: by how many of the first records of an input they fit.

use crate::formats::{Format, Sampled};
use crate::text::numbers::counted;

/// The fit of each format without a header to the first bytes of an input, the best first.
pub fn sampled(head: &[u8]) -> Vec<(Format, Sampled)> {
    let formats = Format::ALL.iter();
    let mut sampled: Vec<_> = formats.filter_map(|&format| Some((format, format.sampled(head)?))).collect();
    // Products instead of shares, and the order of the list where they are equal.
    sampled.sort_by(|(_, a), (_, b)| (b.good * a.examined.max(1)).cmp(&(a.good * b.examined.max(1))));
    sampled
}

/// The format without a header that the first bytes fit; `None` if there is none.
///
/// # Errors
/// If several fit equally well: the rest of a sentence that begins with the name of the file.
pub(in crate::formats) fn without_header(head: &[u8]) -> Result<Option<Format>, String> {
    let sampled = sampled(head);
    let [(best, fits), others @ ..] = &sampled[..] else {
        return Ok(None);
    };
    if !fits.fits() {
        return Ok(None);
    }
    let equal = |other: &Sampled| other.fits() && other.good * fits.examined == fits.good * other.examined;
    let equal: Vec<&str> = others.iter().filter(|(_, other)| equal(other)).map(|(format, _)| format.name()).collect();
    match equal[..] {
        [] => Ok(Some(*best)),
        _ => Err(format!(
            "fits {best} as well as {}: {} of {}; name the format with --from",
            equal.join(" and "),
            fits.good,
            counted(fits.examined as u64, "sampled record")
        )),
    }
}

/// A remark on the format without a header that comes closest, if none fits: how many of the first records are bad;
/// `None` without a record.
pub(in crate::formats) fn closest(head: &[u8]) -> Option<String> {
    let sampled = sampled(head);
    let (format, best) = sampled.first()?;
    let (number, first) = best.first_bad.as_ref()?;
    Some(format!(
        "{} of its first {} cannot be read as {format} (record {number}: {first}); --from {format} reads it all the same",
        best.examined - best.good,
        counted(best.examined as u64, "record"),
    ))
}
