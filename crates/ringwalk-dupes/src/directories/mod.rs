//! Directories with the same contents, and directories with much in common.
//!
//! A directory is a hash of its entries: the name, the type, and the contents of each, sorted by
//! name (a Merkle tree). Contents of a file are its group; of a directory, its hash; of a symbolic
//! link, its target. A directory with a file that is like no other has no hash, and neither have
//! those above it, so most directories are done at once.
//!
//! | file | contents |
//! |---|---|
//! | `similar.rs` | directories with a share of their bytes in common |

mod similar;

use crate::inventory::{DirId, FileId, FileRecord, Inventory};
use crate::search::Directories;
use ringwalk::Identity;
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

/// Directories with the same contents: names, types, and contents of everything in them. None of
/// them lies in directories that have the same contents themselves.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DirectoryGroup {
    /// The paths, sorted.
    pub paths: Vec<Vec<u8>>,
    /// Sum of the sizes of the files in one of them, in bytes.
    pub size: u64,
    /// Number of files in one of them.
    pub files: u64,
}

/// Two directories that have a share of their contents in common.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SimilarDirectories {
    /// The paths, sorted.
    pub paths: [Vec<u8>; 2],
    /// Sums of the sizes of the files in each, in bytes.
    pub sizes: [u64; 2],
    /// Bytes of files that are in both.
    pub common: u64,
}

impl SimilarDirectories {
    /// Returns the share of the larger directory that is in both, in percent, rounded down.
    pub fn percent(&self) -> u8 {
        percent(self.common, self.sizes[0].max(self.sizes[1]))
    }
}

fn percent(part: u64, whole: u64) -> u8 {
    let percent = u128::from(part) * 100 / u128::from(whole.max(1));
    u8::try_from(percent).unwrap_or(100)
}

/// What is in a directory, everything below it included.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    size: u64,
    files: u64,
    /// What it holds. `None` if a part of it is like nothing else, or not known.
    hash: Option<u128>,
    /// A part of it is not known.
    is_partial: bool,
}

/// What an entry is, for the directory that holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Contents {
    Group(u32),
    /// A file with several names and no copies.
    Linked(FileId),
    Empty,
}

/// Returns for each file what is the same for files with the same contents; `None` if no other file
/// has them.
fn contents_of_all(inventory: &Inventory) -> Vec<Option<Contents>> {
    let mut all = Vec::with_capacity(inventory.files.len());
    let is_same = |a: &FileRecord, b: &FileRecord| inventory.is_same_file(a, b);
    for names in inventory.files.chunk_by(is_same) {
        let first = &names[0];
        #[expect(clippy::cast_possible_truncation, reason = "files have 32 bits")]
        let id = FileId(all.len() as u32);
        // The group stands at one name of each file.
        let group = names.iter().find_map(FileRecord::group);
        let contents = match group {
            _ if first.size == 0 => Some(Contents::Empty),
            Some(group) => Some(Contents::Group(group)),
            None if names.len() > 1 => Some(Contents::Linked(id)),
            None => None,
        };
        all.extend(names.iter().map(|_| contents));
    }
    all
}

/// Finds directories with the same contents and, if wanted, similar ones.
pub(crate) fn compare_directories(
    inventory: &Inventory,
    wanted: Directories,
) -> (Vec<DirectoryGroup>, Vec<SimilarDirectories>) {
    let contents = contents_of_all(inventory);
    let sums = add_up(inventory, &contents);
    let groups = same(inventory, &sums);
    let similar = match wanted {
        Directories::Similar(share) => similar::find(inventory, &contents, &sums, share),
        Directories::No | Directories::Same => Vec::new(),
    };
    (groups, similar)
}

/// Returns the directories, each before the one that holds it.
fn bottom_up(inventory: &Inventory) -> Vec<DirId> {
    let count = inventory.directories.len();
    // The depth of each, once it is known.
    let mut depths: Vec<Option<u32>> = vec![None; count];
    let mut way = Vec::new();
    for at in 0..count {
        // Up to a directory whose depth is known, or to a root.
        let mut dir = at;
        let mut depth = loop {
            if let Some(depth) = depths[dir] {
                break depth + 1;
            }
            way.push(dir);
            let parent = inventory.directories[dir].parent.0 as usize;
            // A damaged snapshot could have a directory that lies in itself.
            if parent == dir || way.len() > count {
                break 0;
            }
            dir = parent;
        };
        while let Some(dir) = way.pop() {
            depths[dir] = Some(depth);
            depth += 1;
        }
    }
    #[expect(clippy::cast_possible_truncation, reason = "directories have 32 bits")]
    let mut order: Vec<DirId> = (0..count as u32).map(DirId).collect();
    order.sort_by_key(|dir| Reverse(depths[dir.0 as usize]));
    order
}

/// An entry in the text of its directory.
struct Line<'i> {
    dir: DirId,
    name: &'i [u8],
    kind: u8,
    /// `None` if it is like nothing else.
    contents: Option<u128>,
}

