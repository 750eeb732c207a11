//! Manifests: files next to outputs that record how these were made, and a check that the files are unchanged.

use super::interrupt;
use super::invocation::Invocation;
use super::output::{Output, Sink};
use crate::cli::SOMETHING_WRONG;
use anyhow::{Context, Result, bail};
use lanefish::Error;
use lanefish::formats::Format;
use lanefish::input::FileFingerprint;
use lanefish::jobs::OutputFormat;
use lanefish::output::MANIFEST_SUFFIX;
use lanefish::pipeline::{FileSummary, Summary};
use lanefish_core::text::one_line;
use rayon::ThreadPool;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, VecDeque};
use std::ffi::OsString;
use std::fs::{self, File, Metadata};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::SystemTime;

/// Number of bytes that all threads hash together at a time.
const PIECE: usize = 8 << 20;

/// The manifests of a run; they appear together with its outputs.
pub(crate) struct Manifests {
    seed: u64,
    inputs: Vec<Input>,
    /// Files given by `--against`.
    against: Vec<Input>,
    /// One for each output, or one for all of them.
    files: Vec<Output>,
    is_joint: bool,
}

/// An input as it was before the run.
struct Input {
    path: Arc<Path>,
    len: u64,
    modified: Option<SystemTime>,
}

impl Input {
    fn new(path: &Arc<Path>) -> Result<Self> {
        let failed = |source| Error::Open { path: Arc::clone(path), source };
        // Under these names it can be another file when the manifest is verified.
        if path.as_os_str() == "-" || ["/dev", "/proc"].iter().any(|directory| path.starts_with(directory)) {
            bail!("--manifest: {} cannot be read again: name files", path.display());
        }
        if path.to_str().is_none() {
            bail!("--manifest: the name {} is not UTF-8, so a manifest cannot hold it", path.display());
        }
        let metadata = fs::metadata(path).map_err(failed)?;
        if !metadata.is_file() {
            bail!("--manifest: {} is not a regular file and cannot be read again", path.display());
        }
        Ok(Self { path: Arc::clone(path), len: metadata.len(), modified: modified(&metadata) })
    }

    /// Reads the size and the hash after the run.
    fn about(&self, pool: &ThreadPool) -> Result<Map<String, Value>> {
        let file = File::open(&self.path).map_err(|source| Error::Open { path: Arc::clone(&self.path), source })?;
        let (len, hash) = hash_of(&file, pool, &self.path)?;
        let metadata = file.metadata().ok();
        if len != self.len || metadata.as_ref().and_then(modified) != self.modified {
            bail!("--manifest: {} changed while it was being read", self.path.display());
        }
        Ok(about(&self.path, len, &hash))
    }
}

fn modified(metadata: &Metadata) -> Option<SystemTime> {
    metadata.modified().ok()
}

fn about(path: &Path, len: u64, hash: &str) -> Map<String, Value> {
    Map::from_iter([
        ("path".to_owned(), json!(path.display().to_string())),
        ("bytes".to_owned(), json!(len)),
        ("blake3".to_owned(), json!(hash)),
    ])
}

/// The number of bytes of a file, and their BLAKE3 hash.
fn hash_of(mut file: &File, pool: &ThreadPool, path: &Path) -> Result<(u64, String)> {
    let stop = interrupt::flag();
    let mut hasher = blake3::Hasher::new();
    let mut piece = vec![0; PIECE];
    let mut len = 0;
    loop {
        let mut filled = 0;
        while filled < PIECE {
            match file.read(&mut piece[filled..]) {
                Ok(0) => break,
                Ok(more) => filled += more,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(source) => {
                    return Err(Error::Read { path: Arc::from(path), offset: len + filled as u64, source }.into());
                }
            }
        }
        if stop.load(Ordering::Relaxed) {
            return Err(Error::Interrupted.into());
        }
        if filled == 0 {
            return Ok((len, hasher.finalize().to_hex().to_string()));
        }
        pool.install(|| hasher.update_rayon(&piece[..filled]));
        len += filled as u64;
    }
}

