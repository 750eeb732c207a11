//! Walks through the syntax tree of a statement.
//!
//! The tree has hundreds of types, and a walk through it is compiled again for each type of visitor: six visitors were a
//! quarter of the functions of this crate. Here is one, which calls a closure.

use datafusion::sql::parser::Statement as Parsed;
use datafusion::sql::sqlparser::ast::{Expr, ObjectName, Query, Statement, VisitMut, VisitorMut};
use std::ops::ControlFlow;

/// A place of the tree that a walk passes.
pub(in crate::sql) enum Node<'a> {
    /// A table, behind what its name contains.
    #[cfg_attr(not(feature = "cluster"), expect(dead_code, reason = "only names of files on clusters are looked at"))]
    Relation(&'a mut ObjectName),
    /// A query, before its parts.
    Query(&'a mut Query),
    /// An expression, before its operands.
    Before(&'a mut Expr),
    /// An expression, behind its operands.
    Behind(&'a mut Expr),
}

/// Walks through a statement or an expression until `visit` breaks.
pub(in crate::sql) fn walk(
    tree: &mut impl VisitMut,
    visit: &mut dyn FnMut(Node<'_>) -> ControlFlow<()>,
) -> ControlFlow<()> {
    tree.visit(&mut Walk(visit))
}

/// Changes every expression, operands before the expressions that contain them.
pub(in crate::sql) fn change_expressions(tree: &mut impl VisitMut, change: &mut dyn FnMut(&mut Expr)) {
    let _ = walk(tree, &mut |node| {
        if let Node::Behind(expression) = node {
            change(expression);
        }
        ControlFlow::Continue(())
    });
}

/// The statement itself, also the one that is explained.
pub(in crate::sql) fn statement_in(parsed: &mut Parsed) -> Option<&mut Statement> {
    match parsed {
        Parsed::Statement(statement) => Some(statement),
        Parsed::Explain(explain) => statement_in(&mut explain.statement),
        _ => None,
    }
}

struct Walk<'a>(&'a mut dyn FnMut(Node<'_>) -> ControlFlow<()>);

impl VisitorMut for Walk<'_> {
    type Break = ();

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<()> {
        (self.0)(Node::Query(query))
    }

    fn post_visit_relation(&mut self, relation: &mut ObjectName) -> ControlFlow<()> {
        (self.0)(Node::Relation(relation))
    }

    fn pre_visit_expr(&mut self, expression: &mut Expr) -> ControlFlow<()> {
        (self.0)(Node::Before(expression))
    }

    fn post_visit_expr(&mut self, expression: &mut Expr) -> ControlFlow<()> {
        (self.0)(Node::Behind(expression))
    }
}
