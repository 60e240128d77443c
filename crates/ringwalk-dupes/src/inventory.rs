//! The files that were found: what is known of each, in little memory.
//!
//! A file takes 56 bytes, and its name one byte more than its length. Ten million files take some
//! 800 MB.

use ringwalk::Identity;
use ringwalk_hash::FileVersion;
use ringwalk_hash::cache::NotKept;
use ringwalk_snapshot::{clamp, timestamp};
use std::collections::HashSet;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};

/// Which directory, by its place in [`Inventory::directories`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct DirId(pub(crate) u32);

/// Which file, by its place in [`Inventory::files`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct FileId(pub(crate) u32);

/// No time of birth.
const NO_BIRTH: i64 = i64::MIN;

/// [`FileRecord::mark`]: the file was not compared with others, or is unlike all of them.
pub(crate) const NO_GROUP: u32 = u32::MAX;

/// [`FileRecord::mark`] of a file whose hash is known: this bit, and the place in
/// [`Inventory::known`].
pub(crate) const KNOWN: u32 = 1 << 31;

/// Instead of the length of a name: the name is of at least this length, and its length follows.
const LONG_NAME: u8 = u8::MAX;

/// A regular file under one of its names.
#[derive(Debug)]
pub(crate) struct FileRecord {
    pub(crate) size: u64,
    pub(crate) ino: u64,
    mtime: i64,
    ctime: i64,
    btime: i64,
    pub(crate) dir: DirId,
    name_low: u32,
    /// Which of [`Inventory::devices`].
    pub(crate) device: u16,
    name_high: u8,
    /// Number of hard links, at most 255.
    links: u8,
    /// The group, or [`NO_GROUP`], or [`KNOWN`].
    pub(crate) mark: AtomicU32,
}

const _: () = assert!(size_of::<FileRecord>() == 56);

/// What a scan found out about a file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FoundFile {
    pub(crate) version: FileVersion,
    pub(crate) nlink: u32,
    pub(crate) device: u16,
    pub(crate) dir: DirId,
}

impl FileRecord {
    fn new(found: &FoundFile, name: u64) -> Self {
        let FileVersion {
            ino,
            size,
            mtime,
            ctime,
            btime,
            ..
        } = found.version;
        // Names take less than 2^40 bytes: so many files do not fit into a u32.
        let name = name.to_le_bytes();
        Self {
            size,
            ino,
            mtime: clamp(mtime).0,
            ctime: clamp(ctime).0,
            btime: btime.map_or(NO_BIRTH, |time| clamp(time).0),
            dir: found.dir,
            name_low: u32::from_le_bytes([name[0], name[1], name[2], name[3]]),
            device: found.device,
            name_high: name[4],
            links: u8::try_from(found.nlink).unwrap_or(u8::MAX),
            mark: AtomicU32::new(NO_GROUP),
        }
    }

    fn name(&self) -> usize {
        (usize::from(self.name_high) << 32) | self.name_low as usize
    }

    /// Returns true if two names are those of one file.
    pub(crate) fn is_same_file(&self, other: &Self) -> bool {
        (self.device, self.ino) == (other.device, other.ino)
    }

    /// Returns true if a file that was opened is the one that was found, and has not changed. Times
    /// outside of 1677 to 2262 count as equal to the nearer end.
    pub(crate) fn is_version(&self, version: &FileVersion) -> bool {
        let birth = version.btime.map_or(NO_BIRTH, |time| clamp(time).0);
        self.ino == version.ino
            && self.size == version.size
            && self.mtime == clamp(version.mtime).0
            && self.ctime == clamp(version.ctime).0
            && self.btime == birth
    }

    /// Returns the version, on the device with this number.
    pub(crate) fn version(&self, dev: u64) -> FileVersion {
        FileVersion {
            dev,
            ino: self.ino,
            size: self.size,
            mtime: timestamp(self.mtime),
            ctime: timestamp(self.ctime),
            btime: (self.btime != NO_BIRTH).then(|| timestamp(self.btime)),
        }
    }

    /// Returns the time of the last change of the contents, in nanoseconds.
    pub(crate) fn mtime(&self) -> i64 {
        self.mtime
    }

    /// Returns the number of hard links. `None` if it is 255 or more, or not known.
    pub(crate) fn links(&self) -> Option<u32> {
        (self.links != 0 && self.links != u8::MAX).then_some(u32::from(self.links))
    }

    pub(crate) fn group(&self) -> Option<u32> {
        let mark = self.mark.load(Ordering::Relaxed);
        (mark & KNOWN == 0).then_some(mark)
    }

    /// Notes that the hash is known, and its place in [`Inventory::known`].
    pub(crate) fn set_known(&self, place: u32) {
        debug_assert!(place < KNOWN - 1);
        self.mark.store(KNOWN | place, Ordering::Relaxed);
    }

    pub(crate) fn set_group(&self, group: u32) {
        debug_assert!(group < KNOWN);
        self.mark.store(group, Ordering::Relaxed);
    }
}

/// A directory, or a root of any type.
#[derive(Debug)]
pub(crate) struct DirRecord {
    /// The directory above; itself for a root.
    pub(crate) parent: DirId,
    pub(crate) name: u64,
    pub(crate) root: u32,
    /// Something in it is not known: it could not be read, or was left out.
    pub(crate) is_partial: bool,
    /// Its files are never changed: it is a reference, or lies in one.
    pub(crate) is_reference: bool,
    /// What two mounts of one directory have in common. `None` for one of a snapshot.
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
    /// The snapshot that the root is from, if it is not live.
    pub(crate) snapshot: Option<usize>,
}

