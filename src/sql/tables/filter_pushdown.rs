//! Filters that a scan applies itself: conditions in the language of `--where`, and comparisons of a column with
//! constants, which become such conditions.
//!
//! What is translated here is exact; every other filter stays with the engine.

use super::where_conditions::called;
use crate::choose::Condition;
use crate::table::predicate::Test;
use crate::table::{ChosenColumn, Kind};
use datafusion::common::ScalarValue;
use datafusion::logical_expr::expr::InList;
use datafusion::logical_expr::{Between, BinaryExpr, Expr, Operator};
use std::ops::RangeInclusive;
use std::sync::Arc;

/// A constant that columns are compared with.
enum Constant {
    Number(i128),
    Text(Arc<str>),
}

/// The condition for a filter; `None` if the filter is not a comparison of one column with constants.
pub(in crate::sql) fn condition(filter: &Expr, columns: &[ChosenColumn]) -> Option<Condition> {
    if let Some(condition) = called(filter) {
        return Some(condition);
    }
    let (column, test) = match filter {
        Expr::Column(_) => (find(filter, columns)?, Test::number(1)),
        Expr::Not(inner) => match &**inner {
            Expr::Column(_) => (find(inner, columns)?, Test::number(0)),
            _ => return None,
        },
        Expr::IsTrue(inner) => (find(inner, columns)?, Test::number(1)),
        Expr::IsFalse(inner) => (find(inner, columns)?, Test::number(0)),
        Expr::IsNull(inner) => (find(inner, columns)?, Test::Missing),
        Expr::IsNotNull(inner) => (find(inner, columns)?, Test::Present),
        Expr::BinaryExpr(BinaryExpr { left, op, right }) => match (&**left, &**right) {
            (Expr::Column(_), Expr::Literal(value, _)) => (find(left, columns)?, compared(*op, value)?),
            (Expr::Literal(value, _), Expr::Column(_)) => (find(right, columns)?, compared(op.swap()?, value)?),
            _ => return None,
        },
        Expr::Between(Between { expr, negated, low, high }) => {
            let (Constant::Number(low), Constant::Number(high)) = (literal(low)?, literal(high)?) else {
                return None;
            };
            (find(expr, columns)?, numbers(vec![low..=high], *negated))
        }
        Expr::InList(InList { expr, list, negated }) => {
            let constants = list.iter().map(literal).collect::<Option<Vec<_>>>()?;
            (find(expr, columns)?, listed(constants, *negated)?)
        }
        _ => return None,
    };
    fits(&column, &test).then(|| text(&column, &test).parse().ok()).flatten()
}

/// The test in the language of conditions.
fn text(column: &ChosenColumn, test: &Test) -> String {
    let name = column.name();
    let listed = |words: &[Arc<str>]| {
        let words: Vec<String> = words.iter().map(|word| format!("'{}'", word.replace('\'', "''"))).collect();
        words.join(", ")
    };
    match test {
        Test::Present => format!("\"{name}\" is not null"),
        Test::Missing => format!("\"{name}\" is null"),
        Test::In(words) => format!("\"{name}\" in ({})", listed(words)),
        Test::NotIn(words) => format!("\"{name}\" not in ({})", listed(words)),
        Test::Numbers(ranges) => {
            let ranges: Vec<String> = ranges.iter().filter_map(|range| within(name, range)).collect();
            if ranges.is_empty() {
                // Nothing that is there.
                format!("\"{name}\" is null and false")
            } else {
                ranges.join(" or ")
            }
        }
    }
}

/// Whether a column is in a range; `None` if no number of 64 bits is.
fn within(name: &str, range: &RangeInclusive<i128>) -> Option<String> {
    let (least, most) = (i128::from(i64::MIN), i128::from(u64::MAX));
    let (low, high) = (*range.start(), *range.end());
    if low > high || low > most || high < least {
        return None;
    }
    Some(match (low > least, high < most) {
        _ if low == high => format!("\"{name}\" = {low}"),
        (true, true) => format!("\"{name}\" between {low} and {high}"),
        (true, false) => format!("\"{name}\" >= {low}"),
        (false, true) => format!("\"{name}\" <= {high}"),
        (false, false) => format!("\"{name}\" is not null"),
    })
}

/// The column that an expression names.
fn find(expression: &Expr, columns: &[ChosenColumn]) -> Option<ChosenColumn> {
    let Expr::Column(named) = expression else {
        return None;
    };
    columns.iter().find(|column| column.name() == named.name).cloned()
}

/// Whether values of the column can be tested. Dates are days in SQL, but texts in our columns, and some of these are
/// not a day.
fn fits(column: &ChosenColumn, test: &Test) -> bool {
    match (column.kind(), test) {
        (Kind::Date | Kind::Board, _) => false,
        (_, Test::Present | Test::Missing) => true,
        (Kind::Text, test) => !matches!(test, Test::Numbers(_)),
        // Tests are for whole numbers.
        (Kind::F64, _) => false,
        (_, test) => matches!(test, Test::Numbers(_)),
    }
}

fn constant(value: &ScalarValue) -> Option<Constant> {
    let number = match value {
        ScalarValue::Boolean(value) => i128::from((*value)?),
        ScalarValue::Int8(value) => (*value)?.into(),
        ScalarValue::Int16(value) => (*value)?.into(),
        ScalarValue::Int32(value) => (*value)?.into(),
        ScalarValue::Int64(value) => (*value)?.into(),
        ScalarValue::UInt8(value) => (*value)?.into(),
        ScalarValue::UInt16(value) => (*value)?.into(),
        ScalarValue::UInt32(value) => (*value)?.into(),
        ScalarValue::UInt64(value) => (*value)?.into(),
        ScalarValue::Utf8(text) | ScalarValue::LargeUtf8(text) | ScalarValue::Utf8View(text) => {
            return Some(Constant::Text(text.as_deref()?.into()));
        }
        _ => return None,
    };
    Some(Constant::Number(number))
}

fn literal(expression: &Expr) -> Option<Constant> {
    match expression {
        Expr::Literal(value, _) => constant(value),
        _ => None,
    }
}

fn compared(operator: Operator, value: &ScalarValue) -> Option<Test> {
    Some(match (operator, constant(value)?) {
        (Operator::Eq, constant) => return listed(vec![constant], false),
        (Operator::NotEq, constant) => return listed(vec![constant], true),
        (Operator::Lt, Constant::Number(number)) => numbers(vec![i128::MIN..=number - 1], false),
        (Operator::LtEq, Constant::Number(number)) => numbers(vec![i128::MIN..=number], false),
        (Operator::Gt, Constant::Number(number)) => numbers(vec![number + 1..=i128::MAX], false),
        (Operator::GtEq, Constant::Number(number)) => numbers(vec![number..=i128::MAX], false),
        _ => return None,
    })
}

fn numbers(ranges: Vec<RangeInclusive<i128>>, negated: bool) -> Test {
    if negated { Test::outside(&ranges) } else { Test::Numbers(ranges) }
}

/// One of these, or none of them.
fn listed(constants: Vec<Constant>, negated: bool) -> Option<Test> {
    let (mut ranges, mut words) = (Vec::new(), Vec::new());
    for constant in constants {
        match constant {
            Constant::Number(number) => ranges.push(number..=number),
            Constant::Text(text) => words.push(text),
        }
    }
    match (ranges.is_empty(), words.is_empty(), negated) {
        (_, true, negated) => Some(numbers(ranges, negated)),
        (true, false, true) => Some(Test::NotIn(words)),
        (true, false, false) => Some(Test::In(words)),
        (false, false, _) => None,
    }
}
