//! Plans of queries that the engine would answer wrongly, changed to equivalent ones that it answers correctly.
//!
//! - `INTERSECT ALL` and `EXCEPT ALL`: the engine takes all copies of a row, or none. Here the copies are numbered on
//!   both sides, and the numbers are compared together with the rows.
//! - `x IN (SELECT ..)` and `x NOT IN (SELECT ..)`: the engine looks only at whether the columns in `x` can be null,
//!   not `x` itself, and it knows no third value inside of `OR`, `CASE` and the like. Where null is possible, `EXISTS`
//!   takes the place of `IN`.
//! - `x = ANY (SELECT ..)` and `x = ALL (SELECT ..)`: if both read the same table, the engine compares a column with
//!   itself. Here the subquery has a name of its own.
//!
//! Tests ask the engine itself and fail as soon as it answers correctly, so that this module can go.

use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, NullEquality, Result, ScalarValue, Spans, plan_err};
use datafusion::functions_window::expr_fn::row_number;
use datafusion::logical_expr::expr::{Exists, InSubquery};
use datafusion::logical_expr::utils::{conjunction, split_conjunction_owned};
use datafusion::logical_expr::{
    BinaryExpr, Expr, ExprFunctionExt, ExprSchemable, Filter, Join, JoinType, LogicalPlan, LogicalPlanBuilder,
    Operator, Subquery, lit, when,
};
use std::sync::Arc;

/// The column with the number of a copy.
const NUMBER: &str = "number of this copy";
/// The name of a subquery in which a value is searched.
const SEARCHED: &str = "searched";

/// The plan with the meaning that the standard gives to its query.
pub(in crate::sql) fn corrected(plan: LogicalPlan) -> Result<LogicalPlan> {
    let changed = plan.transform_up_with_subqueries(|node| match node {
        LogicalPlan::Join(join) if is_of_all(&join) => numbered(join).map(Transformed::yes),
        LogicalPlan::Filter(filter) if has_in(&filter.predicate)? => {
            comparisons_named(three_valued(filter)?).map(|named| Transformed::yes(named.data))
        }
        LogicalPlan::Join(join) if join.join_type == JoinType::Inner && has_in_filter(&join)? => {
            comparisons_named(filtered(join)?).map(|named| Transformed::yes(named.data))
        }
        node => {
            refuse_in(&node)?;
            comparisons_named(node)
        }
    });
    changed.data()
}

/// Names the subqueries of `ANY` and `ALL`: <https://github.com/apache/datafusion/issues/25258>
fn comparisons_named(node: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    node.map_expressions(|expression| {
        expression.transform_up(|inner| match inner {
            Expr::SetComparison(mut comparison) => {
                name(&mut comparison.subquery)?;
                Ok(Transformed::yes(Expr::SetComparison(comparison)))
            }
            inner => Ok(Transformed::no(inner)),
        })
    })
}

/// Whether this is `INTERSECT ALL` or `EXCEPT ALL`: only set operations make joins in which nulls are equal. Without
/// `ALL`, the rows on the left are distinct.
/// <https://github.com/apache/datafusion/issues/12955>, <https://github.com/apache/datafusion/issues/12956>
fn is_of_all(join: &Join) -> bool {
    join.null_equality == NullEquality::NullEqualsNull
        && matches!(join.join_type, JoinType::LeftSemi | JoinType::LeftAnti)
        && !matches!(&*join.left, LogicalPlan::Distinct(_))
}

/// The set operation over rows with the number of each copy.
fn numbered(join: Join) -> Result<LogicalPlan> {
    let columns: Vec<Expr> = join.left.schema().columns().into_iter().map(Expr::Column).collect();
    let (left, left_number) = copies(&join.left)?;
    let (right, right_number) = copies(&join.right)?;
    let mut on = join.on;
    on.push((left_number, right_number));
    let joined = Join::try_new(
        Arc::new(left),
        Arc::new(right),
        on,
        join.filter,
        join.join_type,
        join.join_constraint,
        join.null_equality,
        join.null_aware,
    )?;
    LogicalPlanBuilder::from(LogicalPlan::Join(joined)).project(columns)?.build()
}

