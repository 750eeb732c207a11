//! The files of tables that the engine reads itself, such as CSV.
//!
//! The engine would list a directory again wherever it plans. It leaves out subdirectories, reads files that are no
//! part of a dataset, and on a cluster it forgets the pattern of names such as `2026-*.csv`. So a table has the same
//! files as one of positions, and names each of them as a directory of its own in a store that only reads. The first
//! part of such a name has the file and what was seen of it when the query was planned; the store compares this when it
//! opens the file. The other parts are the folders `NAME=VALUE`, which are columns, among them `filename` where a query names
//! it, and the name of the file.
//!
//! ```text
//! seen://files/00000003-8000.3fa9-1-2f646174612f6d6f6e74683d30352f6f6e652e637376/month=05/one.csv
//!              place    seen      number of folders; file, as hexadecimal digits
//! ```

use super::file_name_column;
use crate::error::Error;
use crate::formats::codec::decode_records::hexadecimal;
use crate::input::{Compression, Identity, Inputs};
use async_trait::async_trait;
use datafusion::arrow::datatypes::DataType;
use datafusion::common::Result as EngineResult;
use datafusion::datasource::listing::{ListingOptions, ListingTable, ListingTableConfig, ListingTableUrl};
use datafusion::execution::SessionState;
use datafusion::object_store::local::LocalFileSystem;
use datafusion::object_store::path::{Path, PathPart};
use datafusion::object_store::{
    CopyOptions, Error as StoreError, GetOptions, GetRange, GetResult, ListResult, MultipartUpload, ObjectMeta,
    ObjectStore, PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::{Path as FilePath, PathBuf};
use std::sync::Arc;

/// The beginning of names in the store.
pub(in crate::sql) const STORE: &str = "seen://files/";

/// The files that the engine reads itself, by extension; compressed files have two.
pub(in crate::sql) const KINDS: [&str; 9] =
    ["csv", "tsv", "json", "jsonl", "ndjson", "parquet", "arrow", "arrows", "feather"];

/// What is seen of files.
pub(in crate::sql) trait Sight: fmt::Debug + Send + Sync {
    /// What is seen of a file, as text of letters, digits and points; there are this many files.
    ///
    /// # Errors
    /// If it cannot be read.
    fn seen(&self, path: &FilePath, files: usize) -> io::Result<String>;

    /// Checks that a file is the one that was seen.
    ///
    /// # Errors
    /// With the difference, or if the file may not be read.
    fn check(&self, path: &FilePath, seen: &str) -> std::result::Result<(), Box<dyn std::error::Error + Send + Sync>>;
}

/// Sees whether a file of this machine has changed.
#[derive(Debug)]
pub(in crate::sql) struct Unchanged;

impl Sight for Unchanged {
    fn seen(&self, path: &FilePath, _: usize) -> io::Result<String> {
        // The same in all of a process.
        let mut hasher = DefaultHasher::new();
        Identity::of(&std::fs::metadata(path)?).hash(&mut hasher);
        Ok(format!("{:016x}", hasher.finish()))
    }
    fn check(&self, path: &FilePath, seen: &str) -> std::result::Result<(), Box<dyn std::error::Error + Send + Sync>> {
        if self.seen(path, 1)? == seen {
            return Ok(());
        }
        Err(format!("{} has changed since the query was planned", path.display()).into())
    }
}

/// The extension of a file that the engine may read, without the first point: `csv`, `csv.gz`.
pub(in crate::sql) fn extension(path: &FilePath) -> Option<String> {
    let name = path.file_name()?.to_str()?.to_ascii_lowercase();
    let (stem, last) = name.rsplit_once('.')?;
    if KINDS.contains(&last) {
        return Some(last.to_owned());
    }
    let (_, kind) = stem.rsplit_once('.')?;
    (Compression::of_extension(last).is_some() && KINDS.contains(&kind)).then(|| format!("{kind}.{last}"))
}

/// A file of a table.
#[derive(Clone, Debug)]
pub(in crate::sql) struct TableFile {
    pub(in crate::sql) path: PathBuf,
    /// The name by which it was found.
    shown: PathBuf,
    /// The number of folders `NAME=VALUE` above it.
    folders: usize,
}

/// The files of a table.
#[derive(Debug)]
pub(in crate::sql) struct Files {
    pub(in crate::sql) files: Vec<TableFile>,
    /// The names of these folders.
    folders: Vec<String>,
}

impl Files {
    /// Those that these names refer to; none if the engine may not be able to read one of them.
    ///
    /// # Errors
    /// If a name does not exist or cannot be read, a directory has no such files, or they are of several kinds.
    pub(in crate::sql) fn of(names: &[PathBuf]) -> std::result::Result<Option<Self>, Error> {
        let mut files = Vec::new();
        for name in names {
            let inputs = Inputs::resolve(std::slice::from_ref(name), |source| extension(source.name()).is_some())?;
            // These would be left out in silence.
            if let Some(broken) = inputs.broken.first() {
                let source = io::Error::new(io::ErrorKind::NotFound, "a link that leads nowhere, or in a circle");
                return Err(Error::Open { path: Arc::from(broken.as_path()), source });
            }
            for source in &inputs.sources {
                let path = source.name();
                if source.is_member() {
                    let reason = "is in a zip archive, where only tables of positions are read: extract it first";
                    return Err(Error::Columns { path: Arc::clone(path), reason: reason.to_owned() });
                }
                let below = path.strip_prefix(name).unwrap_or(path).parent();
                let parts = below.into_iter().flat_map(|below| below.components().rev());
                let folders = parts.map_while(|part| folder(part.as_os_str().to_str()?));
                files.push(TableFile {
                    path: std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf()),
                    shown: path.to_path_buf(),
                    folders: folders.count(),
                });
            }
        }
        let Some(kind) = files.first().and_then(|first| extension(&first.path)) else {
            return Ok(None);
        };
        let folders = folders_of(&files[0]);
        for file in &files[1..] {
            let failed = |reason: String| {
                let reason = format!("cannot be read together with {}: {reason}", files[0].path.display());
                Err(Error::Columns { path: Arc::from(file.path.as_path()), reason })
            };
            match extension(&file.path) {
                Some(other) if other == kind => {}
                Some(other) => return failed(format!("its name ends in .{other}, not .{kind}")),
                None => return Ok(None),
            }
            if folders_of(file) != folders {
                let shown = |folders: &[String]| match folders {
                    [] => "none".to_owned(),
                    folders => folders.join(", "),
                };
                return failed(format!(
                    "its folders with values are {}, not {}",
                    shown(&folders_of(file)),
                    shown(&folders)
                ));
            }
        }
        Ok(Some(Self { files, folders }))
    }

    /// The table of these files; `with_names` gives it the column `filename`, unless it has one.
    ///
    /// # Errors
    /// If one of them cannot be read, or they have no common columns.
    pub(in crate::sql) async fn table(
        &self,
        with_names: bool,
        options: ListingOptions,
        store: &Arc<Store>,
        state: &SessionState,
    ) -> EngineResult<ListingTable> {
        let (files, sight) = (self.files.clone(), Arc::clone(&store.sight));
        let named = tokio::task::spawn_blocking(move || {
            let named = files.iter().enumerate().map(|(place, file)| {
                let seen = sight.seen(&file.path, files.len());
                let seen = seen.map_err(|source| Error::Open { path: Arc::from(file.path.as_path()), source })?;
                let (folders, path) = (file.folders, file.path.clone());
                Ok(Named { place, seen, folders, path, shown: None })
            });
            named.collect::<std::result::Result<Vec<_>, Error>>()
        });
        let named = named.await.map_err(|error| datafusion::common::DataFusionError::External(error.into()))?;
        let mut named = named.map_err(crate::sql::errors::of_table)?;
        let mut objects = Vec::with_capacity(named.len());
        for file in &named {
            let object = store.meta(&file.location()).await?;
            if object.size > 0 {
                objects.push(object);
            }
        }
        let reader = Arc::<Store>::clone(store) as Arc<dyn ObjectStore>;
        let schema = options.format.infer_schema(state, &reader, &objects).await?;
        let is_known =
            |name: &str| schema.column_with_name(name).is_some() || self.folders.iter().any(|own| own == name);
        let mut folders = self.folders.clone();
        if with_names && !is_known(file_name_column::NAME) {
            for (named, file) in named.iter_mut().zip(&self.files) {
                named.shown = Some(file.shown.to_string_lossy().into_owned());
            }
            folders.push(file_name_column::NAME.to_owned());
        }
        let urls = named.iter().map(|file| ListingTableUrl::parse(format!("{STORE}{}/", file.part())));
        let urls = urls.collect::<EngineResult<Vec<_>>>()?;
        let folders = folders.into_iter().map(|name| (name, DataType::Utf8));
        // All files are of the same kind, but their names may spell it differently: `a.csv`, `B.CSV`.
        let options = options.with_table_partition_cols(folders.collect()).with_file_extension("");
        let config = ListingTableConfig::new_with_multi_paths(urls).with_listing_options(options).with_schema(schema);
        ListingTable::try_new(config)
    }
}

