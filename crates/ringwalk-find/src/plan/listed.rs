//! Tests that are decided by what is at hand: name, path, type, metadata. No call is made for them.

use crate::expression::{Permission, PermissionMatch, Test, Time};
use ringwalk::{FileType, Metadata, Timestamp};

/// What is at hand of a file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Listed<'e> {
    /// The last component of the path.
    pub(crate) name: &'e [u8],
    pub(crate) path: &'e [u8],
    pub(crate) kind: FileType,
    pub(crate) metadata: Option<&'e Metadata>,
}

/// Decides a test; none if what is at hand is not enough.
#[inline]
pub(crate) fn decide(test: &Test, file: &Listed<'_>) -> Option<bool> {
    Some(match test {
        Test::True => true,
        Test::False => false,
        Test::Name(pattern) => pattern.matches(file.name),
        Test::Path(pattern) => pattern.matches(file.path),
        Test::Regex(regex) => regex.matches(file.path),
        Test::Type(types) => types.contains(file.kind),
        Test::Hidden => is_hidden(file.name),
        _ => return decide_by_metadata(test, file.metadata?),
    })
}

fn decide_by_metadata(test: &Test, metadata: &Metadata) -> Option<bool> {
    let time = |time: Time, check: &dyn Fn(Timestamp) -> bool| time.of(metadata).is_some_and(check);
    Some(match test {
        Test::Size { count, unit } => count.holds(units(metadata.size, *unit)),
        Test::Links(count) => count.holds(metadata.nlink.into()),
        Test::Inode(number) => number.holds(metadata.ino),
        Test::SameFile(identity) => metadata.identity() == *identity,
        Test::Permission(permission) => allows(*permission, metadata),
        Test::Uid(number) => number.holds(metadata.uid.into()),
        Test::Gid(number) => number.holds(metadata.gid.into()),
        Test::Age(which, span) => time(*which, &|time| span.contains(time)),
        Test::Newer(which, than) => time(*which, &|time| time > *than),
        Test::Used(span) => used(metadata).is_some_and(|time| span.contains(time)),
        _ => return None,
    })
}

/// Whether [`decide`] decides this test where there is no metadata.
pub(super) fn is_decided_by_name(test: &Test) -> bool {
    matches!(
        test,
        Test::True
            | Test::False
            | Test::Name(_)
            | Test::Path(_)
            | Test::Regex(_)
            | Test::Type(_)
            | Test::Hidden
    )
}

/// Whether [`decide`] decides this test where there is metadata, and only there.
pub(crate) fn is_decided_by_metadata(test: &Test) -> bool {
    matches!(
        test,
        Test::Size { .. }
            | Test::Links(_)
            | Test::Inode(_)
            | Test::SameFile(_)
            | Test::Permission(_)
            | Test::Uid(_)
            | Test::Gid(_)
            | Test::Age(..)
            | Test::Newer(..)
            | Test::Used(_)
    )
}

/// Whether a name begins with a dot and is not `.` or `..`.
fn is_hidden(name: &[u8]) -> bool {
    name.first() == Some(&b'.') && name != b"." && name != b".."
}

/// Units that `size` bytes take, rounded up.
fn units(size: u64, unit: u64) -> u64 {
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
    let bits = metadata.mode & 0o7777;
    match permission.how {
        PermissionMatch::Exactly => bits == wanted,
        PermissionMatch::All => bits & wanted == wanted,
        PermissionMatch::Any => wanted == 0 || bits & wanted != 0,
    }
}

/// The time from the last change of the inode to the last access; none if that is before it.
fn used(metadata: &Metadata) -> Option<Timestamp> {
    let (accessed, changed) = (metadata.atime, metadata.ctime);
    if accessed < changed {
        return None;
    }
    let borrowed = accessed.nanos < changed.nanos;
    Some(Timestamp {
        secs: accessed.secs - changed.secs - i64::from(borrowed),
        nanos: if borrowed {
            1_000_000_000 + accessed.nanos - changed.nanos
        } else {
            accessed.nanos - changed.nanos
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_rounded_up_to_units() {
        for (size, unit, expected) in [
            (0, 512, 0),
            (1, 512, 1),
            (512, 512, 1),
            (513, 512, 2),
            (7, 1, 7),
            (u64::MAX, 1, u64::MAX),
            (u64::MAX, 1 << 30, 1 << 34),
            (10, 3, 4),
        ] {
            assert_eq!(units(size, unit), expected, "{size} in units of {unit}");
        }
    }

    #[test]
    fn dots_alone_do_not_hide() {
        assert!(is_hidden(b".x") && is_hidden(b"..."));
        assert!(!is_hidden(b".") && !is_hidden(b"..") && !is_hidden(b"x."));
    }
}
