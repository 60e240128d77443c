//! Unit tests of `file_handle.rs`.

use super::*;
use crate::{Statx, statx};
use rustix::fs::{AtFlags, Mode, open};
use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};

/// Returns the kernel's handle, if it consists of a 32-bit inode number and a generation.
fn handle_of(dir: impl AsFd, name: &std::ffi::CStr) -> Option<FileHandle> {
    let mut handle = FileHandle {
        handle_bytes: u32::try_from(MOST_BYTES).unwrap(),
        handle_type: 0,
        f_handle: [0; MOST_BYTES],
    };
    let mut mount_id = 0_i32;
    // SAFETY: `dir` is borrowed and `name` ends with a NUL. The kernel writes at most
    // `handle_bytes` bytes after the two words, and one `int` to `mount_id`.
    let status = unsafe {
        libc::syscall(
            libc::SYS_name_to_handle_at,
            dir.as_fd().as_raw_fd(),
            name.as_ptr(),
            &raw mut handle,
            &raw mut mount_id,
            0,
        )
    };
    (status == 0 && handle.handle_type == FILEID_INO32_GEN).then_some(handle)
}

#[test]
#[cfg_attr(miri, ignore = "Miri has no file handles")]
fn a_link_is_found_by_number_and_generation_and_not_by_another() {
    let dir = tempfile::tempdir().unwrap();
    symlink("nowhere", dir.path().join("link")).unwrap();
    let mount = open(
        dir.path(),
        OFlags::RDONLY | OFlags::DIRECTORY,
        Mode::empty(),
    )
    .unwrap();
    let Some(known) = handle_of(&mount, c"link") else {
        eprintln!("skipped: the temporary directory is on no file system with handles of 8 bytes");
        return;
    };
    let ino = fs::symlink_metadata(dir.path().join("link")).unwrap().ino();
    let generation = u32::from_ne_bytes(*known.f_handle[4..].first_chunk().unwrap());
    let made = FileHandle::ext4(u32::try_from(ino).unwrap(), generation);
    assert_eq!(made, known);
    let fd = match open_by_handle(&mount, &made, OFlags::PATH) {
        Err(Errno::PERM) => {
            eprintln!("skipped: this needs CAP_DAC_READ_SEARCH");
            return;
        }
        answer => answer.unwrap(),
    };
    let mut stat = Statx::default();
    statx(&fd, c"", AtFlags::EMPTY_PATH, 0x7ff, &mut stat).unwrap();
    assert_eq!((stat.stx_ino, stat.stx_size), (ino, 7));
    let other = FileHandle::ext4(u32::try_from(ino).unwrap(), generation ^ 1);
    let answer = open_by_handle(&mount, &other, OFlags::PATH);
    assert_eq!(answer.map(|_| ()), Err(Errno::STALE));
}

#[test]
fn handles_of_xfs_and_btrfs_have_numbers_of_64_bits() {
    let words_of = |handle: &FileHandle| {
        let words = handle.f_handle[..handle.handle_bytes as usize].as_chunks::<4>();
        let words = words.0.iter().map(|word| u32::from_ne_bytes(*word));
        words.collect::<Vec<_>>()
    };
    let long = |low: u32, high: u32| {
        if cfg!(target_endian = "little") {
            [low, high]
        } else {
            [high, low]
        }
    };
    let xfs = FileHandle::xfs(0x1_0000_0002, 3);
    assert_eq!((xfs.handle_bytes, xfs.handle_type), (12, 0x81));
    assert_eq!(words_of(&xfs), [&long(2, 1)[..], &[3]].concat());
    let btrfs = FileHandle::btrfs(0x1_0000_0002, 0x4_0000_0005, 0x6_0000_0007);
    assert_eq!((btrfs.handle_bytes, btrfs.handle_type), (20, 0x4d));
    let expected = [&long(2, 1)[..], &long(5, 4), &[7]].concat();
    assert_eq!(words_of(&btrfs), expected);
}