/// The name of a folder `NAME=VALUE`.
fn folder(part: &str) -> Option<&str> {
    part.split_once('=').map(|(name, _)| name).filter(|name| !name.is_empty())
}

fn folders_of(file: &TableFile) -> Vec<String> {
    let parts = file.path.parent().into_iter().flat_map(|parent| parent.components().rev());
    let names = parts.take(file.folders).filter_map(|part| folder(part.as_os_str().to_str()?).map(str::to_owned));
    let mut names: Vec<String> = names.collect();
    names.reverse();
    names
}

/// A file in the store.
#[derive(Debug, PartialEq, Eq)]
struct Named {
    /// The place of the file among the files of its table, by which the engine sorts them.
    place: usize,
    seen: String,
    folders: usize,
    path: PathBuf,
    /// The value of `filename`, if the table has this column.
    shown: Option<String>,
}

impl Named {
    /// The first part of its name.
    fn part(&self) -> String {
        let hex = |text: &str| String::from_utf8_lossy(&hexadecimal(text.as_bytes())).into_owned();
        let path = hex(&self.path.to_string_lossy());
        let shown = self.shown.as_ref().map_or_else(String::new, |shown| format!("-{}", hex(shown)));
        format!("{:08}-{}-{}-{path}{shown}", self.place, self.seen, self.folders)
    }

