//! Rows as a table for people, aligned and cut to the width of the terminal.
//!
//! A table is written from the CSV of the same rows, in which each row is one line without control characters. The
//! first rows are held back, because the widths of the columns follow from them. All later rows are printed as they
//! come, with these widths, so that the table needs no more memory for a million rows than for a thousand.
//!
//! If the columns are wider than the line, numbers keep their width and texts shrink: to a third of the line, or to
//! [`NARROW`] where that is more. Columns that do not fit even so are left out, from the right. The texts that are cut
//! share the rest of the line.

use super::style::Style;
use lanefish::table::Kind;
use std::borrow::Cow;
use std::io::{self, Write};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Number of rows from which the widths are found.
const SAMPLE: usize = 500;
/// Minimum width of a column of long texts.
const NARROW: usize = 20;
/// Text between two columns.
const GAP: &str = "  ";
/// The end of a cell that is cut, and of a line without its last columns.
const MARK: &str = "…";
/// Minimum width of a table.
const LEAST: usize = 10;

/// The alignment of a column.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TableColumn {
    /// Whether its values are numbers, which are aligned to the right.
    is_number: bool,
    /// Whether its values are real numbers, which are rounded.
    is_real: bool,
    /// Width that later values may need, whatever those of the first rows need.
    reserve: usize,
}

impl From<Kind> for TableColumn {
    fn from(kind: Kind) -> Self {
        let reserve = match kind {
            Kind::U8 => 3,
            Kind::U16 | Kind::U32 => 5,
            Kind::I16 => 6,
            // Numbers of games and records.
            Kind::U64 => 7,
            _ => 0,
        };
        let is_number = !matches!(kind, Kind::Text | Kind::Date | Kind::Board);
        Self { is_number, is_real: kind == Kind::F64, reserve }
    }
}

/// What a table does not show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct NotShown {
    /// Number of columns.
    pub(crate) columns: usize,
    /// Number of columns that the table shows.
    pub(crate) shown: usize,
    /// Number of cells that are cut.
    pub(crate) cells: u64,
}

/// Makes a table of CSV with a header line.
#[derive(Debug)]
pub(crate) struct TableWriter<W: Write> {
    out: W,
    style: Style,
    width: usize,
    columns: Vec<TableColumn>,
    /// The start of a line whose end has not come yet.
    rest: Vec<u8>,
    /// The header, then the first rows; empty once the widths are known.
    sample: Vec<Vec<Cell>>,
    /// The widths of the columns that are shown, once they are known.
    widths: Option<Vec<usize>>,
    not_shown: NotShown,
}

/// A text that is at most as wide as the line.
#[derive(Clone, Debug)]
struct Cell {
    text: String,
    width: usize,
    is_cut: bool,
}

impl Cell {
    /// A text, cut if it is wider than `most`.
    fn new(text: &str, most: usize) -> Self {
        let width = text.width();
        if width <= most {
            return Self { text: text.to_owned(), width, is_cut: false };
        }
        let room = most.saturating_sub(MARK.width());
        let mut end = 0;
        let mut used = 0;
        for char in text.chars() {
            used += char.width().unwrap_or(0);
            if used > room {
                break;
            }
            end += char.len_utf8();
        }
        let text = format!("{}{MARK}", text[..end].trim_end());
        Self { width: text.width(), text, is_cut: true }
    }

    /// The cell in a column of this width.
    fn within(&self, width: usize) -> Cow<'_, Self> {
        if self.width <= width {
            return Cow::Borrowed(self);
        }
        let cell = Self::new(&self.text, width);
        Cow::Owned(Self { is_cut: true, ..cell })
    }
}

/// A real number with few digits.
fn rounded(text: &str) -> Option<String> {
    const DIGITS: i32 = 4;
    const SHORT: usize = 6;
    if text.len() <= SHORT {
        return None;
    }
    let number: f64 = text.parse().ok().filter(|number: &f64| number.is_finite() && *number != 0.0)?;
    let decimals = (DIGITS - 1 - number.abs().log10().floor() as i32).clamp(0, 9) as usize;
    let short = format!("{number:.decimals$}");
    let short = if short.contains('.') { short.trim_end_matches('0').trim_end_matches('.') } else { &short };
    (short.len() < text.len()).then(|| short.to_owned())
}

/// The fields of a line of CSV.
fn fields(line: &str) -> Vec<String> {
    let mut fields = Vec::new();
    let mut field = String::new();
    let mut is_quoted = false;
    let mut chars = line.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            '"' if is_quoted && chars.next_if_eq(&'"').is_some() => field.push('"'),
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => fields.push(std::mem::take(&mut field)),
            char => field.push(char),
        }
    }
    fields.push(field);
    fields
}

