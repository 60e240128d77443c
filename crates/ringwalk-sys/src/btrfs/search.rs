//! The items of a tree in a range of keys.

use super::{MAGIC, ioctl};
use rustix::io::Errno;
use rustix::ioctl::opcode;
use std::ops::RangeInclusive;
use std::os::fd::AsFd;

/// No item is as long as this, its header included: a node of a tree has at most 64 KiB.
const LARGEST: usize = 64 * 1024;

/// Bytes of the buffer for answers. The buffer is so large that the room that an answer leaves free
/// mostly proves that no item was left out.
///
/// A larger buffer is no faster. Before the kernel copies the items of a leaf, it touches every
/// page of the free room. Searching a tree of 64 MB took 62 ms of CPU time with 16 KiB, 64 KiB or 1
/// MiB, and 150 ms with 16 MiB.
const ROOM: usize = 2 * LARGEST;

/// Bytes of a `struct btrfs_ioctl_search_header`, which precedes each item.
const HEADER: usize = 32;

/// The key of an item. A tree sorts its items by key, in the order of these fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[doc(alias = "btrfs_key")]
pub struct Key {
    /// The object of the item: in the tree of a subvolume an inode number, in the root tree the id
    /// of a tree.
    pub objectid: u64,
    /// The type of the item (`BTRFS_*_KEY`).
    pub kind: u8,
    /// The meaning depends on the type.
    pub offset: u64,
}

impl Key {
    /// Returns the lowest key of this object and type.
    pub fn first(objectid: u64, kind: u8) -> Self {
        Self {
            objectid,
            kind,
            offset: 0,
        }
    }

    /// Returns the highest key of this object and type.
    pub fn last(objectid: u64, kind: u8) -> Self {
        Self {
            objectid,
            kind,
            offset: u64::MAX,
        }
    }

    /// Returns the key after this one; `None` after the highest of all.
    pub fn next(self) -> Option<Self> {
        if let Some(offset) = self.offset.checked_add(1) {
            return Some(Self { offset, ..self });
        }
        if let Some(kind) = self.kind.checked_add(1) {
            return Some(Self::first(self.objectid, kind));
        }
        let objectid = self.objectid.checked_add(1)?;
        Some(Self::first(objectid, 0))
    }
}

/// An item of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Item<'a> {
    /// The key.
    pub key: Key,
    /// The contents, little-endian as on the disk.
    pub data: &'a [u8],
}

/// `struct btrfs_ioctl_search_key`.
#[repr(C)]
#[derive(Default)]
struct SearchKey {
    tree_id: u64,
    min_objectid: u64,
    max_objectid: u64,
    min_offset: u64,
    max_offset: u64,
    min_transid: u64,
    max_transid: u64,
    min_type: u32,
    max_type: u32,
    nr_items: u32,
    unused: [u32; 9],
}

/// `struct btrfs_ioctl_search_args_v2`, without the buffer that follows it.
#[repr(C)]
#[derive(Default)]
struct SearchArguments {
    key: SearchKey,
    buf_size: u64,
}

/// `struct btrfs_ioctl_search_args_v2`, with its buffer.
#[repr(C)]
struct Search {
    arguments: SearchArguments,
    room: [u8; ROOM],
}

const _: () = assert!(
    size_of::<SearchKey>() == 104
        && size_of::<SearchArguments>() == 112
        && std::mem::offset_of!(Search, room) == 112,
    "struct btrfs_ioctl_search_args_v2 of linux/btrfs.h"
);

/// A buffer for the answers of searches, to be used again and again.
pub struct TreeSearch {
    buffer: Box<Search>,
    /// Nodes of the tree that are older than this transaction are left out.
    since: u64,
}

impl std::fmt::Debug for TreeSearch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TreeSearch").finish_non_exhaustive()
    }
}

impl Default for TreeSearch {
    #[expect(
        clippy::large_stack_arrays,
        reason = "on its way to the heap, once for each thread"
    )]
    fn default() -> Self {
        Self {
            buffer: Box::new(Search {
                arguments: SearchArguments::default(),
                room: [0; ROOM],
            }),
            since: 0,
        }
    }
}

impl TreeSearch {
    /// The largest number of bytes that [`search`](Self::search) can return.
    pub const ROOM: usize = ROOM;

    /// Creates a buffer for searches that return the items of leaves written by this transaction or
    /// a later one. A leaf that was written holds items that have not changed, too. The kernel does
    /// not read the other leaves (`min_transid`).
    pub fn since(transaction: u64) -> Self {
        Self {
            since: transaction,
            ..Self::default()
        }
    }

