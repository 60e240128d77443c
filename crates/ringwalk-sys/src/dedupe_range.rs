//! Sharing the blocks of equal ranges of two files.
//!
//! Numbers and layouts are from `include/uapi/linux/fs.h` of Linux. See
//! [ioctl_fideduperange(2)](https://man7.org/linux/man-pages/man2/ioctl_fideduperange.2.html).

use rustix::fd::AsRawFd;
use rustix::io::Errno;
use rustix::ioctl::{Opcode, Updater, ioctl, opcode};
use std::mem::offset_of;
use std::os::fd::AsFd;

/// `FIDEDUPERANGE`; its size is the size of the header, without the files behind it.
const FIDEDUPERANGE: Opcode = opcode::read_write::<RangeHeader>(0x94, 54);

/// `FILE_DEDUPE_RANGE_SAME`.
const SAME: i32 = 0;
/// `FILE_DEDUPE_RANGE_DIFFERS`.
const DIFFERS: i32 = 1;

/// `struct file_dedupe_range` up to its files.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
struct RangeHeader {
    src_offset: u64,
    src_length: u64,
    dest_count: u16,
    reserved1: u16,
    reserved2: u32,
}

/// `struct file_dedupe_range_info`.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
struct RangeInfo {
    dest_fd: i64,
    dest_offset: u64,
    bytes_deduped: u64,
    status: i32,
    reserved: u32,
}

const _: () = assert!(size_of::<RangeHeader>() == 24 && offset_of!(RangeHeader, dest_count) == 16);
const _: () = assert!(size_of::<RangeInfo>() == 32 && offset_of!(RangeInfo, status) == 24);
const _: () = assert!(FIDEDUPERANGE == 0xc018_9436, "FIDEDUPERANGE of linux/fs.h");

#[repr(C)]
struct RangeRequest {
    header: RangeHeader,
    info: [RangeInfo; 1],
}

/// What the kernel says of two ranges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deduped {
    /// This number of bytes from the beginning on is equal, and now shared.
    Shared(u64),
    /// The ranges differ. Nothing has changed.
    Differs,
}

/// Makes the range `[offset, offset + length)` of `file` share the blocks of the same range of
/// `source`, if the kernel finds that both have the same contents. It compares and exchanges while
/// both files are locked.
///
/// The kernel may do less than it is asked for: btrfs takes 16 MiB at most. `file` need not be open
/// for writing if the caller owns it or may write to it.
///
/// # Errors
///
/// `EOPNOTSUPP` or `ENOTTY` if the file system shares no blocks, `EXDEV` between file systems,
/// `EINVAL` for ranges that are not aligned to blocks and do not end with both files, `EPERM` if
/// the caller may not write to `file`, or it is immutable, `EROFS`, `ETXTBSY` for a swap file.
#[doc(alias = "FIDEDUPERANGE")]
#[doc(alias = "FS_IOC_DEDUPERANGE")]
pub fn dedupe_range(
    source: impl AsFd,
    file: impl AsFd,
    offset: u64,
    length: u64,
) -> Result<Deduped, Errno> {
    let mut request = RangeRequest {
        header: RangeHeader {
            src_offset: offset,
            src_length: length,
            dest_count: 1,
            ..RangeHeader::default()
        },
        info: [RangeInfo {
            dest_fd: file.as_fd().as_raw_fd().into(),
            dest_offset: offset,
            ..RangeInfo::default()
        }],
    };
    // SAFETY: the code is the one of FIDEDUPERANGE (asserted above), for which the kernel reads a
    // `struct file_dedupe_range` with `dest_count` files behind it, here one, and writes their
    // results; layouts are asserted above, and any bytes are valid for their integers. `request` is
    // borrowed mutably, and both descriptors are borrowed, for the call.
    unsafe {
        ioctl(
            source,
            Updater::<FIDEDUPERANGE, RangeRequest>::new(&mut request),
        )
    }?;
    match request.info[0].status {
        SAME => Ok(Deduped::Shared(request.info[0].bytes_deduped)),
        DIFFERS => Ok(Deduped::Differs),
        status => Err(Errno::from_raw_os_error(status.saturating_neg())),
    }
}

