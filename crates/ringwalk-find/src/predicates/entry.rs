//! Tests that the directory entry decides: the name, the path and the type. No call is made for
//! them.

use super::{Profile, TypeSet};
use crate::pattern::Pattern;
use crate::regex::Regex;
use ringwalk::FileType;

/// A test that the directory entry decides.
#[derive(Debug)]
pub enum EntryTest {
    /// `-true`, and options, which are true where they stand.
    True,
    /// `-false`.
    False,
    /// `-name`, `-iname`: the last component of the path.
    Name(Pattern),
    /// `-path`, `-ipath`, `-wholename`, `-iwholename`: the whole path.
    Path(Pattern),
    /// `-regex`, `-iregex`: the whole path.
    Regex(Regex),
    /// `-type`.
    Type(TypeSet),
    /// `-hidden`: the name begins with a dot, and is neither `.` nor `..`.
    Hidden,
}

/// The part of a directory entry that a test reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// None.
    Nothing,
    /// The last component of the path.
    Name,
    /// The whole path.
    Path,
    /// The type.
    Type,
}

/// A directory entry as tests read it.
pub(crate) trait Listing {
    /// Returns the last component of the path.
    fn name(&self) -> &[u8];

    /// Returns the path, beginning with the starting point.
    fn path(&self) -> &[u8];

    /// Returns the type.
    fn file_type(&self) -> FileType;
}

impl EntryTest {
    /// Returns true if the test is true of `file`.
    #[inline]
    pub(crate) fn holds(&self, file: &impl Listing) -> bool {
        match self {
            Self::True => true,
            Self::False => false,
            Self::Name(pattern) => pattern.matches(file.name()),
            Self::Path(pattern) => pattern.matches(file.path()),
            Self::Regex(regex) => regex.matches(file.path()),
            Self::Type(types) => types.contains(file.file_type()),
            Self::Hidden => is_hidden(file.name()),
        }
    }

    /// Returns the part of the entry that [`holds`](Self::holds) reads.
    pub(crate) fn reads(&self) -> Part {
        match self {
            Self::True | Self::False => Part::Nothing,
            Self::Name(_) | Self::Hidden => Part::Name,
            Self::Path(_) | Self::Regex(_) => Part::Path,
            Self::Type(_) => Part::Type,
        }
    }

    pub(super) fn profile(&self) -> Profile {
        let (cost, success) = match self {
            Self::True => (1.0, 1.0),
            Self::False => (1.0, 0.0),
            Self::Type(types) if types.contains(FileType::Regular) => (2.0, 0.9),
            Self::Type(types) if types.contains(FileType::Directory) => (2.0, 0.1),
            Self::Type(_) => (2.0, 0.02),
            Self::Hidden => (2.0, 0.05),
            Self::Name(_) => (10.0, 0.1),
            Self::Path(_) => (20.0, 0.2),
            Self::Regex(_) => (60.0, 0.1),
        };
        Profile {
            asks_type: self.reads() == Part::Type,
            ..Profile::new(cost, success)
        }
    }

    pub(super) fn method(&self) -> Option<&'static str> {
        match self {
            Self::Name(pattern) | Self::Path(pattern) => Some(pattern.method()),
            Self::Regex(regex) => Some(regex.method()),
            Self::True | Self::False | Self::Type(_) | Self::Hidden => None,
        }
    }

    pub(super) fn path_prefix(&self) -> &[u8] {
        match self {
            Self::Path(pattern) => pattern.literal_prefix(),
            Self::Regex(regex) => regex.literal_prefix(),
            // `-false` has none either: it is written to read everything and to do nothing.
            Self::True | Self::False | Self::Name(_) | Self::Type(_) | Self::Hidden => b"",
        }
    }
}

/// Returns true if a name begins with a dot and is not `.` or `..`.
pub(super) fn is_hidden(name: &[u8]) -> bool {
    name.first() == Some(&b'.') && name != b"." && name != b".."
}
