//! The control of a walk: bounds, filters, links, and the answers of a visitor.

mod support;

use ringwalk::{Batch, Errno, Fields, FileType, Flow, Follow, Operation, Stay, Visitor, Walk};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use support::collect;

/// Makes `a/b/c/d`, each level with a file.
fn ladder(root: &Path) {
    let mut path = root.to_path_buf();
    for name in ["a", "b", "c", "d"] {
        path.push(name);
        fs::create_dir(&path).unwrap();
        fs::write(path.join("file"), name).unwrap();
    }
}

fn names(walk: Walk, root: &Path) -> Vec<String> {
    let (all, _) = collect(walk);
    let strip = root.as_os_str().len();
    let mut names: Vec<_> = all
        .seen
        .iter()
        .map(|seen| String::from_utf8_lossy(&seen.0[strip..]).into_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn depth_is_bounded_on_both_sides() {
    let dir = tempfile::tempdir().unwrap();
    ladder(dir.path());
    let walk = || support::walk(dir.path());
    assert_eq!(names(walk().max_depth(0), dir.path()), [""]);
    assert_eq!(
        names(walk().max_depth(2), dir.path()),
        ["", "/a", "/a/b", "/a/file"]
    );
    assert_eq!(
        names(walk().min_depth(3).max_depth(3), dir.path()),
        ["/a/b/c", "/a/b/file"]
    );
}

#[test]
fn a_filter_leaves_directories_alone() {
    let dir = tempfile::tempdir().unwrap();
    ladder(dir.path());
    let walk = support::walk(dir.path()).filter(|candidate| candidate.name() != b"b");
    assert_eq!(names(walk, dir.path()), ["", "/a", "/a/b", "/a/file"]);
}

/// A visitor that gives one answer at one directory or entry.
struct Says {
    flow: Flow,
    on_enter: &'static [u8],
    on_batch: &'static [u8],
    prune: &'static [u8],
    seen: Vec<Vec<u8>>,
    left: usize,
}

impl Visitor for Says {
    type State = ();

    fn enter(&mut self, dir: &ringwalk::Dir<()>) -> Flow {
        if dir.name() == self.on_enter {
            return self.flow;
        }
        Flow::Continue
    }

    fn batch(&mut self, batch: &Batch<'_, ()>) -> Flow {
        for entry in batch.entries() {
            self.seen.push(entry.name().to_vec());
            if entry.name() == self.prune {
                assert!(entry.will_descend());
                entry.prune();
                assert!(!entry.will_descend());
            }
        }
        match batch.dir() {
            Some(dir) if dir.name() == self.on_batch => self.flow,
            _ => Flow::Continue,
        }
    }

    fn leave(&mut self, _: &ringwalk::Left<'_, ()>) {
        self.left += 1;
    }
}

fn says(
    root: &Path,
    flow: Flow,
    on_enter: &'static str,
    on_batch: &'static str,
    prune: &'static str,
) -> (usize, usize, bool) {
    let outcome = support::walk(root)
        .workers(std::num::NonZeroUsize::new(1))
        .run(|_| Says {
            flow,
            on_enter: on_enter.as_bytes(),
            on_batch: on_batch.as_bytes(),
            prune: prune.as_bytes(),
            seen: Vec::new(),
            left: 0,
        });
    let visitor = &outcome.visitors[0];
    (visitor.seen.len(), visitor.left, outcome.summary.stopped)
}

#[test]
fn a_visitor_prunes_and_stops() {
    let dir = tempfile::tempdir().unwrap();
    ladder(dir.path());
    // Entries seen and directories left. The whole tree has 9 entries and 5 directories.
    assert_eq!(
        says(dir.path(), Flow::Continue, "b", "b", ""),
        (9, 5, false)
    );
    assert_eq!(says(dir.path(), Flow::Prune, "c", "", ""), (6, 4, false));
    assert_eq!(says(dir.path(), Flow::Prune, "", "b", ""), (6, 3, false));
    assert_eq!(says(dir.path(), Flow::Continue, "", "", "b"), (4, 2, false));
    assert_eq!(says(dir.path(), Flow::Stop, "b", "", ""), (4, 0, true));
    assert_eq!(says(dir.path(), Flow::Stop, "", "b", ""), (6, 0, true));
}

#[test]
fn links_are_followed_as_told() {
    let dir = tempfile::tempdir().unwrap();
    ladder(dir.path());
    symlink("b", dir.path().join("a/link")).unwrap();
    symlink("nowhere", dir.path().join("a/broken")).unwrap();
    let link = dir.path().join("a/link");
    let walk = |follow| {
        support::walk(link.clone())
            .follow(follow)
            .fields(Fields::TYPE)
    };
    assert_eq!(names(walk(Follow::Never), &link), [""]);
    let below = ["", "/c", "/c/d", "/c/d/file", "/c/file", "/file"];
    assert_eq!(names(walk(Follow::CommandLine), &link), below);
    let (all, summary) = collect(support::walk(dir.path()).follow(Follow::Always));
    assert_eq!(all.seen.len(), 9 + 2 + 5);
    assert!(summary.is_complete(), "{:?}", all.errors);
}

#[test]
fn a_link_that_cannot_be_followed_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("file"), "").unwrap();
    symlink("itself", dir.path().join("itself")).unwrap();
    symlink("file/below", dir.path().join("no-directory")).unwrap();
    symlink("nowhere", dir.path().join("nowhere-to-go")).unwrap();
    let (mut all, summary) = collect(support::walk(dir.path()).follow(Follow::Always));
    all.errors.sort_by(|a, b| a.path().cmp(b.path()));
    let errors: Vec<_> = all
        .errors
        .iter()
        .map(|e| (e.path().file_name().unwrap().to_str(), e.errno()))
        .collect();
    assert_eq!(errors, [(Some("itself"), Errno::LOOP)]);
    assert_eq!((all.seen.len(), summary.errors), (5, 1));
}

