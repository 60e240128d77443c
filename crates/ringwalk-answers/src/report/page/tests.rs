//! Unit tests of pages of small snapshots.

use super::*;
use crate::report::Sums;
use proptest::prelude::*;
use ringwalk::{Errno, FileType};
use ringwalk_snapshot::{Attributes, Entry, FailedOperation, Failure, TreeBuilder, WriteOptions};
use std::collections::HashMap;
use std::path::Path;

/// A directory or a file of a synthetic tree.
#[derive(Clone, Debug)]
enum Item {
    File { blocks: u64, link: Option<u64> },
    Directory(Vec<Item>),
}

fn attributes(blocks: u64, link: Option<u64>) -> Attributes {
    Attributes {
        // A hard link has the size of its inode.
        size: Some(link.map_or(blocks * 4000, |ino| ino * 4000)),
        alloc: Some(link.map_or(blocks * 4096, |ino| ino * 4096)),
        ino: link,
        nlink: link.map(|_| 2),
        charged_once: link.is_some(),
        uid: Some(1000),
        ..Attributes::default()
    }
}

fn entry(name: &str, file_type: FileType, attributes: Attributes) -> Entry<'_> {
    Entry {
        attributes,
        ..Entry::new(name.as_bytes(), file_type)
    }
}

fn add(tree: &mut TreeBuilder, items: &[Item]) {
    for (at, item) in items.iter().enumerate() {
        match item {
            Item::File { blocks, link } => {
                let name = format!("f{at}");
                let file = entry(&name, FileType::Regular, attributes(*blocks, *link));
                tree.file(&file).unwrap();
            }
            Item::Directory(items) => {
                let name = format!("d{at}");
                let own = entry(&name, FileType::Directory, attributes(1, None));
                tree.begin_directory(&own).unwrap();
                add(tree, items);
                tree.end_directory().unwrap();
            }
        }
    }
}

/// Writes a snapshot whose roots `/r0`, `/r1`, ... hold these items, and opens it.
fn snapshot(folder: &Path, roots: &[Vec<Item>]) -> Snapshot {
    let path = folder.join("s");
    let mut tree = TreeBuilder::new(WriteOptions::default());
    for (at, items) in roots.iter().enumerate() {
        let root = entry("", FileType::Directory, attributes(1, None));
        tree.begin_root(format!("/r{at}").as_bytes(), &root)
            .unwrap();
        add(&mut tree, items);
        tree.end_directory().unwrap();
    }
    tree.finish(Info::default(), &path).unwrap();
    Snapshot::open(&path).unwrap()
}

/// What a loop over all rows of a subtree knows of each path: is it a directory, and its sums
/// without what is below it. A file with several names counts for the first one.
fn rows(snapshot: &Snapshot, under: &str) -> Vec<(Vec<u8>, Sums)> {
    use ringwalk_snapshot::Column::{Alloc, Ino, Path, PathRaw, Root, Size};
    let columns = [Root, Path, PathRaw, Size, Alloc, Ino];
    let mut scan = snapshot.scan(0..snapshot.rows(), &columns).unwrap();
    let mut seen = Vec::new();
    let mut found = Vec::new();
    while let Some(chunk) = scan.next_chunk().unwrap() {
        for at in 0..chunk.len() {
            let root = usize::try_from(chunk.integer(Root, at).unwrap()).unwrap();
            let path = snapshot.info().roots[root].absolute(chunk.path(at));
            if !is_within(&path, under.as_bytes()) {
                continue;
            }
            let ino = chunk.integer(Ino, at);
            let counts = ino.is_none() || !seen.contains(&ino);
            seen.push(ino);
            let value = |column| chunk.integer(column, at).unwrap().cast_unsigned();
            let bytes = |column| if counts { value(column) } else { 0 };
            let sums = Sums {
                entries: 1,
                size: bytes(Size),
                alloc: bytes(Alloc),
            };
            found.push((path, sums));
        }
    }
    found
}

