use super::*;
use std::fs::{self, Permissions};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;

fn write(path: &Path, text: &str) -> io::Result<()> {
    let file = Unpublished::new(path)?;
    file.file().write_all(text.as_bytes())?;
    file.publish().map(|not_kept| assert_eq!(not_kept, None))
}

#[test]
fn files_are_created_and_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("f");
    for text in ["one", "two"] {
        write(&path, text).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}

#[test]
fn permissions_stay_when_a_file_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    fs::write(&path, "old").unwrap();
    for mode in [0o600, 0o640, 0o444] {
        fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        write(&path, "new").unwrap();
        let found = fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(found & 0o7777, mode);
    }
}

#[test]
fn a_file_that_is_dropped_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("f");
    write(&path, "old").unwrap();
    let file = Unpublished::new(&path).unwrap();
    file.file().write_all(b"new").unwrap();
    drop(file);
    assert_eq!(fs::read_to_string(&path).unwrap(), "old");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn names_that_a_crash_has_left_behind_are_passed_over() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("f");
    write(&path, "old").unwrap();
    for attempt in 0..2 {
        let left = temporary_name(OsStr::new("f"), attempt);
        fs::write(folder.path().join(left), "half").unwrap();
    }
    write(&path, "new").unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "new");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3);
}

#[test]
fn directories_and_missing_folders() {
    let folder = tempfile::tempdir().unwrap();
    let error = |path: &Path| Unpublished::new(path).unwrap_err().raw_os_error();
    assert_eq!(error(folder.path()), Some(Errno::ISDIR.raw_os_error()));
    let missing = folder.path().join("no/f");
    assert_eq!(error(&missing), Some(Errno::NOENT.raw_os_error()));
}

#[test]
fn names_that_are_long() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("é".repeat(127));
    write(&path, "one").unwrap();
    write(&path, "two").unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "two");
}

#[test]
fn links_stay_and_devices_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (path, link) = (folder.path().join("f"), folder.path().join("l"));
    write(&path, "old").unwrap();
    std::os::unix::fs::symlink("f", &link).unwrap();
    write(&link, "new").unwrap();
    assert!(link.is_symlink());
    assert_eq!(fs::read_to_string(&path).unwrap(), "new");
    assert!(write(Path::new("/dev/null"), "new").is_err());
}
