//! The file systems of the entries of a walk: type, UUID and mount point.

use crate::info::{FileSystemInfo, Text};
use ringwalk::{Metadata, mounts};
use ringwalk_sys::FileSystemIdentity;
use ringwalk_sys::sync::{IgnorePoison, lock};
use ringwalk_text::hex;
use rustix::fs::{Mode, OFlags, fstat, open};
use rustix::io::Errno;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Mutex;

/// The first directory on each device that the walk has reached.
#[derive(Debug, Default)]
pub(crate) struct FileSystems(Mutex<BTreeMap<u64, Met>>);

#[derive(Debug)]
struct Met {
    path: Vec<u8>,
    mount: Option<u64>,
}

impl FileSystems {
    /// Notes a file, if it is the first one of its device. `path` returns its path.
    pub(super) fn meet(&self, metadata: &Metadata, path: impl FnOnce() -> Vec<u8>) {
        let Some(dev) = metadata.dev() else { return };
        let mut met = lock(&self.0);
        met.entry(dev).or_insert_with(|| Met {
            path: path(),
            mount: metadata.mnt_id(),
        });
    }

    /// Returns what is known of each. What cannot be found out is `None`.
    pub(super) fn resolve(self) -> Vec<FileSystemInfo> {
        // Without the table, type and mount point are not known. No row depends on them.
        let mounts = mounts::read().unwrap_or_default();
        let met = self.0.into_inner().ignore_poison();
        met.into_iter()
            .map(|(device, met)| {
                let directory = open_directory(&met.path).ok();
                // It may be on another device by now.
                let directory = directory.filter(|directory| {
                    fstat(directory).ok().map(|stat| stat.st_dev) == Some(device)
                });
                let mount = match met.mount {
                    Some(id) => mounts.iter().find(|mount| mount.id == id),
                    // Before Linux 5.8, no call says on which mount a file is.
                    None => mounts::find(&mounts, None, Path::new(OsStr::from_bytes(&met.path))),
                };
                describe(directory.as_ref(), device, mount)
            })
            .collect()
    }
}

/// Returns what is known of a file system, from an open directory on it, its device number
/// (`st_dev`) and its line of the table of mounts. What cannot be found out is `None`.
pub fn describe(
    directory: Option<impl AsFd>,
    device: u64,
    mount: Option<&mounts::Mount>,
) -> FileSystemInfo {
    let (uuid, subvolume) = directory.map_or((None, None), identity_of);
    FileSystemInfo {
        uuid,
        subvolume,
        kind: mount.map(|mount| mount.file_system.to_string_lossy().into_owned()),
        mount_point: mount.map(|mount| Text(mount.point.as_os_str().as_bytes().to_vec())),
        device,
    }
}

/// Returns the UUID of the file system of a directory, and the number of its subvolume of btrfs.
/// Both stay the same when it is mounted again. What cannot be found out is `None`.
pub fn file_system_of(directory: &Path) -> (Option<String>, Option<u64>) {
    match open_directory(directory.as_os_str().as_bytes()) {
        Ok(directory) => identity_of(directory),
        Err(_) => (None, None),
    }
}

fn identity_of(directory: impl AsFd) -> (Option<String>, Option<u64>) {
    let identity = FileSystemIdentity::of(directory);
    let uuid = identity.uuid.and_then(|bytes| uuid_text(&bytes));
    (uuid, identity.subvolume)
}

pub(crate) fn open_directory(path: &[u8]) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    open(path, flags, Mode::empty())
}

/// Returns a UUID in lower case with hyphens; `None` if it is empty or nil (RFC 9562), which
/// identifies nothing: images that are made without a UUID have it.
pub(crate) fn uuid_text(bytes: &[u8]) -> Option<String> {
    if bytes.iter().all(|byte| *byte == 0) {
        return None;
    }
    let mut text = hex(bytes);
    if bytes.len() == 16 {
        for at in [20, 16, 12, 8] {
            text.insert(at, '-');
        }
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::MetadataExt;

    /// Linux before 5.8 does not say on which mount a file is.
    #[test]
    fn a_file_without_a_mount_id_is_on_the_mount_above_it() {
        let met = FileSystems::default();
        let mut metadata = Metadata::default();
        metadata.set_dev(std::fs::metadata("/proc").unwrap().dev());
        met.meet(&metadata, || b"/proc/self".to_vec());
        let found = met.resolve();
        assert_eq!(found[0].kind.as_deref(), Some("proc"));
        assert_eq!(found[0].mount_point.as_ref().unwrap().0, b"/proc");
    }

    #[test]
    fn uuids_that_identify_nothing_are_none() {
        assert_eq!(uuid_text(&[]), None);
        assert_eq!(uuid_text(&[0; 16]), None);
        let bytes: Vec<u8> = (0..16).collect();
        let text = "00010203-0405-0607-0809-0a0b0c0d0e0f";
        assert_eq!(uuid_text(&bytes).as_deref(), Some(text));
        assert_eq!(uuid_text(&bytes[..4]).as_deref(), Some("00010203"));
    }
}
