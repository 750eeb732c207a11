//! Finding out the format of an input.

pub(super) mod headerless;
pub(super) mod open;
pub(crate) mod unsupported;
