//! Extent trees. The root is in the inode, and each other node is a block.

use crate::bytes::{Fixed, join32, u32_at};
use crate::checksum::crc32c;
use crate::inode::Inode;
use crate::mapping::{Extent, Mapped};
use crate::{Error, ReadAt};

/// `EXT4_EXT_MAGIC`.
const MAGIC: u16 = 0xF30A;
/// The largest depth of a tree (`EXT4_MAX_EXTENT_DEPTH`).
const MOST_DEPTH: u16 = 5;
/// A stored length above this is of an unwritten extent, which is shorter by this number
/// (`EXT_INIT_MAX_LEN`).
const WRITTEN: u16 = 1 << 15;
/// Bytes of a node's header, and of each entry.
const ENTRY: usize = 12;

/// Collects the extents of an inode.
pub(crate) fn collect(
    mapped: &mut Mapped<'_>,
    device: &(impl ReadAt + ?Sized),
    inode: &Inode<'_>,
) -> Result<(), Error> {
    let root = Node::decode(inode.block_map())?;
    if root.depth > MOST_DEPTH {
        return Err(Error::Corrupt("depth of a tree of extents"));
    }
    if root.depth > 0 && root.entries.is_empty() {
        return Err(Error::Corrupt("empty node of extents"));
    }
    let has_checksums = mapped.superblock.has_checksums;
    let seed = has_checksums.then(|| inode.seed(mapped.superblock.seed));
    visit(mapped, device, seed, &root)
}

/// Visits a node and the nodes below it. Each level is one less deep, and the root is at most 5
/// deep.
fn visit(
    mapped: &mut Mapped<'_>,
    device: &(impl ReadAt + ?Sized),
    seed: Option<u32>,
    node: &Node<'_>,
) -> Result<(), Error> {
    let Some(depth) = node.depth.checked_sub(1) else {
        return node
            .entries
            .iter()
            .try_for_each(|entry| leaf(mapped, entry));
    };
    for entry in node.entries {
        let entry = Fixed(entry);
        let first = u64::from(entry.u32::<0>());
        if first < mapped.next() {
            return Err(Error::Corrupt("extents out of order"));
        }
        let block = join32(entry.u32::<4>(), entry.u16::<8>().into());
        let bytes = mapped.superblock.read_block(device, block)?;
        let child = Node::decode(&bytes)?;
        if let Some(seed) = seed {
            child.check_checksum(seed, &bytes)?;
        }
        if child.depth != depth {
            return Err(Error::Corrupt("depth of a tree of extents"));
        }
        // Each node has at least one entry, and begins further on in the file than the last. So no
        // node is visited twice, and there are not many more nodes than extents.
        match child.entries.first() {
            Some(entry) if u64::from(Fixed(entry).u32::<0>()) >= first => {}
            Some(_) => return Err(Error::Corrupt("extents out of order")),
            None => return Err(Error::Corrupt("empty node of extents")),
        }
        visit(mapped, device, seed, &child)?;
    }
    Ok(())
}

fn leaf(mapped: &mut Mapped<'_>, entry: &[u8; ENTRY]) -> Result<(), Error> {
    let entry = Fixed(entry);
    mapped.count()?;
    let logical = u64::from(entry.u32::<0>());
    let length = entry.u16::<4>();
    match length {
        0 => Err(Error::Corrupt("empty extent")),
        1..=WRITTEN => mapped.add(Extent {
            logical,
            physical: join32(entry.u32::<8>(), entry.u16::<6>().into()),
            blocks: length.into(),
        }),
        _ => mapped.skip(logical, (length - WRITTEN).into()),
    }
}

/// A decoded node.
struct Node<'b> {
    depth: u16,
    /// Number of entries that the node has space for.
    most: usize,
    entries: &'b [[u8; ENTRY]],
}

impl<'b> Node<'b> {
    fn decode(bytes: &'b [u8]) -> Result<Self, Error> {
        let records = bytes.as_chunks::<ENTRY>().0;
        let split = records.split_first();
        let (header, records) = split.ok_or(Error::Corrupt("node of extents cut short"))?;
        let header = Fixed(header);
        if header.u16::<0>() != MAGIC {
            return Err(Error::Corrupt("magic number of a node of extents"));
        }
        let most = usize::from(header.u16::<4>());
        let count = usize::from(header.u16::<2>());
        match records.get(..count) {
            Some(entries) if count <= most && most <= records.len() => Ok(Self {
                depth: header.u16::<6>(),
                most,
                entries,
            }),
            _ => Err(Error::Corrupt("number of extents")),
        }
    }

    /// Checks the checksum, which follows the space for entries.
    fn check_checksum(&self, seed: u32, bytes: &[u8]) -> Result<(), Error> {
        let end = ENTRY * (1 + self.most);
        let stored = u32_at(bytes, end);
        let sum = bytes.get(..end).map(|bytes| crc32c(seed, bytes));
        if stored.is_none() || stored != sum {
            return Err(Error::Checksum("a node of extents"));
        }
        Ok(())
    }
}
