//! Directories with a share of their bytes in common.
//!
//! Two files with the same contents are a hint for pairs of directories. Each pair has one
//! directory above each file, and neither directory lies in the other. The hints of a pair are at
//! least the bytes that it has in common, without contents of more than [`MOST_COPIES`] files. So
//! pairs with too few hints are left out, and the others are compared file by file. Two directories
//! whose sizes differ too much get no hints: what they have in common is no more than the smaller
//! one.

use super::{Contents, SimilarDirectories, Sums, different, percent};
use crate::inventory::{DirId, Inventory};
use ringwalk::Identity;
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
    let is_same = |(a, b): Pair| hash(a).is_some() && hash(a) == hash(b);
    let may_be_enough = |(a, b): Pair| is_enough(size(a).min(size(b)), (a, b));
    let hints = hints(inventory, contents, may_be_enough);
    let candidates = hints
        .into_iter()
        .filter(|((a, b), _)| !inventory.is_outside(*a) || !inventory.is_outside(*b))
        .filter(|(pair, hint)| is_enough(*hint, *pair))
        // If a directory is not known completely, its share is not known.
        .filter(|((a, b), _)| !is_partial(*a) && !is_partial(*b))
        .filter(|(pair, _)| !is_same(*pair));
    let files = FilesBelow::new(inventory, contents);
    let mut similar: HashMap<Pair, u64> = candidates
        .filter_map(|(pair, _)| {
            let common = files.common(pair);
            is_enough(common, pair).then_some((pair, common))
        })
        .collect();
    similar.retain(|(a, b), _| different(inventory, &[*a, *b]).len() > 1);
    let ways = Ways::new(inventory);
    similar.retain(|(a, b), _| !ways.lies_in(*a, *b) && !ways.lies_in(*b, *a));
    let pairs: HashSet<Pair> = similar.keys().copied().collect();
    let is_shown = |pair: Pair| {
        let (a, b) = pair;
        let is_outside = inventory.is_outside(a) && inventory.is_outside(b);
        let is_equal = is_same(pair) && different(inventory, &[a, b]).len() > 1;
        pairs.contains(&pair) || (is_equal && !is_outside)
    };
    similar.retain(|pair, _| !pairs_above(inventory, *pair).any(is_shown));
    let mut found: Vec<_> = similar
        .into_iter()
        .map(|((a, b), common)| {
            let mut both = [
                (inventory.directory_path(a), a),
                (inventory.directory_path(b), b),
            ];
            both.sort_unstable();
            let [(first, a), (second, b)] = both;
            let pair = SimilarDirectories {
                paths: [first, second],
                sizes: [size(a), size(b)],
                common,
            };
            (pair, a, b)
        })
        .collect();
    found.sort_unstable_by(|(a, ..), (b, ..)| {
        (Reverse(a.common), &a.paths).cmp(&(Reverse(b.common), &b.paths))
    });
    let mut noted = HashSet::new();
    found.retain(|(_, a, b)| note(inventory, *a, *b, &mut noted));
    found.into_iter().map(|(pair, ..)| pair).collect()
}

fn ordered(a: DirId, b: DirId) -> Pair {
    (a.min(b), a.max(b))
}

/// Returns all pairs of (`a` or a directory above it) and (`b` or a directory above it), except the
/// pair itself, in which neither directory lies in the other.
fn pairs_above(inventory: &Inventory, (a, b): Pair) -> impl Iterator<Item = Pair> + '_ {
    let (of_a, of_b) = apart(inventory, a, b);
    let all = (0..of_a.len()).flat_map(move |x| {
        let one = of_a[x];
        of_b.clone()
            .into_iter()
            .map(move |other| ordered(one, other))
    });
    all.filter(move |pair| *pair != (a, b))
}

/// Returns the directories from each of two up to the one that holds both, without that one. One
/// list is empty if one of the two lies in the other.
fn apart(inventory: &Inventory, a: DirId, b: DirId) -> (Vec<DirId>, Vec<DirId>) {
    let (mut of_a, mut of_b): (Vec<_>, Vec<_>) =
        (inventory.up(a).collect(), inventory.up(b).collect());
    while of_a.last().is_some_and(|top| of_b.last() == Some(top)) {
        of_a.pop();
        of_b.pop();
    }
    (of_a, of_b)
}

/// The directories that were reached more than once: roots can overlap, and mounts show one
/// directory in several places.
struct Ways<'i> {
    inventory: &'i Inventory,
    all: HashMap<Identity, Vec<DirId>>,
}

impl<'i> Ways<'i> {
    fn new(inventory: &'i Inventory) -> Self {
        let mut all: HashMap<Identity, Vec<DirId>> = HashMap::new();
        for (id, directory) in (0..).map(DirId).zip(&inventory.directories) {
            if let Some(identity) = directory.identity {
                all.entry(identity).or_default().push(id);
            }
        }
        all.retain(|_, ways| ways.len() > 1);
        Self { inventory, all }
    }

    /// Returns true if a directory was also reached below the other one.
    fn lies_in(&self, inner: DirId, outer: DirId) -> bool {
        let identity = self.inventory.directory(inner).identity;
        let ways = identity.and_then(|identity| self.all.get(&identity));
        ways.is_some_and(|ways| {
            let mut ways = ways.iter();
            ways.any(|way| self.inventory.up(*way).any(|above| above == outer))
        })
    }
}

/// Notes a pair. Returns false if it was noted before, by whatever paths.
fn note(inventory: &Inventory, a: DirId, b: DirId, noted: &mut HashSet<[Identity; 2]>) -> bool {
    let identity = |dir| inventory.directory(dir).identity;
    let (Some(a), Some(b)) = (identity(a), identity(b)) else {
        return true;
    };
    noted.insert(if a <= b { [a, b] } else { [b, a] })
}

/// Adds up the sizes of files that two directories may have in common, for pairs for which
/// `is_possible` returns true.
fn hints(
    inventory: &Inventory,
    contents: &[Option<Contents>],
    is_possible: impl Fn(Pair) -> bool,
) -> HashMap<Pair, u64> {
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
    let mut bytes: HashMap<Pair, u64> = HashMap::new();
    for copies in holders
        .values()
        .filter(|copies| copies.len() <= MOST_COPIES)
    {
        for (at, (first, size)) in copies.iter().enumerate() {
            for (second, _) in &copies[at + 1..] {
                let bytes = bytes.entry(ordered(*first, *second)).or_default();
                *bytes = bytes.saturating_add(*size);
            }
        }
    }
    let mut hints: HashMap<Pair, u64> = HashMap::new();
    for ((first, second), bytes) in bytes {
        let (of_first, of_second) = apart(inventory, first, second);
        for a in &of_first {
            for b in &of_second {
                let pair = ordered(*a, *b);
                if is_possible(pair) {
                    let hint = hints.entry(pair).or_default();
                    *hint = hint.saturating_add(bytes);
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
                Some(size.saturating_mul(*count.min(other)))
            })
            .fold(0, u64::saturating_add)
    }
}
