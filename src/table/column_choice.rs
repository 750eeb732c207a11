//! A choice of columns by name: those of the catalogue, tags, and values of expressions.

use super::Needs;
use super::array::{Array, Texts};
use super::catalogue::{COLUMNS, OF_GAMES};
use super::column::{Column, Kind, Subject};
use super::field::Field;
use super::list_array::Lists;
use super::network_features::{self, FeatureColumn, OutputBucket};
use super::tile::Tile;
use crate::ParseError;
use crate::packed::Packed;
use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

/// Columns that cannot be listed: one for each name that follows a prefix.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ColumnFamily {
    /// The prefix before the name.
    pub prefix: &'static str,
    /// The form in which listings show its columns.
    pub pattern: &'static str,
    /// The type of their values.
    pub kind: Kind,
    /// The meaning of their values.
    pub meaning: &'static str,
    /// What their values describe.
    pub subject: Subject,
}

/// Tags of games: the column `tag:Event` has the values of the tag `Event`.
pub static TAGS: ColumnFamily = ColumnFamily {
    prefix: "tag:",
    pattern: "tag:NAME",
    kind: Kind::Text,
    meaning: "any tag of the game, such as tag:Event",
    subject: Subject::Game,
};

/// Folders of inputs: the column `folder:month` has the text `2025-05` for records of `month=2025-05/part-0.parquet`.
/// Of several folders of this name, the innermost one counts.
pub static FOLDERS: ColumnFamily = ColumnFamily {
    prefix: "folder:",
    pattern: "folder:NAME",
    kind: Kind::Text,
    meaning: "the value of the folder NAME=value that holds the input, such as folder:month",
    subject: Subject::Record,
};

/// Active inputs of evaluation networks: the column `features:halfkp:white` has those of White's view.
pub static FEATURES: ColumnFamily = ColumnFamily {
    prefix: network_features::PREFIX,
    pattern: "features:SET:SIDE",
    kind: Kind::ListOfI32,
    meaning: "active inputs of an evaluation network, such as features:halfka_v2_hm:stm; docs/network-features.md has the sets",
    subject: Subject::Position,
};

/// Output buckets of evaluation networks.
pub static OUTPUT_BUCKETS: ColumnFamily = ColumnFamily {
    prefix: network_features::BUCKET,
    pattern: "output_bucket:N",
    kind: Kind::U8,
    meaning: "output bucket by the number of pieces: output_bucket:8, as in nnue-pytorch, or output_bucket:bullet:N",
    subject: Subject::Position,
};

/// All families of columns.
pub static FAMILIES: [&ColumnFamily; 4] = [&TAGS, &FOLDERS, &FEATURES, &OUTPUT_BUCKETS];

/// The column of a network with this name; `None` if it is not called so, and an error if it is, but there is none.
fn of_networks(name: &str) -> Option<Result<Arc<dyn ComputedColumn>, ParseError>> {
    fn column(column: impl ComputedColumn + 'static) -> Arc<dyn ComputedColumn> {
        Arc::new(column)
    }
    let features = || FeatureColumn::named(name).map(|found| found.map(column));
    features().or_else(|| OutputBucket::named(name).map(|found| found.map(column)))
}

impl ColumnFamily {
    /// Whether its columns are values that inputs have, and not computed.
    fn has_values_of_inputs(&self) -> bool {
        [TAGS.prefix, FOLDERS.prefix].contains(&self.prefix)
    }
    /// Whether a column of this name is one of them.
    fn holds(&self, name: &str) -> bool {
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        name.strip_prefix(self.prefix).is_some_and(|rest| !rest.is_empty() && rest.bytes().all(is_name))
    }
}