fn is_within(path: &[u8], folder: &[u8]) -> bool {
    let rest = path.strip_prefix(folder);
    rest.is_some_and(|rest| folder.is_empty() || rest.is_empty() || rest[0] == b'/')
}

/// Compares the nodes of a page with a loop over all rows.
fn check(snapshot: &Snapshot, nodes: usize, under: Option<&str>) {
    let options = PageOptions {
        nodes,
        under: under.map(|path| path.as_bytes().to_vec()),
        ..PageOptions::default()
    };
    let page = page(snapshot, &options).unwrap();
    let rows = rows(snapshot, under.unwrap_or(""));
    let has_all = page.nodes[0].root == u32::MAX;
    assert_eq!(
        page.nodes.len(),
        rows.len().min(nodes) + usize::from(has_all)
    );
    let shown: HashMap<Vec<u8>, usize> = page
        .nodes
        .iter()
        .enumerate()
        .filter(|(_, node)| node.root != u32::MAX)
        .map(|(at, node)| (page.absolute(node), at))
        .collect();
    // Each row counts in itself, in the nodes above it, and in the rest of the nearest of them.
    let mut sums = vec![Sums::default(); page.nodes.len()];
    let mut rest = sums.clone();
    for (path, row) in &rows {
        let mut at = shown.get(path).copied();
        if at.is_none() {
            let mut above = &path[..];
            while let Some(slash) = above.iter().rposition(|byte| *byte == b'/') {
                above = &above[..slash];
                if let Some(node) = shown.get(above) {
                    at = Some(*node);
                    break;
                }
            }
            rest[at.unwrap_or(0)].add(*row);
        }
        let mut node = at.or(has_all.then_some(0));
        while let Some(at) = node {
            sums[at].add(*row);
            node = page.nodes[at].parent;
        }
    }
    for (at, node) in page.nodes.iter().enumerate() {
        assert_eq!(node.sums, sums[at], "{}", node.name);
        assert_eq!(node.rest, rest[at], "{}", node.name);
        assert_eq!(node.parent.is_none(), at == 0);
        // The level: the directory itself, the nodes in it, and the rest.
        let mut level = node.own;
        level.add(node.rest);
        let parts = page.nodes.iter().filter(|part| part.parent == Some(at));
        parts.for_each(|part| level.add(part.sums));
        assert_eq!(level, node.sums, "{}", node.name);
        // The nodes are the largest.
        assert!(at < 2 || node.sums.alloc <= page.nodes[at - 1].sums.alloc);
    }
    let mut files: Vec<u64> = rows
        .iter()
        .filter(|(path, _)| path.rsplit(|byte| *byte == b'/').next().unwrap()[0] == b'f')
        .map(|(_, sums)| sums.alloc)
        .collect();
    files.sort_unstable_by_key(|alloc| std::cmp::Reverse(*alloc));
    files.truncate(TOP_FILES);
    let shown: Vec<u64> = page.files.iter().map(|file| file.sums.alloc).collect();
    assert_eq!(shown, files);
}

