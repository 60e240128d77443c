use super::record::{APPENDED, BLOCK, PER_BLOCK};
use super::sorted::{Records, WINDOW};
use super::*;
use ringwalk::Timestamp;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::PathBuf;
use tempfile::TempDir;

const DEV: u64 = 7;
const UUID: [u8; 16] = *b"0123456789abcdef";

/// Nothing is young.
fn open(path: &Path) -> HashCache {
    let cache = HashCache::open_with(path, || i64::MAX).unwrap();
    cache.assume_file_system(DEV, UUID, None);
    cache
}

fn temporary() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cache");
    (folder, path)
}

fn at(secs: i64, nanos: u32) -> Timestamp {
    Timestamp { secs, nanos }
}

fn version(ino: u64) -> FileVersion {
    FileVersion {
        dev: DEV,
        ino,
        size: ino * 3,
        mtime: at(1_700_000_000, 1),
        ctime: at(1_700_000_001, 999_999_999),
        btime: Some(at(-5, 3)),
    }
}

fn hash(ino: u64) -> [u8; 32] {
    *blake3::hash(&ino.to_le_bytes()).as_bytes()
}

fn insert(cache: &HashCache, inos: impl IntoIterator<Item = u64>) {
    for ino in inos {
        cache.insert(&version(ino), &hash(ino)).unwrap();
    }
}

/// Returns what is found, by inode number.
fn look_up(cache: &HashCache, versions: &[FileVersion]) -> BTreeMap<u64, [u8; 32]> {
    let mut results = BTreeMap::new();
    let mut versions = versions.to_vec();
    let found = |version: &mut FileVersion, hash| {
        assert_eq!(results.insert(version.ino, hash), None);
    };
    cache
        .look_up(
            &mut versions,
            |version| (version.dev, version.ino),
            |version| *version,
            found,
        )
        .unwrap();
    results
}

/// Returns which of the files are found. A hash must be the right one.
fn found(cache: &HashCache, inos: impl IntoIterator<Item = u64>) -> Vec<u64> {
    let versions: Vec<_> = inos.into_iter().map(version).collect();
    let results = look_up(cache, &versions);
    for (ino, found) in &results {
        assert_eq!(*found, hash(*ino), "{ino}");
    }
    results.into_keys().collect()
}

/// Replaces the contents of a file by others that are at least as long.
fn overwrite(path: &Path, bytes: &[u8]) {
    let mut options = File::options();
    options.write(true);
    options.open(path).unwrap().write_all(bytes).unwrap();
}

fn list(inos: impl IntoIterator<Item = u64>) -> Vec<u64> {
    inos.into_iter().collect()
}

/// Makes a cache of sorted records and, behind them, appended ones.
fn with_both(path: &Path, sorted: std::ops::Range<u64>, appended: std::ops::Range<u64>) {
    let cache = open(path);
    insert(&cache, sorted);
    cache.finish().unwrap();
    let cache = open(path);
    insert(&cache, appended);
    // Not finished.
    drop(cache);
}

#[test]
fn hashes_are_found_again_sorted_and_appended() {
    let (_folder, path) = temporary();
    let cache = open(&path);
    insert(&cache, (0..1000).rev());
    drop(cache);
    let cache = open(&path);
    assert_eq!(found(&cache, 500..2000), list(500..1000));
    insert(&cache, 1000..1100);
    cache.finish().unwrap();
    // All are sorted now.
    let blocks = 1100_usize.div_ceil(PER_BLOCK);
    let length = fs::metadata(&path).unwrap().len();
    assert_eq!(length, ((blocks + 1) * BLOCK) as u64);
    let cache = open(&path);
    assert_eq!(found(&cache, 0..2000), list(0..1100));
    assert_eq!(found(&cache, [3, 700, 1099, 1100]), [3, 700, 1099]);
    assert!(!cache.is_damaged());
}

#[test]
fn few_new_hashes_stay_appended() {
    let (_folder, path) = temporary();
    let cache = open(&path);
    insert(&cache, 0..1000);
    cache.finish().unwrap();
    let sorted = fs::read(&path).unwrap();
    let cache = open(&path);
    insert(&cache, 2000..2010);
    cache.finish().unwrap();
    let both = fs::read(&path).unwrap();
    assert_eq!(both.len(), sorted.len() + 10 * APPENDED);
    assert!(both.starts_with(&sorted));
    let cache = open(&path);
    assert_eq!(found(&cache, 999..2020).len(), 11);
    insert(&cache, 3000..3200);
    cache.finish().unwrap();
    assert_eq!(found(&open(&path), 0..4000).len(), 1210);
    assert_eq!(fs::metadata(&path).unwrap().len() % BLOCK as u64, 0);
}

