//! Records as columns: the fields that they carry, computed values, and the catalogue of all columns by name.
//!
//! A [`Batch`] is a decoded chunk: boards in groups of eight, clocks, and an [`Array`] for each
//! [`Field`] that its records carry. A [`Tile`] is a run of its rows with the results of the queries and a mask of
//! the records that count. A [`Column`] of the [catalogue](COLUMNS) fills an [`Array`] from a tile, so that CSV,
//! JSON lines and other outputs read the same arrays.

mod array;
mod batch;
mod catalogue;
mod closed_values;
mod column;
mod column_choice;
mod date;
mod field;
mod fill;
pub(crate) mod judgments_and_accuracy;
mod legal_move_columns;
mod list_array;
mod move_features;
mod needs;
mod network_features;
pub(crate) mod openings;
pub(crate) mod predicate;
pub(crate) mod row_queue;
mod score_codes;
mod see;
mod text_buffer;
mod text_list;
mod tile;
mod time_class;
mod time_control;
mod values;

pub use array::{Array, Number, Texts};
pub use batch::Batch;
pub use catalogue::COLUMNS;
pub(crate) use catalogue::OF_GAMES;
pub use closed_values::ClosedValues;
pub use column::{Column, Kind, Subject};
pub(crate) use column_choice::wrong_in_family;
pub use column_choice::{
    ChosenColumn, ColumnFamily, Columns, ColumnsError, ComputedColumn, FAMILIES, FEATURES, FOLDERS, OUTPUT_BUCKETS,
    TAGS,
};
pub use date::Date;
pub use field::{Field, Fields, MOST_CENTIPAWNS, NO_SCORE};
pub use legal_move_columns::LEGAL_MOVE_COLUMNS;
pub use list_array::{Items, ListNumber, Lists};
pub use needs::Needs;
pub(crate) use network_features::{ActiveFeatures, KingNames, PieceSquares, View};
pub use network_features::{FeaturePart, FeatureSet, feature_parts};
pub use score_codes::ScoreCode;
pub(crate) use score_codes::ScoreCodes;
pub(crate) use text_buffer::TextBuffer;
pub use text_list::TextList;
pub(crate) use tile::RecordBefore;
pub use tile::{Record, Tile};
pub use time_class::Speed;
pub use values::Values;

pub(crate) use batch::{Block, StoredGame, StoredGames, extend_columns};
pub(crate) use field::{DATE_TEXT, OF_GAME, RAW_SCORE, SCORE_SENTINEL, is_sentinel};
#[cfg(feature = "parquet")]
pub(crate) use fill::score_sentinels;
pub(crate) use fill::{material_among, material_signatures};
pub(crate) use move_features::{MoveShape, moves_of_shapes};
pub(crate) use tile::{first_rows, rows_of};
pub(crate) use time_control::{Clocks, Control, TimeBudget};
pub(crate) use values::{bits_where, spread_bits};
