//! Walks that stop when their budget is spent, and others that go on where they stopped.

mod support;

use ringwalk::{
    Batch, Budget, Dir, Errno, Error, Fields, Flow, Left, Leftover, Operation, Remaining, Root,
    Visitor, Walk, divide, list_names,
};
use ringwalk_sys::magic;
use rustix::fs::RawDir;
use std::collections::BTreeMap;
use std::fs;
use std::num::{NonZeroU64, NonZeroUsize};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;
use support::Random;

/// Counts how often each path was given, and the directories that were left.
#[derive(Default)]
struct Count {
    seen: BTreeMap<Vec<u8>, u32>,
    left: Vec<Vec<u8>>,
    errors: Vec<Error>,
}

impl Visitor for Count {
    type State = ();

    fn batch(&mut self, batch: &Batch<'_, ()>) -> Flow {
        for entry in batch.entries() {
            *self.seen.entry(entry.path()).or_default() += 1;
        }
        Flow::Continue
    }

    fn leave(&mut self, left: &Left<'_, ()>) {
        self.left.push(left.path());
    }

    fn error(&mut self, error: &Error) {
        self.errors.push(error.clone());
    }
}

impl Count {
    /// Entries that were given.
    fn total(&self) -> u32 {
        self.seen.values().sum()
    }

    fn add(&mut self, other: Self) {
        for (path, times) in other.seen {
            *self.seen.entry(path).or_default() += times;
        }
        self.left.extend(other.left);
        self.errors.extend(other.errors);
    }

    fn assert_once(&self, root: &Path) {
        let expected = everything(root);
        let seen: Vec<_> = self.seen.keys().cloned().collect();
        assert_eq!(seen.len(), expected.len());
        assert!(seen == expected);
        let twice = self.seen.iter().find(|(_, times)| **times != 1);
        assert_eq!(twice, None);
    }
}

fn everything(root: &Path) -> Vec<Vec<u8>> {
    let mut count = Count::default();
    for visitor in support::walk(root).run(|_| Count::default()).visitors {
        count.add(visitor);
    }
    assert!(count.errors.is_empty());
    count.seen.into_keys().collect()
}

/// The folder in which trees are made: for temporary files, or on the file system under test.
fn folder() -> tempfile::TempDir {
    match std::env::var_os("RINGWALK_TEST_FOLDER") {
        Some(folder) => tempfile::tempdir_in(folder).unwrap(),
        None => tempfile::tempdir().unwrap(),
    }
}

/// Returns true if the file system of the tests is one that `RINGWALK_TEST_FOLDER` names.
fn is_given() -> bool {
    std::env::var_os("RINGWALK_TEST_FOLDER").is_some()
}

/// Returns true if an inode number of another walk identifies a directory of this file system.
fn has_lasting_inodes(folder: &Path) -> bool {
    let found = magic::of(fs::File::open(folder).unwrap()).unwrap();
    found != magic::FUSE && found != magic::OVERLAYFS
}

/// Returns true if positions on this file system hold for one open file only.
fn keeps_no_positions(folder: &Path) -> bool {
    magic::of(fs::File::open(folder).unwrap()) == Ok(magic::OVERLAYFS)
}

/// Makes directories with few and with many files, and a deep chain.
fn grow(root: &Path) {
    for directory in 0..40 {
        let path = root.join(format!("d{directory}/e{}", directory % 7));
        fs::create_dir_all(&path).unwrap();
        for file in 0..directory {
            fs::write(path.join(format!("file-{file}")), "").unwrap();
        }
    }
    let large = root.join("large");
    fs::create_dir(&large).unwrap();
    for file in 0..5000 {
        fs::write(large.join(format!("a-file-with-a-long-name-{file}")), "").unwrap();
    }
    for directory in 0..50 {
        fs::create_dir_all(large.join(format!("sub-{directory}/x"))).unwrap();
    }
    let mut deep = root.to_path_buf();
    for _ in 0..60 {
        deep.push("deep");
        fs::create_dir(&deep).unwrap();
        fs::write(deep.join("file"), "").unwrap();
    }
}

fn budget(entries: u64) -> Budget {
    Budget {
        entries: NonZeroU64::new(entries),
        time: None,
    }
}

