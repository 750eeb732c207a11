//! Building blocks of HTML. All text that is not a literal here is written through [`Escaped`].

use super::super::{Report, Results};
use crate::report::plots_and_tables::Hue;
use crate::text::numbers::{grouped, percent};
use crate::text::one_line;
use std::fmt::{self, Display, Write};

/// A text that is escaped, both for text between tags and for quoted attributes.
pub(super) struct Escaped<'a>(pub(super) &'a str);

impl Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in self.0.chars() {
            match c {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\'' => f.write_str("&#39;")?,
                // Control characters are not allowed in HTML, but file names may contain them. Direction marks would
                // also affect the text after them.
                c if one_line::is_control(c) => f.write_char('\u{FFFD}')?,
                c => f.write_char(c)?,
            }
        }
        Ok(())
    }
}

/// The text with numbers and their signs kept on one line.
pub(super) fn unbroken(text: &str) -> String {
    text.replace(" %", "\u{A0}%").replace("± ", "±\u{A0}")
}

/// A text in which backticks mark code.
pub(super) struct Prose<'a>(pub(super) &'a str);

impl Display for Prose<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, part) in self.0.split('`').enumerate() {
            match at % 2 {
                0 => write!(f, "{}", Escaped(&unbroken(part)))?,
                _ => write!(f, "<code>{}</code>", Escaped(part))?,
            }
        }
        Ok(())
    }
}

/// A table whose first column names the rows. Captions and heads are texts; cells are markup.
pub(super) struct Table<'a> {
    pub(super) caption: &'a str,
    pub(super) head: &'a [&'a str],
    pub(super) rows: Vec<Vec<String>>,
}

impl Table<'_> {
    /// The table, which can be scrolled if it is wide.
    pub(super) fn write(&self, out: &mut String) -> fmt::Result {
        let caption = Escaped(self.caption);
        write!(
            out,
            "<div class=\"scroll\" tabindex=\"0\" role=\"region\" \
             aria-label=\"{caption}\"><table><caption>{caption}</caption><thead><tr>"
        )?;
        for name in self.head {
            write!(out, "<th scope=\"col\">{}</th>", Escaped(name))?;
        }
        out.push_str("</tr></thead><tbody>");
        for row in &self.rows {
            out.push_str("<tr>");
            for (at, cell) in row.iter().enumerate() {
                match at {
                    0 => write!(out, "<th scope=\"row\">{cell}</th>")?,
                    _ => write!(out, "<td>{cell}</td>")?,
                }
            }
            out.push_str("</tr>\n");
        }
        out.push_str("</tbody></table></div>");
        Ok(())
    }

    /// The table, hidden until the reader opens it.
    pub(super) fn write_details(&self, out: &mut String) -> fmt::Result {
        out.push_str("<details><summary>Numbers</summary>");
        self.write(out)?;
        out.push_str("</details>");
        Ok(())
    }
}

/// A bar in a cell of a table, with this fraction of the maximum length.
pub(super) fn bar(part: f64) -> String {
    bar_in(Hue::Counts, part)
}

/// The same in a hue.
pub(super) fn bar_in(hue: Hue, part: f64) -> String {
    if part <= 0.0 {
        return String::new();
    }
    let width = (part * 100.0).min(100.0);
    format!("<span class=\"bar{}\"><i style=\"width:{width:.1}%\"></i></span>", class_of(hue))
}

/// The class of a hue, after another class; that of counts is the default.
pub(super) fn class_of(hue: Hue) -> String {
    if hue == Hue::Counts { String::new() } else { format!(" {}", hue.name()) }
}

/// The results of some records as one bar of three parts; empty if there are no results.
pub(super) fn stack(report: &Report, results: &Results) -> String {
    stack_with(report, results, false)
}

/// The same, with the percentages on it where there is room.
pub(super) fn stack_of_shares(report: &Report, results: &Results) -> String {
    stack_with(report, results, true)
}

/// Shares on bars are at least this large, in percent.
const LEAST_SHARE: f64 = 17.0;

fn stack_with(report: &Report, results: &Results, has_shares: bool) -> String {
    let &Results { white, draw, black, .. } = results;
    let known = white + draw + black;
    if known == 0 {
        return String::new();
    }
    let [white_won, black_won] = ["White won", "Black won"].map(|title| report.title(title));
    let parts = [(white_won, white, "w"), ("drawn", draw, "d"), (black_won, black, "b")];
    let label: Vec<String> =
        parts.iter().map(|&(name, count, _)| format!("{name} {}", percent(count, known))).collect();
    let class = if has_shares { "stack shares" } else { "stack" };
    let mut text = format!("<span class=\"{class}\" role=\"img\" aria-label=\"{}\">", label.join(", "));
    for (name, count, class) in parts {
        let width = count as f64 / known as f64 * 100.0;
        let share = if has_shares && width >= LEAST_SHARE { format!("{width:.0}\u{202f}%") } else { String::new() };
        text.push_str(&format!(
            "<i class=\"{class}\" style=\"width:{width:.2}%\" title=\"{name}: {} ({})\">{share}</i>",
            grouped(count),
            percent(count, known)
        ));
    }
    text.push_str("</span>");
    text
}

/// The head of a page and the beginning of its body, up to the main part.
pub(super) struct Head<'a> {
    pub(super) title: &'a str,
    /// The kind of page.
    pub(super) kind: &'a str,
    /// Lines below the title.
    pub(super) inputs: Vec<String>,
    /// Ids and names of the sections.
    pub(super) sections: &'a [(&'a str, &'a str)],
}

/// The beginning of the element that names the program and its version.
pub(super) const GENERATOR: &str = "<meta name=\"generator\" content=\"lanefish ";

/// Maximum number of inputs that are named below the title; the others are only counted.
const MOST_INPUTS: usize = 4;

impl Head<'_> {
    pub(super) fn write(&self, out: &mut String) -> fmt::Result {
        let title = Escaped(self.title);
        writeln!(
            out,
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n\
             {GENERATOR}{}\">\n<title>{title}</title>\n<style>\n{}</style>\n</head>\n\
             <body>\n<header>\n<p class=\"kind\">lanefish <span>{}</span></p>\n<h1>{title}</h1>",
            env!("CARGO_PKG_VERSION"),
            include_str!("style.css"),
            self.kind
        )?;
        if !self.inputs.is_empty() {
            out.push_str("<ul class=\"inputs\">");
            for input in self.inputs.iter().take(MOST_INPUTS) {
                write!(out, "<li>{}</li>", Escaped(input))?;
            }
            if let Some(rest @ 1..) = self.inputs.len().checked_sub(MOST_INPUTS) {
                write!(out, "<li>and {rest} more</li>")?;
            }
            out.push_str("</ul>\n");
        }
        if self.sections.len() > 1 {
            out.push_str("<nav aria-label=\"Sections\">");
            for (id, name) in self.sections {
                write!(out, "<a href=\"#{id}\">{name}</a>")?;
            }
            out.push_str("</nav>\n");
        }
        out.push_str("</header>\n<main>\n");
        Ok(())
    }
}

/// The end of the page.
pub(super) fn foot(out: &mut String) {
    out.push_str("</main>\n<script>\n");
    out.push_str(include_str!("script.js"));
    out.push_str("</script>\n</body>\n</html>\n");
}
