//! XFS ioctls: the geometry of a file system, its inodes in use, and the metadata of many inodes at
//! once.
//!
//! Numbers and layouts are from `xfs/xfs_fs.h` (xfslibs-dev), as in [`ioctl_xfs_fsgeometry(2)`],
//! [`ioctl_xfs_bulkstat(2)`] and [`ioctl_xfs_inumbers(2)`]. Linux has `XFS_IOC_BULKSTAT` and
//! `XFS_IOC_INUMBERS` since 5.3.
//!
//! [`ioctl_xfs_fsgeometry(2)`]: https://man7.org/linux/man-pages/man2/ioctl_xfs_fsgeometry.2.html
//! [`ioctl_xfs_bulkstat(2)`]: https://man7.org/linux/man-pages/man2/ioctl_xfs_bulkstat.2.html
//! [`ioctl_xfs_inumbers(2)`]: https://man7.org/linux/man-pages/man2/ioctl_xfs_inumbers.2.html

use crate::getdents::last_errno;
use rustix::io::Errno;
use rustix::ioctl::{Opcode, opcode};
use std::ffi::c_void;
use std::marker::PhantomData;
use std::mem::offset_of;
use std::os::fd::{AsFd, AsRawFd};

/// `XFS_BULK_IREQ_AGNO`: only inodes of one allocation group.
const XFS_BULK_IREQ_AGNO: u32 = 1;

/// Words of 64 bits in `struct xfs_bulk_ireq`.
const HEADER_WORDS: usize = size_of::<BulkHeader>() / 8;

/// The geometry of a file system: the beginning of `struct xfs_fsop_geom`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
#[doc(alias = "xfs_fsop_geom")]
pub struct XfsGeometry {
    /// Size of a block in bytes.
    pub blocksize: u32,
    /// Size of an extent of the realtime device in blocks.
    pub rtextsize: u32,
    /// Blocks in an allocation group; the last one may have fewer.
    pub agblocks: u32,
    /// Number of allocation groups.
    pub agcount: u32,
    /// Blocks of the log.
    pub logblocks: u32,
    /// Size of a sector in bytes.
    pub sectsize: u32,
    /// Size of an inode in bytes.
    pub inodesize: u32,
    /// Greatest share of the space for inodes in per cent.
    pub imaxpct: u32,
    rest: [u64; 28],
}

const _: () = assert!(size_of::<XfsGeometry>() == 256 && offset_of!(XfsGeometry, rest) == 32);

/// Asks for the geometry of the XFS that `fd` is a file of. Needs no privilege.
///
/// # Errors
///
/// `ENOTTY` and similar errors on another file system, and before Linux 5.3.
#[doc(alias = "XFS_IOC_FSGEOMETRY")]
pub fn xfs_geometry(fd: impl AsFd) -> Result<XfsGeometry, Errno> {
    let mut geometry = XfsGeometry::default();
    let code = opcode::read::<XfsGeometry>(b'X', 126);
    // SAFETY: the call writes one `struct xfs_fsop_geom`, whose size is part of the code and
    // asserted above, to memory borrowed mutably; any bytes are valid for its integers. On another
    // file system the code is unknown.
    unsafe { ioctl(fd, code, (&raw mut geometry).cast()) }?;
    Ok(geometry)
}

/// `struct xfs_bulk_ireq`, which precedes the records.
#[repr(C)]
struct BulkHeader {
    ino: u64,
    flags: u32,
    icount: u32,
    ocount: u32,
    agno: u32,
    reserved: [u64; 5],
}

const _: () = assert!(
    size_of::<BulkHeader>() == 64
        && align_of::<BulkHeader>() == align_of::<u64>()
        && offset_of!(BulkHeader, ocount) == 16
        && offset_of!(BulkHeader, agno) == 20
);

