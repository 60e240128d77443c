//! Decodes items of btrfs trees: inodes, directory entries, references.
//!
//! The layouts are from `linux/btrfs_tree.h`; everything is little-endian and unaligned. The
//! decoder returns nothing for an item that is cut short.

use crate::sources::volume::{OpenMount, listed_type};
use crate::visit::metadata::{Metadata, RESERVED, Timestamp};
use ringwalk_sys::RawFileType as FileType;
use rustix::fs::makedev;

/// Kinds of items (`BTRFS_*_KEY`).
pub(crate) mod kind {
    pub(crate) const INODE_ITEM: u8 = 1;
    pub(crate) const INODE_REF: u8 = 12;
    pub(crate) const DIR_ITEM: u8 = 84;
    pub(crate) const ROOT_ITEM: u8 = 132;
    pub(crate) const ROOT_REF: u8 = 156;
    /// The largest kind.
    pub(crate) const LAST: u8 = u8::MAX;
}

/// `BTRFS_FIRST_FREE_OBJECTID`: the inode number of the root of every subvolume, and the smallest
/// inode number.
pub(crate) const FIRST_INO: u64 = 256;

/// `BTRFS_LAST_FREE_OBJECTID`: larger numbers belong to orphans and other items, not to inodes.
pub(crate) const LAST_INO: u64 = u64::MAX - 255;

/// `BTRFS_ROOT_TREE_OBJECTID`: the tree of trees.
pub(crate) const ROOT_TREE: u64 = 1;

/// `BTRFS_INODE_*` flags on the disk (on-disk format at btrfs.readthedocs.io), and the
/// `STATX_ATTR_*` bits (linux/stat.h) that stand for them.
const ATTRIBUTES: [(u64, u64); 5] = [
    // Immutable, append only, not dumped, compressed, verity.
    (1 << 6, 0x10),
    (1 << 7, 0x20),
    (1 << 8, 0x40),
    (1 << 11, 0x4),
    (1 << 32, 0x10_0000),
];

#[inline]
fn u16_at(data: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(*data.get(at..)?.first_chunk()?))
}

#[inline]
pub(crate) fn u64_at(data: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(*data.get(at..)?.first_chunk()?))
}

/// `struct btrfs_inode_item`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InodeItem<'a>(&'a [u8; 160]);

impl<'a> InodeItem<'a> {
    pub(crate) fn new(data: &'a [u8]) -> Option<Self> {
        data.first_chunk().map(Self)
    }

    #[inline]
    fn word(self, at: usize) -> u32 {
        let bytes = self.0[at..].first_chunk();
        u32::from_le_bytes(*bytes.expect("within 160 bytes"))
    }

    #[inline]
    fn long(self, at: usize) -> u64 {
        let bytes = self.0[at..].first_chunk();
        u64::from_le_bytes(*bytes.expect("within 160 bytes"))
    }

    fn time(self, at: usize) -> Timestamp {
        Timestamp {
            secs: self.long(at).cast_signed(),
            nanos: self.word(at + 8),
        }
    }

    pub(crate) fn generation(self) -> u64 {
        self.long(0)
    }

    /// Returns the transaction that last changed the inode.
    pub(crate) fn transaction(self) -> u64 {
        self.long(8)
    }

    pub(crate) fn nlink(self) -> u32 {
        self.word(40)
    }

    pub(crate) fn file_type(self) -> FileType {
        FileType::from_mode(self.word(52))
    }

    /// Returns true if the item may lack the latest size and blocks. Only regular files get theirs
    /// by write-back.
    pub(crate) fn is_unsettled(self, mounted: &OpenMount) -> bool {
        self.file_type() == FileType::Regular && mounted.is_unsettled(self.time(124).secs)
    }

