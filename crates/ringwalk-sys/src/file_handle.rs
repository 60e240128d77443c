//! Opens files by inode number and generation, without a name.
//!
//! Each file system defines its own handles, and the kernel calls them opaque. Their format cannot
//! change, because NFS servers give them to clients, which keep them across restarts and upgrades
//! of the server.

use crate::getdents::last_errno;
use rustix::fs::OFlags;
use rustix::io::Errno;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};

/// `FILEID_INO32_GEN` of `enum fid_type` (`include/linux/exportfs.h`): two words, inode number and
/// generation.
const FILEID_INO32_GEN: i32 = 1;

/// XFS adds this to the type where the inode number has 64 bits (`XFS_FILEID_TYPE_64FLAG`,
/// `fs/xfs/xfs_export.h`). It accepts such handles for inode numbers of any size.
const XFS_FILEID_TYPE_64FLAG: i32 = 0x80;

/// `FILEID_BTRFS_WITHOUT_PARENT`: inode number, id of the subvolume's tree, generation.
const FILEID_BTRFS_WITHOUT_PARENT: i32 = 0x4d;

/// Bytes of the longest handle that this module makes.
const MOST_BYTES: usize = 20;

/// A file handle: `struct file_handle` of `open_by_handle_at(2)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
#[doc(alias = "file_handle")]
pub struct FileHandle {
    handle_bytes: u32,
    handle_type: i32,
    f_handle: [u8; MOST_BYTES],
}

const _: () = assert!(
    size_of::<FileHandle>() == 8 + MOST_BYTES && align_of::<FileHandle>() == 4,
    "struct file_handle of linux/fs.h: two words of 32 bits, then the bytes"
);

impl FileHandle {
    /// Returns the handle of a file of ext2, ext3 or ext4, from its inode number and generation
    /// (`i_generation`).
    pub fn ext4(ino: u32, generation: u32) -> Self {
        let mut f_handle = [0; MOST_BYTES];
        f_handle[..4].copy_from_slice(&ino.to_ne_bytes());
        f_handle[4..8].copy_from_slice(&generation.to_ne_bytes());
        Self {
            handle_bytes: 8,
            handle_type: FILEID_INO32_GEN,
            f_handle,
        }
    }

    /// Returns the handle of a file of XFS, from its inode number and generation (`bs_gen`).
    pub fn xfs(ino: u64, generation: u32) -> Self {
        let mut f_handle = [0; MOST_BYTES];
        f_handle[..8].copy_from_slice(&ino.to_ne_bytes());
        f_handle[8..12].copy_from_slice(&generation.to_ne_bytes());
        Self {
            handle_bytes: 12,
            handle_type: FILEID_INO32_GEN | XFS_FILEID_TYPE_64FLAG,
            f_handle,
        }
    }

    /// Returns the handle of a file of btrfs, from its inode number, the id of its subvolume's
    /// tree, and the lower half of its generation.
    pub fn btrfs(ino: u64, tree: u64, generation: u64) -> Self {
        let mut f_handle = [0; MOST_BYTES];
        f_handle[..8].copy_from_slice(&ino.to_ne_bytes());
        f_handle[8..16].copy_from_slice(&tree.to_ne_bytes());
        let half = u32::try_from(generation & 0xffff_ffff).unwrap_or_default();
        f_handle[16..].copy_from_slice(&half.to_ne_bytes());
        Self {
            handle_bytes: 20,
            handle_type: FILEID_BTRFS_WITHOUT_PARENT,
            f_handle,
        }
    }
}

/// Opens the file with this handle. `mount` is an open file of the mount that the file is opened
/// through. The kernel checks no permission of any directory. With `O_PATH` nothing happens to the
/// file: no device is opened, no named pipe is waited for, no symbolic link is followed. The
/// descriptor then serves statx(2) and similar calls only.
///
/// # Errors
///
/// The errors of [`open_by_handle_at(2)`]: `ESTALE` if the file no longer exists (a deleted file
/// that is still open may be found), `EPERM` without `CAP_DAC_READ_SEARCH`, `EOPNOTSUPP` or
/// `ESTALE` from a file system without handles.
///
/// [`open_by_handle_at(2)`]: https://man7.org/linux/man-pages/man2/open_by_handle_at.2.html
#[doc(alias = "open_by_handle_at")]
pub fn open_by_handle(
    mount: impl AsFd,
    handle: &FileHandle,
    flags: OFlags,
) -> Result<OwnedFd, Errno> {
    // SAFETY: `mount` is open for the length of the call because it is borrowed; the kernel reads
    // the two words and `handle_bytes` bytes behind them, which are at most those of `f_handle`,
    // and writes nothing to them.
    let fd = unsafe {
        libc::syscall(
            libc::SYS_open_by_handle_at,
            mount.as_fd().as_raw_fd(),
            std::ptr::from_ref(handle),
            (flags | OFlags::CLOEXEC).bits(),
        )
    };
    match i32::try_from(fd) {
        // SAFETY: the call succeeded, so this is a new descriptor that nobody else knows of.
        Ok(fd) if fd >= 0 => Ok(unsafe { OwnedFd::from_raw_fd(fd) }),
        _ => Err(last_errno()),
    }
}

#[cfg(test)]
mod tests {
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
            eprintln!(
                "skipped: the temporary directory is on no file system with handles of 8 bytes"
            );
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
}