/// Metadata of one inode: `struct xfs_bulkstat`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
#[doc(alias = "xfs_bulkstat")]
pub struct XfsBulkstat {
    /// Inode number.
    pub ino: u64,
    /// Size in bytes, as in the inode on the disk. Bytes appended and not yet written back are
    /// missing.
    pub size: u64,
    /// Blocks of the file system, with delayed allocation and extended attributes; 0 if the inode
    /// itself holds the contents, even if attributes have blocks.
    pub blocks: u64,
    /// `FS_XFLAG_*` of `linux/fs.h`.
    pub xflags: u64,
    /// Time of last access in seconds.
    pub atime: i64,
    /// Time of last change of the contents in seconds.
    pub mtime: i64,
    /// Time of last change of the inode in seconds.
    pub ctime: i64,
    /// Time of birth in seconds.
    pub btime: i64,
    /// Generation, which changes when the inode number is used again.
    pub generation: u32,
    /// Owner, in the initial user namespace.
    pub uid: u32,
    /// Group, in the initial user namespace.
    pub gid: u32,
    /// Project ID.
    pub projectid: u32,
    /// Nanoseconds of last access.
    pub atime_nsec: u32,
    /// Nanoseconds of last change of the contents.
    pub mtime_nsec: u32,
    /// Nanoseconds of last change of the inode.
    pub ctime_nsec: u32,
    /// Nanoseconds of birth.
    pub btime_nsec: u32,
    /// Size of a block in bytes.
    pub blksize: u32,
    /// Device number of a device file, with 14 bits of major and 18 bits of minor number.
    pub rdev: u32,
    /// Hint for the size of copy-on-write extents, in blocks.
    pub cowextsize_blks: u32,
    /// Hint for the size of extents, in blocks.
    pub extsize_blks: u32,
    /// Number of hard links.
    pub nlink: u32,
    /// Number of extents of the data.
    pub extents: u32,
    /// Number of extents of extended attributes; 0 if the inode holds the attributes.
    pub aextents: u32,
    /// Version of this structure.
    pub version: u16,
    /// Offset of extended attributes in the inode, in bytes; 0 without any.
    pub forkoff: u16,
    /// Metadata known to be damaged.
    pub sick: u16,
    /// Metadata that was checked for damage.
    pub checked: u16,
    /// Type and permission bits.
    pub mode: u16,
    pad2: u16,
    /// Number of extents of the data in 64 bits, if asked for.
    pub extents64: u64,
    pad: [u64; 6],
}

const _: () =
    assert!(size_of::<XfsBulkstat>() == 192 && align_of::<XfsBulkstat>() == align_of::<u64>());
const _: () = assert!(
    offset_of!(XfsBulkstat, generation) == 64
        && offset_of!(XfsBulkstat, atime_nsec) == 80
        && offset_of!(XfsBulkstat, rdev) == 100
        && offset_of!(XfsBulkstat, nlink) == 112
        && offset_of!(XfsBulkstat, forkoff) == 126
        && offset_of!(XfsBulkstat, mode) == 132
        && offset_of!(XfsBulkstat, pad) == 144
);

/// Up to 64 inodes that were allocated together: `struct xfs_inumbers`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
#[doc(alias = "xfs_inumbers")]
pub struct XfsInodeChunk {
    /// Number of the first inode.
    pub startino: u64,
    /// One bit for each inode in use. The lowest bit is the first inode.
    pub allocmask: u64,
    /// Number of inodes in use.
    pub alloccount: u8,
    /// Version of this structure.
    pub version: u8,
    padding: [u8; 6],
}

const _: () = assert!(
    size_of::<XfsInodeChunk>() == 24
        && align_of::<XfsInodeChunk>() == align_of::<u64>()
        && offset_of!(XfsInodeChunk, version) == 17
);

mod sealed {
    /// A record that one of the ioctls writes: integers only, aligned like a `u64`.
    pub trait Record: Copy {
        const NUMBER: u8;
    }
}
use sealed::Record;

impl Record for XfsBulkstat {
    const NUMBER: u8 = 127;
}

impl Record for XfsInodeChunk {
    const NUMBER: u8 = 128;
}

/// A buffer for the answers of one of XFS's bulk ioctls, to be used again and again.
#[derive(Debug)]
pub struct XfsBulk<R> {
    /// A `BulkHeader`, then records.
    words: Vec<u64>,
    /// Number of records, all of them within `words`.
    filled: usize,
    record: PhantomData<R>,
}

impl<R> Default for XfsBulk<R> {
    fn default() -> Self {
        Self {
            words: Vec::new(),
            filled: 0,
            record: PhantomData,
        }
    }
}

impl<R: Record> XfsBulk<R> {
    const RECORD_WORDS: usize = size_of::<R>() / 8;

