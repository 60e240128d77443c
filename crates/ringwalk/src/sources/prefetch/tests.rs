//! Tests of prefetch: images made by e2fsprogs are evicted from the page cache and read ahead.

use super::map::Mapper;
use super::*;
use ringwalk_ext4::{Extent, ROOT_INODE};
use ringwalk_sys::cachestat;
use rustix::fs::{Advice, fadvise};
use std::collections::BTreeSet;
use std::fs::{create_dir, create_dir_all, write};
use std::os::unix::fs::FileExt;
use std::process::Command;
use tempfile::TempDir;

const PLENTY: PrefetchBounds = PrefetchBounds {
    bytes: u64::MAX,
    inodes: u64::MAX,
};

/// An image of a file system, whose pages can be evicted from the page cache.
struct Image {
    directory: TempDir,
    file: File,
    file_system: FileSystem,
}

impl Image {
    /// Creates an image. If there is no mke2fs, prints that and returns `None`.
    fn new(options: &[&str]) -> Option<Self> {
        let directory = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        let tree = directory.path().join("tree");
        for number in 0..200 {
            create_dir_all(tree.join(format!("some/of/{number}"))).unwrap();
            write(tree.join(format!("some/of/{number}/file")), "x").unwrap();
        }
        create_dir(tree.join("wide")).unwrap();
        for number in 0..600 {
            let name = format!("a name that takes room in its directory, number {number}");
            write(tree.join("wide").join(name), "").unwrap();
        }
        let image = directory.path().join("image");
        let made = Command::new("mke2fs")
            .args(["-q", "-F", "-N", "8192"])
            .args(options)
            .arg("-d")
            .args([&tree, &image])
            .arg("64M")
            .status();
        if made.is_err() {
            eprintln!("SKIPPED: no mke2fs (e2fsprogs)");
            return None;
        }
        assert!(made.unwrap().success());
        let file = File::open(image).unwrap();
        let file_system = FileSystem::open(&file).unwrap();
        Some(Self {
            directory,
            file,
            file_system,
        })
    }

