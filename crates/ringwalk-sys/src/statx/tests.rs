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
fn fstatat_gives_the_same_basic_fields() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("file");
    fs::write(&path, b"12345").unwrap();
    // Before 1970, with a fraction of a second.
    let old = std::time::UNIX_EPOCH - std::time::Duration::from_millis(1500);
    fs::File::open(&path).unwrap().set_modified(old).unwrap();
    symlink("file", dir.path().join("link")).unwrap();
    let file = CString::new(path.as_os_str().as_bytes()).unwrap();
    let link = CString::new(dir.path().join("link").as_os_str().as_bytes()).unwrap();
    let force_sync = AtFlags::from_bits_retain(0x2000);
    let dont_sync = AtFlags::STATX_DONT_SYNC;
    for (path, flags) in [
        (file.as_c_str(), AtFlags::empty()),
        (&link, AtFlags::SYMLINK_NOFOLLOW | AtFlags::NO_AUTOMOUNT),
        (&link, dont_sync),
        (c"/dev/null", AtFlags::empty()),
    ] {
        let (mut expected, mut found) = (Statx::default(), Statx::default());
        statx(CWD, path, flags, 0x7ff, &mut expected).unwrap();
        stat_at(CWD.as_raw_fd(), path, flags, &mut found).unwrap();
        for stat in [&mut expected, &mut found] {
            stat.0.stx_mask &= libc::STATX_BASIC_STATS;
            stat.0.stx_btime = Statx::default().0.stx_btime;
            (stat.0.stx_attributes, stat.0.stx_attributes_mask) = (0, 0);
            (stat.0.stx_mnt_id, stat.0.stx_dio_mem_align) = (0, 0);
            // btrfs gives the number of the subvolume without being asked.
            (stat.0.stx_dio_offset_align, stat.0.stx_subvol) = (0, 0);
        }
        assert_eq!(format!("{:?}", expected.0), format!("{:?}", found.0));
    }
    // The working directory may be on any file system.
    let mut stat = Statx::default();
    let answer = stat_at(CWD.as_raw_fd(), &file, force_sync, &mut stat);
    assert_eq!(answer, Err(Errno::NOSYS));
    let proc = fs::File::open("/proc/self/status").unwrap();
    let flags = force_sync | AtFlags::EMPTY_PATH;
    assert_eq!(
        stat_at(proc.as_raw_fd(), c"", flags, &mut stat),
        Err(Errno::NOSYS)
    );
    assert_eq!(
        stat_at(-1, c"x", AtFlags::empty(), &mut stat),
        Err(Errno::BADF)
    );
    assert!(!is_refused(true));
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
