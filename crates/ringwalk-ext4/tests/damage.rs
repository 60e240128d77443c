//! Reads ten thousand damaged images: some with random bytes, some with extreme values in chosen
//! fields. Every read must end, stay within bounds, and not panic.

mod common;

use common::{has_tools, inode_bytes, list, make, room, sample_tree};
use ringwalk_ext4::{FileSystem, Inode, InodeFlags, ReadAt};
use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::time::Instant;

/// Small images. The last two have checksums, which detect most damage early.
const FORMATS: &[(&str, &str)] = &[
    ("-t ext2 -b 1024 -N 256", "1500k"),
    (
        "-t ext4 -b 1024 -N 256 -O ^has_journal,^metadata_csum,inline_data,ea_inode",
        "1500k",
    ),
    (
        "-t ext4 -b 1024 -N 256 -g 256 -O ^has_journal,^metadata_csum,meta_bg,^resize_inode",
        "1500k",
    ),
    (
        "-t ext4 -b 1024 -N 256 -O ^has_journal,^metadata_csum,uninit_bg",
        "1500k",
    ),
    (
        "-t ext4 -b 1024 -N 256 -O ^has_journal,inline_data",
        "1500k",
    ),
];
/// Number of images with random damage, for each format.
const AT_RANDOM: usize = 1600;
/// Number of images with damage in chosen fields, for each format.
const CHOSEN: usize = 400;
/// The largest number of reads for a damaged image. An intact image takes a tenth of it.
const MOST_READS: usize = 20_000;
const MOST_BYTES: usize = 64 << 20;

/// An image in memory that counts reads, and records their ranges.
struct Device {
    bytes: RefCell<Vec<u8>>,
    reads: Cell<usize>,
    read_bytes: Cell<usize>,
    ranges: RefCell<Option<Vec<(usize, usize)>>>,
}

impl ReadAt for Device {
    fn read_exact_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<()> {
        self.reads.set(self.reads.get() + 1);
        self.read_bytes.set(self.read_bytes.get() + bytes.len());
        self.bytes.borrow()[..].read_exact_at(bytes, offset)?;
        if let Some(ranges) = &mut *self.ranges.borrow_mut() {
            ranges.push((usize::try_from(offset).unwrap(), bytes.len()));
        }
        Ok(())
    }
}

impl Device {
    fn new(bytes: Vec<u8>) -> Self {
        Self {
            bytes: RefCell::new(bytes),
            reads: Cell::new(0),
            read_bytes: Cell::new(0),
            ranges: RefCell::new(None),
        }
    }

    /// Returns the offsets of all bytes that a traversal reads.
    fn places(&self) -> Vec<usize> {
        *self.ranges.borrow_mut() = Some(Vec::new());
        traverse(self);
        let ranges = self.ranges.take().unwrap();
        let places: BTreeSet<usize> = ranges
            .iter()
            .flat_map(|&(start, length)| start..start + length)
            .collect();
        places.into_iter().collect()
    }

    /// Writes `damage` into the image, reads everything, and undoes the damage. Returns the number
    /// of inodes.
    fn try_with(&self, damage: &[(usize, Vec<u8>)], context: &str) -> usize {
        let mut before = Vec::new();
        for (at, new) in damage {
            let mut bytes = self.bytes.borrow_mut();
            let Some(old) = bytes.get_mut(*at..at + new.len()) else {
                continue;
            };
            before.push((*at, old.to_vec()));
            old.copy_from_slice(new);
        }
        self.reads.set(0);
        self.read_bytes.set(0);
        let inodes = traverse(self);
        let (reads, bytes) = (self.reads.get(), self.read_bytes.get());
        assert!(
            reads <= MOST_READS && bytes <= MOST_BYTES,
            "{context}: {reads} {bytes}: {damage:?}"
        );
        for (at, old) in before.into_iter().rev() {
            self.bytes.borrow_mut()[at..at + old.len()].copy_from_slice(&old);
        }
        inodes
    }
}

/// Reads everything: all inodes with their fields, block maps and attributes, and all entries of
/// directories. Returns the number of inodes.
fn traverse(device: &Device) -> usize {
    let Ok(file_system) = FileSystem::open(device) else {
        return 0;
    };
    let mut inodes = 0;
    for table in file_system.inode_tables(device).unwrap_or_default() {
        for ino in table.first..table.first + table.count {
            let Ok(raw) = inode_bytes(&file_system, device, ino) else {
                break;
            };
            if let Ok(Some(inode)) = file_system.inode(ino, &raw) {
                inodes += 1;
                read_inode(&file_system, device, &inode);
            }
        }
    }
    inodes
}

fn read_inode(file_system: &FileSystem, device: &Device, inode: &Inode<'_>) {
    let numbers = (
        inode.size(),
        inode.blocks(),
        inode.links(),
        inode.uid(),
        inode.gid(),
    );
    let times = (inode.atime(), inode.mtime(), inode.ctime(), inode.btime());
    let others = (
        inode.device(),
        inode.project(),
        inode.generation(),
        file_system.is_hidden(inode),
    );
    std::hint::black_box((numbers, times, others));
    let _ = file_system.xattrs(device, inode);
    if inode.mode() & 0o170_000 == 0o040_000 {
        if let Ok(entries) = list(file_system, device, inode) {
            for (ino, _, name) in entries {
                assert!((1..=file_system.superblock().inodes).contains(&ino));
                assert!(
                    (1..256).contains(&name.len()) && !name.contains(&b'/') && !name.contains(&0)
                );
            }
        }
    } else if let Ok(extents) = file_system.extents(device, inode, 1000) {
        assert!(extents.len() <= 1000);
        assert!(extents.is_sorted_by(|a, b| a.logical + u64::from(a.blocks) <= b.logical));
        assert!(!inode.flags().contains(InodeFlags::INLINE_DATA) || extents.is_empty());
    }
}