fn pool_of(invocation: &Invocation<'_>) -> Result<ThreadPool> {
    let threads = invocation.threads;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    Ok(pool.map_err(|error| Error::Threads { threads, reason: error.to_string() })?)
}

impl Manifests {
    /// Starts the manifests for these outputs, after the invocation has prepared its inputs.
    pub(crate) fn begin<'a>(
        invocation: &Invocation<'_>,
        seed: u64,
        against: &[Arc<Path>],
        outputs: impl IntoIterator<Item = &'a Output>,
    ) -> Result<Self> {
        let mut begun = Self::without_files(invocation, seed, against)?;
        for output in outputs {
            let Some(file) = output.file() else {
                bail!("--manifest: the output is not a regular file and cannot be read again");
            };
            begun.open(invocation, file.path())?;
        }
        Ok(begun)
    }

    /// Starts one manifest for all files whose names are made from this one.
    pub(crate) fn begin_joint(
        invocation: &Invocation<'_>,
        seed: u64,
        against: &[Arc<Path>],
        name: &Path,
    ) -> Result<Self> {
        let mut begun = Self::without_files(invocation, seed, against)?;
        begun.open(invocation, name)?;
        begun.is_joint = true;
        Ok(begun)
    }

    fn without_files(invocation: &Invocation<'_>, seed: u64, against: &[Arc<Path>]) -> Result<Self> {
        let all = |paths: &[Arc<Path>]| paths.iter().map(Input::new).collect::<Result<Vec<_>>>();
        if invocation.reads_stdin() {
            bail!("--manifest: standard input cannot be read again: name files");
        }
        let (inputs, against) = (all(&invocation.input_paths())?, all(against)?);
        Ok(Self { seed, inputs, against, files: Vec::new(), is_joint: false })
    }

    /// Opens the manifest beside a file.
    fn open(&mut self, invocation: &Invocation<'_>, path: &Path) -> Result<()> {
        if path.to_str().is_none() {
            bail!("--manifest: the name {} is not UTF-8, so a manifest cannot hold it", path.display());
        }
        let mut name = OsString::from(path);
        name.push(MANIFEST_SUFFIX);
        self.files.push(invocation.open_beside(Path::new(&name))?);
        Ok(())
    }

    /// Completes the manifests and the outputs. Each output comes with its format and its number of records. All files
    /// are meant to appear together.
    pub(crate) fn complete(
        mut self,
        invocation: &Invocation<'_>,
        summary: &Summary,
        outputs: Vec<(Output, OutputFormat, u64)>,
    ) -> Result<Vec<Output>> {
        let _phase = invocation.phase("hashing");
        let pool = pool_of(invocation)?;
        let files = std::mem::take(&mut self.files);
        let made_of = self.made_of(summary, &pool)?;
        let about = |(output, format, records)| about_output(output, format, records, &pool);
        let outputs: Vec<_> = outputs.into_iter().map(about).collect::<Result<_>>()?;
        let (mut complete, about): (Vec<_>, Vec<_>) = outputs.into_iter().unzip();
        if self.is_joint {
            for manifest in files {
                complete.push(written(manifest, &made_of, "outputs", about.clone().into())?);
            }
        } else {
            for (manifest, about) in files.into_iter().zip(about) {
                complete.push(written(manifest, &made_of, "output", about)?);
            }
        }
        Ok(complete)
    }

    /// Everything but the outputs, in the order of a manifest, and what follows them.
    fn made_of(&self, summary: &Summary, pool: &ThreadPool) -> Result<[Map<String, Value>; 2]> {
        let mut read: BTreeMap<&Path, VecDeque<&FileSummary>> = BTreeMap::new();
        for file in &summary.files {
            read.entry(&file.path).or_default().push_back(file);
        }
        let mut inputs = Vec::new();
        for input in &self.inputs {
            let mut about = input.about(pool)?;
            // A zip archive may have given any number of inputs, none of which has its name.
            let file = read.get_mut(&*input.path).and_then(VecDeque::pop_front);
            let files: Vec<&FileSummary> = match file {
                Some(file) => vec![file],
                None => summary.files.iter().filter(|file| file.path.starts_with(&input.path)).collect(),
            };
            let format = file.and_then(|file| file.format).map(Format::name);
            about.insert("format".to_owned(), json!(format.or((!files.is_empty()).then_some("zip"))));
            about.insert(
                "records".to_owned(),
                json!(files.iter().map(|file| file.records - file.rejected).sum::<u64>()),
            );
            about.insert("rejected".to_owned(), json!(files.iter().map(|file| file.rejected).sum::<u64>()));
            inputs.push(Value::Object(about));
        }
        let against =
            self.against.iter().map(|input| input.about(pool).map(Value::Object)).collect::<Result<Vec<_>>>()?;
        let command: Vec<String> =
            std::env::args_os().map(|argument| argument.to_string_lossy().into_owned()).collect();
        let left_out = summary.left_out.iter();
        let left_out: Map<String, Value> =
            left_out.map(|(option, left_out)| ((*option).to_owned(), json!(left_out.positions))).collect();
        let mut before = Map::from_iter([
            ("lanefish".to_owned(), json!(env!("CARGO_PKG_VERSION"))),
            ("command".to_owned(), json!(command)),
            ("seed".to_owned(), json!(self.seed)),
            ("inputs".to_owned(), json!(inputs)),
        ]);
        if !against.is_empty() {
            before.insert("against".to_owned(), json!(against));
        }
        Ok([before, Map::from_iter([("left_out".to_owned(), json!(left_out))])])
    }
}