fn add_up(inventory: &Inventory, contents: &[Option<Contents>]) -> Vec<Sums> {
    let order = bottom_up(inventory);
    let mut sums = vec![Sums::default(); order.len()];
    let mut lines: Vec<Line<'_>> = Vec::with_capacity(inventory.files.len());
    for (at, file) in (0_u32..).zip(&inventory.files) {
        let own = &mut sums[file.dir.0 as usize];
        own.size = own.size.saturating_add(file.size);
        own.files += 1;
        lines.push(Line {
            dir: file.dir,
            name: inventory.file_name(FileId(at)),
            kind: b'f',
            contents: contents[at as usize].map(number),
        });
    }
    lines.extend(inventory.others.iter().map(|other| Line {
        dir: other.dir,
        name: inventory.name_at(other.name),
        kind: b'o',
        contents: Some(other.contents),
    }));
    // The line of a directory is known when the directory is done. So directories are not among the
    // lines, but in a list of their parent.
    lines.sort_unstable_by_key(|line| line.dir);
    let mut below: HashMap<DirId, Vec<DirId>> = HashMap::new();
    for dir in &order {
        let parent = inventory.directory(*dir).parent;
        if parent != *dir {
            below.entry(parent).or_default().push(*dir);
        }
    }
    for dir in order {
        let first = lines.partition_point(|line| line.dir < dir);
        let own = lines[first..].iter().take_while(|line| line.dir == dir);
        let mut entries: Vec<(&[u8], u8, Option<u128>)> = own
            .map(|line| (line.name, line.kind, line.contents))
            .collect();
        for child in below.get(&dir).map_or(&[][..], Vec::as_slice) {
            let child_sums = sums[child.0 as usize];
            let name = inventory.name_at(inventory.directory(*child).name);
            entries.push((name, b'd', child_sums.hash));
            let own = &mut sums[dir.0 as usize];
            own.size = own.size.saturating_add(child_sums.size);
            own.files += child_sums.files;
            own.is_partial |= child_sums.is_partial;
        }
        if inventory.directory(dir).is_partial {
            sums[dir.0 as usize].is_partial = true;
        } else {
            sums[dir.0 as usize].hash = hash_of(&mut entries);
        }
    }
    sums
}

fn number(contents: Contents) -> u128 {
    let (kind, number) = match contents {
        Contents::Group(group) => (1, group),
        Contents::Linked(id) => (2, id.0),
        Contents::Empty => (3, 0),
    };
    kind << 32 | u128::from(number)
}

fn hash_of(entries: &mut [(&[u8], u8, Option<u128>)]) -> Option<u128> {
    entries.sort_unstable();
    let mut hasher = blake3::Hasher::new();
    for (name, kind, contents) in entries {
        hasher.update(&(name.len() as u64).to_le_bytes());
        hasher.update(name);
        hasher.update(&[*kind]);
        hasher.update(&(*contents)?.to_le_bytes());
    }
    let hash: [u8; 32] = hasher.finalize().into();
    let (first, _) = hash.split_first_chunk()?;
    Some(u128::from_le_bytes(*first))
}

/// Returns the paths of directories, sorted. A directory that several mounts show has one.
fn different(inventory: &Inventory, dirs: &[DirId]) -> Vec<Vec<u8>> {
    let path = |dir: &DirId| (inventory.directory_path(*dir), *dir);
    let mut paths: Vec<_> = dirs.iter().map(path).collect();
    paths.sort_unstable();
    let mut seen = HashSet::new();
    paths.retain(|(_, dir)| is_new(inventory, *dir, &mut seen));
    paths.into_iter().map(|(path, _)| path).collect()
}

/// Returns true if no other mount has shown the directory among those that were `seen`.
fn is_new(inventory: &Inventory, dir: DirId, seen: &mut HashSet<Identity>) -> bool {
    let identity = inventory.directory(dir).identity;
    identity.is_none_or(|identity| seen.insert(identity))
}

/// Groups directories with the same hash. With references, at least one directory of each group
/// lies in one.
fn same(inventory: &Inventory, sums: &[Sums]) -> Vec<DirectoryGroup> {
    let mut by_hash: HashMap<u128, Vec<DirId>> = HashMap::new();
    for (at, own) in (0..).zip(sums) {
        // Directories without contents are no copies of each other.
        if let Some(hash) = own.hash
            && own.size > 0
        {
            by_hash.entry(hash).or_default().push(DirId(at));
        }
    }
    // If several mounts show one directory, this is no group, and hides no group below it. A group
    // that is not shown hides none either.
    by_hash.retain(|_, dirs| {
        let mut seen = HashSet::new();
        let new = dirs
            .iter()
            .filter(|dir| is_new(inventory, **dir, &mut seen));
        new.count() > 1 && !dirs.iter().all(|dir| inventory.is_outside(*dir))
    });
    let is_in_group = |dir: DirId| {
        let hash = sums[dir.0 as usize].hash;
        hash.is_some_and(|hash| by_hash.contains_key(&hash))
    };
    let mut groups: Vec<DirectoryGroup> = by_hash
        .values()
        .filter(|dirs| {
            // If all of them lie in copies of one directory, that group says it.
            !dirs.iter().all(|dir| {
                let parent = inventory.directory(*dir).parent;
                parent != *dir && is_in_group(parent)
            })
        })
        .map(|dirs| {
            let sums = &sums[dirs[0].0 as usize];
            DirectoryGroup {
                paths: different(inventory, dirs),
                size: sums.size,
                files: sums.files,
            }
        })
        .collect();
    groups.sort_unstable_by(|a, b| (Reverse(a.size), &a.paths).cmp(&(Reverse(b.size), &b.paths)));
    groups
}