/// Marsaglia's xorshift generator: the damage is the same in each run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % end as u64).unwrap()
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }
}

/// Returns the offset and length of important fields.
fn fields(image: &[u8], places: &[usize]) -> Vec<(usize, usize)> {
    // The superblock: all words up to the features, and those about descriptors and checksums.
    let words = (0..0x68)
        .step_by(4)
        .chain([0xFC, 0xFE, 0x104, 0x150, 0x174, 0x24C, 0x250, 0x270, 0x280]);
    let mut fields: Vec<(usize, usize)> = words.map(|word| (1024 + word, 4)).collect();
    // The first descriptors: bitmaps, tables, flags, unused inodes.
    fields.extend((0..0x40).step_by(2).map(|at| (2048 + at, 2)));
    for &place in places {
        // Nodes of extent trees: magic number, entries, capacity, depth, and the first entry.
        if image[place..].starts_with(&[0x0A, 0xF3]) {
            fields.extend((0..24).step_by(2).map(|at| (place + at, 2)));
        }
        // Directory records: `..`, and those whose name begins with `file with`.
        if image[place..].starts_with(b"..\0\0") || image[place..].starts_with(b"file with") {
            fields.extend([
                (place - 8, 4),
                (place - 4, 2),
                (place - 2, 1),
                (place - 1, 1),
            ]);
        }
        // Extended attributes, in inodes and in blocks.
        if image[place..].starts_with(&[0, 0, 2, 0xEA]) {
            fields.extend((0..48).step_by(2).map(|at| (place + at, 2)));
        }
    }
    // Inodes: type, size, links, blocks, flags, block map, attributes, upper half of the size, size
    // of the extra fields.
    let tables = FileSystem::open(image)
        .unwrap()
        .inode_tables(image)
        .unwrap();
    for table in tables {
        let start = usize::try_from(table.offset).unwrap();
        let size = usize::from(FileSystem::open(image).unwrap().superblock().inode_size);
        for inode in 0..table.count as usize {
            let at = start + inode * size;
            let offsets = [
                0, 4, 0x1A, 0x1C, 0x20, 0x28, 0x58, 0x5C, 0x60, 0x68, 0x6C, 0x74, 0x80,
            ];
            fields.extend(offsets.map(|offset| (at + offset, 4)));
        }
    }
    fields
}

/// Extreme values: bounds, and neighbours of bounds.
const NUMBERS: &[u64] = &[
    0,
    1,
    2,
    3,
    4,
    7,
    8,
    11,
    12,
    0x10,
    0xFF,
    0x100,
    0x3FF,
    0x400,
    0x7FFF,
    0x8000,
    0x8001,
    0xFFFC,
    0xFFFF,
    0x1_0000,
    0x10_0000,
    0x7FFF_FFFF,
    0x8000_0000,
    0xFFFF_FFFC,
    0xFFFF_FFFE,
    0xFFFF_FFFF,
];

/// Adds a correct superblock checksum to the damage, so that the changed field is read.
fn with_checksum(image: &[u8], at: usize, new: &[u8]) -> Vec<(usize, Vec<u8>)> {
    let mut superblock = image[1024..2048].to_vec();
    let mut damage = vec![(at, new.to_vec())];
    if let Some(place) = superblock.get_mut(at - 1024..at - 1024 + new.len()) {
        place.copy_from_slice(new);
        let sum = !crc32c::crc32c(&superblock[..0x3FC]);
        damage.push((1024 + 0x3FC, sum.to_le_bytes().to_vec()));
    }
    damage
}

/// Damages one image in many ways.
fn damage(image: &[u8], arguments: &str, random: &mut Random) {
    let device = Device::new(image.to_owned());
    let places = device.places();
    let intact = traverse(&device);
    assert!(intact > 60, "{arguments}: {intact} inodes");
    let mut harmless = 0;
    for _ in 0..AT_RANDOM {
        let bytes = 1 + random.below(8);
        let damage: Vec<_> = (0..bytes)
            .map(|_| (random.of(&places), vec![random.next().to_le_bytes()[0]]))
            .collect();
        harmless += usize::from(device.try_with(&damage, arguments) == intact);
    }
    // Most single bytes leave most inodes intact, so the damage does not prevent all reading.
    assert!(harmless > AT_RANDOM / 100, "{arguments}: {harmless}");
    let fields = fields(image, &places);
    for _ in 0..CHOSEN {
        let (at, length) = random.of(&fields);
        let number = random.of(NUMBERS).to_le_bytes();
        device.try_with(&with_checksum(image, at, &number[..length]), arguments);
    }
    assert!(
        device.bytes.borrow()[..] == *image,
        "the image is as it was"
    );
}

#[test]
fn damaged_images_are_read_within_bounds() {
    if !has_tools() {
        return;
    }
    let room = room();
    let tree = room.path().join("tree");
    sample_tree(&tree, 40);
    fs::write(tree.join("wide").join("y".repeat(200)), "").unwrap();
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let start = Instant::now();
    for (arguments, size) in FORMATS {
        let image = room.path().join("image");
        make(&image, Some(&tree), arguments, size);
        let attributes = "ea_set \"/size 100\" user.one hello\nea_set /wide user.two world\n";
        common::debugfs(&image, true, attributes);
        damage(&fs::read(&image).unwrap(), arguments, &mut random);
        fs::remove_file(&image).unwrap();
    }
    eprintln!(
        "{} images took {:?}",
        FORMATS.len() * (AT_RANDOM + CHOSEN),
        start.elapsed()
    );
}
