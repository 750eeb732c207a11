//! Outputs on a cluster: each executor writes the files of its pieces, and tells the client about them.
//!
//! A file appears whole or not at all, and its manifest appears before it: how it was made, its hash, and what the
//! summary of one process would say. So the manifest shows whether a file is what is asked for. A task that is
//! carried out twice, because an executor was lost or only seemed to be, finds the file of the same job and keeps it.

use super::errors::{carried, failure_of, machine};
use super::input_shares::Piece;
use super::message_envelope::{decoded, encoded, wrong};
use super::messages::{LossesWire, SummaryWire};
use super::piece_result_rows::{self, FILE, PieceSender, REJECTS};
use super::scan_metrics::ScanMetrics;
use super::write_request::{ExistingPiece, PieceContent, Writing};
use crate::datasets::OpeningTree;
use crate::error::{Error, Reject};
use crate::input::{FileFingerprint, Inputs, Shard};
use crate::jobs::{GameColumns, OutputContent, OutputFile, OutputSummary, RowDivision, Sender, WriteJob};
use crate::output::{AtomicFile, MANIFEST_SUFFIX};
use crate::pipeline::{Summary, run_to_end};
use crate::sql::cluster::protection::Directories;
use crate::sql::tables::scan::{Batch, ScanRun};
use crate::sql::{PositionSource, SqlError};
use crate::table::Columns;
use datafusion::arrow::array::RecordBatch;
use datafusion::common::Result;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// A file and how it was made.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::sql::cluster) struct PieceManifest {
    lanefish: String,
    command: Vec<String>,
    seed: u64,
    inputs: Vec<ManifestInput>,
    output: ManifestOutput,
    left_out: BTreeMap<String, u64>,
    piece: PieceOrigin,
}

/// A file that was read.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct ManifestInput {
    path: PathBuf,
    bytes: u64,
    fingerprint: String,
    format: Option<String>,
    /// Good records.
    records: u64,
    rejected: u64,
}

/// A file that was written.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct ManifestOutput {
    path: PathBuf,
    bytes: u64,
    blake3: String,
    format: String,
    records: u64,
}

/// What a manifest says of a piece, in addition.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct PieceOrigin {
    number: u32,
    /// The number and count of the shard, if it is one.
    shard: Option<(u32, u32)>,
    /// The name of the job.
    job: String,
    /// What the content of the file depends on: see [`MADE_OF`].
    made_of: BTreeMap<String, Value>,
    summary: SummaryWire,
    losses: LossesWire,
    chains: u64,
}

/// What pieces depend on, with the words for a difference, in the order in which differences are looked for.
const MADE_OF: [(&str, &str); 5] = [
    ("version", "by another version of lanefish"),
    ("inputs", "from other inputs, or another share of them"),
    ("content", "with other columns or records"),
    ("format", "in another format, or with other options of it"),
    ("reading", "with other options for reading"),
];

/// What the file of a piece depends on.
fn made_of(writing: &Writing, source: &PositionSource, piece: &Piece) -> Result<BTreeMap<String, Value>> {
    let json = |value: serde_json::Result<Value>| value.map_err(|error| wrong(&error));
    let mut reading = json(serde_json::to_value(&source.options.read))?;
    if let Some(reading) = reading.as_object_mut() {
        // How files are opened makes no difference.
        reading.remove("access");
    }
    let format = (writing.format_name(), writing.format, writing.level, writing.rows_per_group, writing.allow_loss);
    // Parts of a tree know how many there are.
    let count = matches!(writing.content, PieceContent::TreeParts { .. }).then_some(writing.count);
    let values = [
        Value::from(env!("CARGO_PKG_VERSION")),
        json(serde_json::to_value((piece, count)))?,
        json(serde_json::to_value(&writing.content))?,
        json(serde_json::to_value(format))?,
        reading,
    ];
    Ok(MADE_OF.iter().map(|(name, _)| (*name).to_owned()).zip(values).collect())
}

/// The name of the manifest of a file.
fn manifest_of(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(MANIFEST_SUFFIX);
    name.into()
}

/// Begins to write the file of a piece.
pub(in crate::sql::cluster) fn begin(
    source: &Arc<PositionSource>,
    writing: &Arc<Writing>,
    (number, piece): (u32, &Piece),
    (inputs, shard): (Inputs, Option<Shard>),
    (directories, told): (Directories, ScanMetrics),
) -> Result<ScanRun> {
    let task = Task {
        source: PositionSource { inputs, options: source.options.clone() },
        writing: Arc::clone(writing),
        piece: piece.clone(),
        shard,
        number,
        path: writing.piece(number),
        directories,
    };
    ScanRun::begin(2, move |sender| task.run(sender, &told))
}

