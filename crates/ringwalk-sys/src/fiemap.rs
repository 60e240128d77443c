//! Where the contents of a file are on the disk, and whether other files share them.
//!
//! Numbers and layouts are from `include/uapi/linux/fiemap.h` and
//! Documentation/filesystems/fiemap.rst of Linux.

use rustix::io::Errno;
use rustix::ioctl::{Opcode, Updater, ioctl, opcode};
use std::mem::offset_of;
use std::os::fd::AsFd;

/// Number of extents that one call can return.
const ROOM: usize = 128;

/// `FIEMAP_FLAG_SYNC`: the kernel writes the file back first.
const SYNC: u32 = 1;

/// `FS_IOC_FIEMAP`; its size is the size of the header, without the extents behind it.
const FIEMAP: Opcode = opcode::read_write::<MapHeader>(b'f', 11);

/// `struct fiemap` up to its extents.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
struct MapHeader {
    start: u64,
    length: u64,
    flags: u32,
    mapped_extents: u32,
    extent_count: u32,
    reserved: u32,
}

/// A run of bytes of a file that is contiguous on the disk too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
#[doc(alias = "fiemap_extent")]
pub struct FileExtent {
    /// Offset of the first byte in the file, in bytes.
    pub logical: u64,
    /// Offset of the first byte on the device, in bytes.
    pub physical: u64,
    /// Length in bytes.
    pub length: u64,
    reserved64: [u64; 2],
    /// `FIEMAP_EXTENT_*`.
    pub flags: u32,
    reserved: [u32; 3],
}

const _: () = assert!(size_of::<MapHeader>() == 32 && offset_of!(MapHeader, extent_count) == 24);
const _: () = assert!(size_of::<FileExtent>() == 56 && offset_of!(FileExtent, flags) == 40);
const _: () = assert!(FIEMAP == 0xc020_660b, "FS_IOC_FIEMAP of linux/fs.h");

impl FileExtent {
    /// The last extent of the file (`FIEMAP_EXTENT_LAST`).
    pub const LAST: u32 = 0x1;
    /// Where it will be is not known yet (`FIEMAP_EXTENT_UNKNOWN`).
    pub const UNKNOWN: u32 = 0x2;
    /// Not written to the disk yet (`FIEMAP_EXTENT_DELALLOC`).
    pub const DELALLOC: u32 = 0x4;
    /// Compressed or encrypted (`FIEMAP_EXTENT_ENCODED`): the extent takes another number of bytes
    /// on the disk.
    pub const ENCODED: u32 = 0x8;
    /// Inside the metadata (`FIEMAP_EXTENT_DATA_INLINE`).
    pub const INLINE: u32 = 0x200;
    /// Allocated, but not written: it reads as zeros (`FIEMAP_EXTENT_UNWRITTEN`).
    pub const UNWRITTEN: u32 = 0x800;
    /// Shared with another file or snapshot (`FIEMAP_EXTENT_SHARED`).
    pub const SHARED: u32 = 0x2000;

    /// Returns whether one of `flags` is set.
    pub fn has(&self, flags: u32) -> bool {
        self.flags & flags != 0
    }

    /// Returns the offset in the file of the first byte after the extent.
    pub fn end(&self) -> u64 {
        self.logical.saturating_add(self.length)
    }
}

#[repr(C)]
struct MapRequest {
    header: MapHeader,
    extents: [FileExtent; ROOM],
}

/// A buffer for the extents of a file. It can be used for any number of files.
pub struct ExtentMap(Box<MapRequest>);

impl Default for ExtentMap {
    fn default() -> Self {
        Self(Box::new(MapRequest {
            header: MapHeader::default(),
            extents: [FileExtent::default(); ROOM],
        }))
    }
}

impl std::fmt::Debug for ExtentMap {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ExtentMap").finish_non_exhaustive()
    }
}

impl ExtentMap {
    /// Returns the extents of `file` from byte `start` on, in order: all of them, or as many as the
    /// buffer holds. An empty slice means that there are no more. With `sync` the kernel writes the
    /// file back first. Without it, the map does not show the final extents of data that is still
    /// to be allocated or copied.
    ///
    /// # Errors
    ///
    /// `EOPNOTSUPP` or `ENOTTY` if the file system has no such call, `EIO`, `EINTR`.
    #[doc(alias = "FS_IOC_FIEMAP")]
    pub fn read(
        &mut self,
        file: impl AsFd,
        start: u64,
        sync: bool,
    ) -> Result<&[FileExtent], Errno> {
        let request = &mut *self.0;
        request.header = MapHeader {
            start,
            length: u64::MAX - start,
            flags: if sync { SYNC } else { 0 },
            extent_count: u32::try_from(ROOM).unwrap_or(u32::MAX),
            ..MapHeader::default()
        };
        // SAFETY: the code is the one of FS_IOC_FIEMAP (asserted above), for which the kernel reads
        // a `struct fiemap` and writes it back with at most `extent_count` extents behind it, which
        // is what there is room for; layouts are asserted above, and any bytes are valid for their
        // integers. `request` is borrowed mutably for the call.
        unsafe { ioctl(file, Updater::<FIEMAP, MapRequest>::new(request)) }?;
        let count = request.header.mapped_extents as usize;
        Ok(&request.extents[..count.min(ROOM)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::io::{Seek, SeekFrom, Write};

    /// Returns the extents of a file. `None` if the file system has no extent maps, such as tmpfs.
    fn extents(file: &File) -> Option<Vec<FileExtent>> {
        let mut map = ExtentMap::default();
        let mut all: Vec<FileExtent> = Vec::new();
        loop {
            let start = all.last().map_or(0, FileExtent::end);
            match map.read(file, start, true) {
                Ok([]) => return Some(all),
                Ok(more) => all.extend_from_slice(more),
                Err(Errno::OPNOTSUPP | Errno::NOTTY) => return None,
                Err(errno) => panic!("{errno}"),
            }
        }
    }

    #[test]
    fn extents_cover_what_was_written() {
        let dir = tempfile::tempdir().unwrap();
        let mut file = File::create(dir.path().join("file")).unwrap();
        // More extents than one call returns, with holes between them.
        let count = ROOM as u64 + 20;
        for index in 0..count {
            file.seek(SeekFrom::Start(index << 17)).unwrap();
            file.write_all(&[1; 4096]).unwrap();
        }
        let Some(extents) = extents(&file) else {
            return;
        };
        for index in 0..count {
            let at = index << 17;
            let found = extents
                .iter()
                .find(|extent| extent.logical <= at && at + 4096 <= extent.end());
            assert!(found.is_some(), "{at} of {extents:?}");
        }
        let last = extents.last().unwrap();
        assert!(last.has(FileExtent::LAST) && !last.has(FileExtent::SHARED));
    }

    #[test]
    fn without_a_map_there_is_an_error() {
        let file = File::open("/proc/self/status").unwrap();
        let answer = ExtentMap::default().read(&file, 0, false).map(<[_]>::len);
        assert!(
            matches!(answer, Err(Errno::OPNOTSUPP | Errno::NOTTY)),
            "{answer:?}"
        );
    }
}
