//! Conditions of queries in the language of `--where`, which scans test with the same evaluator.
//!
//! If a select reads one file, each part of its `where` that this language can express is replaced by a mark before the
//! engine parses the text. When the statement is planned and the file has positions, the mark becomes a call of
//! [`ConditionFunction`], which the engine passes to the scan as a filter. Otherwise the mark becomes the original text
//! again, which the engine evaluates. So a condition has the same meaning in both places, and functions of boards
//! (`matches`, `on`) need no board as argument.

use crate::choose::Condition;
use crate::sql::engine::hex_literals::{Lines, mark_number, plain_number};
use crate::sql::engine::syntax_tree_walk::{Node, change_expressions, walk};
use datafusion::arrow::datatypes::DataType;
use datafusion::common::{Result, ScalarValue, plan_err};
use datafusion::error::DataFusionError;
use datafusion::logical_expr::{ColumnarValue, Expr, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility};
use datafusion::sql::parser::Statement as Parsed;
use datafusion::sql::sqlparser::ast;
use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::parser::Parser;
use datafusion::sql::sqlparser::tokenizer::{Location, Token, TokenWithSpan};
use std::ops::{ControlFlow, Range};

/// A part of a query that a mark stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::sql) struct Marked {
    /// The file that the select reads.
    pub(in crate::sql) file: String,
    /// The condition.
    text: String,
}

/// The place of a `where` in a query.
#[derive(Default)]
struct Select {
    /// The table after `from`.
    from: Option<Vec<Token>>,
    /// The first token of the condition.
    condition: Option<usize>,
}

/// The query, of these tokens, with marks instead of conditions, and the conditions. Line breaks are kept.
pub(in crate::sql) fn mark(query: &str, tokens: Vec<TokenWithSpan>) -> (String, Vec<Marked>) {
    let unchanged = || (query.to_owned(), Vec::new());
    if tokens.iter().any(|token| matches!(token.token, Token::Placeholder(_))) {
        return unchanged();
    }
    let tokens: Vec<TokenWithSpan> =
        tokens.into_iter().filter(|token| !matches!(token.token, Token::Whitespace(_))).collect();
    let lines = Lines::of(query);
    let mut marked = Vec::new();
    let mut places: Vec<Range<usize>> = Vec::new();
    for (file, condition) in wheres(&tokens) {
        for part in parts(&tokens, condition) {
            let (Some(first), Some(last)) = (tokens.get(part.start), tokens.get(part.end.wrapping_sub(1))) else {
                continue;
            };
            let (Some(start), Some(end)) = (lines.byte(first.span.start), lines.byte(last.span.end)) else {
                return unchanged();
            };
            if let Some(text) = query.get(start..end)
                && text.parse::<Condition>().is_ok()
            {
                marked.push(Marked { file: file.clone(), text: text.to_owned() });
                places.push(start..end);
            }
        }
    }
    let mut text = String::new();
    let mut at = 0;
    for (number, place) in places.iter().enumerate() {
        text.push_str(&query[at..place.start]);
        let mark = format!("${number}");
        let blanks = query[place.clone()].chars().map(|letter| if letter == '\n' { '\n' } else { ' ' });
        text.push_str(&mark);
        text.extend(blanks.skip(mark.len()));
        at = place.end;
    }
    text.push_str(&query[at..]);
    (text, marked)
}

/// The conditions of selects that read one file: the file, and the tokens of the condition.
fn wheres(tokens: &[TokenWithSpan]) -> Vec<(String, Range<usize>)> {
    const ENDS: [Keyword; 11] = [
        Keyword::GROUP,
        Keyword::ORDER,
        Keyword::LIMIT,
        Keyword::HAVING,
        Keyword::UNION,
        Keyword::EXCEPT,
        Keyword::INTERSECT,
        Keyword::OFFSET,
        Keyword::FETCH,
        Keyword::WINDOW,
        Keyword::QUALIFY,
    ];
    let mut found = Vec::new();
    let mut selects = vec![Select::default()];
    let end = |select: &mut Select, at: usize, found: &mut Vec<(String, Range<usize>)>| {
        let Select { from, condition } = std::mem::take(select);
        if let (Some(file), Some(start)) = (from.as_deref().and_then(file), condition) {
            found.push((file, start..at));
        }
    };
    for (at, token) in tokens.iter().enumerate() {
        let Some(select) = selects.last_mut() else {
            return found;
        };
        match &token.token {
            Token::LParen => {
                if let Some(from) = select.from.as_mut().filter(|_| select.condition.is_none()) {
                    from.push(Token::LParen);
                }
                selects.push(Select::default());
            }
            Token::RParen => {
                end(select, at, &mut found);
                selects.pop();
            }
            Token::SemiColon => end(select, at, &mut found),
            Token::Word(word) if word.keyword == Keyword::SELECT => *select = Select::default(),
            Token::Word(word) if ENDS.contains(&word.keyword) => end(select, at, &mut found),
            Token::Word(word) if word.keyword == Keyword::WHERE && select.condition.is_none() => {
                select.condition = Some(at + 1);
            }
            Token::Word(word) if word.keyword == Keyword::FROM && select.from.is_none() => {
                select.from = Some(Vec::new());
            }
            token => {
                if let Some(from) = select.from.as_mut().filter(|_| select.condition.is_none()) {
                    from.push(token.clone());
                }
            }
        }
    }
    if let [select] = &mut selects[..] {
        end(select, tokens.len(), &mut found);
    }
    // In the order of the text: those of inner selects end first.
    found.sort_by_key(|(_, condition)| condition.start);
    found
}

