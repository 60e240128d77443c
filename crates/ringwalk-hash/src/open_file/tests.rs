use super::*;
use std::fs;
use std::os::unix::fs::symlink;

#[test]
fn links_below_a_directory_are_not_followed() {
    let folder = tempfile::tempdir().unwrap();
    let top = folder.path();
    fs::create_dir(top.join("real")).unwrap();
    fs::write(top.join("real/file"), "contents").unwrap();
    symlink("real", top.join("link")).unwrap();
    symlink("real/file", top.join("file")).unwrap();
    let root = OpenRoot::open(top).unwrap();
    let open = |path: &str| OpenFile::open(&root, Path::new(path), &StampClocks::default());
    assert_eq!(open("real/file").unwrap().version().size, 8);
    for path in ["link/file", "file"] {
        assert_eq!(open(path).unwrap_err(), Fault::Open(Errno::LOOP), "{path}");
    }
    assert_eq!(open("real").unwrap_err(), Fault::Irregular);
    assert_eq!(open("none").unwrap_err(), Fault::Open(Errno::NOENT));
    let given = OpenFile::open(
        &OpenRoot::Working,
        &top.join("file"),
        &StampClocks::default(),
    );
    assert_eq!(given.unwrap().version().size, 8);
}

#[test]
fn a_fifo_does_not_block() {
    let folder = tempfile::tempdir().unwrap();
    let fifo = folder.path().join("fifo");
    rustix::fs::mknodat(CWD, &fifo, rustix::fs::FileType::Fifo, Mode::RUSR, 0).unwrap();
    let root = OpenRoot::open(folder.path()).unwrap();
    let opened = OpenFile::open(&root, Path::new("fifo"), &StampClocks::default());
    assert_eq!(opened.unwrap_err(), Fault::Irregular);
}

#[test]
fn a_change_right_after_another_one_is_seen() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    let root = OpenRoot::open(folder.path()).unwrap();
    let clocks = StampClocks::default();
    let open = || OpenFile::open(&root, Path::new("file"), &clocks).unwrap();
    for round in 0..20 {
        fs::write(&path, format!("{round:02}")).unwrap();
        std::thread::sleep(open().unsure_for().unwrap());
        let opened = open();
        assert_eq!(opened.check_unchanged(), Ok(()), "round {round}");
        // The same size, and within the same step of the clock without the wait.
        fs::write(&path, format!("{:02}", round + 1)).unwrap();
        assert_eq!(
            opened.check_unchanged(),
            Err(Fault::Changed),
            "round {round}"
        );
    }
}

#[test]
fn long_paths_are_opened_part_by_part() {
    let folder = tempfile::tempdir().unwrap();
    let name = "d".repeat(200);
    let mut path = String::new();
    let mut directory: OwnedFd = fs::File::open(folder.path()).unwrap().into();
    for _ in 0..30 {
        rustix::fs::mkdirat(&directory, &name, Mode::RWXU).unwrap();
        let flags = OFlags::DIRECTORY | OFlags::CLOEXEC;
        directory = openat(&directory, &name, flags, Mode::empty()).unwrap();
        path += &name;
        path.push('/');
    }
    path.push_str("file");
    let flags = OFlags::CREATE | OFlags::WRONLY | OFlags::CLOEXEC;
    openat(&directory, "file", flags, Mode::RWXU).unwrap();
    let root = OpenRoot::open(folder.path()).unwrap();
    assert!(path.len() > LONGEST);
    assert_eq!(
        OpenFile::open(&root, Path::new(&path), &StampClocks::default())
            .unwrap()
            .version()
            .size,
        0
    );
    let whole = folder.path().join(&path);
    assert!(OpenFile::open(&OpenRoot::Working, &whole, &StampClocks::default()).is_ok());
    for wrong in ["x".repeat(5000), format!("/{}", "x".repeat(5000))] {
        let opened = OpenFile::open(
            &OpenRoot::Working,
            Path::new(&wrong),
            &StampClocks::default(),
        );
        assert_eq!(opened.unwrap_err(), Fault::Open(Errno::NAMETOOLONG));
    }
}
