//! Which file system a device number is, in this run.

use super::NotKept;
use super::record::FileSystem;
use crate::FileVersion;
use ringwalk::identity::IdentityTrust;
use ringwalk::{Fields, Metadata, mounts};
use ringwalk_sys::sync::IgnorePoison;
use ringwalk_sys::{FileSystemIdentity, Statx, magic, statx};
use rustix::fs::AtFlags;
use std::collections::BTreeMap;
use std::os::fd::AsFd;
use std::sync::RwLock;

/// File systems where every write sets times. A write through a mapping (mmap(2)) does so once in
/// each period of write-back. tmpfs sets no times then. On network file systems other machines set
/// times by other clocks.
const SETS_TIMES: &[u64] = &[magic::BTRFS, magic::EXT4, magic::F2FS, magic::XFS];

/// The devices that the cache was shown.
#[derive(Debug, Default)]
pub(super) struct Devices(RwLock<BTreeMap<u64, Result<FileSystem, NotKept>>>);

impl Devices {
    pub(super) fn get(&self, dev: u64) -> Result<FileSystem, NotKept> {
        let known = self.0.read().ignore_poison();
        known
            .get(&dev)
            .copied()
            .unwrap_or(Err(NotKept::UnknownDevice))
    }

    /// Asks the system, if the device is not known yet.
    pub(super) fn learn(&self, file: impl AsFd, dev: u64) -> Result<(), NotKept> {
        let known = self.get(dev);
        if known != Err(NotKept::UnknownDevice) {
            return known.map(drop);
        }
        let found = identify(file, dev);
        // Another file of the device may say more.
        if found != Err(NotKept::UnknownDevice) {
            self.set(dev, found);
        }
        found.map(drop)
    }

    pub(super) fn set(&self, dev: u64, found: Result<FileSystem, NotKept>) {
        self.0.write().ignore_poison().insert(dev, found);
    }

    /// Returns each device with the rank of its file system: the order of the cache.
    pub(super) fn ranks(&self) -> Ranks {
        let known = self.0.read().ignore_poison();
        let found = known
            .iter()
            .filter_map(|(dev, found)| Some((*dev, (*found).ok()?)));
        let found: Vec<_> = found.collect();
        let before = |own: FileSystem| found.iter().filter(|(_, other)| *other < own).count();
        let ranks = found.iter().map(|(dev, own)| (*dev, before(*own), *own));
        Ranks(ranks.collect())
    }
}

/// Devices with their file systems.
pub(super) struct Ranks(Vec<(u64, usize, FileSystem)>);

impl Ranks {
    /// Returns the number of the file system in the order of the cache. Two devices can be one file
    /// system. An unknown device comes last.
    pub(super) fn rank(&self, dev: u64) -> usize {
        self.find(dev).map_or(usize::MAX, |(_, rank, _)| *rank)
    }

    pub(super) fn file_system(&self, dev: u64) -> Option<FileSystem> {
        self.find(dev).map(|(_, _, file_system)| *file_system)
    }

    fn find(&self, dev: u64) -> Option<&(u64, usize, FileSystem)> {
        self.0.iter().find(|(other, ..)| *other == dev)
    }
}

fn identify(file: impl AsFd, dev: u64) -> Result<FileSystem, NotKept> {
    let mut found = Statx::default();
    let fields = FileVersion::FIELDS | Fields::MNT_ID;
    statx(&file, c"", AtFlags::EMPTY_PATH, fields.bits(), &mut found)
        .map_err(|_| NotKept::UnknownDevice)?;
    let metadata = Metadata::from(&found);
    if metadata.dev() != Some(dev) {
        return Err(NotKept::UnknownDevice);
    }
    let sets_times = magic::of(&file).is_ok_and(|found| SETS_TIMES.contains(&found));
    let trust = IdentityTrust::of(&file);
    if !sets_times || !trust.keeps_inode || !trust.keeps_birth {
        return Err(NotKept::OtherType);
    }
    let identity = FileSystemIdentity::of(file);
    let file_system = FileSystem::new(&identity).ok_or(NotKept::NoUuid)?;
    // Without the table it is not known whether times are written to the disk.
    let mounts = mounts::read().map_err(|_| NotKept::NoMounts)?;
    // The table lacks the mount of the root of chroot(2), if the root is no mount point.
    let mount = mounts
        .iter()
        .find(|mount| Some(mount.id) == metadata.mnt_id());
    if mount.is_some_and(|mount| mount.has_option("lazytime")) {
        return Err(NotKept::LazyTime);
    }
    Ok(file_system)
}