#[test]
fn a_link_without_a_target_is_an_entry_of_its_own() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("file"), "").unwrap();
    for target in ["nowhere", "file/below"] {
        let link = dir.path().join("link");
        symlink(target, &link).unwrap();
        for (root, follow) in [
            (&link, Follow::CommandLine),
            (&link, Follow::Always),
            (&dir.path().to_owned(), Follow::Always),
        ] {
            for fields in [Fields::empty(), Fields::TYPE | Fields::SIZE] {
                let walk = support::walk(root.clone()).follow(follow).fields(fields);
                let (all, summary) = collect(walk);
                assert!(summary.is_complete(), "{target}: {:?}", all.errors);
            }
        }
        fs::remove_file(link).unwrap();
    }
    // A path that leads through a file is an error as without links.
    let (all, _) = collect(support::walk(dir.path().join("file/below")).follow(Follow::Always));
    assert_eq!(all.errors[0].errno(), Errno::NOTDIR);
}

#[test]
fn only_links_are_called_followed() {
    struct Followed(Vec<Vec<u8>>);
    impl Visitor for Followed {
        type State = ();
        fn batch(&mut self, batch: &Batch<'_, ()>) -> Flow {
            let followed = batch.entries().filter(ringwalk::Entry::is_followed);
            self.0.extend(followed.map(|entry| entry.name().to_vec()));
            Flow::Continue
        }
    }
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("dir")).unwrap();
    symlink("dir", dir.path().join("link")).unwrap();
    symlink("nowhere", dir.path().join("broken")).unwrap();
    for root in ["", "link", "broken"] {
        let path = dir.path().join(root);
        let outcome = support::walk(path.as_path())
            .follow(Follow::CommandLine)
            .run(|_| Followed(Vec::new()));
        let expected = if root == "link" {
            vec![path.into_os_string().into_encoded_bytes()]
        } else {
            Vec::new()
        };
        assert_eq!(outcome.visitors[0].0, expected);
    }
}

#[test]
fn a_loop_of_links_is_an_error_and_not_followed() {
    let dir = tempfile::tempdir().unwrap();
    ladder(dir.path());
    symlink("../..", dir.path().join("a/b/up")).unwrap();
    symlink(".", dir.path().join("here")).unwrap();
    for workers in 1..4 {
        let walk = support::walk(dir.path())
            .follow(Follow::Always)
            .workers(std::num::NonZeroUsize::new(workers));
        let (all, _) = collect(walk);
        let mut loops: Vec<_> = all
            .errors
            .iter()
            .map(|e| (e.operation(), e.errno()))
            .collect();
        loops.dedup();
        assert_eq!(loops, [(Operation::Loop, Errno::LOOP)]);
        let mut above: Vec<_> = all.errors.iter().map(|e| e.loops_with()).collect();
        above.sort();
        let lead_to = [Some(dir.path()); 2];
        assert_eq!(above, lead_to);
        assert_eq!(all.errors.len(), 2);
        assert_eq!(all.seen.len(), 11);
    }
}

#[test]
fn a_loop_through_a_link_to_above_the_root_ends_at_the_root() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("root");
    fs::create_dir_all(root.join("sub")).unwrap();
    fs::write(root.join("sub/file"), "").unwrap();
    symlink("..", root.join("up")).unwrap();
    let (all, summary) = collect(support::walk(root.as_path()).follow(Follow::Always));
    let loops: Vec<_> = all.errors.iter().map(ringwalk::Error::path).collect();
    assert_eq!(loops, [root.join("up/root")]);
    // The root, `sub`, the file, `up`, and the root as an entry of `up`.
    assert_eq!((all.seen.len(), summary.entries), (5, 5));
}

