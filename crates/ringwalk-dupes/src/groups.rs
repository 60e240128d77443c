//! The groups of files with the same contents, as they are reported.

use crate::act::is_temporary_name;
use crate::inventory::{FileId, Inventory};
use ringwalk_hash::FileVersion;
use std::collections::{HashMap, HashSet};

/// All groups, in little memory: 8 bytes for each file of a group, and 16 for each group.
#[derive(Debug)]
pub(crate) struct Groups {
    hashes: Vec<Option<[u8; 32]>>,
    shares: HashMap<FileId, FileId>,
    /// The members, group by group, the one to keep first; of each inode the name that was
    /// compared.
    members: Vec<(u32, FileId)>,
    /// Bytes to free, and the first member, of each group; in the order of the report.
    order: Vec<(u64, u32)>,
    /// The place of each directory in the order of paths.
    ranks: Vec<u32>,
}

/// Files with the same contents.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Group {
    /// Bytes of each file.
    pub size: u64,
    /// BLAKE3 of the contents. `None` if all copies share their extents, and none was read.
    pub hash: Option<[u8; 32]>,
    /// The copies, one for each inode. The first one is the one to keep: a file of a reference, if
    /// there is one, then the oldest, then the first by its directory and name. Files of snapshots
    /// come behind live ones, and what a killed run has left under a temporary name comes last.
    pub copies: Vec<Copy>,
    /// Bytes that are free when only the first copy and those of references are left. Files whose
    /// other names were not found, and copies that share extents, free nothing.
    pub freeable: u64,
}

/// A file of a group, with all names that were found.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Copy {
    /// Its names, sorted by path. There is at least one.
    pub names: Vec<Name>,
    /// Number of hard links; `None` if not known.
    pub links: Option<u32>,
    /// The version that was compared. `dev` is 0 for a file of a snapshot.
    pub version: FileVersion,
    /// The place of the copy in the group whose extents it shares.
    pub shares_with: Option<usize>,
    /// It lies in a reference, and is never changed.
    pub is_reference: bool,
    /// The number of the snapshot that it is in, if it is not live.
    pub snapshot: Option<usize>,
}

/// A name of a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Name {
    /// The path of the root, as it was given.
    pub root: Vec<u8>,
    /// The path below the root; empty if the root is the file.
    pub below: Vec<u8>,
}

impl Name {
    /// Returns the whole path.
    pub fn path(&self) -> Vec<u8> {
        crate::inventory::join(&self.root, &self.below)
    }
}

impl Groups {
    pub(crate) fn new(
        inventory: &Inventory,
        hashes: Vec<Option<[u8; 32]>>,
        shares: HashMap<FileId, FileId>,
    ) -> Self {
        let ranks = inventory.ranks();
        let files = (0..).map(FileId).zip(&inventory.files);
        let mut members: Vec<(u32, FileId)> = files
            .filter_map(|(id, file)| Some((file.group()?, id)))
            .collect();
        let place = |id: FileId| {
            (
                ranks[inventory.file(id).dir.0 as usize],
                inventory.file_name(id),
            )
        };
        let merit = |id: FileId| {
            let leaves = inventory
                .names_of(id)
                .any(|id| is_temporary_name(inventory.file_name(id)));
            (
                !is_reference(inventory, id),
                leaves,
                inventory.is_saved(inventory.file(id)),
                inventory.file(id).mtime(),
                place(id),
            )
        };
        members.sort_unstable_by(|a, b| a.0.cmp(&b.0).then_with(|| merit(a.1).cmp(&merit(b.1))));
        let mut groups = Self {
            hashes,
            shares,
            members,
            order: Vec::new(),
            ranks: Vec::new(),
        };
        let mut order = Vec::with_capacity(groups.hashes.len());
        let mut first = 0;
        for members in groups.members.chunk_by(|a, b| a.0 == b.0) {
            order.push((groups.freeable(inventory, members), first));
            // Members are files, which have 31 bits.
            first += u32::try_from(members.len()).unwrap_or(0);
        }
        order.sort_unstable_by(|a, b| {
            let path = |first: u32| place(groups.members[first as usize].1);
            b.0.cmp(&a.0).then_with(|| path(a.1).cmp(&path(b.1)))
        });
        groups.order = order;
        groups.ranks = ranks;
        groups
    }

