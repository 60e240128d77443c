//! Hashes that are known without reading: those of the cache.

use crate::inventory::{FileId, Inventory};
use ringwalk_hash::cache::{CacheError, HashCache, NotKept};
use ringwalk_snapshot::uuid_text;
use ringwalk_sys::FileSystemIdentity;
use std::ffi::OsStr;
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;

/// Asks for the identity of each file system, and shows it to the cache. Returns a directory on
/// each file system that the cache does not keep hashes of, and why.
pub(crate) fn identify(
    inventory: &mut Inventory,
    cache: Option<&HashCache>,
) -> Vec<(Vec<u8>, NotKept)> {
    let mut open = vec![false; inventory.devices.len()];
    let mut identities = Vec::new();
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
        let is_on_it = directory
            .metadata()
            .is_ok_and(|found| Some(found.dev()) == number);
        if !is_on_it {
            continue;
        }
        open[place] = true;
        let identity = FileSystemIdentity::of(&directory);
        if let Some(cache) = cache
            && let Some(number) = number
        {
            let learned = cache.file_system(&directory, number);
            uncached.extend(learned.err().map(|why| (path.clone(), why)));
        }
        if let Some(uuid) = identity.uuid {
            identities.extend(uuid_text(&uuid).map(|uuid| (place, (uuid, identity.subvolume))));
        }
        if open.iter().all(|open| *open) {
            break;
        }
    }
    for (place, identity) in identities {
        inventory.devices[place].identity = Some(identity);
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
