//! The number of files that this process has open.

use rustix::fs::{CWD, Dir, Mode, OFlags, openat, stat};
use rustix::io::Errno;

/// Where the kernel lists the descriptors of this process.
const LIST: &str = "/proc/self/fd";

/// Returns how many descriptors this process has open; `None` if that cannot be found out, for
/// example without `/proc`.
///
/// Since Linux 6.2 stat(2) gives the number as the size of the list (fs/proc/fd.c,
/// `proc_fd_getattr`). Before, the size is 0, and the list is read.
pub fn open_file_count() -> Option<usize> {
    let size = stat(LIST).ok()?.st_size;
    match usize::try_from(size).ok()? {
        0 => listed(),
        open => Some(open),
    }
}

/// Counts the descriptors that the kernel lists.
fn listed() -> Option<usize> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let list = match openat(CWD, LIST, flags, Mode::empty()) {
        Ok(fd) => Dir::new(fd).ok()?,
        // The process has all descriptors that it may have.
        Err(Errno::MFILE | Errno::NFILE) => return Some(usize::MAX),
        Err(_) => return None,
    };
    let names = list.filter(|entry| {
        let dots = |name: &[u8]| name == b"." || name == b"..";
        entry
            .as_ref()
            .is_ok_and(|entry| !dots(entry.file_name().to_bytes()))
    });
    // One of the names is the open list itself.
    Some(names.count().saturating_sub(1))
}

#[cfg(test)]
mod tests;