/// An output that is complete, and what a manifest says of it.
fn about_output(output: Output, format: OutputFormat, records: u64, pool: &ThreadPool) -> Result<(Output, Value)> {
    let named = output.named();
    let mut sink = output.complete()?;
    let (bytes, path) = match &mut sink {
        Sink::File(file) => (file.reader(), file.path()),
        Sink::Complete(file) => (file.reader(), file.path()),
        _ => bail!("--manifest: the output is not a regular file"),
    };
    let (len, hash) = hash_of(&bytes.map_err(|source| named.failed(source))?, pool, path)?;
    let mut about = about(path, len, &hash);
    about.insert("format".to_owned(), json!(format.name()));
    about.insert("records".to_owned(), json!(records));
    Ok((Output::Plain(sink), Value::Object(about)))
}

/// Writes a manifest of one output or several.
fn written(mut manifest: Output, made_of: &[Map<String, Value>; 2], key: &str, outputs: Value) -> Result<Output> {
    let [before, after] = made_of.clone();
    let outputs = Map::from_iter([(key.to_owned(), outputs)]);
    let object: Map<String, Value> = before.into_iter().chain(outputs).chain(after).collect();
    let mut text = serde_json::to_vec_pretty(&object)?;
    text.push(b'\n');
    manifest.put(&text)?;
    Ok(manifest)
}

/// A file of a manifest.
struct Listed {
    role: &'static str,
    path: String,
    bytes: u64,
    content: RecordedContent,
}

/// What a manifest says of the content of a file.
enum RecordedContent {
    Blake3(String),
    /// Of an input that no single machine has read: see [`FileFingerprint`].
    Fingerprint(FileFingerprint),
}

impl Listed {
    fn new(role: &'static str, value: &Value) -> Option<Self> {
        let text = |name| value.get(name)?.as_str().map(str::to_owned);
        let content = match text("blake3") {
            Some(hash) => RecordedContent::Blake3(hash),
            None => RecordedContent::Fingerprint(FileFingerprint::of_text(&text("fingerprint")?)?),
        };
        Some(Self { role, path: text("path")?, bytes: value.get("bytes")?.as_u64()?, content })
    }

