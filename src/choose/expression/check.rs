//! The check of an expression: whether its columns and functions exist, and whether types fit.

use super::error::ExpressionError;
use super::evaluate::Evaluated;
use super::game_condition_columns::{OF_LAST_POSITIONS, column_of_game};
use super::parse::{Binary, Form, Is, Tree, Unary};
use super::piece_patterns::{On, Pattern};
use super::same_position::{SamePosition, position_of};
use super::typed_operations::{
    Arithmetic, Comparison, Curve, Function, Like, LikePart, Node, RealFunction, Scope, Type,
};
use crate::games::Date;
use crate::table::predicate::Test;
use crate::table::{ChosenColumn, ClosedValues, OF_GAMES, wrong_in_family};
use std::sync::Arc;

/// The plan for a tree, and its type; its columns are added to the scope.
pub(super) fn check(text: &str, tree: &Tree, scope: &mut Scope) -> Result<(Node, Type)> {
    Check { text, scope, copies: 0 }.expression(tree)
}

/// Turns a parsed tree into a plan.
struct Check<'a> {
    text: &'a str,
    scope: &'a mut Scope,
    /// Number of operations in values that occur in the plan more than once.
    copies: usize,
}

/// Most of them.
const MOST_COPIES: usize = 1 << 18;

/// All functions.
pub(super) const FUNCTIONS: [&str; 18] = [
    "abs",
    "coalesce",
    "contains",
    "exp",
    "greatest",
    "interp",
    "least",
    "len",
    "ln",
    "matches",
    "on",
    "popcount",
    "power",
    "round",
    "same_position",
    "sqrt",
    "uniform",
    "xor",
];

type Checked = (Node, Type);
type Result<T> = std::result::Result<T, ExpressionError>;

