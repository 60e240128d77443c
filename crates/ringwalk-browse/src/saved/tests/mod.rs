//! Views of synthetic snapshots.

mod brute;
pub(crate) mod made;

use super::*;
use crate::tree::{Direction, GroupKey, Order, ReadState, SortKey, Tree, Weight};
use made::{File, Made, snapshot};
use std::path::Path;

fn view(made: &Made) -> SnapshotView {
    SnapshotView::new(snapshot(&[("/top", made)])).unwrap()
}

/// Returns the entry at a path relative to the top.
fn at(view: &SnapshotView, path: &str) -> Id {
    let mut at = view.top();
    for name in path.split('/').filter(|name| !name.is_empty()) {
        let listing = view.listing(at, Order::default()).unwrap();
        let items = view.items(&listing).unwrap();
        at = items
            .iter()
            .find(|item| item.name == name.as_bytes())
            .unwrap()
            .id;
    }
    at
}

fn item(view: &SnapshotView, path: &str) -> Item {
    view.items(&[at(view, path)]).unwrap().remove(0)
}

#[test]
fn entries_and_their_totals() {
    let mut made = Made::new();
    made.directory("d");
    made.directory("empty");
    made.file("d/x.txt", 10, 3);
    made.file("d/link", 11, 4);
    made.file("link", 11, 4);
    let view = view(&made);
    let top = view.items(&[view.top()]).unwrap().remove(0);
    assert_eq!(
        (top.name.as_slice(), top.entries, top.alloc),
        (&b"/top"[..], 6, 17 * 512)
    );
    assert_eq!(view.path_of_top(), b"/top");
    let d = item(&view, "d");
    assert_eq!((d.alloc, d.freeable), (8 * 512, Some(4 * 512)));
    assert!(d.is_directory() && d.charged && d.links == 1 && d.state == ReadState::Done);
    assert_eq!(item(&view, "empty").entries, 1);
    let link = item(&view, "link");
    assert!(!link.charged && link.links == 2 && link.freeable == Some(0));
    assert!(
        view.listing(at(&view, "empty"), Order::default())
            .unwrap()
            .is_empty()
    );
    assert!(
        view.listing(at(&view, "link"), Order::default())
            .unwrap()
            .is_empty()
    );
    let both = [at(&view, "d"), at(&view, "link"), at(&view, "d/link")];
    assert_eq!(view.freeable(&both).unwrap(), Some(8 * 512));
    let progress = view.progress();
    assert!(progress.finished && progress.entries == 6 && progress.errors == 0);
    assert!(view.is_complete());
}

#[test]
fn what_is_gone_is_left_out() {
    let view = view(&Made::new());
    let gone = Id(77);
    assert!(view.items(&[gone]).unwrap().is_empty());
    assert_eq!(view.parent(gone).unwrap(), None);
    assert!(view.listing(gone, Order::default()).unwrap().is_empty());
    assert!(
        view.largest_files(gone, Weight::Alloc, 5)
            .unwrap()
            .is_empty()
    );
    assert!(view.groups(gone, GroupKey::Age).unwrap().is_empty());
    assert_eq!(view.freeable(&[gone]).unwrap(), Some(0));
    assert!(view.path(gone).is_err());
}

#[test]
fn several_roots_are_the_entries_of_the_top() {
    let (mut a, mut b) = (Made::new(), Made::new());
    a.directory("d");
    let link = File {
        ino: 50,
        blocks: 2,
        elsewhere: 1,
        ..File::default()
    };
    a.add(b"d/x.o", link.clone());
    b.add(b"y.o", link);
    b.file("z", 51, 1);
    let view = SnapshotView::new(snapshot(&[("/a/home", &a), ("/srv", &b)])).unwrap();
    let top = view.items(&[view.top()]).unwrap().remove(0);
    // The inode of both roots is the same directory here, and each counts.
    assert_eq!((top.entries, top.alloc), (6, (8 + 1 + 2 + 8 + 1) * 512));
    assert_eq!(top.freeable, None);
    let order = Order {
        key: SortKey::Name,
        ..Order::default()
    };
    let roots = view.listing(view.top(), order).unwrap();
    let items = view.items(&roots).unwrap();
    assert_eq!(
        [&items[0].name[..], &items[1].name],
        [&b"/a/home"[..], &b"/srv"[..]]
    );
    let x = view.largest_files(view.top(), Weight::Size, 1).unwrap()[0];
    assert_eq!(view.path(x).unwrap(), b"/a/home/d/x.o");
    let d = view.parent(x).unwrap().unwrap();
    assert_eq!(view.path(d).unwrap(), b"/a/home/d");
    assert_eq!(view.parent(d).unwrap(), Some(roots[0]));
    assert_eq!(view.parent(roots[0]).unwrap(), Some(view.top()));
    assert_eq!(view.parent(view.top()).unwrap(), None);
    assert_eq!(view.freeable(&[view.top()]).unwrap(), Some(top.alloc));
    let groups = view.groups(view.top(), GroupKey::Extension).unwrap();
    assert_eq!(
        groups.iter().map(|group| group.alloc).sum::<u64>(),
        top.alloc
    );
    let groups = view.groups(roots[1], GroupKey::Extension).unwrap();
    assert_eq!(
        groups.iter().map(|group| group.alloc).sum::<u64>(),
        (8 + 2 + 1) * 512
    );
}

