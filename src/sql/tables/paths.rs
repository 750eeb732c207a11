//! Paths as tables: `from 'dump.pgn.zst'`.
//!
//! A path names a file, a directory or, with `*`, `?` or `[...]`, several files. Files with positions are tables of
//! positions. Parquet and Arrow files without positions are read by the engine, as they are. So are CSV, TSV and JSON
//! files, even if one of their columns is `fen`: queries use their own columns, and functions compute the others. If
//! the user names the format, they are tables of positions as well.

use super::columns_stored_in_parquet::{self, StoredColumns};
use super::file_name_column;
use super::files_of_datafusion::{self, TableFile};
use super::position_table::PositionTable;
use super::scan_registry::Reads;
use super::sql_types::Named;
use crate::error::Error;
use crate::formats::tables::TableError;
use crate::formats::{self, Format, Likeness};
use crate::input::{Access, Compression, Input, Inputs, Source};
use crate::sql::errors::of_table;
use crate::sql::{PositionSource, SessionOptions};
#[cfg(feature = "cluster")]
use crate::table::ChosenColumn;
use crate::text::one_line;
use async_trait::async_trait;
use datafusion::catalog::{TableFunctionArgs, TableFunctionImpl, TableProvider, UrlTableFactory};
use datafusion::common::config::TableParquetOptions;
use datafusion::common::{DataFusionError, Result, plan_datafusion_err, plan_err};
use datafusion::datasource::dynamic_file::DynamicListTableFactory;
use datafusion::datasource::file_format::FileFormat;
use datafusion::datasource::file_format::csv::CsvFormat;
use datafusion::datasource::file_format::file_compression_type::FileCompressionType;
use datafusion::datasource::file_format::json::JsonFormat;
use datafusion::datasource::file_format::parquet::ParquetFormat;
use datafusion::datasource::listing::{ListingOptions, ListingTable};
use datafusion::execution::SessionState;
use datafusion::logical_expr::Expr;
use std::any::Any;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use tokio::runtime::Handle;

tokio::task_local! {
    /// What the statement that is being planned names.
    pub(in crate::sql) static NAMED: Named;
}

/// Makes tables of paths.
#[derive(Debug)]
pub(in crate::sql) struct Paths {
    pub(in crate::sql) options: SessionOptions,
    pub(in crate::sql) reads: Arc<Reads>,
    /// For files without positions.
    pub(in crate::sql) others: DynamicListTableFactory,
    pub(in crate::sql) store: Arc<files_of_datafusion::Store>,
    /// Tables are divided into about this number of pieces, for a cluster.
    #[cfg(feature = "cluster")]
    pub(in crate::sql) pieces: Option<usize>,
}

/// Number of first bytes by which a format is detected.
const HEAD: usize = 64 << 10;

#[async_trait]
impl UrlTableFactory for Paths {
    async fn try_new(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>> {
        let Some(names) = files(name)? else {
            return Ok(None);
        };
        let named = NAMED.try_with(Named::clone).unwrap_or_else(|_| Named::of(&[]));
        let options = self.options.clone();
        let found = tokio::task::spawn_blocking(move || {
            let found = inputs(&names, &options)?;
            let columns = found.as_ref().map(|inputs| named.columns_for(inputs)).unwrap_or_default();
            let stored = found.as_ref().filter(|_| !options.recompute);
            let stored = stored.and_then(|inputs| {
                let names_of_columns = columns_stored_in_parquet::names(inputs, &columns, &options.read)?;
                let files = files_of_datafusion::Files::of(&names).ok()??;
                let files_are_inputs = files.files.len() == inputs.sources.len();
                (files_are_inputs && !names_of_columns.is_empty()).then_some((files, names_of_columns))
            });
            Ok((found, columns, stored))
        })
        .await
        .map_err(|error| DataFusionError::External(error.into()))?;
        let (inputs, columns, stored) = found.map_err(of_table)?;
        match inputs {
            Some(inputs) => {
                let source = PositionSource { inputs, options: self.options.clone() };
                #[cfg(feature = "cluster")]
                if let Some(pieces) = self.pieces {
                    return self.divided(source, columns, pieces).await.map(Some);
                }
                let table = PositionTable::new(source, columns, Arc::clone(&self.reads));
                let Some((files, names)) = stored else { return Ok(Some(Arc::new(table))) };
                // Texts as they are everywhere else in our tables.
                let mut options = TableParquetOptions::default();
                // Statistics of row groups have a checksum, those of pages have none.
                options.global.enable_page_index = false;
                let format = ParquetFormat::default().with_options(options).with_force_view_types(false);
                let files =
                    files.table(false, ListingOptions::new(Arc::new(format)), &self.store, &self.state()?).await?;
                Ok(Some(Arc::new(table.with_stored(StoredColumns::new(Arc::new(files), &names)))))
            }
            None => self.plain(name).await.map(Some),
        }
    }
}

impl Paths {
    /// Whether a name stands for files with positions.
    pub(in crate::sql) async fn has_positions(&self, name: &str) -> Result<bool> {
        let Some(names) = files(name)? else {
            return Ok(false);
        };
        let options = self.options.clone();
        let found = tokio::task::spawn_blocking(move || inputs(&names, &options)).await;
        // Errors from opening a file are reported when its table is opened.
        Ok(matches!(found, Ok(Ok(Some(_)))))
    }

