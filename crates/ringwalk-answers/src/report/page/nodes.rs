//! The chosen rows with all that a page shows of them, as a tree.

use super::choose::bytes;
use super::outside::Outside;
use super::visible::{visible, visible_bytes};
use crate::report::parallel::for_each_wave;
use crate::report::table::Sums;
use ringwalk_snapshot::{Chunk, Column, PageCache, ReadError, Skipped, Snapshot};
use std::collections::HashMap;
use std::num::NonZeroUsize;

/// The columns of a node.
const COLUMNS: [Column; 21] = [
    Column::Root,
    Column::Dir,
    Column::SelfDir,
    Column::Path,
    Column::PathRaw,
    Column::Type,
    Column::Size,
    Column::Alloc,
    Column::Mtime,
    Column::Uid,
    Column::Charged,
    Column::TreeFirst,
    Column::TreeLast,
    Column::TreeEntries,
    Column::TreeSize,
    Column::TreeAlloc,
    Column::TreeMtime,
    Column::TreeErrors,
    Column::Errno,
    Column::Operation,
    Column::Skipped,
];

/// A file or directory of a page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Node {
    /// The index of the directory that holds it, which comes before it. `None` for the first node.
    pub(super) parent: Option<usize>,
    /// The name, as the page shows it. For a root, the whole path.
    pub(super) name: String,
    /// The root, and the path relative to it.
    pub(super) root: u32,
    pub(super) path: Vec<u8>,
    /// The type in the letters of find; `?` if it is not known.
    pub(super) kind: char,
    /// The sums of the file, or of the directory with everything below it.
    pub(super) sums: Sums,
    /// The sums of the directory itself, without what is below it.
    pub(super) own: Sums,
    /// The sums of what is below the directory and in none of the nodes.
    pub(super) rest: Sums,
    /// Time of the newest change, in nanoseconds since 1970.
    pub(super) mtime: Option<i64>,
    pub(super) uid: Option<u32>,
    /// Failures in the file or below it.
    pub(super) errors: u64,
    /// Why the file could not be read: operation and number of the error.
    pub(super) failure: Option<(String, i32)>,
    /// Why the file was left out of the snapshot.
    pub(super) skipped: Option<Skipped>,
    /// Allocated bytes by which it has grown.
    pub(super) growth: i64,
    /// Numbers of the own directory, and of the one that holds it.
    number: Option<i64>,
    dir: Option<i64>,
}

impl Node {
    /// Creates a node that stands for several roots.
    pub(super) fn of_all_roots(sums: Sums, errors: u64) -> Self {
        Self {
            name: "all roots".to_owned(),
            root: u32::MAX,
            kind: 'd',
            sums,
            errors,
            ..Self::default()
        }
    }

    fn read(snapshot: &Snapshot, chunk: &Chunk, at: usize, outside: &Outside) -> Self {
        let row = chunk.first_row() + at as u64;
        let value = |column| chunk.integer(column, at);
        let size = |column| bytes(value(column).unwrap_or(0));
        let mut own = Sums {
            entries: 1,
            ..Sums::default()
        };
        if value(Column::Charged).unwrap_or(0) != 0 {
            own.size = size(Column::Size);
            own.alloc = size(Column::Alloc);
        } else {
            own.add(outside.of_row(row));
        }
        let is_directory = value(Column::TreeAlloc).is_some();
        let sums = if is_directory {
            let mut sums = outside.of_directory(chunk, at, row);
            sums.add(Sums {
                entries: size(Column::TreeEntries),
                size: size(Column::TreeSize),
                alloc: size(Column::TreeAlloc),
            });
            sums
        } else {
            own
        };
        let letter = chunk.bytes(Column::Type, at).and_then(<[u8]>::first);
        let root = u32::try_from(value(Column::Root).unwrap_or(0)).unwrap_or(u32::MAX);
        let path = chunk.path(at).to_vec();
        let name = if path.is_empty() {
            let roots = &snapshot.info().roots;
            let root = roots.get(usize::try_from(root).unwrap_or(usize::MAX));
            visible_bytes(root.map_or(b"", |root| &root.path.0))
        } else {
            visible_bytes(chunk.name(at))
        };
        let failure = value(Column::Errno).map(|errno| {
            let operation = chunk.bytes(Column::Operation, at).unwrap_or_default();
            let operation = visible(&String::from_utf8_lossy(operation));
            (operation, i32::try_from(errno).unwrap_or(0))
        });
        let own_error = u64::from(failure.is_some());
        let skipped = chunk.bytes(Column::Skipped, at);
        Self {
            parent: None,
            name,
            root,
            path,
            kind: letter.map_or('?', |letter| char::from(*letter)),
            sums,
            own,
            rest: Sums::default(),
            mtime: value(Column::TreeMtime).or(value(Column::Mtime)),
            uid: value(Column::Uid).and_then(|uid| u32::try_from(uid & 0xffff_ffff).ok()),
            errors: value(Column::TreeErrors).map_or(own_error, bytes),
            failure,
            skipped: skipped
                .and_then(|name| std::str::from_utf8(name).ok())
                .and_then(Skipped::of_name),
            growth: 0,
            number: value(Column::SelfDir).filter(|_| is_directory),
            dir: value(Column::Dir),
        }
    }
}