/// Everything that was found.
#[derive(Debug, Default)]
pub(crate) struct Inventory {
    pub(crate) roots: Vec<RootRecord>,
    pub(crate) directories: Vec<DirRecord>,
    pub(crate) files: Vec<FileRecord>,
    pub(crate) others: Vec<OtherRecord>,
    /// Device numbers. Those of saved files are none of this machine.
    pub(crate) devices: Vec<Device>,
    /// A directory on each file system that the cache does not keep hashes of, and why.
    pub(crate) uncached: Vec<(Vec<u8>, NotKept)>,
    /// Hashes from snapshots and from the cache.
    pub(crate) known: Vec<[u8; 32]>,
    /// Each name with its length before it: a byte, or [`LONG_NAME`] and a `usize`. Most file
    /// systems have names of up to 255 bytes. FAT and NTFS have up to 255 characters, and FUSE has
    /// up to 1024 bytes and more.
    names: Vec<u8>,
}

/// A file system, as far as inode numbers are concerned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Device {
    /// `st_dev`, if it is mounted and was walked.
    pub(crate) number: Option<u64>,
    /// The snapshot that it was met in, and its place there.
    pub(crate) snapshot: Option<(usize, i64)>,
    /// UUID in hexadecimal digits, and subvolume of btrfs.
    pub(crate) identity: Option<(String, Option<u64>)>,
}

impl Device {
    fn is_same(&self, other: &Self) -> bool {
        (self.number.is_some() && self.number == other.number)
            || (self.snapshot.is_some() && self.snapshot == other.snapshot)
            || (self.identity.is_some() && self.identity == other.identity)
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
        self.roots.push(root);
        self.add_top(index)
    }

    /// Adds a directory without a name and a parent, for the root with this number.
    pub(crate) fn add_top(&mut self, root: u32) -> Result<DirId, TooMany> {
        self.push_directory(None, b"", root)
    }

    pub(crate) fn add_directory(&mut self, parent: DirId, name: &[u8]) -> Result<DirId, TooMany> {
        self.push_directory(Some(parent), name, self.directory(parent).root)
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
        self.files.push(FileRecord::new(found, name));
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

    /// Returns the place of a device.
    pub(crate) fn device(&mut self, device: Device) -> Result<u16, TooMany> {
        let place = self.devices.iter().position(|known| known.is_same(&device));
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
            by_size.then_with(|| (a.device, a.ino, a.dir).cmp(&(b.device, b.ino, b.dir)))
        });
    }

    /// Returns the files of each size, the largest first; after [`sort`](Self::sort).
    pub(crate) fn classes(&self) -> impl Iterator<Item = Range<u32>> + '_ {
        runs(&self.files, 0, |a, b| a.size == b.size)
    }

    /// Returns the names of each file among the files of one size.
    pub(crate) fn inodes(&self, class: Range<u32>) -> impl Iterator<Item = Range<u32>> + '_ {
        let files = &self.files[class.start as usize..class.end as usize];
        runs(files, class.start, FileRecord::is_same_file)
    }

    /// Returns the first of the names of a file that is live.
    pub(crate) fn live_name(&self, mut names: Range<u32>) -> Option<FileId> {
        let live = names.find(|name| !self.is_saved(self.file(FileId(*name))));
        live.map(FileId)
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
            other.size == file.size && other.is_same_file(file)
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

    /// Returns the names from below the root down to the directory.
    fn names_above(&self, mut dir: DirId) -> Vec<&[u8]> {
        let mut names = Vec::new();
        while self.directory(dir).parent != dir {
            names.push(self.name_at(self.directory(dir).name));
            dir = self.directory(dir).parent;
        }
        names.reverse();
        names
    }

    /// Returns the path of a directory relative to its root; empty for the root itself.
    pub(crate) fn below_root(&self, dir: DirId) -> Vec<u8> {
        self.names_above(dir).join(&b'/')
    }

    /// Returns the path of a file relative to its root; empty if the root is the file.
    pub(crate) fn file_below_root(&self, id: FileId) -> Vec<u8> {
        let mut names = self.names_above(self.file(id).dir);
        let name = self.file_name(id);
        if !name.is_empty() {
            names.push(name);
        }
        names.join(&b'/')
    }

    /// Returns the path of a directory, beginning with the root as it was given.
    pub(crate) fn directory_path(&self, dir: DirId) -> Vec<u8> {
        join(&self.root_of(dir).path, &self.below_root(dir))
    }

    /// Returns the path of a file, beginning with the root as it was given.
    pub(crate) fn file_path(&self, id: FileId) -> Vec<u8> {
        join(
            &self.root_of(self.file(id).dir).path,
            &self.file_below_root(id),
        )
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
        self.root_of(file.dir).snapshot.is_some()
    }
}

/// Returns the numbers of files that are the same, one run after the other. `first` is the number
/// of the first file.
fn runs(
    files: &[FileRecord],
    first: u32,
    is_same: fn(&FileRecord, &FileRecord) -> bool,
) -> impl Iterator<Item = Range<u32>> + '_ {
    let mut end = first;
    files.chunk_by(is_same).map(move |run| {
        let start = end;
        // The numbers of all files have 31 bits.
        end += u32::try_from(run.len()).unwrap_or(0);
        start..end
    })
}

pub(crate) fn join(root: &[u8], below: &[u8]) -> Vec<u8> {
    let mut path = root.to_vec();
    if !below.is_empty() {
        if path.last() != Some(&b'/') {
            path.push(b'/');
        }
        path.extend_from_slice(below);
    }
    path
}

#[cfg(test)]
mod tests;
