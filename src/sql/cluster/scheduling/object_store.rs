//! The files of tables that the engine reads itself, such as CSV: those of [`Data`], if they are what the client saw.

use crate::input::FileFingerprint;
use crate::sql::cluster::protection::data_dirs::Data;
use crate::sql::cluster::protocol::errors::{Carried, machine};
use crate::sql::cluster::protocol::file_fingerprint_check;
use crate::sql::tables::files_of_datafusion::{self, STORE, Store};
use datafusion::common::Result;
use datafusion::execution::object_store::ObjectStoreRegistry;
use datafusion::object_store::ObjectStore;
use std::error::Error;
use std::io;
use std::path::Path;
use std::sync::Arc;
use url::Url;

/// What the machines of a cluster see of files: their length and digest.
#[derive(Debug)]
pub(in crate::sql) struct Digests {
    /// The files that this process may read; all, if it is a client.
    data: Option<Data>,
}

impl Digests {
    /// That of a client.
    pub(in crate::sql) fn of_client() -> Self {
        Self { data: None }
    }
}

impl files_of_datafusion::Sight for Digests {
    fn seen(&self, path: &Path, files: usize) -> io::Result<String> {
        file_fingerprint_check::seen(path, files).map(FileFingerprint::to_text)
    }
    fn check(&self, path: &Path, seen: &str) -> std::result::Result<(), Box<dyn Error + Send + Sync>> {
        if let Some(data) = &self.data {
            data.check_place(path)?;
        }
        let seen = FileFingerprint::of_text(seen).ok_or("only files that a query names are read")?;
        let failed = |error| Carried(format!("{}: {error} (on {})", path.display(), machine()));
        Ok(file_fingerprint_check::check(path, &seen).map_err(failed)?)
    }
}

/// The registry of a process of a cluster: it has files that queries name, and nothing else.
///
/// Rows that a task keeps for later go to its work directory in another way.
#[derive(Debug)]
pub(in crate::sql::cluster) struct Stores(Arc<Store>);

impl Stores {
    pub(in crate::sql::cluster) fn of(data: Data) -> Self {
        Self(Arc::new(Store::new(Arc::new(Digests { data: Some(data) }))))
    }
}

impl ObjectStoreRegistry for Stores {
    fn register_store(&self, _: &Url, _: Arc<dyn ObjectStore>) -> Option<Arc<dyn ObjectStore>> {
        None
    }
    fn get_store(&self, url: &Url) -> Result<Arc<dyn ObjectStore>> {
        if !url.as_str().starts_with(STORE) {
            return Err(crate::sql::cluster::protection::plan_allowlist::refused(
                &"queries of files that it has not seen",
            ));
        }
        Ok(Arc::<Store>::clone(&self.0))
    }
}