/// Runs one walk, and adds what it has given to `count`. Returns its leftovers.
fn step(walk: Walk, count: &mut Count) -> Vec<Leftover> {
    let outcome = walk.run(|_| Count::default());
    for visitor in outcome.visitors {
        count.add(visitor);
    }
    outcome.leftovers
}

fn walk(root: &Path, workers: usize) -> Walk {
    support::walk(root)
        .workers(NonZeroUsize::new(workers))
        .buffer_size(Some(8192))
}

#[test]
fn any_sequence_of_budgets_gives_each_entry_once() {
    let folder = folder();
    grow(folder.path());
    let mut random = Random::new(7);
    for (round, workers) in [(0, 1), (1, 2), (2, 4), (3, 1), (4, 3)] {
        for fields in [Fields::empty(), Fields::SIZE | Fields::INO] {
            let mut count = Count::default();
            let walk = || walk(folder.path(), workers).fields(fields);
            let most = [1, 50, 400, 3000, 20_000][round];
            let first = walk().budget(budget(1 + random.below(most)));
            let mut pool = step(first, &mut count);
            let mut walks = 1;
            while !pool.is_empty() {
                // Some of the leftovers, from any place.
                let at = usize::try_from(random.below(pool.len() as u64)).unwrap();
                let number = usize::try_from(1 + random.below(8)).unwrap();
                let taken: Vec<_> = pool.drain(at..(at + number).min(pool.len())).collect();
                let next = walk().resume(taken).budget(budget(1 + random.below(most)));
                pool.extend(step(next, &mut count));
                walks += 1;
            }
            assert!(walks > 2 || most > 3000);
            assert!(count.errors.is_empty(), "{:?}", count.errors);
            count.assert_once(folder.path());
        }
    }
}

#[test]
fn a_time_is_a_budget_and_each_walk_gets_on() {
    let folder = folder();
    grow(folder.path());
    let nothing = || {
        walk(folder.path(), 1).budget(Budget {
            time: Some(Duration::ZERO),
            entries: None,
        })
    };
    let mut count = Count::default();
    let mut pool = step(nothing(), &mut count);
    let mut walks = 0;
    while !pool.is_empty() {
        pool = step(nothing().resume(pool), &mut count);
        walks += 1;
    }
    assert!(walks > 100);
    count.assert_once(folder.path());
}

#[test]
fn only_directories_that_were_read_whole_are_left() {
    let folder = folder();
    fs::create_dir_all(folder.path().join("a/b")).unwrap();
    fs::create_dir_all(folder.path().join("c")).unwrap();
    let mut count = Count::default();
    let pool = step(walk(folder.path(), 1).budget(budget(1)), &mut count);
    assert_eq!(pool.len(), 2);
    assert!(
        count.left.is_empty(),
        "something is left over below the root"
    );
    let pool = step(walk(folder.path(), 1).resume(pool), &mut count);
    assert!(pool.is_empty());
    let mut left: Vec<_> = count
        .left
        .iter()
        .map(|path| relative(path, &folder))
        .collect();
    left.sort();
    assert_eq!(left, ["a", "a/b", "c"].map(PathBuf::from));
}

fn relative(path: &[u8], folder: &tempfile::TempDir) -> PathBuf {
    let path = Path::new(std::ffi::OsStr::from_bytes(path));
    path.strip_prefix(folder.path()).unwrap().to_owned()
}

/// A visitor whose state goes through leftovers.
#[derive(Default)]
struct Tagged(Vec<(Vec<u8>, u64)>);

impl Visitor for Tagged {
    type State = u64;

    fn batch(&mut self, batch: &Batch<'_, u64>) -> Flow {
        let above = batch.dir().map_or(0, |dir| *dir.state());
        for entry in batch.entries() {
            entry.descend_with(above + 1);
        }
        Flow::Continue
    }

    fn enter(&mut self, dir: &Dir<u64>) -> Flow {
        self.0.push((dir.path(), *dir.state()));
        Flow::Continue
    }

    fn resume(&mut self, leftover: &Leftover) -> u64 {
        leftover.tag
    }

    fn tag(&self, dir: &Dir<u64>) -> u64 {
        *dir.state()
    }
}

