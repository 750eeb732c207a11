//! What several areas' tests need.

use std::io::Read;
use std::path::PathBuf;

/// A file of the shared sample data, or `None`, said loudly, where the data is not there.
pub(crate) fn shared_data(name: &str) -> Option<PathBuf> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../shared/data")
        .join(name);
    if !path.exists() {
        eprintln!("SKIPPED: no {}", path.display());
        return None;
    }
    Some(path)
}

/// The text of a file of the shared sample data, unpacked; `None` as in [`shared_data`].
pub(crate) fn shared_text(name: &str) -> Option<String> {
    let bytes = std::fs::read(shared_data(name)?).expect("readable sample data");
    let mut text = String::new();
    if name.ends_with(".zst") {
        let mut decoder = zstd::Decoder::new(&bytes[..]).expect("a zstd frame");
        decoder
            .read_to_string(&mut text)
            .expect("sample data unpacks");
    } else {
        text = String::from_utf8(bytes).expect("sample data is UTF-8");
    }
    Some(text)
}
