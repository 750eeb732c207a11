//! Functions and statements of DuckDB, which many people know, that have another name here or do not exist.

/// Functions, and what does the same.
const FUNCTIONS: &[(&[&str], &str)] = &[
    (&["apply", "list_apply", "array_apply"], "list_transform(xs, x -> ..)"),
    (&["approx_count_distinct"], "approx_distinct(x)"),
    (&["approx_quantile"], "approx_percentile_cont(x, 0.9)"),
    (&["arg_max", "argmax", "max_by"], "first_value(x order by y desc)"),
    (&["arg_min", "argmin", "min_by"], "first_value(x order by y)"),
    (&["base64", "to_base64"], "encode(x, 'base64')"),
    (&["bit_count"], "popcount(x)"),
    (&["count_if", "countif"], "count(*) filter (where ..)"),
    (&["dayname"], "to_char(x, '%A')"),
    (&["epoch"], "to_unixtime(x)"),
    (&["epoch_ms"], "to_timestamp_millis(x)"),
    (&["first"], "first_value(x)"),
    (&["format", "printf"], "concat(x, ' ', y)"),
    (&["from_base64"], "decode(x, 'base64')"),
    (&["group_concat", "listagg"], "string_agg(x, ',')"),
    (&["histogram", "mode"], "select x, count(*) .. group by x order by 2 desc"),
    (&["if"], "case when .. then .. else .. end"),
    (&["last"], "last_value(x)"),
    (&["lcase"], "lower(x)"),
    (&["len"], "length(x), or array_length(xs)"),
    (&["list"], "array_agg(x)"),
    (&["list_value", "list_pack"], "[x, y]"),
    (&["month", "monthname"], "date_part('month', x), or to_char(x, '%B')"),
    (&["prefix"], "starts_with(x, 'a')"),
    (&["quantile", "quantile_disc"], "percentile_cont(0.9) within group (order by x)"),
    (&["regexp_matches", "regexp_full_match"], "regexp_like(x, '..')"),
    (&["sign"], "signum(x)"),
    (&["str_split", "string_split", "split"], "string_to_array(x, ',')"),
    (&["strftime"], "to_char(x, '%Y')"),
    (&["strlen"], "octet_length(x)"),
    (&["strptime"], "to_timestamp(x, '%Y-%m-%d')"),
    (&["struct_pack"], "named_struct('a', x)"),
    (&["suffix"], "ends_with(x, 'a')"),
    (&["typeof", "pg_typeof"], "arrow_typeof(x)"),
    (&["ucase"], "upper(x)"),
    (&["xor"], "x # y"),
    (&["year"], "date_part('year', x)"),
];

/// The first words of statements, and what there is in their place.
const STATEMENTS: &[(&[&str], &str)] = &[
    (&["pivot"], "for a column of each value, write sum(x) filter (where y = 'a') as a, .."),
    (&["unpivot"], "for a row of each column, write select 'a' as name, a as value .. union all select 'b', b .."),
    (&["attach", "detach", "use"], "files are tables by their names in quotes, such as 'games.pgn'"),
    (
        &["install", "load", "pragma", "call", "checkpoint"],
        "there are no extensions and pragmas; options are those of `lanefish sql --help`",
    ),
    (&["export", "import"], "`lanefish sql QUERY -o FILE` writes the rows of a query"),
];

fn found(table: &'static [(&[&str], &str)], name: &str) -> Option<&'static str> {
    let name = name.to_lowercase();
    table.iter().find(|(names, _)| names.contains(&&*name)).map(|&(_, instead)| instead)
}

/// The message of the engine that a function does not exist, with the one that does the same.
pub(in crate::sql) fn of_function(message: &str) -> Option<String> {
    let (name, _) = message.strip_prefix("Invalid function '")?.split_once('\'')?;
    let instead = found(FUNCTIONS, name)?;
    Some(format!("there is no function `{name}` here; write {instead}"))
}

/// The message of the parser that a text is no statement, with what there is in its place.
pub(in crate::sql) fn of_statement(message: &str) -> Option<String> {
    let begins = ["Expected: an SQL statement, found: ", "Unsupported SQL statement: "];
    let statement = begins.iter().find_map(|begin| message.strip_prefix(begin))?;
    let word = statement.split_whitespace().next()?;
    let instead = found(STATEMENTS, word)?;
    Some(format!("there is no statement `{word}` here; {instead}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sql::{Limits, Session, SessionOptions, SqlError};
    use crate::tiers;

    fn message(text: &str) -> Option<String> {
        let session = Session::new(SessionOptions::new(tiers::best()), &Limits::default(), false).unwrap();
        let run = |text: &str| -> Result<(), SqlError> {
            for statement in Session::parse(text)? {
                session.run(&statement)?;
            }
            Ok(())
        };
        run(text).err().map(|error| error.to_string())
    }

    #[test]
    fn they_do_not_exist_here() {
        for name in FUNCTIONS.iter().flat_map(|(names, _)| *names) {
            let error = message(&format!("select {name}(1)")).unwrap_or_else(|| panic!("{name} exists"));
            assert!(error.contains(&format!("there is no function `{name}` here; write ")), "{error}");
        }
        for word in STATEMENTS.iter().flat_map(|(words, _)| *words) {
            let error = message(&format!("{word} 'x'")).unwrap_or_else(|| panic!("{word} exists"));
            assert!(
                error.contains("there is no statement") || !error.contains("Expected: an SQL statement"),
                "{error}"
            );
        }
    }

    #[test]
    fn what_does_the_same_exists() {
        let calls = FUNCTIONS.iter().map(|(_, instead)| instead.split(", or ").next().unwrap());
        for call in calls.filter(|call| !call.contains("..")) {
            let query = format!("select {call} from (values (1, 2, [3])) as t(x, y, xs)");
            let error = message(&query).unwrap_or_default();
            assert!(
                !error.contains("function `") && !error.contains("Invalid function") && !error.contains("Expected"),
                "{call}: {error}"
            );
        }
    }
}