#[test]
fn the_state_of_a_directory_goes_on_with_it() {
    let folder = folder();
    grow(folder.path());
    let mut pool = None;
    let mut entered = Vec::new();
    loop {
        let walk = walk(folder.path(), 1).budget(budget(1));
        let walk = match pool.take() {
            Some(pool) => walk.resume(pool),
            None => walk,
        };
        let outcome = walk.run(|_| Tagged::default());
        entered.extend(outcome.visitors.into_iter().flat_map(|visitor| visitor.0));
        if outcome.leftovers.is_empty() {
            break;
        }
        pool = Some(outcome.leftovers);
    }
    assert!(entered.len() > 150);
    for (path, depth) in entered {
        let below = relative(&path, &folder).components().count() as u64;
        assert_eq!(depth, below + 1);
    }
}

#[test]
fn depth_goes_on_with_a_leftover() {
    let folder = folder();
    grow(folder.path());
    let bounded = || walk(folder.path(), 1).max_depth(5);
    let mut count = Count::default();
    let mut pool = step(bounded().budget(budget(1)), &mut count);
    while !pool.is_empty() {
        pool = step(bounded().resume(pool).budget(budget(1)), &mut count);
    }
    let deepest = count.seen.keys().map(|path| relative(path, &folder));
    assert_eq!(deepest.map(|path| path.components().count()).max(), Some(5));
}

#[test]
fn a_directory_that_was_replaced_has_vanished() {
    let folder = folder();
    let path = folder.path().join("a/b");
    fs::create_dir_all(&path).unwrap();
    let fields = Fields::INO | Fields::TYPE;
    let mut count = Count::default();
    let first = walk(folder.path(), 1).fields(fields).budget(budget(1));
    let pool = step(first, &mut count);
    fs::rename(folder.path().join("a"), folder.path().join("was-a")).unwrap();
    fs::create_dir_all(&path).unwrap();
    fs::write(path.join("not-of-this-walk"), "").unwrap();
    let outcome = walk(folder.path(), 1)
        .resume(pool)
        .run(|_| Count::default());
    assert_eq!(outcome.summary.entries, 0);
    let visitors = outcome.visitors.iter();
    let errors: Vec<_> = visitors.flat_map(|visitor| &visitor.errors).collect();
    assert_eq!(errors.len(), 1);
    if has_lasting_inodes(folder.path()) {
        assert_eq!(outcome.summary.vanished, 1);
        assert_eq!(outcome.summary.errors, 0);
    } else {
        // Nobody knows whether it was replaced: the walk must not call itself complete.
        assert_eq!(outcome.summary.vanished, 0);
        assert_eq!(outcome.summary.errors, 1);
        assert_eq!(errors[0].errno(), Errno::STALE);
    }
}

#[test]
fn a_symbolic_link_on_the_way_is_not_followed() {
    let folder = folder();
    let outside = tempfile::tempdir().unwrap();
    fs::create_dir_all(outside.path().join("b/c")).unwrap();
    fs::create_dir_all(folder.path().join("a/b/c")).unwrap();
    let mut count = Count::default();
    let mut pool = step(walk(folder.path(), 1).budget(budget(1)), &mut count);
    pool = step(
        walk(folder.path(), 1).resume(pool).budget(budget(1)),
        &mut count,
    );
    assert_eq!(pool[0].path, b"a/b");
    fs::rename(folder.path().join("a"), folder.path().join("was-a")).unwrap();
    std::os::unix::fs::symlink(outside.path(), folder.path().join("a")).unwrap();
    let outcome = walk(folder.path(), 1)
        .resume(pool)
        .run(|_| Count::default());
    assert_eq!(outcome.summary.vanished, 1);
    assert_eq!(outcome.summary.entries, 0);
}