    fn location(&self) -> Path {
        let mut parts: Vec<_> = self.path.components().rev().take(self.folders.saturating_add(1)).collect();
        parts.reverse();
        let mut parts: Vec<String> = parts.iter().map(|part| part.as_os_str().to_string_lossy().into_owned()).collect();
        if let Some(shown) = &self.shown {
            let before_last = parts.len().saturating_sub(1);
            parts.insert(before_last, format!("{}={shown}", file_name_column::NAME));
        }
        Path::from_iter(std::iter::once(self.part()).chain(parts))
    }

    /// The file of a name in the store.
    fn of(location: &Path) -> Option<Self> {
        let first: PathPart<'_> = location.parts().next()?;
        let parts: Vec<&str> = first.as_ref().split('-').collect();
        let (&[place, seen, folders, path], shown) = parts.split_first_chunk()?;
        let digit = |digit: u8| char::from(digit).to_digit(16);
        let text = |hex: &str| {
            let bytes = hex.as_bytes().chunks(2).map(|pair| match *pair {
                [high, low] => Some((digit(high)? << 4 | digit(low)?) as u8),
                _ => None,
            });
            String::from_utf8(bytes.collect::<Option<_>>()?).ok()
        };
        let shown = match shown {
            [] => None,
            [shown] => Some(text(shown)?),
            _ => return None,
        };
        Some(Self {
            place: place.parse().ok()?,
            seen: seen.to_owned(),
            folders: folders.parse().ok()?,
            path: text(path)?.into(),
            shown,
        })
    }
}

/// Files that were seen, for reading.
#[derive(Debug)]
pub(in crate::sql) struct Store {
    files: LocalFileSystem,
    sight: Arc<dyn Sight>,
}

impl fmt::Display for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.files)
    }
}

