//! Names of columns that a statement spells in another way than the tables: with other capital letters, or the column of a
//! folder without `folder:`.
//!
//! The engine only knows names as they are. When it finds no column of a name, and one column is meant, the name is
//! replaced wherever it stands for a column, and the statement is planned again.

use super::syntax_tree_walk::{change_expressions, statement_in};
use crate::table::FOLDERS;
use datafusion::common::{DataFusionError, SchemaError};
use datafusion::sql::parser::Statement as Parsed;
use datafusion::sql::sqlparser::ast::{Expr, Ident, SelectItem, SetExpr, Statement};
use std::collections::BTreeSet;

/// A name that a statement has, and the column that it means.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::sql) struct Respelled {
    from: String,
    to: String,
}

impl Respelled {
    /// The spelling for a column that was not found; `None` if no column is meant, or more than one.
    pub(in crate::sql) fn of(error: &DataFusionError) -> Option<Self> {
        let DataFusionError::SchemaError(error, _) = error.find_root() else { return None };
        let SchemaError::FieldNotFound { field, valid_fields } = &**error else { return None };
        let known: BTreeSet<&str> = valid_fields.iter().map(|column| column.name.as_str()).collect();
        Some(Self { to: meant(&field.name, &known)?.to_owned(), from: field.name.clone() })
    }

    /// Replaces the name.
    pub(in crate::sql) fn apply(&self, statement: &mut Parsed) {
        let respell = |name: &mut Ident| {
            let is_quoted = name.quote_style.is_some();
            if if is_quoted { name.value == self.from } else { name.value.to_lowercase() == self.from } {
                name.value.clone_from(&self.to);
                name.quote_style = Some('"');
            }
        };
        let Some(statement) = statement_in(statement) else { return };
        if self.to.starts_with(FOLDERS.prefix)
            && let Statement::Query(query) = statement
        {
            keep_names(&mut query.body, &self.from);
        }
        change_expressions(statement, &mut |expression| match expression {
            Expr::Identifier(name) => respell(name),
            Expr::CompoundIdentifier(names) => {
                if let Some(name) = names.last_mut() {
                    respell(name);
                }
            }
            _ => {}
        });
    }
}

/// Result columns of this name keep it.
fn keep_names(body: &mut SetExpr, name: &str) {
    match body {
        SetExpr::Select(select) => {
            for item in &mut select.projection {
                let named = match item {
                    SelectItem::UnnamedExpr(Expr::Identifier(own)) if own.value.to_lowercase() == name => {
                        own.value.clone()
                    }
                    _ => continue,
                };
                if let SelectItem::UnnamedExpr(expr) = item {
                    let (expr, alias) = (expr.clone(), Ident::with_quote('"', named));
                    *item = SelectItem::ExprWithAlias { expr, alias };
                }
            }
        }
        SetExpr::Query(query) => keep_names(&mut query.body, name),
        SetExpr::SetOperation { left, .. } => keep_names(left, name),
        _ => {}
    }
}

/// The one of the known columns that a name means.
fn meant<'a>(name: &str, known: &BTreeSet<&'a str>) -> Option<&'a str> {
    let only = |is_meant: &dyn Fn(&str) -> bool| {
        let mut found = known.iter().filter(|column| is_meant(column));
        found.next().filter(|_| found.next().is_none()).copied()
    };
    if known.contains(name) {
        return None;
    }
    let lower = name.to_lowercase();
    only(&|column| column.to_lowercase() == lower).or_else(|| {
        only(&|column| column.strip_prefix(FOLDERS.prefix).is_some_and(|folder| folder.to_lowercase() == lower))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use datafusion::sql::parser::DFParser;

    #[test]
    fn one_column_is_meant() {
        let known = BTreeSet::from(["WhiteElo", "a", "A", "folder:Year", "b", "folder:b"]);
        for (name, expected) in [
            ("whiteelo", Some("WhiteElo")),
            ("WHITEELO", Some("WhiteElo")),
            ("a", None),
            ("year", Some("folder:Year")),
            ("B", Some("b")),
            ("c", None),
        ] {
            assert_eq!(meant(name, &known), expected, "{name}");
        }
        assert_eq!(meant("a", &BTreeSet::from(["A", "á"])), Some("A"));
        assert_eq!(meant("x", &BTreeSet::from(["X", "folder:x"])), Some("X"));
    }

    #[test]
    fn names_are_replaced_where_they_stand_for_columns() {
        let mut statements = DFParser::parse_sql(
            "select whiteelo, t.WhiteElo + 1, \"whiteelo\", 'whiteelo', f(whiteelo) from whiteelo as t order by WHITEELO",
        )
        .unwrap();
        let statement = &mut statements[0];
        Respelled { from: "whiteelo".to_owned(), to: "WhiteElo".to_owned() }.apply(statement);
        assert_eq!(
            statement.to_string(),
            "SELECT \"WhiteElo\", t.\"WhiteElo\" + 1, \"WhiteElo\", 'whiteelo', f(\"WhiteElo\") FROM whiteelo AS t ORDER BY \
             \"WhiteElo\""
        );
    }
}
