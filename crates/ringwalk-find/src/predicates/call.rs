//! Tests that need further system calls. `search/call.rs` makes the calls.

use super::{Profile, TypeSet};
use crate::pattern::Pattern;
use ringwalk::{Fields, FileType};

/// The cost of another call that looks up a name, in nanoseconds.
const LOOKUP: f64 = 1500.0;
/// The cost of opening a directory and reading it, in nanoseconds.
const LISTING: f64 = 6000.0;

/// A test that needs further system calls.
#[derive(Debug)]
pub enum CallTest {
    /// `-lname`, `-ilname`: the target that a symbolic link holds.
    LinkName(Pattern),
    /// `-xtype`: the type of what a link leads to if links are not followed, or else of the link.
    XType(TypeSet),
    /// `-empty`: a regular file of no bytes, or a directory of no entries.
    Empty,
    /// `-nouser`.
    NoUser,
    /// `-nogroup`.
    NoGroup,
    /// `-readable`, `-writable`, `-executable`.
    Access(AccessMode),
    /// `-fstype`.
    FileSystem(Vec<u8>),
    /// A file on another device than its starting point, which `-mount` leaves out.
    Elsewhere,
    /// `-context`: the label of `SELinux`.
    Context(Pattern),
}

/// The permission that access(2) checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessMode {
    /// `-readable`.
    Read,
    /// `-writable`.
    Write,
    /// `-executable`.
    Execute,
}

impl CallTest {
    pub(super) fn profile(&self) -> Profile {
        match self {
            // Only links are looked up, and links are few.
            Self::LinkName(_) => Profile::new(100.0, 0.01).with_type(),
            Self::XType(types) if types.contains(FileType::Regular) => {
                Profile::new(100.0, 0.9).with_type()
            }
            Self::XType(_) => Profile::new(100.0, 0.1).with_type(),
            // Only directories are read; other files are asked for their size.
            Self::Empty => Profile::new(LISTING / 10.0, 0.05)
                .with_fields(Fields::SIZE)
                .with_type(),
            Self::NoUser => Profile::new(50.0, 0.01).with_fields(Fields::UID),
            Self::NoGroup => Profile::new(50.0, 0.01).with_fields(Fields::GID),
            Self::Access(_) => Profile::new(LOOKUP, 0.8),
            Self::FileSystem(_) => Profile::new(50.0, 0.9).with_fields(Fields::MNT_ID),
            // Only mount points are asked; the walk asks directories itself.
            Self::Elsewhere => Profile::new(10.0, 0.01).with_type(),
            Self::Context(_) => Profile::new(2.0 * LOOKUP, 0.3),
        }
    }

    pub(super) fn method(&self) -> Option<&'static str> {
        match self {
            Self::LinkName(pattern) | Self::Context(pattern) => Some(pattern.method()),
            Self::XType(_)
            | Self::Empty
            | Self::NoUser
            | Self::NoGroup
            | Self::Access(_)
            | Self::FileSystem(_)
            | Self::Elsewhere => None,
        }
    }
}
