//! Corrections of parsed statements: names of result columns, and errors of the parser.
//!
//! An expression without a name is named by its own text in the query. The engine would add the whole name of the
//! table, which is a path, to each column, and the types to constants. If another column already has a name, a number
//! is added.

use super::hex_literals::{Lines, change_all, mark_number, plain_number};
use super::syntax_tree_walk::{Node, statement_in, walk};
use datafusion::sql::parser::{DFParser, Statement as Parsed};
use datafusion::sql::sqlparser::ast::{
    BinaryOperator, Expr, Ident, SelectFlavor, SelectItem, SetExpr, Statement, UnaryOperator, WildcardAdditionalOptions,
};
use std::collections::BTreeSet;
use std::ops::ControlFlow;

/// Names the columns of a query, and corrects what was parsed wrongly. `text` is the text of all statements.
pub(in crate::sql) fn repair(statement: &mut Parsed, text: &str) {
    let lines = Lines::of(text);
    change_all(statement, &mut |expression| mark_number(expression, &lines));
    only_created_tables(statement);
    if let Some(statement) = statement_in(statement) {
        let _ = walk(statement, &mut |node| {
            if let Node::Query(query) = node {
                select_all(&mut query.body);
            }
            ControlFlow::Continue(())
        });
    }
    name_columns(statement);
    change_all(statement, &mut |expression| {
        plain_number(expression);
        regroup(expression);
    });
}

/// The tables that statements of the session created, by name.
const CREATED_TABLES: &str = "SELECT table_name AS name FROM information_schema.tables \
    WHERE table_schema <> 'information_schema' ORDER BY table_name";

/// `show tables` lists what the session created: the engine by itself also lists its own views.
fn only_created_tables(statement: &mut Parsed) {
    if let Parsed::Statement(inner) = statement
        && inner.to_string() == "SHOW TABLES"
        && let Ok(mut replacement) = DFParser::parse_sql(CREATED_TABLES)
        && let Some(replacement) = replacement.pop_front()
    {
        *statement = replacement;
    }
}

/// `from t` without `select` means all columns; the engine by itself returns rows without any.
fn select_all(body: &mut SetExpr) {
    match body {
        SetExpr::Select(select) if select.flavor == SelectFlavor::FromFirstNoSelect => {
            select.flavor = SelectFlavor::Standard;
            select.projection = vec![SelectItem::Wildcard(WildcardAdditionalOptions::default())];
        }
        SetExpr::SetOperation { left, right, .. } => {
            select_all(left);
            select_all(right);
        }
        _ => {}
    }
}

fn name_columns(statement: &mut Parsed) {
    match statement {
        Parsed::Statement(statement) => {
            if let Statement::Query(query) = &mut **statement {
                name_first(&mut query.body);
            }
        }
        Parsed::Explain(explain) => name_columns(&mut explain.statement),
        _ => {}
    }
}

/// The first select of a set of them has the names of all.
fn name_first(body: &mut SetExpr) {
    match body {
        SetExpr::Select(select) => {
            let mut names = BTreeSet::new();
            select.projection.iter_mut().for_each(|item| name(item, &mut names));
        }
        SetExpr::Query(query) => name_first(&mut query.body),
        SetExpr::SetOperation { left, .. } => name_first(left),
        _ => {}
    }
}

/// Names a column; `names` are those of the columns before it.
fn name(item: &mut SelectItem, names: &mut BTreeSet<String>) {
    let (own, is_named) = match item {
        SelectItem::UnnamedExpr(Expr::Identifier(name)) => (name.value.clone(), true),
        SelectItem::UnnamedExpr(Expr::CompoundIdentifier(parts)) => match parts.last() {
            Some(name) => (name.value.clone(), true),
            None => return,
        },
        SelectItem::UnnamedExpr(expression) => (expression.to_string(), false),
        SelectItem::ExprWithAlias { alias, .. } => (alias.value.clone(), true),
        _ => return,
    };
    let mut given = own.clone();
    let mut number = 1;
    while !names.insert(given.clone()) {
        number += 1;
        given = format!("{own}_{number}");
    }
    if is_named && number == 1 {
        return;
    }
    let alias = Ident::with_quote('"', given);
    if let SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } = item {
        let expr = expr.clone();
        *item = SelectItem::ExprWithAlias { expr, alias };
    }
}

