//! Listings and metadata against what system calls say.

use super::image::{Image, directories, look};
use super::open;
use crate::metadata::Fields;
use crate::options::Follow;
use crate::raw_batch::{Known, RawBatch};
use crate::stat::Wanted;
use crate::volume::{Mounted, Reader, Wanting};
use ringwalk_sys::RawFileType as FileType;
use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirEntryExt, PermissionsExt};
use std::path::Path;
use std::sync::Arc;

fn everything() -> Wanted {
    Wanted::of_all(Fields::all(), Follow::Never)
}

fn mounted(at: &Path) -> Arc<Mounted> {
    Arc::new(Mounted::new(File::open(at).unwrap(), false).unwrap())
}

/// How a directory is asked for by whoever has come to it from `top`.
fn wanting<'p>(top: &Path, directory: &'p Path) -> Wanting<'p> {
    let parent = (directory != top).then(|| look(directory.parent().unwrap()).ino);
    Wanting {
        ino: look(directory).ino,
        parent,
        name: directory.file_name().unwrap().as_bytes(),
    }
}

/// All batches of a directory, with metadata.
fn list(reader: &mut dyn Reader, dir: Wanting<'_>) -> Result<Vec<RawBatch>, String> {
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

/// Compares each directory of a subvolume; returns how many entries there were.
fn compare(top: &Path, settled: bool) -> usize {
    let own = look(top).dev;
    // Reading directories changes them, the first time.
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
        for batch in list(&mut *reader, wanting(top, &directory)).unwrap() {
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
fn every_entry_of_every_subvolume_is_what_statx_says() {
    let Some(image) = Image::new() else { return };
    image.fill();
    // Changed a moment ago, and in memory only: a commit brings it.
    let mode = std::fs::Permissions::from_mode(0o751);
    std::fs::set_permissions(image.path("wide"), mode).unwrap();
    assert!(compare(&image.root(), false) > 3000);
    image.freeze();
    // The top, `collides`, `wide`, `kinds`.
    assert_eq!(compare(&image.root(), true), 6 + 1 + 3001 + 9);
    for (subvolume, entries) in [("one", 1), ("two", 3), ("two/deep/three", 1)] {
        assert_eq!(compare(&image.path(subvolume), true), entries);
    }
    assert_eq!(compare(&image.path("kinds/snapshot"), true), 3);
}

#[test]
fn entries_are_found_at_once_and_those_of_other_names_are_not_taken() {
    let Some(image) = Image::new() else { return };
    image.fill();
    let root = image.root();
    let volume = open(mounted(&root)).unwrap();
    let mut reader = Arc::clone(&volume).reader();
    std::fs::write(image.path("collides/new"), b"").unwrap();
    std::fs::remove_file(image.path("collides/inside")).unwrap();
    let collides = image.path("collides");
    let dir = wanting(&root, &collides);
    let batches = list(&mut *reader, dir).unwrap();
    assert_eq!(batches.len(), 1);
    let names: Vec<_> = (0..batches[0].records.len())
        .map(|index| batches[0].records.name(index))
        .collect();
    assert_eq!(names, [c"new"]);
    for other in [
        Wanting {
            name: b"two",
            ..dir
        },
        Wanting {
            parent: Some(300),
            ..dir
        },
        Wanting {
            ino: look(&image.path("small")).ino,
            ..dir
        },
        Wanting {
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
    // Both are there under one number, or this shows nothing.
    let number = look(&image.path("collides")).ino;
    assert_eq!(numbers.iter().filter(|(_, ino)| *ino == number).count(), 2);
    let mut reader = Arc::clone(&volume).reader();
    reader.stat(wanting(&root, &root), &mut batch, everything());
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
