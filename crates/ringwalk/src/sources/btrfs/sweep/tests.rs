//! Compares an inode sweep with system calls for every file.

use super::open;
use crate::sources::btrfs::image::{Image, directories, look};
use crate::sources::sweep::Turns;
use crate::sources::volume::OpenMount;
use crate::visit::metadata::Metadata;
use std::collections::{BTreeMap, HashSet};
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::{Arc, Mutex};

/// Sweeps with `threads` threads. Returns files by device and number; a file that comes twice fails
/// the test.
fn sweep(
    at: &Path,
    one_device: bool,
    threads: usize,
) -> Result<BTreeMap<(u64, u64), Metadata>, String> {
    let mounted = Arc::new(OpenMount::new(File::open(at).unwrap(), false).unwrap());
    let inventory = open(mounted, one_device).map_err(|why| why.to_string())?;
    let turns = Turns::new(inventory.pieces());
    let found = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let mut take = |files: &[Metadata]| found.lock().unwrap().extend_from_slice(files);
                inventory.sweep(&turns, &mut take).unwrap();
            });
        }
    });
    let found = found.into_inner().unwrap();
    let files = found.len();
    // All empty directories in the place of a subvolume have one number.
    let twice = found.iter().filter(|file| file.ino == 2).count();
    let by_number: BTreeMap<_, _> = found
        .into_iter()
        .map(|file| ((file.dev, file.ino), file))
        .collect();
    assert!(files <= by_number.len() + twice.saturating_sub(1));
    Ok(by_number)
}

/// Returns the same files by system calls.
fn walk(at: &Path) -> BTreeMap<(u64, u64), Metadata> {
    let directories = directories(at);
    let mut files = vec![look(at)];
    for directory in directories {
        for entry in std::fs::read_dir(directory).unwrap() {
            files.push(look(&entry.unwrap().path()));
        }
    }
    files
        .into_iter()
        .map(|file| ((file.dev, file.ino), file))
        .collect()
}

fn compare(found: &BTreeMap<(u64, u64), Metadata>, expected: &BTreeMap<(u64, u64), Metadata>) {
    for (number, expected) in expected {
        let found = found
            .get(number)
            .unwrap_or_else(|| panic!("{expected:?} is missing"));
        if expected.ino == 2 {
            // Looking at it changes its times.
            assert_eq!((found.mode, found.size), (expected.mode, expected.size));
        } else {
            assert_eq!(found, expected);
        }
    }
    assert_eq!(found.len(), expected.len());
}

#[test]
fn all_files_of_all_subvolumes_come_once_with_the_metadata_of_statx() {
    let Some(image) = Image::new() else { return };
    image.fill();
    // The file is deleted but open: no walk would see it.
    let mut orphan = File::create(image.path("orphan")).unwrap();
    orphan.write_all(&[1; 10_000]).unwrap();
    std::fs::remove_file(image.path("orphan")).unwrap();
    // The first read of a directory changes it, so the walk comes first. The sweep asks for files
    // that are not written back yet by file handle.
    let expected = walk(&image.root());
    compare(&sweep(&image.root(), false, 3).unwrap(), &expected);
    drop(orphan);
    image.freeze();
    let expected = walk(&image.root());
    let devices: HashSet<_> = expected.values().map(|file| file.dev).collect();
    // The devices of the top, `one`, `two`, `three` and the snapshot; and the device of the whole
    // file system, for directories without an inode.
    assert_eq!(devices.len(), 6);
    for threads in [1, 4] {
        compare(&sweep(&image.root(), false, threads).unwrap(), &expected);
    }
    let one = image.path("one");
    compare(&sweep(&one, true, 2).unwrap(), &walk(&one));
    let refused = sweep(&image.root(), true, 1).unwrap_err();
    assert_eq!(refused, "there are subvolumes in it");
    let refused = sweep(&image.path("wide"), false, 1).unwrap_err();
    assert_eq!(refused, "it is not the root of a subvolume");
}

#[test]
fn distant_inode_numbers_are_all_found() {
    let Some(image) = Image::new() else { return };
    for number in 0..20_000 {
        let path = image.path(&format!("{number}"));
        std::fs::write(&path, b"").unwrap();
        if number % 500 > 20 {
            std::fs::remove_file(&path).unwrap();
        }
    }
    image.freeze();
    compare(
        &sweep(&image.root(), false, 4).unwrap(),
        &walk(&image.root()),
    );
}
