//! Caches of hashes: any bytes, and whole caches that were changed.
//!
//! Whatever a file holds, opening it, looking up and merging must end, without a panic, and without
//! memory for numbers that the file only names. The first byte of the input says what the rest is:
//!
//! - a whole file,
//! - changes of a cache that is made here: a hash that is found must be the right one,
//! - changes after which all checksums are set right: a hash may be any then.
//!
//! After a merge, the new file must have what was found before and what was inserted.

#![no_main]

use libfuzzer_sys::fuzz_target;
use ringwalk::Timestamp;
use ringwalk_hash::FileVersion;
use ringwalk_hash::cache::HashCache;
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;

const BLOCK: usize = 4096;
const APPENDED: usize = 100;

/// Number of sorted files on each file system.
const SORTED: u64 = 60;

/// Number of files on each file system.
const FILES: u64 = 70;

/// In memory, if possible: a merge waits for the disk.
static PATH: LazyLock<PathBuf> = LazyLock::new(|| {
    let memory = PathBuf::from("/dev/shm");
    let folder = Some(memory).filter(|folder| folder.is_dir());
    let name = format!("ringwalk-fuzz-cache-{}", std::process::id());
    folder.unwrap_or_else(std::env::temp_dir).join(name)
});

/// A cache of sorted and appended records.
static CACHE: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let _ = fs::remove_file(&*PATH);
    let cache = open().expect("a new cache");
    insert(&cache, 0..SORTED);
    cache.finish().expect("a sorted cache");
    let cache = open().expect("a cache");
    insert(&cache, SORTED - 10..FILES);
    drop(cache);
    fs::read(&*PATH).expect("the cache")
});

fn open() -> Option<HashCache> {
    let cache = HashCache::open(&PATH).ok()?;
    cache.assume_file_system(1, [1; 16], None);
    cache.assume_file_system(2, [1; 16], Some(256));
    Some(cache)
}

fn version(dev: u64, ino: u64) -> FileVersion {
    let time = |secs| Timestamp { secs, nanos: 5 };
    FileVersion {
        dev,
        ino,
        size: ino * 31,
        mtime: time(1_000_000),
        ctime: time(1_000_001),
        btime: Some(time(999_999)),
    }
}

fn hash(dev: u64, ino: u64) -> [u8; 32] {
    [(dev * 100 + ino) as u8; 32]
}

fn insert(cache: &HashCache, inos: std::ops::Range<u64>) {
    for ino in inos {
        for dev in [1, 2] {
            let kept = cache.insert(&version(dev, ino), &hash(dev, ino));
            kept.expect("an old file");
        }
    }
}

/// Applies changes. Each is a place of two bytes, a length, and so many bytes.
fn change(file: &mut Vec<u8>, mut input: &[u8]) {
    while let Some((&[high, low, length], rest)) = input.split_first_chunk() {
        let (bytes, rest) = rest.split_at(usize::from(length % 64).min(rest.len()));
        let at = usize::from(u16::from_be_bytes([high, low])) % (file.len() + APPENDED);
        file.resize(file.len().max(at + bytes.len()), 0);
        file[at..at + bytes.len()].copy_from_slice(bytes);
        input = rest;
    }
}

/// Sets all checksums right.
fn repair(file: &mut [u8]) {
    let sum = |bytes: &[u8]| crc32c::crc32c(bytes).to_le_bytes();
    let Some((header, rest)) = file.split_first_chunk_mut::<BLOCK>() else {
        return;
    };
    let checked = sum(&header[..28]);
    header[28..32].copy_from_slice(&checked);
    let blocks = u64::from_le_bytes(*header[20..].first_chunk().expect("8 bytes"));
    let blocks = usize::try_from(blocks).unwrap_or(usize::MAX);
    let sorted = blocks.saturating_mul(BLOCK).min(rest.len());
    let (sorted, appended) = rest.split_at_mut(sorted);
    for block in sorted.chunks_exact_mut(BLOCK) {
        let checked = sum(&block[4..]);
        block[..4].copy_from_slice(&checked);
    }
    for record in appended.chunks_exact_mut(APPENDED) {
        let checked = sum(&record[..96]);
        record[96..].copy_from_slice(&checked);
    }
}

fn look_up(cache: &HashCache) -> BTreeMap<FileVersion, [u8; 32]> {
    let mut results = BTreeMap::new();
    let both = |ino| [version(1, ino), version(2, ino)];
    let mut files: Vec<_> = (0..FILES + 10).flat_map(both).collect();
    let found = |file: &mut FileVersion, hash| {
        results.insert(*file, hash);
    };
    cache
        .look_up(&mut files, |file| (file.dev, file.ino), |file| *file, found)
        .expect("a file that can be read");
    results
}

/// Opens a cache of these bytes, looks up, inserts and merges.
fn use_cache(file: &[u8], kind: u8) {
    let Some(cache) = open() else {
        assert!(!file.is_empty(), "an empty file becomes a cache");
        assert_eq!(fs::read(&*PATH).expect("the file"), file);
        return;
    };
    let before = look_up(&cache);
    if kind == 1 {
        for (version, found) in &before {
            assert_eq!(*found, hash(version.dev, version.ino));
        }
    }
    insert(&cache, FILES + 5..FILES + 8);
    if cache.finish().is_ok() {
        let cache = open().expect("a cache that was written");
        let after = look_up(&cache);
        for (version, found) in &before {
            let is_new = (FILES + 5..FILES + 8).contains(&version.ino);
            let is_kept = after.get(version) == Some(found);
            // A merge drops records out of order, which only a false block has.
            assert!(is_kept || is_new || kind == 2, "{version:?}");
        }
        assert!((FILES + 5..FILES + 8).all(|ino| after[&version(2, ino)] == hash(2, ino)));
    }
}

fuzz_target!(|input: &[u8]| {
    let Some((kind, rest)) = input.split_first() else {
        return;
    };
    let mut file = match kind % 3 {
        0 => Vec::new(),
        _ => CACHE.clone(),
    };
    match kind % 3 {
        0 => file.extend_from_slice(rest),
        _ => change(&mut file, rest),
    }
    if kind % 3 == 2 {
        repair(&mut file);
    }
    fs::write(&*PATH, &file).expect("a written file");
    use_cache(&file, kind % 3);
    fs::remove_file(&*PATH).expect("its removal");
});
