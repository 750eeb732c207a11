//! The clauses of errors for which the engine has no place.
//!
//! The engine knows the places of names and of some operators. For other errors, such as those of types, NULL takes the
//! place of one clause at a time (an item of `select`, the condition of `where`, …), and the statement is planned again:
//! the place is that of the clause without which the error is gone.

use crate::sql::engine::syntax_tree_walk::{Node, statement_in, walk};
use datafusion::common::{DataFusionError, Diagnostic, Result, Span};
use datafusion::sql::parser::Statement as Parsed;
use datafusion::sql::sqlparser::ast::{Expr, Spanned, Statement, Value};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

/// Maximum number of clauses that are tried.
const MOST: usize = 20;
/// No further plan is made after this time: tables of many files take long to open.
const PATIENCE: Duration = Duration::from_secs(1);

/// The error with the place of a clause, if `plan` returns the same error and one clause has it.
pub(in crate::sql) async fn placed(
    error: DataFusionError,
    statement: &Parsed,
    plan: impl AsyncFn(Parsed) -> Result<()>,
) -> DataFusionError {
    if !may_have_place(&error) {
        return error;
    }
    let end = Instant::now() + PATIENCE;
    let message = |error: &DataFusionError| error.find_root().message().into_owned();
    let same = |planned: &Result<()>| planned.as_ref().is_err_and(|other| message(other) == message(&error));
    // Not an error of planning.
    if !same(&plan(statement.clone()).await) {
        return error;
    }
    // Clauses without which there is no error, and those without which there is another one, perhaps the next.
    let (mut alone, mut first) = (Vec::new(), Vec::new());
    for at in 0..=MOST {
        let mut changed = statement.clone();
        let Some(text) = statement_in(&mut changed) else { return error };
        let Some(place) = replace_clause(text, at) else { break };
        if at == MOST || Instant::now() > end {
            return error;
        }
        let planned = plan(changed).await;
        if planned.is_ok() {
            alone.push(place);
        } else if !same(&planned) {
            first.push(place);
        }
    }
    match if alone.is_empty() { &first[..] } else { &alone[..] } {
        &[Some(place)] => error.with_diagnostic(Diagnostic::new_error("this expression", Some(place))),
        _ => error,
    }
}

/// Whether an error is about the text, and has no place yet.
fn may_have_place(error: &DataFusionError) -> bool {
    let is_of_text = matches!(
        error.find_root(),
        DataFusionError::Plan(_)
            | DataFusionError::SchemaError(..)
            | DataFusionError::Internal(_)
            | DataFusionError::NotImplemented(_)
            | DataFusionError::Execution(_)
            | DataFusionError::ArrowError(..)
    );
    is_of_text && error.diagnostic().is_none_or(|diagnostic| diagnostic.span.is_none())
}

/// Replaces one clause, an expression that is in no other one, by NULL and returns its place, which may be unknown.
/// Returns `None` if the statement has not more than `number` clauses.
fn replace_clause(statement: &mut Statement, number: usize) -> Option<Option<Span>> {
    let (mut left, mut depth, mut replaced) = (number, 0, None);
    let _ = walk(statement, &mut |node| {
        match node {
            Node::Before(expression) => {
                depth += 1;
                if depth == 1 && left == 0 {
                    replaced = Some(Span::try_from_sqlparser_span(expression.span()));
                    *expression = Expr::Value(Value::Null.into());
                    return ControlFlow::Break(());
                }
                left -= usize::from(depth == 1);
            }
            Node::Behind(_) => depth -= 1,
            Node::Relation(_) | Node::Query(_) => {}
        }
        ControlFlow::Continue(())
    });
    replaced
}