/// The widths of the columns that fit, from the left. If all fit, the last one may end at the edge; otherwise a mark
/// takes the end of the line.
fn widths(wanted: &[usize], columns: &[TableColumn], width: usize) -> Vec<usize> {
    let text = NARROW.max(width / 3);
    let narrow = |at: usize, most: usize| if columns[at].is_number { wanted[at] } else { wanted[at].min(most) };
    // The widths of the columns that fit within a limit. The last one may have less room than the others.
    let within = |limit: usize| {
        let mut widths = Vec::new();
        let mut left = limit;
        for at in 0..wanted.len() {
            left = left.saturating_sub(if at == 0 { 0 } else { GAP.len() });
            if narrow(at, NARROW) > left {
                break;
            }
            let width = narrow(at, text).min(left);
            widths.push(width);
            left -= width;
        }
        widths
    };
    let mut limit = width;
    let mut widths = within(limit);
    if widths.len() < wanted.len() {
        limit -= GAP.len() + MARK.width();
        widths = within(limit);
    }
    if widths.is_empty() {
        return wanted.first().map(|&first| first.min(limit)).into_iter().collect();
    }
    for _ in total(&widths)..limit {
        // The narrowest of those that are cut gets what is left.
        let cut = (0..widths.len()).filter(|&at| widths[at] < wanted[at]);
        let Some(narrowest) = cut.min_by_key(|&at| widths[at]) else { break };
        widths[narrowest] += 1;
    }
    widths
}

/// The width of columns with the gaps between them.
fn total(widths: &[usize]) -> usize {
    widths.iter().sum::<usize>() + GAP.len() * widths.len().saturating_sub(1)
}

impl<W: Write> TableWriter<W> {
    pub(crate) fn new(out: W, columns: Vec<TableColumn>, style: Style, width: usize) -> Self {
        let not_shown = NotShown { columns: columns.len(), ..NotShown::default() };
        Self {
            out,
            style,
            width: width.max(LEAST),
            columns,
            rest: Vec::new(),
            sample: Vec::new(),
            widths: None,
            not_shown,
        }
    }

    /// Writes the rows that were held back, and returns what the table does not show.
    pub(crate) fn finish(mut self) -> io::Result<NotShown> {
        self.write_sample()?;
        self.out.flush()?;
        Ok(self.not_shown)
    }

    /// A line of CSV.
    fn line(&mut self, line: &str) -> io::Result<()> {
        let is_real = |at: usize| self.columns.get(at).is_some_and(|column| column.is_real);
        let shown = |(at, field): (usize, String)| match rounded(&field).filter(|_| is_real(at)) {
            Some(short) => Cell::new(&short, self.width),
            None => Cell::new(&field, self.width),
        };
        let cells: Vec<Cell> = fields(line).into_iter().enumerate().map(shown).collect();
        if self.widths.is_some() {
            return self.write_row(&cells);
        }
        self.sample.push(cells);
        if self.sample.len() > SAMPLE {
            self.write_sample()?;
        }
        Ok(())
    }

    /// Finds the widths, and writes the header and the first rows.
    fn write_sample(&mut self) -> io::Result<()> {
        let sample = std::mem::take(&mut self.sample);
        let Some((header, rows)) = sample.split_first() else { return Ok(()) };
        let wanted: Vec<usize> = (0..self.columns.len())
            .map(|at| {
                let widest = sample.iter().filter_map(|row| Some(row.get(at)?.width)).max();
                widest.unwrap_or(0).max(self.columns[at].reserve)
            })
            .collect();
        let widths = widths(&wanted, &self.columns, self.width);
        self.not_shown.shown = widths.len();
        let total = total(&widths);
        self.widths = Some(widths);
        let names = self.text_of(header);
        self.not_shown.cells = 0;
        writeln!(self.out, "{}", self.style.heading(&names))?;
        let rule = "─".repeat(total.max(names.width()));
        writeln!(self.out, "{}", self.style.faint(&rule))?;
        rows.iter().try_for_each(|row| self.write_row(row))
    }

    fn write_row(&mut self, row: &[Cell]) -> io::Result<()> {
        let text = self.text_of(row);
        writeln!(self.out, "{text}")
    }

    /// The line of a row, without blanks at its end.
    fn text_of(&mut self, row: &[Cell]) -> String {
        let widths = self.widths.as_deref().unwrap_or_default();
        let mut line = String::new();
        for (at, ((cell, &width), column)) in row.iter().zip(widths).zip(&self.columns).enumerate() {
            let cell = cell.within(width);
            self.not_shown.cells += u64::from(cell.is_cut);
            let padding = " ".repeat(width.saturating_sub(cell.width));
            let (before, after) = if column.is_number { (&*padding, "") } else { ("", &*padding) };
            let gap = if at == 0 { "" } else { GAP };
            line.extend([gap, before, &cell.text, after]);
        }
        if widths.len() < self.columns.len() {
            line.extend([GAP, MARK]);
        }
        line.truncate(line.trim_end().len());
        line
    }
}