/// A column that is not in the catalogue but computed from its columns: the value of a named expression.
pub trait ComputedColumn: fmt::Debug + Send + Sync {
    /// The name of the column.
    fn name(&self) -> &str;
    /// The type of its values.
    fn kind(&self) -> Kind;
    /// The meaning of its values: the expression.
    fn meaning(&self) -> &str;
    /// What it needs of records.
    fn needs(&self) -> Needs;
    /// Whether values can be missing.
    fn is_carried(&self) -> bool {
        true
    }
    /// The values of the column for every record of a tile; those of records that do not count are unspecified.
    fn fill(&self, tile: &Tile<'_>) -> Array;
    /// Whether the values are lists of numbers that follow from boards alone. Tables keep boards in place of them, which take less
    /// memory, until rows are written.
    fn is_of_boards(&self) -> bool {
        false
    }
    /// The lists of the column for these boards, in this memory.
    ///
    /// # Panics
    /// If it is not [of boards](Self::is_of_boards).
    fn of_boards(&self, _boards: &[Packed], _memory: Vec<i32>) -> Lists {
        unreachable!("{} is not a column of boards", self.name())
    }
    /// The column with lists of this length, filled up with -1, but for those that are longer; `None` if it cannot make
    /// them so.
    fn padded(&self, _len: usize) -> Option<Arc<dyn ComputedColumn>> {
        None
    }
}

/// A column of a choice: one of the catalogue, one of a family, or the value of an expression.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ChosenColumn {
    /// A column of the catalogue.
    Listed(&'static Column),
    /// A column of a family, with its whole name.
    OfFamily(&'static ColumnFamily, Arc<str>),
    /// The value of an expression.
    Computed(Arc<dyn ComputedColumn>),
}

impl ChosenColumn {
    /// The column of this name.
    pub fn named(name: &str) -> Option<Self> {
        if let Some(column) = Column::named(name) {
            return Some(Self::Listed(column));
        }
        if let Some(Ok(column)) = of_networks(name) {
            return Some(Self::Computed(column));
        }
        let family = FAMILIES.into_iter().find(|family| family.has_values_of_inputs() && family.holds(name))?;
        Some(Self::OfFamily(family, name.into()))
    }
    /// The name of the column.
    pub fn name(&self) -> &str {
        match self {
            Self::Listed(column) => column.name,
            Self::OfFamily(_, name) => name,
            Self::Computed(column) => column.name(),
        }
    }
    /// The type of its values.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Listed(column) => column.kind,
            Self::OfFamily(family, _) => family.kind,
            Self::Computed(column) => column.kind(),
        }
    }
    /// The meaning of its values.
    pub fn meaning(&self) -> &str {
        match self {
            Self::Listed(column) => column.meaning,
            Self::OfFamily(family, _) => family.meaning,
            Self::Computed(column) => column.meaning(),
        }
    }
    /// Whether it is the same for all records of a game, so that games can be chosen by it. The number of a game is
    /// not: it is known only once the games before it have been chosen.
    pub(crate) fn is_of_games(&self) -> bool {
        match self {
            Self::Listed(column) => OF_GAMES.contains(&column.name),
            Self::OfFamily(family, _) => family.prefix == TAGS.prefix,
            Self::Computed(_) => false,
        }
    }
    /// Whether records carry its values, and can lack them.
    pub fn is_carried(&self) -> bool {
        match self {
            // A record without the square of the key has a key like any other.
            Self::Listed(column) => {
                column.is_carried() || column.fields.iter().any(|field| field != Field::KeyEnPassant)
            }
            Self::OfFamily(..) => true,
            Self::Computed(column) => column.is_carried(),
        }
    }
    /// What it needs of records.
    pub fn needs(&self) -> Needs {
        match self {
            Self::Listed(column) => {
                // Numbers that count from the first input, openings of earlier positions of the game, earlier scores.
                let records_before = matches!(
                    column.name,
                    "index" | "game" | "eco_position" | "opening_position" | "score_before" | "score_placeholder"
                );
                // The move is read on its position.
                let positions = !column.is_carried() || column.name == Field::Move.name();
                Needs { records_before, positions, ..Needs::new(column.queries, column.fields) }
            }
            Self::OfFamily(..) => Needs { tags: self.tag().map(Arc::from).into_iter().collect(), ..Needs::NONE },
            Self::Computed(column) => column.needs(),
        }
    }
    /// The name in [`Batch::tags`](super::Batch::tags) of its values: for a tag, the name of the tag, and for a folder,
    /// that of the column.
    pub fn tag(&self) -> Option<&str> {
        match self {
            Self::Listed(_) | Self::Computed(_) => None,
            Self::OfFamily(_, name) => Some(name.strip_prefix(TAGS.prefix).unwrap_or(name)),
        }
    }
    /// The column, if its values follow from boards alone.
    #[cfg(feature = "parquet")]
    pub(crate) fn of_boards(&self) -> Option<&Arc<dyn ComputedColumn>> {
        match self {
            Self::Computed(column) if column.is_of_boards() => Some(column),
            _ => None,
        }
    }
    /// The values of the column for every record of a tile; those of records that do not count are unspecified.
    pub fn fill(&self, tile: &Tile<'_>) -> Array {
        let column = match self {
            Self::Listed(column) => return column.fill(tile),
            Self::Computed(column) => return column.fill(tile),
            Self::OfFamily(..) => self.tag().and_then(|tag| tile.batch.tags.get(tag)),
        };
        Array::Text(match column {
            None => Texts::missing(tile.len),
            Some(values) => values.rows(tile.start..tile.start + tile.len),
        })
    }
}

