//! Extended attributes: in the inode after its fields, in a block, and large values in inodes of
//! their own.

use crate::bytes::{Fixed, u32_at};
use crate::checksum::crc32c;
use crate::features::incompat;
use crate::inode::Inode;
use crate::inode_flags::InodeFlags;
use crate::mapping::Extent;
use crate::{Error, FileSystem, ReadAt, acl};

/// `EXT4_XATTR_MAGIC`, in the inode and in the block.
const MAGIC: u32 = 0xEA02_0000;
/// Bytes of the block's header.
const HEADER: usize = 32;
/// Bytes of an entry before its name.
const ENTRY: usize = 16;
/// Bytes of the largest value (`XATTR_SIZE_MAX`).
const MOST_VALUE: usize = 64 << 10;
/// Bytes of all values of a file together. No program stores more, and a damaged file system may
/// name one inode with a value thousands of times.
const MOST_VALUES: usize = 16 << 20;
/// Extents of an inode that holds a value: at most its number of blocks, and blocks of pointers to
/// them.
const MOST_EXTENTS: usize = 128;

/// Namespaces by number. The others belong to the file system (7 is `system`, for inline data; 9
/// for the keys of encrypted files), or Linux does not list them.
const POSIX_ACL_ACCESS: u8 = 2;
const POSIX_ACL_DEFAULT: u8 = 3;
const SYSTEM: u8 = 7;
const PREFIXES: &[(u8, &[u8])] = &[
    (1, b"user."),
    (POSIX_ACL_ACCESS, b"system.posix_acl_access"),
    (POSIX_ACL_DEFAULT, b"system.posix_acl_default"),
    (4, b"trusted."),
    (6, b"security."),
    (10, b"gnu."),
];

/// An extended attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Xattr {
    /// The name with its namespace, such as `user.comment`.
    pub name: Vec<u8>,
    /// The value, as getxattr(2) gives it; at most 64 KiB.
    pub value: Vec<u8>,
}

/// Returns the extended attributes of an inode; see `FileSystem::xattrs`.
pub(crate) fn read(
    file_system: &FileSystem,
    device: &(impl ReadAt + ?Sized),
    inode: &Inode<'_>,
) -> Result<Vec<Xattr>, Error> {
    let mut reading = Reading {
        file_system,
        device,
        xattrs: Vec::new(),
        left: MOST_VALUES,
    };
    if let Some(room) = room_in(inode) {
        reading.take(room, room)?;
    }
    let number = inode.xattr_block();
    if number != 0 {
        let block = file_system.superblock.read_block(device, number)?;
        check_block(file_system, number, &block)?;
        // A block has at least 1024 bytes.
        let entries = block.get(HEADER..).unwrap_or_default();
        reading.take(entries, &block)?;
    }
    Ok(reading.xattrs)
}

/// Returns the second part of inline data (`system.data`). Every inode with inline data has this
/// attribute, even if it is empty.
pub(crate) fn inline_data<'r>(inode: &Inode<'r>) -> Result<&'r [u8], Error> {
    let room = room_in(inode).unwrap_or_default();
    for entry in Entries(room) {
        let entry = entry?;
        if entry.namespace == SYSTEM && entry.name == b"data" {
            return entry.value_in(room);
        }
    }
    Err(Error::Corrupt("inline data without its attribute"))
}

/// Returns the entries and values in the inode. Offsets of values count from the first entry.
fn room_in<'r>(inode: &Inode<'r>) -> Option<&'r [u8]> {
    let (magic, room) = inode.xattr_room().split_first_chunk()?;
    (u32::from_le_bytes(*magic) == MAGIC).then_some(room)
}

fn check_block(file_system: &FileSystem, number: u64, block: &[u8]) -> Result<(), Error> {
    /// Offset of the checksum.
    const CHECKSUM: usize = 0x10;
    let split = block.split_first_chunk::<HEADER>();
    let (header, rest) = split.ok_or(Error::Corrupt("block of extended attributes"))?;
    let fields = Fixed(header);
    // There is never more than one block.
    if fields.u32::<0>() != MAGIC || fields.u32::<8>() != 1 {
        return Err(Error::Corrupt("block of extended attributes"));
    }
    let superblock = &file_system.superblock;
    if superblock.has_checksums {
        let mut zeroed = *header;
        zeroed[CHECKSUM..CHECKSUM + 4].fill(0);
        let sum = crc32c(superblock.seed, &number.to_le_bytes());
        if crc32c(crc32c(sum, &zeroed), rest) != fields.u32::<CHECKSUM>() {
            return Err(Error::Checksum("a block of extended attributes"));
        }
    }
    Ok(())
}

