//! Compares listings and metadata with system calls.

use super::image::{Image, directories, look};
use super::open;
use crate::sources::raw_batch::{Known, RawBatch};
use crate::sources::volume::{DirectoryKey, OpenMount, Reader};
use crate::sources::wanted::Wanted;
use crate::visit::metadata::Fields;
use crate::walk::settings::Follow;
use ringwalk_sys::RawFileType as FileType;
use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirEntryExt, PermissionsExt};
use std::path::Path;
use std::sync::Arc;

fn everything() -> Wanted {
    Wanted::of_all(Fields::STATX, Follow::Never)
}

fn mounted(at: &Path) -> Arc<OpenMount> {
    Arc::new(OpenMount::new(File::open(at).unwrap(), false).unwrap())
}

/// Returns the key of a directory, as a walk that came from `top` has it.
fn key<'p>(top: &Path, directory: &'p Path) -> DirectoryKey<'p> {
    let parent = (directory != top).then(|| look(directory.parent().unwrap()).ino);
    DirectoryKey {
        ino: look(directory).ino,
        parent,
        name: directory.file_name().unwrap().as_bytes(),
    }
}

/// Returns all batches of a directory, with metadata.
fn list(reader: &mut dyn Reader, dir: DirectoryKey<'_>) -> Result<Vec<RawBatch>, String> {
    let mut batches = Vec::new();
    let mut position = None;
    loop {
        let mut batch = RawBatch::default();
        let next = reader.list(dir, position.as_ref(), &mut batch);
        position = next.map_err(|why| why.to_string())?;
        reader.stat(dir, &mut batch, everything());
        batches.push(batch);
        if position.is_none() {
            return Ok(batches);
        }
    }
}

/// Compares each directory of a subvolume. Returns how many entries there were.
fn compare(top: &Path, settled: bool) -> usize {
    let own = look(top).dev;
    // The first read of a directory changes its access time.
    let directories = directories(top);
    let mut reader = open(mounted(top)).unwrap().reader();
    let mut entries = 0;
    for directory in directories {
        // Subvolumes, and empty directories in their places, are not listed.
        if look(&directory).dev != own || look(&directory).ino < 256 {
            continue;
        }
        let mut expected = BTreeMap::new();
        for entry in std::fs::read_dir(&directory).unwrap() {
            let entry = entry.unwrap();
            expected.insert(entry.file_name().as_bytes().to_vec(), look(&entry.path()));
        }
        for batch in list(&mut *reader, key(top, &directory)).unwrap() {
            for index in 0..batch.records.len() {
                let name = batch.records.name(index).to_bytes().to_vec();
                let expected = expected.remove(&name).expect("each name once");
                entries += 1;
                assert_eq!(batch.records.file_type(index), expected.file_type());
                let inside = expected.dev == own && expected.ino >= 256;
                let ino = if inside { expected.ino } else { 0 };
                assert_eq!(batch.records.ino(index), ino, "{name:?}");
                match batch.known[index] {
                    Known::Metadata(found) => assert_eq!(found, expected, "{name:?}"),
                    Known::Nothing => assert!(
                        !inside || !settled && expected.file_type() == FileType::Regular,
                        "{name:?} is not known"
                    ),
                    other => panic!("{other:?}"),
                }
            }
        }
        assert!(expected.is_empty(), "{directory:?} lacks {expected:?}");
    }
    entries
}

#[test]
fn every_entry_of_every_subvolume_has_the_metadata_of_statx() {
    let Some(image) = Image::new() else { return };
    image.fill();
    // The mode was changed a moment ago, and only in memory: a commit writes it to the tree.
    let mode = std::fs::Permissions::from_mode(0o751);
    std::fs::set_permissions(image.path("wide"), mode).unwrap();
    assert!(compare(&image.root(), false) > 3000);
    image.freeze();
    // The entries of the top, `collides`, `wide`, and `kinds`.
    assert_eq!(compare(&image.root(), true), 6 + 1 + 3001 + 9);
    for (subvolume, entries) in [("one", 1), ("two", 3), ("two/deep/three", 1)] {
        assert_eq!(compare(&image.path(subvolume), true), entries);
    }
    assert_eq!(compare(&image.path("kinds/snapshot"), true), 3);
}

#[test]
fn entries_are_found_at_once_and_other_names_are_refused() {
    let Some(image) = Image::new() else { return };
    image.fill();
    let root = image.root();
    let volume = open(mounted(&root)).unwrap();
    let mut reader = Arc::clone(&volume).reader();
    std::fs::write(image.path("collides/new"), b"").unwrap();
    std::fs::remove_file(image.path("collides/inside")).unwrap();
    let collides = image.path("collides");
    let dir = key(&root, &collides);
    let batches = list(&mut *reader, dir).unwrap();
    assert_eq!(batches.len(), 1);
    let names: Vec<_> = (0..batches[0].records.len())
        .map(|index| batches[0].records.name(index))
        .collect();
    assert_eq!(names, [c"new"]);
    for other in [
        DirectoryKey {
            name: b"two",
            ..dir
        },
        DirectoryKey {
            parent: Some(300),
            ..dir
        },
        DirectoryKey {
            ino: look(&image.path("small")).ino,
            ..dir
        },
        DirectoryKey {
            ino: 1 << 40,
            ..dir
        },
    ] {
        assert!(list(&mut *reader, other).is_err(), "{other:?}");
    }
}

#[test]
fn a_directory_from_getdents_with_a_subvolumes_number_is_not_mistaken() {
    let Some(image) = Image::new() else { return };
    image.fill();
    image.freeze();
    let root = image.root();
    let volume = open(mounted(&root)).unwrap();
    let mut batch = RawBatch::default();
    let mut numbers = Vec::new();
    for entry in std::fs::read_dir(&root).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            let name = entry.file_name();
            batch
                .records
                .push_bytes(name.as_bytes(), FileType::Directory, entry.ino());
            numbers.push((name, entry.ino()));
        }
    }
    // The test needs two entries with one number.
    let number = look(&image.path("collides")).ino;
    assert_eq!(numbers.iter().filter(|(_, ino)| *ino == number).count(), 2);
    let mut reader = Arc::clone(&volume).reader();
    reader.stat(key(&root, &root), &mut batch, everything());
    for (index, (name, ino)) in numbers.iter().enumerate() {
        let expected = look(&root.join(name));
        match batch.known[index] {
            Known::Metadata(found) => assert_eq!(found, expected),
            _ => assert_ne!(expected.dev, look(&root).dev, "{name:?}"),
        }
        if expected.dev != look(&root).dev {
            assert!(!volume.holds(*ino));
        }
    }
}

#[test]
fn another_file_system_is_refused() {
    let mounted = mounted(Path::new("/proc"));
    let why = open(mounted).map(|_| ()).unwrap_err();
    assert!(
        why.to_string().contains("its trees cannot be searched"),
        "{why}"
    );
}
