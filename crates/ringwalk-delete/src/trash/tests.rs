use super::super::testing::{Place, Results, SetOnDrop, Tree, in_own_namespace, mount};
use super::super::{Log, Outcome, Reason};
use super::{
    Candidate, Entry, Found, TrashOptions, is_in_trash, numbered, rename_back, rename_compared,
    trash,
};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::fs::{self, DirBuilder};
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

impl Place {
    fn home(&self) -> PathBuf {
        self.directory.path().join("home")
    }

    /// Creates an empty trash.
    fn bin(&self) -> PathBuf {
        let bin = self.home().join("Trash");
        for directory in ["files", "info"] {
            let mut builder = DirBuilder::new();
            builder.recursive(true).mode(0o700);
            builder.create(bin.join(directory)).unwrap();
        }
        bin
    }
}

fn run<'t>(place: &Place, tree: &Tree, paths: &[&Path]) -> (Outcome, Results<'t>) {
    run_in(place, tree, paths, Some(place.home()))
}

fn run_in<'t>(
    place: &Place,
    tree: &Tree,
    paths: &[&Path],
    home: Option<PathBuf>,
) -> (Outcome, Results<'t>) {
    let selections: Vec<_> = paths.iter().map(|path| tree.select(path)).collect();
    let options = TrashOptions::with_data_home(home);
    let mut results = Results::default();
    let log = place.log();
    let outcome = trash(&tree.root(), &selections, &options, &log, &mut results).unwrap();
    place.check_outside();
    (outcome, results)
}

/// Returns the names in a directory, sorted.
fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap();
    let mut names: Vec<_> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn entries_are_moved_to_the_trash_of_the_home() {
    let place = Place::with(&["a/b", "c"]);
    let tree = Tree::read(&place.root());
    // A directory goes as a whole.
    place.write("a/new");
    let (outcome, results) = run(&place, &tree, &["a".as_ref(), "c".as_ref()]);
    assert_eq!(results.kept, []);
    assert_eq!((outcome.deleted, outcome.freed), (2, 0));
    assert!(names(&place.root()).is_empty());
    let bin = place.home().join("Trash");
    assert_eq!(names(&bin.join("files")), ["a", "c"]);
    assert_eq!(names(&bin.join("files/a")), ["b", "new"]);
    assert_eq!(names(&bin.join("info")), ["a.trashinfo", "c.trashinfo"]);
    let record = fs::read_to_string(bin.join("info/c.trashinfo")).unwrap();
    let path = place.root().canonicalize().unwrap().join("c");
    let expected = format!("[Trash Info]\nPath={}\nDeletionDate=2", path.display());
    assert!(record.starts_with(&expected), "{record}");
    for directory in [&bin, &bin.join("files"), &bin.join("info")] {
        assert_eq!(directory.metadata().unwrap().mode() & 0o777, 0o700);
    }
    let lines = place.lines();
    assert_eq!(lines[0]["action"], "trash");
    assert_eq!(lines[3]["event"], "trashed");
    let to = bin.join("files/c").canonicalize().unwrap();
    assert_eq!(
        Path::new(lines[3]["to"].as_str().unwrap())
            .canonicalize()
            .unwrap(),
        to
    );
}

#[test]
fn a_name_that_is_taken_gets_a_number() {
    let place = Place::with(&["x/a", "y/a", "z/a"]);
    let tree = Tree::read(&place.root());
    let bin = place.bin();
    // A file without a record.
    fs::write(bin.join("files/a.2"), "old").unwrap();
    let paths = ["x/a", "y/a", "z/a"].map(Path::new);
    let (_, results) = run(&place, &tree, &paths);
    assert_eq!(results.kept, []);
    let files = ["a", "a.2", "a.3", "a.4"];
    assert_eq!(names(&bin.join("files")), files);
    let records = ["a.3.trashinfo", "a.4.trashinfo", "a.trashinfo"];
    assert_eq!(names(&bin.join("info")), records);
    assert_eq!(fs::read_to_string(bin.join("files/a.2")).unwrap(), "old");
    assert_eq!(fs::read_to_string(bin.join("files/a.3")).unwrap(), "y/a");
}

