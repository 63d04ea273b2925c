//! Rows under a header, each column as wide as its widest cell.
//!
//! Invariant: cells are neutralised here, so a caller cannot forget to.

use super::{Failure, Terminal};
use crate::offline::display::printable;

/// A table in the making; it is held whole, so its rows must be few enough for that.
pub(super) struct Table<const N: usize> {
    rows: Vec<[String; N]>,
}

impl<const N: usize> Table<N> {
    pub(super) fn new(header: [&str; N]) -> Self {
        Self {
            rows: vec![header.map(str::to_owned)],
        }
    }

    pub(super) fn row(&mut self, cells: [String; N]) {
        self.rows
            .push(cells.map(|cell| printable(&cell).into_owned()));
    }

    /// Prints it. The last column is not padded.
    pub(super) fn print(&self, terminal: &mut Terminal<'_>) -> Result<(), Failure> {
        let mut widths = [0; N];
        for row in &self.rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = cell.chars().count().max(*width);
            }
        }
        for row in &self.rows {
            let mut line = String::new();
            for (width, cell) in widths.iter().zip(row) {
                line.push_str(cell);
                let fill = width.saturating_sub(cell.chars().count()) + 2;
                line.extend(std::iter::repeat_n(' ', fill));
            }
            terminal.line(line.trim_end())?;
        }
        Ok(())
    }
}
