//! What compressed extents of btrfs take on the disk.
//!
//! Neither `st_blocks` nor FIEMAP tells: both count the bytes that were compressed. The items of the file's extents in the tree
//! of its subvolume do (`BTRFS_EXTENT_DATA_KEY` and `struct btrfs_file_extent_item` of `linux/btrfs_tree.h`).

use std::collections::HashSet;
use std::os::fd::AsFd;

use ringwalk::Errno;
use ringwalk_sys::FileExtent;
use ringwalk_sys::btrfs::{Item, Key, TreeSearch};

/// `BTRFS_EXTENT_DATA_KEY`.
const EXTENT_DATA: u8 = 108;

/// `BTRFS_FILE_EXTENT_INLINE`: the data follows, and no place on the disk.
const INLINE: u8 = 0;

/// Extents of one file, whole: one of which the file refers to several parts counts once, as it lies on the disk as one.
#[derive(Debug, Default)]
pub(super) struct Compressed {
    /// Where those counted are on the disk.
    counted: HashSet<u64>,
    /// Bytes of the file in them.
    pub(super) length: u64,
    /// Bytes that they take.
    pub(super) on_disk: u64,
}

/// A compressed part of a file, as its item has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Part {
    /// Where its extent is on the disk.
    at: u64,
    /// Bytes of that whole extent.
    on_disk: u64,
    /// Bytes of the file in this part.
    length: u64,
}

impl Compressed {
    /// Adds those of `extents` that are compressed and not shared. They are of the file `ino`, in order.
    ///
    /// # Errors
    ///
    /// `EPERM` without `CAP_SYS_ADMIN`; `ESTALE` if the extents are not those of the file any more.
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

/// Whether an extent is a compressed one that is not shared, outside of the metadata.
fn is_own(extent: &FileExtent) -> bool {
    extent.has(FileExtent::ENCODED) && !extent.has(FileExtent::SHARED | FileExtent::INLINE)
}

/// Decodes an item; `None` if it is not a compressed part of a file.
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
