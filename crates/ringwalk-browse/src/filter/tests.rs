//! Filters on synthetic snapshots, and on a live tree.

use super::from::saved_search;
use super::*;
use crate::saved::join;
use crate::saved::tests::made::{File, Made, made, snapshot};
use proptest::prelude::*;
use ringwalk::sync::lock;
use ringwalk::{Monitor, Summary, Walk};
use ringwalk_find::parse::{Context, parse_in};
use ringwalk_find::{Host, search};
use ringwalk_snapshot::SnapshotTree;
use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

fn live(path: &Path) -> Searched {
    Searched::Live {
        path: path.into(),
        set_up: Arc::new(|walk| walk),
    }
}

fn wait(run: &FilterRun) {
    while !run.finished() {
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn run(expression: &str, searched: &Searched) -> FilterRun {
    let run = FilterRun::start(expression, searched).unwrap();
    wait(&run);
    run
}

/// The host of a search that runs alone.
#[derive(Default)]
struct Alone(Mutex<Vec<u8>>);

impl Host for Alone {
    fn report(&self, message: &str) {
        panic!("{message}");
    }

    fn write(&self, bytes: &[u8]) -> io::Result<()> {
        lock(&self.0).extend_from_slice(bytes);
        Ok(())
    }

    fn is_terminal(&self) -> bool {
        false
    }

    fn set_up(&self, walk: Walk) -> Option<Walk> {
        Some(walk)
    }

    fn watch(&self, _: Arc<Monitor>, run: &mut dyn FnMut() -> Option<Summary>) {
        run();
    }

    fn explains(&self) -> bool {
        false
    }
}

/// A line of find: type, inode, links, size, blocks and path.
struct Found {
    ino: u64,
    size: u64,
    alloc: u64,
    path: Vec<u8>,
}

/// Returns what find prints for an expression on a snapshot.
fn alone(expression: &str, tree: &Arc<SnapshotTree>) -> Vec<Found> {
    let mut words = vec![OsString::from("(")];
    words.extend(split(expression).unwrap());
    let rest = [")", "-printf", "%i %s %b %P\\0"];
    words.extend(rest.map(OsString::from));
    let context = Context::from_environment().search_saved(Arc::new(saved_search(tree)));
    let host = Alone::default();
    assert!(search(&parse_in(&context, words).unwrap(), &host));
    let text = lock(&host.0).clone();
    let lines = text
        .split(|byte| *byte == 0)
        .filter(|line| !line.is_empty());
    let parsed = lines.map(|line| {
        let mut parts = line.splitn(4, |byte| *byte == b' ');
        let mut number = || {
            let text = std::str::from_utf8(parts.next().unwrap()).unwrap();
            text.parse::<u64>().unwrap()
        };
        Found {
            ino: number(),
            size: number(),
            alloc: number() * 512,
            path: parts.next().unwrap().to_vec(),
        }
    });
    parsed.collect()
}

const EXPRESSIONS: [&str; 6] = [
    "-name '*'",
    "-type f -size +1",
    "-name a -o -links +1",
    "-type d ! -empty",
    "-name b -prune -o -name '*.*'",
    "-uid 1 -o -uid 7",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn totals_are_those_of_find(made in made(), expression in 0..EXPRESSIONS.len()) {
        let tree = snapshot(&[("/top", &made)]);
        let expression = EXPRESSIONS[expression];
        let run = run(expression, &Searched::Snapshot(Arc::clone(&tree)));
        prop_assert_eq!(run.error(), None);
        let mut found = alone(expression, &tree);
        found.sort_by(|a, b| ringwalk_snapshot::order::compare(&a.path, &b.path));
        // Each inode counts for the first of its names.
        let mut seen = HashSet::new();
        let mut expected: HashMap<&[u8], Totals> = HashMap::new();
        let matching: HashSet<&[u8]> = found.iter().map(|each| &each.path[..]).collect();
        for each in &found {
            let counts = seen.insert(each.ino);
            for (path, file) in &made.files {
                let is_below = path.is_empty()
                    || each.path == *path
                    || each.path.starts_with(&join(path, b"x")[..=path.len()]);
                if file.is_directory && is_below {
                    let totals = expected.entry(path).or_default();
                    totals.entries += 1;
                    totals.size += if counts { each.size } else { 0 };
                    totals.alloc += if counts { each.alloc } else { 0 };
                }
            }
        }
        for (path, file) in &made.files {
            if file.is_directory {
                let expected = expected.get(&path[..]).copied().unwrap_or_default();
                prop_assert_eq!(run.totals(path), expected, "{:?}", path);
            }
            let slash = path.iter().rposition(|byte| *byte == b'/');
            let name = &path[slash.map_or(0, |slash| slash + 1)..];
            let matched = run.matched(&path[..slash.unwrap_or(0)], name);
            prop_assert_eq!(matched, matching.contains(&path[..]), "{:?}", path);
        }
    }
}

#[test]
fn several_roots() {
    let (mut a, mut b) = (Made::new(), Made::new());
    a.file("x.o", 50, 2);
    b.file("y.o", 51, 3);
    b.file("y.c", 52, 4);
    let tree = snapshot(&[("/a/home", &a), ("/srv", &b)]);
    let run = run("-name '*.o'", &Searched::Snapshot(tree));
    assert_eq!(run.totals(b"").alloc, 5 * 512);
    assert_eq!(run.totals(b"/a/home").alloc, 2 * 512);
    assert!(run.matched(b"/srv", b"y.o") && !run.matched(b"/srv", b"y.c"));
    assert_eq!(run.generation(), 2);
}

#[test]
fn what_could_not_be_read_is_reported() {
    let mut made = Made::new();
    let closed = File {
        is_directory: true,
        ino: 5,
        blocks: 1,
        failed: true,
        ..File::default()
    };
    made.add(b"closed", closed);
    made.file("x", 6, 1);
    let tree = snapshot(&[("/top", &made)]);
    let run = run("-name x", &Searched::Snapshot(tree));
    assert_eq!(run.errors(), 1);
    let error = run.error().unwrap();
    assert!(
        error.contains("/top/closed") && error.contains("Permission denied"),
        "{error}"
    );
    assert_eq!(run.messages(), [error]);
    assert_eq!(run.totals(b"").entries, 1);
}

#[test]
fn a_live_tree() {
    let folder = tempfile::tempdir().unwrap();
    let top = folder.path().join("top");
    std::fs::create_dir_all(top.join("d/e")).unwrap();
    std::fs::write(top.join("d/e/big.o"), vec![1; 10_000]).unwrap();
    std::fs::hard_link(top.join("d/e/big.o"), top.join("again.o")).unwrap();
    std::fs::write(top.join("d/small.c"), "text").unwrap();
    let link = folder.path().join("link");
    std::os::unix::fs::symlink(&top, &link).unwrap();
    for path in [&top, &link] {
        let run = run("-name '*.o' -size +5k", &live(path));
        assert_eq!(run.error(), None);
        assert_eq!((run.totals(b"").entries, run.totals(b"").size), (2, 10_000));
        assert_eq!(
            run.totals(b"d/e"),
            Totals {
                entries: 1,
                ..run.totals(b"")
            }
        );
        assert!(run.matched(b"d/e", b"big.o") && run.matched(b"", b"again.o"));
        assert!(!run.matched(b"d", b"small.c") && !run.matched(b"d", b"e"));
        assert!(run.totals(b"").alloc >= 10_000);
    }
    let run = run("-name x", &live(&folder.path().join("missing")));
    assert!(
        run.error().unwrap().contains("No such file"),
        "{:?}",
        run.error()
    );
}

#[test]
fn expressions_are_refused_before_anything_is_searched() {
    let tree = snapshot(&[("/top", &Made::new())]);
    let saved = Searched::Snapshot(tree);
    let folder = tempfile::tempdir().unwrap();
    let live = live(folder.path());
    for (expression, searched, message) in [
        (
            "-delete",
            &live,
            "`-delete' cannot be used in a filter: a filter deletes nothing",
        ),
        (
            "-exec rm {} \\;",
            &live,
            "`-exec' cannot be used in a filter: a filter runs no commands",
        ),
        (
            "-nam x",
            &live,
            "unknown predicate `-nam'\ndid you mean `-name'?",
        ),
        ("-name 'x", &live, "a quote is not closed: expected '"),
        (
            "-help",
            &live,
            "-help and -version cannot be used in a filter: it prints nothing",
        ),
        (
            "-readable",
            &saved,
            "`-readable' cannot be used with --from: a snapshot describes files, \
            it does not hold them",
        ),
    ] {
        assert_eq!(FilterRun::start(expression, searched).unwrap_err(), message);
    }
}

/// The directory of a device that never answers would keep a thread, but the filter must go.
#[test]
fn a_filter_that_is_dropped_ends_its_search() {
    let mut made = Made::new();
    for number in 0..2000 {
        made.directory(&format!("d{number}"));
    }
    let tree = snapshot(&[("/top", &made)]);
    for _ in 0..20 {
        drop(FilterRun::start("-name x", &Searched::Snapshot(Arc::clone(&tree))).unwrap());
    }
    while Arc::strong_count(&tree) > 1 {
        std::thread::sleep(Duration::from_millis(1));
    }
}