#[cfg(test)]
mod tests {
    //! Unit tests of `dedupe_range.rs`. Those that need btrfs or XFS are skipped without root.

    use super::*;
    use std::fs::File;
    use std::path::Path;
    use std::process::{Command, Stdio};

    /// A file system in a file, mounted for one test.
    struct Mounted(tempfile::TempDir);

    impl Mounted {
        /// `None` where this is impossible.
        fn new(make: &[&str]) -> Option<Self> {
            let folder = tempfile::tempdir().unwrap();
            let (image, point) = (folder.path().join("image"), folder.path().join("point"));
            std::fs::create_dir(&point).unwrap();
            File::create(&image).unwrap().set_len(512 << 20).unwrap();
            let ran = |command: &mut Command| {
                let quiet = command.stdout(Stdio::null()).stderr(Stdio::null());
                quiet.status().is_ok_and(|status| status.success())
            };
            let is_there = ran(Command::new(make[0]).args(&make[1..]).arg(&image))
                && ran(Command::new("mount")
                    .args(["-o", "loop"])
                    .arg(&image)
                    .arg(&point));
            if !is_there {
                eprintln!("skipped: needs root and {}", make[0]);
                return None;
            }
            Some(Self(folder))
        }

        fn point(&self) -> std::path::PathBuf {
            self.0.path().join("point")
        }
    }

    impl Drop for Mounted {
        fn drop(&mut self) {
            let _ = Command::new("umount").arg(self.point()).status();
        }
    }

    fn create(folder: &Path, name: &str, contents: &[u8]) -> File {
        std::fs::write(folder.join(name), contents).unwrap();
        File::open(folder.join(name)).unwrap()
    }

    fn shares(folder: &Path) {
        let mut contents: Vec<u8> = (0..300_001_u32).map(|n| n.to_le_bytes()[0]).collect();
        let length = contents.len() as u64;
        let one = create(folder, "one", &contents);
        let two = create(folder, "two", &contents);
        contents[200_000] ^= 1;
        let other = create(folder, "other", &contents);
        assert_eq!(
            dedupe_range(&one, &two, 0, length),
            Ok(Deduped::Shared(length))
        );
        assert_eq!(dedupe_range(&one, &other, 0, length), Ok(Deduped::Differs));
        // Not aligned, and not at the end of the files.
        assert_eq!(dedupe_range(&one, &two, 1, 10), Err(Errno::INVAL));
        let mut map = crate::ExtentMap::default();
        let extents = map.read(&two, 0, true).unwrap();
        let shared = |extent: &crate::FileExtent| extent.has(crate::FileExtent::SHARED);
        assert!(extents.iter().all(shared), "{extents:?}");
        assert_eq!(std::fs::read(folder.join("other")).unwrap(), contents);
    }

    #[test]
    fn equal_ranges_are_shared_on_btrfs() {
        if let Some(mounted) = Mounted::new(&["mkfs.btrfs", "-q"]) {
            shares(&mounted.point());
        }
    }

    #[test]
    fn equal_ranges_are_shared_on_xfs() {
        if let Some(mounted) = Mounted::new(&["mkfs.xfs", "-q", "-m", "reflink=1"]) {
            shares(&mounted.point());
        }
    }

    #[test]
    fn file_systems_without_shared_blocks_say_so() {
        let Ok(folder) = tempfile::tempdir_in("/dev/shm") else {
            return;
        };
        let one = create(folder.path(), "one", &[1; 4096]);
        let two = create(folder.path(), "two", &[1; 4096]);
        let answer = dedupe_range(&one, &two, 0, 4096);
        assert!(
            matches!(answer, Err(Errno::OPNOTSUPP | Errno::NOTTY)),
            "{answer:?}"
        );
        // File systems other than the source's.
        let elsewhere = tempfile::tempdir().unwrap();
        let three = create(elsewhere.path(), "three", &[1; 4096]);
        assert!(dedupe_range(&one, &three, 0, 4096).is_err());
    }
}
