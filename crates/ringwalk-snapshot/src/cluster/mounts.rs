//! File systems that are mounted below the roots of a walk, and what identifies each of them on
//! every machine.

use crate::capture::file_systems::{file_system_of, open_directory};
use ringwalk::identity::IdentityTrust;
use ringwalk::mounts::{self, Mount};
use ringwalk::{Errno, Fields, FileType, Metadata};
use ringwalk_sys::sync::lock;
use std::collections::{HashMap, HashSet};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::Mutex;

/// What is mounted at a place below a root. What cannot be found out is `None`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MountBelow {
    /// The mount point.
    pub point: PathBuf,
    /// Type of the file system. All versions of NFS are one.
    pub kind: String,
    /// Inode number of what is mounted, if it is the same on every machine.
    pub inode: Option<u64>,
    /// UUID of the file system.
    pub uuid: Option<String>,
    /// Number of the subvolume of btrfs.
    pub subvolume: Option<u64>,
}

/// Returns what is mounted below these directories, which are absolute paths without links.
///
/// Some file systems are mounted when a directory is entered, and unmounted when nobody uses them.
/// They count only if their mount points are among `expected`: such a mount point is entered if it
/// is not mounted.
///
/// A server is asked only once in a process: if it stops answering, it must not hold up tasks that
/// read elsewhere.
///
/// # Errors
///
/// If the table of mounts cannot be read.
pub fn mounts_below(roots: &[PathBuf], expected: &[PathBuf]) -> io::Result<Vec<MountBelow>> {
    let mut table = mounts::read()?;
    let points: HashSet<&PathBuf> = table.iter().map(|mount| &mount.point).collect();
    let missing: Vec<_> = expected
        .iter()
        .filter(|point| !points.contains(point))
        .collect();
    if !missing.is_empty() {
        for point in missing {
            // Only to have it mounted. Whether it is, the table says.
            let _ = open_directory(point.as_os_str().as_bytes());
        }
        table = mounts::read()?;
    }
    let below = below(&table, roots, expected).into_iter();
    Ok(below.filter_map(known_or_identified).collect())
}

/// Returns what identifies a mount, by what this process has found out before if it is of a server.
fn known_or_identified(mount: &Mount) -> Option<MountBelow> {
    static KNOWN: Mutex<Vec<(Mount, MountBelow)>> = Mutex::new(Vec::new());
    if !names_its_server(mount) {
        return identified(mount);
    }
    let same = |known: &&(Mount, MountBelow)| is_same(&known.0, mount);
    if let Some((_, found)) = lock(&KNOWN).iter().find(same) {
        return Some(found.clone());
    }
    let found = identified(mount)?;
    let mut known = lock(&KNOWN);
    known.retain(|(other, _)| other.point != mount.point);
    known.push((mount.clone(), found.clone()));
    Some(found)
}

/// Returns true if the table says what is mounted: another file system would have another source. A
/// device may have another file system later, and what is in memory has no source.
fn names_its_server(mount: &Mount) -> bool {
    const IN_MEMORY: [&str; 3] = ["tmpfs", "ramfs", "overlay"];
    !mount.source.starts_with("/dev") && !IN_MEMORY.contains(&kind(mount).as_str())
}

/// Returns true if two lines of the table are of one mount. Its options may change.
fn is_same(one: &Mount, other: &Mount) -> bool {
    let identity = |mount: &Mount| (mount.id, mount.parent, mount.major, mount.minor);
    identity(one) == identity(other)
        && (&one.point, &one.root, &one.source, &one.file_system)
            == (&other.point, &other.root, &other.source, &other.file_system)
}

/// Returns the mounts of the table below the roots.
fn below<'t>(table: &'t [Mount], roots: &[PathBuf], expected: &[PathBuf]) -> Vec<&'t Mount> {
    let by_id: HashMap<u64, &Mount> = table.iter().map(|mount| (mount.id, mount)).collect();
    let is_below = |mount: &Mount| {
        let mut roots = roots.iter();
        roots.any(|root| mount.point.starts_with(root) && mount.point != *root)
    };
    let comes_and_goes = |mount: &Mount| {
        let parent = by_id.get(&mount.parent);
        parent.is_some_and(|parent| is_mounted_by_itself(mount, parent))
    };
    let counts = |mount: &&Mount| {
        is_below(mount) && (!comes_and_goes(mount) || expected.contains(&mount.point))
    };
    table.iter().filter(counts).collect()
}

/// Returns true if the kernel or a daemon mounts a file system on `parent` when a directory there
/// is entered: an automount, or a file system that a server has mounted below its export.
fn is_mounted_by_itself(mount: &Mount, parent: &Mount) -> bool {
    const BY_SERVER: [&str; 5] = ["nfs", "cifs", "smb3", "afs", "virtiofs"];
    let (kind, above) = (kind(mount), kind(parent));
    above == "autofs" || (kind == above && BY_SERVER.contains(&kind.as_str()))
}

