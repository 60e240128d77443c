//! Images of every combination of features that mke2fs makes, against the tree that they were made of.

mod common;

use common::{has_tools, make, sample_tree, walk};
use ringwalk_ext4::FileSystem;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Arguments of mke2fs.
const FORMATS: &[&[&str]] = &[
    &["-t", "ext2", "-b", "1024"],
    &["-t", "ext3", "-b", "1024"],
    &["-t", "ext4", "-b", "1024"],
    &["-t", "ext4", "-b", "2048"],
    &["-t", "ext4", "-b", "4096"],
    &["-t", "ext4", "-b", "65536"],
];

fn expect(
    tree: &Path,
    at: &Path,
    image: &std::collections::BTreeMap<Vec<u8>, common::Found>,
    seen: &mut usize,
) {
    for entry in fs::read_dir(at).unwrap() {
        let path = entry.unwrap().path();
        let stat = path.symlink_metadata().unwrap();
        let name = [
            b"/",
            path.strip_prefix(tree).unwrap().as_os_str().as_bytes(),
        ]
        .concat();
        let found = image
            .get(&name)
            .unwrap_or_else(|| panic!("{} is missing", path.display()));
        assert_eq!(found.mode, stat.mode(), "{}", path.display());
        *seen += 1;
        if stat.is_dir() {
            expect(tree, &path, image, seen);
        } else {
            assert_eq!(found.size, stat.size(), "{}", path.display());
        }
    }
}

#[test]
fn every_format_gives_the_tree_it_was_made_of() {
    if !has_tools() {
        return;
    }
    let room = tempfile::tempdir().unwrap();
    let tree = room.path().join("tree");
    sample_tree(&tree, 600);
    for arguments in FORMATS {
        let image = room.path().join("image");
        make(&image, Some(&tree), arguments, "64m");
        let device = File::open(&image).unwrap();
        let file_system = FileSystem::open(&device).unwrap();
        let found =
            walk(&file_system, &device).unwrap_or_else(|error| panic!("{arguments:?}: {error}"));
        let mut seen = 0;
        expect(&tree, &tree, &found, &mut seen);
        // And lost+found.
        assert_eq!(found.len(), seen + 1, "{arguments:?}");
        fs::remove_file(&image).unwrap();
    }
}
