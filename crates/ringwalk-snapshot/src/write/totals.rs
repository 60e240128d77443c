//! The totals of a subtree.

#![expect(
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "the bits of a time are packed and unpacked"
)]

use super::pack::{Cursor, number};

/// Sums over rows. They saturate: a sum that does not fit is the largest number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Totals {
    pub(super) entries: u64,
    pub(super) size: u64,
    pub(super) alloc: u64,
    pub(super) freeable: u64,
    pub(super) errors: u64,
    /// The newest modification time.
    pub(super) mtime: Option<i64>,
}

impl Totals {
    pub(super) fn add(&mut self, other: &Self) {
        self.entries += other.entries;
        self.size = self.size.saturating_add(other.size);
        self.alloc = self.alloc.saturating_add(other.alloc);
        self.freeable = self.freeable.saturating_add(other.freeable);
        self.errors += other.errors;
        self.mtime = self.mtime.max(other.mtime);
    }
}

/// A subdirectory that is finished: what its row needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Finished {
    /// The number of the directory.
    pub(super) number: u64,
    /// The first row below it. The last one is the one before `end`.
    pub(super) first: u64,
    pub(super) end: u64,
    pub(super) below: Totals,
}

impl Finished {
    /// Appends the packed values. A directory with a million subdirectories has a million of them.
    pub(super) fn pack(&self, out: &mut Vec<u8>) {
        let Totals {
            entries,
            size,
            alloc,
            freeable,
            errors,
            mtime,
        } = self.below;
        for value in [
            self.number,
            self.first,
            self.end - self.first,
            entries,
            size,
            alloc,
            freeable,
            errors,
            u64::from(mtime.is_some()),
            mtime.unwrap_or_default() as u64,
        ] {
            number(value, out);
        }
    }

    pub(super) fn unpack(data: &[u8], at: &mut usize) -> Self {
        let mut from = Cursor { data, at: *at };
        let mut next = || from.number();
        let (number, first, rows) = (next(), next(), next());
        let mut below = Totals {
            entries: next(),
            size: next(),
            alloc: next(),
            freeable: next(),
            errors: next(),
            mtime: None,
        };
        let (has_mtime, mtime) = (next() == 1, next() as i64);
        below.mtime = has_mtime.then_some(mtime);
        *at = from.at;
        Self {
            number,
            first,
            end: first + rows,
            below,
        }
    }
}
