//! The decoder of ext4 on arbitrary images: the whole tree is walked and every inode is read.
//!
//! Whatever a disk holds, the decoder must not panic and must end, and callers must be able to rely
//! on names, inode numbers and extents. Checksums would stop nearly every damaged image early, so
//! each image is read a second time without those features in its superblock.

#![no_main]

use libfuzzer_sys::fuzz_target;
use ringwalk_ext4::{Error, FileSystem, Inode, InodeFlags, ROOT_INODE, ReadAt};
use std::cell::Cell;
use std::collections::HashSet;
use std::io;

/// The most blocks of a directory that are read: the same block may be mapped many times.
const MOST_BLOCKS: usize = 256;
/// The most extents of a map.
const MOST_EXTENTS: usize = 512;
/// The most reads of one image. A map can take some for each of its extents. There are at most 512
/// inodes in 64 KiB, and each of them may have the same map.
const MOST_READS: usize = 2 << 20;

/// `s_feature_ro_compat`, and the features with checksums in it: `gdt_csum` and `metadata_csum`.
const RO_COMPAT: usize = 1024 + 0x64;
const CHECKSUMS: [u8; 2] = [0x10, 0x04];

/// An image that counts its reads.
struct Image<'b> {
    bytes: &'b [u8],
    reads: Cell<usize>,
}

impl ReadAt for Image<'_> {
    fn read_exact_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<()> {
        self.reads.set(self.reads.get() + 1);
        assert!(self.reads.get() < MOST_READS, "it goes on and on");
        self.bytes.read_exact_at(bytes, offset)
    }
}

fn read_all(bytes: &[u8]) {
    let image = Image {
        bytes,
        reads: Cell::new(0),
    };
    let Ok(file_system) = FileSystem::open(&image) else {
        return;
    };
    sweep(&file_system, &image);
    let mut seen = HashSet::from([ROOT_INODE]);
    let mut pending = vec![ROOT_INODE];
    while let Some(ino) = pending.pop() {
        let mut found = Vec::new();
        let _ = with_inode(&file_system, &image, ino, |directory| {
            list(&file_system, &image, directory, &mut found);
        });
        pending.extend(found.into_iter().filter(|ino| seen.insert(*ino)));
    }
}

fn with_inode(
    file_system: &FileSystem,
    image: &Image<'_>,
    ino: u32,
    action: impl FnOnce(&Inode<'_>),
) -> Result<(), Error> {
    let mut raw = vec![0; file_system.superblock().inode_size.into()];
    image.read_exact_at(&mut raw, file_system.inode_offset(ino)?)?;
    if let Some(inode) = file_system.inode(ino, &raw)? {
        assert_eq!(inode.ino(), ino);
        action(&inode);
    }
    Ok(())
}

/// Reads all inodes, one group after the other.
fn sweep(file_system: &FileSystem, image: &Image<'_>) {
    let mut last = 0;
    for table in file_system.inode_tables(image).unwrap_or_default() {
        assert!(table.first > last && table.count > 0);
        last = table.first + (table.count - 1);
        assert!(last <= file_system.superblock().inodes);
        for ino in table.first..=last {
            let size = u64::from(file_system.superblock().inode_size);
            let place = table.offset + u64::from(ino - table.first) * size;
            assert_eq!(file_system.inode_offset(ino).unwrap(), place);
            if place >= image.bytes.len() as u64 {
                return;
            }
            let _ = with_inode(file_system, image, ino, |inode| {
                read(file_system, image, inode);
            });
        }
    }
}

fn read(file_system: &FileSystem, image: &Image<'_>, inode: &Inode<'_>) {
    let _ = (
        inode.uid(),
        inode.gid(),
        inode.links(),
        inode.size(),
        inode.blocks(),
    );
    for time in [inode.atime(), inode.mtime(), inode.ctime()]
        .into_iter()
        .chain(inode.btime())
    {
        assert!(time.nanos < 1 << 30 && (-(1 << 31)..1 << 34).contains(&time.secs));
    }
    let (major, minor) = inode.device();
    assert!(major < 1 << 12 && minor < 1 << 20);
    let _ = (
        inode.generation(),
        inode.project(),
        file_system.is_hidden(inode),
    );
    if let Ok(extents) = file_system.extents(image, inode, MOST_EXTENTS) {
        assert!(extents.len() <= MOST_EXTENTS);
        assert!(extents.is_sorted_by(|a, b| a.logical + u64::from(a.blocks) <= b.logical));
        assert!(
            extents
                .iter()
                .all(|extent| extent.blocks > 0 && extent.physical > 0)
        );
    }
    for xattr in file_system.xattrs(image, inode).unwrap_or_default() {
        assert!(xattr.name.contains(&b'.'));
    }
}

/// Lists a directory. Here anything may be one.
fn list(file_system: &FileSystem, image: &Image<'_>, directory: &Inode<'_>, found: &mut Vec<u32>) {
    let inodes = file_system.superblock().inodes;
    let mut entry = |entry: ringwalk_ext4::DirEntry<'_>| {
        assert!((1..=inodes).contains(&entry.ino));
        assert!((1..256).contains(&entry.name.len()));
        assert!(!entry.name.contains(&b'/') && !entry.name.contains(&0));
        assert!(entry.file_type < 8);
        found.push(entry.ino);
    };
    if directory.flags().contains(InodeFlags::INLINE_DATA) {
        let _ = file_system.inline_directory(directory, &mut entry);
        return;
    }
    let block_size = file_system.superblock().block_size;
    let mut block = vec![0; block_size as usize];
    let extents = file_system
        .extents(image, directory, MOST_EXTENTS)
        .unwrap_or_default();
    let blocks = extents.iter().flat_map(|extent| {
        let numbers = extent.physical..extent.physical + u64::from(extent.blocks);
        numbers.zip(extent.logical..)
    });
    for (physical, logical) in blocks.take(MOST_BLOCKS) {
        let offset = physical * u64::from(block_size);
        if image.read_exact_at(&mut block, offset).is_err() {
            return;
        }
        let _ = file_system.directory_block(directory, logical, &block, &mut entry);
    }
}

fuzz_target!(|image: &[u8]| {
    read_all(image);
    if image.get(RO_COMPAT..RO_COMPAT + 2).is_some() {
        let mut without = image.to_vec();
        without[RO_COMPAT] &= !CHECKSUMS[0];
        without[RO_COMPAT + 1] &= !CHECKSUMS[1];
        read_all(&without);
    }
});