#[test]
fn a_changed_file_is_not_found() {
    let (_folder, path) = temporary();
    let same = version(5);
    let changes: [fn(&mut FileVersion); 10] = [
        |version| version.dev += 1,
        |version| version.ino += 1,
        |version| version.size += 1,
        |version| version.mtime.secs += 1,
        |version| version.mtime.nanos += 1,
        |version| version.ctime.secs -= 1,
        |version| version.ctime.nanos -= 1,
        |version| version.btime = Some(at(-5, 4)),
        |version| version.btime = Some(at(-6, 3)),
        |version| version.btime = None,
    ];
    let cache = open(&path);
    insert(&cache, [5]);
    drop(cache);
    for _ in 0..2 {
        let cache = open(&path);
        cache.assume_file_system(DEV + 1, UUID, Some(5));
        assert_eq!(look_up(&cache, &[same]).len(), 1);
        for (number, change) in changes.iter().enumerate() {
            let mut other = same;
            change(&mut other);
            assert!(look_up(&cache, &[other]).is_empty(), "{number}");
        }
        // Then in the sorted section.
        cache.finish().unwrap();
        let cache = open(&path);
        insert(&cache, [6]);
        cache.finish().unwrap();
    }
}

#[test]
fn the_newest_hash_of_a_file_counts() {
    let (_folder, path) = temporary();
    let mut newer = version(5);
    newer.ctime.secs += 1;
    let cache = open(&path);
    insert(&cache, 0..10);
    cache.finish().unwrap();
    let cache = open(&path);
    insert(&cache, 5..6);
    cache.insert(&newer, &[1; 32]).unwrap();
    drop(cache);
    for others in [9, 10] {
        let cache = open(&path);
        assert_eq!(look_up(&cache, &[version(5)]).len(), 0);
        assert_eq!(look_up(&cache, &[newer])[&5], [1; 32]);
        assert_eq!(found(&cache, 0..20).len(), others);
        insert(&cache, 10..11);
        cache.finish().unwrap();
    }
}

#[test]
fn file_systems_and_subvolumes_are_separate() {
    let (_folder, path) = temporary();
    let on = |dev| FileVersion { dev, ..version(5) };
    let assume = |cache: &HashCache| {
        cache.assume_file_system(30, UUID, Some(256));
        cache.assume_file_system(20, UUID, Some(257));
        cache.assume_file_system(10, [9; 16], None);
    };
    let cache = open(&path);
    assume(&cache);
    let devices = [10_u8, 20, 30];
    for dev in devices {
        cache.insert(&on(dev.into()), &[dev; 32]).unwrap();
    }
    drop(cache);
    for _ in 0..2 {
        let cache = open(&path);
        assume(&cache);
        let mut files = [on(10), on(7), on(30), on(20), on(99)];
        let mut results = Vec::new();
        let found = |version: &mut FileVersion, hash: [u8; 32]| {
            results.push((version.dev, hash[0]));
        };
        let place = |file: &FileVersion| (file.dev, file.ino);
        cache
            .look_up(&mut files, place, |file| *file, found)
            .unwrap();
        results.sort_unstable();
        assert_eq!(results, devices.map(|dev| (u64::from(dev), dev)));
        insert(&cache, [1]);
        cache.finish().unwrap();
    }
}

#[test]
fn two_device_numbers_of_one_file_system() {
    let (_folder, path) = temporary();
    let cache = open(&path);
    insert(&cache, 0..300);
    cache.finish().unwrap();
    let cache = open(&path);
    cache.assume_file_system(1, UUID, None);
    let on = |ino| FileVersion {
        dev: if ino % 2 == 0 { 1 } else { DEV },
        ..version(ino)
    };
    let versions: Vec<_> = (0..300).map(on).collect();
    assert_eq!(look_up(&cache, &versions).len(), 300);
}

