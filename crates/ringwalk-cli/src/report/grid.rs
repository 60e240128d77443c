//! Columns of text: labels to the left, numbers to the right.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Columns between two cells.
pub(super) const GAP: usize = 2;

/// The least width of a label that is cut.
const LEAST_LABEL: usize = 8;

/// Lines of cells. All lines have the same number of cells.
#[derive(Debug)]
pub(super) struct Grid {
    /// The number of columns with labels, which come first.
    labels: usize,
    lines: Vec<Vec<String>>,
}

impl Grid {
    /// Creates a grid whose first columns are labels.
    pub(super) fn new(labels: usize) -> Self {
        Self {
            labels,
            lines: Vec::new(),
        }
    }

    /// Adds a line.
    pub(super) fn push(&mut self, line: Vec<String>) {
        self.lines.push(line);
    }

    /// Returns the width of each column.
    fn widths(&self) -> Vec<usize> {
        let cells = self.lines.first().map_or(0, Vec::len);
        let width = |at: usize| {
            let widths = self.lines.iter().map(|line| line[at].width());
            widths.max().unwrap_or(0)
        };
        (0..cells).map(width).collect()
    }

    /// Returns the width of a line.
    pub(super) fn width(&self) -> usize {
        let widths = self.widths();
        widths.iter().sum::<usize>() + GAP * widths.len().saturating_sub(1)
    }

    /// Cuts long labels so that lines fit in `columns`, as far as possible.
    pub(super) fn fit(&mut self, columns: usize) {
        let mut widths = self.widths();
        let mut excess = self.width().saturating_sub(columns);
        while excess > 0 {
            // The widest label gives.
            let widest = (0..self.labels).max_by_key(|at| widths[*at]);
            let Some(at) = widest.filter(|at| widths[*at] > LEAST_LABEL) else {
                break;
            };
            widths[at] -= 1;
            excess -= 1;
        }
        for line in &mut self.lines {
            for (cell, width) in line.iter_mut().zip(&widths).take(self.labels) {
                if cell.width() > *width {
                    *cell = cut(cell, width.saturating_sub(1)) + "~";
                }
            }
        }
    }

    /// Returns the lines, each of the same width.
    pub(super) fn lines(&self) -> Vec<String> {
        let widths = self.widths();
        let line = |cells: &Vec<String>| {
            let mut out = String::new();
            for (at, (cell, width)) in cells.iter().zip(&widths).enumerate() {
                if at > 0 {
                    out.push_str(&" ".repeat(GAP));
                }
                let space = " ".repeat(width - cell.width());
                if at < self.labels {
                    out.push_str(cell);
                    out.push_str(&space);
                } else {
                    out.push_str(&space);
                    out.push_str(cell);
                }
            }
            out
        };
        self.lines.iter().map(line).collect()
    }
}

/// Returns the beginning of `text` that fits in `columns`.
fn cut(text: &str, columns: usize) -> String {
    let mut used = 0;
    let fits = |character: &char| {
        used += character.width().unwrap_or(0);
        used <= columns
    };
    text.chars().take_while(fits).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(lines: &[&[&str]]) -> Grid {
        let mut grid = Grid::new(1);
        for line in lines {
            grid.push(line.iter().map(|cell| (*cell).to_owned()).collect());
        }
        grid
    }

    #[test]
    fn labels_stand_to_the_left_and_numbers_to_the_right() {
        let grid = grid(&[&["name", "n"], &["é", "10"], &["日本語", "9"]]);
        assert_eq!(grid.lines(), ["name     n", "é       10", "日本語   9"]);
        assert_eq!(grid.width(), 10);
    }

    #[test]
    fn long_labels_are_cut_to_the_width() {
        let mut grid = grid(&[
            &["a label that is long", "10"],
            &["日本語日本語日本語", "9"],
            &["b", "1"],
        ]);
        grid.fit(14);
        let expected = ["a label t~  10", "日本語日~    9", "b            1"];
        assert_eq!(grid.lines(), expected);
    }

    #[test]
    fn numbers_are_never_cut() {
        let mut grid = grid(&[&["a label that is long", "1234567890"]]);
        grid.fit(10);
        assert_eq!(grid.lines(), ["a label~  1234567890"]);
    }

    #[test]
    fn no_lines_have_no_width() {
        assert_eq!(Grid::new(1).width(), 0);
        assert!(Grid::new(1).lines().is_empty());
    }
}
