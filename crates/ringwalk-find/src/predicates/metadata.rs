//! Tests that metadata decides.

use super::{Compare, Permission, PermissionMatch, Profile, Span};
use crate::time::Time;
use ringwalk::{Fields, FileType, Identity, Metadata, Timestamp};
use ringwalk_gnu::civil::NANOS_PER_SECOND;

/// A test that metadata decides.
#[derive(Debug)]
pub enum MetadataTest {
    /// `-size`: in units of so many bytes, rounded up.
    Size {
        /// The number of units.
        count: Compare,
        /// Bytes in a unit.
        unit: u64,
    },
    /// `-links`.
    Links(Compare),
    /// `-inum`.
    Inode(Compare),
    /// `-samefile`.
    SameFile(Identity),
    /// `-perm`.
    Permission(Permission),
    /// `-uid`, `-user`.
    Uid(Compare),
    /// `-gid`, `-group`.
    Gid(Compare),
    /// `-amin`, `-atime`, `-cmin`, `-ctime`, `-mmin`, `-mtime`.
    Age(Time, Span),
    /// `-used`: the last access is not before the last change of the inode. The time between the
    /// two, as a moment that long after 1970 began, lies in the span.
    Used(Span),
    /// `-newer`, `-anewer`, `-cnewer`, `-newerXY`: later than this moment.
    Newer(Time, Timestamp),
}

impl MetadataTest {
    /// Returns true if the test is true of a file with this metadata. The search passes no metadata
    /// that lacks a field of the test, except a time of birth.
    #[inline]
    pub(crate) fn holds(&self, metadata: &Metadata) -> bool {
        match self {
            Self::Size { count, unit } => metadata
                .size()
                .is_some_and(|size| count.holds(units(size, *unit))),
            Self::Links(count) => count.holds_of(metadata.nlink()),
            Self::Inode(number) => number.holds_of(metadata.ino()),
            Self::SameFile(identity) => metadata.identity() == Some(*identity),
            Self::Permission(permission) => allows(*permission, metadata),
            Self::Uid(number) => number.holds_of(metadata.uid()),
            Self::Gid(number) => number.holds_of(metadata.gid()),
            Self::Age(which, span) => which
                .of(metadata)
                .is_some_and(|moment| span.contains(moment)),
            Self::Newer(which, than) => which.of(metadata).is_some_and(|moment| moment > *than),
            Self::Used(span) => used(metadata).is_some_and(|moment| span.contains(moment)),
        }
    }

    pub(super) fn profile(&self) -> Profile {
        let (success, fields) = match self {
            Self::Size { .. } => (0.2, Fields::SIZE),
            Self::Links(_) => (0.5, Fields::NLINK),
            Self::Inode(_) => (0.001, Fields::INO),
            Self::SameFile(_) => (0.001, Fields::INO | Fields::MNT_ID),
            Self::Permission(_) => (0.2, Fields::TYPE | Fields::MODE),
            Self::Uid(_) => (0.5, Fields::UID),
            Self::Gid(_) => (0.5, Fields::GID),
            Self::Age(time, _) | Self::Newer(time, _) => (0.2, time.field()),
            Self::Used(_) => (0.3, Fields::ATIME | Fields::CTIME),
        };
        Profile::new(5.0, success).with_fields(fields)
    }

    pub(super) fn moments(&self) -> Option<String> {
        match self {
            Self::Age(_, span) => Some(span.to_string()),
            Self::Newer(_, than) => Some(Span::After(*than).to_string()),
            Self::Used(span) => Some(format!("from change to access, {span}")),
            Self::Size { .. }
            | Self::Links(_)
            | Self::Inode(_)
            | Self::SameFile(_)
            | Self::Permission(_)
            | Self::Uid(_)
            | Self::Gid(_) => None,
        }
    }
}

/// Returns the number of units that `size` bytes take, rounded up.
pub(super) fn units(size: u64, unit: u64) -> u64 {
    if unit.is_power_of_two() {
        // A division would take as long as all the rest.
        let over = size & (unit - 1) != 0;
        (size >> unit.trailing_zeros()) + u64::from(over)
    } else {
        size.div_ceil(unit)
    }
}

fn allows(permission: Permission, metadata: &Metadata) -> bool {
    let wanted = if metadata.file_type() == FileType::Directory {
        permission.directory
    } else {
        permission.file
    };
    let Some(bits) = metadata.permissions() else {
        return false;
    };
    match permission.how {
        PermissionMatch::Exactly => bits == wanted,
        PermissionMatch::All => bits & wanted == wanted,
        PermissionMatch::Any => wanted == 0 || bits & wanted != 0,
    }
}

/// Returns the time from the last change of the inode to the last access. None if the access came
/// first.
fn used(metadata: &Metadata) -> Option<Timestamp> {
    let (accessed, changed) = (metadata.atime()?, metadata.ctime()?);
    if accessed < changed {
        return None;
    }
    let borrowed = accessed.nanos < changed.nanos;
    Some(Timestamp {
        secs: accessed.secs - changed.secs - i64::from(borrowed),
        nanos: if borrowed {
            NANOS_PER_SECOND + accessed.nanos - changed.nanos
        } else {
            accessed.nanos - changed.nanos
        },
    })
}