/// What is wrong with a name that begins like those of a family.
pub(crate) fn wrong_in_family(name: &str) -> String {
    if let Some(Err(error)) = of_networks(name) {
        return format!(": {error}");
    }
    if name.starts_with("zip:") {
        return ": --zip FILE gives the columns of a file beside the inputs, to the commands that have this option"
            .to_owned();
    }
    let is_wrong = |family: &ColumnFamily| name.starts_with(family.prefix) && !family.holds(name);
    if is_wrong(&TAGS) || is_wrong(&FOLDERS) {
        ": the name of a tag or folder is letters, digits and `_`".to_owned()
    } else {
        String::new()
    }
}

/// The reason why names are not a choice of columns.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ColumnsError {
    /// There is no column of a name.
    #[error("there is no column `{0}`{hint}", hint = wrong_in_family(_0))]
    Unknown(String),
    /// A column is named more than once: tables have only one of a name.
    #[error("the column `{0}` is named twice")]
    Twice(String),
    /// A column of games says where a sequence of positions is, by which games are not chosen.
    #[error("`{0}` says where a game has what --having asks for, and that is not given")]
    WithoutHaving(String),
}

/// A choice of columns, in the order in which they are written.
#[derive(Clone, Debug)]
pub struct Columns(Vec<ChosenColumn>);

impl FromIterator<ChosenColumn> for Columns {
    fn from_iter<I: IntoIterator<Item = ChosenColumn>>(columns: I) -> Self {
        Self(columns.into_iter().collect())
    }
}

impl Columns {
    /// The default columns of `compute`.
    pub const DEFAULT: &'static str =
        "fen,legal_moves,checkers,in_check,checkmate,stalemate,attacked_white,attacked_black";

    /// Names separated by commas; `all` stands for all of the catalogue.
    ///
    /// # Errors
    /// If a column is unknown, or named twice.
    ///
    /// ```
    /// use lanefish::table::Columns;
    /// let columns = Columns::named("fen,legal_moves,tag:Event").unwrap();
    /// let names: Vec<_> = columns.iter().map(|column| column.name()).collect();
    /// assert_eq!(names, ["fen", "legal_moves", "tag:Event"]);
    /// assert!(Columns::named("fen,beauty").is_err());
    /// assert!(Columns::named("all,fen").is_err());
    /// ```
    pub fn named(names: &str) -> Result<Self, ColumnsError> {
        Self::named_with(names, |_| None)
    }
    /// A choice that may also use columns with other names.
    ///
    /// # Errors
    /// If a column is unknown, or named twice.
    pub fn named_with(
        names: &str,
        others: impl Fn(&str) -> Option<Arc<dyn ComputedColumn>>,
    ) -> Result<Self, ColumnsError> {
        let mut columns = Vec::new();
        for name in names.split(',').map(str::trim) {
            if name == "all" {
                columns.extend(COLUMNS.iter().map(ChosenColumn::Listed));
            } else {
                let column = ChosenColumn::named(name).or_else(|| others(name).map(ChosenColumn::Computed));
                columns.push(column.ok_or_else(|| ColumnsError::Unknown(name.to_owned()))?);
            }
        }
        let mut names = HashSet::new();
        match columns.iter().find(|column| !names.insert(column.name().to_owned())) {
            Some(column) => Err(ColumnsError::Twice(column.name().to_owned())),
            None => Ok(Self(columns)),
        }
    }
    /// The same columns, of which that of this number has lists of this length, filled up with -1 unless they are longer, if
    /// it is one of a network's inputs. Other columns stay as they are.
    ///
    /// ```
    /// use lanefish::table::Columns;
    /// let columns = Columns::named("fen,features:halfka_v2_hm:white").unwrap().padded(1, 32);
    /// assert_eq!(columns.iter().count(), 2);
    /// ```
    #[must_use]
    pub fn padded(mut self, column: usize, len: usize) -> Self {
        if let Some(ChosenColumn::Computed(computed)) = self.0.get_mut(column)
            && let Some(padded) = computed.padded(len)
        {
            *computed = padded;
        }
        self
    }
    /// The columns.
    pub fn iter(&self) -> impl Iterator<Item = &ChosenColumn> {
        self.0.iter()
    }
    /// What they need of records.
    pub fn needs(&self) -> Needs {
        self.iter().map(ChosenColumn::needs).collect()
    }
}
