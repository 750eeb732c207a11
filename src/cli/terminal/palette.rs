//! The colours of the terminal, by what they mean, as SGR codes. The style of pages (`report/html/style.css`) has the same
//! names, so that a colour means the same on a page and in the terminal.

use lanefish::report::plots_and_tables::Hue;

/// Numbers of positions and games: teal.
pub(crate) const COUNTS: &str = "36";
/// Moves and checks: blue.
pub(crate) const MOVES: &str = "94";
/// Scores and evaluations: purple.
pub(crate) const SCORES: &str = "35";
/// Won by White, or by the side to move; drawn; won by Black, or by the other side. White, grey and dark cells, which differ
/// on light and on dark terminals.
pub(crate) const WHITE: &str = "38;5;255";
pub(crate) const DRAW: &str = "38;5;245";
pub(crate) const BLACK: &str = "38;5;238";
/// How often something is on a square: like fire, from black over red to yellow on the 256 colour cube.
pub(crate) const HEAT: [u8; 8] = [232, 52, 88, 124, 160, 202, 208, 220];

/// The code of a hue.
pub(crate) fn code(hue: Hue) -> &'static str {
    match hue {
        Hue::Moves => MOVES,
        Hue::Scores => SCORES,
        _ => COUNTS,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn pages_have_the_same_names() {
        let style = include_str!("../../report/html/style.css");
        for name in Hue::ALL.map(Hue::name).into_iter().chain(["white", "draw", "black", "heat0"]) {
            // Once for light pages and once for dark ones.
            assert_eq!(style.matches(&format!(" --{name}: #")).count(), 2, "{name}");
        }
        let codes = Hue::ALL.map(code).into_iter().chain([WHITE, DRAW, BLACK]);
        assert_eq!(codes.collect::<BTreeSet<_>>().len(), 6);
    }
}