    fn plan(&self, root: u32, metadata: bool) -> Plan<'_> {
        Plan {
            device: &self.file,
            file_system: &self.file_system,
            roots: vec![root],
            whole: root == ROOT_INODE,
            metadata,
            max_depth: usize::MAX,
            inodes: 8192,
        }
    }

    /// Evicts the image from the page cache. If that cannot be done or checked, prints the reason
    /// and returns false.
    fn forget(&self) -> bool {
        self.file.sync_all().unwrap();
        fadvise(&self.file, 0, None, Advice::DontNeed).unwrap();
        let gone = cachestat(&self.file, 0, u64::MAX).is_ok_and(|found| found.cached == 0);
        if !gone {
            eprintln!("SKIPPED: no cachestat(2), or a file system that is only memory");
        }
        gone
    }

    fn inode(&self, ino: u32) -> Vec<u8> {
        let size = self.file_system.superblock().inode_size;
        let mut raw = vec![0; size.into()];
        let offset = self.file_system.inode_offset(ino).unwrap();
        self.file.read_exact_at(&mut raw, offset).unwrap();
        raw
    }

    fn extents(&self, ino: u32) -> Vec<Extent> {
        let raw = self.inode(ino);
        let inode = self.file_system.inode(ino, &raw).unwrap().unwrap();
        self.file_system
            .extents(&self.file, &inode, 10_000)
            .unwrap()
    }

    /// Returns name, inode number and type of every entry of a directory.
    fn entries(&self, ino: u32) -> Vec<(Vec<u8>, u32, u8)> {
        let raw = self.inode(ino);
        let inode = self.file_system.inode(ino, &raw).unwrap().unwrap();
        let block_size = self.file_system.superblock().block_size;
        let mut found = Vec::new();
        for extent in self.extents(ino) {
            for index in 0..u64::from(extent.blocks) {
                let mut block = vec![0; block_size as usize];
                let at = (extent.physical + index) * u64::from(block_size);
                self.file.read_exact_at(&mut block, at).unwrap();
                let logical = extent.logical + index;
                let add = |entry: ringwalk_ext4::DirEntry<'_>| {
                    found.push((entry.name.to_vec(), entry.ino, entry.file_type));
                };
                self.file_system
                    .directory_block(&inode, logical, &block, add)
                    .unwrap();
            }
        }
        found.retain(|(name, ..)| name != b"." && name != b"..");
        found
    }

    fn child(&self, ino: u32, name: &str) -> u32 {
        let entries = self.entries(ino);
        let found = entries.iter().find(|(other, ..)| other == name.as_bytes());
        found.unwrap().1
    }

    /// Returns the pages that a walk from `root` reads, each once: pages of directories, and pages
    /// of inodes (of all entries, or of directories only).
    fn pages(&self, root: u32, metadata: bool, depth: usize) -> BTreeSet<u64> {
        let block_size = u64::from(self.file_system.superblock().block_size);
        let mut pages = BTreeSet::from([self.file_system.inode_offset(root).unwrap() / 4096]);
        for extent in self.extents(root) {
            for block in extent.physical..extent.physical + u64::from(extent.blocks) {
                pages.insert(block * block_size / 4096);
            }
        }
        for (_, ino, file_type) in self.entries(root) {
            if metadata {
                pages.insert(self.file_system.inode_offset(ino).unwrap() / 4096);
            }
            if file_type == 2 && depth > 1 {
                pages.extend(self.pages(ino, metadata, depth - 1));
            }
        }
        pages
    }

    fn cached(&self, pages: &BTreeSet<u64>) -> usize {
        let is_cached = |page: &&u64| {
            let found = cachestat(&self.file, **page * 4096, 4096).unwrap();
            found.cached > 0
        };
        pages.iter().filter(is_cached).count()
    }

    /// Reads ahead, and checks that all pages are in memory that the walk will need.
    fn check(&self, plan: &Plan<'_>) -> Option<Prefetched> {
        let depth = plan.max_depth.min(50);
        let needed = self.pages(plan.roots[0], plan.metadata, depth);
        if !self.forget() {
            return None;
        }
        assert_eq!(self.cached(&needed), 0);
        let done = prefetch(plan, PLENTY, &AtomicBool::new(false));
        assert_eq!(self.cached(&needed), needed.len());
        assert!(!done.bounded);
        Some(done)
    }
}

#[test]
fn a_whole_file_system_of_each_format() {
    let formats: [&[&str]; 5] = [
        &["-t", "ext4"],
        &["-t", "ext2"],
        &["-t", "ext4", "-b", "1024"],
        // Indirect block maps.
        &["-t", "ext2", "-b", "1024", "-I", "128"],
        &["-t", "ext4", "-O", "^flex_bg,inline_data"],
    ];
    for format in formats {
        let Some(image) = Image::new(format) else {
            return;
        };
        let Some(done) = image.check(&image.plan(ROOT_INODE, true)) else {
            return;
        };
        let inode_size = u64::from(image.file_system.superblock().inode_size);
        assert!(done.inode_bytes >= 1000 * inode_size, "{format:?} {done:?}");
        assert!(
            done.directory_bytes >= 200 * 1024 || format.len() > 3,
            "{format:?} {done:?}"
        );
    }
}

#[test]
fn a_sparse_file_system_is_read_by_levels() {
    let Some(image) = Image::new(&["-t", "ext4"]) else {
        return;
    };
    let plan = Plan {
        inodes: 1,
        ..image.plan(ROOT_INODE, true)
    };
    assert!(plan.tables().is_none());
    image.check(&plan);
}

#[test]
fn a_subtree_and_no_more() {
    for format in [["-t", "ext4"], ["-t", "ext2"]] {
        let Some(image) = Image::new(&format) else {
            return;
        };
        let some = image.child(ROOT_INODE, "some");
        let Some(all) = image.check(&image.plan(some, true)) else {
            return;
        };
        let names = image.check(&image.plan(some, false)).unwrap();
        assert!(names.directory_bytes == all.directory_bytes);
        // One level: only `of` and its inode.
        let shallow = Plan {
            max_depth: 1,
            ..image.plan(some, true)
        };
        let shallow = image.check(&shallow).unwrap();
        assert!(shallow.directory_bytes <= 4096, "{shallow:?}");
        let wide = image.child(ROOT_INODE, "wide");
        let beyond = image.pages(wide, false, 1);
        let some = image.plan(some, true);
        image.forget();
        prefetch(&some, PLENTY, &AtomicBool::new(false));
        assert!(image.cached(&beyond) < beyond.len() / 2);
    }
}

