//! The error of the values of options that contain expressions.

use super::expression::ExpressionError;
use crate::ParseError;

/// Why the value of an option with an expression (a sample, a definition, an assignment) is wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ExpressionOptionError {
    /// The text around the expression, or the type of its value.
    #[error("{0}")]
    Form(#[from] ParseError),
    /// The expression.
    #[error("{0}")]
    Expression(#[from] ExpressionError),
}

impl ExpressionOptionError {
    pub(super) fn form(message: impl Into<std::borrow::Cow<'static, str>>) -> Self {
        Self::Form(ParseError::new(message))
    }
}