/// `a is distinct from b and c` means `(a is distinct from b) and c`, but this version of the parser takes everything
/// after `from` as the second operand. Called for operands before the expressions that contain them; expressions in
/// parentheses are not changed.
fn regroup(expression: &mut Expr) {
    let is_or = |op: &BinaryOperator| *op == BinaryOperator::Or;
    let is_any = |op: &BinaryOperator| matches!(op, BinaryOperator::And | BinaryOperator::Or);
    let binds_less: &dyn Fn(&BinaryOperator) -> bool = match expression {
        Expr::BinaryOp { op: BinaryOperator::And, .. } => &is_or,
        _ => &is_any,
    };
    let Some(operand) = last_operand(expression) else {
        return;
    };
    if !matches!(operand, Expr::BinaryOp { op, .. } if binds_less(op)) {
        return;
    }
    // The leftmost of the connected expressions is the operand, and replaces all of them.
    let nothing = || Expr::Identifier(Ident::new(""));
    let mut connected = std::mem::replace(operand, nothing());
    let first = first_operand(&mut connected, binds_less);
    std::mem::swap(operand, first);
    std::mem::swap(expression, first);
    *expression = connected;
}

/// The leftmost expression that such operators connect.
fn first_operand<'a>(expression: &'a mut Expr, connects: &dyn Fn(&BinaryOperator) -> bool) -> &'a mut Expr {
    if !matches!(expression, Expr::BinaryOp { op, .. } if connects(op)) {
        return expression;
    }
    match expression {
        Expr::BinaryOp { left, .. } => first_operand(left, connects),
        first => first,
    }
}

/// The operand that may have taken too much.
fn last_operand(expression: &mut Expr) -> Option<&mut Expr> {
    match expression {
        Expr::IsDistinctFrom(_, last)
        | Expr::IsNotDistinctFrom(_, last)
        | Expr::UnaryOp { op: UnaryOperator::Not, expr: last }
        | Expr::BinaryOp { op: BinaryOperator::And, right: last, .. } => Some(last),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repaired(text: &str) -> String {
        let mut statements = DFParser::parse_sql(text).unwrap();
        repair(&mut statements[0], text);
        statements[0].to_string()
    }

    #[test]
    fn tables_of_the_engine_are_not_shown() {
        assert_eq!(repaired("show tables"), CREATED_TABLES);
        assert!(repaired("explain show tables").contains("SHOW TABLES"));
        assert_eq!(repaired("show columns from t"), "SHOW COLUMNS FROM t");
    }

    #[test]
    fn columns_are_named_by_their_text() {
        assert_eq!(
            repaired("select a, sum(b) + 1, c as d, t.a from t"),
            r#"SELECT a, sum(b) + 1 AS "sum(b) + 1", c AS d, t.a AS "a_2" FROM t"#
        );
        assert_eq!(
            repaired("select 0x1F, X'1F' from t where key = 0xFFFFFFFFFFFFFFFF"),
            r#"SELECT 31 AS "0x1F", X'1F' AS "X'1F'" FROM t WHERE key = 18446744073709551615"#
        );
        assert_eq!(repaired("from t"), "SELECT * FROM t");
        assert_eq!(
            repaired("select a from (from t) union all from u"),
            "SELECT a FROM (SELECT * FROM t) UNION ALL SELECT * FROM u"
        );
        assert_eq!(repaired("select 1, 1, 1"), r#"SELECT 1 AS "1", 1 AS "1_2", 1 AS "1_3""#);
    }
}
