//! Compares images of every combination of mke2fs features with the tree from which they were made.

mod common;

use common::formats::FORMATS;
use common::{contents, has_tools, make, room, sample_tree, walk};
use ringwalk_ext4::{FileSystem, Inode, InodeFlags, ReadAt};
use std::collections::BTreeMap;
use std::fs::{self, File, Metadata};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Returns all files below `tree`, by their path relative to `tree`.
fn files(tree: &Path) -> BTreeMap<Vec<u8>, (PathBuf, Metadata)> {
    let mut files = BTreeMap::new();
    let mut pending = vec![tree.to_owned()];
    while let Some(directory) = pending.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            let stat = path.symlink_metadata().unwrap();
            if stat.is_dir() {
                pending.push(path.clone());
            }
            let name = path.strip_prefix(tree).unwrap().as_os_str();
            files.insert(name.as_bytes().to_vec(), (path, stat));
        }
    }
    files
}

/// Returns the `EXT4_FT_*` value of a mode.
fn type_of(mode: u32) -> u8 {
    match mode & 0o170_000 {
        0o100_000 => 1,
        0o040_000 => 2,
        0o120_000 => 7,
        other => panic!("{other:o}"),
    }
}

/// Compares a file in the image with its original.
fn compare(
    file_system: &FileSystem,
    device: &(impl ReadAt + ?Sized),
    inode: &Inode<'_>,
    path: &Path,
    stat: &Metadata,
) {
    assert_eq!(inode.mode(), stat.mode());
    assert_eq!((inode.uid(), inode.gid()), (stat.uid(), stat.gid()));
    assert_eq!(inode.mtime().secs, stat.mtime());
    if stat.is_dir() {
        assert!(inode.size() > 0);
        return;
    }
    assert_eq!(inode.size(), stat.size());
    let is_inline = inode.flags().contains(InodeFlags::INLINE_DATA);
    if stat.is_symlink() && (is_inline || stat.size() < 60) {
        assert!(file_system.extents(device, inode, 0).unwrap().is_empty());
        return;
    }
    if is_inline {
        assert!(stat.size() < file_system.superblock().inode_size.into());
        return;
    }
    let expected = if stat.is_symlink() {
        fs::read_link(path).unwrap().as_os_str().as_bytes().to_vec()
    } else {
        fs::read(path).unwrap()
    };
    assert!(
        contents(file_system, device, inode).unwrap() == expected,
        "contents differ"
    );
}

#[test]
fn every_format_gives_the_tree_it_was_made_of() {
    if !has_tools() {
        return;
    }
    let room = room();
    let tree = room.path().join("tree");
    sample_tree(&tree, 700);
    let files = files(&tree);
    for (arguments, size) in FORMATS {
        let image = room.path().join("image");
        make(&image, Some(&tree), arguments, size);
        let device = File::open(&image).unwrap();
        let file_system = FileSystem::open(&device).unwrap();
        let has_types = file_system.superblock().has_file_types;
        let mut seen = 0;
        let result = walk(&file_system, &device, |name, file_type, inode| {
            let shown = String::from_utf8_lossy(name);
            assert!(!file_system.is_hidden(inode), "{arguments}: {shown}");
            assert_eq!(file_type, if has_types { type_of(inode.mode()) } else { 0 });
            if name == b"lost+found" {
                return Ok(());
            }
            seen += 1;
            let (path, stat) = files.get(name).unwrap_or_else(|| panic!("{shown}?"));
            compare(&file_system, &device, inode, path, stat);
            Ok(())
        });
        result.unwrap_or_else(|error| panic!("{arguments}: {error}"));
        assert_eq!(seen, files.len(), "{arguments}");
        fs::remove_file(&image).unwrap();
    }
}