/// The file system of a root may have been unmounted: nothing below it has vanished for that.
#[test]
fn a_root_that_was_replaced_is_an_error_and_its_leftovers_remain() {
    let folder = folder();
    let root = folder.path().join("root");
    fs::create_dir_all(root.join("a/b")).unwrap();
    let mut count = Count::default();
    let pool = step(walk(&root, 1).budget(budget(1)), &mut count);
    fs::rename(&root, folder.path().join("other")).unwrap();
    for make in [false, true] {
        if make {
            fs::create_dir_all(root.join("a/b")).unwrap();
        }
        let outcome = walk(&root, 1)
            .resume(pool.clone())
            .run(|_| Count::default());
        assert_eq!(outcome.summary.errors, 1);
        assert_eq!(outcome.summary.vanished, 0);
        assert_eq!(outcome.leftovers, pool);
        let error = &outcome.visitors[0].errors[0];
        assert_eq!(error.operation(), Operation::Open);
        assert_eq!(error.path(), root.join("a"));
    }
}

/// A leftover whose root the walk does not have is not lost.
#[test]
fn leftovers_of_no_root_are_errors_and_remain() {
    let folder = folder();
    fs::create_dir_all(folder.path().join("a/b")).unwrap();
    let mut count = Count::default();
    let pool = step(walk(folder.path(), 1).budget(budget(1)), &mut count);
    let no_roots = Walk::from_roots(Vec::<Root>::new()).resume(pool.clone());
    let outcome = no_roots.run(|_| Count::default());
    assert_eq!(outcome.summary.errors, 1);
    assert_eq!(outcome.leftovers, pool);
}

/// Removes and creates files beside those that stay.
fn disturb(large: &Path, random: &mut Random, next: &mut u64) {
    for _ in 0..40 {
        fs::write(large.join(format!("new-{next}")), "").unwrap();
        *next += 1;
        let old = random.below(*next);
        // It may have been removed before.
        let _ = fs::remove_file(large.join(format!("new-{old}")));
    }
}

#[test]
fn parts_of_a_large_directory_have_each_entry_once_whatever_changes_meanwhile() {
    let folder = folder();
    let large = folder.path().join("large");
    fs::create_dir(&large).unwrap();
    let mut random = Random::new(3);
    let mut next = 0;
    for file in 0..4000 {
        fs::write(large.join(format!("stays-{file}")), "").unwrap();
        if file % 10 == 0 {
            disturb(&large, &mut random, &mut next);
        }
    }
    let root = Root::from(folder.path());
    let mut count = Count::default();
    let mut pool = step(walk(folder.path(), 1).budget(budget(1)), &mut count);
    pool = step(
        walk(folder.path(), 1).resume(pool).budget(budget(1)),
        &mut count,
    );
    if keeps_no_positions(folder.path()) {
        assert!(pool.is_empty(), "a rest that no walk can go on with");
        return;
    }
    assert_eq!(pool.len(), 1);
    assert!(matches!(
        pool[0].remaining,
        Remaining::From { to: None, .. }
    ));
    let Some(parts) = divide(&root, &pool[0], NonZeroUsize::new(8).unwrap()).unwrap() else {
        assert!(is_given(), "not divided on this disk");
        return;
    };
    assert_eq!(parts.len(), 8);
    let mut pool = parts;
    let mut rounds = 0;
    while !pool.is_empty() {
        disturb(&large, &mut random, &mut next);
        let at = usize::try_from(random.below(pool.len() as u64)).unwrap();
        let one = pool.swap_remove(at);
        // A part may be divided again.
        if rounds % 5 == 4
            && let Some(parts) = divide(&root, &one, NonZeroUsize::new(3).unwrap()).unwrap()
        {
            pool.extend(parts);
        } else {
            let next = walk(folder.path(), 1).resume(vec![one]);
            pool.extend(step(
                next.budget(budget(100 + random.below(400))),
                &mut count,
            ));
        }
        rounds += 1;
    }
    assert!(count.errors.is_empty(), "{:?}", count.errors);
    let stay = count.seen.iter().filter(|(path, _)| {
        let name = path.rsplit(|byte| *byte == b'/').next();
        name.is_some_and(|name| name.starts_with(b"stays-"))
    });
    let times: Vec<_> = stay.map(|(_, times)| *times).collect();
    assert_eq!(times.len(), 4000);
    assert!(times.iter().all(|times| *times == 1));
}

