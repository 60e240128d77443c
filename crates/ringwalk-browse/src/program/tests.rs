//! The services on real trees.

use super::*;
use crate::service::{Actions as _, Deleter as _, Deletion, Export, Filter as _, Format};
use crate::tree::{Id, Item, Order};
use jiff::tz::TimeZone;
use ringwalk_delete::Log;
use ringwalk_snapshot::{Capture, Snapshot};
use std::fs;
use std::time::{Duration, Instant};
use tempfile::TempDir;

fn request(input: &Path) -> Request {
    Request {
        input: input.to_owned(),
        compare: None,
        read_only: false,
        trash: false,
        one_file_system: false,
        set_up: Arc::new(|walk| walk),
    }
}

fn live(path: &Path) -> Arc<LiveTree> {
    let (tree, reading) = LiveTree::start(path, false, Box::new(|walk| walk)).unwrap();
    reading.wait();
    tree
}

fn find(tree: &dyn Tree, directory: Id, name: &str) -> Item {
    let ids = tree.listing(directory, Order::default()).unwrap();
    let mut items = tree.items(&ids).unwrap().into_iter();
    items.find(|item| item.name == name.as_bytes()).expect(name)
}

fn wait_until(mut is_over: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !is_over() {
        assert!(
            begin.elapsed() < Duration::from_secs(120),
            "it does not end"
        );
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Returns a deleter whose log is in a folder of the test.
fn deleter(tree: &Arc<LiveTree>, logs: &TempDir) -> LiveDeleter {
    let log = logs.path().join("deletions.jsonl");
    let places = Places {
        log: Box::new(move || Log::open(&log)),
        trash: None,
    };
    LiveDeleter::new(Arc::clone(tree), places)
}

/// Returns an export of everything.
fn to(format: Format, file: &Path) -> Export<'_> {
    Export {
        format,
        file,
        matches: None,
    }
}

fn ended(deletion: &dyn Deletion) -> crate::service::Results {
    wait_until(|| deletion.progress().finished);
    deletion.results()
}

#[test]
fn what_is_deleted_is_gone_from_disk_and_tree() {
    let (folder, logs) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    fs::create_dir_all(folder.path().join("old/sub")).unwrap();
    fs::write(folder.path().join("old/sub/file"), vec![1; 8192]).unwrap();
    fs::write(folder.path().join("keep"), "x").unwrap();
    let tree = live(folder.path());
    let old = find(&*tree, tree.top(), "old");
    let deleter = deleter(&tree, &logs);
    // An entry below another one counts once.
    let sub = find(&*tree, old.id, "sub");
    let described = deleter.describe(&[old.id, sub.id], &|| true).unwrap();
    assert_eq!(described.entries, 3);
    assert_eq!(described.freed, old.freeable);
    assert!(described.oldest.is_some() && described.newest >= described.oldest);
    let deletion = deleter.start(&[old.id, sub.id]).unwrap();
    let results = ended(&*deletion);
    assert_eq!(results.deleted, [old.id]);
    assert_eq!(results.kept, []);
    assert_eq!(deletion.progress().deleted, 3);
    assert!(!folder.path().join("old").exists());
    assert_eq!(tree.items(&[old.id, sub.id]).unwrap(), []);
    assert_eq!(tree.progress().entries, 2);
}

#[test]
fn what_has_changed_meanwhile_is_kept_with_its_reason() {
    let (folder, logs) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let file = folder.path().join("dir/file");
    fs::create_dir(folder.path().join("dir")).unwrap();
    fs::write(&file, "old").unwrap();
    let tree = live(folder.path());
    fs::write(folder.path().join("dir/new"), "new").unwrap();
    let directory = find(&*tree, tree.top(), "dir");
    let deletion = deleter(&tree, &logs).start(&[directory.id]).unwrap();
    let results = ended(&*deletion);
    assert_eq!(results.deleted, []);
    assert_eq!(results.kept.len(), 1);
    assert_eq!(results.kept[0].0, directory.id);
    assert!(!file.exists());
    assert!(folder.path().join("dir/new").exists());
    // The tree has the directory, and no longer the file.
    assert_eq!(find(&*tree, tree.top(), "dir").entries, 1);
}

#[test]
fn the_top_is_refused() {
    let (folder, logs) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let tree = live(folder.path());
    let described = deleter(&tree, &logs)
        .describe(&[tree.top()], &|| true)
        .unwrap();
    assert_eq!(described.entries, 0);
    assert_eq!(described.refusals.len(), 1);
    let deletion = deleter(&tree, &logs).start(&[tree.top()]).unwrap();
    assert_eq!(ended(&*deletion).kept.len(), 1);
    assert!(folder.path().exists());
}

#[test]
fn a_filter_counts_what_matches() {
    let folder = TempDir::new().unwrap();
    fs::create_dir(folder.path().join("d")).unwrap();
    for name in ["a.o", "d/b.o", "d/c.txt"] {
        fs::write(folder.path().join(name), vec![1; 4096]).unwrap();
    }
    let searched = Searched::Live {
        path: folder.path().as_os_str().to_owned(),
        set_up: Arc::new(|walk| walk),
    };
    let filter = Expressions(searched);
    let matches = filter.start(&["-name".into(), "*.o".into()]).unwrap();
    wait_until(|| matches.progress().finished);
    assert_eq!(matches.error(), None);
    assert!(matches.matched(b"", b"a.o") && !matches.matched(b"d", b"c.txt"));
    assert_eq!(matches.totals(b"").entries, 2);
    assert_eq!(matches.totals(b"d").alloc, 4096);
    assert!(filter.start(&["-delete".into()]).is_err());
}

#[test]
fn growth_is_that_since_the_older_snapshot() {
    let folder = TempDir::new().unwrap();
    let (top, older) = (folder.path().join("top"), folder.path().join("old.parquet"));
    fs::create_dir_all(top.join("sub")).unwrap();
    fs::write(top.join("gone"), vec![1; 8192]).unwrap();
    fs::write(top.join("sub/file"), vec![1; 4096]).unwrap();
    let capture = Capture::new([&top]).unwrap();
    capture.run(capture.walk(), &older).unwrap();
    fs::remove_file(top.join("gone")).unwrap();
    fs::write(top.join("sub/file"), vec![1; 3 * 4096]).unwrap();
    let tree: Arc<dyn Tree> = live(&top);
    let comparison = compare::Comparison::open(&older, &tree.path_of_top()).unwrap();
    let growth = Growth::new(comparison, Arc::clone(&tree));
    let file = find(&*tree, find(&*tree, tree.top(), "sub").id, "file");
    assert_eq!(growth.growth(b"sub", b"file", file.alloc), Some(8192));
    assert_eq!(growth.departed(b""), [(b"gone".to_vec(), 8192)]);
    assert_eq!(growth.departed(b"sub"), []);
    assert_eq!(growth.error(), None);
}

#[test]
fn an_export_is_a_snapshot_of_what_is_there() {
    let folder = TempDir::new().unwrap();
    let top = folder.path().join("top");
    fs::create_dir_all(top.join("sub")).unwrap();
    fs::write(top.join("sub/file"), "x").unwrap();
    let tree = live(&top);
    let actions = LiveActions::new(Arc::clone(&tree), request(&top));
    let sub = find(&*tree, tree.top(), "sub").id;
    let file = folder.path().join("out.parquet");
    actions.export(sub, &to(Format::Snapshot, &file)).unwrap();
    assert_eq!(Snapshot::open(&file).unwrap().rows(), 2);
    assert_eq!(
        actions
            .export(sub, &to(Format::Snapshot, &file))
            .unwrap_err(),
        "the file exists"
    );
    for (format, name) in [(Format::Ndjson, "out.ndjson"), (Format::Ncdu, "out.json")] {
        let file = folder.path().join(name);
        actions.export(sub, &to(format, &file)).unwrap();
        assert!(fs::read_to_string(&file).unwrap().contains("file"));
    }
    // The exported file can be browsed and exported again.
    let view = SnapshotView::open(&file).unwrap();
    let saved = Arc::clone(view.tree());
    let view: Arc<dyn Tree> = Arc::new(view);
    let actions = SavedActions::new(Arc::clone(&view), saved);
    let again = folder.path().join("again.parquet");
    actions
        .export(view.top(), &to(Format::Snapshot, &again))
        .unwrap();
    assert_eq!(fs::read(&file).unwrap(), fs::read(&again).unwrap());
    // So can a part of it.
    let part = folder.path().join("part.parquet");
    let name = find(&*view, view.top(), "file").id;
    actions.export(name, &to(Format::Snapshot, &part)).unwrap();
    let part = Snapshot::open(&part).unwrap();
    assert_eq!(part.rows(), 1);
    assert!(part.info().roots[0].path.0.ends_with(b"/top/sub/file"));
}

#[test]
fn an_export_holds_what_matches() {
    let folder = TempDir::new().unwrap();
    let top = folder.path().join("top");
    fs::create_dir_all(top.join("sub/empty")).unwrap();
    for name in ["a.o", "sub/b.o", "sub/c.txt"] {
        fs::write(top.join(name), "x").unwrap();
    }
    let tree = live(&top);
    let actions = LiveActions::new(Arc::clone(&tree), request(&top));
    let filter = Expressions(Searched::Live {
        path: top.as_os_str().to_owned(),
        set_up: Arc::new(|walk| walk),
    });
    let matches = filter.start(&["-name".into(), "*.o".into()]).unwrap();
    wait_until(|| matches.progress().finished);
    let whole = folder.path().join("whole.parquet");
    let capture = Capture::new([&top]).unwrap();
    capture.run(capture.walk(), &whole).unwrap();
    let view = Arc::new(SnapshotView::open(&whole).unwrap());
    let saved = SavedActions::new(Arc::clone(&view) as _, Arc::clone(view.tree()));
    let sub = find(&*tree, tree.top(), "sub").id;
    let saved_sub = find(&*view, view.top(), "sub").id;
    let sources: [(&dyn crate::service::Actions, Id, Id); 2] =
        [(&actions, tree.top(), sub), (&saved, view.top(), saved_sub)];
    for (number, (actions, top, sub)) in sources.into_iter().enumerate() {
        for (id, wanted) in [(top, &["a.o", "b.o", "sub"][..]), (sub, &["b.o"])] {
            let file = folder
                .path()
                .join(format!("{number}-{}.ndjson", wanted.len()));
            let export = Export {
                matches: Some(&*matches),
                ..to(Format::Ndjson, &file)
            };
            actions.export(id, &export).unwrap();
            let text = fs::read_to_string(&file).unwrap();
            assert_eq!(text.lines().count(), wanted.len() + 1, "{text}");
            for name in wanted {
                assert!(text.contains(&format!("{name}\"")), "{name}: {text}");
            }
        }
    }
}

#[test]
fn the_screen_shows_the_tree() {
    let folder = TempDir::new().unwrap();
    fs::create_dir(folder.path().join("directory")).unwrap();
    fs::write(folder.path().join("directory/inside"), vec![1; 50_000]).unwrap();
    let options = Options {
        colour: false,
        zone: TimeZone::UTC,
    };
    let shown = |request: &Request, keys: &str| {
        let browser = open(request, options.clone()).unwrap();
        browser.app.once(keys, 80, 10).unwrap()
    };
    let request = request(folder.path());
    assert!(shown(&request, "").contains("/directory"));
    assert!(shown(&request, "<enter>").contains("inside"));
    let saved = folder.path().join("saved.parquet");
    let capture = Capture::new([folder.path()]).unwrap();
    capture.run(capture.walk(), &saved).unwrap();
    let request = Request {
        input: saved.clone(),
        compare: Some(saved),
        ..request
    };
    assert!(shown(&request, "<enter>").contains("inside"));
}

#[test]
fn what_cannot_be_read_is_named() {
    let folder = TempDir::new().unwrap();
    let missing = folder.path().join("missing");
    let options = Options {
        colour: false,
        zone: TimeZone::UTC,
    };
    let error = open(&request(&missing), options.clone())
        .err()
        .unwrap()
        .to_string();
    assert!(
        error.contains("missing") && error.contains("No such file"),
        "{error}"
    );
    let file = folder.path().join("text");
    fs::write(&file, "no snapshot").unwrap();
    let error = open(&request(&file), options).err().unwrap().to_string();
    assert!(error.contains("text"), "{error}");
}
