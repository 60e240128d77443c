//! The files that were found: what is known of each, in little memory.
//!
//! A file takes 56 bytes, and its name one byte more than its length. Ten million files take some
//! 800 MB.
//!
//! | file | contents |
//! |---|---|
//! | `record.rs` | what is kept of a file |
//! | `paths.rs` | the paths of files and directories |
//! | `trash.rs` | directories that hold what is in a trash |

mod paths;
mod record;
mod trash;

pub use paths::Name;
use record::MANY_LINKS;
pub(crate) use record::{FileRecord, FoundFile, KNOWN};

use ringwalk::Identity;
use ringwalk::identity::{IdentityTrust, Sameness};
use ringwalk_hash::cache::NotKept;
use ringwalk_snapshot::FileSystemInfo;
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::path::PathBuf;

/// Which directory, by its place in [`Inventory::directories`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct DirId(pub(crate) u32);

/// Which file, by its place in [`Inventory::files`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct FileId(pub(crate) u32);

/// Instead of the length of a name: the name is of at least this length, and its length follows.
const LONG_NAME: u8 = u8::MAX;

/// A directory, or a root of any type.
#[derive(Debug)]
pub(crate) struct DirRecord {
    /// The directory above; itself for a root.
    pub(crate) parent: DirId,
    pub(crate) name: u64,
    pub(crate) root: u32,
    /// True if something in it could not be read, or was left out.
    pub(crate) is_partial: bool,
    /// True if its files are never changed: it is a reference, or lies in one.
    is_reference: bool,
    /// True if it holds the files of a trash, or lies in such a directory.
    is_trash: bool,
    /// What two mounts of one directory have in common. `None` for one of a snapshot, and where two
    /// directories can have one inode number.
    pub(crate) identity: Option<Identity>,
}

/// Something that is neither a regular file nor a directory. It counts only where directories are
/// compared.
#[derive(Debug)]
pub(crate) struct OtherRecord {
    pub(crate) dir: DirId,
    pub(crate) name: u64,
    /// Type, and target or device number, as one hash.
    pub(crate) contents: u128,
}

/// A root of the search.
#[derive(Clone, Debug)]
pub(crate) struct RootRecord {
    /// The path as it was given, or as the snapshot has it.
    pub(crate) path: Vec<u8>,
    /// The path without symbolic links; empty for one of a snapshot.
    pub(crate) real: PathBuf,
    /// The snapshot that the root is from, if it is not live.
    pub(crate) snapshot: Option<usize>,
}

/// Everything that was found.
#[derive(Debug, Default)]
pub(crate) struct Inventory {
    roots: Vec<RootRecord>,
    pub(crate) directories: Vec<DirRecord>,
    pub(crate) files: Vec<FileRecord>,
    pub(crate) others: Vec<OtherRecord>,
    /// Device numbers. For saved files they are not device numbers of this machine.
    pub(crate) devices: Vec<Device>,
    /// A directory on each file system that the cache does not keep hashes of, and why.
    pub(crate) uncached: Vec<(Vec<u8>, NotKept)>,
    /// Hashes from snapshots and from the cache.
    pub(crate) known: Vec<[u8; 32]>,
    /// Each name with its length before it: a byte, or [`LONG_NAME`] and a `usize`. Most file
    /// systems have names of up to 255 bytes. FAT and NTFS have up to 255 characters, and FUSE has
    /// up to 1024 bytes and more.
    names: Vec<u8>,
    /// The number of hard links of files that have 255 or more, by the place of each name: a file
    /// and its row in a snapshot can have different ones.
    many_links: HashMap<usize, u32>,
    /// Some files are from snapshots. Only then is it looked up for each file.
    has_saved: bool,
    /// Some directories are references. Only then is it looked up for each file.
    has_references: bool,
    /// Some directories lie in a trash. Only then is it looked up for each file.
    has_trash: bool,
}

/// A file system, as far as inode numbers are concerned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Device {
    /// `st_dev`, if it is mounted and was walked.
    pub(crate) number: Option<u64>,
    /// The snapshot that it was met in, and its place there.
    pub(crate) snapshot: Option<(usize, i64)>,
    /// How far device, inode number and times show that two names belong to one file.
    pub(crate) trust: IdentityTrust,
    /// What names the file system. `None` if nobody asked for it, or it could not be found out.
    pub(crate) info: Option<FileSystemInfo>,
}

