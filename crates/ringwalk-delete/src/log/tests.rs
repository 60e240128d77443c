use super::super::testing::{Place, Results, Tree};
use super::super::{Log, delete};
use super::{Identity, Line, base_directory_of};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

const IDENTITY: Identity = Identity {
    device: 1,
    inode: 2,
    mark: None,
};

#[test]
fn each_selection_and_each_entry_has_a_line() {
    let place = Place::with(&["a/b", "a/c"]);
    let tree = Tree::read(&place.root());
    place.write("a/new");
    let selections = [tree.select("a/b"), tree.select("a")];
    delete(
        &tree.root(),
        &selections,
        &tree,
        &place.log(),
        &mut Results::default(),
    )
    .unwrap();
    let lines = place.lines();
    let root = place.root().canonicalize().unwrap();
    let found: Vec<_> = lines
        .iter()
        .map(|line| {
            let path = Path::new(line["path"].as_str().unwrap());
            let path = path.strip_prefix(&root).unwrap().to_str().unwrap();
            (line["event"].as_str().unwrap(), path)
        })
        .collect();
    let mut expected = vec![("begin", "a/b"), ("begin", "a"), ("deleted", "a/b")];
    // In the order in which the directory was listed.
    let rest: Vec<_> = found[3..5].to_vec();
    assert!(rest.contains(&("deleted", "a/c")) && rest.contains(&("kept", "a/b")));
    expected.extend(rest);
    expected.push(("kept", "a"));
    assert_eq!(found, expected);
    assert_eq!(lines[0]["action"], "delete");
    assert_eq!(lines[2]["size"], 3);
    assert_eq!(lines[2]["inode"], selections[0].entry.identity.inode);
    assert_eq!(lines[2]["device"], selections[0].entry.identity.device);
    assert_eq!(lines[5]["reason"], "contains entries that were kept");
    assert!(lines[0]["time"].as_str().unwrap().ends_with('Z'));
}

#[test]
fn the_log_and_its_directories_belong_to_the_user_alone() {
    let place = Place::new();
    let path = place.directory.path().join("new/state/log");
    drop(Log::open(&path).unwrap());
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&path), 0o600);
    assert_eq!(mode(path.parent().unwrap()), 0o700);
    assert_eq!(mode(path.parent().unwrap().parent().unwrap()), 0o700);
}

#[test]
fn nothing_is_deleted_if_the_log_cannot_be_written() {
    let place = Place::with(&["a"]);
    let tree = Tree::read(&place.root());
    // A log on a full disk.
    let path = PathBuf::from("/dev/full");
    let file = fs::OpenOptions::new()
        .write(true)
        .open(&path)
        .unwrap()
        .into();
    let log = Log {
        file,
        path,
        identity: IDENTITY,
    };
    let mut results = Results::default();
    let selections = [tree.select("a")];
    let error = delete(&tree.root(), &selections, &tree, &log, &mut results).unwrap_err();
    let text = "nothing more is changed, as the log '/dev/full' cannot be written: \
                No space left on device";
    assert_eq!(error.to_string(), text);
    assert!(results.deleted.is_empty());
    assert!(place.at("a").exists());
}

#[test]
fn a_log_is_a_regular_file() {
    let place = Place::new();
    let pipe = place.directory.path().join("pipe");
    mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    for path in [&pipe, Path::new("/dev/null")] {
        let error = Log::open(path).unwrap_err();
        assert!(error.to_string().ends_with("not a regular file"), "{error}");
    }
}

#[test]
fn a_log_behind_a_link_is_not_opened() {
    let place = Place::new();
    let path = place.directory.path().join("log");
    symlink(place.outside().join("file"), &path).unwrap();
    let error = Log::open(&path).unwrap_err();
    assert_eq!(error.path, path);
    let canary = fs::read_to_string(place.outside().join("file")).unwrap();
    assert_eq!(canary, "canary");
}

#[test]
fn lines_are_appended_behind_a_torn_one() {
    let place = Place::new();
    let path = place.directory.path().join("log");
    fs::write(&path, "{\"time\":").unwrap();
    for _ in 0..2 {
        let log = Log::open(&path).unwrap();
        log.append(&Line::new("deleted", b"/x", IDENTITY)).unwrap();
    }
    let text = fs::read_to_string(&path).unwrap();
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines.len(), 3, "{text}");
    assert!(
        lines[1..]
            .iter()
            .all(|line| line.starts_with("{\"time\":\"2"))
    );
}

#[test]
fn paths_cannot_disturb_a_terminal_that_shows_the_log() {
    let place = Place::new();
    let log = place.log();
    let path = "/\u{202e}\u{9b}\u{1b}\n\"".as_bytes();
    log.append(&Line::new("deleted", path, IDENTITY)).unwrap();
    let text = fs::read_to_string(place.log_path()).unwrap();
    assert!(
        text.contains(r#""path":"/\u202e\u009b\u001b\n\"""#),
        "{text}"
    );
    assert_eq!(place.lines()[0]["path"].as_str().unwrap().as_bytes(), path);
}

#[test]
fn base_directories_must_be_absolute() {
    let found = |value: Option<&str>, home: Option<&str>| {
        base_directory_of(value.map(Into::into), home.map(Into::into), ".local/state")
    };
    let path = |path: &str| Some(PathBuf::from(path));
    assert_eq!(found(Some("/state"), Some("/home")), path("/state"));
    assert_eq!(
        found(Some("state"), Some("/home")),
        path("/home/.local/state")
    );
    assert_eq!(found(Some(""), Some("/home")), path("/home/.local/state"));
    assert_eq!(found(None, Some("home")), None);
    assert_eq!(found(None, None), None);
}
