//! Names for values, which expressions can use as if they were columns.

use super::check::{self, FUNCTIONS};
use super::error::ExpressionError;
use super::parse::{self, KEY_WORDS};
use super::typed_operations::Scope;
use super::{Condition, Formula};
use crate::choose::ExpressionOptionError;
use crate::table::{Array, Column, ComputedColumn, Kind, Needs, Tile};
use std::sync::Arc;

/// Named values, in the order in which they were given. Each can use the names before it.
///
/// ```
/// use lanefish::choose::expression::Definitions;
///
/// let definitions = Definitions::parse(["m = ply / 64.0", "late = m > 1"])?;
/// assert!(definitions.condition("late and pieces < 20").is_ok());
/// assert!(definitions.condition("early").is_err());
/// assert!(Definitions::parse(["ply = 3"]).is_err());
/// # Ok::<(), lanefish::choose::ExpressionOptionError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Definitions(Arc<(Scope, Vec<Arc<str>>)>);

/// Most of them.
const MOST: usize = 256;

impl Definitions {
    /// Definitions of the form `NAME=EXPR`.
    ///
    /// # Errors
    /// If one of them is invalid, or its name already has a meaning.
    pub fn parse<T: AsRef<str>>(texts: impl IntoIterator<Item = T>) -> Result<Self, ExpressionOptionError> {
        Self::parse_with_columns(texts, Vec::new())
    }
    /// Definitions of the form `NAME=EXPR`, for expressions that may also use other columns, such as those of a
    /// [second file](crate::pipeline::SecondFile). In expressions, their names stand in double quotes.
    ///
    /// # Errors
    /// If one of them is invalid, or its name already has a meaning.
    pub fn parse_with_columns<T: AsRef<str>>(
        texts: impl IntoIterator<Item = T>,
        columns: Vec<Arc<dyn ComputedColumn>>,
    ) -> Result<Self, ExpressionOptionError> {
        let mut scope = Scope { others: columns.into(), ..Scope::default() };
        let mut known: Vec<Arc<str>> = Vec::new();
        for text in texts {
            let text = text.as_ref();
            let (name, expression) = text
                .split_once('=')
                .ok_or_else(|| ExpressionOptionError::form(format!("`{text}`: expected NAME=EXPR")))?;
            let (name, expression) = (name.trim(), expression.trim());
            if let Some(reason) = wrong_name(name, &scope) {
                return Err(ExpressionOptionError::form(format!("`{name}` cannot be a name: {reason}")));
            }
            if known.len() == MOST {
                return Err(ExpressionOptionError::form(format!("at most {MOST} values can have names")));
            }
            let (node, kind) = check::check(expression, &parse::parse(expression)?, &mut scope)?;
            scope.name(name, node, kind);
            known.push(text.into());
        }
        Ok(Self(Arc::new((scope, known))))
    }
    /// A condition that may use these names.
    ///
    /// # Errors
    /// If the text is not a condition.
    pub fn condition(&self, text: &str) -> Result<Condition, ExpressionError> {
        Condition::with(text, self, false)
    }
    /// A condition on games, which may use these names as far as they are the same for all records of a game. It may also
    /// use `outcome`, `fen` and `game`: how a game ended on the board, its last position, and its number.
    ///
    /// ```
    /// use lanefish::choose::expression::Definitions;
    ///
    /// let definitions = Definitions::parse(["strong = mean_elo >= 2400", "late = ply > 60"])?;
    /// assert!(definitions.condition_on_games("strong and outcome = 'checkmate'").is_ok());
    /// assert!(definitions.condition_on_games("strong and late").is_err());
    /// # Ok::<(), lanefish::choose::ExpressionOptionError>(())
    /// ```
    ///
    /// # Errors
    /// If the text is not a condition, or depends on a position other than the last.
    pub fn condition_on_games(&self, text: &str) -> Result<Condition, ExpressionError> {
        Condition::with(text, self, true)
    }
    /// A formula that may use these names.
    ///
    /// # Errors
    /// If the text is not an expression.
    pub fn formula(&self, text: &str) -> Result<Formula, ExpressionError> {
        Formula::with(text, self)
    }
    /// The value of a name as a column, or another column that these expressions may use.
    pub fn column(&self, name: &str) -> Option<Arc<dyn ComputedColumn>> {
        if let Some(other) = self.scope().others.iter().find(|other| other.name() == name) {
            return Some(Arc::clone(other));
        }
        let place = self.scope().named(name)?;
        let (_, expression) = self.0.1[place].split_once('=')?;
        let formula = self.formula(&self.scope().named[place].name).ok()?;
        Some(Arc::new(NamedColumn { name: name.into(), meaning: expression.trim().into(), formula }))
    }
    /// The value of an expression, which may use these names, as a column with its text as the name.
    ///
    /// # Errors
    /// If the text is not an expression.
    pub fn column_of(&self, text: &str) -> Result<Arc<dyn ComputedColumn>, ExpressionError> {
        let formula = self.formula(text)?;
        Ok(Arc::new(NamedColumn { name: text.into(), meaning: text.into(), formula }))
    }
    /// The names.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.0.named.iter().map(|named| &*named.name)
    }
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.1.is_empty()
    }
    pub(super) fn scope(&self) -> &Scope {
        &self.0.0
    }
}

/// The reason why a text cannot be a name.
fn wrong_name(name: &str, scope: &Scope) -> Option<&'static str> {
    let lower = name.to_ascii_lowercase();
    let is_word = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    match () {
        () if !is_word || !name.starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '_') => {
            Some("a name is letters, digits and `_`, and does not begin with a digit")
        }
        () if KEY_WORDS.contains(&&*lower) => Some("it is a word of the language"),
        () if FUNCTIONS.contains(&&*lower) => Some("it is a function"),
        () if Column::named(&lower).is_some() => Some("it is a column"),
        () if lower == "all" => Some("it stands for all columns"),
        () if scope.named(name).is_some() => Some("it is defined already"),
        () => None,
    }
}

/// A named value as a column, with the requested name.
#[derive(Debug)]
struct NamedColumn {
    name: Box<str>,
    meaning: Box<str>,
    formula: Formula,
}

impl ComputedColumn for NamedColumn {
    fn name(&self) -> &str {
        &self.name
    }
    fn kind(&self) -> Kind {
        self.formula.kind().column()
    }
    fn meaning(&self) -> &str {
        &self.meaning
    }
    fn needs(&self) -> Needs {
        Needs { records_before: true, ..self.formula.needs().clone() }
    }
    fn fill(&self, tile: &Tile<'_>) -> Array {
        self.formula.evaluate(tile).into_column(tile.len)
    }
}

impl PartialEq for Definitions {
    fn eq(&self, other: &Self) -> bool {
        self.0.1 == other.0.1
    }
}

impl Eq for Definitions {}

#[cfg(feature = "cluster")]
impl serde::Serialize for Definitions {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.1.iter().map(|text| &**text))
    }
}

#[cfg(feature = "cluster")]
impl<'de> serde::Deserialize<'de> for Definitions {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let texts = <Vec<String> as serde::Deserialize>::deserialize(deserializer)?;
        Self::parse(texts).map_err(serde::de::Error::custom)
    }
}