/// A stored entry.
struct Entry<'b> {
    namespace: u8,
    name: &'b [u8],
    /// Offset of the value, if no inode holds it.
    offset: usize,
    /// The inode that holds the value, or 0.
    inode: u32,
    size: usize,
}

impl Entry<'_> {
    /// Returns the value within `values`.
    fn value_in<'b>(&self, values: &'b [u8]) -> Result<&'b [u8], Error> {
        let end = self.offset.checked_add(self.size);
        let value = end.and_then(|end| values.get(self.offset..end));
        match value {
            _ if self.inode != 0 => Err(Error::Corrupt("value in an inode")),
            // An empty value may have any offset.
            None if self.size == 0 => Ok(&[]),
            value => value.ok_or(Error::Corrupt("value of an extended attribute")),
        }
    }
}

/// The entries up to the end, which is four zero bytes.
struct Entries<'b>(&'b [u8]);

impl<'b> Entries<'b> {
    /// Returns the first entry, and the entries after it.
    fn split(&self) -> Option<(Entry<'b>, &'b [u8])> {
        let (head, rest) = self.0.split_first_chunk::<ENTRY>()?;
        let head = Fixed(head);
        let length = usize::from(head.u8::<0>());
        let (name, _) = rest.split_at_checked(length)?;
        let entry = Entry {
            namespace: head.u8::<1>(),
            name,
            offset: head.u16::<2>().into(),
            inode: head.u32::<4>(),
            size: usize::try_from(head.u32::<8>()).ok()?,
        };
        Some((entry, rest.get(length.next_multiple_of(4)..)?))
    }
}

impl<'b> Iterator for Entries<'b> {
    type Item = Result<Entry<'b>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        match u32_at(self.0, 0) {
            // Four zero bytes are the end. After an error there are no more entries.
            Some(0) => return None,
            None if self.0.is_empty() => return None,
            _ => {}
        }
        if let Some((entry, rest)) = self.split() {
            self.0 = rest;
            return Some(Ok(entry));
        }
        self.0 = &[];
        Some(Err(Error::Corrupt("extended attributes")))
    }
}

/// A read of attributes in progress.
struct Reading<'f, D: ?Sized> {
    file_system: &'f FileSystem,
    device: &'f D,
    xattrs: Vec<Xattr>,
    /// Number of further bytes of values allowed.
    left: usize,
}

