//! Directories of ext4 that are replaced while the walk is on its way to them.

use ringwalk::{Batch, Dir, Error, Fields, Flow, SourceChoice, Visitor, Walk};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use tempfile::TempDir;

/// A mounted ext4, unmounted and deleted when dropped.
struct Image {
    directory: TempDir,
}

impl Image {
    /// Returns `None`, and prints the reason, where the image cannot be made.
    fn new() -> Option<Self> {
        if !rustix::process::geteuid().is_root() {
            eprintln!("skipped: only root can mount an image");
            return None;
        }
        let directory = tempfile::tempdir().unwrap();
        let image = directory.path().join("image");
        fs::File::create(&image).unwrap().set_len(8 << 20).unwrap();
        fs::create_dir(directory.path().join("mnt")).unwrap();
        let made = Self { directory };
        let mut mkfs = Command::new("mke2fs");
        mkfs.args(["-q", "-F", "-t", "ext4"]).arg(&image);
        let mut mount = Command::new("mount");
        mount.args(["-o", "loop"]).arg(&image).arg(made.path());
        for mut command in [mkfs, mount] {
            let status = command.status();
            if !status.as_ref().is_ok_and(std::process::ExitStatus::success) {
                eprintln!("skipped: {command:?}: {status:?}");
                return None;
            }
        }
        Some(made)
    }

    fn path(&self) -> PathBuf {
        self.directory.path().join("mnt")
    }
}

impl Drop for Image {
    fn drop(&mut self) {
        // If this fails, nothing is mounted.
        let _ = Command::new("umount").arg("-q").arg(self.path()).status();
    }
}

/// Replaces one directory by another one with a file in it.
struct Replacing<'t> {
    top: &'t Path,
    paths: Vec<Vec<u8>>,
}

impl Visitor for Replacing<'_> {
    type State = ();

    fn batch(&mut self, batch: &Batch<'_, ()>) -> Flow {
        for entry in batch.entries() {
            if entry.name() == b"before" {
                fs::remove_dir(self.top.join("before")).unwrap();
                fs::create_dir(self.top.join("after")).unwrap();
                fs::write(self.top.join("after/file"), b"").unwrap();
            }
            self.paths.push(entry.path());
        }
        Flow::Continue
    }
}

#[test]
fn another_directory_with_the_same_number_is_not_taken_for_the_one_listed() {
    let Some(image) = Image::new() else { return };
    let top = image.path().join("top");
    fs::create_dir_all(top.join("before")).unwrap();
    let number = fs::metadata(top.join("before")).unwrap().ino();
    let walk = Walk::new(top.as_path()).source(SourceChoice::Ext4);
    let outcome = walk.run(|_| Replacing {
        top: &top,
        paths: Vec::new(),
    });
    assert_eq!(fs::metadata(top.join("after")).unwrap().ino(), number);
    assert_eq!(outcome.summary.source, "ext4");
    let of_file = |path: &&Vec<u8>| path.ends_with(b"/file");
    let mut paths = outcome.visitors.iter().flat_map(|visitor| &visitor.paths);
    assert_eq!(paths.find(of_file), None);
    assert_eq!((outcome.summary.errors, outcome.summary.vanished), (0, 1));
}

/// Replaces a directory that has been listed by a file, before its entries are asked for.
struct Covering {
    errors: Vec<Error>,
}

impl Visitor for Covering {
    type State = ();

    fn enter(&mut self, dir: &Dir<()>) -> Flow {
        if dir.name() == b"directory" {
            let path = dir.path();
            let path = Path::new(std::ffi::OsStr::from_bytes(&path));
            fs::rename(path, path.with_file_name("aside")).unwrap();
            fs::write(path, b"").unwrap();
        }
        Flow::Continue
    }

    fn batch(&mut self, _: &Batch<'_, ()>) -> Flow {
        Flow::Continue
    }

    fn error(&mut self, error: &Error) {
        self.errors.push(error.clone());
    }
}

#[test]
fn entries_of_a_directory_that_a_file_has_replaced_have_vanished() {
    let Some(image) = Image::new() else { return };
    let top = image.path().join("top");
    fs::create_dir_all(top.join("directory")).unwrap();
    // A directory that was made a moment ago would be opened before it is listed.
    std::thread::sleep(Duration::from_secs(4));
    fs::write(top.join("directory/new"), b"").unwrap();
    let walk = Walk::new(top.as_path()).source(SourceChoice::Ext4);
    let walk = walk
        .fields(Fields::SIZE)
        .workers(std::num::NonZeroUsize::new(1));
    let outcome = walk.run(|_| Covering { errors: Vec::new() });
    let errors = &outcome.visitors[0].errors;
    assert!(errors.iter().all(Error::is_vanished), "{errors:?}");
    assert_eq!((outcome.summary.errors, outcome.summary.vanished), (0, 1));
}