impl Device {
    fn is_same(&self, other: &Self) -> bool {
        (self.number.is_some() && self.number == other.number)
            || (self.snapshot.is_some() && self.snapshot == other.snapshot)
    }

    /// Returns how certain it is that both have the inode numbers of one file system. `None` if
    /// they do not. A copied disk has the same UUID as the original: then the place counts, too.
    fn sameness(&self, other: &Self) -> Option<(Sameness, bool)> {
        let (own, other) = (self.info.as_ref()?, other.info.as_ref()?);
        let sameness = own.known().compare(&other.known());
        let has_place = own.mount_point.is_some() && own.mount_point == other.mount_point;
        let is_same = match sameness {
            Sameness::Different => false,
            Sameness::SamePlace => own.known().trust().keeps_inode,
            Sameness::SameName | Sameness::Same => true,
        };
        is_same.then_some((sameness, has_place))
    }
}

/// A scan has more of something than the numbers of this program reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooMany;

impl Inventory {
    /// Adds a name; the result is its place.
    pub(crate) fn add_name(&mut self, name: &[u8]) -> u64 {
        let place = self.names.len() as u64;
        match u8::try_from(name.len()) {
            Ok(len) if len != LONG_NAME => self.names.push(len),
            _ => {
                self.names.push(LONG_NAME);
                self.names.extend_from_slice(&name.len().to_le_bytes());
            }
        }
        self.names.extend_from_slice(name);
        place
    }

    pub(crate) fn name_at(&self, place: u64) -> &[u8] {
        let place = usize::try_from(place).unwrap_or(usize::MAX);
        let len = self.names[place];
        let rest = &self.names[place + 1..];
        match rest.split_first_chunk() {
            Some((len, rest)) if self.names[place] == LONG_NAME => {
                &rest[..usize::from_le_bytes(*len)]
            }
            _ => &rest[..usize::from(len)],
        }
    }

    pub(crate) fn add_root(&mut self, root: RootRecord) -> Result<DirId, TooMany> {
        let index = u32::try_from(self.roots.len()).map_err(|_| TooMany)?;
        let is_trash = trash::lies_in_one(&root.real);
        self.push_root(root);
        let id = self.add_top(index)?;
        self.directories[id.0 as usize].is_trash = is_trash;
        self.has_trash |= is_trash;
        Ok(id)
    }

    /// Adds a root without its directory.
    pub(crate) fn push_root(&mut self, root: RootRecord) {
        self.has_saved |= root.snapshot.is_some();
        self.roots.push(root);
    }

    pub(crate) fn roots(&self) -> &[RootRecord] {
        &self.roots
    }

    /// Adds a directory without a name and a parent, for the root with this number.
    pub(crate) fn add_top(&mut self, root: u32) -> Result<DirId, TooMany> {
        self.push_directory(None, b"", root)
    }

    pub(crate) fn add_directory(&mut self, parent: DirId, name: &[u8]) -> Result<DirId, TooMany> {
        let id = self.push_directory(Some(parent), name, self.directory(parent).root)?;
        self.find_trash(id);
        Ok(id)
    }

    /// Notes whether a directory whose name and parent are known lies in a trash.
    fn find_trash(&mut self, id: DirId) {
        let directory = self.directory(id);
        let is_trash = self.directory(directory.parent).is_trash || trash::holds_files(self, id);
        self.directories[id.0 as usize].is_trash = is_trash;
        self.has_trash |= is_trash;
    }

    fn push_directory(
        &mut self,
        parent: Option<DirId>,
        name: &[u8],
        root: u32,
    ) -> Result<DirId, TooMany> {
        let id = DirId(u32::try_from(self.directories.len()).map_err(|_| TooMany)?);
        let name = self.add_name(name);
        self.directories.push(DirRecord {
            parent: parent.unwrap_or(id),
            name,
            root,
            is_partial: false,
            is_reference: false,
            is_trash: false,
            identity: None,
        });
        Ok(id)
    }

    pub(crate) fn add_file(&mut self, found: &FoundFile, name: &[u8]) -> Result<FileId, TooMany> {
        let id = u32::try_from(self.files.len()).map_err(|_| TooMany)?;
        if id >= KNOWN {
            return Err(TooMany);
        }
        let name = self.add_name(name);
        let file = FileRecord::new(found, name);
        if file.links() == MANY_LINKS {
            self.many_links.insert(file.name(), found.nlink);
        }
        self.files.push(file);
        Ok(FileId(id))
    }

