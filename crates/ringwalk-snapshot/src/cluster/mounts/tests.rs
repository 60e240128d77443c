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
