//! The tokens of a query, which all that looks at its text before the parser shares.

use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::tokenizer::{TokenWithSpan, Tokenizer};

/// The tokens of a query with their places, blanks included; none if it cannot be divided into tokens, which is an error
/// that the parser reports.
pub(in crate::sql) fn of(query: &str) -> Vec<TokenWithSpan> {
    Tokenizer::new(&GenericDialect {}, query).tokenize_with_location().unwrap_or_default()
}