/// Makes a directory whose positions are divided, and returns its leftover. `None` where they are
/// not, as on file systems of `RINGWALK_TEST_FOLDER`.
fn one_directory(folder: &Path, files: usize) -> Option<Leftover> {
    let large = folder.join("large");
    fs::create_dir(&large).unwrap();
    for file in 0..files {
        fs::write(large.join(format!("file-{file}")), "").unwrap();
    }
    let pool = step(walk(folder, 1).budget(budget(1)), &mut Count::default());
    let two = NonZeroUsize::new(2).unwrap();
    let divided = divide(&Root::from(folder), &pool[0], two).unwrap();
    let on_purpose = std::env::var_os("RINGWALK_TEST_FOLDER").is_some();
    assert!(divided.is_some() || on_purpose, "not divided on this disk");
    divided.map(|_| pool[0].clone())
}

fn below(large: &Leftover, position: i64, to: Option<i64>) -> Leftover {
    Leftover {
        remaining: Remaining::From { position, to },
        ..large.clone()
    }
}

/// A directory of one block is small. Its rest is still divided.
#[test]
fn the_rest_of_a_small_directory_is_divided() {
    let folder = folder();
    let Some(large) = one_directory(folder.path(), 60) else {
        return;
    };
    let mut buffer = Vec::with_capacity(8192);
    let open = fs::File::open(folder.path().join("large")).unwrap();
    let mut raw = RawDir::new(&open, buffer.spare_capacity_mut());
    let (mut positions, mut is_file) = (Vec::new(), Vec::new());
    while let Some(entry) = raw.next() {
        let entry = entry.unwrap();
        positions.push(entry.next_entry_cookie().cast_signed());
        is_file.push(entry.file_name().to_bytes().starts_with(b"file-"));
    }
    let root = Root::from(folder.path());
    for begin in 0..50 {
        let rest = below(&large, positions[begin], None);
        let parts = NonZeroUsize::new(3 + begin).unwrap();
        let Some(parts) = divide(&root, &rest, parts).unwrap() else {
            continue;
        };
        let mut count = Count::default();
        for part in parts {
            step(walk(folder.path(), 1).resume(vec![part]), &mut count);
        }
        let files = is_file[begin + 1..].iter().filter(|is_file| **is_file);
        assert_eq!(count.seen.len(), files.count());
        assert!(count.seen.values().all(|times| *times == 1), "{begin}");
    }
}

/// The first entry that a part without entries reads belongs to a later part.
#[test]
fn a_part_without_entries_gives_none() {
    let folder = folder();
    let Some(large) = one_directory(folder.path(), 400) else {
        return;
    };
    let many = NonZeroUsize::new(64).unwrap();
    let parts = divide(&Root::from(folder.path()), &large, many);
    let parts = parts.unwrap().unwrap();
    for file in 5..400 {
        fs::remove_file(folder.path().join(format!("large/file-{file}"))).unwrap();
    }
    let mut count = Count::default();
    for part in parts {
        let rest = step(walk(folder.path(), 1).resume(vec![part]), &mut count);
        assert!(rest.is_empty());
    }
    assert_eq!(count.seen.len(), 5);
    assert!(
        count.seen.values().all(|times| *times == 1),
        "{:?}",
        count.seen
    );
}

/// A part ends before the entry whose position is its end.
#[test]
fn an_entry_at_the_border_is_in_the_second_part() {
    let folder = folder();
    let Some(large) = one_directory(folder.path(), 1000) else {
        return;
    };
    let bounded = || walk(folder.path(), 1).budget(budget(1));
    let mut rest = vec![large.clone()];
    let mut first = Count::default();
    // Three positions at which a walk has stopped.
    for _ in 0..3 {
        rest = step(bounded().resume(rest), &mut first);
        let Remaining::From { position, .. } = rest[0].remaining else {
            panic!("a directory that was read in part");
        };
        let mut before = Count::default();
        let part = below(&large, 0, Some(position));
        // The border lies within a larger buffer.
        let larger = walk(folder.path(), 1).buffer_size(Some(65_536));
        step(larger.resume(vec![part]), &mut before);
        assert!(before.seen == first.seen);
        let mut behind = Count::default();
        let part = below(&large, position, None);
        step(walk(folder.path(), 1).resume(vec![part]), &mut behind);
        assert_eq!(before.seen.len() + behind.seen.len(), 1000);
    }
}

