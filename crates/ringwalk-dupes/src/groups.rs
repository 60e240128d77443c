//! The groups of files with the same contents, as they are reported.

pub use crate::inventory::Name;

use crate::act::is_temporary_name;
use crate::inventory::{FileId, Inventory};
use crate::matching::GroupHashes;
use ringwalk_hash::FileVersion;
use std::collections::{HashMap, HashSet};

/// All groups, in little memory: 4 bytes for each file of a group, and 8 for each group beside its
/// hash.
#[derive(Debug)]
pub(crate) struct Groups {
    hashes: GroupHashes,
    shares: HashMap<FileId, FileId>,
    /// The members, group by group, the one to keep first; of each inode the name that was
    /// compared.
    members: Vec<FileId>,
    /// The groups in the order of the report.
    order: Vec<Place>,
    /// The place of each directory in the order of paths.
    ranks: Vec<u32>,
}

/// Where a group is.
#[derive(Clone, Copy, Debug)]
struct Place {
    /// The first of [`Groups::members`].
    first: u32,
    /// Number of files to free, all of one size.
    freeable: u32,
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
    /// there is one, then the oldest, then the first by its directory and name. After these come
    /// files that a killed run has left under a temporary name, then files whose names all lie in a
    /// trash, then files of snapshots.
    pub copies: Vec<Copy>,
    /// Bytes that become free if only the first copy and the copies in references stay. Files whose
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
    /// All its names lie in a trash.
    pub is_trash: bool,
    /// The number of the snapshot that it is in, if it is not live.
    pub snapshot: Option<usize>,
}

impl Groups {
    pub(crate) fn new(
        inventory: &Inventory,
        hashes: GroupHashes,
        shares: HashMap<FileId, FileId>,
    ) -> Self {
        let (mut members, mut order) = by_group(inventory, hashes.len());
        let mut groups = Self {
            hashes,
            shares,
            members: Vec::new(),
            order: Vec::new(),
            ranks: inventory.ranks(),
        };
        for group in members.chunk_by_mut(|a, b| is_same_group(inventory, *a, *b)) {
            group.sort_unstable_by(|a, b| {
                let rank = |id| (merit(inventory, id), groups.place(inventory, id));
                rank(*a).cmp(&rank(*b))
            });
            if let Some(number) = inventory.file(group[0]).group() {
                order[number as usize].freeable = groups.freeable(inventory, group);
            }
        }
        order.sort_unstable_by(|a, b| {
            let first = |place: &Place| members[place.first as usize];
            let bytes = |place| bytes(inventory.file(first(place)).size, place.freeable);
            let path = |place| groups.place(inventory, first(place));
            bytes(b).cmp(&bytes(a)).then_with(|| path(a).cmp(&path(b)))
        });
        (groups.members, groups.order) = (members, order);
        groups
    }

