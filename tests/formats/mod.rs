//! Reading and writing every format, and all damage to it.

/// Boards files with correct checksums and invalid content.
pub(super) mod boards_forged;
/// The last double step, and games of Chess960, on every road.
pub(super) mod double_steps_and_chess960;
/// Training data from FEN, byte by byte.
pub(super) mod encoders;
/// What holds for every format.
pub(super) mod every_format;
/// Mates as distinct from scores, in every format.
pub(super) mod mates;
/// PGN: replay, unusual syntax, selection, damage.
pub(super) mod pgn;
/// PGN of other programs: texts that only they write, chunk by chunk.
pub(super) mod pgn_dialects;
/// Moves of games in every notation.
pub(super) mod pgn_moves;
/// PGN of other programs: odd tags, line ends, encodings, comments of engines.
pub(super) mod pgn_of_other_programs;
/// PGN: where games begin and end, text that is not a game, limits, linear running time.
pub(super) mod pgn_structure;
/// The crates that define formats of training data.
pub(super) mod reference_crates;
/// Formats: reading, writing, damage.
pub(super) mod round_trips;
/// Parquet and Arrow files.
#[cfg(feature = "parquet")]
pub(super) mod tables;
/// Parquet and Arrow files with correct checksums and invalid structure.
#[cfg(feature = "parquet")]
pub(super) mod tables_forged;
/// Tables that ask for more than they hold.
#[cfg(feature = "parquet")]
pub(super) mod tables_hostile;
/// CSV, TSV and JSON lines with a column of positions.
pub(super) mod text_tables;
