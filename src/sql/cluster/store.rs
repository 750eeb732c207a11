//! The files of tables that the engine reads itself, such as CSV: those of [`Data`], and only for reading.

use super::data::Data;
use super::errors::Carried;
use async_trait::async_trait;
use datafusion::common::Result as EngineResult;
use datafusion::execution::object_store::ObjectStoreRegistry;
use datafusion::object_store::local::LocalFileSystem;
use datafusion::object_store::path::Path;
use datafusion::object_store::{
    CopyOptions, Error, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore,
    PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use std::fmt;
use std::sync::Arc;
use url::Url;

/// The registry of a process of a cluster: it has files only.
///
/// Rows that a task keeps for later go to its work directory in another way.
#[derive(Debug)]
pub(super) struct Stores(Arc<DataStore>);

impl Stores {
    pub(super) fn of(data: Data) -> Self {
        Self(Arc::new(DataStore { files: LocalFileSystem::new(), data }))
    }
}

impl ObjectStoreRegistry for Stores {
    fn register_store(&self, _: &Url, _: Arc<dyn ObjectStore>) -> Option<Arc<dyn ObjectStore>> {
        None
    }
    fn get_store(&self, url: &Url) -> EngineResult<Arc<dyn ObjectStore>> {
        if url.scheme() != "file" {
            return Err(super::allowed::refused(&"queries of services"));
        }
        Ok(Arc::<DataStore>::clone(&self.0))
    }
}

/// The files below some directories.
#[derive(Debug)]
struct DataStore {
    files: LocalFileSystem,
    data: Data,
}

impl fmt::Display for DataStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.files)
    }
}

fn refused(path: &Path, reason: Carried) -> Error {
    Error::PermissionDenied { path: path.to_string(), source: Box::new(reason) }
}

impl DataStore {
    fn check(&self, path: &Path) -> Result<()> {
        let place = self.files.path_to_filesystem(path)?;
        self.data.check_place(&place).map_err(|reason| refused(path, reason))
    }

    fn check_prefix(&self, prefix: Option<&Path>) -> Result<()> {
        self.check(prefix.unwrap_or(&Path::default()))
    }
}

/// The error of what writes.
fn writes<T>(path: &Path) -> Result<T> {
    Err(refused(path, Carried("the cluster does not carry out what writes files".to_owned())))
}

#[async_trait]
impl ObjectStore for DataStore {
    async fn put_opts(&self, path: &Path, _: PutPayload, _: PutOptions) -> Result<PutResult> {
        writes(path)
    }
    async fn put_multipart_opts(&self, path: &Path, _: PutMultipartOptions) -> Result<Box<dyn MultipartUpload>> {
        writes(path)
    }
    async fn get_opts(&self, path: &Path, options: GetOptions) -> Result<GetResult> {
        self.check(path)?;
        self.files.get_opts(path, options).await
    }
    fn delete_stream(&self, paths: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        paths.map(|path| writes(&path?)).boxed()
    }
    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        match self.check_prefix(prefix) {
            Ok(()) => self.files.list(prefix),
            Err(error) => stream::once(async { Err(error) }).boxed(),
        }
    }
    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.check_prefix(prefix)?;
        self.files.list_with_delimiter(prefix).await
    }
    async fn copy_opts(&self, _: &Path, to: &Path, _: CopyOptions) -> Result<()> {
        writes(to)
    }
}
