//! A cursor in rows, when only a part of the rows is visible.

/// The cursor's row, and the rows that are visible.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cursor {
    /// The row of the cursor.
    pub(crate) at: usize,
    /// The first visible row.
    pub(crate) top: usize,
    /// The number of visible rows, as of the last drawing.
    height: usize,
}

impl Cursor {
    /// Sets the number of visible rows. The cursor stays visible.
    pub(crate) fn set_height(&mut self, height: usize) {
        if self.height != height {
            self.height = height;
            self.reveal();
        }
    }

    /// Returns the number of rows of one screen, for moving by screens.
    pub(crate) fn page(self) -> isize {
        isize::try_from(self.height.max(1)).unwrap_or(isize::MAX)
    }

    /// Moves by `rows` within `count` rows.
    pub(crate) fn step(&mut self, rows: isize, count: usize) {
        self.set(self.at.saturating_add_signed(rows), count);
    }

    /// Moves to a row, or to the last of `count` rows.
    pub(crate) fn set(&mut self, row: usize, count: usize) {
        self.at = row.min(count.saturating_sub(1));
        self.reveal();
    }

    /// Follows its entry to another row of `count` and stays on its line of the screen. Only at the
    /// begin and at the end of the rows the line changes, so that the screen stays full.
    pub(crate) fn follow(&mut self, row: usize, count: usize) {
        let line = self.at.saturating_sub(self.top);
        self.at = row;
        self.top = row
            .saturating_sub(line)
            .min(count.saturating_sub(self.height));
        self.reveal();
    }

    /// Returns to a number of rows that may have become smaller.
    pub(crate) fn limit(&mut self, count: usize) {
        self.at = self.at.min(count.saturating_sub(1));
        self.top = self.top.min(self.at);
    }

    /// Scrolls as little as makes the cursor visible.
    fn reveal(&mut self) {
        let height = self.height.max(1);
        if self.at < self.top {
            self.top = self.at;
        } else if self.at >= self.top + height {
            self.top = self.at + 1 - height;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scrolls_as_little_as_necessary() {
        let mut cursor = Cursor::default();
        cursor.set_height(3);
        cursor.step(3, 10);
        assert_eq!((cursor.at, cursor.top), (3, 1));
        cursor.step(-1, 10);
        assert_eq!((cursor.at, cursor.top), (2, 1));
        cursor.step(-9, 10);
        assert_eq!((cursor.at, cursor.top), (0, 0));
        cursor.set(usize::MAX, 10);
        assert_eq!((cursor.at, cursor.top), (9, 7));
    }

    #[test]
    fn follows_on_the_same_line() {
        let mut cursor = Cursor::default();
        cursor.set_height(5);
        cursor.set(2, 100);
        cursor.follow(50, 100);
        assert_eq!((cursor.at, cursor.top), (50, 48));
        cursor.follow(1, 100);
        assert_eq!((cursor.at, cursor.top), (1, 0));
        cursor.follow(99, 100);
        assert_eq!((cursor.at, cursor.top), (99, 95));
    }

    #[test]
    fn a_smaller_screen_shows_the_cursor() {
        let mut cursor = Cursor::default();
        cursor.set_height(20);
        cursor.set(15, 20);
        cursor.set_height(4);
        assert_eq!((cursor.at, cursor.top), (15, 12));
    }
}
