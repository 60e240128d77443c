//! Unit tests of `directory_fd.rs`.

use super::*;
use rustix::io::fcntl_getfd;

#[test]
fn duplicates_are_of_the_same_file() {
    let dir = tempfile::tempdir().unwrap();
    let file = std::fs::File::open(dir.path()).unwrap();
    let copy = std::fs::File::from(duplicate(file.as_raw_fd()).unwrap());
    let ino = |file: &std::fs::File| std::os::unix::fs::MetadataExt::ino(&file.metadata().unwrap());
    assert_eq!(ino(&copy), ino(&file));
    assert_eq!(duplicate(-1).unwrap_err(), Errno::BADF);
}

#[test]
fn it_is_closed_when_dropped() {
    let dir = tempfile::tempdir().unwrap();
    let fd = DirectoryFd::from(OwnedFd::from(std::fs::File::open(dir.path()).unwrap()));
    assert!(fcntl_getfd(&fd).is_ok());
    // A number that no other test opens meanwhile.
    let high = rustix::io::fcntl_dupfd_cloexec(&fd, 700).unwrap();
    let number = high.as_raw_fd();
    drop(DirectoryFd::from(high));
    // SAFETY: the descriptor is only tested for whether it is open.
    let gone = unsafe { BorrowedFd::borrow_raw(number) };
    assert_eq!(fcntl_getfd(gone), Err(Errno::BADF));
    let high = rustix::io::fcntl_dupfd_cloexec(&fd, 700).unwrap();
    assert_eq!(DirectoryFd::from(high).close(), Ok(()));
    assert_eq!(fcntl_getfd(gone), Err(Errno::BADF));
}