#[test]
fn roots_that_are_no_directories_are_entries() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("file");
    fs::write(&file, "12345").unwrap();
    let (all, summary) = collect(support::walk(file.as_path()));
    assert_eq!((all.seen.len(), all.seen[0].1), (1, 5));
    assert!(summary.is_complete());
    let roots = [dir.path().join("missing"), file, "nul\0byte".into()];
    let (all, summary) = collect(support::walks(roots));
    assert_eq!(summary.errors, 2);
    assert!(
        all.errors
            .iter()
            .all(|e| e.errno() == Errno::NOENT && !e.is_vanished())
    );
    assert_eq!(all.errors[0].path(), dir.path().join("missing"));
}

#[test]
fn metadata_can_be_asked_for_on_demand() {
    struct OnDemand;
    impl Visitor for OnDemand {
        type State = ();
        fn batch(&mut self, batch: &Batch<'_, ()>) -> Flow {
            for entry in batch
                .entries()
                .filter(|e| e.file_type() == FileType::Regular)
            {
                let metadata = entry.stat(Fields::SIZE).unwrap();
                assert_eq!(metadata.size(), Some(1));
            }
            Flow::Continue
        }
    }
    let dir = tempfile::tempdir().unwrap();
    ladder(dir.path());
    support::walk(dir.path()).run(|_| OnDemand);
}

#[test]
fn another_device_is_not_entered() {
    // Where /proc is mounted, its device differs from the device of /.
    let walk = |stay| {
        let walk = support::walk("/").max_depth(2).stay(stay);
        names(
            walk.filter(|c| c.depth() == 0 || c.name() == b"proc"),
            Path::new("/"),
        )
    };
    let below = |names: &[String]| names.iter().filter(|n| n.starts_with("proc/")).count();
    if !Path::new("/proc/self").exists() {
        eprintln!("skipped: no /proc here");
        return;
    }
    assert!(below(&walk(Stay::Anywhere)) > 0);
    for stay in [Stay::Device, Stay::Mount] {
        let names = walk(stay);
        assert_eq!(below(&names), 0);
        assert!(names.iter().any(|n| n == "proc"));
    }
}

#[test]
#[should_panic(expected = "the visitor's own")]
fn a_panic_of_a_visitor_ends_the_walk() {
    struct Panics;
    impl Visitor for Panics {
        type State = ();
        fn batch(&mut self, batch: &Batch<'_, ()>) -> Flow {
            assert!(batch.depth() < 2, "the visitor's own");
            Flow::Continue
        }
    }
    let dir = tempfile::tempdir().unwrap();
    ladder(dir.path());
    // The first worker's panic is passed on unchanged.
    support::walk(dir.path())
        .workers(std::num::NonZeroUsize::new(1))
        .run(|_| Panics);
}

/// Collects names in the order of visits.
struct Names(Vec<Vec<u8>>);

impl Visitor for Names {
    type State = ();

    fn batch(&mut self, batch: &ringwalk::Batch<'_, ()>) -> Flow {
        self.0.extend(batch.entries().map(|entry| entry.path()));
        Flow::Continue
    }
}

fn recursive(dir: &std::path::Path, names: &mut Vec<Vec<u8>>) {
    use std::os::unix::ffi::OsStrExt as _;
    names.push(dir.as_os_str().as_bytes().to_vec());
    if dir.symlink_metadata().unwrap().is_dir() {
        // The walk has the same order: the order of the directory.
        for entry in std::fs::read_dir(dir).unwrap() {
            recursive(&entry.unwrap().path(), names);
        }
    }
}

#[test]
fn in_preorder_a_directory_comes_before_the_entries_behind_it() {
    let dir = tempfile::tempdir().unwrap();
    support::grow(dir.path(), &mut support::Random::new(3), 2000);
    let mut expected = Vec::new();
    recursive(dir.path(), &mut expected);
    for buffer in [1024, 32 * 1024] {
        let walk = support::walk(dir.path())
            .preorder(true)
            .buffer_size(Some(buffer))
            .workers(std::num::NonZeroUsize::new(1));
        let outcome = walk.run(|_| Names(Vec::new()));
        assert_eq!(outcome.summary.errors, 0);
        assert!(outcome.visitors[0].0 == expected, "buffer of {buffer}");
    }
    // With more workers all entries come, too.
    let walk = support::walk(dir.path())
        .preorder(true)
        .order(ringwalk::Order::Name)
        .workers(std::num::NonZeroUsize::new(4));
    let outcome = walk.run(|_| Names(Vec::new()));
    let mut all: Vec<_> = outcome.visitors.into_iter().flat_map(|v| v.0).collect();
    all.sort();
    expected.sort();
    assert!(all == expected);
}