/// The file that a select reads, if it reads nothing else: a name in quotes, and its alias, if it has one.
fn file(from: &[Token]) -> Option<String> {
    let (file, rest) = from.split_first()?;
    let file = match file {
        Token::SingleQuotedString(name) => name.clone(),
        Token::Word(word) if word.quote_style.is_some() => word.value.clone(),
        _ => return None,
    };
    let is_as = |token: &Token| matches!(token, Token::Word(word) if word.keyword == Keyword::AS);
    let rest = if rest.first().is_some_and(is_as) { &rest[1..] } else { rest };
    let is_name = |token: &Token| matches!(token, Token::Word(word) if word.keyword == Keyword::NoKeyword || word.quote_style.is_some());
    match rest {
        [] => Some(file),
        [name] if is_name(name) => Some(file),
        _ => None,
    }
}

/// The parts connected by `and`.
fn parts(tokens: &[TokenWithSpan], condition: Range<usize>) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    let (mut depth, mut betweens, mut start) = (0_u32, 0_u32, condition.start);
    for at in condition.clone() {
        match &tokens[at].token {
            Token::LParen => depth += 1,
            Token::RParen => depth = depth.saturating_sub(1),
            Token::Word(word) => match word.keyword {
                Keyword::CASE => depth += 1,
                Keyword::END => depth = depth.saturating_sub(1),
                Keyword::OR if depth == 0 => return vec![condition],
                Keyword::BETWEEN if depth == 0 => betweens += 1,
                Keyword::AND if depth == 0 && betweens > 0 => betweens -= 1,
                Keyword::AND if depth == 0 => {
                    parts.push(start..at);
                    start = at + 1;
                }
                _ => {}
            },
            _ => {}
        }
    }
    parts.push(start..condition.end);
    parts
}

/// Puts calls, or the texts themselves, in the place of marks; `is_of_positions` says of each mark whether its file has
/// positions.
pub(in crate::sql) fn unmark(statement: &mut Parsed, marked: &[Marked], is_of_positions: &[bool]) -> Result<()> {
    let statement = match statement {
        Parsed::Statement(statement) => statement,
        Parsed::Explain(explain) => return unmark(&mut explain.statement, marked, is_of_positions),
        _ => return Ok(()),
    };
    let expression = |number: usize, place: Location| -> Option<Result<ast::Expr>> {
        let (Marked { text, .. }, &is_ours) = (marked.get(number)?, is_of_positions.get(number)?);
        // Its places are those of the mark.
        let before = "\n".repeat(usize::try_from(place.line).ok()?.saturating_sub(1));
        let before = before + &" ".repeat(usize::try_from(place.column).ok()?.saturating_sub(1));
        let text = if is_ours {
            format!("{before}{NAME}(\"index\", '{}')", text.replace('\'', "''"))
        } else {
            format!("{before}{text}")
        };
        let parsed = Parser::new(&GenericDialect {}).try_with_sql(&text).and_then(|mut parser| parser.parse_expr());
        let parsed = parsed.map(|parsed| ast::Expr::Nested(Box::new(parsed)));
        let lines = Lines::of(&text);
        let numbered = parsed.map(|mut parsed| {
            change_expressions(&mut parsed, &mut |expression| {
                mark_number(expression, &lines);
                plain_number(expression);
            });
            parsed
        });
        Some(numbered.map_err(DataFusionError::from))
    };
    let mut failure = None;
    let _ = walk(&mut **statement, &mut |node| {
        let Node::Behind(found) = node else { return ControlFlow::Continue(()) };
        let number = match found {
            ast::Expr::Value(value) => match &value.value {
                ast::Value::Placeholder(mark) => mark
                    .strip_prefix('$')
                    .and_then(|number| number.parse().ok())
                    .map(|number: usize| (number, value.span.start)),
                _ => None,
            },
            _ => None,
        };
        match number.and_then(|(number, place)| expression(number, place)) {
            Some(Ok(expression)) => *found = expression,
            Some(Err(error)) => {
                failure = Some(error);
                return ControlFlow::Break(());
            }
            None => {}
        }
        ControlFlow::Continue(())
    });
    failure.map_or(Ok(()), Err)
}

