//! What a snapshot keeps of one file.

use crate::schema::Attributes;
use ringwalk::{Errno, FileType, Operation};

/// What is known of one file, as it is given to a writer.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    /// The name, without `/`. The name of a root is not used.
    pub name: &'a [u8],
    /// The type.
    pub file_type: FileType,
    /// Metadata.
    pub attributes: Attributes,
    /// The target of a symbolic link.
    pub target: Option<&'a [u8]>,
    /// Names and values of extended attributes.
    pub xattrs: &'a [(Vec<u8>, Vec<u8>)],
    /// What could not be read.
    pub failure: Option<Failure>,
    /// Why the file was left out.
    pub skipped: Option<Skipped>,
}

impl<'a> Entry<'a> {
    /// Creates an entry of which nothing else is known.
    pub fn new(name: &'a [u8], file_type: FileType) -> Self {
        Self {
            name,
            file_type,
            attributes: Attributes::default(),
            target: None,
            xattrs: &[],
            failure: None,
            skipped: None,
        }
    }
}

/// The operation that failed, as the column `operation` names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FailedOperation {
    /// Reading metadata.
    Stat,
    /// Opening a directory.
    Open,
    /// Reading a directory.
    Read,
    /// Reading the target of a symbolic link.
    Readlink,
    /// Reading extended attributes.
    Xattr,
}

impl FailedOperation {
    const ALL: [Self; 5] = [
        Self::Stat,
        Self::Open,
        Self::Read,
        Self::Readlink,
        Self::Xattr,
    ];

    /// Returns the name in the file.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Stat => "stat",
            Self::Open => "open",
            Self::Read => "read",
            Self::Readlink => "readlink",
            Self::Xattr => "xattr",
        }
    }

    pub(crate) fn of_number(number: u8) -> Option<Self> {
        Self::ALL.get(usize::from(number)).copied()
    }

    /// Returns the operation with this name.
    pub(crate) fn of_name(name: &str) -> Option<Self> {
        let mut all = Self::ALL.into_iter();
        all.find(|operation| operation.as_str() == name)
    }
}

impl From<Operation> for FailedOperation {
    fn from(operation: Operation) -> Self {
        match operation {
            Operation::Open => Self::Open,
            Operation::Read => Self::Read,
            _ => Self::Stat,
        }
    }
}

/// What could not be read of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The operation that failed.
    pub operation: FailedOperation,
    /// The error. An imported file may not say which: `EIO` then.
    pub errno: Errno,
}

/// Returns the error that has a number of a file. `None` if there is no such error: the constructor
/// of [`Errno`] panics then.
pub(crate) fn stored_errno(number: i64) -> Option<Errno> {
    let number = i32::try_from(number).ok();
    let number = number.filter(|number| (1..4096).contains(number))?;
    Some(Errno::from_raw_os_error(number))
}

/// Why a file was left out: a directory has not been read, or a file does not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Skipped {
    /// The file lies on another file system.
    OtherFs,
    /// The file lies on a file system of the kernel, such as `/proc`.
    KernFs,
    /// A pattern of the user excluded the file.
    Pattern,
    /// The file is a firmlink of macOS.
    FirmLink,
    /// The directory lies within itself, through a mount.
    Loop,
}

impl Skipped {
    const ALL: [Self; 5] = [
        Self::OtherFs,
        Self::KernFs,
        Self::Pattern,
        Self::FirmLink,
        Self::Loop,
    ];

    /// Returns the reason in words.
    pub fn reason(self) -> &'static str {
        match self {
            Self::OtherFs => "another file system",
            Self::KernFs => "a file system of the kernel",
            Self::Pattern => "excluded by a pattern",
            Self::FirmLink => "a firmlink",
            Self::Loop => "a directory within itself",
        }
    }

    /// Returns the name in the file. It is the same in ncdu's export.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::OtherFs => "otherfs",
            Self::KernFs => "kernfs",
            Self::Pattern => "pattern",
            Self::FirmLink => "frmlink",
            Self::Loop => "loop",
        }
    }

    /// Returns the reason with this name.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|skipped| skipped.as_str() == name)
    }

    pub(crate) fn of_number(number: u8) -> Option<Self> {
        Self::ALL.get(usize::from(number)).copied()
    }
}

#[cfg(test)]
mod tests {
    //! What a file says of errors.

    use super::*;

    #[test]
    fn a_number_that_is_no_error_does_not_panic() {
        for number in [i64::MIN, -1, 0, 4096, 1 << 16, (1 << 32) + 2, i64::MAX] {
            assert_eq!(stored_errno(number), None, "{number}");
        }
        assert_eq!(stored_errno(2), Some(Errno::NOENT));
        assert!(stored_errno(4095).is_some());
    }
}
