//! The growth of the nodes of a page since an older snapshot, and the largest changes.

use super::nodes::Node;
use super::{Page, TOP_CHANGES};
use crate::diff::{Change, Diff, Kind, Version, ancestors};
use ringwalk_snapshot::Moment;
use std::cmp::Reverse;
use std::collections::HashMap;

/// What a page says of a comparison.
#[derive(Debug)]
pub(super) struct Growth {
    /// When the older snapshot began.
    pub(super) start: Moment,
    /// False if one of the snapshots is incomplete.
    pub(super) is_certain: bool,
    /// Failures in the older snapshot.
    pub(super) old_errors: u64,
    /// The changes with the largest growth or shrinkage, the largest first.
    pub(super) changes: Vec<LargeChange>,
    /// The number of all changes.
    pub(super) all: usize,
}

/// A change, or a directory that was added or removed with everything below it.
#[derive(Debug)]
pub(super) struct LargeChange {
    pub(super) kind: Kind,
    pub(super) path: Vec<u8>,
    /// The path before a rename.
    pub(super) from: Option<Vec<u8>>,
    pub(super) growth: i64,
    /// The files below the directory that changed with it.
    pub(super) below: u64,
}

impl Page {
    /// Adds the growth since an older snapshot. `diff` compares that with the snapshot of the page.
    ///
    /// The growth of a directory is the difference of its totals in the two snapshots.
    pub fn compare(&mut self, diff: &Diff) {
        let growths = growths(&self.nodes, diff);
        for (node, growth) in self.nodes.iter_mut().zip(growths) {
            node.growth = growth;
        }
        let mut lines = diff.lines();
        lines.retain(|line| self.covers(diff, line.change));
        let all = lines.len();
        lines.retain(|line| line.growth != 0);
        lines.sort_by_key(|line| Reverse(line.growth.unsigned_abs()));
        lines.truncate(TOP_CHANGES);
        let of = |version: &Version| diff.absolute(version.root, &version.path);
        let changes = lines.iter().map(|line| LargeChange {
            kind: line.change.kind,
            path: of(line.change.version()),
            from: line.change.from().map(of),
            growth: line.growth,
            below: line.below,
        });
        self.growth = Some(Growth {
            start: diff.old.run.start,
            is_certain: diff.is_certain(),
            old_errors: diff.old.verdict.errors,
            changes: changes.collect(),
            all,
        });
    }

    /// Returns true if a change lies in the subtree of the page.
    fn covers(&self, diff: &Diff, change: &Change) -> bool {
        let Some(under) = &self.under else {
            return true;
        };
        let path = diff.absolute(change.version().root, &change.version().path);
        let rest = path.strip_prefix(under.as_slice());
        rest.is_some_and(|rest| rest.is_empty() || rest[0] == b'/' || under.ends_with(b"/"))
    }
}

/// Returns the growth of each node: what is there now, less what was there.
fn growths(nodes: &[Node], diff: &Diff) -> Vec<i64> {
    let place = |node: &'_ Node| (node.root, node.path.clone());
    let places: HashMap<(u32, Vec<u8>), usize> = nodes.iter().map(place).zip(0..).collect();
    let mut growths = vec![0_i64; nodes.len()];
    let has_several_roots = nodes.first().is_some_and(|node| node.root == u32::MAX);
    let mut key = (0, Vec::new());
    for change in diff.all() {
        for (version, sign) in [(&change.old, -1), (&change.new, 1)] {
            let Some(version) = version else { continue };
            let bytes = sign * version.bytes();
            if bytes == 0 {
                continue;
            }
            if has_several_roots {
                growths[0] = growths[0].saturating_add(bytes);
            }
            key.0 = version.root;
            for path in std::iter::once(&*version.path).chain(ancestors(&version.path)) {
                key.1.clear();
                key.1.extend_from_slice(path);
                if let Some(node) = places.get(&key) {
                    growths[*node] = growths[*node].saturating_add(bytes);
                }
            }
        }
    }
    growths
}