fn kind(mount: &Mount) -> String {
    let kind = mount.file_system.to_string_lossy();
    match &*kind {
        "nfs4" => "nfs".to_owned(),
        _ => kind.into_owned(),
    }
}

/// Returns what identifies a mount; `None` if another one covers it.
fn identified(mount: &Mount) -> Option<MountBelow> {
    let mut found = MountBelow {
        point: mount.point.clone(),
        kind: kind(mount),
        inode: None,
        uuid: None,
        subvolume: None,
    };
    // The daemon of each machine numbers the inodes of its automounts itself, and to look below
    // them would mount something.
    if found.kind == "autofs" {
        return Some(found);
    }
    let metadata = match Metadata::of_path(None, &mount.point, false, Fields::STATX) {
        Ok(metadata) => metadata,
        // It was removed, or something else is mounted above it.
        Err(Errno::NOENT | Errno::NOTDIR) => return None,
        // If it may not be examined, only the mount itself is known.
        Err(_) => return Some(found),
    };
    if metadata.mnt_id().is_some_and(|id| id != mount.id) {
        return None;
    }
    // Where numbers do not last, another machine has others.
    let trust = IdentityTrust::of_type(&found.kind);
    found.inode = metadata.ino().filter(|_| trust.keeps_inode);
    if metadata.file_type() == FileType::Directory {
        (found.uuid, found.subvolume) = file_system_of(&mount.point);
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    const TABLE: &[u8] = b"20 1 8:1 / / rw - ext4 /dev/sda1 rw
21 20 0:40 / /data rw - nfs server:/data rw
22 21 0:41 / /data/project rw - lustre mgs:/project rw
23 21 0:42 / /data/home rw - autofs auto.home rw
24 23 0:43 / /data/home/user rw - nfs4 server:/home/user rw
25 21 0:44 / /data/crossed rw - nfs4 server:/data/crossed rw
26 20 0:45 / /database rw - tmpfs tmpfs rw
";

    fn points(expected: &[&str]) -> Vec<String> {
        let table = mounts::parse(TABLE).unwrap();
        let expected: Vec<_> = expected.iter().map(PathBuf::from).collect();
        let found = below(&table, &[PathBuf::from("/data")], &expected);
        let text = |mount: &&Mount| mount.point.to_string_lossy().into_owned();
        found.iter().map(text).collect()
    }

    #[test]
    fn what_is_mounted_by_itself_counts_only_where_it_is_expected() {
        assert_eq!(points(&[]), ["/data/project", "/data/home"]);
        let all = points(&["/data/crossed", "/data/home/user"]);
        assert_eq!(all.len(), 4, "{all:?}");
    }

    #[test]
    fn automounts_are_not_numbered_and_nfs_has_one_kind() {
        let table = mounts::parse(TABLE).unwrap();
        let found = identified(&table[3]).unwrap();
        assert_eq!((found.kind.as_str(), found.inode), ("autofs", None));
        assert_eq!(kind(&table[4]), kind(&table[1]));
    }

    #[test]
    fn a_mount_whose_place_was_removed_is_none() {
        let mut table = mounts::parse(TABLE).unwrap();
        table[2].point = PathBuf::from("/proc/self/no such place//deleted");
        assert_eq!(identified(&table[2]), None);
    }

    #[test]
    fn a_mount_of_this_machine_is_identified() {
        let found = mounts_below(&[PathBuf::from("/")], &[]).unwrap();
        let proc = found.iter().find(|mount| mount.point == Path::new("/proc"));
        let proc = proc.expect("/proc is mounted");
        // Inode numbers of /proc are not known to last.
        assert_eq!((proc.kind.as_str(), proc.inode), ("proc", None));
    }

    #[test]
    fn what_a_server_has_is_asked_for_once() {
        let mut table = mounts::parse(TABLE).unwrap();
        // A directory stands for what is mounted there.
        let place = tempfile::tempdir().unwrap();
        let lustre = &mut table[2];
        lustre.point = place.path().to_owned();
        // Linux 5.8 and later say which mount the directory is on.
        let metadata = Metadata::of_path(None, place.path(), false, Fields::STATX).unwrap();
        lustre.id = metadata.mnt_id().unwrap();
        let found = known_or_identified(lustre).unwrap();
        assert_eq!(found.inode, metadata.ino());
        let gone = place.path().to_owned();
        place.close().unwrap();
        assert_eq!(known_or_identified(lustre), Some(found));
        // Another export, or no server.
        let other = Mount {
            source: "mgs:/other".into(),
            ..lustre.clone()
        };
        assert_eq!(known_or_identified(&other), None);
        for (source, kind) in [("tmpfs", "tmpfs"), ("/dev/sdb1", "ext4")] {
            let mount = Mount {
                point: gone.clone(),
                source: source.into(),
                file_system: kind.into(),
                ..lustre.clone()
            };
            assert!(!names_its_server(&mount), "{kind}");
        }
    }
}