impl<D: ReadAt + ?Sized> Reading<'_, D> {
    /// Adds the attributes in `entries`, whose values are in `values`.
    fn take(&mut self, entries: &[u8], values: &[u8]) -> Result<(), Error> {
        // Values do not overlap. If they did, few bytes could make many to copy.
        let mut room = values.len();
        for entry in Entries(entries) {
            let entry = entry?;
            let known = PREFIXES
                .iter()
                .find(|(number, _)| *number == entry.namespace);
            let Some((_, prefix)) = known else {
                continue;
            };
            let value = if entry.inode == 0 {
                let left = room.checked_sub(entry.size);
                room = left.ok_or(Error::Corrupt("value of an extended attribute"))?;
                entry.value_in(values)?.to_vec()
            } else {
                self.held_value(&entry)?
            };
            let value = match entry.namespace {
                POSIX_ACL_ACCESS | POSIX_ACL_DEFAULT => acl::as_xattr(&value)?,
                _ => value,
            };
            let name = [prefix, entry.name].concat();
            self.xattrs.push(Xattr { name, value });
        }
        Ok(())
    }

    /// Reads a value that an inode holds.
    fn held_value(&mut self, entry: &Entry<'_>) -> Result<Vec<u8>, Error> {
        let wrong = || Error::Corrupt("inode with the value of an extended attribute");
        let superblock = &self.file_system.superblock;
        let may_be = superblock.features.has_incompat(incompat::EA_INODE);
        if !may_be || entry.size > MOST_VALUE {
            return Err(wrong());
        }
        self.left = self.left.checked_sub(entry.size).ok_or_else(wrong)?;
        let mut raw = vec![0; superblock.inode_size.into()];
        let offset = self.file_system.inode_offset(entry.inode)?;
        self.device.read_exact_at(&mut raw, offset)?;
        let inode = self
            .file_system
            .inode(entry.inode, &raw)?
            .ok_or_else(wrong)?;
        let flags = inode.flags();
        let is_holder = flags.contains(InodeFlags::EA_INODE) && inode.is_regular();
        if !is_holder || inode.size() != entry.size as u64 {
            return Err(wrong());
        }
        let extents = self
            .file_system
            .extents(self.device, &inode, MOST_EXTENTS)?;
        let value = self.contents(&extents, entry.size)?;
        // The inode keeps the value's hash in its time of last access.
        if crc32c(superblock.seed, &value) != inode.raw_atime() {
            return Err(Error::Checksum("the value of an extended attribute"));
        }
        Ok(value)
    }

    /// Returns the first `size` bytes of a file, which may have no hole among them.
    fn contents(&self, extents: &[Extent], size: usize) -> Result<Vec<u8>, Error> {
        let superblock = &self.file_system.superblock;
        let mut value = Vec::with_capacity(size);
        for extent in extents {
            if extent.logical * u64::from(superblock.block_size) != value.len() as u64 {
                break;
            }
            let bytes = u64::from(extent.blocks) * u64::from(superblock.block_size);
            let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
            let start = value.len();
            value.resize(size.min(start.saturating_add(bytes)), 0);
            let offset = superblock.offset_of(extent.physical);
            self.device.read_exact_at(&mut value[start..], offset)?;
            if value.len() == size {
                break;
            }
        }
        if value.len() != size {
            return Err(Error::Corrupt("value of an extended attribute with a hole"));
        }
        Ok(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_image::{inode, inode_bytes, set, superblock_bytes};

    /// Returns an entry of the namespace `user`.
    fn entry(name: &[u8], offset: u16, holder: u32, size: u32) -> Vec<u8> {
        let mut bytes = vec![u8::try_from(name.len()).unwrap(), 1];
        bytes.extend(offset.to_le_bytes());
        bytes.extend(holder.to_le_bytes());
        bytes.extend(size.to_le_bytes());
        bytes.extend([0; 4]);
        bytes.extend(name);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes
    }

    /// Returns the attributes of an inode that has `room` after its fields.
    fn read_room(room: &[u8]) -> Result<Vec<Xattr>, Error> {
        let mut image = vec![0; 4096 * 1024];
        set(&mut image, 1024, &superblock_bytes());
        set(&mut image, 2048 + 8, &[10]);
        set(&mut image, 2048 + 32 + 8, &[100]);
        let file_system = FileSystem::open(&image[..])?;
        let mut bytes = inode_bytes(0o100_644);
        set(&mut bytes, 160, &MAGIC.to_le_bytes());
        set(&mut bytes, 164, room);
        let inode = inode(file_system.superblock(), &bytes);
        read(&file_system, &image[..], &inode)
    }

    #[test]
    fn attributes_are_read() {
        let mut room = [entry(b"name", 80, 0, 5), entry(b"none", 0, 0, 0)].concat();
        room.resize(80, 0);
        room.extend(b"value");
        let expected = [
            Xattr {
                name: b"user.name".to_vec(),
                value: b"value".to_vec(),
            },
            Xattr {
                name: b"user.none".to_vec(),
                value: Vec::new(),
            },
        ];
        assert_eq!(read_room(&room).unwrap(), expected);
        assert!(read_room(&[]).unwrap().is_empty());
    }

    #[test]
    fn blocks_have_checksums() {
        let mut image = vec![0; 4096 * 1024];
        set(&mut image, 1024, &superblock_bytes());
        set(&mut image, 2048 + 8, &[10]);
        set(&mut image, 2048 + 32 + 8, &[100]);
        let mut file_system = FileSystem::open(&image[..]).unwrap();
        file_system.superblock.has_checksums = true;
        let mut block = vec![0x55; 1024];
        set(&mut block, 0, &MAGIC.to_le_bytes());
        set(&mut block, 8, &[1, 0, 0, 0]);
        set(&mut block, 0x10, &[0; 4]);
        let sum = crc32c(file_system.superblock.seed, &99_u64.to_le_bytes());
        let sum = crc32c(sum, &block);
        set(&mut block, 0x10, &sum.to_le_bytes());
        assert!(check_block(&file_system, 99, &block).is_ok());
        assert!(
            check_block(&file_system, 98, &block).is_err(),
            "it is another one's"
        );
        for at in 0..block.len() {
            block[at] ^= 0x40;
            assert!(check_block(&file_system, 99, &block).is_err(), "{at}");
            block[at] ^= 0x40;
        }
    }

    #[test]
    fn what_cannot_be_is_an_error() {
        for room in [
            entry(b"name", 90, 0, 5),
            entry(b"name", 0, 0, u32::MAX),
            entry(b"name", u16::MAX, 0, 1),
            // The values overlap. The sum of their sizes is larger than the room.
            [entry(b"a", 0, 0, 60), entry(b"b", 0, 0, 60)].concat(),
            // A value in another inode, without the feature `ea_inode`.
            entry(b"name", 0, 12, 5),
            // A name that continues past the end.
            [vec![1; 88], vec![255; 4]].concat(),
        ] {
            assert!(read_room(&room).is_err(), "{room:?}");
        }
    }
}
