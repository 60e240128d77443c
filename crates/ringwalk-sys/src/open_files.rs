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
mod tests {
    use super::*;

    /// Other tests open and close files meanwhile, so the count is repeated until none came
    /// between.
    #[test]
    fn both_ways_count_the_same() {
        let (mut size, mut list) = (0, 1);
        for _ in 0..10_000 {
            (size, list) = (stat(LIST).unwrap().st_size, listed().unwrap());
            // Linux before 6.2 gives no size.
            if size == 0 || usize::try_from(size).unwrap() == list {
                break;
            }
        }
        assert!(size == 0 || usize::try_from(size).unwrap() == list);
        assert_eq!(open_file_count().is_some(), list > 0);
    }

    #[test]
    fn an_open_file_is_counted() {
        let grew = (0..10_000).any(|_| {
            let before = open_file_count().unwrap();
            let held: Vec<_> = (0..50)
                .map(|_| std::fs::File::open("/dev/null").unwrap())
                .collect();
            let between = open_file_count().unwrap();
            drop(held);
            between == before + 50
        });
        assert!(grew);
    }
}
