//! Folders of walks that somebody has changed: links, FIFOs, and names that lead elsewhere.

use super::{Budget, Driver, Piece, tree};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use std::fs;
use std::num::NonZeroU64;
use std::os::unix::fs::symlink;
use std::path::Path;

/// Puts a link to another folder, or a FIFO, in the place of a file or a folder of a finished walk.
/// Both name the file or the folder, and read nothing there.
#[test]
fn links_and_fifos_in_place_of_files_are_damage() {
    let tree = tree();
    let mut driver = Driver::new(&[tree.path()]);
    driver.run(std::iter::repeat(5));
    fs::write(driver.path().join("errors/1-9.errors"), "").unwrap();
    let todo = driver.reports[0].todo.clone().unwrap();
    let left = todo.replace("tmp/1/", "todo/");
    // Leftovers are only read if a part that has read some is missing.
    let manifest = fs::read(driver.path().join("manifest.jsonl")).unwrap();
    let first = manifest
        .split_inclusive(|byte| *byte == b'\n')
        .next()
        .unwrap();
    let names = [
        "snapshot.json",
        "verdict.json",
        "manifest.jsonl",
        "errors/1-9.errors",
        "errors",
        &driver.reports[1].part,
        "tmp/1",
        &left,
    ];
    for name in names {
        let (path, kept) = (driver.path().join(name), driver.path().join("kept"));
        if name == left {
            fs::write(driver.path().join("manifest.jsonl"), first).unwrap();
        }
        fs::rename(&path, &kept).unwrap();
        symlink(&kept, &path).unwrap();
        let error = driver.compact().unwrap_err();
        assert!(error.path().starts_with(&path), "{name}: {error}");
        fs::remove_file(&path).unwrap();
        if kept.is_file() {
            mknodat(CWD, &path, FileType::Fifo, Mode::RUSR, 0).unwrap();
            let error = driver.compact().unwrap_err();
            assert_eq!(error.path(), path, "{name}: {error}");
            assert!(error.reason().contains("no regular file"), "{error}");
            fs::remove_file(&path).unwrap();
        }
        fs::rename(&kept, &path).unwrap();
    }
}

#[test]
fn a_manifest_names_no_files_elsewhere() {
    let tree = tree();
    let mut driver = Driver::new(&[tree.path()]);
    driver.run(std::iter::repeat(1000));
    let manifest = driver.path().join("manifest.jsonl");
    let text = fs::read_to_string(&manifest).unwrap();
    let part = driver.path().join(&driver.reports[0].part);
    let name = part.file_name().unwrap().to_str().unwrap();
    for wrong in [
        part.to_str().unwrap().to_owned(),
        format!("tmp/1/../1/{name}"),
        format!("./tmp/../tmp/1/{name}"),
        "..".to_owned(),
        String::new(),
    ] {
        fs::write(&manifest, text.replace(&driver.reports[0].part, &wrong)).unwrap();
        let error = driver.compact().unwrap_err();
        assert_eq!(error.path(), manifest, "{wrong}");
        assert!(
            error.reason().starts_with("line 1 is damaged: its path"),
            "{error}"
        );
    }
}

/// A task writes neither to an existing file nor outside the folder.
#[test]
fn a_task_writes_through_no_link() {
    let tree = tree();
    let other = tempfile::tempdir().unwrap();
    let kept = other.path().join("kept");
    for (name, target) in [
        ("tmp", other.path()),
        ("tmp/1", other.path()),
        ("tmp/1/1-0.parquet", &kept),
        ("tmp/1/1-0.todo", &kept),
    ] {
        fs::write(&kept, "kept").unwrap();
        let mut driver = Driver::new(&[tree.path()]);
        let path = driver.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        symlink(target, &path).unwrap();
        let task = driver.task(None);
        let budget = Budget {
            time: None,
            entries: NonZeroU64::new(1),
        };
        let error = task.run(task.walk().budget(budget)).unwrap_err();
        assert!(
            path.starts_with(error.path()) || error.path().starts_with(&path),
            "{error}"
        );
        assert!(error.io_error().is_some(), "{error}");
        assert_eq!(fs::read(&kept).unwrap(), b"kept");
        assert_eq!(fs::read_dir(other.path()).unwrap().count(), 1);
        driver.waiting.clear();
    }
}

#[test]
fn leftovers_are_read_from_no_other_folder() {
    let tree = tree();
    let mut driver = Driver::new(&[tree.path()]);
    driver.step(1, 1);
    let piece = driver.waiting.pop_front().unwrap().pop().unwrap();
    let absolute = driver.path().join(&piece.file);
    for file in [absolute, Path::new("tmp/../").join(&piece.file)] {
        let task = driver.task(Some(vec![Piece {
            file,
            ..piece.clone()
        }]));
        let error = task.run(task.walk()).unwrap_err();
        assert_eq!(
            error.io_error().unwrap().kind(),
            std::io::ErrorKind::InvalidInput
        );
    }
    // No memory is allocated for data that the file does not have.
    let length = usize::MAX;
    let task = driver.task(Some(vec![Piece { length, ..piece }]));
    let error = task.run(task.walk()).unwrap_err();
    assert!(error.reason().contains("ends before"), "{error}");
}

/// Values of other types, deep JSON, and numbers of errors that there are not.
#[test]
fn lines_that_say_anything_are_damage() {
    let tree = tree();
    let mut driver = Driver::new(&[tree.path()]);
    driver.run(std::iter::repeat(1000));
    let deep = "[".repeat(100_000);
    let error = |errno: &str| {
        format!("{{\"root\":0,\"path\":\"x\",\"operation\":\"open\",\"errno\":{errno}}}")
    };
    let lines = [
        ("manifest.jsonl", deep.clone()),
        (
            "manifest.jsonl",
            "{\"path\":5,\"rows\":1,\"bytes\":1}".to_owned(),
        ),
        (
            "manifest.jsonl",
            "{\"path\":\"x\",\"rows\":-1,\"bytes\":1}".to_owned(),
        ),
        ("manifest.jsonl", "[]".to_owned()),
        ("errors/1-1.errors", deep.clone()),
        ("errors/1-1.errors", "{\"root\":\"0\"}".to_owned()),
        ("errors/1-1.errors", error("0")),
        ("errors/1-1.errors", error("-1")),
        ("errors/1-1.errors", error("4096")),
        ("errors/1-1.errors", error("99999999999")),
    ];
    let manifest = fs::read(driver.path().join("manifest.jsonl")).unwrap();
    for (name, line) in lines {
        let path = driver.path().join(name);
        fs::write(&path, line.clone() + "\n").unwrap();
        let error = driver.compact().unwrap_err();
        assert_eq!(error.path(), path, "{line:.60}: {error}");
        assert!(error.reason().starts_with("line 1 is damaged: "), "{error}");
        fs::remove_file(&path).unwrap();
        fs::write(driver.path().join("manifest.jsonl"), &manifest).unwrap();
    }
    fs::write(driver.path().join("snapshot.json"), deep).unwrap();
    let error = driver.compact().unwrap_err();
    assert!(error.path().ends_with("snapshot.json"), "{error}");
}
