//! The sizes of compressed extents of btrfs on the disk.
//!
//! Neither `st_blocks` nor FIEMAP has these sizes: both count uncompressed bytes. The tree of the
//! subvolume has an item with the size for each extent of a file (`BTRFS_EXTENT_DATA_KEY` and
//! `struct btrfs_file_extent_item` of `linux/btrfs_tree.h`).

use std::collections::HashSet;
use std::os::fd::AsFd;

use ringwalk::Errno;
use ringwalk_sys::FileExtent;
use ringwalk_sys::btrfs::{Item, Key, TreeSearch};

/// `BTRFS_EXTENT_DATA_KEY`.
const EXTENT_DATA: u8 = 108;

/// `BTRFS_FILE_EXTENT_INLINE`: the data follows in the item, and has no place of its own.
const INLINE: u8 = 0;

/// The compressed extents of one file. An extent counts once and as a whole, also if the file
/// refers to several parts of it.
#[derive(Debug, Default)]
pub(super) struct Compressed {
    /// The places of the counted extents on the disk.
    counted: HashSet<u64>,
    /// Bytes of the file in these extents.
    pub(super) length: u64,
    /// Bytes of these extents on the disk.
    pub(super) on_disk: u64,
}

/// A compressed part of a file, decoded from its item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Part {
    /// The place of its extent on the disk.
    at: u64,
    /// Bytes of that whole extent on the disk.
    on_disk: u64,
    /// Bytes of the file in this part.
    length: u64,
}

impl Compressed {
    /// Adds the extents that are compressed and not shared. `extents` are extents of the file
    /// `ino`, in order.
    ///
    /// # Errors
    ///
    /// `EPERM` without `CAP_SYS_ADMIN`. `ESTALE` if the file no longer has these extents.
    pub(super) fn add(
        &mut self,
        file: impl AsFd,
        ino: u64,
        extents: &[FileExtent],
        search: &mut Option<TreeSearch>,
    ) -> Result<(), Errno> {
        let wanted: Vec<_> = extents.iter().filter(|extent| is_own(extent)).collect();
        let (Some(first), Some(last)) = (wanted.first(), wanted.last()) else {
            return Ok(());
        };
        let search = search.get_or_insert_default();
        let key = |offset| Key {
            offset,
            ..Key::first(ino, EXTENT_DATA)
        };
        let end = key(last.end().saturating_sub(1));
        let mut from = Some(key(first.logical));
        let mut length = 0_u64;
        while let Some(begin) = from.filter(|begin| *begin <= end) {
            from = None;
            let items = search.search(file.as_fd(), 0, begin..=end, u32::MAX, TreeSearch::ROOM)?;
            for item in items {
                from = item.key.next();
                let at = item.key.offset;
                let within = wanted.partition_point(|extent| extent.end() <= at);
                let is_wanted = wanted.get(within).is_some_and(|e| e.logical <= at);
                if let Some(part) = part(&item).filter(|_| is_wanted) {
                    length = length.saturating_add(part.length);
                    if self.counted.insert(part.at) {
                        self.on_disk = self.on_disk.saturating_add(part.on_disk);
                    }
                }
            }
        }
        let mapped: u64 = wanted.iter().map(|extent| extent.length).sum();
        if length != mapped {
            return Err(Errno::STALE);
        }
        self.length = self.length.saturating_add(length);
        Ok(())
    }
}

/// Returns true if an extent is compressed, not shared, and not inline in the metadata.
fn is_own(extent: &FileExtent) -> bool {
    extent.has(FileExtent::ENCODED) && !extent.has(FileExtent::SHARED | FileExtent::INLINE)
}

/// Decodes an item. Returns `None` if the item is not a compressed part of a file.
fn part(item: &Item<'_>) -> Option<Part> {
    let number = |at: usize| {
        let bytes = item.data.get(at..)?.first_chunk()?;
        Some(u64::from_le_bytes(*bytes))
    };
    let (compression, kind) = (item.data.get(16)?, item.data.get(20)?);
    if *compression == 0 || *kind == INLINE {
        return None;
    }
    Some(Part {
        at: number(21)?,
        on_disk: number(29)?,
        length: number(45)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(compression: u8, kind: u8) -> Vec<u8> {
        let mut data = Vec::new();
        data.extend(7_u64.to_le_bytes()); // generation
        data.extend(131_072_u64.to_le_bytes()); // ram_bytes
        data.extend([compression, 0, 0, 0, kind]);
        for number in [1 << 30, 8192, 65536, 4096_u64] {
            data.extend(number.to_le_bytes());
        }
        data
    }

    #[test]
    fn items_are_decoded() {
        let part_of = |data: &[u8]| {
            part(&Item {
                key: Key::first(257, EXTENT_DATA),
                data,
            })
        };
        let expected = Part {
            at: 1 << 30,
            on_disk: 8192,
            length: 4096,
        };
        assert_eq!(item(3, 1).len(), 53, "struct btrfs_file_extent_item");
        assert_eq!(part_of(&item(3, 1)), Some(expected));
        assert_eq!(part_of(&item(0, 1)), None);
        assert_eq!(part_of(&item(3, INLINE)), None);
        assert_eq!(part_of(&item(3, 1)[..52]), None);
        assert_eq!(part_of(&[]), None);
    }
}