/// The name of [`ConditionFunction`].
pub(in crate::sql) const NAME: &str = "lanefish_condition";

/// A condition in the language of `--where`, as a filter for scans. Its arguments are a column of the table, so that
/// the call is not a constant, and the text. Only scans can evaluate it.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(in crate::sql) struct ConditionFunction(Signature);

impl ConditionFunction {
    pub(in crate::sql) fn new() -> Self {
        Self(Signature::any(2, Volatility::Immutable))
    }
}

impl ScalarUDFImpl for ConditionFunction {
    fn name(&self) -> &str {
        NAME
    }
    fn signature(&self) -> &Signature {
        &self.0
    }
    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Boolean)
    }
    fn invoke_with_args(&self, _: ScalarFunctionArgs) -> Result<ColumnarValue> {
        plan_err!("{NAME} is a filter of scans")
    }
}

/// The condition of a call.
pub(in crate::sql) fn called(filter: &Expr) -> Option<Condition> {
    called_text(filter)?.parse().ok()
}

/// The text of the condition of a call.
pub(in crate::sql) fn called_text(filter: &Expr) -> Option<&str> {
    let Expr::ScalarFunction(call) = filter else {
        return None;
    };
    let [_, Expr::Literal(ScalarValue::Utf8(Some(text)) | ScalarValue::Utf8View(Some(text)), _)] = &call.args[..]
    else {
        return None;
    };
    (call.name() == NAME).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sql::engine::query_tokens;

    fn marked(query: &str) -> (String, Vec<String>) {
        let (text, marked) = mark(query, query_tokens::of(query));
        (text, marked.into_iter().map(|Marked { file, text }| format!("{file}: {text}")).collect())
    }

    #[test]
    fn conditions_of_files_are_marked() {
        let (text, found) =
            marked("select 1 from 'a.epd' where ply between 3 and 5 and lower(eco) = 'x'\nand on('e4', 'Pp') limit 3");
        assert_eq!(
            text.split_whitespace().collect::<Vec<_>>().join(" "),
            "select 1 from 'a.epd' where $0 and lower(eco) = 'x' and $1 limit 3"
        );
        assert_eq!(text.lines().count(), 2);
        assert_eq!(found, ["a.epd: ply between 3 and 5", "a.epd: on('e4', 'Pp')"]);
        for (query, expected) in [
            ("select 1 from 'a' as t where in_check or ply = 0x1F", &["a: in_check or ply = 0x1F"][..]),
            ("select 1 from \"a.b\" x where (in_check and ply > 1)", &["a.b: (in_check and ply > 1)"]),
            (
                "select (select max(ply) from 'b' where stm = 'w') from 'a' where case when ply > 1 and in_check then true end",
                &["b: stm = 'w'", "a: case when ply > 1 and in_check then true end"],
            ),
            ("with t as (select * from 'a' where ply > 1) select * from t where ply > 2", &["a: ply > 1"]),
            ("select 1 from 'a', 'b' where in_check", &[]),
            ("select 1 from 'a' join 'b' using (key) where in_check", &[]),
            ("select 1 from t where in_check", &[]),
            ("select 1 from plain('a') where in_check", &[]),
            ("select 1 from 'a' t where t.in_check", &[]),
            ("select 1 from 'a' where in_check = $1", &[]),
            ("select 1 from 'a' where ply in (select 1)", &[]),
            ("select 1 from 'a' where", &[]),
            ("select 1 from 'a' where )", &[]),
            ("select 1 from 'ä' where site = 'é' and in_check", &["ä: site = 'é'", "ä: in_check"]),
        ] {
            assert_eq!(marked(query).1, expected, "{query}");
        }
    }
}
