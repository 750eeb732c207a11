//! From text to a tree, with the precedence and the literals of the SQL engine.
//!
//! The parser of the engine itself cannot be used: on malformed texts with nested cases, its time is exponential in
//! their depth. This parser examines each token once, and the depth and the length of a text are limited.

use super::error::{ExpressionError, plain};
use std::ops::Range;

/// Maximum length of a text, in bytes.
const LONGEST: usize = 64 << 10;
/// Maximum height of a tree: threads with small stacks run plans.
const HIGHEST: u32 = 200;

/// Words that cannot be names: first those that cannot start a value, then those that can.
pub(super) const KEY_WORDS: [&str; 26] = [
    "and", "or", "in", "is", "like", "ilike", "between", "when", "then", "else", "end", "select", "from", "where",
    "cast", "exists", "interval", "escape", "distinct", "having", "as", // Beginnings of values:
    "not", "case", "true", "false", "null",
];
/// Number of words that cannot start a value.
const NO_VALUES: usize = 17;

/// A part of a text.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tree {
    pub(super) form: Form,
    /// The bytes of the expression in the text.
    pub(super) place: Range<usize>,
    height: u32,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Form {
    Name(String),
    Integer(u64),
    /// A hexadecimal number.
    Bits(u64),
    Number(f64),
    Text(String),
    Boolean(bool),
    Null,
    Unary(Unary, Box<Tree>),
    Binary(Binary, Box<[Tree; 2]>),
    And(Vec<Tree>),
    Or(Vec<Tree>),
    Is {
        what: Box<Tree>,
        is: Is,
        negated: bool,
    },
    Distinct {
        sides: Box<[Tree; 2]>,
        negated: bool,
    },
    Between {
        operands: Box<[Tree; 3]>,
        negated: bool,
    },
    In {
        what: Box<Tree>,
        list: Vec<Tree>,
        negated: bool,
    },
    Like {
        sides: Box<[Tree; 2]>,
        escape: Option<char>,
        ignores_case: bool,
        negated: bool,
    },
    Case {
        operand: Option<Box<Tree>>,
        cases: Vec<(Tree, Tree)>,
        otherwise: Option<Box<Tree>>,
    },
    Call(String, Vec<Tree>),
    /// An item of a list: the list, and the place.
    Item(Box<[Tree; 2]>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unary {
    Not,
    Minus,
    Plus,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Is {
    Null,
    True,
    False,
    Unknown,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Binary {
    Equal,
    Unequal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    BitAnd,
    BitOr,
    ShiftLeft,
    ShiftRight,
}

/// The precedence of operators, the loosest first.
mod binds {
    pub(super) const OR: u8 = 5;
    pub(super) const AND: u8 = 10;
    pub(super) const NOT: u8 = 15;
    pub(super) const IS: u8 = 17;
    pub(super) const LIKE: u8 = 19;
    pub(super) const COMPARISON: u8 = 20;
    pub(super) const BIT_OR: u8 = 21;
    pub(super) const SHIFT: u8 = 22;
    pub(super) const BIT_AND: u8 = 23;
    pub(super) const SUM: u8 = 30;
    pub(super) const PRODUCT: u8 = 40;
}

impl Binary {
    const fn binds(self) -> u8 {
        match self {
            Self::Equal | Self::Unequal | Self::Less | Self::LessOrEqual | Self::Greater | Self::GreaterOrEqual => {
                binds::COMPARISON
            }
            Self::Add | Self::Subtract => binds::SUM,
            Self::Multiply | Self::Divide | Self::Remainder => binds::PRODUCT,
            Self::BitAnd => binds::BIT_AND,
            Self::BitOr => binds::BIT_OR,
            Self::ShiftLeft | Self::ShiftRight => binds::SHIFT,
        }
    }
}

/// Operators; those that start with another operator come before it.
const OPERATORS: [(&str, Token); 23] = [
    ("<=", Token::Binary(Binary::LessOrEqual)),
    (">=", Token::Binary(Binary::GreaterOrEqual)),
    ("<>", Token::Binary(Binary::Unequal)),
    ("!=", Token::Binary(Binary::Unequal)),
    ("<<", Token::Binary(Binary::ShiftLeft)),
    (">>", Token::Binary(Binary::ShiftRight)),
    ("==", Token::Binary(Binary::Equal)),
    ("||", Token::Unknown),
    ("&&", Token::Unknown),
    ("=", Token::Binary(Binary::Equal)),
    ("<", Token::Binary(Binary::Less)),
    (">", Token::Binary(Binary::Greater)),
    ("+", Token::Binary(Binary::Add)),
    ("-", Token::Binary(Binary::Subtract)),
    ("*", Token::Binary(Binary::Multiply)),
    ("/", Token::Binary(Binary::Divide)),
    ("%", Token::Binary(Binary::Remainder)),
    ("&", Token::Binary(Binary::BitAnd)),
    ("|", Token::Binary(Binary::BitOr)),
    ("(", Token::Open),
    (")", Token::Close),
    ("[", Token::OpenItem),
    ("]", Token::CloseItem),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token {
    /// A name or a key word.
    Word,
    /// A name in double quotes.
    Quoted,
    Number,
    Text,
    Binary(Binary),
    Open,
    Close,
    OpenItem,
    CloseItem,
    Comma,
    Unknown,
    End,
}

type Result<T> = std::result::Result<T, ExpressionError>;

/// The tree of a text.
pub(super) fn parse(text: &str) -> Result<Tree> {
    if text.len() > LONGEST {
        let message = format!("an expression has at most {LONGEST} bytes, and this one has {}", text.len());
        return Err(ExpressionError::new(text, 0..1, message));
    }
    let mut parser = Parser { text, token: Token::End, place: 0..0, depth: 0 };
    parser.advance()?;
    let tree = parser.expression(0)?;
    match parser.token {
        Token::End => Ok(tree),
        _ if text[..parser.place.start].ends_with("tag") && text[parser.place.start..].starts_with(':') => {
            let name: String = text[parser.place.end..].chars().take_while(|letter| letter.is_alphanumeric()).collect();
            parser.expected(&format!("an operator (the name of a tag stands in double quotes: \"tag:{name}\")"))
        }
        Token::Word => match last_name(&tree) {
            // A text of several words.
            Some(name) => {
                let words = text[name.place.start..].split_whitespace();
                let words: Vec<&str> = words.take_while(|word| !KEY_WORDS.contains(word)).take(6).collect();
                let example: String =
                    words.join(" ").chars().map(plain).filter(|letter| *letter != '\'').take(48).collect();
                parser.expected(&format!("an operator or the end (texts stand in single quotes: '{example}')"))
            }
            None => parser.expected("an operator or the end"),
        },
        _ => parser.expected("an operator or the end"),
    }
}

/// The name at the end of a comparison.
fn last_name(tree: &Tree) -> Option<&Tree> {
    match &tree.form {
        Form::Binary(operator, sides) if operator.binds() == binds::COMPARISON => {
            Some(&sides[1]).filter(|side| matches!(side.form, Form::Name(_)))
        }
        Form::And(nodes) | Form::Or(nodes) => nodes.last().and_then(last_name),
        Form::Unary(Unary::Not, inner) => last_name(inner),
        _ => None,
    }
}

struct Parser<'a> {
    text: &'a str,
    /// The next token, and its bytes.
    token: Token,
    place: Range<usize>,
    depth: u32,
}

impl<'a> Parser<'a> {
    fn wrong<T>(&self, place: Range<usize>, message: impl Into<String>) -> Result<T> {
        Err(ExpressionError::new(self.text, place, message))
    }

    fn expected<T>(&self, what: &str) -> Result<T> {
        let found = match self.token {
            Token::End => "the end".to_owned(),
            _ => format!("`{}`", self.shown()),
        };
        self.wrong(self.place.clone(), format!("expected {what}, found {found}"))
    }

    /// The beginning of the next token.
    fn shown(&self) -> String {
        let text = &self.text[self.place.clone()];
        let mut shown: String = text.chars().take(24).map(plain).collect();
        if text.chars().nth(24).is_some() {
            shown.push('…');
        }
        shown
    }

    /// Moves to the next token.
    fn advance(&mut self) -> Result<()> {
        let start = self.skip_blanks(self.place.end)?;
        let rest = &self.text[start..];
        let length_while = |from: usize, is: fn(char) -> bool| {
            rest[from..].find(|letter| !is(letter)).map_or(rest.len(), |end| from + end)
        };
        let is_of_word = |letter: char| letter.is_alphanumeric() || letter == '_';
        let (token, len) = match rest.chars().next() {
            None => (Token::End, 0),
            Some(',') => (Token::Comma, 1),
            Some('\'') => (Token::Text, self.quoted(start, '\'')?),
            Some('"') => (Token::Quoted, self.quoted(start, '"')?),
            Some('0'..='9' | '.') => {
                let is_hexadecimal = rest.starts_with("0x") || rest.starts_with("0X");
                let len = if is_hexadecimal {
                    length_while(2, is_of_word)
                } else {
                    let mut len = length_while(0, |letter| letter.is_alphanumeric() || matches!(letter, '_' | '.'));
                    // The sign of an exponent.
                    if rest[..len].ends_with(['e', 'E']) && rest[len..].starts_with(['+', '-']) {
                        len = length_while(len + 1, is_of_word);
                    }
                    len
                };
                (Token::Number, len)
            }
            Some(letter) if letter.is_alphabetic() || letter == '_' => (Token::Word, length_while(0, is_of_word)),
            Some(letter) => {
                let operator = OPERATORS.iter().find(|(sign, _)| rest.starts_with(sign));
                operator.map_or((Token::Unknown, letter.len_utf8()), |(sign, token)| (*token, sign.len()))
            }
        };
        (self.token, self.place) = (token, start..start + len);
        Ok(())
    }

    /// The place after blanks and comments.
    fn skip_blanks(&self, mut at: usize) -> Result<usize> {
        loop {
            let rest = &self.text[at..];
            let blanks = rest.len() - rest.trim_start().len();
            if blanks > 0 {
                at += blanks;
            } else if rest.starts_with("--") {
                at += rest.find('\n').unwrap_or(rest.len());
            } else if rest.starts_with("/*") {
                let Some(len) = rest.find("*/") else {
                    return self.wrong(at..self.text.len(), "the comment does not end");
                };
                at += len + 2;
            } else {
                return Ok(at);
            }
        }
    }

    /// The length of a quoted text, including the quotes; two quotes in a row are one quote of the text.
    fn quoted(&self, start: usize, quote: char) -> Result<usize> {
        let mut letters = self.text[start + 1..].char_indices().peekable();
        while let Some((at, letter)) = letters.next() {
            if letter == quote && letters.next_if(|&(_, next)| next == quote).is_none() {
                return Ok(at + 2);
            }
        }
        self.wrong(start..self.text.len(), format!("unterminated: the closing {quote} is missing"))
    }

    /// The content of a quoted text.
    fn unquoted(&self) -> String {
        let inner = &self.text[self.place.start + 1..self.place.end - 1];
        let quote = &self.text[self.place.start..self.place.start + 1];
        inner.replace(&quote.repeat(2), quote)
    }

    fn is_word(&self, word: &str) -> bool {
        self.token == Token::Word && self.text[self.place.clone()].eq_ignore_ascii_case(word)
    }

    /// Takes a key word, if it is the next token.
    fn takes(&mut self, word: &str) -> Result<bool> {
        let is_next = self.is_word(word);
        if is_next {
            self.advance()?;
        }
        Ok(is_next)
    }

    fn needs(&mut self, word: &str) -> Result<()> {
        if self.takes(word)? { Ok(()) } else { self.expected(&format!("`{word}`")) }
    }

    fn tree(&self, form: Form, start: usize, parts: &[&Tree]) -> Result<Tree> {
        let height = 1 + parts.iter().map(|part| part.height).max().unwrap_or(0);
        // The next token is beyond the end, so the place is that of the token before it.
        let end = self.text[..self.place.start].trim_end().len().max(start);
        if height > HIGHEST {
            return self.wrong(start..end, format!("the expression is nested more than {HIGHEST} deep"));
        }
        Ok(Tree { form, place: start..end, height })
    }

    /// An expression of operators that bind more tightly than this.
    fn expression(&mut self, than: u8) -> Result<Tree> {
        self.depth += 1;
        if self.depth > HIGHEST {
            return self.wrong(self.place.clone(), format!("the expression is nested more than {HIGHEST} deep"));
        }
        let start = self.place.start;
        let mut left = self.prefix()?;
        loop {
            left = match self.infix(than, start, left)? {
                (tree, true) => tree,
                (tree, false) => {
                    self.depth -= 1;
                    return Ok(tree);
                }
            };
        }
    }

    /// Combines a tree with the operator after it; false if no operator binds tightly enough.
    fn infix(&mut self, than: u8, start: usize, left: Tree) -> Result<(Tree, bool)> {
        let tree = match self.token {
            Token::Binary(operator) if operator.binds() > than => {
                self.advance()?;
                let right = self.expression(operator.binds())?;
                let parts = [left, right];
                let tree = self.tree(Form::Null, start, &[&parts[0], &parts[1]])?;
                Tree { form: Form::Binary(operator, Box::new(parts)), ..tree }
            }
            Token::OpenItem => {
                self.advance()?;
                let place = self.expression(0)?;
                if self.token != Token::CloseItem {
                    return self.expected("`]`");
                }
                self.advance()?;
                let parts = [left, place];
                let tree = self.tree(Form::Null, start, &[&parts[0], &parts[1]])?;
                Tree { form: Form::Item(Box::new(parts)), ..tree }
            }
            Token::Word if self.is_word("and") && binds::AND > than => self.chain("and", binds::AND, start, left)?,
            Token::Word if self.is_word("or") && binds::OR > than => self.chain("or", binds::OR, start, left)?,
            Token::Word if self.is_word("is") && binds::IS > than => self.is(start, left)?,
            Token::Word => {
                let place = self.place.clone();
                let negated = self.is_word("not");
                let followed = if negated { self.peeked()? } else { self.text[place.clone()].to_ascii_lowercase() };
                let operator = match &*followed {
                    "between" if binds::COMPARISON > than => Self::between,
                    "in" if binds::COMPARISON > than => Self::list,
                    "like" | "ilike" if binds::LIKE > than => Self::like,
                    _ => return Ok((left, false)),
                };
                if negated {
                    self.advance()?;
                }
                operator(self, start, left, negated)?
            }
            _ => return Ok((left, false)),
        };
        Ok((tree, true))
    }

    /// The word after the next token, in lower case.
    fn peeked(&self) -> Result<String> {
        let mut next = Parser { text: self.text, token: self.token, place: self.place.clone(), depth: 0 };
        next.advance()?;
        Ok(match next.token {
            Token::Word => self.text[next.place].to_ascii_lowercase(),
            _ => String::new(),
        })
    }

    /// All operands of a chain of `and` or `or`.
    fn chain(&mut self, word: &str, binds: u8, start: usize, first: Tree) -> Result<Tree> {
        let mut operands = vec![first];
        while self.takes(word)? {
            operands.push(self.expression(binds)?);
        }
        let tree = self.tree(Form::Null, start, &operands.iter().collect::<Vec<_>>())?;
        let form = match word {
            "and" => Form::And(operands),
            _ => Form::Or(operands),
        };
        Ok(Tree { form, ..tree })
    }

    fn is(&mut self, start: usize, left: Tree) -> Result<Tree> {
        self.advance()?;
        let negated = self.takes("not")?;
        if self.takes("distinct")? {
            self.needs("from")?;
            let right = self.expression(binds::IS)?;
            let tree = self.tree(Form::Null, start, &[&left, &right])?;
            return Ok(Tree { form: Form::Distinct { sides: Box::new([left, right]), negated }, ..tree });
        }
        let kinds = [("null", Is::Null), ("true", Is::True), ("false", Is::False), ("unknown", Is::Unknown)];
        let Some((_, is)) = kinds.into_iter().find(|(word, _)| self.is_word(word)) else {
            return self.expected("`null`, `true`, `false`, `unknown` or `distinct from`");
        };
        self.advance()?;
        let tree = self.tree(Form::Null, start, &[&left])?;
        Ok(Tree { form: Form::Is { what: Box::new(left), is, negated }, ..tree })
    }

    fn between(&mut self, start: usize, left: Tree, negated: bool) -> Result<Tree> {
        self.advance()?;
        let low = self.expression(binds::COMPARISON)?;
        self.needs("and")?;
        let high = self.expression(binds::COMPARISON)?;
        let tree = self.tree(Form::Null, start, &[&left, &low, &high])?;
        Ok(Tree { form: Form::Between { operands: Box::new([left, low, high]), negated }, ..tree })
    }

    fn list(&mut self, start: usize, left: Tree, negated: bool) -> Result<Tree> {
        self.advance()?;
        if self.token != Token::Open {
            return self.expected("`(` and values");
        }
        let list = self.values()?;
        let tree = self.tree(Form::Null, start, &[&left].into_iter().chain(&list).collect::<Vec<_>>())?;
        if list.is_empty() {
            self.wrong(tree.place, "the list has no values")
        } else {
            Ok(Tree { form: Form::In { what: Box::new(left), list, negated }, ..tree })
        }
    }

    /// Values in parentheses, of which the first is the next token.
    fn values(&mut self) -> Result<Vec<Tree>> {
        self.advance()?;
        let mut values = Vec::new();
        if self.token != Token::Close {
            loop {
                values.push(self.expression(0)?);
                match self.token {
                    Token::Comma => self.advance()?,
                    Token::Close => break,
                    _ => return self.expected("`,` or `)`"),
                }
            }
        }
        self.advance()?;
        Ok(values)
    }

    fn like(&mut self, start: usize, left: Tree, negated: bool) -> Result<Tree> {
        let ignores_case = self.is_word("ilike");
        self.advance()?;
        let right = self.expression(binds::LIKE)?;
        let mut escape = None;
        if self.takes("escape")? {
            let text = if self.token == Token::Text { self.unquoted() } else { String::new() };
            let mut letters = text.chars();
            let (Some(letter), None) = (letters.next(), letters.next()) else {
                return self.expected("one letter in quotes");
            };
            escape = Some(letter);
            self.advance()?;
        }
        let tree = self.tree(Form::Null, start, &[&left, &right])?;
        Ok(Tree { form: Form::Like { sides: Box::new([left, right]), escape, ignores_case, negated }, ..tree })
    }

    /// Parses an operand, or a prefix operator and its operand.
    fn prefix(&mut self) -> Result<Tree> {
        let start = self.place.start;
        let unary = match self.token {
            Token::Binary(Binary::Subtract) => Some((Unary::Minus, binds::PRODUCT)),
            Token::Binary(Binary::Add) => Some((Unary::Plus, binds::PRODUCT)),
            Token::Word if self.is_word("not") => Some((Unary::Not, binds::NOT)),
            _ => None,
        };
        if let Some((unary, binds)) = unary {
            self.advance()?;
            let operand = self.expression(binds)?;
            let tree = self.tree(Form::Null, start, &[&operand])?;
            return Ok(Tree { form: Form::Unary(unary, Box::new(operand)), ..tree });
        }
        let form = match self.token {
            Token::Open => {
                self.advance()?;
                let inner = self.expression(0)?;
                if self.token != Token::Close {
                    return self.expected("`)`");
                }
                self.advance()?;
                let tree = self.tree(Form::Null, start, &[&inner])?;
                return Ok(Tree { form: inner.form, ..tree });
            }
            Token::Number => self.number()?,
            Token::Text => Form::Text(self.unquoted()),
            Token::Quoted => Form::Name(self.unquoted()),
            Token::Word => return self.word(start),
            _ => return self.expected("a column, a number, a 'text' or `(`"),
        };
        self.advance()?;
        self.tree(form, start, &[])
    }

    fn number(&self) -> Result<Form> {
        let text = &self.text[self.place.clone()];
        let too_large = || self.wrong(self.place.clone(), "the number is too large");
        if let Some(digits) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
            let is_right = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
            let digits = digits.trim_start_matches('0');
            return match u64::from_str_radix(if digits.is_empty() { "0" } else { digits }, 16) {
                Ok(number) if is_right => Ok(Form::Bits(number)),
                _ => self.wrong(self.place.clone(), "expected 1 to 16 hexadecimal digits"),
            };
        }
        if text.bytes().all(|byte| byte.is_ascii_digit()) {
            return text.parse().map_or_else(|_| too_large(), |number| Ok(Form::Integer(number)));
        }
        let is_of_number = |byte: u8| byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'E' | b'+' | b'-');
        match text.parse::<f64>() {
            Ok(number) if !number.is_finite() => too_large(),
            Ok(number) if text.bytes().all(is_of_number) => Ok(Form::Number(number)),
            _ => self.wrong(self.place.clone(), format!("`{}` is not a number", self.shown())),
        }
    }

    /// A name, a function, a case, or a constant.
    fn word(&mut self, start: usize) -> Result<Tree> {
        let word = self.text[self.place.clone()].to_owned();
        let lower = word.to_ascii_lowercase();
        // Words that are values can start one.
        if KEY_WORDS[..NO_VALUES].contains(&&*lower) {
            return self.expected("a column, a number, a 'text' or `(`");
        }
        self.advance()?;
        let form = match &*lower {
            "case" => return self.case(start),
            "true" => Form::Boolean(true),
            "false" => Form::Boolean(false),
            "null" => Form::Null,
            _ if self.token == Token::Open => {
                let values = self.values()?;
                let tree = self.tree(Form::Null, start, &values.iter().collect::<Vec<_>>())?;
                return Ok(Tree { form: Form::Call(lower, values), ..tree });
            }
            _ => Form::Name(word),
        };
        self.tree(form, start, &[])
    }

    fn case(&mut self, start: usize) -> Result<Tree> {
        let operand = if self.is_word("when") { None } else { Some(Box::new(self.expression(0)?)) };
        let mut cases = Vec::new();
        while self.takes("when")? {
            let when = self.expression(0)?;
            self.needs("then")?;
            cases.push((when, self.expression(0)?));
        }
        if cases.is_empty() {
            return self.expected("`when`");
        }
        let otherwise = if self.takes("else")? { Some(Box::new(self.expression(0)?)) } else { None };
        self.needs("end")?;
        let mut parts: Vec<&Tree> = cases.iter().flat_map(|(when, then)| [when, then]).collect();
        parts.extend(operand.as_deref());
        parts.extend(otherwise.as_deref());
        let tree = self.tree(Form::Null, start, &parts)?;
        Ok(Tree { form: Form::Case { operand, cases, otherwise }, ..tree })
    }
}
