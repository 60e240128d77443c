//! Which part of a file is in the page cache.

use crate::getdents::last_errno;
use rustix::io::Errno;
use std::os::fd::{AsFd, AsRawFd};

/// Number of cachestat(2). The call is so new that it has the same number on nearly every
/// architecture (`include/uapi/asm-generic/unistd.h`). On the others, such as MIPS, no call has
/// this number: `ENOSYS`.
const NR_CACHESTAT: libc::c_long = 451;

/// `struct cachestat_range`, `include/uapi/linux/mman.h`.
#[repr(C)]
struct CachestatRange {
    off: u64,
    len: u64,
}

/// Numbers of pages of a part of a file: `struct cachestat` of `include/uapi/linux/mman.h`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[doc(alias = "cachestat")]
pub struct Cachestat {
    /// Pages in the page cache, including those that are being read.
    pub cached: u64,
    /// Pages changed and not yet written back.
    pub dirty: u64,
    /// Pages being written back.
    pub writeback: u64,
    /// Pages evicted since they were last used.
    pub evicted: u64,
    /// Pages evicted so recently that they would be needed again.
    pub recently_evicted: u64,
}

const _: () = assert!(size_of::<CachestatRange>() == 16 && size_of::<Cachestat>() == 40);

/// Returns how many pages of `length` bytes from `offset` on are in the page cache. Reads nothing.
///
/// # Errors
///
/// `ENOSYS` before Linux 6.5, `EPERM` for a file that the caller neither owns nor may write to,
/// `EOPNOTSUPP` on hugetlbfs.
///
/// [cachestat(2)](https://man7.org/linux/man-pages/man2/cachestat.2.html)
pub fn cachestat(file: impl AsFd, offset: u64, length: u64) -> Result<Cachestat, Errno> {
    let mut range = CachestatRange {
        off: offset,
        len: length,
    };
    let mut found = Cachestat::default();
    let flags: libc::c_uint = 0;
    // SAFETY: the number is cachestat's, which takes a descriptor, a pointer to
    // `struct cachestat_range` to read from, one to `struct cachestat` to write to, and flags. Both
    // structures are valid, have the kernel's layout (asserted above), and outlive the call. A
    // kernel without the call returns ENOSYS.
    let status = unsafe {
        libc::syscall(
            NR_CACHESTAT,
            file.as_fd().as_raw_fd(),
            &raw mut range,
            &raw mut found,
            flags,
        )
    };
    if status == 0 {
        return Ok(found);
    }
    Err(last_errno())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn what_has_just_been_written_is_cached() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&[1; 8192]).unwrap();
        match cachestat(&file, 0, 8192) {
            Ok(found) => assert!((1..=2).contains(&found.cached)),
            Err(errno) => assert_eq!(errno, Errno::NOSYS),
        }
        match cachestat(&file, 64 << 20, 8192) {
            Ok(found) => assert_eq!(found, Cachestat::default()),
            Err(errno) => assert_eq!(errno, Errno::NOSYS),
        }
    }
}
