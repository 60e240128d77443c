//! Unit tests of `fiemap.rs`.

use super::*;
use std::fs::File;
use std::io::{Seek, SeekFrom, Write};

/// Returns the extents of a file. `None` if the file system has no extent maps, such as tmpfs.
fn extents(file: &File) -> Option<Vec<FileExtent>> {
    let mut map = ExtentMap::default();
    let mut all: Vec<FileExtent> = Vec::new();
    loop {
        let start = all.last().map_or(0, FileExtent::end);
        match map.read(file, start, true) {
            Ok([]) => return Some(all),
            Ok(more) => all.extend_from_slice(more),
            Err(Errno::OPNOTSUPP | Errno::NOTTY) => return None,
            Err(errno) => panic!("{errno}"),
        }
    }
}

#[test]
fn extents_cover_what_was_written() {
    let dir = tempfile::tempdir().unwrap();
    let mut file = File::create(dir.path().join("file")).unwrap();
    // More extents than one call returns, with holes between them.
    let count = ROOM as u64 + 20;
    for index in 0..count {
        file.seek(SeekFrom::Start(index << 17)).unwrap();
        file.write_all(&[1; 4096]).unwrap();
    }
    let Some(extents) = extents(&file) else {
        return;
    };
    for index in 0..count {
        let at = index << 17;
        let found = extents
            .iter()
            .find(|extent| extent.logical <= at && at + 4096 <= extent.end());
        assert!(found.is_some(), "{at} of {extents:?}");
    }
    let last = extents.last().unwrap();
    assert!(last.has(FileExtent::LAST) && !last.has(FileExtent::SHARED));
}

#[test]
fn without_a_map_there_is_an_error() {
    let file = File::open("/proc/self/status").unwrap();
    let answer = ExtentMap::default().read(&file, 0, false).map(<[_]>::len);
    assert!(
        matches!(answer, Err(Errno::OPNOTSUPP | Errno::NOTTY)),
        "{answer:?}"
    );
}