#[test]
fn names_that_were_listed_are_visited_by_other_walks() {
    let folder = folder();
    grow(folder.path());
    let root = Root::from(folder.path());
    let mut count = Count::default();
    let mut pool = step(walk(folder.path(), 1).budget(budget(1)), &mut count);
    let at = pool.iter().position(|each| each.path == b"large").unwrap();
    let large = pool.swap_remove(at);
    let chunk = NonZeroUsize::new(700).unwrap();
    let lists = list_names(&root, &large, chunk, NonZeroUsize::new(2000).unwrap()).unwrap();
    let is_list = |each: &Leftover| matches!(&each.remaining, Remaining::Names(_));
    assert!(lists.iter().filter(|each| is_list(each)).count() >= 3);
    // Some file systems give all names at once.
    assert!(
        is_given() || lists.iter().any(|each| !is_list(each)),
        "the rest of the directory"
    );
    for list in lists.into_iter().chain(pool) {
        let next = walk(folder.path(), 2)
            .fields(Fields::SIZE)
            .resume(vec![list]);
        assert!(step(next, &mut count).is_empty());
    }
    assert!(count.errors.is_empty(), "{:?}", count.errors);
    count.assert_once(folder.path());
}

/// A folder of two layers, each with a directory `large`. Files whose names begin with `goes-` are
/// removed. `tests/sources/test_budget.py` mounts it and names it here.
const LAYERS: &str = "RINGWALK_TEST_LAYERS";

#[test]
fn entries_that_stay_in_a_directory_of_two_layers_come_once() {
    let Some(folder) = std::env::var_os(LAYERS).map(PathBuf::from) else {
        return;
    };
    let mut count = Count::default();
    let mut pool = step(walk(&folder, 1).budget(budget(1)), &mut count);
    pool = step(walk(&folder, 1).resume(pool).budget(budget(1)), &mut count);
    let goes = |path: &[u8]| {
        let name = path.rsplit(|byte| *byte == b'/').next();
        name.is_some_and(|name| name.starts_with(b"goes-"))
    };
    for file in fs::read_dir(folder.join("large")).unwrap() {
        let path = file.unwrap().path();
        if goes(path.as_os_str().as_bytes()) {
            fs::remove_file(path).unwrap();
        }
    }
    while !pool.is_empty() {
        pool = step(walk(&folder, 1).resume(pool).budget(budget(1)), &mut count);
    }
    assert!(count.errors.is_empty(), "{:?}", count.errors);
    count.seen.retain(|path, _| !goes(path));
    count.assert_once(&folder);
}

/// A folder on a server that takes its time for each lookup, with directories of 500 files.
/// `tests/sources/test_budget.py` mounts it and names it here.
const SLOW: &str = "RINGWALK_TEST_SLOW";

#[test]
fn entries_whose_metadata_waits_are_left_over_by_their_names() {
    let Some(folder) = std::env::var_os(SLOW).map(PathBuf::from) else {
        return;
    };
    for workers in [1, 4] {
        let mut count = Count::default();
        let walk = || {
            support::walk(folder.as_path())
                .workers(NonZeroUsize::new(workers))
                .fields(Fields::SIZE)
                .leave_names(true)
        };
        let is_names = |left: &Leftover| matches!(left.remaining, Remaining::Names(_));
        let mut pool = step(walk().budget(budget(1)), &mut count);
        let mut cut = 0;
        while !pool.is_empty() {
            let taken = pool.split_off(pool.len() - 1);
            let before = count.total();
            let left = step(walk().resume(taken).budget(budget(1)), &mut count);
            if left.iter().any(is_names) {
                // One leftover for each directory, and less than the buffer was given.
                assert_eq!(left.len(), 1);
                assert!(count.total() - before < 400);
                cut += 1;
            }
            pool.extend(left);
        }
        assert!(cut > 2, "{cut}");
        assert!(count.errors.is_empty(), "{:?}", count.errors);
        count.assert_once(&folder);
    }
}

#[test]
#[should_panic(expected = "cannot stop and go on")]
fn a_walk_that_follows_links_has_no_budget() {
    let walk = Walk::new(".").follow(ringwalk::Follow::Always);
    let _ = walk.budget(budget(1)).run(|_| Count::default());
}
