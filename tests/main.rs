//! All integration tests, in one binary.

/// Kernels in every tier, compared with the plain rules.
mod agreement;
/// Boards files with correct checksums and invalid content.
mod boards_forged;
/// The last double step, and games of Chess960, on every road.
mod carried;
/// Columns of the catalogue, compared with the plain rules.
mod catalogue;
/// The rules of one position.
mod chess;
/// Conditions, samples and new values.
mod chosen;
/// The command-line contract.
mod cli;
/// Parquet and Arrow files as outputs.
#[cfg(feature = "parquet")]
mod columns;
/// Columns of arrays in memory.
#[cfg(feature = "parquet")]
mod compute;
/// Files that are cut or grow while they are read.
#[cfg(all(target_os = "linux", feature = "parquet"))]
mod cut;
/// Training data from FEN, byte by byte.
mod encoders;
/// What holds for every format.
mod every_format;
/// Exchange values of moves.
mod exchange;
/// Failing system calls.
#[cfg(target_os = "linux")]
mod faults;
/// Filters of trainers as expressions.
mod filters;
/// Formats: reading, writing, damage.
mod formats;
/// Every fuzz target for a few seconds.
mod fuzz;
/// Reports as pages, in a browser.
mod html;
/// Inputs: containers, pipes, directories.
mod input;
/// Mates as distinct from scores, in every format.
mod mate;
/// Drawn command lines, compared with a plain model of the command line.
#[cfg(all(unix, feature = "parquet"))]
mod model;
/// Openings by position, and how long games are.
mod openings;
/// Perft on the lanes.
mod perft;
/// PGN: replay, unusual syntax, selection, damage.
mod pgn;
/// PGN of other programs: texts that only they write, chunk by chunk.
mod pgn_dialects;
/// PGN of other programs: odd tags, line ends, encodings, comments of engines.
mod pgn_foreign;
/// Moves of games in every notation.
mod pgn_moves;
/// Selection of games and positions.
mod pgn_selection;
/// PGN: where games begin and end, text that is not a game, limits, linear running time.
mod pgn_structure;
/// The pipeline: results do not depend on threads, chunks or how bytes arrive.
mod pipeline;
/// The crates that define formats of training data.
mod reference_crates;
/// Moves that leave the replies as they are after a pass.
mod replies;
/// Reports of datasets, compared with plain counting.
mod report;
/// Runs as streams of record batches.
#[cfg(feature = "parquet")]
mod scan;
/// Scores of the records before.
mod scores_before;
/// Selection of games and positions in formats other than PGN.
mod selected;
/// The same where games end in other places than the parts of a file.
mod selected_parts;
/// Shards: disjoint, and together everything.
mod shard;
/// Every slider algorithm, compared with the ray walk.
mod sliders;
/// Shared helpers: the sample data, positions, random numbers.
mod support;
/// Parquet and Arrow files.
#[cfg(feature = "parquet")]
mod tables;
/// Parquet and Arrow files with correct checksums and invalid structure.
#[cfg(feature = "parquet")]
mod tables_forged;
/// Tables that ask for more than they hold.
#[cfg(feature = "parquet")]
mod tables_hostile;
/// CSV, TSV and JSON lines with a column of positions.
mod text_tables;
/// Zip archives.
mod zip;
