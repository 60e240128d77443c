//! Unit tests of `dedupe_range.rs`. Those that need btrfs or XFS are skipped without root.

use super::*;
use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};

/// A file system in a file, mounted for one test.
struct Mounted(tempfile::TempDir);

impl Mounted {
    /// `None` where this is impossible.
    fn new(make: &[&str]) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let (image, point) = (folder.path().join("image"), folder.path().join("point"));
        std::fs::create_dir(&point).unwrap();
        File::create(&image).unwrap().set_len(512 << 20).unwrap();
        let ran = |command: &mut Command| {
            let quiet = command.stdout(Stdio::null()).stderr(Stdio::null());
            quiet.status().is_ok_and(|status| status.success())
        };
        let is_there = ran(Command::new(make[0]).args(&make[1..]).arg(&image))
            && ran(Command::new("mount")
                .args(["-o", "loop"])
                .arg(&image)
                .arg(&point));
        if !is_there {
            eprintln!("skipped: needs root and {}", make[0]);
            return None;
        }
        Some(Self(folder))
    }

    fn point(&self) -> std::path::PathBuf {
        self.0.path().join("point")
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.point()).status();
    }
}

fn create(folder: &Path, name: &str, contents: &[u8]) -> File {
    std::fs::write(folder.join(name), contents).unwrap();
    File::open(folder.join(name)).unwrap()
}

fn shares(folder: &Path) {
    let mut contents: Vec<u8> = (0..300_001_u32).map(|n| n.to_le_bytes()[0]).collect();
    let length = contents.len() as u64;
    let one = create(folder, "one", &contents);
    let two = create(folder, "two", &contents);
    contents[200_000] ^= 1;
    let other = create(folder, "other", &contents);
    assert_eq!(
        dedupe_range(&one, &two, 0, length),
        Ok(Deduped::Shared(length))
    );
    assert_eq!(dedupe_range(&one, &other, 0, length), Ok(Deduped::Differs));
    // Not aligned, and not at the end of the files.
    assert_eq!(dedupe_range(&one, &two, 1, 10), Err(Errno::INVAL));
    let mut map = crate::ExtentMap::default();
    let extents = map.read(&two, 0, true).unwrap();
    let shared = |extent: &crate::FileExtent| extent.has(crate::FileExtent::SHARED);
    assert!(extents.iter().all(shared), "{extents:?}");
    assert_eq!(std::fs::read(folder.join("other")).unwrap(), contents);
}

#[test]
fn equal_ranges_are_shared_on_btrfs() {
    if let Some(mounted) = Mounted::new(&["mkfs.btrfs", "-q"]) {
        shares(&mounted.point());
    }
}

#[test]
fn equal_ranges_are_shared_on_xfs() {
    if let Some(mounted) = Mounted::new(&["mkfs.xfs", "-q", "-m", "reflink=1"]) {
        shares(&mounted.point());
    }
}

#[test]
fn file_systems_without_shared_blocks_say_so() {
    let Ok(folder) = tempfile::tempdir_in("/dev/shm") else {
        return;
    };
    let one = create(folder.path(), "one", &[1; 4096]);
    let two = create(folder.path(), "two", &[1; 4096]);
    let answer = dedupe_range(&one, &two, 0, 4096);
    assert!(
        matches!(answer, Err(Errno::OPNOTSUPP | Errno::NOTTY)),
        "{answer:?}"
    );
    // File systems other than the source's.
    let elsewhere = tempfile::tempdir().unwrap();
    let three = create(elsewhere.path(), "three", &[1; 4096]);
    assert!(dedupe_range(&one, &three, 0, 4096).is_err());
}