#[test]
fn names_of_any_bytes_and_long_names_are_moved() {
    let place = Place::new();
    let odd = OsStr::from_bytes(b"%\xff\n x");
    let long = "l".repeat(255);
    for name in [odd, OsStr::new(&long)] {
        fs::write(place.root().join(name), "").unwrap();
    }
    let tree = Tree::read(&place.root());
    let (_, results) = run(&place, &tree, &[odd.as_ref(), long.as_ref()]);
    assert_eq!(results.kept, []);
    let bin = place.home().join("Trash");
    let mut record = OsStr::from_bytes(b"%\xff\n x.trashinfo").to_owned();
    let text = fs::read_to_string(bin.join("info").join(&record)).unwrap();
    assert!(text.contains("root/%25%FF%0A%20x\n"), "{text}");
    record = "l".repeat(245).into();
    assert!(bin.join("files").join(&record).exists());
    assert_eq!(numbered(long.as_bytes(), 12).len(), 245);
    // Characters of two bytes, behind one of one byte.
    let cut = format!("x{}", "\u{e4}".repeat(122));
    let long = format!("{cut}\u{e4}\u{e4}");
    assert_eq!(numbered(long.as_bytes(), 1), cut.as_bytes());
    let cut = numbered(&long.as_bytes()[1..], 10);
    assert_eq!(cut, format!("{}.10", "\u{e4}".repeat(121)).as_bytes());
    // No text, and a name that is short enough.
    let bytes = [0xff; 255];
    assert_eq!(numbered(&bytes, 1), &bytes[..245]);
    assert_eq!(numbered("\u{e4}".as_bytes(), 1), "\u{e4}".as_bytes());
    assert_eq!(numbered(b"a\xc3", 1), b"a\xc3");
}

#[test]
fn what_is_in_a_trash_stays_there_with_its_origin() {
    let place = Place::with(&["a"]);
    run(&place, &Tree::read(&place.root()), &["a".as_ref()]);
    let bin = place.bin();
    let home = Tree::read(&place.home());
    for path in ["Trash/files/a", "Trash/info/a.trashinfo", "Trash/info"] {
        let (_, results) = run(&place, &home, &[path.as_ref()]);
        assert_eq!(results.kept(&home), [(path.into(), Reason::InTrash)]);
    }
    assert_eq!(names(&bin.join("files")), ["a"]);
    assert_eq!(names(&bin.join("info")), ["a.trashinfo"]);
    for path in [
        "/home/u/.local/share/Trash/files",
        "/mnt/.Trash-1000/files/a/b",
        "/mnt/.Trash/1000/info/a.trashinfo",
    ] {
        assert!(is_in_trash(Path::new(path)), "{path}");
    }
    for path in [
        "/Trash",
        "/Trash/other/files",
        "/.Trash-x/files/a",
        "/1000/files/a",
        "/files/Trash",
    ] {
        assert!(!is_in_trash(Path::new(path)), "{path}");
    }
}

/// A mount of FUSE. Its process would keep the namespace of the test for ever.
struct Fuse(PathBuf);

impl Fuse {
    fn new(point: PathBuf) -> Option<Self> {
        let status = Command::new("bindfs").args([&point, &point]).status();
        let is_mounted = status.is_ok_and(|status| status.success());
        is_mounted.then_some(Self(point))
    }
}