/// The rows of one side, with the number of each copy in a further column.
fn copies(side: &LogicalPlan) -> Result<(LogicalPlan, Expr)> {
    let columns: Vec<Expr> = side.schema().columns().into_iter().map(Expr::Column).collect();
    let number = row_number().partition_by(columns.clone()).build()?;
    let name = number.schema_name().to_string();
    let mut projected = columns;
    projected.push(Expr::Column(Column::new_unqualified(name)).alias(NUMBER));
    let side = LogicalPlanBuilder::from(side.clone()).window([number])?.project(projected)?.build()?;
    Ok((side, Expr::Column(Column::new_unqualified(NUMBER))))
}

/// Whether an expression has `IN (SELECT ..)` in it.
fn has_in(expression: &Expr) -> Result<bool> {
    expression.exists(|inner| Ok(matches!(inner, Expr::InSubquery(_))))
}

fn has_in_filter(join: &Join) -> Result<bool> {
    join.filter.as_ref().map_or(Ok(false), has_in)
}

/// An inner join with its condition in a filter above it.
fn filtered(mut join: Join) -> Result<LogicalPlan> {
    let predicate = join.filter.take().unwrap_or_else(|| lit(true));
    three_valued(Filter::try_new(predicate, Arc::new(LogicalPlan::Join(join)))?)
}

/// Refuses `IN (SELECT ..)` in other places. The engine has no operator for it there; sometimes it moves it to a place
/// where it has one, and forgets that the answer can be unknown.
fn refuse_in(node: &LogicalPlan) -> Result<()> {
    node.apply_expressions(|expression| {
        if has_in(expression)? {
            return plan_err!(
                "IN (SELECT ..) is only possible in WHERE, in HAVING and in the condition of an inner join; elsewhere, \
                 join the table, or compare (SELECT count(*) ..) with 0"
            );
        }
        Ok(TreeNodeRecursion::Continue)
    })?;
    Ok(())
}

/// The filter with a third value for `IN (SELECT ..)`.
/// <https://github.com/apache/datafusion/issues/25473>, <https://github.com/apache/datafusion/issues/25347>,
/// <https://github.com/apache/datafusion/issues/25336>, <https://github.com/apache/datafusion/issues/25340>
fn three_valued(filter: Filter) -> Result<LogicalPlan> {
    let mut conditions = Vec::new();
    for condition in split_conjunction_owned(filter.predicate) {
        match negated_in(condition) {
            Ok(search) => conditions.extend(Search::new(search, &filter.input)?.absent()?),
            Err(condition) => conditions.push(in_condition(condition, &filter.input)?),
        }
    }
    let predicate = conjunction(conditions).unwrap_or_else(|| lit(true));
    Ok(LogicalPlan::Filter(Filter::try_new(predicate, filter.input)?))
}

/// The search of `x NOT IN (SELECT ..)` or `NOT x IN (SELECT ..)`; otherwise the condition itself.
fn negated_in(condition: Expr) -> std::result::Result<InSubquery, Expr> {
    match condition {
        Expr::InSubquery(search) if search.negated => Ok(search),
        Expr::Not(inner) => match *inner {
            Expr::InSubquery(search) if !search.negated => Ok(search),
            other => Err(Expr::Not(Box::new(other))),
        },
        other => Err(other),
    }
}

/// Changes a condition that only takes rows for which it is true: below `AND` and `OR` alone, unknown is as good as
/// false.
fn in_condition(condition: Expr, input: &LogicalPlan) -> Result<Expr> {
    match condition {
        Expr::BinaryExpr(BinaryExpr { left, op: op @ (Operator::And | Operator::Or), right }) => {
            let (left, right) = (in_condition(*left, input)?, in_condition(*right, input)?);
            Ok(Expr::BinaryExpr(BinaryExpr::new(Box::new(left), op, Box::new(right))))
        }
        Expr::InSubquery(search) if !search.negated => Ok(Expr::InSubquery(search)),
        other => other
            .transform_up(|inner| match inner {
                Expr::InSubquery(search) => Search::new(search, input)?.value().map(Transformed::yes),
                inner => Ok(Transformed::no(inner)),
            })
            .data(),
    }
}

