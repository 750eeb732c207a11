//! Boards side by side; squares with higher counts are darker.

use super::Text;
use crate::cli::terminal::palette;
use lanefish::report::plots_and_tables::Board;
use std::fmt::Write;

/// Columns of a board with its ranks and the gap after it.
const BOARD: usize = 20;

impl Text<'_> {
    /// Draws boards next to each other, as far as they fit. Shades are relative to the maximum of each board.
    pub(super) fn boards(&self, out: &mut String, boards: &[Board]) -> std::fmt::Result {
        // The last one has no gap after it.
        let per_row = ((self.width + 2) / BOARD).clamp(1, 6);
        for boards in boards.chunks(per_row) {
            out.push('\n');
            for board in boards {
                let title: String = board.title.chars().take(BOARD - 2).collect();
                write!(out, "  {}", self.style.heading(&format!("{title:<18}")))?;
            }
            end_line(out);
            for rank in (0..8).rev() {
                for board in boards {
                    write!(out, "{} ", rank + 1)?;
                    let hottest = board.counts.iter().copied().max().unwrap_or(0).max(1);
                    for &count in &board.counts[rank * 8..][..8] {
                        out.push_str(&self.heat(count, hottest));
                    }
                    out.push_str("  ");
                }
                end_line(out);
            }
            for _ in boards {
                out.push_str("  a b c d e f g h   ");
            }
            end_line(out);
        }
        Ok(())
    }

    fn heat(&self, count: u64, hottest: u64) -> String {
        if self.style.has_color() {
            let level = (count as u128 * 7).div_ceil(hottest.into()) as usize;
            self.style.sgr(&format!("48;5;{}", palette::HEAT[level]), "  ")
        } else {
            const SHADES: [&str; 5] = ["· ", "░░", "▒▒", "▓▓", "██"];
            SHADES[(count as u128 * 4).div_ceil(hottest.into()) as usize].to_owned()
        }
    }
}

/// Ends a line of columns and drops the trailing blanks.
fn end_line(out: &mut String) {
    out.truncate(out.trim_end_matches(' ').len());
    out.push('\n');
}