    /// Searches the tree with this id for items with keys in `range`. Id 0 is the subvolume of
    /// `fd`. Returns at most `most` items, and at most `room` bytes with a header of 32 bytes for
    /// each. The kernel compares whole keys, so all items between the two keys are found, of any
    /// type.
    ///
    /// The kernel searches the tree as it is, which a running transaction may not have brought up
    /// to date. Changes to inodes, and the entries of directories by index, stay in memory until
    /// the transaction commits, or until they are many.
    ///
    /// # Errors
    ///
    /// `EPERM` without `CAP_SYS_ADMIN`, `ENOENT` if no such tree exists, `ENOTTY` on another file
    /// system, `EOVERFLOW` if the first item is larger than `room`, `EIO`.
    #[doc(alias = "BTRFS_IOC_TREE_SEARCH_V2")]
    pub fn search(
        &mut self,
        fd: impl AsFd,
        tree: u64,
        range: RangeInclusive<Key>,
        most: u32,
        room: usize,
    ) -> Result<Found<'_>, Errno> {
        let (min, max) = range.into_inner();
        let room = room.min(ROOM);
        self.buffer.arguments = SearchArguments {
            key: SearchKey {
                tree_id: tree,
                min_objectid: min.objectid,
                max_objectid: max.objectid,
                min_offset: min.offset,
                max_offset: max.offset,
                min_transid: self.since,
                max_transid: u64::MAX,
                min_type: u32::from(min.kind),
                max_type: u32::from(max.kind),
                nr_items: most,
                unused: [0; 9],
            },
            buf_size: room as u64,
        };
        // SAFETY: BTRFS_IOC_TREE_SEARCH_V2 reads one structure of this layout and writes it again,
        // and behind it at most `buf_size` bytes, of which there are `ROOM` or more. Both are in
        // one allocation that is borrowed mutably, the pointer is to all of it, and any bytes are
        // valid for its integers.
        unsafe {
            let opcode = opcode::read_write::<SearchArguments>(MAGIC, 17);
            ioctl(fd.as_fd(), opcode, &raw mut *self.buffer)?;
        }
        Ok(Found {
            bytes: &self.buffer.room[..room],
            left: self.buffer.arguments.key.nr_items,
            limited: self.buffer.arguments.key.nr_items >= most,
        })
    }
}

/// The items that a search has found, in the order of their keys. There can be more in the range:
/// search again from the key after the last item. All items have been found when a search returns
/// none, or when [`is_all`](Self::is_all) says so.
#[derive(Clone, Debug)]
pub struct Found<'a> {
    /// The items that have not been returned yet, and the free room after them.
    bytes: &'a [u8],
    left: u32,
    /// True if the search found as many items as it may return.
    limited: bool,
}

impl Found<'_> {
    /// Returns true if the range certainly has no other items. Call this after the last item. The
    /// kernel stops early only for an item that does not fit, and any item would have fitted into
    /// the free room.
    pub fn is_all(&self) -> bool {
        self.left == 0 && !self.limited && self.bytes.len() >= LARGEST
    }
}

impl<'a> Iterator for Found<'a> {
    type Item = Item<'a>;

    #[inline]
    fn next(&mut self) -> Option<Item<'a>> {
        self.left = self.left.checked_sub(1)?;
        let (header, rest) = self.bytes.split_first_chunk::<HEADER>()?;
        let key = Key {
            objectid: u64::from_ne_bytes(*header[8..].first_chunk()?),
            kind: u8::try_from(header_word(header, 24)?).ok()?,
            offset: u64::from_ne_bytes(*header[16..].first_chunk()?),
        };
        let length = usize::try_from(header_word(header, 28)?).ok()?;
        let (data, rest) = rest.split_at_checked(length)?;
        self.bytes = rest;
        Some(Item { key, data })
    }
}

#[inline]
fn header_word(header: &[u8; HEADER], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(*header[at..].first_chunk()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(objectid: u64, offset: u64, kind: u32, length: u32) -> Vec<u8> {
        let mut bytes = vec![0; 8];
        bytes.extend(objectid.to_ne_bytes());
        bytes.extend(offset.to_ne_bytes());
        bytes.extend(kind.to_ne_bytes());
        bytes.extend(length.to_ne_bytes());
        bytes
    }

    #[test]
    fn items_lie_one_behind_the_other_without_alignment() {
        let mut bytes = header(256, 0, 1, 3);
        bytes.extend(b"abc");
        bytes.extend(header(256, 7, 12, 0));
        bytes.extend(header(300, 0, 1, 1));
        bytes.extend(b"z");
        let found = Found {
            bytes: &bytes,
            left: 3,
            limited: false,
        };
        let items: Vec<_> = found
            .map(|item| {
                (
                    item.key.objectid,
                    item.key.kind,
                    item.key.offset,
                    item.data.to_vec(),
                )
            })
            .collect();
        let expected = [
            (256, 1, 0, b"abc".to_vec()),
            (256, 12, 7, Vec::new()),
            (300, 1, 0, b"z".to_vec()),
        ];
        assert_eq!(items, expected);
    }

    #[test]
    fn lengths_that_lead_outside_end_the_items() {
        let mut bytes = header(256, 0, 1, 4);
        bytes.extend(b"abc");
        let found = |left| Found {
            bytes: &bytes,
            left,
            limited: false,
        };
        assert_eq!(found(1).count(), 0);
        assert_eq!(found(u32::MAX).count(), 0);
        assert_eq!(found(0).count(), 0);
    }

    #[test]
    fn keys_follow_each_other() {
        let key = |objectid, kind, offset| Key {
            objectid,
            kind,
            offset,
        };
        assert_eq!(key(1, 2, 3).next(), Some(key(1, 2, 4)));
        assert_eq!(key(1, 2, u64::MAX).next(), Some(key(1, 3, 0)));
        assert_eq!(key(1, 255, u64::MAX).next(), Some(key(2, 0, 0)));
        assert_eq!(key(u64::MAX, 255, u64::MAX).next(), None);
        assert!(Key::last(1, 2) < Key::first(1, 3));
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri has no ioctls")]
    fn another_file_system_refuses() {
        let proc = std::fs::File::open("/proc").unwrap();
        let range = Key::first(256, 0)..=Key::last(256, 255);
        let mut search = TreeSearch::default();
        let answer = search.search(&proc, 0, range, 1, ROOM).map(Iterator::count);
        assert_eq!(answer, Err(Errno::NOTTY));
    }
}