/// Gives a subquery a name of its own. Without it, the engine takes a column of the query and one of the subquery for
/// the same if both read the same table. A subquery that refers to the query has different names already.
fn name(subquery: &mut Subquery) -> Result<()> {
    if !subquery.outer_ref_columns.is_empty() {
        return Ok(());
    }
    let named = LogicalPlanBuilder::from(Arc::clone(&subquery.subquery)).alias(SEARCHED)?;
    subquery.subquery = Arc::new(named.build()?);
    Ok(())
}

/// A value that is searched in the column of a subquery.
struct Search {
    original: InSubquery,
    /// The value, as the subquery sees it.
    value: Expr,
    /// The columns in it, as the subquery sees them.
    outer: Vec<Expr>,
    column: Expr,
    value_may_be_null: bool,
    column_may_be_null: bool,
}

impl Search {
    fn new(mut original: InSubquery, input: &LogicalPlan) -> Result<Self> {
        let mut outer = Vec::new();
        let value = (*original.expr).clone().transform_up(|inner| match inner {
            Expr::Column(column) => {
                let (relation, field) = input.schema().qualified_field_from_column(&column)?;
                let column = Column::new(relation.cloned(), field.name());
                let seen = Expr::OuterReferenceColumn(Arc::clone(field), column);
                outer.push(seen.clone());
                Ok(Transformed::yes(seen))
            }
            inner => Ok(Transformed::no(inner)),
        });
        // The types of arguments are not known yet for some functions.
        let value_may_be_null = original.expr.nullable(input.schema()).unwrap_or(true);
        let column_may_be_null = original.subquery.subquery.schema().field(0).is_nullable();
        if value_may_be_null || column_may_be_null {
            name(&mut original.subquery)?;
        }
        let (relation, field) = original.subquery.subquery.schema().qualified_field(0);
        let column = Expr::Column(Column::new(relation.cloned(), field.name()));
        Ok(Self { value: value.data()?, outer, column, value_may_be_null, column_may_be_null, original })
    }

    /// Whether the answer can be unknown.
    fn may_be_unknown(&self) -> bool {
        self.value_may_be_null || self.column_may_be_null
    }

    /// Whether the subquery has a row for which this holds, or any row.
    fn exists(&self, condition: Option<Expr>, negated: bool) -> Result<Expr> {
        let Subquery { subquery, outer_ref_columns, .. } = &self.original.subquery;
        let mut outer_ref_columns = outer_ref_columns.clone();
        let subquery = match condition {
            Some(condition) => {
                outer_ref_columns.extend(self.outer.iter().cloned());
                Arc::new(LogicalPlanBuilder::from(Arc::clone(subquery)).filter(condition)?.build()?)
            }
            None => Arc::clone(subquery),
        };
        let subquery = Subquery { subquery, outer_ref_columns, spans: Spans::new() };
        Ok(Expr::Exists(Exists { subquery, negated }))
    }

    fn is_found(&self, negated: bool) -> Result<Expr> {
        self.exists(Some(self.column.clone().eq(self.value.clone())), negated)
    }

    fn has_null(&self, negated: bool) -> Result<Expr> {
        self.exists(Some(self.column.clone().is_null()), negated)
    }

    /// The conditions under which the value is certainly not in the column.
    fn absent(self) -> Result<Vec<Expr>> {
        if !self.may_be_unknown() {
            return Ok(vec![Expr::InSubquery(InSubquery { negated: true, ..self.original })]);
        }
        let mut conditions = vec![self.is_found(true)?];
        if self.column_may_be_null {
            conditions.push(self.has_null(true)?);
        }
        if self.value_may_be_null {
            let value = (*self.original.expr).clone();
            conditions.push(value.is_not_null().or(self.exists(None, true)?));
        }
        Ok(conditions)
    }