#[test]
fn hashes_of_file_systems_not_seen_this_time_are_kept() {
    let (_folder, path) = temporary();
    let other = FileVersion {
        dev: 8,
        ..version(5)
    };
    let cache = open(&path);
    cache.assume_file_system(8, [0xff; 16], None);
    insert(&cache, 0..100);
    cache.insert(&other, &[8; 32]).unwrap();
    cache.finish().unwrap();
    let cache = open(&path);
    assert!(look_up(&cache, &[other]).is_empty());
    assert_eq!(cache.insert(&other, &[1; 32]), Err(NotKept::UnknownDevice));
    insert(&cache, 100..200);
    cache.finish().unwrap();
    let cache = open(&path);
    cache.assume_file_system(8, [0xff; 16], None);
    assert_eq!(look_up(&cache, &[other])[&5], [8; 32]);
}

#[test]
fn what_cannot_be_kept_is_declined() {
    let (_folder, path) = temporary();
    let cache = HashCache::open_with(&path, || 1_700_000_003).unwrap();
    cache.assume_file_system(DEV, UUID, None);
    let declined = |change: fn(&mut FileVersion)| {
        let mut version = version(1);
        change(&mut version);
        cache.insert(&version, &[1; 32]).err()
    };
    assert_eq!(declined(|_| ()), None);
    assert_eq!(
        declined(|version| version.btime = None),
        Some(NotKept::NoBirthTime)
    );
    assert_eq!(
        declined(|version| version.dev = 8),
        Some(NotKept::UnknownDevice)
    );
    for second in [1_700_000_003, 1_700_000_050, 9_000_000_000] {
        let mut young = version(1);
        young.ctime = at(second, 0);
        assert_eq!(cache.insert(&young, &[1; 32]), Err(NotKept::Young));
        young = version(1);
        young.mtime = at(second, 0);
        assert_eq!(cache.insert(&young, &[1; 32]), Err(NotKept::Young));
    }
    for far in [at(i64::MAX, 0), at(i64::MIN, 0), at(1, 1_000_000_000)] {
        let mut version = version(1);
        version.mtime = far;
        assert_eq!(cache.insert(&version, &[1; 32]), Err(NotKept::FarTime));
    }
}

#[test]
fn the_time_of_settled_changes_only_goes_back() {
    use std::sync::atomic::AtomicI64;
    static SECOND: AtomicI64 = AtomicI64::new(2_000_000_000);
    let (_folder, path) = temporary();
    let cache = HashCache::open_with(&path, || SECOND.load(Ordering::Relaxed)).unwrap();
    cache.assume_file_system(DEV, UUID, None);
    let later = || lock(&cache.state).calculated -= LIMIT_HOLDS;
    let mut young = version(1);
    young.ctime.secs = 2_000_000_000;
    SECOND.store(2_000_000_100, Ordering::Relaxed);
    later();
    assert_eq!(cache.insert(&young, &[1; 32]), Err(NotKept::Young));
    insert(&cache, [2]);
    SECOND.store(1_600_000_000, Ordering::Relaxed);
    later();
    assert_eq!(cache.insert(&version(3), &hash(3)), Err(NotKept::Young));
}

#[test]
fn a_file_of_now_is_young_and_an_old_one_is_not() {
    let second = settled_until();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let now = i64::try_from(now.as_secs()).unwrap();
    assert!(second < now - 2 && second > now - 1_000_000, "{second}");
}

#[test]
fn the_file_system_of_a_file() {
    let (folder, path) = temporary();
    let cache = HashCache::open(&path).unwrap();
    let file = File::open(folder.path()).unwrap();
    let dev = FileVersion::metadata(&file).unwrap().dev().unwrap();
    assert_eq!(
        cache.file_system(&file, dev + 1),
        Err(NotKept::UnknownDevice)
    );
    let learned = cache.file_system(&file, dev);
    let expected = [Ok(()), Err(NotKept::OtherType), Err(NotKept::NoUuid)];
    assert!(expected.contains(&learned), "{learned:?}");
    assert_eq!(cache.file_system(&file, dev), learned);
    let proc = File::open("/proc/self").unwrap();
    let dev = FileVersion::metadata(&proc).unwrap().dev().unwrap();
    assert_eq!(cache.file_system(&proc, dev), Err(NotKept::OtherType));
}

#[test]
fn a_file_system_needs_a_whole_uuid() {
    let of = |uuid: Option<&[u8]>| {
        let identity = ringwalk_sys::FileSystemIdentity {
            uuid: uuid.map(<[u8]>::to_vec),
            subvolume: None,
        };
        record::FileSystem::new(&identity)
    };
    assert!(of(Some(&UUID)).is_some());
    assert_eq!(of(None), None);
    assert_eq!(of(Some(&UUID[..4])), None);
}

