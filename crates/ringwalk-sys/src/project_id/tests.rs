//! Unit tests of `project_id.rs`.

use super::*;
use rustix::fs::{CWD, Mode, OFlags, open};
use std::fs::File;

#[test]
fn the_code_is_that_of_the_kernels_header() {
    assert_eq!(FSGETXATTR, 0x801c_581f);
}

#[test]
fn both_calls_return_the_same() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("file");
    std::fs::write(&path, b"").unwrap();
    let opened = project_id(File::open(&path).unwrap());
    let at = File::open(directory.path()).unwrap();
    match project_id_at(&at, c"file", AtFlags::SYMLINK_NOFOLLOW) {
        Err(Errno::NOSYS | Errno::PERM) => {}
        Err(Errno::OPNOTSUPP) => assert_eq!(opened, Err(Errno::NOTTY)),
        named => assert_eq!(named, opened),
    }
}

#[test]
fn what_cannot_be_asked_is_an_error() {
    let path = open("/", OFlags::PATH, Mode::empty()).unwrap();
    assert_eq!(project_id(path), Err(Errno::BADF));
    let missing = project_id_at(CWD, c"/missing/file", AtFlags::empty());
    assert!(matches!(
        missing,
        Err(Errno::NOENT | Errno::NOSYS | Errno::PERM)
    ));
}