impl Check<'_> {
    fn wrong<T>(&self, at: &Tree, message: impl Into<String>) -> Result<T> {
        Err(ExpressionError::new(self.text, at.place.clone(), message))
    }

    /// An expression of any type.
    fn expression(&mut self, tree: &Tree) -> Result<Checked> {
        let condition = |node| (node, Type::Boolean);
        Ok(match &tree.form {
            Form::Name(name) => self.column(tree, name)?,
            Form::Integer(number) => match i64::try_from(*number) {
                Ok(number) => (Node::Integer(number), Type::Integer),
                Err(_) => (Node::Bits(*number), Type::Bits),
            },
            Form::Bits(number) => (Node::Bits(*number), Type::Bits),
            Form::Number(number) => (Node::Constant(*number), Type::Real),
            Form::Text(text) => (Node::Text(text.as_str().into()), Type::Text),
            Form::Boolean(value) => condition(Node::Boolean(*value)),
            Form::Null => (Node::Null, Type::Null),
            Form::Unary(Unary::Not, inner) => condition(not(self.condition(inner)?)),
            Form::Unary(Unary::Plus, inner) => self.number(inner)?,
            Form::Unary(Unary::Minus, inner) => self.negated(inner)?,
            Form::Binary(operator, sides) => self.operation(tree, *operator, sides)?,
            Form::And(nodes) => {
                let nodes = nodes.iter().map(|node| self.condition(node));
                condition(Node::And(nodes.collect::<Result<_>>()?))
            }
            Form::Or(nodes) => {
                let nodes = nodes.iter().map(|node| self.condition(node));
                condition(Node::Or(nodes.collect::<Result<_>>()?))
            }
            Form::Is { what, is, negated } => {
                let node = match is {
                    Is::Null => self.is_null(what)?,
                    Is::True => is_true(self.condition(what)?),
                    Is::False => is_true(not(self.condition(what)?)),
                    Is::Unknown => Node::IsNull(Box::new(self.condition(what)?)),
                };
                condition(not_if(*negated, node))
            }
            Form::Distinct { sides, negated } => condition(not_if(*negated, self.distinct(tree, sides)?)),
            Form::Between { operands, negated } => {
                let [value, low, high] = &**operands;
                let (value, low, high) = (self.expression(value)?, self.expression(low)?, self.expression(high)?);
                let from = self.compared(tree, Comparison::GreaterOrEqual, value.clone(), low)?;
                let to = self.compared(tree, Comparison::LessOrEqual, value, high)?;
                let both = match (from, to) {
                    (Node::Test(place, Test::Numbers(from)), Node::Test(other, Test::Numbers(to)))
                        if place == other =>
                    {
                        Node::Test(place, Test::Numbers(common(&from, &to)))
                    }
                    (from, to) => Node::And(vec![from, to]),
                };
                condition(not_if(*negated, both))
            }
            Form::In { what, list, negated } => {
                let value = self.expression(what)?;
                condition(not_if(*negated, self.is_in(tree, &value, list)?))
            }
            Form::Like { sides, escape, ignores_case, negated } => {
                condition(not_if(*negated, self.like(sides, *escape, *ignores_case)?))
            }
            Form::Case { operand, cases, otherwise } => {
                self.case(tree, operand.as_deref(), cases, otherwise.as_deref())?
            }
            Form::Call(name, values) => self.call(tree, name, values)?,
            Form::Item(parts) => {
                let [list, place] = &**parts;
                let (column, kind) = self.list(list)?;
                let place = match self.expression(place)? {
                    (place, Type::Integer | Type::Null) => place,
                    (_, other) => {
                        return self
                            .wrong(place, format!("a place in a list is an integer, and this is {}", other.name()));
                    }
                };
                (Node::Item(kind, column, Box::new(place)), kind)
            }
        })
    }

    fn column(&mut self, tree: &Tree, name: &str) -> Result<Checked> {
        let not_of_games = || format!("`{}` is not a column of games: {}", short(name), columns_of_games());
        if let Some(place) = self.scope.named(name) {
            let node = Node::Named(place);
            if self.scope.of_games && !self.scope.is_of_games(&node) {
                return self.wrong(tree, not_of_games());
            }
            return Ok((node, self.scope.named[place].kind));
        }
        // A tag has the same name as in files.
        let column = if self.scope.of_games { column_of_game(name) } else { self.scope.column(name) };
        let lower = || name.to_ascii_lowercase();
        let column =
            column.or_else(|| if self.scope.of_games { column_of_game(&lower()) } else { self.scope.column(&lower()) });
        if self.scope.of_games && column.is_none() {
            return self.wrong(tree, not_of_games());
        }
        let Some(column) = column else {
            let why = wrong_in_family(name);
            if !why.is_empty() {
                return self.wrong(tree, format!("there is no column `{}`{why}", short(name)));
            }
            if self.text[tree.place.clone()].starts_with('"') {
                let name = short(name);
                let what = format!("`{name}` is not a column; texts stand in single quotes, such as '{name}'");
                return self.wrong(tree, what);
            }
            return Err(ExpressionError::unknown(self.text, tree.place.clone(), name));
        };
        match Type::of(column.kind()) {
            Some(kind) => Ok((Node::Column(self.scope.place(column)), kind)),
            None if Type::of_items(column.kind()).is_some() => {
                let name = &self.text[tree.place.clone()];
                self.wrong(
                    tree,
                    format!("`{name}` is a list: there are len({name}), {name}[1] and contains({name}, value)"),
                )
            }
            None => self.wrong(tree, format!("`{name}` cannot be compared")),
        }
    }

    /// A column of lists, and the type of their items.
    fn list(&mut self, tree: &Tree) -> Result<(usize, Type)> {
        let Form::Name(name) = &tree.form else { return self.wrong(tree, "a column of lists is needed") };
        let named = |name: &str| ChosenColumn::named(name).filter(|_| self.scope.named(name).is_none());
        let column = named(name).or_else(|| named(&name.to_ascii_lowercase()));
        match column.and_then(|column| Some((Type::of_items(column.kind())?, column))) {
            Some(_) if self.scope.of_games => {
                self.wrong(tree, format!("`{}` is not a column of games: {}", short(name), columns_of_games()))
            }
            Some((kind, column)) => Ok((self.scope.place(column), kind)),
            None => {
                let (_, kind) = self.expression(tree)?;
                self.wrong(tree, format!("a column of lists is needed, and this is {}", kind.name()))
            }
        }
    }

    fn condition(&mut self, expression: &Tree) -> Result<Node> {
        match self.expression(expression)? {
            (node, Type::Boolean | Type::Null) => Ok(node),
            (_, kind) => self.wrong(expression, format!("a condition is needed, and this is {}", kind.name())),
        }
    }

    fn number(&mut self, expression: &Tree) -> Result<Checked> {
        match self.expression(expression)? {
            (node, kind) if kind.is_number() => Ok((node, kind)),
            (_, kind) => self.wrong(expression, format!("a number is needed, and this is {}", kind.name())),
        }
    }

    fn negated(&mut self, expression: &Tree) -> Result<Checked> {
        // The smallest integer has no positive counterpart.
        if let Form::Integer(number) = expression.form
            && let Some(number) = 0_i64.checked_sub_unsigned(number)
        {
            return Ok((Node::Integer(number), Type::Integer));
        }
        let (node, kind) = self.number(expression)?;
        let (node, kind) = match kind {
            Type::Bits => (convert(node, Type::Bits, Type::Integer), Type::Integer),
            kind => (node, kind),
        };
        Ok((Node::Negate(kind, Box::new(node)), kind))
    }

    fn is_null(&mut self, expression: &Tree) -> Result<Node> {
        let (node, _) = self.expression(expression)?;
        Ok(match node {
            // As in tables, a date without a day is null.
            Node::Column(place) if self.scope.is_date(place) => Node::IsNull(Box::new(Node::Days(place))),
            Node::Column(place) => Node::Test(place, Test::Missing),
            node => Node::IsNull(Box::new(node)),
        })
    }

    fn distinct(&mut self, all: &Tree, sides: &[Tree; 2]) -> Result<Node> {
        let [left, right] = sides;
        let (left, right) = (self.expression(left)?, self.expression(right)?);
        let nulls = [&left, &right].map(|(node, _)| Node::IsNull(Box::new(node.clone())));
        let equal = self.compared(all, Comparison::Equal, left, right)?;
        let [left, right] = nulls;
        // Equal, or both null.
        Ok(not(Node::Or(vec![is_true(equal), Node::And(vec![left, right])])))
    }

    fn operation(&mut self, all: &Tree, operator: Binary, sides: &[Tree; 2]) -> Result<Checked> {
        let operation = match operator {
            Binary::Equal => return self.comparison(all, Comparison::Equal, sides),
            Binary::Unequal => return self.comparison(all, Comparison::Unequal, sides),
            Binary::Less => return self.comparison(all, Comparison::Less, sides),
            Binary::LessOrEqual => return self.comparison(all, Comparison::LessOrEqual, sides),
            Binary::Greater => return self.comparison(all, Comparison::Greater, sides),
            Binary::GreaterOrEqual => return self.comparison(all, Comparison::GreaterOrEqual, sides),
            Binary::Add => Arithmetic::Add,
            Binary::Subtract => Arithmetic::Subtract,
            Binary::Multiply => Arithmetic::Multiply,
            Binary::Divide => Arithmetic::Divide,
            Binary::Remainder => Arithmetic::Remainder,
            Binary::BitAnd => Arithmetic::And,
            Binary::BitOr => Arithmetic::Or,
            Binary::ShiftLeft => Arithmetic::ShiftLeft,
            Binary::ShiftRight => Arithmetic::ShiftRight,
        };
        let [left, right] = sides;
        let (first, first_kind) = self.number(left)?;
        let (second, second_kind) = self.number(right)?;
        let is_shift = matches!(operation, Arithmetic::ShiftLeft | Arithmetic::ShiftRight);
        let is_of_bits = is_shift || matches!(operation, Arithmetic::And | Arithmetic::Or);
        if is_of_bits && [first_kind, second_kind].contains(&Type::Real) {
            return self.wrong(all, "`&`, `|`, `<<` and `>>` are for integers and sets of squares");
        }
        // The number of places is an integer whatever is shifted.
        let (kind, second_as) = if is_shift {
            (first_kind, Type::Integer)
        } else {
            let kind = first_kind.joined(second_kind).unwrap_or(Type::Real);
            (kind, kind)
        };
        let operands = [convert(first, first_kind, kind), convert(second, second_kind, second_as)];
        Ok((Node::Arithmetic(operation, kind, Box::new(operands)), kind))
    }

    fn comparison(&mut self, all: &Tree, comparison: Comparison, sides: &[Tree; 2]) -> Result<Checked> {
        let [left, right] = sides;
        let first = self.expression(left)?;
        let second = self.expression(right).map_err(|error| self.without_quotes(&first, right, error))?;
        Ok((self.compared(all, comparison, first, second)?, Type::Boolean))
    }

    /// The error for a name that is compared with a text and is no column: texts stand in quotes.
    fn without_quotes(&self, compared: &Checked, name: &Tree, error: ExpressionError) -> ExpressionError {
        let Form::Name(text) = &name.form else { return error };
        let of_column = self.column_in(&compared.0).and_then(|column| ClosedValues::of(&column));
        let meant = of_column.filter(|values| !values.contains(text)).and_then(|values| values.nearest(text));
        let text = short(meant.as_ref().unwrap_or(text));
        match (compared.1, error.unknown_column()) {
            (Type::Text, Some(_)) => error.with(&format!("; texts stand in single quotes: '{text}'")),
            _ => error,
        }
    }

    /// Compares two values.
    fn compared(
        &mut self,
        all: &Tree,
        comparison: Comparison,
        (left, left_kind): Checked,
        (right, right_kind): Checked,
    ) -> Result<Node> {
        // Flags are also numbers: 0 and 1.
        let as_number = |node: Node, kind: Type, other: Type| match (kind, other) {
            (Type::Boolean, Type::Integer | Type::Bits | Type::Real) => {
                (convert(node, Type::Boolean, Type::Integer), Type::Integer)
            }
            _ => (node, kind),
        };
        if left_kind == Type::Text && right_kind == Type::Text {
            let sides = match (&left, &right) {
                (Node::Column(date), Node::Text(day)) if self.scope.is_date(*date) => {
                    Some([Node::Days(*date), self.day(all, day)?])
                }
                (Node::Text(day), Node::Column(date)) if self.scope.is_date(*date) => {
                    Some([self.day(all, day)?, Node::Days(*date)])
                }
                _ => None,
            };
            if let Some(sides) = sides {
                return Ok(Node::Compare(comparison, Type::Integer, Box::new(sides)));
            }
            if matches!(comparison, Comparison::Equal | Comparison::Unequal)
                && let (node, Node::Text(text)) | (Node::Text(text), node) = (&left, &right)
                && let Some(column) = self.column_in(node)
            {
                self.check_value(all, &column, text)?;
            }
        }
        let is_whole = |kind| matches!(kind, Type::Boolean | Type::Integer | Type::Bits);
        let fits = left_kind == right_kind || is_whole(left_kind) && is_whole(right_kind);
        if fits
            && let Some(test) = tested(comparison, &left, &right)
            && !self.scope.is_signed(&test)
        {
            return Ok(test);
        }
        let ((left, left_kind), (right, right_kind)) =
            (as_number(left, left_kind, right_kind), as_number(right, right_kind, left_kind));
        let kind = match (left_kind, right_kind) {
            // They are compared by value, and neither is converted.
            (Type::Integer, Type::Bits) | (Type::Bits, Type::Integer) => {
                let sides = [(left, left_kind), (right, right_kind)];
                return Ok(mixed(comparison, sides));
            }
            _ => left_kind.joined(right_kind),
        };
        match kind {
            Some(kind) => {
                let operands = [convert(left, left_kind, kind), convert(right, right_kind, kind)];
                Ok(Node::Compare(comparison, kind, Box::new(operands)))
            }
            None => {
                let any_text = [left_kind, right_kind].contains(&Type::Text);
                let quotes = if any_text { "; texts stand in single quotes" } else { "" };
                let [left, right] = [left_kind.name(), right_kind.name()];
                self.wrong(all, format!("{left} cannot be compared with {right}{quotes}"))
            }
        }
    }

    /// The day with which dates are compared, in days since 1970-01-01.
    fn day(&self, all: &Tree, text: &str) -> Result<Node> {
        match Date::parse(text.as_bytes()).and_then(Date::days) {
            Some(days) => Ok(Node::Integer(days.into())),
            None => {
                self.wrong(all, format!("dates are compared with a day such as '2025-05-31', not '{}'", short(text)))
            }
        }
    }

    /// The column that a plan stands for, itself or by a name.
    fn column_in(&self, node: &Node) -> Option<String> {
        match node {
            Node::Column(place) => Some(self.scope.columns[*place].name().to_owned()),
            // A name stands for a plan in which there are only names before it.
            Node::Named(place) => self.column_in(&self.scope.named[*place].node),
            _ => None,
        }
    }

    /// Checks that a column can have a value with which it is compared.
    fn check_value(&mut self, all: &Tree, column: &str, text: &str) -> Result<()> {
        if column == "fen" {
            return self.check_fen(all, text);
        }
        match ClosedValues::of(column).filter(|values| !values.contains(text)) {
            None => Ok(()),
            Some(values) => self.never(all, column, text, values.nearest(text), &values.description()),
        }
    }

    /// The error for a value that a column never has.
    fn never<T>(&self, all: &Tree, column: &str, text: &str, meant: Option<String>, values: &str) -> Result<T> {
        let is_unknown = column == "result" && matches!(text, "*" | "" | "unknown");
        let meant = match meant {
            _ if is_unknown => format!("; where it is unknown, `{column} is null`"),
            Some(meant) => format!("; did you mean '{meant}'?"),
            None => String::new(),
        };
        let message = format!("`{column}` is never '{}'{meant} (its values: {values})", short(text));
        Err(ExpressionError::new(self.text, self.literal_in(all, text), message))
    }

    /// The place of a literal in a comparison.
    fn literal_in(&self, all: &Tree, text: &str) -> std::ops::Range<usize> {
        let literal = format!("'{}'", text.replace('\'', "''"));
        match self.text[all.place.clone()].find(&literal) {
            Some(at) => all.place.start + at..all.place.start + at + literal.len(),
            None => all.place.clone(),
        }
    }

    /// Checks a text with which `fen` is compared: it must be a FEN, and is probably not meant if it is not written as
    /// lanefish writes it.
    fn check_fen(&mut self, all: &Tree, text: &str) -> Result<()> {
        let position = match position_of(text) {
            Ok(position) => position,
            Err(reason) => {
                let cure = match text.trim().split('/').count() == 8 && !text.trim().contains(' ') {
                    true => "matches('BOARD', 'exact') compares boards alone",
                    false => "same_position('FEN') takes FENs in any spelling",
                };
                let message = format!("`fen` is never this text: {reason}; {cure}");
                return Err(ExpressionError::new(self.text, self.literal_in(all, text), message));
            }
        };
        let own = position.to_string();
        const BEGIN: &str = "`fen` is compared as a text";
        if own != text && !self.scope.notes.iter().any(|note| note.starts_with(BEGIN)) {
            let function =
                if self.scope.of_games { "--having \"same_position('FEN')\"" } else { "same_position('FEN')" };
            self.scope.notes.push(format!(
                "{BEGIN}, and lanefish writes this position as '{own}'; {function} is true for it however it is written, \
                 whatever the move counters are"
            ));
        }
        Ok(())
    }

    /// Copies a value. The number of copies is limited, so that plans grow no faster than texts.
    fn copied(&mut self, all: &Tree, value: &Checked) -> Result<Checked> {
        self.copies += value.0.len();
        if self.copies > MOST_COPIES {
            self.wrong(all, "the expression is too long: a value is compared with too many others")
        } else {
            Ok(value.clone())
        }
    }

    fn is_in(&mut self, all: &Tree, value: &Checked, list: &[Tree]) -> Result<Node> {
        let mut nodes = Vec::new();
        let mut numbers = Vec::new();
        let mut words = Vec::new();
        let mut tested = None;
        for item in list {
            let item = self.expression(item)?;
            let value = self.copied(all, value)?;
            match self.compared(all, Comparison::Equal, value, item)? {
                // The value may be a constant, and each item another column.
                Node::Test(place, Test::Numbers(ranges)) if *tested.get_or_insert(place) == place => {
                    numbers.extend(ranges);
                }
                Node::Test(place, Test::In(texts)) if *tested.get_or_insert(place) == place => {
                    words.extend(texts);
                }
                node => nodes.push(node),
            }
        }
        if let Some(place) = tested {
            if !numbers.is_empty() {
                nodes.push(Node::Test(place, Test::Numbers(numbers)));
            }
            if !words.is_empty() {
                nodes.push(Node::Test(place, Test::In(words)));
            }
        }
        Ok(match nodes.len() {
            1 => nodes.swap_remove(0),
            _ => Node::Or(nodes),
        })
    }

    fn like(&mut self, sides: &[Tree; 2], escape: Option<char>, ignores_case: bool) -> Result<Node> {
        let [value, pattern] = sides;
        let (node, kind) = self.expression(value)?;
        if !matches!(kind, Type::Text | Type::Null) {
            return self.wrong(value, format!("`like` is for texts, and this is {}", kind.name()));
        }
        let Form::Text(text) = &pattern.form else {
            return self.wrong(pattern, "the pattern of `like` is a text in single quotes, such as 'Sicilian%'");
        };
        let escape = escape.unwrap_or('\\');
        let mut parts = Vec::new();
        let mut letters = text.chars();
        while let Some(letter) = letters.next() {
            parts.push(match letter {
                letter if letter == escape => LikePart::Letter(letters.next().unwrap_or(letter)),
                '_' => LikePart::Any,
                '%' if parts.last() == Some(&LikePart::Many) => continue,
                '%' => LikePart::Many,
                letter => LikePart::Letter(letter),
            });
        }
        // Without wildcards it is a comparison.
        let letters = parts.iter().map(|part| match part {
            LikePart::Letter(letter) => Some(*letter),
            LikePart::Any | LikePart::Many => None,
        });
        if let Some(whole) = letters.collect::<Option<String>>()
            && let Some(column) = self.column_in(&node)
            && let Some(values) = ClosedValues::of(&column)
        {
            let fits = if ignores_case { values.contains_in_any_case(&whole) } else { values.contains(&whole) };
            if !fits {
                return self.never(pattern, &column, &whole, values.nearest(&whole), &values.description());
            }
        }
        Ok(Node::Like(Box::new(node), Like { parts, ignores_case }))
    }

    fn case(
        &mut self,
        all: &Tree,
        operand: Option<&Tree>,
        conditions: &[(Tree, Tree)],
        otherwise: Option<&Tree>,
    ) -> Result<Checked> {
        let operand = operand.map(|operand| self.expression(operand)).transpose()?;
        let mut cases = Vec::new();
        let mut kind = Type::Null;
        for (condition, result) in conditions {
            let when = match &operand {
                None => self.condition(condition)?,
                Some(operand) => {
                    let value = self.expression(condition)?;
                    let operand = self.copied(all, operand)?;
                    self.compared(all, Comparison::Equal, operand, value)?
                }
            };
            let then = self.expression(result)?;
            kind = self.joined(result, kind, then.1)?;
            cases.push((when, then));
        }
        let otherwise = match otherwise {
            Some(otherwise) => {
                let value = self.expression(otherwise)?;
                kind = self.joined(otherwise, kind, value.1)?;
                value
            }
            None => (Node::Null, Type::Null),
        };
        let cases = cases.into_iter().map(|(when, (node, own))| (when, convert(node, own, kind)));
        Ok((Node::Case(kind, cases.collect(), Box::new(convert(otherwise.0, otherwise.1, kind))), kind))
    }

    fn joined(&self, at: &Tree, one: Type, other: Type) -> Result<Type> {
        match one.joined(other) {
            Some(kind) => Ok(kind),
            None => self.wrong(at, format!("this is {}, and what comes before it is {}", other.name(), one.name())),
        }
    }

    fn call(&mut self, call: &Tree, name: &str, values: &[Tree]) -> Result<Checked> {
        let takes = |count: usize| -> Result<()> {
            if values.len() == count { Ok(()) } else { self.wrong(call, format!("`{name}` takes {}", counted(count))) }
        };
        if self.scope.of_games && matches!(name, "matches" | "same_position" | "on") {
            return self.wrong(call, format!("`{name}` looks at a position, not at a game (`compute --columns site` lists the games of positions): {}", columns_of_games()));
        }
        match name {
            "abs" => {
                takes(1)?;
                let (node, kind) = self.number(&values[0])?;
                Ok((Node::Absolute(kind, Box::new(node)), kind))
            }
            "popcount" => {
                takes(1)?;
                let (node, kind) = self.bits(name, &values[0])?;
                Ok((Node::Count(Box::new(convert(node, kind, Type::Bits))), Type::Integer))
            }
            "len" => {
                takes(1)?;
                let (column, _) = self.list(&values[0])?;
                Ok((Node::Length(column), Type::Integer))
            }
            "contains" => {
                takes(2)?;
                let (column, kind) = self.list(&values[0])?;
                let (value, own) = self.expression(&values[1])?;
                let (value, own) = match (own, kind) {
                    (Type::Integer | Type::Bits, Type::Integer | Type::Bits) => (convert(value, own, kind), kind),
                    _ => (value, own),
                };
                if own != kind && own != Type::Null {
                    let [items, own] = [kind.name(), own.name()];
                    return self.wrong(&values[1], format!("each item of the list is {items}, and this is {own}"));
                }
                Ok((Node::Contains(kind, column, Box::new(value)), Type::Boolean))
            }
            "xor" => {
                takes(2)?;
                let (first, first_kind) = self.bits(name, &values[0])?;
                let (second, second_kind) = self.bits(name, &values[1])?;
                let kind = first_kind.joined(second_kind).unwrap_or(Type::Bits);
                let operands = [convert(first, first_kind, kind), convert(second, second_kind, kind)];
                Ok((Node::Arithmetic(Arithmetic::Xor, kind, Box::new(operands)), kind))
            }
            "exp" | "ln" | "sqrt" | "round" => {
                takes(1)?;
                let function = match name {
                    "exp" => RealFunction::Exp,
                    "ln" => RealFunction::Ln,
                    "sqrt" => RealFunction::Sqrt,
                    _ => RealFunction::Round,
                };
                self.real(function, values)
            }
            "power" | "pow" => {
                takes(2)?;
                self.real(RealFunction::Power, values)
            }
            "interp" => self.interpolated(call, values),
            "uniform" => {
                if values.is_empty() {
                    return self.wrong(call, "`uniform` takes the values to be hashed, such as `uniform(index)`");
                }
                let values = values.iter().map(|value| self.expression(value));
                let operands = values.map(|value| value.map(|(node, kind)| (kind, node))).collect::<Result<_>>()?;
                Ok((Node::Uniform(operands), Type::Real))
            }
            "least" => self.function(call, Function::Least, values),
            "greatest" => self.function(call, Function::Greatest, values),
            "coalesce" => self.function(call, Function::Coalesce, values),
            "matches" => {
                if !(1..=2).contains(&values.len()) {
                    return self.wrong(call, "`matches` takes a pattern, and words if need be");
                }
                let pattern = self.literal(name, &values[0])?;
                let words = values.get(1).map(|words| self.literal(name, words)).transpose()?.unwrap_or_default();
                match Pattern::parse(&pattern, &words) {
                    Ok(pattern) => Ok((Node::Matches(pattern), Type::Boolean)),
                    Err(message) => self.wrong(call, message),
                }
            }
            "same_position" => {
                takes(1)?;
                let fen = self.literal(name, &values[0])?;
                match SamePosition::parse(&fen) {
                    Ok(position) => Ok((Node::SamePosition(position), Type::Boolean)),
                    Err(message) => self.wrong(call, message),
                }
            }
            "on" => {
                takes(2)?;
                let square = self.literal(name, &values[0])?;
                let pieces = self.literal(name, &values[1])?;
                match On::parse(&square, &pieces) {
                    Ok(on) => Ok((Node::On(on), Type::Boolean)),
                    Err(message) => self.wrong(call, message),
                }
            }
            _ => {
                let name = short(name);
                let known = FUNCTIONS.join(", ");
                self.wrong(call, format!("there is no function `{name}`: there are {known}"))
            }
        }
    }

    /// A function of real numbers.
    fn real(&mut self, function: RealFunction, values: &[Tree]) -> Result<Checked> {
        let mut nodes = Vec::new();
        for value in values {
            let (node, kind) = self.number(value)?;
            nodes.push(convert(node, kind, Type::Real));
        }
        Ok((Node::Real(function, nodes), Type::Real))
    }

    fn interpolated(&mut self, call: &Tree, values: &[Tree]) -> Result<Checked> {
        let Some((x, rest)) = values.split_first().filter(|(_, rest)| !rest.is_empty() && rest.len().is_multiple_of(2))
        else {
            return self
                .wrong(call, "`interp` takes a value, and then x and y of each point: interp(ply, 0, 0.1, 20, 1)");
        };
        let mut points: Vec<(f64, f64)> = Vec::new();
        for point in rest.chunks(2) {
            let (at, y) = (self.constant(&point[0])?, self.constant(&point[1])?);
            if points.last().is_some_and(|&(before, _)| at <= before) {
                return self.wrong(&point[0], "each point of `interp` has a greater x than the one before");
            }
            points.push((at, y));
        }
        self.real(RealFunction::Interpolate(Curve(points.into())), std::slice::from_ref(x))
    }

    /// A number that is the same for all records.
    fn constant(&mut self, value: &Tree) -> Result<f64> {
        let (node, kind) = self.number(value)?;
        let number = match self.scope.constant(&convert(node, kind, Type::Real)) {
            Some(Evaluated::Real(values)) => values.first().copied().flatten(),
            _ => None,
        };
        match number.filter(|number| number.is_finite()) {
            Some(number) => Ok(number),
            None => self.wrong(value, "a constant number is needed: a point is the same for all records"),
        }
    }

    fn bits(&mut self, function: &str, value: &Tree) -> Result<Checked> {
        match self.number(value)? {
            (_, Type::Real) => self.wrong(value, format!("`{function}` is for integers and sets of squares")),
            checked => Ok(checked),
        }
    }

    fn literal(&mut self, function: &str, value: &Tree) -> Result<Arc<str>> {
        match self.expression(value)? {
            (Node::Text(text), _) => Ok(text),
            _ => self.wrong(value, format!("`{function}` takes a 'text'")),
        }
    }

    fn function(&mut self, call: &Tree, function: Function, values: &[Tree]) -> Result<Checked> {
        if values.is_empty() {
            return self.wrong(call, "at least one value is needed");
        }
        let mut nodes = Vec::new();
        let mut kind = Type::Null;
        for value in values {
            let node = self.expression(value)?;
            kind = self.joined(value, kind, node.1)?;
            nodes.push(node);
        }
        if function != Function::Coalesce && kind == Type::Boolean {
            return self.wrong(call, "conditions have no order");
        }
        let nodes = nodes.into_iter().map(|(node, own)| convert(node, own, kind)).collect();
        Ok((Node::Call(function, kind, nodes), kind))
    }
}