#[test]
fn a_second_process_is_refused() {
    let (_folder, path) = temporary();
    let cache = open(&path);
    let error = HashCache::open(&path).unwrap_err();
    assert!(matches!(error.kind(), CacheErrorKind::InUse), "{error}");
    insert(&cache, 0..10);
    cache.finish().unwrap();
    open(&path);
}

#[test]
fn other_files_are_refused_and_stay() {
    let (folder, path) = temporary();
    let long = [b'x'; 2 * BLOCK];
    for contents in [&b"#!/bin/sh\n"[..], b"ringwalk", &[0; BLOCK], &long] {
        fs::write(&path, contents).unwrap();
        let error = HashCache::open(&path).unwrap_err();
        assert!(matches!(error.kind(), CacheErrorKind::NotACache), "{error}");
        assert_eq!(fs::read(&path).unwrap(), contents);
    }
    let error = HashCache::open(Path::new("/dev/null")).unwrap_err();
    assert!(matches!(error.kind(), CacheErrorKind::NotACache), "{error}");
    for path in [folder.path(), &folder.path().join("missing/cache")] {
        let error = HashCache::open(path).unwrap_err();
        assert!(matches!(error.kind(), CacheErrorKind::Open(_)), "{error}");
    }
}

#[test]
fn another_version_is_refused() {
    let (_folder, path) = temporary();
    drop(open(&path));
    let mut bytes = fs::read(&path).unwrap();
    bytes[16] = 2;
    fs::write(&path, &bytes).unwrap();
    let error = HashCache::open(&path).unwrap_err();
    assert!(matches!(error.kind(), CacheErrorKind::OtherVersion(2)));
    assert_eq!(fs::read(&path).unwrap(), bytes);
}

#[test]
fn only_the_owner_may_read_a_cache() {
    let (folder, path) = temporary();
    let link = folder.path().join("link");
    symlink("cache", &link).unwrap();
    for _ in 0..2 {
        let cache = open(&link);
        insert(&cache, 0..10);
        cache.finish().unwrap();
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o7777, 0o600);
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    }
    // Nothing else is left in the folder.
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
}

#[test]
fn a_cache_that_root_writes_still_belongs_to_its_owner() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped: needs root");
        return;
    }
    let (_folder, path) = temporary();
    open(&path).finish().unwrap();
    std::os::unix::fs::chown(&path, Some(2000), Some(3000)).unwrap();
    let before = fs::metadata(&path).unwrap();
    let cache = open(&path);
    insert(&cache, 0..10);
    cache.finish().unwrap();
    let after = fs::metadata(&path).unwrap();
    assert_ne!(after.ino(), before.ino());
    assert_eq!((after.uid(), after.gid()), (2000, 3000));
}

#[test]
fn hashes_that_cannot_be_sorted_are_kept() {
    let (folder, path) = temporary();
    let cache = open(&path);
    insert(&cache, 0..10);
    // No file can be made in a folder that is not there.
    let away = folder.path().with_extension("away");
    fs::rename(folder.path(), &away).unwrap();
    let error = cache.finish().unwrap_err();
    fs::rename(&away, folder.path()).unwrap();
    assert!(matches!(error.kind(), CacheErrorKind::Write(_)), "{error}");
    assert_eq!(found(&open(&path), 0..20).len(), 10);
}

#[test]
fn an_error_of_writing_is_returned_once() {
    let (_folder, path) = temporary();
    with_both(&path, 0..100, 100..110);
    let mut cache = open(&path);
    let before = fs::read(&path).unwrap();
    cache.store.file = File::open(&path).unwrap();
    insert(&cache, 200..2000);
    let error = cache.finish().unwrap_err();
    assert!(matches!(error.kind(), CacheErrorKind::Write(_)), "{error}");
    assert_eq!(fs::read(&path).unwrap(), before);
    assert_eq!(found(&open(&path), 0..300).len(), 110);
}

#[test]
fn hashes_of_large_files_are_written_at_once() {
    let (_folder, path) = temporary();
    let cache = open(&path);
    insert(&cache, [1]);
    let length = || fs::metadata(&path).unwrap().len();
    assert_eq!(length(), BLOCK as u64);
    let mut large = version(2);
    large.size = 16 << 20;
    cache.insert(&large, &[2; 32]).unwrap();
    assert_eq!(length(), (BLOCK + 2 * APPENDED) as u64);
    // After some time, without a large file.
    let second = std::time::Duration::from_secs(1);
    insert(&cache, [3]);
    lock(&cache.state).appender.grow_old(second);
    insert(&cache, [4]);
    assert_eq!(length(), (BLOCK + 4 * APPENDED) as u64);
}

