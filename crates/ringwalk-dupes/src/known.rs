//! Hashes from the cache, which are known without reading.

use crate::inventory::{FileId, Inventory};
use ringwalk::{Fields, Metadata, mounts};
use ringwalk_hash::cache::{CacheError, HashCache, NotKept};
use ringwalk_snapshot::describe_file_system;
use std::ffi::OsStr;
use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;

/// Asks what names each file system, and shows it to the cache. Returns a directory on
/// each file system that the cache does not keep hashes of, and why.
pub(crate) fn identify(
    inventory: &mut Inventory,
    cache: Option<&HashCache>,
) -> Vec<(Vec<u8>, NotKept)> {
    let mut open = vec![false; inventory.devices.len()];
    let mut infos = Vec::new();
    // Without the table, type and mount point are not known, and fewer file systems count as the
    // same.
    let mounts = mounts::read().unwrap_or_default();
    let mut uncached = Vec::new();
    for file in &inventory.files {
        let place = usize::from(file.device);
        if open[place] {
            continue;
        }
        let number = inventory.devices[place].number;
        let path = inventory.directory_path(file.dir);
        // Without an answer nothing of the file system is in the cache.
        let Ok(directory) = File::open(OsStr::from_bytes(&path)) else {
            continue;
        };
        let fields = Fields::INO | Fields::MNT_ID;
        let found = Metadata::of_path(Some(directory.as_raw_fd()), ".", false, fields);
        let Some(found) = found.ok().filter(|found| found.dev() == number) else {
            continue;
        };
        open[place] = true;
        let id = found.mnt_id();
        let mount = mounts.iter().find(|mount| Some(mount.id) == id);
        if let Some(number) = number {
            let info = describe_file_system(Some(&directory), number, mount);
            infos.push((place, info));
        }
        if let Some(cache) = cache
            && let Some(number) = number
        {
            let learned = cache.file_system(&directory, number);
            uncached.extend(learned.err().map(|why| (path.clone(), why)));
        }
        if open.iter().all(|open| *open) {
            break;
        }
    }
    for (place, info) in infos {
        inventory.devices[place].info = Some(info);
    }
    uncached
}

/// A file whose hash the cache may have.
struct Wanted {
    ino: u64,
    id: FileId,
    device: u16,
}

/// Puts the hashes of the cache into the inventory, for files with the size of another one.
pub(crate) fn look_up(inventory: &mut Inventory, cache: &HashCache) -> Result<(), CacheError> {
    let mut wanted: Vec<Wanted> = Vec::new();
    for class in inventory.classes() {
        let size = inventory.file(FileId(class.start)).size;
        if size > 0 && inventory.inodes(class.clone()).nth(1).is_some() {
            // One live name of each inode. Rows of snapshots have their own hashes.
            let names = inventory.inodes(class);
            let names = names.filter_map(|names| inventory.live_name(names));
            wanted.extend(names.map(|id| {
                let file = inventory.file(id);
                let (ino, device) = (file.ino, file.device);
                Wanted { ino, id, device }
            }));
        }
    }
    let dev = |file: &Wanted| {
        let device = &inventory.devices[usize::from(file.device)];
        device.number.unwrap_or(0)
    };
    let place = |file: &Wanted| (dev(file), file.ino);
    let version = |file: &Wanted| inventory.file(file.id).version(dev(file));
    let first_known = inventory.known.len();
    let mut known = Vec::new();
    cache.look_up(&mut wanted, place, version, |file, hash| {
        // There are fewer hashes than files.
        #[expect(clippy::cast_possible_truncation)]
        let place = (first_known + known.len()) as u32;
        inventory.file(file.id).set_known(place);
        known.push(hash);
    })?;
    inventory.known.append(&mut known);
    Ok(())
}
