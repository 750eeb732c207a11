//! The rows of a statement as a table for people, as DuckDB draws them.
//!
//! Of many rows, the first and the last ones are shown; only these are kept, so that the table needs no more memory for a
//! million rows than for a thousand. The line below the table has the number of all rows.
//!
//! If the columns are wider than the line, long texts are cut. If that is not enough, columns in the middle are left out.
//! Plans are not cut: their lines are long, and each of them matters.

use crate::cli::terminal::style::Style;
use lanefish::sql::arrow::array::RecordBatch;
use lanefish::sql::arrow::datatypes::{DataType, SchemaRef};
use lanefish::sql::arrow::error::ArrowError;
use lanefish::sql::arrow::util::display::{ArrayFormatter, FormatOptions};
use lanefish_core::text::numbers::{counted, grouped};
use lanefish_core::text::one_line;
use std::collections::VecDeque;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The number of first rows that are shown, and that of last rows.
const END: usize = 20;
/// Text between two columns.
const GAP: &str = "  ";
/// The end of a cell that is cut, and the place of columns that are left out.
const MARK: &str = "…";
/// What stands in each column for the rows that are left out.
const DOT: &str = "·";
/// Width to which texts shrink before columns are left out.
const NARROW: usize = 16;
/// Minimum width of a table.
const LEAST: usize = 10;
/// The columns of a plan, as `explain` has them.
const OF_PLANS: [&str; 2] = ["plan_type", "plan"];

/// A column of a table.
#[derive(Clone, Debug)]
struct ResultColumn {
    name: String,
    kind: String,
    /// Whether the values are aligned to the right.
    is_number: bool,
}

/// The rows of a statement that are shown, and the number of all rows.
#[derive(Debug)]
pub(super) struct ResultTable {
    columns: Vec<ResultColumn>,
    first: Vec<Vec<String>>,
    last: VecDeque<Vec<String>>,
    rows: usize,
    is_plan: bool,
}

impl ResultTable {
    pub(super) fn new(schema: &SchemaRef) -> Self {
        let fields = schema.fields();
        let columns = fields.iter().map(|field| ResultColumn {
            name: one_line::of(field.name()).into_owned(),
            kind: type_name(field.data_type()),
            is_number: field.data_type().is_numeric(),
        });
        let is_plan = fields.iter().map(|field| field.name().as_str()).eq(OF_PLANS);
        Self { columns: columns.collect(), first: Vec::new(), last: VecDeque::new(), rows: 0, is_plan }
    }

    /// Adds rows. Only those that may be shown are kept.
    pub(super) fn add(&mut self, batch: &RecordBatch) -> Result<(), ArrowError> {
        let options = FormatOptions::default();
        let columns = batch.columns().iter();
        let columns =
            columns.map(|column| ArrayFormatter::try_new(&**column, &options)).collect::<Result<Vec<_>, _>>()?;
        let cells = |row: usize| columns.iter().map(|column| lines(&column.value(row).to_string())).collect::<Vec<_>>();
        let count = batch.num_rows();
        let first = count.min(END - self.first.len());
        self.first.extend((0..first).map(&cells));
        for row in first.max(count.saturating_sub(END))..count {
            if self.last.len() == END {
                self.last.pop_front();
            }
            self.last.push_back(cells(row));
        }
        self.rows += count;
        Ok(())
    }

    /// The text of the table, in lines of at most this width, if it is limited.
    pub(super) fn draw(&self, width: Option<usize>, style: Style) -> String {
        let width = width.filter(|_| !self.is_plan).map(|width| width.max(LEAST));
        let layout = self.layout(width);
        let mut text = String::new();
        let names: Vec<&str> = self.columns.iter().map(|column| column.name.as_str()).collect();
        text += &self.line(&layout, |at| names[at], false);
        if !self.is_plan {
            let kinds = self.line(&layout, |at| &self.columns[at].kind, false);
            text += &style.faint(kinds.trim_end_matches('\n'));
            text.push('\n');
        }
        text += &style.faint(&"─".repeat(layout.total()));
        text.push('\n');
        for row in &self.first {
            text += &self.row(&layout, row);
        }
        let shown = self.first.len() + self.last.len();
        if shown < self.rows {
            text += &style.faint(self.line(&layout, |_| DOT, true).trim_end_matches('\n'));
            text.push('\n');
        }
        for row in &self.last {
            text += &self.row(&layout, row);
        }
        if !self.is_plan {
            let mut counts = counted(self.rows as u64, "row");
            if shown < self.rows {
                counts += &format!(" ({} shown)", grouped(shown as u64));
            }
            counts += &format!("  {}", counted(self.columns.len() as u64, "column"));
            if layout.shown() < self.columns.len() {
                counts += &format!(" ({} shown)", grouped(layout.shown() as u64));
            }
            text += &style.faint(&counts);
            text.push('\n');
        }
        text
    }

