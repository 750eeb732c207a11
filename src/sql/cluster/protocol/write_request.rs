//! What executors write: a file for each piece of the inputs.

use crate::choose::Definitions;
use crate::games::MoveForms;
use crate::jobs::{GameSchema, OutputFormat};
use crate::option_setters::setters;
use crate::output::SquareSetStyle;
use serde::{Deserialize, Serialize};
use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};

/// The place of the number of a piece in names of files.
const NUMBER: &str = "{n}";

/// What is written of each piece.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PieceContent {
    /// Whole records, as [`OutputContent::Records`](crate::jobs::OutputContent::Records).
    Records {
        /// Whether a table has also a column with the FEN.
        fen: bool,
    },
    /// Columns, as [`OutputContent::Columns`](crate::jobs::OutputContent::Columns).
    Columns {
        /// Their names, separated by commas.
        names: String,
        /// The columns that these names may mean besides those of the catalogue.
        definitions: Definitions,
        /// The notation for sets of squares.
        masks: SquareSetStyle,
    },
    /// Games: one row per game, or the games themselves, as [`OutputContent::Games`](crate::jobs::OutputContent::Games).
    Games,
    /// One row per game, as [`OutputContent::GameColumns`](crate::jobs::OutputContent::GameColumns).
    GameColumns {
        /// The names of columns, separated by commas.
        names: String,
        /// The moves that follow them.
        moves: Option<MoveForms>,
    },
    /// One row per game, with the columns of tables that others publish.
    GameSchema(GameSchema),
    /// Parts of an opening tree, as [`OpeningTree::write_part`](crate::datasets::OpeningTree::write_part).
    TreeParts {
        /// The first moves of each game that count.
        plies: Option<u32>,
        /// The options of the run as text.
        about: String,
    },
}

/// What happens with a piece that exists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ExistingPiece {
    /// It is an error.
    #[default]
    Refuse,
    /// It is kept if it was made from the same share of the same inputs with the same options. Otherwise it is an error.
    Keep,
    /// It is replaced.
    Replace,
}

/// The files that executors write, one for each piece of the inputs.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Writing {
    /// The names of the files: an absolute path that has `{n}` in its last part, which stands for the number of a piece.
    pub name: PathBuf,
    /// What is written.
    pub content: PieceContent,
    /// The format of each file; `None` for parts of a tree.
    pub format: Option<OutputFormat>,
    /// The level of the compression that the name implies, instead of its default.
    pub level: Option<i32>,
    /// Rows of a row group of a Parquet file.
    pub rows_per_group: Option<u64>,
    /// Write records even if they come out changed in a way that readers cannot detect.
    pub allow_loss: bool,
    /// What happens with pieces that exist.
    pub existing: ExistingPiece,
    /// Whether the lines of rejected records are requested.
    pub rejects: bool,
    /// Number of pieces, about; by default at least 16, each of which reads at most 128 MB.
    pub pieces: Option<usize>,
    /// The command, for the manifests.
    pub command: Vec<String>,
    /// The number of all pieces.
    pub(in crate::sql::cluster) count: u32,
    /// Marks the pieces of one job: an executor that repeats the work of another, which was lost, finds them.
    pub(super) job: String,
}

impl Writing {
    /// Files with these names, content and format.
    pub fn new(name: PathBuf, content: PieceContent, format: Option<OutputFormat>) -> Self {
        Self {
            name,
            content,
            format,
            level: None,
            rows_per_group: None,
            allow_loss: false,
            existing: ExistingPiece::default(),
            rejects: false,
            pieces: None,
            command: Vec::new(),
            count: 0,
            job: random_name(),
        }
    }

    /// The name of the format of each file.
    pub(super) fn format_name(&self) -> &'static str {
        self.format.map_or("tree", OutputFormat::name)
    }

    /// Whether a name has a place for the number of a piece, in its last part.
    pub fn has_number(name: &Path) -> bool {
        name.file_name().is_some_and(|name| name.to_string_lossy().contains(NUMBER))
    }

    /// The name of a piece.
    ///
    /// ```
    /// # use lanefish::sql::cluster::{PieceContent, Writing};
    /// # use lanefish::{formats::Format, jobs::OutputFormat};
    /// let content = PieceContent::Records { fen: false };
    /// let writing = Writing::new("/out/part-{n}.boards".into(), content, Some(OutputFormat::Records(Format::BOARDS)));
    /// assert_eq!(writing.piece(7).to_str(), Some("/out/part-00007.boards"));
    /// ```
    pub fn piece(&self, number: u32) -> PathBuf {
        match self.name.file_name() {
            Some(name) => self.name.with_file_name(name.to_string_lossy().replace(NUMBER, &format!("{number:05}"))),
            None => self.name.clone(),
        }
    }
}

setters!(Writing {
    level: Option<i32>,
    rows_per_group: Option<u64>,
    allow_loss: bool,
    existing: ExistingPiece,
    rejects: bool,
    pieces: Option<usize>,
    command: Vec<String>,
});

/// A name that no other job has.
fn random_name() -> String {
    // The keys of the hasher are random.
    let number = || RandomState::new().hash_one(std::process::id());
    format!("{:016x}{:016x}", number(), number())
}