    pub(crate) fn add_other(&mut self, dir: DirId, name: &[u8], contents: u128) {
        let name = self.add_name(name);
        self.others.push(OtherRecord {
            dir,
            name,
            contents,
        });
    }

    /// Returns the place of the device with this number (`st_dev`). `trust` is asked if it is new.
    pub(crate) fn live_device(
        &mut self,
        number: u64,
        trust: impl FnOnce() -> IdentityTrust,
    ) -> Result<u16, TooMany> {
        let known = self
            .devices
            .iter()
            .position(|known| known.number == Some(number));
        match known {
            Some(place) => u16::try_from(place).map_err(|_| TooMany),
            None => self.device(Device {
                number: Some(number),
                snapshot: None,
                trust: trust(),
                info: None,
            }),
        }
    }

    /// Returns the place of a device.
    pub(crate) fn device(&mut self, device: Device) -> Result<u16, TooMany> {
        let place = self.devices.iter().position(|known| known.is_same(&device));
        // A file system of a snapshot may be a live one, or one of another snapshot.
        let like = || {
            let known = self.devices.iter().enumerate().rev();
            let like = known.filter_map(|(at, known)| Some((known.sameness(&device)?, at)));
            like.max_by_key(|(sameness, _)| *sameness).map(|(_, at)| at)
        };
        let place = place.or_else(like);
        let place = place.unwrap_or_else(|| {
            self.devices.push(device);
            self.devices.len() - 1
        });
        u16::try_from(place).map_err(|_| TooMany)
    }

    /// Sorts the files by size, the largest first. The names of one file stand beside each other.
    pub(crate) fn sort(&mut self) {
        self.files.sort_unstable_by(|a, b| {
            let by_size = b.size.cmp(&a.size);
            by_size.then_with(|| a.identity().cmp(&b.identity()))
        });
        if !self.devices.iter().all(|device| device.trust.is_unique) {
            self.forget_false_links();
        }
    }

    /// Makes each name a file of its own if the names look like links of one file, but are more
    /// than the file has links.
    fn forget_false_links(&mut self) {
        let has_more = |names: &Range<u32>| {
            let file = self.file(FileId(names.start));
            let is_unique = self.devices[usize::from(file.device)].trust.is_unique;
            let most = self.links(file).map_or(usize::MAX, |links| links as usize);
            !is_unique && names.len() > most
        };
        let names = self.classes().flat_map(|class| self.inodes(class));
        let names: Vec<_> = names.filter(has_more).collect();
        for id in names.into_iter().flatten() {
            self.files[id as usize].forget_links();
        }
    }