impl<W: Write> Write for TableWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut from = 0;
        for end in memchr::memchr_iter(b'\n', bytes) {
            let mut line = std::mem::take(&mut self.rest);
            line.extend_from_slice(&bytes[from..end]);
            from = end + 1;
            self.line(&String::from_utf8_lossy(&line))?;
        }
        self.rest.extend_from_slice(&bytes[from..]);
        self.out.flush()?;
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(csv: &str, kinds: &[Kind], width: usize) -> (String, NotShown) {
        let mut out = Vec::new();
        let columns = kinds.iter().copied().map(TableColumn::from).collect();
        let mut table = TableWriter::new(&mut out, columns, Style::PLAIN, width);
        // The pieces end anywhere.
        for piece in csv.as_bytes().chunks(7) {
            table.write_all(piece).unwrap();
        }
        let not_shown = table.finish().unwrap();
        (String::from_utf8(out).unwrap(), not_shown)
    }

    #[test]
    fn columns_are_aligned() {
        let csv = "white,elo,event\n\"A, \"\"x\"\"\",999,Open\n李雷,2000,\n,,B\n";
        let (text, not_shown) = table(csv, &[Kind::Text, Kind::U16, Kind::Text], 80);
        assert_eq!(
            text,
            "white     elo  event\n────────────────────\nA, \"x\"    999  Open\n李雷     2000\n               B\n"
        );
        assert_eq!(not_shown, NotShown { columns: 3, shown: 3, cells: 0 });
    }

    #[test]
    fn real_numbers_are_rounded() {
        let csv = "x,y\n95.22621320395672,1\n0.004921875,2\n100.0,3\n0.5,4\n,5\n0.0,6\n123456.789,7\n";
        let (text, not_shown) = table(csv, &[Kind::F64, Kind::U8], 80);
        let column: Vec<&str> = text.lines().skip(2).filter_map(|line| line.get(..8)).map(str::trim).collect();
        assert_eq!(column, ["95.23", "0.004922", "100.0", "0.5", "", "0.0", "123457"], "{text}");
        assert_eq!(not_shown.cells, 0);
    }

    #[test]
    fn what_does_not_fit_is_marked() {
        let csv = format!("a,b,c\n{},1,2\n", "李".repeat(30));
        let kinds = [Kind::Text, Kind::Flag, Kind::Flag];
        // The whole line, without a column, with nothing but the start of the first.
        let (text, not_shown) = table(&csv, &kinds, 66);
        assert_eq!((text.lines().last().unwrap().width(), not_shown.cells), (66, 0));
        let (text, not_shown) = table(&csv, &kinds, 30);
        assert_eq!(not_shown, NotShown { columns: 3, shown: 3, cells: 1 });
        assert!(text.ends_with("李…   1  2\n"), "{text}");
        let (text, not_shown) = table(&csv, &kinds, 23);
        assert_eq!(not_shown, NotShown { columns: 3, shown: 1, cells: 1 });
        for line in text.lines() {
            assert!(line.width() <= 23, "{text}");
        }
        assert!(text.ends_with("李…   …\n"), "{text}");
        let (text, _) = table(&csv, &kinds, 1);
        assert!(text.lines().all(|line| line.width() <= LEAST), "{text}");
    }

    /// The first rows decide; what comes later and is longer is cut, and the table does not wait for it.
    #[test]
    fn later_rows_have_the_widths_of_the_first() {
        let mut csv = "name,game\n".to_owned();
        (0..SAMPLE).for_each(|row| csv += &format!("abc,{row}\n"));
        let (before, _) = table(&csv, &[Kind::Text, Kind::U64], 80);
        csv += "abcdefgh,1234567\nabcdefgh,12345678\n";
        let (text, not_shown) = table(&csv, &[Kind::Text, Kind::U64], 80);
        let rest = text.strip_prefix(&before).unwrap();
        assert_eq!(rest, "abc…  1234567\nabc…  123456…\n");
        assert_eq!(not_shown.cells, 3);
    }

    #[test]
    fn a_table_without_rows_has_a_header() {
        assert_eq!(table("a,b\n", &[Kind::Text, Kind::Flag], 80).0, "a  b\n────\n");
        assert_eq!(table("", &[Kind::Text], 80).0, "");
    }

    /// Whatever the widths, a line with or without a mark fits, and no column of numbers is cut.
    #[test]
    fn widths_fit() {
        let kinds = [Kind::Text, Kind::U16, Kind::Text, Kind::Flag, Kind::Text, Kind::I16];
        let columns = kinds.map(TableColumn::from);
        for seed in 0..2000usize {
            let wanted: Vec<usize> = (1..=kinds.len()).map(|at| 1 + seed * (at * 37 + 11) % 41).collect();
            for width in [LEAST, 30, 60, 100, 132] {
                let widths = widths(&wanted, &columns, width);
                let mark = if widths.len() < wanted.len() { GAP.len() + MARK.width() } else { 0 };
                assert!(!widths.is_empty() && total(&widths) + mark <= width, "{wanted:?} {width}: {widths:?}");
                for (at, (&got, &wanted)) in widths.iter().zip(&wanted).enumerate().skip(1) {
                    let least = if columns[at].is_number { wanted } else { wanted.min(NARROW) };
                    assert!((least..=wanted).contains(&got), "{wanted:?} {width}: {widths:?}");
                }
            }
        }
    }

    #[test]
    fn combined_characters_stay_together() {
        let cell = Cell::new("e\u{301}e\u{301}e\u{301}e\u{301}", 3);
        assert_eq!((&*cell.text, cell.width), ("e\u{301}e\u{301}…", 3));
    }
}