#[test]
fn errors_and_what_was_left_out_are_shown() {
    let mut made = Made::new();
    made.add(
        b"closed",
        File {
            is_directory: true,
            ino: 5,
            blocks: 1,
            failed: true,
            ..File::default()
        },
    );
    made.add(
        b"mounted",
        File {
            is_directory: true,
            ino: 6,
            blocks: 1,
            skipped: true,
            ..File::default()
        },
    );
    let view = view(&made);
    assert_eq!(item(&view, "closed").state, ReadState::Failed);
    assert_eq!(item(&view, "closed").errors, 1);
    let mounted = item(&view, "mounted");
    assert_eq!(
        (mounted.state, mounted.charged),
        (ReadState::OtherFileSystem, false)
    );
    assert_eq!(view.items(&[view.top()]).unwrap()[0].errors, 1);
    assert_eq!(view.progress().errors, 1);
    assert!(!view.is_complete());
    let unreadable = view.unreadable();
    assert_eq!(unreadable.len(), 1);
    assert_eq!(unreadable[0].path, b"/top/closed");
    assert_eq!(unreadable[0].reason, "Permission denied");
}

#[test]
fn a_directory_of_many_entries() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("many");
    let mut tree = ringwalk_snapshot::TreeBuilder::new(ringwalk_snapshot::WriteOptions::default());
    let directory = |name| ringwalk_snapshot::Entry::new(name, ringwalk::FileType::Directory);
    tree.begin_root(b"/top", &directory(b"")).unwrap();
    tree.begin_directory(&directory(b"many")).unwrap();
    for number in 0..100_000_u64 {
        let name = format!("f{number:06}");
        let mut entry = ringwalk_snapshot::Entry::new(name.as_bytes(), ringwalk::FileType::Regular);
        entry.attributes.alloc = Some(number.wrapping_mul(0x9e37_79b9) % 100_000 * 512);
        entry.attributes.nlink = Some(1);
        tree.file(&entry).unwrap();
    }
    tree.end_directory().unwrap();
    tree.end_directory().unwrap();
    tree.finish(ringwalk_snapshot::Info::default(), &path)
        .unwrap();
    let view = SnapshotView::open(&path).unwrap();
    let many = at(&view, "many");
    let listing = view.listing(many, Order::default()).unwrap();
    assert_eq!(listing.len(), 100_000);
    let reversed = Order {
        direction: Direction::Reversed,
        ..Order::default()
    };
    let other = view.listing(many, reversed).unwrap();
    assert_ne!(listing, other);
    let items = view.items(&listing).unwrap();
    assert!(items.is_sorted_by(|a, b| Order::default().compare(a, b).is_le()));
    assert!(ringwalk::sync::lock(&view.kept).len() <= 2 * 4096);
    assert_eq!(view.items(&listing[..50]).unwrap(), items[..50]);
    assert_eq!(view.parent(listing[7]).unwrap(), Some(many));
    let largest = view.largest_files(view.top(), Weight::Alloc, 10).unwrap();
    assert_eq!(largest, listing[..10]);
}

#[test]
fn files_of_ncdu_are_opened() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("export");
    made::ncdu(&path);
    let view = SnapshotView::open(&path).unwrap();
    assert_eq!(view.path_of_top(), b"/top");
    assert_eq!(item(&view, "a").alloc, 512);
    std::fs::write(&path, "[1,2,{},[{}").unwrap();
    let error = SnapshotView::open(&path).unwrap_err();
    assert!(error.to_string().contains("export': line 1"), "{error}");
}

#[test]
fn files_that_cannot_be_opened_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    let error = |path: &Path| SnapshotView::open(path).unwrap_err().to_string();
    assert!(
        error(&path).contains("file': No such file"),
        "{}",
        error(&path)
    );
    assert!(error(folder.path()).contains("no regular file"));
    std::fs::write(&path, "text").unwrap();
    assert!(
        error(&path).contains("file': this is no snapshot"),
        "{}",
        error(&path)
    );
}

/// Asks everything. Returns the answers as text, or the first error.
fn everything(path: &Path) -> io::Result<String> {
    let view = SnapshotView::open(path)?;
    let mut answers = Vec::new();
    let mut at = vec![view.top()];
    while let Some(directory) = at.pop() {
        let listing = view.listing(directory, Order::default())?;
        answers.push(format!("{:?}", view.items(&listing)?));
        answers.push(format!("{:?}", view.freeable(&listing)?));
        for id in &listing {
            answers.push(format!("{:?} {:?}", view.path(*id)?, view.parent(*id)?));
        }
        at.extend(listing);
    }
    answers.push(format!(
        "{:?}",
        view.largest_files(view.top(), Weight::Alloc, 9)?
    ));
    answers.push(format!("{:?}", view.groups(view.top(), GroupKey::Owner)?));
    answers.push(format!("{:?} {:?}", view.progress(), view.unreadable()));
    Ok(answers.join("\n"))
}

#[test]
fn damage_is_an_error_and_no_panic() {
    let mut made = Made::new();
    made.directory("d");
    for number in 0..40 {
        made.file(&format!("d/file-{number}"), 50 + number / 3, number / 3);
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    made::write(&path, &[("/top", &made)]);
    let expected = everything(&path).unwrap();
    let whole = std::fs::read(&path).unwrap();
    let mut refused = 0;
    for at in (0..whole.len()).step_by(11) {
        let mut data = whole.clone();
        data[at] ^= 0x24;
        std::fs::write(&path, &data).unwrap();
        match everything(&path) {
            Ok(answers) => assert_eq!(answers, expected, "byte {at}"),
            Err(error) => {
                assert!(error.to_string().contains("file'"), "{error}");
                refused += 1;
            }
        }
    }
    assert!(refused > 0);
}
