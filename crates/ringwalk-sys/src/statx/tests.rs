//! Unit tests of `statx.rs`.

use super::*;
use rustix::fs::{CWD, Mode, OFlags, open};
use std::ffi::CString;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, symlink};

#[test]
fn the_answer_is_the_standard_librarys() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("file"), b"12345").unwrap();
    symlink("file", dir.path().join("link")).unwrap();
    let fd = open(
        dir.path(),
        OFlags::RDONLY | OFlags::DIRECTORY,
        Mode::empty(),
    )
    .unwrap();
    let mut stat = Statx::default();
    statx(&fd, c"file", AtFlags::SYMLINK_NOFOLLOW, 0x7ff, &mut stat).unwrap();
    let expected = fs::metadata(dir.path().join("file")).unwrap();
    assert_eq!(stat.stx_size, 5);
    assert_eq!(stat.stx_ino, expected.ino());
    assert_eq!(u32::from(stat.stx_mode), expected.mode());
    assert_eq!(stat.stx_mtime.tv_sec, expected.mtime());
    statx(&fd, c"link", AtFlags::SYMLINK_NOFOLLOW, 0x7ff, &mut stat).unwrap();
    assert_eq!(stat.stx_mode & 0o170_000, 0o120_000);
    statx(&fd, c"link", AtFlags::empty(), 0x7ff, &mut stat).unwrap();
    assert_eq!(stat.stx_ino, expected.ino());
}

#[test]
fn errors_are_the_kernels() {
    let dir = tempfile::tempdir().unwrap();
    let missing = CString::new(dir.path().join("missing").as_os_str().as_bytes()).unwrap();
    let mut stat = Statx::default();
    let answer = statx(CWD, &missing, AtFlags::empty(), 0x7ff, &mut stat);
    assert_eq!(answer, Err(Errno::NOENT));
    let answer = statx_at(-1, c"missing", AtFlags::empty(), 0x7ff, &mut stat);
    assert_eq!(answer, Err(Errno::BADF));
}