    /// Returns the files of each size, the largest first; after [`sort`](Self::sort).
    pub(crate) fn classes(&self) -> impl Iterator<Item = Range<u32>> + '_ {
        runs(&self.files, 0, |a, b| a.size == b.size)
    }

    /// Returns the names of each file among the files of one size.
    pub(crate) fn inodes(&self, class: Range<u32>) -> impl Iterator<Item = Range<u32>> + '_ {
        let files = &self.files[class.start as usize..class.end as usize];
        runs(files, class.start, |a, b| self.is_same_file(a, b))
    }

    /// Returns true if two names belong to one file.
    pub(crate) fn is_same_file(&self, a: &FileRecord, b: &FileRecord) -> bool {
        let is_unique = self.devices[usize::from(a.device)].trust.is_unique;
        let is_one = || is_unique || std::ptr::eq(a, b) || a.is_linked_like(b);
        a.size == b.size && a.has_inode_of(b) && is_one()
    }

    /// Keeps one of the names that several mounts show of one entry of a directory.
    pub(crate) fn keep_distinct(&self, names: &mut Vec<FileId>) {
        if names.len() > 1 {
            let mut seen = HashSet::new();
            names.retain(|name| {
                let identity = self.directory(self.file(*name).dir).identity;
                identity.is_none_or(|identity| seen.insert((identity, self.file_name(*name))))
            });
        }
    }

    /// Returns the first of the names of a file that is live.
    pub(crate) fn live_name(&self, mut names: Range<u32>) -> Option<FileId> {
        let live = names.find(|name| !self.is_saved(self.file(FileId(*name))));
        live.map(FileId)
    }

    /// Returns the number of hard links of a file; `None` if it is not known.
    pub(crate) fn links(&self, file: &FileRecord) -> Option<u32> {
        match file.links() {
            0 => None,
            MANY_LINKS => self.many_links.get(&file.name()).copied(),
            links => Some(u32::from(links)),
        }
    }

    pub(crate) fn file(&self, id: FileId) -> &FileRecord {
        &self.files[id.0 as usize]
    }

    pub(crate) fn directory(&self, id: DirId) -> &DirRecord {
        &self.directories[id.0 as usize]
    }

    /// Returns all names of a file, this one among them. They stand beside each other after
    /// [`sort`](Self::sort).
    pub(crate) fn names_of(&self, id: FileId) -> impl Iterator<Item = FileId> + '_ {
        let file = self.file(id);
        let is_same = move |id: &FileId| {
            let other = self.file(*id);
            self.is_same_file(other, file)
        };
        let before = (0..id.0).rev().map(FileId).take_while(is_same);
        // Fewer than 2^31.
        let end = u32::try_from(self.files.len()).unwrap_or(u32::MAX);
        before.chain((id.0..end).map(FileId).take_while(is_same))
    }

    /// Returns the place of each directory in the order of their paths.
    pub(crate) fn ranks(&self) -> Vec<u32> {
        #[expect(clippy::cast_possible_truncation, reason = "directories have 32 bits")]
        let mut order: Vec<u32> = (0..self.directories.len() as u32).collect();
        order.sort_by_cached_key(|at| self.directory_path(DirId(*at)));
        let mut ranks = vec![0; order.len()];
        for (rank, at) in (0..).zip(order) {
            ranks[at as usize] = rank;
        }
        ranks
    }

    pub(crate) fn root_of(&self, dir: DirId) -> &RootRecord {
        &self.roots[self.directory(dir).root as usize]
    }

    pub(crate) fn file_name(&self, id: FileId) -> &[u8] {
        self.name_at(self.file(id).name() as u64)
    }

    /// Marks the directories at these paths, and those that hold them, as known in part. The paths
    /// begin with a root as it was given.
    pub(crate) fn mark_partial(&mut self, paths: &[Vec<u8>]) {
        if paths.is_empty() {
            return;
        }
        let mut partial: HashSet<&[u8]> = HashSet::new();
        for path in paths {
            partial.insert(path);
            if let Some(slash) = path.iter().rposition(|byte| *byte == b'/') {
                partial.insert(&path[..slash.max(1)]);
            }
        }
        for at in 0..self.directories.len() {
            #[expect(clippy::cast_possible_truncation, reason = "directories have 32 bits")]
            let own = self.directory_path(DirId(at as u32));
            self.directories[at].is_partial |= partial.contains(own.as_slice());
        }
    }

    /// Returns true if the file is a row of a snapshot.
    pub(crate) fn is_saved(&self, file: &FileRecord) -> bool {
        self.has_saved && self.root_of(file.dir).snapshot.is_some()
    }

    /// Notes that the files of a directory are never changed.
    pub(crate) fn mark_reference(&mut self, dir: DirId) {
        self.directories[dir.0 as usize].is_reference = true;
        self.has_references = true;
    }

    /// Returns true if there are references, and this directory is not one of them.
    pub(crate) fn is_outside(&self, dir: DirId) -> bool {
        self.has_references && !self.directory(dir).is_reference
    }

    /// Returns true if a live file has all its names in a trash. Rows of snapshots do not count.
    pub(crate) fn is_trash(&self, id: FileId) -> bool {
        let is_elsewhere = |name: FileId| {
            let file = self.file(name);
            !self.is_saved(file) && !self.directory(file.dir).is_trash
        };
        self.has_trash && !self.is_saved(self.file(id)) && !self.names_of(id).any(is_elsewhere)
    }

    /// Returns true if one of the names of a file lies in a reference.
    pub(crate) fn is_reference(&self, id: FileId) -> bool {
        let lies_in_one = |name| self.directory(self.file(name).dir).is_reference;
        self.has_references && self.names_of(id).any(lies_in_one)
    }
}

/// Returns the numbers of files that are the same, one run after the other. `first` is the number
/// of the first file.
fn runs<'f>(
    files: &'f [FileRecord],
    first: u32,
    is_same: impl Fn(&FileRecord, &FileRecord) -> bool + 'f,
) -> impl Iterator<Item = Range<u32>> + 'f {
    let mut end = first;
    files.chunk_by(is_same).map(move |run| {
        let start = end;
        // The numbers of all files have 31 bits.
        end += u32::try_from(run.len()).unwrap_or(0);
        start..end
    })
}

#[cfg(test)]
mod tests;
