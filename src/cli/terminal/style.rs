//! Colours on the terminal, depending on `--color`, `NO_COLOR` and the terminal.

use crate::cli::arguments::common_args::When;
use std::env;
use std::io::{IsTerminal, stdout};

/// Width of text for people if standard output is not a terminal.
const WIDTH: usize = 80;

/// The width of the terminal, if standard output is one.
pub(crate) fn width() -> usize {
    terminal_size::terminal_size_of(stdout()).map_or(WIDTH, |(width, _)| usize::from(width.0))
}

/// Whether colours are written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Style {
    color: bool,
}

impl Style {
    /// No colours.
    #[cfg(test)]
    pub(crate) const PLAIN: Self = Self { color: false };

    pub(crate) fn for_stdout(when: When) -> Self {
        let color = match when {
            When::Always => true,
            When::Never => false,
            When::Auto => {
                let refused = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
                    || env::var_os("TERM").is_some_and(|value| value == "dumb");
                !refused && stdout().is_terminal()
            }
        };
        Self { color }
    }

    pub(crate) fn has_color(self) -> bool {
        self.color
    }
    /// A heading.
    pub(crate) fn heading(self, text: &str) -> String {
        self.sgr("1", text)
    }
    /// Less important text.
    pub(crate) fn faint(self, text: &str) -> String {
        self.sgr("2", text)
    }
    /// Text with an SGR code such as `1` or `48;5;240`.
    pub(crate) fn sgr(self, code: &str, text: &str) -> String {
        if self.color { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
}

/// The words of a text in lines of at most this width, each with this indent.
pub(crate) fn wrapped(text: &str, width: usize, indent: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(format!("{indent}{word}")),
        }
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_go_on_in_other_lines() {
        let text = wrapped(&["word"; 40].join(" "), 80, "  ");
        assert!(text.lines().all(|line| line.starts_with("  word") && line.len() <= 80), "{text}");
        assert_eq!(wrapped("a b", 80, ""), "a b");
        assert_eq!(wrapped("longer words", 3, ""), "longer\nwords");
    }
}