/// The file of a piece that is asked for.
struct Task {
    source: PositionSource,
    writing: Arc<Writing>,
    piece: Piece,
    shard: Option<Shard>,
    number: u32,
    path: PathBuf,
    directories: Directories,
}

impl Task {
    /// Writes the file, unless it is there.
    fn run(&self, sender: &Sender<Batch>, told: &ScanMetrics) -> Result<()> {
        let mut rows = PieceSender::new(sender, self.number);
        let manifest = manifest_of(&self.path);
        self.directories.out.prepare(&self.path)?;
        self.directories.out.prepare(&manifest)?;
        let made_of = made_of(&self.writing, &self.source, &self.piece)?;
        let mut found = self.existing(&manifest, &made_of)?;
        // Of a file that is there, only the rejected records are not known.
        if found.is_none() || self.writing.rejects {
            let force = self.writing.existing == ExistingPiece::Replace;
            let failed = |error: Error| failure_of(&error);
            let mut file = match &found {
                Some(_) => None,
                None => Some(OutputFile::create(&self.path, force, self.writing.level, 1).map_err(failed)?),
            };
            let (summary, written) = match &mut file {
                Some(file) => self.write(file, &mut rows, sender)?,
                None => self.write(&mut io::sink(), &mut rows, sender)?,
            };
            told.tell(&summary);
            if let Some(file) = file {
                let finished = file.finish(written.start.as_deref());
                let mut file = finished.map_err(|source| self.failed(source))?;
                let made = self.manifest(&mut file, &summary, &written, made_of)?;
                if sender.interrupt().load(Ordering::Relaxed) {
                    return Err(failed(Error::Interrupted));
                }
                // There may be one of a file that is replaced, or of an executor that was lost before the file had its name.
                let mut beside = AtomicFile::create(&manifest, true).map_err(failed)?;
                let mut text = serde_json::to_vec_pretty(&made).map_err(|error| wrong(&error))?;
                text.push(b'\n');
                beside.write_all(&text).map_err(|source| self.failed(source))?;
                beside.commit().map_err(failed)?;
                match file.commit() {
                    Ok(()) => {}
                    // Another executor was faster.
                    Err(Error::Exists { .. }) if self.is_file_of(&made).map_err(|source| self.failed(source))? => {}
                    Err(error) => return Err(failed(error)),
                }
                found = Some(made);
            }
        }
        if let Some(found) = found {
            rows.end(&[(FILE, encoded(&found)?)]);
        }
        Ok(())
    }

    fn failed(&self, source: io::Error) -> datafusion::common::DataFusionError {
        failure_of(&Error::Write { path: self.path.clone(), source })
    }

    /// The manifest of the file, if it is there and is what is asked for.
    ///
    /// # Errors
    /// If it is there and something else, unless it is to be replaced.
    fn existing(&self, manifest: &Path, made_of: &BTreeMap<String, Value>) -> Result<Option<PieceManifest>> {
        if self.path.symlink_metadata().is_err() {
            return Ok(None);
        }
        let known: Option<PieceManifest> = fs::read(manifest).ok().and_then(|text| serde_json::from_slice(&text).ok());
        let is_of_job = known.as_ref().is_some_and(|known| known.piece.job == self.writing.job);
        let name = self.path.display();
        let refused = |reason: String| carried(&format!("{name} {reason} (on {})", machine()));
        match self.writing.existing {
            ExistingPiece::Replace if !is_of_job => return Ok(None),
            ExistingPiece::Refuse if !is_of_job => {
                return Err(refused("exists; --continue keeps pieces that fit, and --force replaces them".to_owned()));
            }
            _ => {}
        }
        let Some(known) = known else {
            let reason = "exists, and has no manifest that says how it was made; --force replaces it";
            return Err(refused(reason.to_owned()));
        };
        let differs = |&(name, _): &(&str, &str)| known.piece.made_of.get(name) != made_of.get(name);
        if let Some((_, how)) = MADE_OF.iter().copied().find(differs) {
            return Err(refused(format!("was made {how}, so --continue does not keep it; --force replaces it")));
        }
        match self.is_file_of(&known).map_err(|error| refused(format!("cannot be read: {error}")))? {
            true => Ok(Some(known)),
            // An executor was lost after the manifest and before the file had its name.
            false if self.writing.existing == ExistingPiece::Replace => Ok(None),
            false => {
                Err(refused("is no longer what was written, as its manifest says; --force replaces it".to_owned()))
            }
        }
    }

    /// Whether the file is the one that a manifest describes.
    fn is_file_of(&self, manifest: &PieceManifest) -> io::Result<bool> {
        let file = File::open(&self.path)?;
        Ok(file.metadata()?.len() == manifest.output.bytes && hash_of(file)? == manifest.output.blake3)
    }

