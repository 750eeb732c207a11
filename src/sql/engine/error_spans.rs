//! The places of errors for which the engine has none.
//!
//! The engine knows the places of names and of some operators. For other errors, NULL takes the place of one expression
//! of the statement at a time, and the statement is planned again. The place is that of the smallest expression without
//! which the error is gone.

use datafusion::common::{DataFusionError, Diagnostic, Result, Span};
use datafusion::sql::parser::Statement as Parsed;
use datafusion::sql::sqlparser::ast::{Expr, Spanned, Statement, Value, Visit, VisitMut, Visitor, VisitorMut};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

/// Maximum number of plans for one error.
const MOST: usize = 200;
/// No further plan is made after this time: tables of many files take long to open.
const PATIENCE: Duration = Duration::from_secs(1);

/// The error with a place in the statement, if `plan` returns the same error and one can be found.
pub(in crate::sql) async fn placed(
    error: DataFusionError,
    statement: &Parsed,
    plan: impl AsyncFn(Parsed) -> Result<()>,
) -> DataFusionError {
    if !may_have_place(&error) {
        return error;
    }
    let message = error.find_root().message().into_owned();
    let mut search = Search { statement, plan, message, left: MOST, end: Instant::now() + PATIENCE };
    match search.place().await {
        Some(place) => error.with_diagnostic(Diagnostic::new_error("this expression", Some(place))),
        None => error,
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

/// An expression of a statement.
struct Node {
    /// The number of expressions that contain it.
    depth: usize,
    place: Option<Span>,
}

/// What planning a changed statement says.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Outcome {
    /// The error is as before.
    Same,
    /// There is another error, which may be the next one.
    Other,
    Fine,
}

struct Search<'a, P> {
    statement: &'a Parsed,
    plan: P,
    /// The message of the error.
    message: String,
    /// The number of plans that are left.
    left: usize,
    end: Instant,
}

impl<P: AsyncFn(Parsed) -> Result<()>> Search<'_, P> {
    async fn place(&mut self) -> Option<Span> {
        let mut nodes = Nodes::default();
        let mut statement = self.statement.clone();
        let text = inner(&mut statement)?;
        let _ = Visit::visit(text, &mut nodes);
        let nodes = nodes.found;
        // Not an error of planning.
        if self.outcome(statement).await? != Outcome::Same {
            return None;
        }
        let outer: Vec<usize> = (0..nodes.len()).filter(|&at| nodes[at].depth == 0).collect();
        let outcomes = self.outcomes(&outer).await?;
        let with = |outcomes: &[Outcome], least: fn(Outcome) -> bool| -> Vec<usize> {
            (0..outcomes.len()).filter(|&at| least(outcomes[at])).collect()
        };
        let mut counts: fn(Outcome) -> bool = |outcome| outcome == Outcome::Fine;
        let mut culprits = with(&outcomes, counts);
        if culprits.is_empty() {
            // Perhaps the statement has several errors.
            counts = |outcome| outcome != Outcome::Same;
            culprits = with(&outcomes, counts);
        }
        let [culprit] = culprits[..] else {
            return None;
        };
        let mut at = outer[culprit];
        let mut place = nodes[at].place;
        loop {
            let depth = nodes[at].depth;
            let inner = (at + 1..nodes.len()).take_while(|&inner| nodes[inner].depth > depth);
            let inner: Vec<usize> = inner.filter(|&inner| nodes[inner].depth == depth + 1).collect();
            let Some(outcomes) = self.outcomes(&inner).await else {
                return place;
            };
            // If several operands could be others, the error is how they are combined.
            let [culprit] = with(&outcomes, counts)[..] else {
                return place;
            };
            at = inner[culprit];
            place = nodes[at].place.or(place);
        }
    }

    /// What is said without each of these expressions; none if that takes too long.
    async fn outcomes(&mut self, places: &[usize]) -> Option<Vec<Outcome>> {
        let mut outcomes = Vec::new();
        for &at in places {
            let mut changed = self.statement.clone();
            let _ = VisitMut::visit(inner(&mut changed)?, &mut Without { before: at });
            outcomes.push(self.outcome(changed).await?);
        }
        Some(outcomes)
    }

    async fn outcome(&mut self, statement: Parsed) -> Option<Outcome> {
        self.left = self.left.checked_sub(1)?;
        if Instant::now() > self.end {
            return None;
        }
        let outcome = match (self.plan)(statement).await {
            Ok(()) => Outcome::Fine,
            Err(error) if error.find_root().message() == self.message => Outcome::Same,
            Err(_) => Outcome::Other,
        };
        Some(outcome)
    }
}

/// The statement itself.
fn inner(parsed: &mut Parsed) -> Option<&mut Statement> {
    match parsed {
        Parsed::Statement(statement) => Some(statement),
        Parsed::Explain(explain) => inner(&mut explain.statement),
        _ => None,
    }
}

/// Lists expressions, each before the expressions in it.
#[derive(Default)]
struct Nodes {
    depth: usize,
    found: Vec<Node>,
}

impl Visitor for Nodes {
    type Break = ();

    fn pre_visit_expr(&mut self, expression: &Expr) -> ControlFlow<()> {
        let place = Span::try_from_sqlparser_span(expression.span());
        self.found.push(Node { depth: self.depth, place });
        self.depth += 1;
        ControlFlow::Continue(())
    }

    fn post_visit_expr(&mut self, _: &Expr) -> ControlFlow<()> {
        self.depth -= 1;
        ControlFlow::Continue(())
    }
}

/// Replaces one expression.
struct Without {
    /// The number of expressions before it.
    before: usize,
}

impl VisitorMut for Without {
    type Break = ();

    fn pre_visit_expr(&mut self, expression: &mut Expr) -> ControlFlow<()> {
        match self.before.checked_sub(1) {
            Some(before) => self.before = before,
            None => {
                *expression = Expr::Value(Value::Null.into());
                return ControlFlow::Break(());
            }
        }
        ControlFlow::Continue(())
    }
}
