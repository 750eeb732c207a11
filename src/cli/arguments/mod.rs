//! The arguments of the commands, their values and their help.

pub(super) mod command;
pub(super) mod common_args;
pub(super) mod game_filter_args;
pub(super) mod help;
pub(super) mod memory_args;
pub(super) mod number_args;
pub(super) mod position_arg;
pub(super) mod record_filter_args;
pub(super) mod row_format_arg;
pub(super) mod usage_errors;
pub(super) mod value_parsers;