    /// Returns the metadata that statx(2) would report of the inode with this number, through
    /// `mounted`, on the device of its subvolume.
    pub(crate) fn to_metadata(self, ino: u64, dev: u64, mounted: &OpenMount) -> Metadata {
        let shared = &mounted.metadata;
        let mode = self.word(52);
        let rdev = match mode & 0o170_000 {
            // Block and character devices: the number in the form of the kernel, with 20 bits of
            // minor.
            0o060_000 | 0o020_000 => kernel_device(self.long(56)),
            _ => 0,
        };
        // Sectors are the unit, even for contents within the tree.
        let sector = u64::from(shared.block_size).max(512);
        let bytes = self.long(24).checked_next_multiple_of(sector);
        let flags = self.long(64);
        let attributes = ATTRIBUTES.iter().filter(|(flag, _)| flags & flag != 0);
        Metadata {
            mask: shared.mask,
            mode,
            nlink: self.nlink(),
            uid: self.word(44),
            gid: self.word(48),
            block_size: shared.block_size,
            ino,
            size: self.long(16),
            // If rounding up exceeds 64 bits, the kernel reports 0, too.
            blocks: bytes.unwrap_or(0) / 512,
            dev,
            rdev,
            mnt_id: shared.mnt_id,
            attributes: attributes.map(|(_, attribute)| attribute).sum(),
            atime: self.time(112),
            ctime: self.time(124),
            mtime: self.time(136),
            btime: self.time(148),
            project_id: 0,
            reserved: RESERVED,
        }
    }
}

fn kernel_device(number: u64) -> u64 {
    let major = u32::try_from(number >> 20).unwrap_or(u32::MAX);
    // Masked to 20 bits.
    let minor = u32::try_from(number & 0xf_ffff).unwrap_or_default();
    makedev(major, minor)
}

/// The target of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Location {
    /// To the inode with this number in the same tree.
    Inode(u64),
    /// The root of the subvolume whose tree has this id, if the subvolume is really here. A
    /// snapshot has such entries too, for the subvolumes in its original, and shows empty
    /// directories in their place.
    Subvolume(u64),
}

/// One entry of a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DirItem<'a> {
    pub(crate) name: &'a [u8],
    pub(crate) file_type: FileType,
    pub(crate) location: Location,
}

/// Iterator over the entries in a `DIR_ITEM` (several, if hashes of their names are the same) or a
/// `DIR_INDEX`. Returns an error for bytes that are not an entry.
#[derive(Clone, Debug)]
pub(crate) struct DirItems<'a>(pub(crate) &'a [u8]);

/// The bytes have not the expected layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Damaged;

impl<'a> Iterator for DirItems<'a> {
    type Item = Result<DirItem<'a>, Damaged>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let Some((entry, rest)) = split_entry(self.0) else {
            self.0 = &[];
            return Some(Err(Damaged));
        };
        self.0 = rest;
        Some(entry)
    }
}

/// Splits off the first entry, a `struct btrfs_dir_item`. Its fields are the key of the target (8,
/// 1 and 8 bytes), a transaction (8), the lengths of data and name (2 each), and the type (1). Then
/// come the name and, for extended attributes only, data.
fn split_entry(data: &[u8]) -> Option<(Result<DirItem<'_>, Damaged>, &[u8])> {
    let (header, rest) = data.split_first_chunk::<30>()?;
    let name_length = usize::from(u16_at(header, 27)?);
    let (name, rest) = rest.split_at_checked(name_length)?;
    let (_, rest) = rest.split_at_checked(usize::from(u16_at(header, 25)?))?;
    let objectid = u64_at(header, 0)?;
    let location = match header[8] {
        kind::INODE_ITEM => Location::Inode(objectid),
        kind::ROOT_ITEM => Location::Subvolume(objectid),
        _ => return Some((Err(Damaged), rest)),
    };
    let file_type = listed_type(header[29]);
    if file_type == FileType::Unknown {
        return Some((Err(Damaged), rest));
    }
    if name.is_empty() || name.contains(&0) || name.contains(&b'/') {
        return Some((Err(Damaged), rest));
    }
    let entry = DirItem {
        name,
        file_type,
        location,
    };
    Some((Ok(entry), rest))
}

