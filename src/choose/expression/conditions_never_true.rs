//! Conditions on the move of a position that has none: they choose nothing, and are not meant so.

use super::typed_operations::{Node, Scope};
use crate::table::predicate::Test;
use crate::table::{ChosenColumn, Field, Subject};

/// A remark on the parts of a condition, all of which must be true, if they never are: one is true only of positions
/// without a legal move, and another one only of positions with a move.
pub(super) fn note(parts: &[Node], scope: &Scope) -> Option<String> {
    let mut facts = Facts { scope, named: Vec::new() };
    // In their order, because each may use those before it.
    for named in &scope.named {
        let known = facts.of(&named.node);
        facts.named.push(known);
    }
    let ended = parts.iter().find_map(|part| facts.of(part).ended)?;
    let needs_move = |part: &&Node| facts.of(part).is_never_true;
    let columns = parts.iter().filter(needs_move).flat_map(|part| scope.columns(part));
    let column = columns.into_iter().find(|column| is_of_move(column) || column.name() == QUIET)?.name();
    let more = match ended {
        "stalemate" => "`lanefish games --where \"outcome = 'stalemate'\"` takes the games that end so",
        _ => "`move_mates` is true where the move mates, in the position before",
    };
    Some(format!("this is never true: where `{ended}` is true there is no move, and so no `{column}`; {more}"))
}

/// A column that is false in check, also without a move.
const QUIET: &str = "quiet";

/// Whether a column is null where there is no move.
fn is_of_move(column: &ChosenColumn) -> bool {
    match column {
        ChosenColumn::Listed(column) => {
            column.subject() == Subject::Move && column.fields.contains(Field::Move) && column.name != QUIET
        }
        ChosenColumn::OfFamily(..) | ChosenColumn::Computed(_) => false,
    }
}

/// What is known of an expression.
#[derive(Clone, Copy, Debug, Default)]
struct Known {
    /// The column by which there is no legal move where it is true.
    ended: Option<&'static str>,
    /// Whether it is null where there is no move.
    is_null: bool,
    /// Whether it is a condition that is not true where there is no move.
    is_never_true: bool,
}

/// Finds what is known.
struct Facts<'a> {
    scope: &'a Scope,
    /// Of the first named values.
    named: Vec<Known>,
}

impl Facts<'_> {
    fn of(&self, node: &Node) -> Known {
        let null = |is_null: bool| Known { ended: None, is_null, is_never_true: is_null };
        let any_null = |nodes: &[Node]| null(nodes.iter().any(|node| self.of(node).is_null));
        let is_of_move = |place: usize| is_of_move(&self.scope.columns[place]);
        let flag = |place: usize| {
            ["checkmate", "stalemate"].into_iter().find(|flag| *flag == self.scope.columns[place].name())
        };
        match node {
            Node::Null => null(true),
            Node::Column(place) if self.scope.columns[*place].name() == QUIET => {
                Known { is_never_true: true, ..Known::default() }
            }
            Node::Column(place) => Known { ended: flag(*place), ..null(is_of_move(*place)) },
            Node::Test(place, test) => {
                let ended = match (self.scope.columns[*place].name(), test) {
                    ("legal_moves", Test::Numbers(ranges)) if *ranges == [0..=0] => Some("legal_moves = 0"),
                    (_, Test::Numbers(ranges)) if *ranges == [1..=1] => flag(*place),
                    _ => None,
                };
                Known { ended, ..null(*test != Test::Missing && is_of_move(*place)) }
            }
            Node::Named(place) => self.named.get(*place).copied().unwrap_or_default(),
            Node::Not(node) => match **node {
                Node::Test(place, Test::Missing) => Known { is_never_true: is_of_move(place), ..Known::default() },
                ref node => null(self.of(node).is_null),
            },
            Node::Negate(_, node)
            | Node::Absolute(_, node)
            | Node::Count(node)
            | Node::Like(node, _)
            | Node::Convert(_, _, node) => null(self.of(node).is_null),
            Node::Compare(_, _, nodes) | Node::Arithmetic(_, _, nodes) => any_null(&nodes[..]),
            Node::Real(_, nodes) => any_null(nodes),
            Node::IsTrue(node) => Known { is_null: false, ..self.of(node) },
            Node::And(nodes) => {
                let known: Vec<Known> = nodes.iter().map(|node| self.of(node)).collect();
                Known {
                    ended: known.iter().find_map(|known| known.ended),
                    is_null: known.iter().all(|known| known.is_null),
                    is_never_true: known.iter().any(|known| known.is_never_true),
                }
            }
            Node::Or(nodes) => {
                let known: Vec<Known> = nodes.iter().map(|node| self.of(node)).collect();
                let ended: Option<Vec<_>> = known.iter().map(|known| known.ended).collect();
                Known {
                    ended: ended.and_then(|ended| ended.first().copied()),
                    is_null: known.iter().all(|known| known.is_null),
                    is_never_true: known.iter().all(|known| known.is_never_true),
                }
            }
            _ => Known::default(),
        }
    }
}