    /// Asks for the records of up to `most` inodes (or chunks of inodes), from inode number `first`
    /// on, of the file system that `fd` is a file of. With `ag`, asks for one allocation group,
    /// where 0 is the first number. Returns the number to continue with.
    ///
    /// The number of records is less than `most` only at the end. Files of the file system itself,
    /// such as quota files, are left out. Deleted files that are still open are included.
    ///
    /// # Errors
    ///
    /// `EPERM` without `CAP_SYS_ADMIN` in the initial user namespace; `EINVAL` through an idmapped
    /// mount or for an allocation group that does not exist; `ENOTTY` on another file system or an
    /// older kernel; `EIO` and `EUCLEAN` for a damaged file system.
    #[doc(alias = "XFS_IOC_BULKSTAT")]
    #[doc(alias = "XFS_IOC_INUMBERS")]
    pub fn read(
        &mut self,
        fd: impl AsFd,
        ag: Option<u32>,
        first: u64,
        most: u32,
    ) -> Result<u64, Errno> {
        self.filled = 0;
        // A number too large for `usize` is too large for memory, too: `resize` panics.
        let words = (most as usize)
            .saturating_mul(Self::RECORD_WORDS)
            .saturating_add(HEADER_WORDS);
        if self.words.len() < words {
            self.words.resize(words, 0);
        }
        let header = BulkHeader {
            ino: first,
            flags: if ag.is_some() { XFS_BULK_IREQ_AGNO } else { 0 },
            icount: most,
            ocount: 0,
            agno: ag.unwrap_or(0),
            reserved: [0; 5],
        };
        let at = self.words.as_mut_ptr();
        // SAFETY: `at` points to at least the words of a header, exclusively borrowed and aligned
        // as it is.
        unsafe { at.cast::<BulkHeader>().write(header) };
        let code = opcode::read::<BulkHeader>(b'X', R::NUMBER);
        // SAFETY: the call reads and writes the header, whose size is part of the code, and writes
        // at most `icount` records behind it: room for those has been made above. The records are
        // integers, of the size asserted with each type.
        unsafe { ioctl(fd, code, at.cast()) }?;
        // SAFETY: as above; the kernel has written integers, for which any bytes are valid.
        let header = unsafe { at.cast::<BulkHeader>().read() };
        self.filled = header.ocount.min(most) as usize;
        Ok(header.ino)
    }

    /// Returns the records of the last call, in the order of their inode numbers; none if it
    /// failed.
    pub fn records(&self) -> &[R] {
        let end = HEADER_WORDS + self.filled * Self::RECORD_WORDS;
        let Some(records) = self.words.get(HEADER_WORDS..end) else {
            return &[];
        };
        // SAFETY: the slice has the words of that many records, initialised, borrowed as long as
        // `self` is, aligned as both types of records are (they are sealed, and asserted above);
        // these consist of integers, for which any bytes are valid.
        unsafe { std::slice::from_raw_parts(records.as_ptr().cast(), self.filled) }
    }
}

/// ioctl(2).
///
/// # Safety
///
/// `argument` must be valid for the request with this code, on any file that may be behind `fd`.
unsafe fn ioctl(fd: impl AsFd, code: Opcode, argument: *mut c_void) -> Result<(), Errno> {
    // SAFETY: `fd` is open for the length of the call because it is borrowed; the argument is the
    // caller's part.
    let status = unsafe {
        libc::syscall(
            libc::SYS_ioctl,
            fd.as_fd().as_raw_fd(),
            libc::c_ulong::from(code),
            argument,
        )
    };
    if status < 0 {
        return Err(last_errno());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;

    #[test]
    fn other_file_systems_do_not_know_the_calls() {
        let proc = File::open("/proc").unwrap();
        assert_eq!(xfs_geometry(&proc), Err(Errno::NOTTY));
        let mut bulk = XfsBulk::<XfsBulkstat>::default();
        assert!(bulk.records().is_empty());
        assert_eq!(bulk.read(&proc, None, 0, 4), Err(Errno::NOTTY));
        assert!(bulk.records().is_empty());
    }

    /// Compares sizes and numbers with the values from a C compiler with Debian's xfslibs-dev on
    /// x86-64.
    #[test]
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    fn the_codes_are_those_of_the_header() {
        let code = |number| opcode::read::<BulkHeader>(b'X', number);
        assert_eq!(code(XfsBulkstat::NUMBER), 0x8040_587f);
        assert_eq!(code(XfsInodeChunk::NUMBER), 0x8040_5880);
        assert_eq!(opcode::read::<XfsGeometry>(b'X', 126), 0x8100_587e);
    }
}