impl Drop for Fuse {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

/// Where there is no `RENAME_NOREPLACE`, as on FUSE.
#[test]
fn files_and_directories_are_moved_on_fuse() {
    let name = "trash::tests::files_and_directories_are_moved_on_fuse";
    if !in_own_namespace(name) {
        return;
    }
    let place = Place::with(&["a", "d/e", "x/a", "b"]);
    let Some(_mounted) = Fuse::new(place.root()) else {
        eprintln!("skipped: bindfs is not installed, or cannot mount here");
        return;
    };
    let tree = Tree::read(&place.root());
    let (_, results) = run(&place, &tree, &["a", "d", "x/a"].map(Path::new));
    assert_eq!(results.kept(&tree), []);
    let uid = rustix::process::geteuid().as_raw();
    let bin = place.at(&format!(".Trash-{uid}"));
    assert_eq!(names(&bin.join("files")), ["a", "a.2", "d"]);
    assert_eq!(names(&bin.join("files/d")), ["e"]);
    // And back.
    let files = fs::File::open(bin.join("files")).unwrap();
    let root = fs::File::open(place.root()).unwrap();
    let back = |name: &[u8], to: &[u8]| rename_back(files.as_fd(), name, root.as_fd(), to);
    assert_eq!(back(b"a", b"b"), Err(Errno::EXIST));
    assert_eq!(fs::read_to_string(place.at("b")).unwrap(), "b");
    assert_eq!(back(b"d", b"d"), Ok(()));
    assert_eq!((back(b"a", b"a"), back(b"a.2", b"a.2")), (Ok(()), Ok(())));
    assert_eq!(names(&bin.join("files")), [""; 0]);
    assert_eq!(names(&place.at("d")), ["e"]);
}

#[test]
fn replaced_and_missing_entries_and_the_log_are_kept() {
    let place = Place::with(&["a", "b", "c", "d/e"]);
    let tree = Tree::read(&place.root());
    fs::rename(place.at("c"), place.at("a")).unwrap();
    fs::remove_file(place.at("b")).unwrap();
    fs::rename(place.at("d"), place.directory.path().join("aside")).unwrap();
    symlink(place.outside(), place.at("d")).unwrap();
    let paths = ["a", "b", "d/e", "d"].map(Path::new);
    let (_, results) = run(&place, &tree, &paths);
    let kept = [
        ("a".into(), Reason::Replaced),
        ("b".into(), Reason::Missing),
        ("d/e".into(), Reason::PathChanged),
        ("d".into(), Reason::Replaced),
    ];
    assert_eq!(results.kept(&tree), kept);
    let log = Log::open(&place.at("log")).unwrap();
    let tree = Tree::read(&place.root());
    let mut results = Results::default();
    let options = TrashOptions::with_data_home(Some(place.home()));
    trash(
        &tree.root(),
        &[tree.select("log")],
        &options,
        &log,
        &mut results,
    )
    .unwrap();
    assert_eq!(results.kept(&tree), [("log".into(), Reason::Log)]);
}

#[test]
fn the_log_does_not_go_with_its_directory() {
    let place = Place::new();
    std::fs::create_dir_all(place.at("state/deep")).unwrap();
    let log = Log::open(&place.at("state/deep/log")).unwrap();
    let tree = Tree::read(&place.root());
    let mut results = Results::default();
    let options = TrashOptions::with_data_home(Some(place.home()));
    let selected = [tree.select("state")];
    trash(&tree.root(), &selected, &options, &log, &mut results).unwrap();
    assert_eq!(results.kept(&tree), [("state".into(), Reason::HoldsLog)]);
    assert!(place.at("state/deep/log").exists());
}

#[test]
fn a_trash_behind_a_link_or_of_others_is_not_used() {
    let setups: [SetUp<'_>; 3] = [
        &|path, place| symlink(place.outside(), path).unwrap(),
        &|path, _| {
            fs::create_dir(path).unwrap();
            fs::set_permissions(path, fs::Permissions::from_mode(0o777)).unwrap();
        },
        &|path, _| {
            DirBuilder::new().mode(0o700).create(path).unwrap();
            chown(path, Some(65534), None).unwrap();
        },
    ];
    // Only root can give a directory away.
    let possible = if rustix::process::geteuid().is_root() {
        3
    } else {
        2
    };
    for part in ["Trash", "Trash/files", "Trash/info"] {
        for (number, set_up) in setups.iter().take(possible).enumerate() {
            let place = Place::with(&["a"]);
            let tree = Tree::read(&place.root());
            let path = place.home().join(part);
            let mut builder = DirBuilder::new();
            builder.recursive(true).mode(0o700);
            builder.create(path.parent().unwrap()).unwrap();
            set_up(&path, &place);
            let (_, results) = run(&place, &tree, &["a".as_ref()]);
            let kept = [("a".into(), Reason::UnsafeTrash)];
            assert_eq!(results.kept(&tree), kept, "{part} {number}");
            assert!(place.at("a").exists());
        }
    }
}

#[test]
fn a_file_that_was_not_shown_goes_back_after_the_renaming() {
    let place = Place::with(&["a", "b"]);
    let tree = Tree::read(&place.root());
    let directory = fs::File::open(place.root()).unwrap();
    let files = place.bin().join("files");
    let opened = fs::File::open(&files).unwrap();
    let entry = tree.select("b").entry;
    let (root, directory) = (&tree.root(), directory.as_fd());
    let candidate = Entry {
        root,
        directory,
        shown: &entry,
    };
    let found = candidate.look().unwrap();
    let check = |moved: &Found| candidate.check(&found, moved);
    let moved = rename_compared(directory, b"a", check, opened.as_fd(), b"a");
    assert_eq!(moved, Err(Reason::Replaced));
    assert!(place.at("a").exists() && names(&files).is_empty());
}

/// Puts something at the top of a file system before its trash is used.
type SetUp<'t> = &'t dyn Fn(&Path, &Place);

#[test]
fn another_file_system_has_a_trash_of_its_own() {
    let name = "trash::tests::another_file_system_has_a_trash_of_its_own";
    if !in_own_namespace(name) {
        return;
    }
    let uid = rustix::process::geteuid().as_raw();
    let private = format!(".Trash-{uid}");
    let shared = format!(".Trash/{uid}");
    let sticky = |top: &Path, mode: u32| {
        fs::create_dir(top.join(".Trash")).unwrap();
        fs::set_permissions(top.join(".Trash"), fs::Permissions::from_mode(mode)).unwrap();
    };
    let setups: [(&str, &str, SetUp<'_>); 6] = [
        ("nothing", &private, &|_, _| {}),
        ("sticky", &shared, &|top, _| sticky(top, 0o1777)),
        ("not sticky", &private, &|top, _| sticky(top, 0o777)),
        ("link", &private, &|top, _| {
            symlink("elsewhere", top.join(".Trash")).unwrap();
        }),
        ("user's link", &private, &|top, place| {
            sticky(top, 0o1777);
            symlink(place.outside(), top.join(&shared)).unwrap();
        }),
        ("both are links", "", &|top, place| {
            symlink(place.outside(), top.join(".Trash")).unwrap();
            symlink(place.outside(), top.join(&private)).unwrap();
        }),
    ];
    for (what, expected, set_up) in setups {
        let place = Place::new();
        mount(&["-t", "tmpfs", "none"], &place.root());
        place.write("dir/a b");
        set_up(&place.root(), &place);
        let tree = Tree::read(&place.root());
        let (_, results) = run(&place, &tree, &["dir/a b".as_ref()]);
        if expected.is_empty() {
            let kept = [("dir/a b".into(), Reason::UnsafeTrash)];
            assert_eq!(results.kept(&tree), kept, "{what}");
            continue;
        }
        assert_eq!(results.kept(&tree), [], "{what}");
        let bin = place.at(expected);
        assert!(bin.join("files/a b").exists(), "{what}");
        let record = fs::read_to_string(bin.join("info/a b.trashinfo")).unwrap();
        assert!(
            record.starts_with("[Trash Info]\nPath=dir/a%20b\nDel"),
            "{what}: {record}"
        );
        assert!(!place.home().join("Trash").exists());
    }
}

#[test]
fn mount_points_and_directories_with_them_are_kept() {
    let name = "trash::tests::mount_points_and_directories_with_them_are_kept";
    if !in_own_namespace(name) {
        return;
    }
    let place = Place::with(&["a/b/c", "d"]);
    mount(&["-t", "tmpfs", "none"], &place.at("a/b"));
    fs::write(place.at("a/b/inside"), "").unwrap();
    let tree = Tree::read(&place.root());
    let paths = ["a", "a/b", "a/b/inside"].map(Path::new);
    let (_, results) = run(&place, &tree, &paths);
    let kept = [
        ("a".into(), Reason::HoldsMountPoint),
        ("a/b".into(), Reason::MountPoint),
        ("a/b/inside".into(), Reason::OtherFileSystem),
    ];
    assert_eq!(results.kept(&tree), kept);
}

/// A thread exchanges the entry with another file all the time. That one must not be in the trash
/// in the end, although it may be moved there for a moment.
#[test]
fn a_file_that_takes_the_name_in_the_last_moment_is_moved_back() {
    let place = Place::with(&["a", "decoy"]);
    let tree = Tree::read(&place.root());
    let bin = place.bin();
    let is_over = AtomicBool::new(false);
    let (mut moved, mut kept) = (0, 0);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let (a, decoy) = (place.at("a"), place.at("decoy"));
            while !is_over.load(Ordering::Relaxed) {
                let _ = renameat_with(CWD, &a, CWD, &decoy, RenameFlags::EXCHANGE);
            }
        });
        let _set = SetOnDrop(&is_over);
        let start = Instant::now();
        while start.elapsed() < Duration::from_secs(1) || moved == 0 || kept == 0 {
            let (_, results) = run(&place, &tree, &["a".as_ref()]);
            for name in names(&bin.join("files")) {
                let file = bin.join("files").join(name);
                assert_eq!(fs::read_to_string(&file).unwrap(), "a");
                // Back to where it was, for the next round. One of the two names is free.
                let to = ["a", "decoy"].map(|name| place.at(name));
                let mut back = to
                    .iter()
                    .map(|to| renameat_with(CWD, &file, CWD, to, RenameFlags::NOREPLACE));
                assert!(back.any(|moved| moved.is_ok()));
            }
            assert_eq!(names(&bin.join("info")).len(), results.deleted.len());
            for name in names(&bin.join("info")) {
                fs::remove_file(bin.join("info").join(name)).unwrap();
            }
            moved += results.deleted.len();
            kept += results.kept.len();
            assert!(start.elapsed() < Duration::from_secs(60), "{moved} {kept}");
        }
    });
}