    /// Writes the records of the piece, and passes on the rejected ones.
    fn write(
        &self,
        mut to: &mut dyn Write,
        rows: &mut PieceSender<'_>,
        sender: &Sender<Batch>,
    ) -> Result<(Summary, OutputSummary)> {
        let failed = |source| Error::Write { path: self.path.clone(), source };
        let mut on_reject = |reject: &Reject| -> std::result::Result<(), Error> { rows.reject(reject) };
        let options = self
            .source
            .options
            .run(self.shard)
            .interrupt(Some(sender.interrupt()))
            .on_reject(self.writing.rejects.then_some(&mut on_reject as _));
        let (columns, game_columns);
        let content = match &self.writing.content {
            PieceContent::Games => OutputContent::Games,
            PieceContent::GameColumns { names, moves } => {
                let named = GameColumns::named(names).map_err(|error| wrong(&error))?;
                game_columns = moves.map_or_else(|| named.clone(), |moves| named.clone().with_moves(moves));
                OutputContent::GameColumns(&game_columns)
            }
            PieceContent::GameSchema(schema) => {
                game_columns = GameColumns::of_schema(*schema);
                OutputContent::GameColumns(&game_columns)
            }
            PieceContent::TreeParts { plies, about } => {
                let options = options.space(self.directories.scratch_space());
                let tree = OpeningTree::default().plies(*plies);
                let part = Shard::new(self.number, self.writing.count)
                    .ok_or_else(|| carried(&format!("a tree has at most {} parts", Shard::MOST)))?;
                let (summary, records) = tree
                    .write_part((Some(part), about), &self.source.inputs, options, to, failed)
                    .map_err(|error| failure_of(&error.error))?;
                return Ok((summary, OutputSummary { records, ..OutputSummary::default() }));
            }
            PieceContent::Records { fen } => OutputContent::Records { fen: *fen },
            PieceContent::Columns { names, definitions, masks } => {
                columns = Columns::named_with(names, |name| definitions.column(name)).map_err(|error| wrong(&error))?;
                OutputContent::Columns(&columns, *masks)
            }
        };
        let division = RowDivision::new(None, self.writing.rows_per_group, None);
        let format = self.writing.format.ok_or_else(|| wrong(&"records without a format"))?;
        let job = WriteJob::new(content, format)
            .and_then(|job| job.allow_loss(self.writing.allow_loss).divided(division))
            .map_err(|error| carried(&error.to_string()))?;
        let mut file = job.open(&mut to).map_err(|source| self.failed(source))?;
        let summary = run_to_end(&self.source.inputs, options, &job, |part| job.put(&mut file, part).map_err(failed));
        if let Some(failure) = &summary.failure {
            return Err(failure_of(failure));
        }
        let written = job.finish(file).map_err(|source| self.failed(source))?;
        Ok((summary, written))
    }

    /// The manifest of the file, which is complete but has no name yet.
    fn manifest(
        &self,
        file: &mut AtomicFile,
        summary: &Summary,
        written: &OutputSummary,
        made_of: BTreeMap<String, Value>,
    ) -> Result<PieceManifest> {
        let read = file.reader().and_then(|file| Ok((file.metadata()?.len(), hash_of(file)?)));
        let (bytes, blake3) = read.map_err(|source| self.failed(source))?;
        let left_out = summary.left_out.iter();
        Ok(PieceManifest {
            lanefish: env!("CARGO_PKG_VERSION").to_owned(),
            command: self.writing.command.clone(),
            seed: self.source.options.read.choose.seed,
            inputs: inputs_of(&self.piece, summary),
            output: ManifestOutput {
                path: self.path.clone(),
                bytes,
                blake3,
                format: self.writing.format_name().to_owned(),
                records: written.records,
            },
            left_out: left_out.map(|(&option, left)| (option.to_owned(), left.positions)).collect(),
            piece: PieceOrigin {
                number: self.number,
                shard: self.shard.map(|shard| (shard.index(), shard.count())),
                job: self.writing.job.clone(),
                made_of,
                summary: SummaryWire::of(summary),
                losses: LossesWire::of(&written.losses),
                chains: written.chains,
            },
        })
    }
}

/// The files that a piece was made of. A file that was given twice is there twice.
fn inputs_of(piece: &Piece, summary: &Summary) -> Vec<ManifestInput> {
    let mut read: Vec<_> = summary.files.iter().collect();
    let inputs = piece.files().map(|(path, seen): (&Path, FileFingerprint)| {
        let place = read.iter().position(|file| *file.path == *path);
        let file = place.map(|place| read.remove(place));
        ManifestInput {
            path: path.to_owned(),
            bytes: seen.len(),
            fingerprint: seen.to_text(),
            format: file.and_then(|file| file.format).map(|format| format.name().to_owned()),
            records: file.map_or(0, |file| file.records - file.rejected),
            rejected: file.map_or(0, |file| file.rejected),
        }
    });
    inputs.collect()
}