fn refused(path: &Path, reason: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> StoreError {
    StoreError::PermissionDenied { path: path.to_string(), source: reason.into() }
}

/// The error of what writes.
fn writes<T>(path: &Path) -> Result<T> {
    Err(refused(path, "queries do not write files"))
}

impl Store {
    pub(in crate::sql) fn new(sight: Arc<dyn Sight>) -> Self {
        Self { files: LocalFileSystem::new(), sight }
    }

    /// The file of a name, if it is the one that was seen.
    async fn opened(&self, location: &Path) -> Result<Named> {
        let named = Named::of(location).ok_or_else(|| refused(location, "only files that a query names are read"))?;
        let sight = Arc::clone(&self.sight);
        let checked = tokio::task::spawn_blocking(move || sight.check(&named.path, &named.seen).map(|()| named)).await;
        checked.map_err(|error| refused(location, error))?.map_err(|reason| refused(location, reason))
    }

    async fn meta(&self, location: &Path) -> Result<ObjectMeta> {
        let options = GetOptions { head: true, ..GetOptions::default() };
        self.get_opts(location, options).await.map(|result| result.meta)
    }

    async fn listed(&self, prefix: Option<&Path>) -> Result<Option<ObjectMeta>> {
        let prefix = prefix.cloned().unwrap_or_default();
        let location = self.opened(&prefix).await?.location();
        let is_below = location.prefix_matches(&prefix);
        let meta = self.meta(&location).await?;
        Ok(is_below.then_some(meta))
    }
}

#[async_trait]
impl ObjectStore for Store {
    async fn put_opts(&self, path: &Path, _: PutPayload, _: PutOptions) -> Result<PutResult> {
        writes(path)
    }
    async fn put_multipart_opts(&self, path: &Path, _: PutMultipartOptions) -> Result<Box<dyn MultipartUpload>> {
        writes(path)
    }
    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        let named = self.opened(location).await?;
        let path = Path::from_absolute_path(&named.path)?;
        let range = options.range.clone();
        let mut found = self.files.get_opts(&path, options).await?;
        found.meta.location = location.clone();
        // The engine expects all bytes that it asks for, and panics where damaged metadata name bytes beyond the end.
        if let Some(GetRange::Bounded(range)) = range
            && range.end > found.meta.size
        {
            let (path, size) = (named.path.display(), found.meta.size);
            let what = format!("{path} is damaged: it has {size} bytes, and refers to the bytes up to {}", range.end);
            return Err(StoreError::Generic { store: "files", source: what.into() });
        }
        Ok(found)
    }
    fn delete_stream(&self, paths: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        paths.map(|path| writes(&path?)).boxed()
    }
    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        let (store, prefix) = (Self::new(Arc::clone(&self.sight)), prefix.cloned());
        let listed = async move { store.listed(prefix.as_ref()).await.transpose() };
        stream::once(listed).filter_map(async |listed| listed).boxed()
    }
    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        let objects = self.listed(prefix).await?.into_iter().collect();
        Ok(ListResult { objects, common_prefixes: Vec::new() })
    }
    async fn copy_opts(&self, _: &Path, to: &Path, _: CopyOptions) -> Result<()> {
        writes(to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use datafusion::object_store::ObjectStoreExt;
    use futures::TryStreamExt;

    #[test]
    fn names_have_the_file_and_what_was_seen() {
        for (path, folders, end) in [
            ("/data/a.csv", 0, "/a.csv"),
            ("/data/x=1/month=05/a b.csv.gz", 2, "/x=1/month=05/a b.csv.gz"),
            ("/data/x=1/month=05/a.csv", 1, "/month=05/a.csv"),
            ("/d\u{e9}/m=50%/\u{2019}.csv", 1, "/m=50%25/%E2%80%99.csv"),
        ] {
            let seen = "12.34.ab".to_owned();
            let mut named = Named { place: 7, seen, folders, path: path.into(), shown: None };
            let location = named.location();
            assert!(location.as_ref().ends_with(end), "{location}");
            assert_eq!(Named::of(&location).as_ref(), Some(&named));
            named.shown = Some("../a=50%.csv".to_owned());
            let (folders, file) = end.rsplit_once('/').unwrap();
            let (location, end) = (named.location(), format!("{folders}/filename=..%2Fa=50%25.csv/{file}"));
            assert!(location.as_ref().ends_with(&end), "{location}");
            assert_eq!(Named::of(&location), Some(named));
        }
        for odd in ["", "a", "0-1-2-3", "0-1-2-zz", "0-1-2-c3", "0-1-2-61-3", "-1-2-61", "a-1-2-61"] {
            assert_eq!(Named::of(&Path::from(odd)), None, "{odd}");
        }
        let forged = Named::of(&Path::from(format!("0-1-{}-2f61", usize::MAX))).unwrap();
        assert!(forged.location().as_ref().ends_with("/a"));
    }

    #[tokio::test]
    async fn only_what_was_seen_is_read() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("a.csv");
        std::fs::write(&file, "n\n1\n").unwrap();
        let store = Store::new(Arc::new(Unchanged));
        let seen = Unchanged.seen(&file, 1).unwrap();
        let location = Named { place: 0, seen, folders: 0, path: file.clone(), shown: None }.location();
        let folder = Path::from_iter(location.parts().next());
        let listed: Vec<_> = store.list(Some(&folder)).try_collect().await.unwrap();
        assert_eq!(listed.iter().map(|meta| (&meta.location, meta.size)).collect::<Vec<_>>(), [(&location, 4)]);
        assert_eq!(store.get(&location).await.unwrap().bytes().await.unwrap(), "n\n1\n");
        assert_eq!(store.get_range(&location, 1..4).await.unwrap(), "\n1\n");
        let error = store.get_range(&location, 1..5).await.unwrap_err().to_string();
        assert!(error.contains("has 4 bytes, and refers to the bytes up to 5"), "{error}");
        std::fs::write(&file, "n\n12\n").unwrap();
        let error = store.get(&location).await.unwrap_err().to_string();
        assert!(error.contains("has changed since the query was planned"), "{error}");
        for other in [Path::from_absolute_path(&file).unwrap(), Path::default()] {
            let error = store.get(&other).await.unwrap_err().to_string();
            assert!(error.contains("only files that a query names"), "{error}");
            assert!(store.list(Some(&other)).try_collect::<Vec<_>>().await.is_err());
        }
        assert!(store.put(&location, "n\n2\n".into()).await.is_err());
        assert!(store.delete(&location).await.is_err());
        assert!(store.copy(&location, &location).await.is_err());
        assert_eq!(std::fs::read(&file).unwrap(), b"n\n12\n");
    }
}
