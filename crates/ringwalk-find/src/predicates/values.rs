//! The values that tests compare with.

use ringwalk::{FileType, Timestamp};
use std::fmt;

/// A number and its sign: `-N`, `N`, `+N`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compare {
    /// `-N`.
    Less(u64),
    /// `N`.
    Exactly(u64),
    /// `+N`.
    More(u64),
}

impl Compare {
    /// Returns true if `value` is less than, equal to or more than the number.
    pub fn holds(self, value: u64) -> bool {
        match self {
            Self::Less(number) => value < number,
            Self::Exactly(number) => value == number,
            Self::More(number) => value > number,
        }
    }

    /// Returns true if the value is known, and [`holds`](Self::holds) is true of it.
    #[inline]
    pub(crate) fn holds_of(self, value: Option<impl Into<u64>>) -> bool {
        value.is_some_and(|value| self.holds(value.into()))
    }
}

/// A span of time that `-mtime 3` and the like ask for. The parser computes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Span {
    /// Before this moment.
    Before(Timestamp),
    /// After this moment.
    After(Timestamp),
    /// After the first moment, and not after the second.
    Within(Timestamp, Timestamp),
}

impl Span {
    /// Returns true if `time` lies in the span.
    pub fn contains(self, time: Timestamp) -> bool {
        match self {
            Self::Before(end) => time < end,
            Self::After(begin) => time > begin,
            Self::Within(begin, end) => time > begin && time <= end,
        }
    }
}

/// The moments in seconds since 1970, as `-D time` shows them.
impl fmt::Display for Span {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |time: Timestamp| format!("{}.{:09}", time.secs, time.nanos);
        match self {
            Self::Before(end) => write!(out, "before {}", shown(*end)),
            Self::After(begin) => write!(out, "after {}", shown(*begin)),
            Self::Within(begin, end) => {
                write!(out, "after {}, not after {}", shown(*begin), shown(*end))
            }
        }
    }
}

/// A set of file types.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TypeSet(u16);

impl TypeSet {
    /// The types that `-type` and `-xtype` name, by their letters.
    pub(crate) const LETTERS: [(u8, FileType); 7] = [
        (b'b', FileType::BlockDevice),
        (b'c', FileType::CharacterDevice),
        (b'd', FileType::Directory),
        (b'f', FileType::Regular),
        (b'l', FileType::Symlink),
        (b'p', FileType::Fifo),
        (b's', FileType::Socket),
    ];

    /// Adds a type.
    pub fn insert(&mut self, file_type: FileType) {
        self.0 |= Self::bit(file_type);
    }

    /// Returns true if the type is in the set.
    pub fn contains(self, file_type: FileType) -> bool {
        self.0 & Self::bit(file_type) != 0
    }

    fn bit(file_type: FileType) -> u16 {
        1 << (file_type as u16)
    }
}

/// The way in which permission bits are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PermissionMatch {
    /// `-perm MODE`: the bits are these.
    Exactly,
    /// `-perm -MODE`: all of these are set.
    All,
    /// `-perm /MODE`: any of these is set, or none was named.
    Any,
}

/// The argument of `-perm`. The bits differ for directories where the mode has an `X`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Permission {
    /// The way in which the bits are compared.
    pub how: PermissionMatch,
    /// The bits for files that are no directories.
    pub file: u32,
    /// The bits for directories.
    pub directory: u32,
}

impl Permission {
    /// The bits of a mode that are permissions: for owner, group and others, set-user-ID,
    /// set-group-ID and the sticky bit.
    pub const BITS: u32 = 0o7777;
}