/// Returns true if an `INODE_REF` gives the inode this name in the directory of its key. The item
/// has any number of index (8 bytes), length (2) and name.
pub(crate) fn has_name(mut references: &[u8], wanted: &[u8]) -> bool {
    while let Some((header, rest)) = references.split_first_chunk::<10>() {
        let length = usize::from(u16::from_le_bytes([header[8], header[9]]));
        let Some((name, rest)) = rest.split_at_checked(length) else {
            return false;
        };
        if name == wanted {
            return true;
        }
        references = rest;
    }
    false
}

/// Returns the directory and the name of a subvolume in its parent. `struct btrfs_root_ref` has the
/// directory (8 bytes), an index (8), and the length (2) of the name that follows.
pub(crate) fn root_reference(data: &[u8]) -> Option<(u64, &[u8])> {
    let (header, name) = data.split_first_chunk::<18>()?;
    let length = usize::from(u16_at(header, 16)?);
    Some((u64_at(header, 0)?, name.get(..length)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dir_item(objectid: u64, kind: u8, name: &[u8], file_type: u8) -> Vec<u8> {
        let mut data = objectid.to_le_bytes().to_vec();
        data.push(kind);
        data.extend([0; 16]);
        data.extend([0, 0]);
        data.extend(u16::try_from(name.len()).unwrap().to_le_bytes());
        data.push(file_type);
        data.extend(name);
        data
    }

    #[test]
    fn names_with_the_same_hash_share_an_item() {
        let mut data = dir_item(300, kind::INODE_ITEM, b"a", 1);
        data.extend(dir_item(258, kind::ROOT_ITEM, b"subvolume", 2));
        let entries: Vec<_> = DirItems(&data).collect();
        let expected = [
            Ok(DirItem {
                name: b"a".as_slice(),
                file_type: FileType::Regular,
                location: Location::Inode(300),
            }),
            Ok(DirItem {
                name: b"subvolume",
                file_type: FileType::Directory,
                location: Location::Subvolume(258),
            }),
        ];
        assert_eq!(entries, expected);
    }

    #[test]
    fn bytes_that_are_not_an_entry_are_damage() {
        let whole = dir_item(300, kind::INODE_ITEM, b"name", 1);
        for length in 1..whole.len() {
            let entries: Vec<_> = DirItems(&whole[..length]).collect();
            assert_eq!(entries, [Err(Damaged)], "{length} bytes");
        }
        for (objectid_kind, name, file_type) in [
            (kind::DIR_ITEM, b"name".as_slice(), 1),
            (kind::INODE_ITEM, b"", 1),
            (kind::INODE_ITEM, b"a/b", 1),
            (kind::INODE_ITEM, b"a\0b", 1),
            (kind::INODE_ITEM, b"name", 8),
            (kind::INODE_ITEM, b"name", 0x81),
        ] {
            let data = dir_item(300, objectid_kind, name, file_type);
            assert_eq!(DirItems(&data).next(), Some(Err(Damaged)));
        }
    }

    #[test]
    fn references_name_their_inode() {
        let mut data = Vec::new();
        for name in [b"first".as_slice(), b"second"] {
            data.extend(7_u64.to_le_bytes());
            data.extend(u16::try_from(name.len()).unwrap().to_le_bytes());
            data.extend(name);
        }
        assert!(has_name(&data, b"first") && has_name(&data, b"second"));
        assert!(!has_name(&data, b"firs") && !has_name(&data, b""));
        assert!(!has_name(&data[..data.len() - 1], b"second"));
    }

    #[test]
    fn a_device_number_is_the_kernels() {
        assert_eq!(kernel_device(0x80_0123), makedev(8, 0x123));
    }
}