/// The BLAKE3 hash of a file, from where it is read.
fn hash_of(file: File) -> io::Result<String> {
    let mut hasher = blake3::Hasher::new();
    hasher.update_reader(file)?;
    Ok(hasher.finalize().to_hex().to_string())
}

/// What executors have written, as far as they have told the client.
///
/// Made for the rows of [`Session::write`](crate::sql::Session::write).
#[derive(Debug)]
pub struct WrittenPieces {
    pieces: BTreeMap<u32, PieceManifest>,
    count: usize,
    job: String,
}

/// The files that executors have written.
#[derive(Debug)]
#[non_exhaustive]
pub struct WrittenFiles {
    /// Number of files.
    pub files: usize,
    /// How many of them were there before the job, and were kept.
    pub kept: usize,
    /// What was read for all of them.
    pub summary: Summary,
    /// What all of them have.
    pub output: OutputSummary,
    /// How all of them were made, for `verify --manifest`.
    pub manifest: Map<String, Value>,
}

impl WrittenPieces {
    /// The initial state, for this number of pieces.
    pub(in crate::sql::cluster) fn new(count: usize, writing: &Writing) -> Self {
        Self { pieces: BTreeMap::new(), count, job: writing.job.clone() }
    }

    /// Adds rows, and passes on the lines of rejected records that are among them.
    ///
    /// # Errors
    /// If `on_rejects` fails, or the rows do not tell of files.
    pub fn add<E: From<SqlError>>(
        &mut self,
        rows: &RecordBatch,
        mut on_rejects: impl FnMut(&[u8]) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        piece_result_rows::each(rows, |piece, kind, content| {
            match kind {
                REJECTS => on_rejects(content)?,
                FILE => {
                    let manifest = decoded(content).map_err(SqlError::from)?;
                    self.pieces.insert(piece, manifest);
                }
                _ => return Err(piece_result_rows::wrong().into()),
            }
            Ok(())
        })
    }

    /// All files, once there are no more rows.
    ///
    /// # Errors
    /// If a piece is missing.
    pub fn finish(self) -> std::result::Result<WrittenFiles, SqlError> {
        let Self { pieces, count, job } = self;
        if pieces.len() != count {
            let error = format!("the cluster returned {} files of {count}", pieces.len());
            return Err(SqlError::Cluster(error));
        }
        let (mut summary, mut output) = (Summary::default(), OutputSummary::default());
        let kept = pieces.values().filter(|piece| piece.piece.job != job).count();
        let mut joint = JointManifest::default();
        for PieceManifest { lanefish, command, seed, inputs, output: file, left_out, piece } in pieces.into_values() {
            output.merge(&OutputSummary {
                records: file.records,
                losses: piece.losses.into_losses(),
                chains: piece.chains,
                ..OutputSummary::default()
            });
            piece.summary.add_to(&mut summary);
            joint.add_inputs(inputs, piece.shard.is_some_and(|(shard, _)| shard > 0));
            joint.outputs.push(file);
            for (option, records) in left_out {
                *joint.left_out.entry(option).or_default() += records;
            }
            // Those that were kept had another.
            if piece.job == job || joint.lanefish.is_empty() {
                (joint.lanefish, joint.command, joint.seed) = (lanefish, command, seed);
            }
        }
        let manifest = match serde_json::to_value(joint) {
            Ok(Value::Object(manifest)) => manifest,
            Ok(_) => return Err(piece_result_rows::wrong()),
            Err(error) => return Err(SqlError::Cluster(error.to_string())),
        };
        Ok(WrittenFiles { files: count, kept, summary, output, manifest })
    }
}

/// The manifest of all files of a job.
#[derive(Default, Serialize)]
struct JointManifest {
    lanefish: String,
    command: Vec<String>,
    seed: u64,
    inputs: Vec<ManifestInput>,
    outputs: Vec<ManifestOutput>,
    left_out: BTreeMap<String, u64>,
}

impl JointManifest {
    /// Adds the inputs of a piece, or another share of the last input.
    fn add_inputs(&mut self, inputs: Vec<ManifestInput>, is_same: bool) {
        for input in inputs {
            match self.inputs.last_mut() {
                Some(last) if is_same => {
                    last.records += input.records;
                    last.rejected += input.rejected;
                }
                _ => self.inputs.push(input),
            }
        }
    }
}
