//! What all formats share: the arguments and results of decoders, the layout of bytes, and the writing of records.

pub(crate) mod chain_segments;
pub(super) mod chunk;
pub(super) mod conversion_losses;
pub(crate) mod decode_records;
pub(super) mod decoded_chunk;
pub(super) mod dropped_values;
pub(super) mod encode;
pub(super) mod encoder_columns;
pub(crate) mod fields_from_whole_games;
pub(crate) mod game_history;
pub(crate) mod game_selection;
pub(crate) mod layout;
pub(super) mod line_records;
pub(super) mod memory_budget;
pub(crate) mod position_sequence_search;
pub(super) mod table_row_parts;
pub(super) mod unstored_tags;
pub(super) mod unstored_tags_by_game;
pub(super) mod whole_file_checks;