fn item() -> impl Strategy<Value = Item> {
    let link = prop_oneof![3 => Just(None), 1 => (1_u64..6).prop_map(Some)];
    let file = (0_u64..6, link).prop_map(|(blocks, link)| Item::File { blocks, link });
    file.prop_recursive(5, 60, 6, |item| {
        prop::collection::vec(item, 0..6).prop_map(Item::Directory)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn sums_are_those_of_a_loop(
        roots in prop::collection::vec(prop::collection::vec(item(), 0..6), 1..4),
        nodes in 1_usize..40,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let snapshot = snapshot(folder.path(), &roots);
        check(&snapshot, nodes, None);
        check(&snapshot, 1000, None);
        // Each directory by itself, so that first names of files lie outside.
        for (path, _) in rows(&snapshot, "") {
            let name = path.rsplit(|byte| *byte == b'/').next().unwrap();
            if name[0] != b'f' {
                check(&snapshot, nodes, std::str::from_utf8(&path).ok());
            }
        }
    }
}

fn text(page: &Page) -> String {
    let mut out = Vec::new();
    page.write(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn a_page_has_at_most_2_mib_if_all_names_are_long() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s");
    let mut tree = TreeBuilder::new(WriteOptions::default());
    let root = entry("", FileType::Directory, attributes(1, None));
    tree.begin_root(b"/r", &root).unwrap();
    for at in 0..25_000 {
        let name = format!("{at:06}{}", "<\"&\\".repeat(62));
        let file = entry(&name, FileType::Regular, attributes(at, None));
        tree.file(&file).unwrap();
    }
    tree.end_directory().unwrap();
    tree.finish(Info::default(), &path).unwrap();
    let page = page(&Snapshot::open(&path).unwrap(), &PageOptions::default()).unwrap();
    let text = text(&page);
    assert!(text.len() <= 2 << 20, "{} bytes", text.len());
    assert!(page.nodes.len() > 1000 && page.nodes[0].rest.entries > 20_000);
}

#[test]
fn a_page_of_usual_names_has_every_node() {
    let folder = tempfile::tempdir().unwrap();
    let file = |blocks| Item::File { blocks, link: None };
    let directory = |at: u64| Item::Directory((0..100).map(|each| file(each + at)).collect());
    let snapshot = snapshot(folder.path(), &[(0..250).map(directory).collect()]);
    let page = page(&snapshot, &PageOptions::default()).unwrap();
    assert_eq!(page.nodes.len(), NODES);
    assert!(text(&page).len() <= 2 << 20);
}

#[test]
fn names_are_text_and_never_end_the_data() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s");
    let mut tree = TreeBuilder::new(WriteOptions::default());
    let root = entry("", FileType::Directory, attributes(1, None));
    tree.begin_root(b"/</script><b>", &root).unwrap();
    let hostile = "<img src=x onerror=alert(1)>\u{202e}\n{{data}}";
    tree.file(&entry(hostile, FileType::Regular, attributes(7, None)))
        .unwrap();
    tree.file(&Entry {
        attributes: attributes(9, None),
        ..Entry::new(b"\xff<!--", FileType::Regular)
    })
    .unwrap();
    tree.end_directory().unwrap();
    tree.finish(Info::default(), &path).unwrap();
    let page = page(&Snapshot::open(&path).unwrap(), &PageOptions::default()).unwrap();
    let text = text(&page);
    assert_eq!(
        text.matches("</script>").count(),
        2,
        "those of data and script"
    );
    assert!(!text.contains("<img") && !text.contains("<b>") && !text.contains('\u{202e}'));
    let data = text.split("id=\"data\">").nth(1).unwrap();
    let data = data.split("</script>").next().unwrap();
    assert!(!data.contains('<'));
    let data: serde_json::Value = serde_json::from_str(data).unwrap();
    let names = ["/</script><b>", "\\xff<!--"];
    assert_eq!(data["names"][0], names[0]);
    assert_eq!(data["names"][1], names[1]);
    let shown = "<img src=x onerror=alert(1)>\\u{202e}\\n{{data}}";
    assert_eq!(data["names"][2], shown);
    assert_eq!(data["top"], names[0]);
}

#[test]
fn failures_are_listed_with_their_reasons() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s");
    let mut tree = TreeBuilder::new(WriteOptions::default());
    let root = entry("", FileType::Directory, attributes(1, None));
    tree.begin_root(b"/r", &root).unwrap();
    let mut closed = entry("closed", FileType::Directory, attributes(1, None));
    closed.failure = Some(Failure {
        operation: FailedOperation::Open,
        errno: Errno::ACCESS,
    });
    tree.begin_directory(&closed).unwrap();
    tree.end_directory().unwrap();
    tree.end_directory().unwrap();
    tree.finish(Info::default(), &path).unwrap();
    let page = page(&Snapshot::open(&path).unwrap(), &PageOptions::default()).unwrap();
    assert_eq!(page.errors(), 1);
    let text = text(&page);
    assert!(text.contains("incomplete: 1 error."), "{text}");
    assert!(text.contains("cannot open: Permission denied</td>"));
    assert!(text.contains("/r/closed</bdi>"));
}
