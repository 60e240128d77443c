use super::*;

#[test]
fn a_path_lies_in_every_directory_up_to_the_root() {
    let all = |path: &'static [u8]| ancestors(path).collect::<Vec<_>>();
    assert_eq!(all(b""), Vec::<&[u8]>::new(), "a root lies in none");
    assert_eq!(all(b"a"), [b""]);
    assert_eq!(all(b"a/b/c"), [&b"a/b"[..], b"a", b""]);
}

#[test]
fn unknown_parts_of_an_identity_do_not_differ() {
    let ext4 = IdentityTrust::of_type("ext4");
    let mut a = Version::new(0, 0, Arc::from(&b"a"[..]), FileType::Regular);
    let mut b = a.clone();
    assert!(a.is_same_file(&b, ext4));
    a.set(Column::Ino, Some(1));
    assert!(a.is_same_file(&b, ext4));
    b.set(Column::Ino, Some(2));
    assert!(!a.is_same_file(&b, ext4));
    b.set(Column::Ino, Some(1));
    a.set(Column::Btime, Some(5));
    b.set(Column::Btime, Some(6));
    assert!(!a.is_same_file(&b, ext4), "an inode number used again");
    b.set(Column::Btime, None);
    assert!(a.is_same_file(&b, ext4));
    b.file_type = FileType::Symlink;
    assert!(!a.is_same_file(&b, ext4));
}

#[test]
fn size_and_time_come_before_inode_numbers_that_do_not_last() {
    let version = |ino, size, file_type| {
        let mut version = Version::new(0, 0, Arc::from(&b"a"[..]), file_type);
        version.set(Column::Ino, Some(ino));
        version.set(Column::Btime, Some(ino));
        version.set(Column::Size, Some(size));
        version.set(Column::Mtime, Some(7));
        version
    };
    let same = |kind, a: &Version, b: &Version| a.is_same_file(b, IdentityTrust::of_type(kind));
    let (file, directory) = (FileType::Regular, FileType::Directory);
    let one = version(1, 5, file);
    for kind in ["fuse.sshfs", "overlay", "vfat", "9p", "vfat", ""] {
        assert!(same(kind, &one, &version(2, 5, file)), "{kind}");
        assert!(!same(kind, &one, &version(2, 6, file)), "{kind}");
        assert!(same(kind, &one, &version(1, 6, file)), "{kind}");
        assert!(!same(kind, &one, &version(1, 5, directory)), "{kind}");
        let directories = [version(1, 5, directory), version(2, 6, directory)];
        assert!(same(kind, &directories[0], &directories[1]), "{kind}");
    }
    for kind in ["ext4", "btrfs", "nfs"] {
        assert!(!same(kind, &one, &version(2, 5, file)), "{kind}");
    }
    let mut copied_up = version(1, 6, file);
    copied_up.set(Column::Btime, Some(9));
    assert!(same("overlay", &one, &copied_up));
    assert!(
        !same("vfat", &one, &copied_up),
        "a time of birth that stays"
    );
}
