//! The numbers of the operations, which the kernel lists in a file.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::sync::OnceLock;

use rustix::io::Errno;

/// The sysctl of a patched kernel: the name and the number of an operation in each line
/// (`kernel/patches/7.3/sign`).
const LIST: &str = "/proc/sys/kernel/ringwalk_operations";

/// More bytes than any kernel lists.
const LONGEST_LIST: u64 = 4096;

/// A number that no kernel has so far: every ring answers `EINVAL`.
pub(super) const REFUSED: u8 = u8::MAX;

/// Numbers of the operations that read directories.
///
/// Only a kernel that lists them itself has them: mainline gives their numbers to other operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DirectoryOpcodes {
    /// Reads names.
    pub getdents: u8,
    /// Reads names and metadata. `None` if the kernel has only the first operation.
    pub readdirplus: Option<u8>,
}

impl DirectoryOpcodes {
    /// Numbers that no kernel has so far.
    pub(crate) const NONE: Self = Self {
        getdents: REFUSED,
        readdirplus: None,
    };

    /// Reads the kernel's list of operations, `/proc/sys/kernel/ringwalk_operations`. Returns
    /// `None` if the kernel has no such list, if `/proc` is not mounted, or if the list does not
    /// have the operation that reads names.
    ///
    /// # Errors
    ///
    /// The errors of open(2) and read(2), except `ENOENT`.
    pub fn read() -> Result<Option<Self>, Errno> {
        let mut list = String::new();
        let read =
            File::open(LIST).and_then(|file| file.take(LONGEST_LIST).read_to_string(&mut list));
        match read {
            Ok(_) => Ok(Self::parse(&list)),
            // Bytes that are not UTF-8 are no list of a kernel.
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::InvalidData) => {
                Ok(None)
            }
            Err(error) => Err(Errno::from_io_error(&error).unwrap_or(Errno::IO)),
        }
    }

    /// Returns the result of [`read`](Self::read), which is called once for the process. Returns
    /// `None` also if the list could not be read, because no descriptor was free for instance. The
    /// next call then reads it again.
    pub fn cached() -> Option<Self> {
        static FOUND: OnceLock<Option<DirectoryOpcodes>> = OnceLock::new();
        if let Some(found) = FOUND.get() {
            return *found;
        }
        let found = Self::read().ok()?;
        *FOUND.get_or_init(|| found)
    }

    /// Returns what [`cached`](Self::cached) returns, or numbers that the kernel refuses.
    pub(super) fn of_kernel() -> Self {
        Self::cached().unwrap_or(Self::NONE)
    }

    /// Finds the operations in a list. Other names belong to operations that are not used here. A
    /// list with a line of another form, or with a name or a number twice, says nothing.
    pub(super) fn parse(list: &str) -> Option<Self> {
        let mut operations: Vec<(&str, u8)> = Vec::new();
        for line in list.lines() {
            let (name, number) = line.split_once(' ')?;
            let number = number.parse().ok()?;
            if operations
                .iter()
                .any(|known| known.0 == name || known.1 == number)
            {
                return None;
            }
            operations.push((name, number));
        }
        let number_of = |name| Some(operations.iter().find(|known| known.0 == name)?.1);
        Some(Self {
            getdents: number_of("GETDENTS")?,
            readdirplus: number_of("READDIRPLUS"),
        })
    }
}