    /// A row, in as many lines as its cells have.
    fn row(&self, layout: &Layout, cells: &[String]) -> String {
        let height = cells.iter().map(|cell| cell.split('\n').count()).max().unwrap_or(1);
        let line = |at_line| self.line(layout, |at| cells[at].split('\n').nth(at_line).unwrap_or_default(), false);
        (0..height).map(line).collect()
    }

    /// A line of cells. `is_marks` puts them into the middle of their columns.
    fn line<'a>(&'a self, layout: &Layout, cell: impl Fn(usize) -> &'a str, is_marks: bool) -> String {
        let mut line = String::new();
        for (place, slot) in layout.slots.iter().enumerate() {
            if place > 0 {
                line += GAP;
            }
            let &Slot::Column { at, width } = slot else {
                line += MARK;
                continue;
            };
            let text = cut(cell(at), width);
            let room = width.saturating_sub(text.width());
            let before = match self.columns[at].is_number {
                _ if is_marks => room / 2,
                true => room,
                false => 0,
            };
            line += &" ".repeat(before);
            line += &text;
            line += &" ".repeat(room - before);
        }
        line.truncate(line.trim_end().len());
        line.push('\n');
        line
    }

    /// The columns that are shown, with their widths.
    fn layout(&self, most: Option<usize>) -> Layout {
        let of_cells = |at: usize| {
            let cells = self.first.iter().chain(&self.last).flat_map(|row| row[at].split('\n'));
            cells.map(UnicodeWidthStr::width).max().unwrap_or(0)
        };
        let columns = self.columns.iter().enumerate().map(|(at, column)| {
            let header = if self.is_plan { column.name.width() } else { column.name.width().max(column.kind.width()) };
            let cells = of_cells(at);
            let wanted = header.max(cells);
            // Numbers are not cut, only their names.
            let least = if column.is_number { cells.max(header.min(NARROW)) } else { wanted.min(NARROW) };
            Wish { at, wanted, least }
        });
        let columns: Vec<Wish> = columns.collect();
        Layout::of(&columns, most)
    }
}

/// How wide a column should be.
#[derive(Clone, Copy, Debug)]
struct Wish {
    at: usize,
    wanted: usize,
    /// The width to which it may shrink.
    least: usize,
}

/// A place in a line.
#[derive(Clone, Copy, Debug)]
enum Slot {
    Column {
        at: usize,
        width: usize,
    },
    /// Columns that are left out.
    Gap,
}

/// The columns of a line.
#[derive(Debug)]
struct Layout {
    slots: Vec<Slot>,
}

impl Layout {
    fn of(columns: &[Wish], most: Option<usize>) -> Self {
        let all = |width: fn(&Wish) -> usize| {
            let slots = columns.iter().map(|wish| Slot::Column { at: wish.at, width: width(wish) });
            Self { slots: slots.collect() }
        };
        let Some(most) = most else { return all(|wish| wish.wanted) };
        let mut layout = all(|wish| wish.least);
        if layout.total() > most {
            // Columns from both ends in turn, as long as they fit.
            let (mut left, mut right) = (0, 0);
            let mut used = MARK.width();
            while left + right < columns.len() {
                let is_left = left <= right;
                let wish = if is_left { columns[left] } else { columns[columns.len() - 1 - right] };
                used += wish.least + GAP.len();
                if used > most {
                    break;
                }
                if is_left { left += 1 } else { right += 1 }
            }
            let slot = |wish: &Wish| Slot::Column { at: wish.at, width: wish.least };
            if left == 0 {
                // Not even the first one.
                let room = if columns.len() == 1 { most } else { most - GAP.len() - MARK.width() };
                layout.slots = vec![Slot::Column { at: columns[0].at, width: columns[0].least.min(room) }];
                layout.slots.extend((columns.len() > 1).then_some(Slot::Gap));
                return layout;
            }
            layout.slots = columns[..left].iter().map(slot).collect();
            layout.slots.push(Slot::Gap);
            layout.slots.extend(columns[columns.len() - right..].iter().map(slot));
        }
        // The narrowest of those that are cut gets what is left.
        for _ in layout.total()..most {
            let wanted = |at: usize| columns[at].wanted;
            let slots = layout.slots.iter_mut().filter_map(|slot| match slot {
                Slot::Column { at, width } if *width < wanted(*at) => Some(width),
                _ => None,
            });
            let Some(narrowest) = slots.min_by_key(|width| **width) else { break };
            *narrowest += 1;
        }
        layout
    }