    /// Returns the groups of files of at least `min` bytes, in the order of the report.
    pub(crate) fn iter<'g>(
        &'g self,
        inventory: &'g Inventory,
        min: u64,
    ) -> impl Iterator<Item = Group> + 'g {
        let of = |first: u32| &self.members[first as usize..];
        self.order
            .iter()
            .map(move |(freeable, first)| (*freeable, of(*first)))
            .filter(move |(_, members)| inventory.file(members[0].1).size >= min)
            .map(move |(freeable, members)| {
                let number = members[0].0;
                let len = members
                    .iter()
                    .take_while(|member| member.0 == number)
                    .count();
                self.group(inventory, freeable, &members[..len])
            })
    }

    /// Returns the file whose extents stand for those of this one.
    fn leader(&self, id: FileId) -> FileId {
        self.shares.get(&id).copied().unwrap_or(id)
    }

    /// Returns the bytes that are free when only the first member and those of references are left.
    fn freeable(&self, inventory: &Inventory, members: &[(u32, FileId)]) -> u64 {
        let stays =
            |at: usize, id: FileId| at == 0 || is_reference(inventory, id) || !frees(inventory, id);
        let all = || members.iter().map(|(_, id)| *id).enumerate();
        let size = inventory.file(members[0].1).size;
        let count = if self.shares.is_empty() {
            all().filter(|(at, id)| !stays(*at, *id)).count()
        } else {
            let leaders = |wanted: bool| {
                let chosen = all().filter(move |(at, id)| stays(*at, *id) == wanted);
                chosen
                    .map(|(_, id)| self.leader(id))
                    .collect::<HashSet<_>>()
            };
            leaders(false).difference(&leaders(true)).count()
        };
        size.saturating_mul(count as u64)
    }

    fn group(&self, inventory: &Inventory, freeable: u64, members: &[(u32, FileId)]) -> Group {
        let (number, first) = members[0];
        // The first of those that share extents stands for the others.
        let mut leaders: HashMap<FileId, usize> = HashMap::new();
        let copies = members.iter().enumerate().map(|(at, (_, id))| {
            let mut copy = self.copy(inventory, *id);
            if !self.shares.is_empty() {
                let first = *leaders.entry(self.leader(*id)).or_insert(at);
                copy.shares_with = (first != at).then_some(first);
            }
            copy
        });
        Group {
            size: inventory.file(first).size,
            hash: self.hashes.get(number as usize).copied().flatten(),
            freeable,
            copies: copies.collect(),
        }
    }

    /// Returns a file with all its names.
    fn copy(&self, inventory: &Inventory, id: FileId) -> Copy {
        let file = inventory.file(id);
        let is_saved = inventory.is_saved(file);
        let mut names: Vec<FileId> = inventory
            .names_of(id)
            .filter(|id| inventory.is_saved(inventory.file(*id)) == is_saved)
            .collect();
        names.sort_unstable_by_key(|id| {
            let rank = self.ranks[inventory.file(*id).dir.0 as usize];
            (rank, inventory.file_name(*id))
        });
        let names = names.into_iter().map(|id| Name {
            root: inventory.root_of(inventory.file(id).dir).path.clone(),
            below: inventory.file_below_root(id),
        });
        let mut names: Vec<Name> = names.collect();
        names.dedup();
        let device = &inventory.devices[usize::from(file.device)];
        Copy {
            names,
            links: file.links(),
            version: file.version(device.number.unwrap_or(0)),
            shares_with: None,
            is_reference: is_reference(inventory, id),
            snapshot: inventory.root_of(file.dir).snapshot,
        }
    }
}

/// Returns true if one of the names of a file lies in a reference.
fn is_reference(inventory: &Inventory, id: FileId) -> bool {
    inventory
        .names_of(id)
        .any(|name| inventory.directory(inventory.file(name).dir).is_reference)
}

/// Returns true if a file is gone when all its names that were found are removed.
fn frees(inventory: &Inventory, id: FileId) -> bool {
    let file = inventory.file(id);
    if inventory.is_saved(file) {
        return false;
    }
    // A row of a snapshot is no name on the disk.
    let live = |id: &FileId| !inventory.is_saved(inventory.file(*id));
    let names = inventory.names_of(id).filter(live).count();
    match file.links() {
        Some(links) => links as usize <= names,
        // 255 links or more. With fewer names, some are surely elsewhere.
        None => names >= usize::from(u8::MAX),
    }
}

impl Copy {
    /// Returns the first of the paths.
    pub fn path(&self) -> Vec<u8> {
        self.names.first().map_or_else(Vec::new, Name::path)
    }
}
