use super::*;

/// The known values of all accessors, as text.
fn known(metadata: &Metadata) -> Vec<(&'static str, String)> {
    macro_rules! list {
        ($($name:ident),*) => {
            [$((stringify!($name), metadata.$name().map(|value| format!("{value:?}")))),*]
        };
    }
    let all = list!(
        nlink,
        uid,
        gid,
        ino,
        size,
        blocks,
        mnt_id,
        atime,
        mtime,
        ctime,
        btime,
        project_id,
        permissions,
        mode,
        dev,
        rdev,
        block_size,
        identity,
        modified,
        accessed,
        created
    );
    let all = all.into_iter();
    all.filter_map(|(name, value)| Some((name, value?)))
        .collect()
}

#[test]
fn what_was_not_asked_for_is_not_known() {
    assert_eq!(known(&Metadata::default()), []);
    assert_eq!(Metadata::default().file_type(), FileType::Unknown);
    let mut file = Metadata::of_path(None, "Cargo.toml", false, Fields::all()).unwrap();
    file.retain(Fields::SIZE);
    let names: Vec<_> = known(&file).into_iter().map(|(name, _)| name).collect();
    // Every answer of the kernel has a device and a block size.
    assert_eq!(names, ["size", "dev", "block_size"]);
    assert_eq!(file.file_type(), FileType::Unknown);
    let size = std::fs::metadata("Cargo.toml").unwrap().len();
    assert_eq!(file.size(), Some(size));
}

#[test]
fn what_is_set_is_known_and_nothing_else() {
    let mut size = Metadata::default();
    size.set_size(0);
    assert_eq!(known(&size), [("size", "0".to_owned())]);
    let mut file = Metadata::default();
    file.set_ino(7);
    assert_eq!(file.identity(), None, "its device is not known");
    file.set_dev(0);
    assert_eq!(file.identity(), Some(Identity { dev: 0, ino: 7 }));
    file.set_permissions(0o100_644);
    assert_eq!((file.permissions(), file.mode()), (Some(0o644), None));
    file.set_file_type(FileType::Directory);
    assert_eq!(file.mode(), Some(0o040_644));
    file.set_file_type(FileType::Unknown);
    assert_eq!((file.permissions(), file.mode()), (Some(0o644), None));
}

#[test]
fn only_a_device_file_stands_for_a_device() {
    let mut file = Metadata::default();
    file.set_file_type(FileType::Regular);
    assert_eq!(file.rdev(), Some(0));
    file.set_file_type(FileType::BlockDevice);
    assert_eq!(file.rdev(), None);
    file.set_rdev(0x801);
    assert_eq!(file.rdev(), Some(0x801));
}

#[test]
fn times_of_the_standard_library() {
    let time = |secs, nanos| Timestamp { secs, nanos }.to_system_time();
    let second = Duration::from_secs(1);
    assert_eq!(time(0, 5), Some(UNIX_EPOCH + Duration::from_nanos(5)));
    let before = UNIX_EPOCH - second + Duration::from_nanos(5);
    assert_eq!(time(-1, 5), Some(before));
    assert!(time(i64::MAX, 999_999_999).is_some() && time(i64::MIN, 0).is_some());
    let file = Metadata::of_path(None, "Cargo.toml", false, Fields::MTIME).unwrap();
    let std = std::fs::metadata("Cargo.toml").unwrap();
    assert_eq!(file.modified(), std.modified().ok());
}
