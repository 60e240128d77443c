//! The `statx` system call into a buffer of the caller.
//!
//! rustix has `statx` too, but returns its 256 bytes by value. In a profile of a walk, moving them
//! was the largest single cost in user space.
//!
//! Some sandboxes refuse `statx`. Then `fstatat` answers what it can.

use crate::getdents::last_errno;
use crate::magic;
use rustix::fs::AtFlags;
use rustix::io::Errno;
use std::ffi::CStr;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::sync::atomic::{AtomicU8, Ordering};

const _: () = assert!(
    size_of::<libc::statx>() == 256,
    "struct statx of linux/stat.h"
);

/// The buffer that `statx` fills. It can be used for any number of calls.
#[derive(Clone, Copy)]
pub struct Statx(libc::statx);

impl Default for Statx {
    fn default() -> Self {
        // SAFETY: the structure consists of integers only, for which zero bytes are valid.
        Self(unsafe { MaybeUninit::zeroed().assume_init() })
    }
}

impl std::fmt::Debug for Statx {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Statx")
            .field("mask", &self.0.stx_mask)
            .finish_non_exhaustive()
    }
}

impl std::ops::Deref for Statx {
    type Target = libc::statx;

    fn deref(&self) -> &libc::statx {
        &self.0
    }
}

/// Asks for the `STATX_*` fields in `mask` of the file `path`, relative to the directory `fd`, and
/// fills `stat`. `stx_mask` says which fields the kernel returned.
///
/// If a sandbox such as an old container refuses statx(2), fstatat(2) answers: without time of
/// birth, mount and attributes.
///
/// # Errors
///
/// The errors of statx(2), except `EINTR`: an interrupted call is made again. `stat` then keeps its
/// contents.
///
/// [statx(2)](https://man7.org/linux/man-pages/man2/statx.2.html)
pub fn statx(
    fd: impl AsFd,
    path: &CStr,
    flags: AtFlags,
    mask: u32,
    stat: &mut Statx,
) -> Result<(), Errno> {
    statx_at(fd.as_fd().as_raw_fd(), path, flags, mask, stat)
}

/// Asks as [`statx`] does, relative to the directory that is open as descriptor number `fd`.
///
/// This is for bindings to other languages, whose programs use numbers where Rust uses
/// `BorrowedFd`.
///
/// # Errors
///
/// The errors of statx(2): `EBADF` if the number is not an open descriptor. `stat` then keeps its
/// contents.
pub fn statx_at(
    number: RawFd,
    path: &CStr,
    flags: AtFlags,
    mask: u32,
    stat: &mut Statx,
) -> Result<(), Errno> {
    loop {
        let answer = if is_refused(false) {
            stat_at(number, path, flags, stat)
        } else {
            statx_once(number, path, flags, mask, stat)
        };
        match answer {
            Err(Errno::INTR) => {}
            // A file system can have this answer of its own.
            Err(Errno::PERM | Errno::NOSYS) if !is_refused(false) && is_refused(true) => {}
            answer => return answer,
        }
    }
}

/// Returns true if something forbids `statx` to this process, or the kernel lacks it, so that only
/// the fields of fstatat(2) are to be had.
pub fn refuses_statx() -> bool {
    is_refused(true)
}

/// Returns whether `statx` is refused, if that is known. Finds out if `asks` is true. The answer
/// stays: a sandbox is never left.
fn is_refused(asks: bool) -> bool {
    const UNKNOWN: u8 = 0;
    const ALLOWED: u8 = 1;
    const REFUSED: u8 = 2;
    static STATE: AtomicU8 = AtomicU8::new(UNKNOWN);
    // Relaxed: the answer says nothing about other memory.
    let mut state = STATE.load(Ordering::Relaxed);
    if asks && state == UNKNOWN {
        // SAFETY: the kernel copies the path first. It cannot copy from address 0, and answers
        // `EFAULT` without any other access.
        let status = unsafe {
            let nothing = std::ptr::null::<libc::c_void>();
            libc::syscall(libc::SYS_statx, 0, nothing, 0, 0, nothing)
        };
        let is_called = status == 0 || last_errno() == Errno::FAULT;
        state = if is_called { ALLOWED } else { REFUSED };
        STATE.store(state, Ordering::Relaxed);
    }
    state == REFUSED
}