fn counted(values: usize) -> String {
    match values {
        1 => "one value".to_owned(),
        count => format!("{count} values"),
    }
}

/// The columns that a condition on games can name.
fn columns_of_games() -> String {
    let names = OF_GAMES.into_iter().chain(OF_LAST_POSITIONS).collect::<Vec<_>>().join(", ");
    format!("there are {names} and \"tag:NAME\"; --having has conditions on positions")
}

/// The beginning of a text that may be long.
fn short(text: &str) -> String {
    const MOST: usize = 40;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn not(node: Node) -> Node {
    match node {
        Node::Test(place, Test::Missing) => Node::Test(place, Test::Present),
        Node::Test(place, Test::Present) => Node::Test(place, Test::Missing),
        node => Node::Not(Box::new(node)),
    }
}

fn not_if(negated: bool, node: Node) -> Node {
    if negated { not(node) } else { node }
}

fn is_true(node: Node) -> Node {
    Node::IsTrue(Box::new(node))
}

fn convert(node: Node, from: Type, to: Type) -> Node {
    match (node, from, to) {
        (node, from, to) if from == to || from == Type::Null => node,
        (Node::Integer(number), _, Type::Real) => Node::Constant(number as f64),
        (Node::Bits(number), _, Type::Real) => Node::Constant(number as f64),
        (Node::Integer(number @ 0..), _, Type::Bits) => Node::Bits(number as u64),
        (node, from, to) => Node::Convert(from, to, Box::new(node)),
    }
}

/// A comparison of a column with a constant, which needs no other arrays.
fn tested(comparison: Comparison, left: &Node, right: &Node) -> Option<Node> {
    use Comparison::{Equal, Greater, GreaterOrEqual, Less, LessOrEqual, Unequal};
    let number = |node: &Node| match node {
        Node::Integer(number) => Some(i128::from(*number)),
        Node::Bits(number) => Some(i128::from(*number)),
        Node::Boolean(flag) => Some(i128::from(*flag)),
        _ => None,
    };
    let column = |node: &Node| match node {
        Node::Column(place) => Some((*place, false)),
        Node::Absolute(Type::Integer, node) => match **node {
            Node::Column(place) => Some((place, true)),
            _ => None,
        },
        _ => None,
    };
    let ((place, is_absolute), constant, comparison) = match (column(left), column(right)) {
        (Some(column), None) => (column, right, comparison),
        (None, Some(column)) => {
            let turned = match comparison {
                Less => Greater,
                LessOrEqual => GreaterOrEqual,
                Greater => Less,
                GreaterOrEqual => LessOrEqual,
                same => same,
            };
            (column, left, turned)
        }
        _ => return None,
    };
    Some(Node::Test(
        place,
        match (constant, comparison) {
            (Node::Text(_), _) if is_absolute => return None,
            (Node::Text(text), Equal) => Test::In(vec![Arc::clone(text)]),
            (Node::Text(text), Unequal) => Test::NotIn(vec![Arc::clone(text)]),
            (constant, comparison) => {
                let number = number(constant)?;
                let mut ranges = match comparison {
                    Equal => vec![number..=number],
                    Unequal => vec![i128::MIN..=number - 1, number + 1..=i128::MAX],
                    Less => vec![i128::MIN..=number - 1],
                    LessOrEqual => vec![i128::MIN..=number],
                    Greater => vec![number + 1..=i128::MAX],
                    GreaterOrEqual => vec![number..=i128::MAX],
                };
                if is_absolute {
                    let positive = common(&ranges, &[0..=i128::MAX]);
                    let negative = positive.iter().map(|range| -*range.end()..=-*range.start());
                    ranges = negative.chain(positive.iter().cloned()).collect();
                }
                Test::Numbers(ranges)
            }
        },
    ))
}

/// The ranges that are in both lists.
fn common(
    one: &[std::ops::RangeInclusive<i128>],
    other: &[std::ops::RangeInclusive<i128>],
) -> Vec<std::ops::RangeInclusive<i128>> {
    let pairs = one.iter().flat_map(|a| other.iter().map(move |b| *a.start().max(b.start())..=*a.end().min(b.end())));
    pairs.collect()
}

/// An integer compared with a set of squares or a key. A negative integer is less than all of them.
fn mixed(comparison: Comparison, sides: [Checked; 2]) -> Node {
    let [(left, left_kind), (right, _)] = sides;
    let (integer, less) = match left_kind {
        Type::Integer => {
            (&left, matches!(comparison, Comparison::Less | Comparison::LessOrEqual | Comparison::Unequal))
        }
        _ => (&right, matches!(comparison, Comparison::Greater | Comparison::GreaterOrEqual | Comparison::Unequal)),
    };
    let is_negative = Node::Compare(Comparison::Less, Type::Integer, Box::new([integer.clone(), Node::Integer(0)]));
    // Null where one of them is: the comparison of a negative integer must not be null, but that of null must.
    let (other, other_is_left) = match left_kind {
        Type::Integer => (right.clone(), false),
        _ => (left.clone(), true),
    };
    let as_bits = convert(integer.clone(), Type::Integer, Type::Bits);
    let operands = if other_is_left { [other.clone(), as_bits] } else { [as_bits, other.clone()] };
    let by_value = Node::Compare(comparison, Type::Bits, Box::new(operands));
    let known =
        Node::Case(Type::Boolean, vec![(Node::IsNull(Box::new(other)), Node::Null)], Box::new(Node::Boolean(less)));
    Node::Case(Type::Boolean, vec![(is_negative, known)], Box::new(by_value))
}