    /// A table for a cluster.
    #[cfg(feature = "cluster")]
    async fn divided(
        &self,
        mut source: PositionSource,
        columns: Vec<ChosenColumn>,
        pieces: usize,
    ) -> Result<Arc<dyn TableProvider>> {
        let divided = tokio::task::spawn_blocking(move || {
            let PositionSource { inputs, options } = &mut source;
            crate::sql::cluster::absolute(inputs)?;
            let pieces = crate::sql::cluster::divide(inputs, pieces, &options.read)?;
            Ok((source, pieces))
        })
        .await
        .map_err(|error| DataFusionError::External(error.into()))?;
        let (source, pieces) = divided.map_err(of_table)?;
        let table = PositionTable::new(source, columns, Arc::clone(&self.reads));
        Ok(Arc::new(table.divided(pieces)))
    }

    /// A file as the engine reads it.
    pub(in crate::sql) async fn plain(&self, name: &str) -> Result<Arc<dyn TableProvider>> {
        if let Some(names) = files(name)? {
            let access = self.options.read.access;
            let found = tokio::task::spawn_blocking(move || {
                let files = files_of_datafusion::Files::of(&names)?;
                files.iter().try_for_each(|files| check_first_lines(&files.files, access))?;
                Ok(files)
            });
            let found = found.await.map_err(|error| DataFusionError::External(error.into()))?;
            if let Some(files) = found.map_err(of_table)? {
                let options = self.reading(&files.files[0].path).await?;
                let with_names = NAMED.try_with(|named| named.has(file_name_column::NAME)).unwrap_or(false);
                return Ok(Arc::new(files.table(with_names, options, &self.store, &self.state()?).await?));
            }
        }
        self.by_engine(name).await
    }

    /// The table that the engine makes of a name.
    async fn by_engine(&self, name: &str) -> Result<Arc<dyn TableProvider>> {
        let table = self.others.try_new(name).await?;
        table.ok_or_else(|| {
            plan_datafusion_err!("'{name}' has no positions, and is not a Parquet, CSV, TSV, JSON or Arrow file")
        })
    }

    /// How the engine reads a file, and those like it.
    async fn reading(&self, file: &Path) -> Result<ListingOptions> {
        let name = file.to_string_lossy();
        if let Some(options) = unnamed_format(&name)? {
            return Ok(options);
        }
        let table = self.by_engine(&name).await?;
        let listing = (&*table as &dyn Any).downcast_ref::<ListingTable>();
        let options = listing.map(|listing| listing.options().clone());
        options.ok_or_else(|| DataFusionError::Internal(format!("the engine has no options for {name}")))
    }