fn statx_once(
    number: RawFd,
    path: &CStr,
    flags: AtFlags,
    mask: u32,
    stat: &mut Statx,
) -> Result<(), Errno> {
    // SAFETY: a number that is not open is an error. `path` ends with a NUL. The kernel writes one
    // `struct statx`, whose size the kernel's ABI fixes at 256 bytes. The pointer is valid for
    // that, because `stat` is borrowed mutably, and any bytes are valid for its integers.
    let status = unsafe {
        libc::syscall(
            libc::SYS_statx,
            number,
            path.as_ptr(),
            flags.bits(),
            mask,
            &raw mut stat.0,
        )
    };
    if status == 0 {
        Ok(())
    } else {
        Err(last_errno())
    }
}

/// Answers by fstatat(2).
fn stat_at(number: RawFd, path: &CStr, flags: AtFlags, stat: &mut Statx) -> Result<(), Errno> {
    let sync = flags.bits().cast_signed() & libc::AT_STATX_SYNC_TYPE;
    // `fstatat` cannot ask a server, and an old answer must not pass for a new one.
    if sync & libc::AT_STATX_FORCE_SYNC != 0 && !is_local(number) {
        return Err(Errno::NOSYS);
    }
    let flags = flags.bits().cast_signed() & !libc::AT_STATX_SYNC_TYPE;
    // SAFETY: the structure consists of integers only, for which zero bytes are valid.
    let mut found: libc::stat64 = unsafe { MaybeUninit::zeroed().assume_init() };
    // SAFETY: a number that is not open is an error. `path` ends with a NUL. `found` is borrowed
    // mutably, and has the type that the function fills.
    let status = unsafe { libc::fstatat64(number, path.as_ptr(), &raw mut found, flags) };
    if status != 0 {
        return Err(last_errno());
    }
    *stat = Statx::from_stat(&found);
    Ok(())
}

/// Returns true if no server keeps the files of the file system.
fn is_local(number: RawFd) -> bool {
    const LOCAL: [u64; 6] = [
        magic::BTRFS,
        magic::EXT4,
        magic::OVERLAYFS,
        magic::RAMFS,
        magic::TMPFS,
        magic::XFS,
    ];
    if number < 0 {
        return false;
    }
    // SAFETY: the number is not -1. If it is not open, the call below answers `EBADF`.
    let file = unsafe { BorrowedFd::borrow_raw(number) };
    magic::of(file).is_ok_and(|found| LOCAL.contains(&found))
}

impl Statx {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::unnecessary_cast,
        clippy::useless_conversion,
        reason = "the types of `stat64` differ between targets; the values are those of `statx`"
    )]
    fn from_stat(found: &libc::stat64) -> Self {
        let time = |stamp: &mut libc::statx_timestamp, secs, nanos| {
            (stamp.tv_sec, stamp.tv_nsec) = (secs, nanos as u32);
        };
        let mut stat = Self::default();
        let stx = &mut stat.0;
        stx.stx_mask = libc::STATX_BASIC_STATS;
        stx.stx_blksize = found.st_blksize as u32;
        stx.stx_nlink = found.st_nlink as u32;
        stx.stx_uid = found.st_uid;
        stx.stx_gid = found.st_gid;
        // Type and permissions have 16 bits.
        stx.stx_mode = found.st_mode as u16;
        stx.stx_ino = found.st_ino as u64;
        stx.stx_size = found.st_size as u64;
        stx.stx_blocks = found.st_blocks as u64;
        time(
            &mut stx.stx_atime,
            found.st_atime.into(),
            found.st_atime_nsec,
        );
        time(
            &mut stx.stx_mtime,
            found.st_mtime.into(),
            found.st_mtime_nsec,
        );
        time(
            &mut stx.stx_ctime,
            found.st_ctime.into(),
            found.st_ctime_nsec,
        );
        stx.stx_dev_major = libc::major(found.st_dev);
        stx.stx_dev_minor = libc::minor(found.st_dev);
        stx.stx_rdev_major = libc::major(found.st_rdev);
        stx.stx_rdev_minor = libc::minor(found.st_rdev);
        stat
    }
}

#[cfg(test)]
mod tests {
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
}