    /// The width of a line.
    fn total(&self) -> usize {
        let widths = self.slots.iter().map(|slot| match slot {
            Slot::Column { width, .. } => *width,
            Slot::Gap => MARK.width(),
        });
        widths.sum::<usize>() + GAP.len() * self.slots.len().saturating_sub(1)
    }

    /// The number of columns that are shown.
    fn shown(&self) -> usize {
        self.slots.iter().filter(|slot| matches!(slot, Slot::Column { .. })).count()
    }
}

/// A text without control characters, except for line feeds.
fn lines(text: &str) -> String {
    let lines = text.split('\n').map(one_line::of);
    lines.collect::<Vec<_>>().join("\n")
}

/// A text, cut if it is wider than this.
fn cut(text: &str, most: usize) -> String {
    if text.width() <= most {
        return text.to_owned();
    }
    let room = most.saturating_sub(MARK.width());
    let mut used = 0;
    let fits = |char: &char| {
        used += char.width().unwrap_or(0);
        used <= room
    };
    let kept: String = text.chars().take_while(fits).collect();
    format!("{}{MARK}", kept.trim_end())
}

/// The name of a type in a table.
pub(super) fn type_name(kind: &DataType) -> String {
    match kind {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => "text".to_owned(),
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView | DataType::FixedSizeBinary(_) => {
            "bytes".to_owned()
        }
        DataType::Float16 => "half".to_owned(),
        DataType::Float32 => "float".to_owned(),
        DataType::Float64 => "double".to_owned(),
        DataType::Date32 | DataType::Date64 => "date".to_owned(),
        DataType::Time32(_) | DataType::Time64(_) => "time".to_owned(),
        DataType::Timestamp(..) => "timestamp".to_owned(),
        DataType::Duration(_) | DataType::Interval(_) => "interval".to_owned(),
        DataType::Decimal32(digits, scale)
        | DataType::Decimal64(digits, scale)
        | DataType::Decimal128(digits, scale)
        | DataType::Decimal256(digits, scale) => format!("decimal({digits},{scale})"),
        DataType::Dictionary(_, values) => type_name(values),
        DataType::List(item)
        | DataType::LargeList(item)
        | DataType::ListView(item)
        | DataType::LargeListView(item)
        | DataType::FixedSizeList(item, _) => format!("{}[]", type_name(item.data_type())),
        DataType::Struct(_) => "struct".to_owned(),
        DataType::Map(..) => "map".to_owned(),
        DataType::Union(..) => "union".to_owned(),
        DataType::RunEndEncoded(_, values) => type_name(values.data_type()),
        // Their own names will do: int64, uint8, boolean, null.
        other => other.to_string().to_ascii_lowercase(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lanefish::sql::arrow::array::{ArrayRef, Float64Array, Int64Array, StringArray};
    use std::sync::Arc;

    fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
        RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, array)| (name, array, true))).unwrap()
    }

    fn drawn(batches: &[RecordBatch], width: Option<usize>) -> String {
        let mut table = ResultTable::new(&batches[0].schema());
        batches.iter().for_each(|batch| table.add(batch).unwrap());
        table.draw(width, Style::PLAIN)
    }

    fn numbers(range: std::ops::Range<i64>) -> ArrayRef {
        Arc::new(Int64Array::from_iter_values(range))
    }

    fn texts(texts: &[&str]) -> ArrayRef {
        Arc::new(StringArray::from_iter_values(texts))
    }

    #[test]
    fn names_types_and_counts() {
        let mean: ArrayRef = Arc::new(Float64Array::from(vec![Some(31.5), None]));
        let some = batch(vec![("phase", numbers(9..11)), ("mean", mean), ("who", texts(&["né", "a\tb"]))]);
        assert_eq!(
            drawn(&[some], None),
            "phase    mean  who
int64  double  text
───────────────────
    9    31.5  né
   10          a b
2 rows  3 columns
"
        );
        let one = batch(vec![("n", numbers(7..8))]);
        assert_eq!(drawn(std::slice::from_ref(&one), Some(80)), "    n\nint64\n─────\n    7\n1 row  1 column\n");
        assert_eq!(drawn(&[one.slice(0, 0)], Some(80)), "    n\nint64\n─────\n0 rows  1 column\n");
    }

    #[test]
    fn many_rows_are_cut_in_the_middle() {
        // The same, however the rows come.
        let text = drawn(&[batch(vec![("n", numbers(0..1234))])], None);
        for size in [1, 7, 20, 21, 39, 500] {
            let batches: Vec<_> = (0..1234)
                .step_by(size)
                .map(|from| batch(vec![("n", numbers(from..(from + size as i64).min(1234)))]))
                .collect();
            assert_eq!(drawn(&batches, None), text, "{size}");
        }
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 3 + 20 + 1 + 20 + 1);
        assert_eq!(lines[22..25], ["   19", "  ·", " 1214"]);
        assert_eq!(lines[43..], [" 1233", "1,234 rows (40 shown)  1 column"]);
        // Exactly as many as are shown, and one more.
        assert_eq!(drawn(&[batch(vec![("n", numbers(0..40))])], None).lines().last(), Some("40 rows  1 column"));
        assert!(!drawn(&[batch(vec![("n", numbers(0..40))])], None).contains(DOT));
        assert_eq!(
            drawn(&[batch(vec![("n", numbers(0..41))])], None).lines().last(),
            Some("41 rows (40 shown)  1 column")
        );
    }

    #[test]
    fn wide_tables_are_cut() {
        let long = "a text of many words that goes on and on and on";
        let some =
            batch(vec![("one", texts(&[long])), ("n", numbers(1_000_000..1_000_001)), ("two", texts(&["short"]))]);
        assert_eq!(
            drawn(std::slice::from_ref(&some), Some(40)),
            "one                             n  two
text                        int64  text
────────────────────────────────────────
a text of many words th…  1000000  short
1 row  3 columns
"
        );
        // Nothing is cut without a limit.
        assert!(drawn(std::slice::from_ref(&some), None).contains(long));
        assert_eq!(
            drawn(std::slice::from_ref(&some), Some(28)),
            "one                 …  two
text                …  text
────────────────────────────
a text of many wo…  …  short
1 row  3 columns (2 shown)
"
        );
        let many: Vec<(String, ArrayRef)> = (0..12).map(|at| (format!("column_{at}"), numbers(at..at + 1))).collect();
        let many = batch(many.iter().map(|(name, array)| (name.as_str(), Arc::clone(array))).collect());
        assert_eq!(
            drawn(&[many], Some(60)),
            "column_0  column_1  column_2  …  column_10  column_11
   int64     int64     int64  …      int64      int64
─────────────────────────────────────────────────────
       0         1         2  …         10         11
1 row  12 columns (5 shown)
"
        );
    }

    #[test]
    fn no_line_is_wider_than_the_terminal() {
        let wide = texts(&["日本語の長い文字列です", "x"]);
        let columns = [("one", wide.clone()), ("two", numbers(1 << 40..(1 << 40) + 2)), ("three", wide)];
        for count in 1..=3 {
            let some = batch(columns[..count].to_vec());
            for width in 0..100 {
                let text = drawn(std::slice::from_ref(&some), Some(width));
                let table = text.lines().take(5);
                let widest = table.map(UnicodeWidthStr::width).max().unwrap();
                assert!(widest <= width.max(LEAST), "{width}: {text}");
            }
        }
    }

    #[test]
    fn plans_are_whole() {
        let plan = "Projection: fen\n  TableScan: a table with a name that is longer than the terminal is wide";
        let some =
            batch(vec![("plan_type", texts(&["logical_plan", "physical_plan"])), ("plan", texts(&[plan, "x\n"]))]);
        assert_eq!(
            drawn(&[some], Some(40)),
            "plan_type      plan
────────────────────────────────────────────────────────────────────────────────────────
logical_plan   Projection: fen
                 TableScan: a table with a name that is longer than the terminal is wide
physical_plan  x

"
        );
    }

    #[test]
    fn types_have_short_names() {
        use lanefish::sql::arrow::datatypes::TimeUnit;
        for (kind, name) in [
            (DataType::Utf8View, "text"),
            (DataType::UInt64, "uint64"),
            (DataType::Boolean, "boolean"),
            (DataType::Float64, "double"),
            (DataType::Date32, "date"),
            (DataType::FixedSizeBinary(32), "bytes"),
            (DataType::new_list(DataType::new_list(DataType::Utf8, true), true), "text[][]"),
            (DataType::Timestamp(TimeUnit::Second, None), "timestamp"),
            (DataType::Decimal128(10, 2), "decimal(10,2)"),
            (DataType::Null, "null"),
        ] {
            assert_eq!(type_name(&kind), name);
        }
    }
}