/// Reads these rows. Returns the nodes in the order of `rows`.
pub(super) fn read(
    snapshot: &Snapshot,
    rows: &[u64],
    outside: &Outside,
    threads: NonZeroUsize,
) -> Result<Vec<Node>, ReadError> {
    let mut sorted: Vec<(u64, usize)> = rows.iter().copied().zip(0..).collect();
    sorted.sort_unstable();
    let mut nodes = vec![Node::default(); rows.len()];
    let (Some(first), Some(last)) = (sorted.first(), sorted.last()) else {
        return Ok(nodes);
    };
    let range = first.0..last.0 + 1;
    for_each_wave(
        snapshot,
        std::slice::from_ref(&range),
        threads,
        |rows| {
            let from = sorted.partition_point(|(row, _)| *row < rows.start);
            let to = sorted.partition_point(|(row, _)| *row < rows.end);
            let mut cache = PageCache::default();
            let mut found = Vec::with_capacity(to - from);
            for (row, index) in &sorted[from..to] {
                let page = cache.load(snapshot, *row, &COLUMNS)?;
                let at = usize::try_from(row - page.rows().start).unwrap_or(usize::MAX);
                let node = Node::read(snapshot, page.chunk(), at, outside);
                found.push((*index, node));
            }
            Ok(found)
        },
        |found| {
            for (index, node) in found {
                nodes[index] = node;
            }
        },
    )?;
    Ok(nodes)
}

/// Makes a tree of nodes. A directory comes before its contents, and the first node has no parent.
/// If there are several roots, a first node is added that stands for `all` of them.
///
/// The nodes get at most `budget` bytes of the page. If names are long, the last nodes are left
/// out.
pub(super) fn tree(mut nodes: Vec<Node>, all: Option<Node>, budget: usize) -> Vec<Node> {
    cut(&mut nodes, budget);
    if let Some(all) = all {
        nodes.insert(0, all);
    }
    link(&mut nodes);
    for at in 0..nodes.len() {
        nodes[at].rest = nodes[at].sums;
        let own = nodes[at].own;
        subtract(&mut nodes[at].rest, own);
        if let Some(parent) = nodes[at].parent {
            let sums = nodes[at].sums;
            subtract(&mut nodes[parent].rest, sums);
        }
    }
    nodes
}

/// Bytes of a node in the page, apart from its name. There are 55 for a node of a usual tree.
const NUMBERS: usize = 60;

/// Leaves out the last nodes if all of them need more than `budget` bytes.
fn cut(nodes: &mut Vec<Node>, budget: usize) {
    let mut used = 0;
    let fits = nodes.iter().take_while(|node| {
        let special = node.name.bytes().filter(|byte| b"<\\\"".contains(byte));
        used += NUMBERS + node.name.len() + 5 * special.count();
        used <= budget
    });
    // A page without any node has nothing to show.
    let fitting = fits.count().max(1);
    nodes.truncate(fitting);
}

/// Finds the parent of each node.
fn link(nodes: &mut [Node]) {
    let directories: HashMap<i64, usize> = nodes
        .iter()
        .enumerate()
        .filter_map(|(at, node)| Some((node.number?, at)))
        .collect();
    for (at, node) in nodes.iter_mut().enumerate().skip(1) {
        let parent = node.dir.and_then(|dir| directories.get(&dir).copied());
        // A root has no parent in the snapshot. In a damaged file others may have none either.
        node.parent = Some(parent.filter(|parent| *parent < at).unwrap_or(0));
    }
}

fn subtract(from: &mut Sums, sums: Sums) {
    from.entries = from.entries.saturating_sub(sums.entries);
    from.size = from.size.saturating_sub(sums.size);
    from.alloc = from.alloc.saturating_sub(sums.alloc);
}