    /// Describes how the file differs from the manifest.
    fn problem(&self, beside: &Path, pool: &ThreadPool) -> Result<Option<String>> {
        let path = PathBuf::from(&self.path);
        // A relative path is tried as it was given, and from the directory of the manifest.
        let moved = path.file_name().map(|name| beside.join(name));
        let path = match (path.exists(), moved) {
            (false, Some(moved)) if moved.exists() => moved,
            _ => path,
        };
        let file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Some("is missing".to_owned())),
            Err(source) => return Err(Error::Open { path: Arc::from(path), source }.into()),
        };
        let metadata = file.metadata().map_err(|source| Error::Open { path: Arc::from(&*path), source })?;
        if !metadata.is_file() {
            return Ok(Some("is not a regular file".to_owned()));
        }
        if metadata.len() != self.bytes {
            return Ok(Some(format!("has {} bytes, and had {}", metadata.len(), self.bytes)));
        }
        let differs = match &self.content {
            RecordedContent::Blake3(recorded) => hash_of(&file, pool, &path)?.1 != *recorded,
            RecordedContent::Fingerprint(seen) => {
                let failed = |source| Error::Read { path: Arc::from(&*path), offset: 0, source };
                seen.difference(&path).map_err(failed)?.is_some()
            }
        };
        Ok(differs.then(|| "has different content".to_owned()))
    }
}

/// The hash of a file of this length, according to the manifest beside it.
pub(crate) fn recorded_hash(path: &Path, len: u64) -> Option<String> {
    let mut manifest = OsString::from(path);
    manifest.push(MANIFEST_SUFFIX);
    let manifest: Value = serde_json::from_slice(&fs::read(manifest).ok()?).ok()?;
    let output = Listed::new("output", manifest.get("output")?)?;
    match output.content {
        RecordedContent::Blake3(hash) if output.bytes == len => Some(hash),
        _ => None,
    }
}

/// The files of a manifest.
fn listed(manifest: &Value) -> Option<Vec<Listed>> {
    let mut files = Vec::new();
    for input in manifest.get("inputs")?.as_array()? {
        files.push(Listed::new("input", input)?);
    }
    if let Some(against) = manifest.get("against") {
        for other in against.as_array()? {
            files.push(Listed::new("against", other)?);
        }
    }
    // A cluster writes several, and so do options that divide rows.
    match manifest.get("outputs") {
        Some(outputs) => {
            for output in outputs.as_array()? {
                files.push(Listed::new("output", output)?);
            }
        }
        None => files.push(Listed::new("output", manifest.get("output")?)?),
    }
    Some(files)
}

/// Checks whether the files of a manifest are unchanged; returns the exit status.
pub(crate) fn verify(invocation: &Invocation<'_>, manifest: &Path, as_json: bool) -> Result<u8> {
    let bytes = fs::read(manifest).map_err(|source| Error::Open { path: Arc::from(manifest), source })?;
    let value: Value = serde_json::from_slice(&bytes)
        .with_context(|| format!("{} is not a manifest of lanefish", manifest.display()))?;
    let files = listed(&value).with_context(|| format!("{} is not a manifest of lanefish", manifest.display()))?;
    let beside = match manifest.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let pool = pool_of(invocation)?;
    let mut objects = Vec::new();
    let mut text = Vec::new();
    let mut ok = true;
    for file in &files {
        let problem = {
            let _phase = invocation.phase("hashing");
            file.problem(beside, &pool)?
        };
        ok &= problem.is_none();
        let said = problem.as_deref().unwrap_or("ok");
        let path = one_line::of(&file.path).to_string();
        writeln!(text, "{path} ({}): {said}", file.role)?;
        objects.push(json!({ "path": file.path, "role": file.role, "ok": problem.is_none(), "problem": problem }));
    }
    if as_json {
        let object = Map::from_iter([("files".to_owned(), objects.into()), ("ok".to_owned(), json!(ok))]);
        crate::cli::print_object(&object)?;
    } else {
        text.extend_from_slice(if ok { b"ok\n" } else { b"not ok\n" });
        crate::cli::print(&text)?;
    }
    Ok(if ok { 0 } else { SOMETHING_WRONG })
}
