//! The command line as it is parsed: arguments that commands share, the parsers of their values, and the help.

pub(super) mod command_scope;
pub(super) mod common_args;
pub(super) mod game_filter_args;
pub(super) mod help;
pub(super) mod memory_args;
pub(super) mod number_args;
pub(super) mod position_arg;
pub(super) mod position_sequence_args;
pub(super) mod record_filter_args;
pub(super) mod row_format_arg;
pub(super) mod second_file_args;
pub(super) mod shell_quoting_and_patterns;
pub(super) mod usage_errors;
pub(super) mod value_parsers;