    /// Returns what sorts the names of files by their paths.
    fn place<'i>(&self, inventory: &'i Inventory, id: FileId) -> (u32, &'i [u8]) {
        let rank = self.ranks[inventory.file(id).dir.0 as usize];
        (rank, inventory.file_name(id))
    }

    /// Returns the groups of files of at least `min` bytes, in the order of the report.
    pub(crate) fn iter<'g>(
        &'g self,
        inventory: &'g Inventory,
        min: u64,
    ) -> impl Iterator<Item = Group> + 'g {
        self.order
            .iter()
            .map(|place| (&self.members[place.first as usize..], place.freeable))
            .filter(move |(members, _)| inventory.file(members[0]).size >= min)
            .map(move |(members, freeable)| {
                let is_member = |id: &&FileId| is_same_group(inventory, members[0], **id);
                let len = members.iter().take_while(is_member).count();
                self.group(inventory, &members[..len], freeable)
            })
    }

    /// Returns the file whose extents stand for the extents of this file.
    fn leader(&self, id: FileId) -> FileId {
        self.shares.get(&id).copied().unwrap_or(id)
    }

    /// Returns the number of files to free, if only the first member and the members in references
    /// stay.
    fn freeable(&self, inventory: &Inventory, members: &[FileId]) -> u32 {
        let stays =
            |at: usize, id: FileId| at == 0 || inventory.is_reference(id) || !frees(inventory, id);
        let all = || members.iter().copied().enumerate();
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
        // There are fewer than files, which have 31 bits.
        u32::try_from(count).unwrap_or(u32::MAX)
    }

    fn group(&self, inventory: &Inventory, members: &[FileId], freeable: u32) -> Group {
        let first = inventory.file(members[0]);
        // The first of those that share extents stands for the others.
        let mut leaders: HashMap<FileId, usize> = HashMap::new();
        let copies = members.iter().enumerate().map(|(at, id)| {
            let mut copy = self.copy(inventory, *id);
            if !self.shares.is_empty() {
                let first = *leaders.entry(self.leader(*id)).or_insert(at);
                copy.shares_with = (first != at).then_some(first);
            }
            copy
        });
        let hash = first
            .group()
            .and_then(|group| self.hashes.get(group).copied());
        Group {
            size: first.size,
            hash,
            freeable: bytes(first.size, freeable),
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
        names.sort_unstable_by_key(|id| self.place(inventory, *id));
        inventory.keep_distinct(&mut names);
        let mut names: Vec<Name> = names
            .into_iter()
            .map(|id| inventory.file_path(id))
            .collect();
        names.dedup();
        let device = &inventory.devices[usize::from(file.device)];
        Copy {
            names,
            links: inventory.links(file),
            version: file.version(device.number.unwrap_or(0)),
            shares_with: None,
            is_reference: inventory.is_reference(id),
            is_trash: inventory.is_trash(id),
            snapshot: inventory.root_of(file.dir).snapshot,
        }
    }
}

/// Returns the members of all groups, one group after the other, and the place of each group, by
/// counting sort. `freeable` is 0 in all places.
fn by_group(inventory: &Inventory, groups: usize) -> (Vec<FileId>, Vec<Place>) {
    let files = || (0..).map(FileId).zip(&inventory.files);
    let members = || files().filter_map(|(id, file)| Some((file.group()? as usize, id)));
    let none = Place {
        first: 0,
        freeable: 0,
    };
    let mut places = vec![none; groups];
    let mut count = 0_u32;
    for (group, _) in members() {
        // For now the number of members.
        places[group].first += 1;
        count += 1;
    }
    let mut end = 0;
    for place in &mut places {
        debug_assert!(place.first > 0, "a group without members");
        end += place.first;
        place.first = end;
    }
    // Each group is filled from its end. Then `first` is its first member.
    let mut sorted = vec![FileId(0); count as usize];
    for (group, id) in members() {
        places[group].first -= 1;
        sorted[places[group].first as usize] = id;
    }
    (sorted, places)
}

fn is_same_group(inventory: &Inventory, a: FileId, b: FileId) -> bool {
    inventory.file(a).group() == inventory.file(b).group()
}

fn bytes(size: u64, files: u32) -> u64 {
    size.saturating_mul(u64::from(files))
}

/// Returns what sorts the files of a group: the one to keep is the least.
fn merit(inventory: &Inventory, id: FileId) -> (bool, bool, bool, bool, i64) {
    let leaves = inventory
        .names_of(id)
        .any(|id| is_temporary_name(inventory.file_name(id)));
    let file = inventory.file(id);
    (
        !inventory.is_reference(id),
        inventory.is_saved(file),
        // Emptying the trash must not remove the last copy.
        inventory.is_trash(id),
        leaves,
        file.mtime(),
    )
}

/// Returns true if a file is gone when all its names that were found are removed.
fn frees(inventory: &Inventory, id: FileId) -> bool {
    let file = inventory.file(id);
    if inventory.is_saved(file) {
        return false;
    }
    // A row of a snapshot is no name on the disk.
    let live = |id: &FileId| !inventory.is_saved(inventory.file(*id));
    let mut names: Vec<FileId> = inventory.names_of(id).filter(live).collect();
    inventory.keep_distinct(&mut names);
    inventory
        .links(file)
        .is_some_and(|links| links as usize <= names.len())
}

impl Copy {
    /// Returns the first of the paths.
    pub fn path(&self) -> &[u8] {
        self.names.first().map_or(&[], Name::path)
    }
}