#[test]
fn bounds_and_the_end_of_the_walk_are_kept() {
    let Some(image) = Image::new(&["-t", "ext4"]) else {
        return;
    };
    let some = image.child(ROOT_INODE, "some");
    for root in [ROOT_INODE, some] {
        let plan = image.plan(root, true);
        let all = prefetch(&plan, PLENTY, &AtomicBool::new(false));
        let bounds = PrefetchBounds {
            bytes: u64::midpoint(all.inode_bytes, all.directory_bytes),
            inodes: u64::MAX,
        };
        let half = prefetch(&plan, bounds, &AtomicBool::new(false));
        assert!(half.bounded);
        assert!(half.inode_bytes + half.directory_bytes <= bounds.bytes);
        let stopped = prefetch(&plan, PLENTY, &AtomicBool::new(true));
        assert_eq!(stopped.inode_bytes + stopped.directory_bytes, 0);
    }
}

#[test]
fn blocks_read_ahead_are_not_cold() {
    let Some(image) = Image::new(&["-t", "ext4"]) else {
        return;
    };
    let plan = image.plan(ROOT_INODE, true);
    let tables = plan.tables().unwrap();
    let is_cold = || cold::is_cold(&image.file, &image.file_system, &tables);
    if !image.forget() {
        return;
    }
    assert_eq!(is_cold(), Some(true));
    image.check(&plan);
    assert_eq!(is_cold(), Some(false));
    assert!(plan.is_warm());
    // Only the tables are read, as by an inode sweep: the directories are cold.
    image.forget();
    let mut table = vec![0; 1 << 20];
    for table_of_group in &tables {
        let bytes = table_of_group.count as usize * 256;
        image
            .file
            .read_exact_at(&mut table[..bytes], table_of_group.offset)
            .unwrap();
    }
    assert_eq!(is_cold(), Some(true));
}

#[test]
fn a_directory_below_itself_is_read_once() {
    let Some(image) = Image::new(&["-t", "ext2"]) else {
        return;
    };
    let some = image.child(ROOT_INODE, "some");
    let plan = image.plan(some, true);
    let sound = prefetch(&plan, PLENTY, &AtomicBool::new(false));
    // Makes the name `of` in the directory lead to the directory itself.
    let path = image.directory.path().join("image");
    let block_size = u64::from(image.file_system.superblock().block_size);
    let at = image.extents(some)[0].physical * block_size;
    let mut block = vec![0; usize::try_from(block_size).unwrap()];
    image.file.read_exact_at(&mut block, at).unwrap();
    let of = image.child(some, "of").to_le_bytes();
    let within = block.windows(4).position(|bytes| bytes == of).unwrap();
    let writer = File::options().write(true).open(path).unwrap();
    let place = at + within as u64;
    writer.write_all_at(&some.to_le_bytes(), place).unwrap();
    assert_eq!(image.child(some, "of"), some);
    let damaged = prefetch(&plan, PLENTY, &AtomicBool::new(false));
    assert!(damaged.directory_bytes > 0);
    assert!(damaged.directory_bytes < sound.directory_bytes);
}

#[test]
fn maps_are_visited_within_bounds() {
    let Some(image) = Image::new(&["-t", "ext2", "-b", "1024"]) else {
        return;
    };
    let raw = image.inode(image.child(ROOT_INODE, "wide"));
    let inode = image.file_system.inode(ROOT_INODE, &raw).unwrap().unwrap();
    let known = |blocks: u64| {
        let mut mapper = Mapper::new(&image.file_system, blocks * 1024);
        // As in the last round of `resolve`, blocks of pointers are read one by one.
        let first = mapper.try_map(&image.file, &inode, true).is_some();
        (first, mapper.try_map(&image.file, &inode, true).is_some())
    };
    assert_eq!(known(1000), (true, true));
    assert_eq!(known(4), (true, false));
    assert_eq!(known(0), (false, false));
}