#[test]
fn threads_insert_at_the_same_time() {
    let (_folder, path) = temporary();
    let cache = open(&path);
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let cache = &cache;
            scope.spawn(move || insert(cache, thread * 1000..(thread + 1) * 1000));
        }
    });
    drop(cache);
    assert_eq!(found(&open(&path), 0..5000).len(), 4000);
}

#[test]
fn interrupted_at_every_byte_of_the_appended_section() {
    let (_folder, path) = temporary();
    with_both(&path, 0..20, 20..30);
    let whole = fs::read(&path).unwrap();
    let start = whole.len() - 10 * APPENDED;
    for length in start..whole.len() {
        fs::write(&path, &whole[..length]).unwrap();
        let complete = ((length - start) / APPENDED) as u64;
        let cache = open(&path);
        assert_eq!(found(&cache, 0..50), list(0..20 + complete));
        assert!(!cache.is_damaged());
        insert(&cache, 40..42);
        drop(cache);
        let expected = (0..20 + complete).chain(40..42);
        assert_eq!(found(&open(&path), 0..50), list(expected));
    }
}

#[test]
fn cut_at_every_byte_of_the_header() {
    let (_folder, path) = temporary();
    with_both(&path, 0..20, 20..30);
    let whole = fs::read(&path).unwrap();
    fs::remove_file(&path).unwrap();
    let mut file = File::create(&path).unwrap();
    for length in 1..BLOCK {
        file.write_all(&whole[length - 1..length]).unwrap();
        let error = HashCache::open(&path).unwrap_err();
        match error.kind() {
            CacheErrorKind::NotACache => assert!(length < 16),
            CacheErrorKind::Damaged => assert!(length >= 16),
            _ => panic!("{error}"),
        }
        assert_eq!(file.metadata().unwrap().len(), length as u64);
    }
    assert_eq!(fs::read(&path).unwrap(), whole[..BLOCK - 1]);
}

#[test]
fn cut_within_the_sorted_section() {
    let (_folder, path) = temporary();
    with_both(&path, 0..200, 200..210);
    let whole = fs::read(&path).unwrap();
    // The last block ends with zeros, which are there again when records are written behind it.
    for length in (BLOCK..4 * BLOCK + 2000).step_by(1000) {
        fs::write(&path, &whole[..length]).unwrap();
        let cache = open(&path);
        let complete = (length / BLOCK - 1) * PER_BLOCK;
        let complete = list(0..complete as u64);
        assert_eq!(found(&cache, 0..300), complete);
        assert!(cache.is_damaged());
        insert(&cache, 300..310);
        drop(cache);
        let cache = open(&path);
        let expected = list(complete.into_iter().chain(300..310));
        assert_eq!(found(&cache, 0..400), expected);
        assert!(cache.is_damaged());
        cache.finish().unwrap();
        let cache = open(&path);
        assert_eq!(found(&cache, 0..400), expected);
        assert!(!cache.is_damaged());
    }
}

#[test]
fn a_changed_byte_never_makes_a_wrong_hash() {
    let (_folder, path) = temporary();
    with_both(&path, 0..60, 50..70);
    let whole = fs::read(&path).unwrap();
    let start = 3 * BLOCK;
    assert_eq!(whole.len(), start + 20 * APPENDED);
    let is_zero = |byte: usize| byte > 2 && whole[byte - 2..=byte].iter().all(|byte| *byte == 0);
    for byte in (0..whole.len()).filter(|byte| byte % 16 == 0 || !is_zero(*byte)) {
        let mut changed = whole.clone();
        changed[byte] ^= 1 << (byte % 8);
        // The file is overwritten in place, because truncating a file is slow on ext4.
        overwrite(&path, &changed);
        let Ok(cache) = HashCache::open_with(&path, || i64::MAX) else {
            assert!(byte < BLOCK);
            continue;
        };
        assert!(byte >= BLOCK, "{byte}");
        cache.assume_file_system(DEV, UUID, None);
        let before = found(&cache, 0..150);
        let lost = if byte < start { PER_BLOCK } else { 1 };
        assert!(before.len() >= 70 - lost, "{byte}");
        assert!(cache.is_damaged(), "{byte}");
        if byte % 100 == 0 {
            // The damaged part goes.
            cache.finish().unwrap();
            let cache = open(&path);
            assert_eq!(found(&cache, 0..150), before);
            assert!(!cache.is_damaged());
        }
    }
}

