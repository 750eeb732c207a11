//! The envelope of messages between machines: four bytes, and then the version of the sender and the content as compressed
//! JSON. All machines must run the same version, so that each of them treats a message in the same way.

use datafusion::common::{DataFusionError, Result};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// The first bytes of messages; the last byte is their version.
const MAGIC: &[u8; 4] = b"LFC\x01";
/// Maximum size of a message.
const MOST_BYTES: usize = 256 << 20;
/// The level of compression.
const LEVEL: i32 = 1;

/// The version of the sender, and the content.
#[derive(Serialize, Deserialize)]
struct Message<T> {
    version: String,
    content: T,
}

/// The version only, for messages that may have another version.
#[derive(Deserialize)]
struct Versioned {
    version: String,
}

/// Whether these bytes are one of our messages.
pub(in crate::sql::cluster) fn is_ours(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC)
}

/// A message.
pub(in crate::sql::cluster) fn encoded<T: Serialize>(content: &T) -> Result<Vec<u8>> {
    encoded_by(env!("CARGO_PKG_VERSION"), content)
}

pub(super) fn encoded_by<T: Serialize>(version: &str, content: &T) -> Result<Vec<u8>> {
    let message = Message { version: version.to_owned(), content };
    // For instance, names of files that are not valid UTF-8.
    let json = serde_json::to_vec(&message)
        .map_err(|error| super::errors::carried(&format!("this cannot be sent to a cluster: {error}")))?;
    let mut bytes = MAGIC.to_vec();
    bytes.extend(zstd::bulk::compress(&json, LEVEL)?);
    Ok(bytes)
}

/// The content of a message.
pub(in crate::sql::cluster) fn decoded<T: DeserializeOwned>(bytes: &[u8]) -> Result<T> {
    let Some(compressed) = bytes.strip_prefix(MAGIC) else {
        return Err(wrong(&"not a message of lanefish"));
    };
    let json = zstd::bulk::decompress(compressed, MOST_BYTES)?;
    let Versioned { version } = serde_json::from_slice(&json).map_err(|error| wrong(&error))?;
    if version != env!("CARGO_PKG_VERSION") {
        return Err(super::errors::carried(&format!(
            "{} runs lanefish {}, and the query comes from lanefish {version}: all machines of a cluster must run the \
             same version",
            super::errors::machine(),
            env!("CARGO_PKG_VERSION"),
        )));
    }
    let message: Message<T> = serde_json::from_slice(&json).map_err(|error| wrong(&error))?;
    Ok(message.content)
}

pub(super) fn wrong(reason: &dyn std::fmt::Display) -> DataFusionError {
    DataFusionError::Execution(format!("a message of another machine cannot be read: {reason}"))
}