    /// True, false or null.
    fn value(self) -> Result<Expr> {
        if !self.may_be_unknown() {
            return Ok(Expr::InSubquery(self.original));
        }
        let mut cases = when(self.is_found(false)?, lit(!self.original.negated));
        let unknown = lit(ScalarValue::Boolean(None));
        if self.column_may_be_null {
            cases = cases.when(self.has_null(false)?, unknown.clone());
        }
        if self.value_may_be_null {
            let value = (*self.original.expr).clone();
            cases = cases.when(value.is_null().and(self.exists(None, false)?), unknown);
        }
        cases.otherwise(lit(self.original.negated))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use datafusion::arrow::array::AsArray;
    use datafusion::arrow::datatypes::Int64Type;
    use datafusion::prelude::SessionContext;

    /// The number that a query returns, with or without the changes.
    async fn number(context: &SessionContext, query: &str, is_corrected: bool) -> Option<i64> {
        let plan = context.state().create_logical_plan(query).await.unwrap();
        let plan = if is_corrected { corrected(plan).unwrap() } else { plan };
        let frame = context.execute_logical_plan(plan).await.ok()?;
        let rows = frame.collect().await.ok()?;
        Some(rows[0].column(0).as_primitive::<Int64Type>().value(0))
    }

    /// Fails as soon as the engine answers correctly by itself.
    #[tokio::test]
    async fn the_engine_still_answers_wrongly() {
        let context = SessionContext::new();
        for table in [
            "create table t (x int not null) as values (1), (1), (2)",
            "create table u (x int not null) as values (1), (3), (3)",
            "create table v (x int, y int) as values (1, null), (9, 4)",
        ] {
            context.sql(table).await.unwrap().collect().await.unwrap();
        }
        for (query, right) in [
            ("select count(*) from (select x from t intersect all select x from u) s", 1),
            ("select count(*) from (select x from t except all select x from u) s", 2),
            ("select count(*) from t where nullif(x, 1) not in (select x from u)", 1),
            ("select count(*) from t where 5 not in (select y from v)", 0),
            ("select count(*) from t where x not in (select y from v where v.x = t.x)", 1),
            ("select count(*) from t where x not in (select y from v) or x = 7", 0),
            ("select count(*) from t where (x in (select y from v)) is null", 3),
            ("select count(*) from t where x = any (select x from t where x > 1)", 1),
        ] {
            assert_eq!(number(&context, query, true).await, Some(right), "{query}");
            let engines = number(&context, query, false).await;
            assert_ne!(engines, Some(right), "the engine has been mended: {query}");
        }
    }

    #[tokio::test]
    async fn what_the_engine_cannot_place_is_refused() {
        let context = SessionContext::new();
        let table = "create table t (x int not null) as values (1), (1), (2)";
        context.sql(table).await.unwrap().collect().await.unwrap();
        for query in [
            "select count(*) from (select nullif(x, 1) in (select x from t) as found from t) s where found is null",
            "select count(*) from t left join t as o on t.x = o.x and o.x not in (select x from t)",
            "select x from t group by x order by x in (select x from t)",
        ] {
            let plan = context.state().create_logical_plan(query).await.unwrap();
            let error = corrected(plan).unwrap_err();
            assert!(error.to_string().contains("only possible in WHERE"), "{error}");
        }
        let joined = "select count(*) from t join t as o on t.x = o.x and nullif(o.x, 1) not in (select 7)";
        assert_eq!(number(&context, joined, true).await, Some(1));
    }

    #[tokio::test]
    async fn only_what_is_wrong_changes() {
        let context = SessionContext::new();
        let table = "create table t (x int not null) as values (1), (1), (2)";
        context.sql(table).await.unwrap().collect().await.unwrap();
        for query in [
            "select x from t intersect select x from t",
            "select x from t where x not in (select x from t)",
            "select x from t where nullif(x, 1) in (select nullif(x, 1) from t) or x = 3",
        ] {
            let plan = context.state().create_logical_plan(query).await.unwrap();
            let changed = corrected(plan.clone()).unwrap();
            assert_eq!(changed.display_indent().to_string(), plan.display_indent().to_string(), "{query}");
        }
    }
}