#[test]
fn a_damaged_block_hides_no_others() {
    let (_folder, path) = temporary();
    let cache = open(&path);
    let count = 200 * PER_BLOCK as u64;
    insert(&cache, 0..count);
    cache.finish().unwrap();
    let whole = fs::read(&path).unwrap();
    for blocks in [0..1, 40..41, 10..60, 15..16, 60..199, 199..200, 0..200] {
        let mut changed = whole.clone();
        for block in blocks.clone() {
            changed[(block + 1) * BLOCK + 70] ^= 1;
        }
        fs::write(&path, &changed).unwrap();
        let cache = open(&path);
        let is_sound = |ino: &u64| !blocks.contains(&(usize::try_from(*ino).unwrap() / PER_BLOCK));
        let expected: Vec<_> = (0..count).filter(is_sound).collect();
        assert_eq!(found(&cache, 0..count), expected, "{blocks:?}");
        // One at a time: each is found in steps over the others.
        for ino in (0..count).step_by(1777) {
            let expected = list([ino].into_iter().filter(is_sound));
            assert_eq!(found(&cache, [ino]), expected, "{blocks:?}");
        }
    }
}

#[test]
fn numbers_in_the_file_allocate_nothing() {
    let (_folder, path) = temporary();
    with_both(&path, 0..20, 20..30);
    let whole = fs::read(&path).unwrap();
    for blocks in [
        2,
        1 << 40,
        u64::MAX / BLOCK as u64 - 1,
        u64::MAX - 1,
        u64::MAX,
    ] {
        let mut changed = whole.clone();
        changed[20..28].copy_from_slice(&blocks.to_le_bytes());
        let sum = crc32c::crc32c(&changed[..28]);
        changed[28..32].copy_from_slice(&sum.to_le_bytes());
        fs::write(&path, &changed).unwrap();
        let Ok(cache) = HashCache::open_with(&path, || i64::MAX) else {
            assert!(blocks > u64::MAX / BLOCK as u64 - 2);
            continue;
        };
        cache.assume_file_system(DEV, UUID, None);
        assert_eq!(found(&cache, 0..50), list(0..20));
        assert!(cache.is_damaged());
        insert(&cache, 100..101);
        // The place of the records may be beyond the largest size of a file.
        let _ = cache.finish();
    }
}

#[test]
fn many_hashes_are_read_and_merged_once() {
    let (_folder, path) = temporary();
    let count = 100_000;
    let cache = open(&path);
    // Every second file, in an order as from several threads.
    insert(&cache, (0..count).map(|number| number * 7919 % count * 2));
    cache.finish().unwrap();
    let cache = open(&path);
    let blocks = count.div_ceil(PER_BLOCK as u64);
    assert_eq!(cache.sorted.blocks, blocks);
    let all: Vec<_> = (0..2 * count).collect();
    assert_eq!(found(&cache, all).len() as u64, count);
    let reads = |inos: &mut dyn Iterator<Item = u64>| {
        let mut search = Search::new(&cache);
        for ino in inos {
            let file_system = cache.devices.get(DEV).unwrap();
            search.find(file_system, ino).unwrap();
        }
        search.window.reads
    };
    // Each block once, and few more for steps that are too long.
    let dense = reads(&mut (0..2 * count));
    assert!((blocks..blocks * 5 / 4).contains(&dense), "{dense}");
    // Few blocks for few files.
    let sparse = reads(&mut [3, count, count + 1, 2 * count - 2].into_iter());
    assert!(sparse < 6 * WINDOW, "{sparse}");
    insert(&cache, (0..count).map(|number| number * 2 + 1));
    cache.finish().unwrap();
    let cache = open(&path);
    let mut records = Records::new(&cache.sorted, &cache.store.file);
    let mut next = 0;
    while let Some((_, record)) = records.next().unwrap() {
        assert_eq!((record.version.ino, record.hash), (next, hash(next)));
        next += 1;
    }
    assert_eq!(next, 2 * count);
}

#[test]
fn messages_name_the_file() {
    let error = CacheError::new(Path::new("a\nb"), CacheErrorKind::InUse);
    assert_eq!(
        error.to_string(),
        "cache 'a\\nb' is in use by another process"
    );
}
