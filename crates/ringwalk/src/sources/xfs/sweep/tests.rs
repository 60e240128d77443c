//! Compares inode sweeps with walks, on images.

use crate::sources::sweep::{Inventory, Turns};
use crate::sources::volume::Refused;
use crate::sources::xfs::testing::{Image, open_directory, stat};
use crate::visit::metadata::{Fields, Metadata};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// Returns all files by inode number, swept by `threads`. Each file must come once.
fn sweep(image: &Image, threads: usize) -> Result<BTreeMap<u64, Metadata>, Refused> {
    run(&*super::open(image.mounted())?, threads)
}

fn run(inventory: &dyn Inventory, threads: usize) -> Result<BTreeMap<u64, Metadata>, Refused> {
    let turns = Turns::new(inventory.pieces());
    let parts: Vec<_> = std::thread::scope(|scope| {
        let work = || {
            let mut part = Vec::new();
            let swept = inventory.sweep(&turns, &mut |files| part.extend_from_slice(files));
            swept.map(|()| part)
        };
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let parts = workers.into_iter().map(|worker| worker.join().unwrap());
        parts.collect::<Result<_, _>>()
    })?;
    let mut all = BTreeMap::new();
    for metadata in parts.into_iter().flatten() {
        assert_eq!(all.insert(metadata.ino, metadata), None, "once");
    }
    Ok(all)
}

/// Returns all files below a directory, and the directory itself, by inode number.
fn walk(root: &Path) -> BTreeMap<u64, Metadata> {
    let mut all = BTreeMap::new();
    let mut pending = vec![root.to_owned()];
    while let Some(path) = pending.pop() {
        let metadata = stat(&path, Fields::STATX);
        if metadata.mode & 0o170_000 == 0o040_000 {
            pending.extend(
                fs::read_dir(&path)
                    .unwrap()
                    .map(|entry| entry.unwrap().path()),
            );
        }
        all.insert(metadata.ino, metadata);
    }
    all
}

/// Creates directories in all allocation groups, and files in them: several pieces in each group.
fn make_tree(root: &Path, files: usize) -> Vec<PathBuf> {
    let mut made = Vec::new();
    for directory in 0..8 {
        let directory = root.join(format!("directory {directory}"));
        fs::create_dir(&directory).unwrap();
        for i in 0..files / 8 {
            let file = directory.join(format!("file {i}"));
            fs::write(&file, vec![1; i % 50]).unwrap();
            made.push(file);
        }
    }
    made
}

#[test]
fn a_sweep_has_all_files_of_a_walk() {
    let Some(image) = Image::new(&[]) else { return };
    let path = image.path();
    let made = make_tree(&path, 20_000);
    for file in made.iter().step_by(3) {
        fs::remove_file(file).unwrap();
    }
    fs::hard_link(&made[1], path.join("another name")).unwrap();
    fs::create_dir(path.join("kinds")).unwrap();
    crate::sources::xfs::tests::make_files(&path.join("kinds"));
    image.make_read_only();
    let expected = walk(&path);
    assert!(expected.len() > 13_000);
    for threads in [1, 3] {
        assert_eq!(sweep(&image, threads).unwrap(), expected);
    }
}

#[test]
fn sizes_that_wait_for_write_back_are_asked_for_and_deleted_files_left_out() {
    let Some(image) = Image::new(&[]) else { return };
    let path = image.path();
    make_tree(&path, 800);
    let deleted = File::create(path.join("deleted")).unwrap();
    (&deleted).write_all(b"still open").unwrap();
    fs::remove_file(path.join("deleted")).unwrap();
    fs::create_dir(path.join("removed")).unwrap();
    let removed = open_directory(&path.join("removed"));
    fs::remove_dir(path.join("removed")).unwrap();
    let late = path.join("late");
    let mut file = File::create(&late).unwrap();
    file.write_all(&[1; 5000]).unwrap();
    file.sync_all().unwrap();
    file.write_all(&vec![1; 70_000]).unwrap();
    let found = sweep(&image, 2).unwrap();
    assert_eq!(found, walk(&path));
    drop(removed);
    let size = found[&stat(&late, Fields::INO).ino].size;
    assert_eq!(size, 75_000);
}

#[test]
fn a_file_system_that_is_all_new_is_refused() {
    let Some(image) = Image::new(&[]) else { return };
    make_tree(&image.path(), 4000);
    let why = sweep(&image, 1).unwrap_err().to_string();
    assert!(why.ends_with("files were changed too lately"), "{why}");
    image.make_read_only();
    assert_eq!(sweep(&image, 1).unwrap(), walk(&image.path()));
}

#[test]
fn files_that_stay_are_found_while_others_come_and_go() {
    let Some(image) = Image::new(&[]) else { return };
    let path = image.path();
    let stay = make_tree(&path, 1600);
    let stay: Vec<_> = stay.iter().map(|file| stat(file, Fields::STATX)).collect();
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for round in 0.. {
                let passing = |i| path.join(format!("directory {}/passing {round} {i}", i % 8));
                for i in 0..100 {
                    File::create(passing(i)).unwrap();
                }
                for i in 0..100 {
                    fs::remove_file(passing(i)).unwrap();
                }
                if is_over.load(Ordering::Relaxed) {
                    break;
                }
            }
        });
        for _ in 0..30 {
            let found = sweep(&image, 2).unwrap();
            for file in &stay {
                let same = found.get(&file.ino).map(|found| (found.size, found.btime));
                assert_eq!(same, Some((file.size, file.btime)));
            }
        }
        is_over.store(true, Ordering::Relaxed);
    });
}

#[test]
fn files_are_found_behind_others_made_meanwhile() {
    let Some(image) = Image::new(&[]) else { return };
    let path = image.path();
    let made = make_tree(&path, 1600);
    let (gone, stay): (Vec<_>, Vec<_>) = made.iter().enumerate().partition(|(i, _)| i % 3 == 0);
    for (_, file) in &gone {
        fs::remove_file(file).unwrap();
    }
    let inventory = super::open(image.mounted()).unwrap();
    // The new files get the numbers that have become free.
    for (_, file) in &gone {
        File::create(file).unwrap();
    }
    let found = run(&*inventory, 1).unwrap();
    for (_, file) in stay {
        assert!(found.contains_key(&stat(file, Fields::INO).ino), "{file:?}");
    }
}
