//! The plain numbers of a report: positions of a kind, and moves of a kind.
//!
//! A number is one row here, and code that counts it. From the row follow the field, merging, JSON both ways, the schema
//! (a test writes it), and the share of the whole that tables, pages, CSV files and comparisons show.

/// A number of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Number {
    /// The key in JSON.
    pub json_key: &'static str,
    /// The name in CSV files and comparisons.
    pub key: &'static str,
    /// The name, as shown.
    pub title: &'static str,
    /// The meaning, for the schema.
    pub meaning: &'static str,
}

macro_rules! numbers {
    (
        $(#[$about:meta])*
        pub struct $name:ident;
        $($(#[doc = $meaning:literal])+ $field:ident: $json_key:literal, $key:literal, $title:literal;)*
    ) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
        #[non_exhaustive]
        pub struct $name {
            $($(#[doc = $meaning])+ pub $field: u64,)*
        }

        impl $name {
            /// What is counted, in the order of display.
            pub const NUMBERS: &'static [Number] = &[$(Number {
                json_key: $json_key,
                key: $key,
                title: $title,
                meaning: concat!($($meaning),+),
            }),*];

            /// The numbers with their counts.
            pub fn iter(&self) -> impl Iterator<Item = (Number, u64)> + use<> {
                Self::NUMBERS.iter().copied().zip([$(self.$field),*])
            }

            pub(super) fn merge(&mut self, other: &Self) {
                $(self.$field += other.$field;)*
            }

            /// Reads the numbers by their keys in JSON.
            #[cfg(feature = "json")]
            pub(super) fn read<E>(mut read: impl FnMut(&'static str) -> Result<u64, E>) -> Result<Self, E> {
                Ok(Self { $($field: read($json_key)?,)* })
            }
        }
    };
}

numbers! {
    /// Numbers of positions of some kinds.
    pub struct PositionCounts;
    /// Positions in which the side to move is in check.
    in_check: "in_check", "in_check", "in check";
    /// Positions in which more than one piece gives check.
    double_check: "double_check", "double_check", "double check";
    /// Positions in which the side to move is mated.
    checkmate: "checkmate", "checkmate", "checkmate";
    /// Positions in which the side to move has no move and is not in check.
    stalemate: "stalemate", "stalemate", "stalemate";
}

numbers! {
    /// Numbers of legal moves of some kinds, in all positions together.
    pub struct MoveCounts;
    /// Captures, including en passant.
    captures: "legal_captures", "captures", "captures";
    /// Promotions.
    promotions: "legal_promotions", "promotions", "promotions";
    /// Castling moves.
    castles: "legal_castles", "castling_moves", "castling moves";
    /// En passant captures.
    en_passants: "legal_en_passants", "en_passants", "en passant captures";
}
