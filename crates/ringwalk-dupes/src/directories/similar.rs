//! Directories with a share of their bytes in common.
//!
//! Each pair of files with the same contents is a hint for the pair of their directories, for that
//! of the directories above these, and so on up to a root or to one directory for both. The hints
//! of a pair are at least the bytes that it has in common. So pairs with too few hints are left
//! out, and the others are compared file by file.

use super::{Contents, SimilarDirectories, Sums, different, percent};
use crate::inventory::{DirId, Inventory};
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

/// Contents with more copies than this give no hints: empty-ish files that are everywhere, such as
/// licences, would make a pair of every two directories.
const MOST_COPIES: usize = 16;

type Pair = (DirId, DirId);

/// Finds pairs that have at least `share` percent of the larger one in common, and not all. None of
/// them lies in a pair that is reported, too. With references, at least one of each pair lies in
/// one.
pub(super) fn find(
    inventory: &Inventory,
    contents: &[Option<Contents>],
    sums: &[Sums],
    share: u8,
) -> Vec<SimilarDirectories> {
    let size = |dir: DirId| sums[dir.0 as usize].size;
    let hash = |dir: DirId| sums[dir.0 as usize].hash;
    let is_partial = |dir: DirId| sums[dir.0 as usize].is_partial;
    let is_enough = |common: u64, (a, b): Pair| percent(common, size(a).max(size(b))) >= share;
    let hints = hints(inventory, contents);
    let candidates = hints
        .into_iter()
        .filter(|((a, b), _)| !inventory.is_outside(*a) || !inventory.is_outside(*b))
        .filter(|(pair, hint)| is_enough(*hint, *pair))
        // The share of a directory that is not known as a whole is not known.
        .filter(|((a, b), _)| !is_partial(*a) && !is_partial(*b))
        .filter(|((a, b), _)| hash(*a).is_none() || hash(*a) != hash(*b))
        .filter(|((a, b), _)| !is_within(inventory, *a, *b) && !is_within(inventory, *b, *a));
    let files = FilesBelow::new(inventory, contents);
    let mut similar: HashMap<Pair, u64> = candidates
        .filter_map(|(pair, _)| {
            let common = files.common(pair);
            is_enough(common, pair).then_some((pair, common))
        })
        .collect();
    let pairs: HashSet<Pair> = similar.keys().copied().collect();
    similar.retain(|(a, b), _| {
        let above = ordered(
            inventory.directory(*a).parent,
            inventory.directory(*b).parent,
        );
        above == (*a, *b) || !pairs.contains(&above)
    });
    similar.retain(|(a, b), _| different(inventory, &[*a, *b]).len() > 1);
    let mut found: Vec<_> = similar
        .into_iter()
        .map(|((a, b), common)| {
            let mut both = [
                (inventory.directory_path(a), size(a)),
                (inventory.directory_path(b), size(b)),
            ];
            both.sort_unstable();
            let [(first, first_size), (second, second_size)] = both;
            SimilarDirectories {
                paths: [first, second],
                sizes: [first_size, second_size],
                common,
            }
        })
        .collect();
    found
        .sort_unstable_by(|a, b| (Reverse(a.common), &a.paths).cmp(&(Reverse(b.common), &b.paths)));
    found
}

fn ordered(a: DirId, b: DirId) -> Pair {
    (a.min(b), a.max(b))
}

fn is_within(inventory: &Inventory, mut inner: DirId, outer: DirId) -> bool {
    loop {
        if inner == outer {
            return true;
        }
        let parent = inventory.directory(inner).parent;
        if parent == inner {
            return false;
        }
        inner = parent;
    }
}

/// Adds up the sizes of files that two directories may have in common.
fn hints(inventory: &Inventory, contents: &[Option<Contents>]) -> HashMap<Pair, u64> {
    let mut holders: HashMap<Contents, Vec<(DirId, u64)>> = HashMap::new();
    for (file, contents) in inventory.files.iter().zip(contents) {
        if let Some(contents) = contents
            && file.size > 0
        {
            let all = holders.entry(*contents).or_default();
            // One more says that there are too many.
            if all.len() <= MOST_COPIES {
                all.push((file.dir, file.size));
            }
        }
    }
    let mut hints: HashMap<Pair, u64> = HashMap::new();
    for copies in holders
        .values()
        .filter(|copies| copies.len() <= MOST_COPIES)
    {
        for (at, (first, size)) in copies.iter().enumerate() {
            for (second, _) in &copies[at + 1..] {
                let (mut a, mut b) = (*first, *second);
                while a != b {
                    *hints.entry(ordered(a, b)).or_default() += size;
                    let above = (inventory.directory(a).parent, inventory.directory(b).parent);
                    if above.0 == a || above.1 == b {
                        break;
                    }
                    (a, b) = above;
                }
            }
        }
    }
    hints
}

/// The files of each directory.
struct FilesBelow {
    children: HashMap<DirId, Vec<DirId>>,
    files: HashMap<DirId, Vec<(Contents, u64)>>,
}

impl FilesBelow {
    fn new(inventory: &Inventory, contents: &[Option<Contents>]) -> Self {
        let mut children: HashMap<DirId, Vec<DirId>> = HashMap::new();
        for (at, dir) in (0..).map(DirId).zip(&inventory.directories) {
            if dir.parent != at {
                children.entry(dir.parent).or_default().push(at);
            }
        }
        let mut files: HashMap<DirId, Vec<(Contents, u64)>> = HashMap::new();
        for (file, contents) in inventory.files.iter().zip(contents) {
            if let Some(contents) = contents {
                files
                    .entry(file.dir)
                    .or_default()
                    .push((*contents, file.size));
            }
        }
        Self { children, files }
    }

    fn below(&self, dir: DirId) -> HashMap<Contents, (u64, u64)> {
        let mut counts: HashMap<Contents, (u64, u64)> = HashMap::new();
        let mut left = vec![dir];
        while let Some(dir) = left.pop() {
            for (contents, size) in self.files.get(&dir).into_iter().flatten() {
                let count = counts.entry(*contents).or_insert((0, *size));
                count.0 += 1;
            }
            left.extend(self.children.get(&dir).into_iter().flatten());
        }
        counts
    }

    /// Returns the bytes of files that are in both, each as often as both have it.
    fn common(&self, (a, b): Pair) -> u64 {
        let second = self.below(b);
        let first = self.below(a);
        first
            .iter()
            .filter_map(|(contents, (count, size))| {
                let (other, _) = second.get(contents)?;
                Some(size * count.min(other))
            })
            .fold(0, u64::saturating_add)
    }
}