    fn state(&self) -> Result<SessionState> {
        let session = self.others.session_store().get_session().upgrade();
        let state = session.and_then(|session| {
            let session = session.read();
            session.as_any().downcast_ref::<SessionState>().cloned()
        });
        state.ok_or_else(|| DataFusionError::Internal("the session is over".to_owned()))
    }
}

/// Options for files that the engine can read although it does not know their extensions.
fn unnamed_format(name: &str) -> Result<Option<ListingOptions>> {
    let (stem, last) = name.rsplit_once('.').unwrap_or((name, ""));
    let compressed = Compression::of_extension(last).is_some();
    let (kind, compression) = match (compressed, stem.rsplit_once('.')) {
        (true, Some((_, kind))) => (kind, FileCompressionType::from_str(last)?),
        _ => (last, FileCompressionType::UNCOMPRESSED),
    };
    let format: Arc<dyn FileFormat> = match kind.to_ascii_lowercase().as_str() {
        "jsonl" | "ndjson" => Arc::new(JsonFormat::default().with_file_compression_type(compression)),
        "tsv" => {
            let tabs = CsvFormat::default().with_delimiter(b'\t');
            Arc::new(tabs.with_file_compression_type(compression))
        }
        _ => return Ok(None),
    };
    let extension = if compressed { format!(".{kind}.{last}") } else { format!(".{kind}") };
    Ok(Some(ListingOptions::new(format).with_file_extension(extension)))
}

/// Checks that all files of a table of CSV or TSV have the same columns in the same order. The engine looks at the
/// first 1,000 rows of all files together, and then reads the values of every file by their order.
fn check_first_lines(files: &[TableFile], access: Access) -> std::result::Result<(), Error> {
    let paths = files.iter().map(|file| &file.path);
    let paths = paths.filter(|path| [Some(Format::CSV), Some(Format::TSV)].contains(&Format::of_name(path)));
    let mut first: Option<(Vec<u8>, PathBuf)> = None;
    for path in paths {
        let mut input = Input::open(&Source::from(path.as_path()), access, Arc::default())?;
        let (head, _) = input.peek(HEAD)?;
        let line = head.split(|&byte| byte == b'\n').next().unwrap_or_default().trim_ascii_end();
        match &first {
            _ if head.is_empty() => {}
            None => first = Some((line.to_vec(), path.clone())),
            Some((expected, _)) if line == expected => {}
            Some((expected, other)) => {
                let shown = |line: &[u8]| one_line::of(&String::from_utf8_lossy(line)).into_owned();
                let reason = format!(
                    "cannot be read together with {}: its columns are {}, not {}",
                    one_line::of(&other.display().to_string()),
                    shown(line),
                    shown(expected)
                );
                return Err(Error::Columns { path: Arc::from(path.as_path()), reason });
            }
        }
    }
    Ok(())
}

/// `plain('hub.parquet')`: a file with the columns that it has, positions or not.
#[derive(Debug)]
pub(in crate::sql) struct Plain(pub(in crate::sql) Arc<Paths>);

impl TableFunctionImpl for Plain {
    fn call_with_args(&self, args: TableFunctionArgs<'_, '_>) -> Result<Arc<dyn TableProvider>> {
        let [Expr::Literal(name, _)] = args.exprs() else {
            return plan_err!("plain takes the name of a file, such as plain('hub.parquet')");
        };
        let Some(Some(name)) = name.try_as_str() else {
            return plan_err!("plain takes the name of a file as text");
        };
        // Plans are made by the threads of the session, which may wait.
        tokio::task::block_in_place(|| Handle::current().block_on(self.0.plain(name)))
    }
}

/// The files that a name refers to; `None` if it is not a path.
fn files(name: &str) -> Result<Option<Vec<PathBuf>>> {
    let path = Path::new(name);
    if path.exists() {
        return Ok(Some(vec![path.to_owned()]));
    }
    if name.contains(['*', '?', '[']) {
        let pattern = glob::glob(name).map_err(|error| plan_datafusion_err!("'{name}': {error}"))?;
        let files: Vec<PathBuf> = pattern.filter_map(|path| path.ok()).filter(|path| path.is_file()).collect();
        if files.is_empty() {
            return Err(plan_datafusion_err!("no file fits '{name}'"));
        }
        return Ok(Some(files));
    }
    if name.contains("://") || !name.contains(['/', '.', std::path::MAIN_SEPARATOR]) {
        Ok(None)
    } else {
        // It looks like a file.
        Ok(Some(vec![path.to_owned()]))
    }
}

/// The inputs of positions that these names refer to; `None` if the engine reads them.
fn inputs(names: &[PathBuf], options: &SessionOptions) -> std::result::Result<Option<Inputs>, Error> {
    if options.read.from.is_some() {
        return Inputs::resolve(names, |_| true).map(Some);
    }
    let inputs = match Inputs::resolve(names, formats::is_supported) {
        // A directory of other files.
        Err(Error::EmptyDirectory { .. }) => return Ok(None),
        inputs => inputs?,
    };
    // All files of a table are read in the same way, so the first one decides.
    match inputs.sources.first() {
        // The engine reads no zip archives.
        Some(first) if !first.is_member() && !has_positions(first, options)? => Ok(None),
        _ => Ok(Some(inputs)),
    }
}

/// Whether a file has positions. Otherwise only the engine may be able to read it.
fn has_positions(source: &Source, options: &SessionOptions) -> std::result::Result<bool, Error> {
    let name = source.name().file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let is_other = name.split('.').skip(1).any(|part| files_of_datafusion::KINDS.contains(&part));
    let mut opened = match formats::open(source, None, None, options.read.access, Arc::default()) {
        Err(Error::UnknownFormat { .. }) if is_other => return Ok(false),
        opened => opened?,
    };
    if !is_other {
        return Ok(true);
    }
    if [Format::CSV, Format::TSV, Format::JSONL].contains(&opened.format) {
        return Ok(false);
    }
    let Some(tables) = opened.format.tables() else {
        let (head, _) = opened.input.peek(HEAD)?;
        return Ok(opened.format.likeness(&head) > Likeness::No);
    };
    let source = opened.input.into_random_access(opened.format.name())?;
    // Damage is reported when the file is read.
    Ok(!matches!(tables.open(source, &options.read.decode, None), Err(TableError::Columns(_))))
}
