use super::*;
use rustix::fs::{Mode, OFlags, XattrFlags, open, setxattr};
use std::fs;
use std::os::fd::AsFd;
use std::os::unix::fs::symlink;

#[test]
fn attributes_are_read_by_directory_and_name() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("file");
    fs::write(&file, b"").unwrap();
    symlink("file", dir.path().join("link")).unwrap();
    let long = vec![b'x'; 1000];
    for (name, value) in [(c"user.short", &b"a:b\0"[..]), (c"user.long", &long)] {
        if let Err(errno) = setxattr(&file, name, value, XattrFlags::empty()) {
            assert_eq!(errno, Errno::OPNOTSUPP);
            eprintln!("skipped: no attributes on this file system");
            return;
        }
    }
    let fd = open(dir.path(), OFlags::PATH, Mode::empty()).unwrap();
    let fd = Some(fd.as_fd());
    let short = |path, follow| attribute(fd, path, follow, c"user.short");
    assert_eq!(short(c"file", false), Ok(b"a:b".to_vec()));
    assert_eq!(short(c"link", true), Ok(b"a:b".to_vec()));
    assert!(short(c"link", false).is_err());
    assert_eq!(short(c"none", true), Err(Errno::NOENT));
    assert_eq!(attribute(fd, c"file", true, c"user.long"), Ok(long));
    assert_eq!(
        attribute(fd, c"file", true, c"user.none"),
        Err(Errno::NODATA)
    );
}

#[test]
fn without_selinux_there_are_no_labels() {
    if is_enabled() {
        assert!(label(None, c"/proc/self", true).is_ok());
    } else {
        assert!(label(None, c"/", true).is_err());
    }
}
