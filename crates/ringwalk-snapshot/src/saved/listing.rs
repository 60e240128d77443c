//! Listing numbers: the last row of a directory's listing, and how reading it failed.

use ringwalk::{Errno, Operation};

/// The bits of the row. Files of more rows cannot be walked.
const ROW_BITS: u32 = 48;
const ERRNO_BITS: u32 = 12;
/// Set if the directory was opened and could not be read to its end.
const READ: u64 = 1 << (ROW_BITS + ERRNO_BITS);

/// The entries of a directory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ListingNumber {
    /// The last row of the listing; `None` if there are no entries.
    pub(super) last: Option<u64>,
    /// Why the directory could not be read.
    pub(super) failure: Option<(Operation, Errno)>,
}

impl ListingNumber {
    /// Returns one number for all of it.
    pub(super) fn pack(self) -> u64 {
        let row = self.last.map_or(0, |row| row + 1) & ((1 << ROW_BITS) - 1);
        let Some((operation, errno)) = self.failure else {
            return row;
        };
        let errno = u64::from(errno.raw_os_error().unsigned_abs()) & ((1 << ERRNO_BITS) - 1);
        let read = if operation == Operation::Read {
            READ
        } else {
            0
        };
        row | errno << ROW_BITS | read
    }

    /// Returns the meaning of a number.
    pub(super) fn unpack(number: u64) -> Self {
        let row = number & ((1 << ROW_BITS) - 1);
        let errno = (number >> ROW_BITS) & ((1 << ERRNO_BITS) - 1);
        let errno = i32::try_from(errno).unwrap_or(0);
        let operation = if number & READ == 0 {
            Operation::Open
        } else {
            Operation::Read
        };
        Self {
            last: row.checked_sub(1),
            failure: (errno != 0).then(|| (operation, Errno::from_raw_os_error(errno))),
        }
    }
}
