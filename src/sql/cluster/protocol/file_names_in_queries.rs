//! Queries that a scheduler would not read as they were written.
//!
//! The engine writes the table of a column as text, and reads `a.boards` as the table `boards` of the schema `a`. Names
//! of files get a directory in front, other names are refused.

use crate::sql::cluster::protocol::errors::carried;
use crate::sql::engine::syntax_tree_walk::{Node, change_expressions, walk};
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{Result, TableReference};
use datafusion::logical_expr::LogicalPlan;
use datafusion::sql::parser::Statement as Parsed;
use datafusion::sql::sqlparser::ast::{Expr, Ident, ObjectNamePart};
use std::ops::ControlFlow;

/// Puts the current directory in front of names of files that would be read as others.
pub(in crate::sql) fn name_files(statement: &mut Parsed) {
    match statement {
        Parsed::Statement(statement) => {
            let mut names = Vec::new();
            let _ = walk(&mut **statement, &mut |node| {
                if let Node::Relation(relation) = node
                    && let [ObjectNamePart::Identifier(name)] = &mut relation.0[..]
                    && name.quote_style == Some('\'')
                    && is_read_otherwise(&TableReference::bare(name.value.as_str()))
                {
                    names.push(name.value.clone());
                    in_directory(name);
                }
                ControlFlow::Continue(())
            });
            change_expressions(&mut **statement, &mut |expression| {
                if let Expr::CompoundIdentifier(parts) = expression
                    && let [table, _, ..] = &mut parts[..]
                    && names.contains(&table.value)
                {
                    in_directory(table);
                }
            });
        }
        Parsed::Explain(explain) => name_files(&mut explain.statement),
        _ => {}
    }
}

fn in_directory(name: &mut Ident) {
    name.value.insert_str(0, "./");
}

/// Whether the engine reads the text of a name as another name.
fn is_read_otherwise(name: &TableReference) -> bool {
    TableReference::parse_str_normalized(&name.to_string(), true) != *name
}

/// Refuses names of tables that would be read as others.
pub(in crate::sql) fn check_names(plan: &LogicalPlan) -> Result<()> {
    plan.apply_with_subqueries(|node| {
        for (table, _) in node.schema().iter() {
            if let Some(TableReference::Bare { table: name }) = table
                && is_read_otherwise(&TableReference::bare(name.as_ref()))
            {
                return Err(carried(&format!(
                    "a cluster cannot tell the table `{name}` from a table of a schema: give it a name without a \
                     point, with AS"
                )));
            }
        }
        Ok(TreeNodeRecursion::Continue)
    })?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use datafusion::sql::parser::DFParser;

    fn named(text: &str) -> String {
        let mut statements = DFParser::parse_sql(text).unwrap();
        name_files(&mut statements[0]);
        statements[0].to_string()
    }

    #[test]
    fn only_names_that_would_be_read_otherwise_change() {
        assert_eq!(
            named(r#"select "a.boards".phase from 'a.boards' where "a.boards".phase > 1"#),
            r#"SELECT "./a.boards".phase FROM './a.boards' WHERE "./a.boards".phase > 1"#
        );
        for same in ["SELECT phase FROM './a.boards'", "SELECT t.a FROM '/data/a.boards' AS t", "SELECT a FROM s.t"] {
            assert_eq!(named(same), same);
        }
    }
}
