use super::*;
use crate::Unpublished;
use std::fs::{self, Permissions};
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::{PermissionsExt, chown, lchown, symlink};
use tempfile::TempDir;

const STRANGER: u32 = 2000;

/// Returns a directory of root with these permissions, and a file `secret` in a closed directory
/// beside it. `None` without root, whom the tests need to give files away.
fn shared(mode: u32) -> Option<(TempDir, PathBuf)> {
    if !geteuid().is_root() {
        eprintln!("skipped: needs root");
        return None;
    }
    let top = tempfile::tempdir().unwrap();
    let folder = top.path().join("shared");
    for (name, mode) in [("shared", mode), ("closed", 0o700)] {
        fs::create_dir(top.path().join(name)).unwrap();
        fs::set_permissions(top.path().join(name), Permissions::from_mode(mode)).unwrap();
    }
    fs::write(top.path().join("closed/secret"), "old").unwrap();
    Some((top, folder))
}

fn write(path: &Path) -> Result<(), ErrorKind> {
    let written = Unpublished::new(path).and_then(|file| {
        file.file().write_all(b"new")?;
        file.publish().map(drop)
    });
    written.map_err(|error| error.kind())
}

#[test]
fn links_and_files_of_strangers_are_refused_in_sticky_directories() {
    // Permissions of the directory; whether a stranger's link and a stranger's file are refused.
    for (mode, link, file) in [
        (0o1777, true, true),
        (0o1770, false, true),
        (0o1755, false, false),
        (0o777, false, false),
    ] {
        let Some((top, folder)) = shared(mode) else {
            return;
        };
        let secret = top.path().join("closed/secret");
        let expected = |is_refused: bool| {
            let refused = Err(ErrorKind::PermissionDenied);
            if is_refused { refused } else { Ok(()) }
        };
        symlink("../closed/secret", folder.join("link")).unwrap();
        lchown(folder.join("link"), Some(STRANGER), None).unwrap();
        // The stranger's link is at the end of a link of the user's own.
        symlink("link", folder.join("own")).unwrap();
        for name in ["link", "own"] {
            fs::write(&secret, "old").unwrap();
            assert_eq!(write(&folder.join(name)), expected(link), "{mode:o} {name}");
            let text = fs::read_to_string(&secret).unwrap();
            assert_eq!(text, if link { "old" } else { "new" });
        }
        fs::write(folder.join("file"), "old").unwrap();
        chown(folder.join("file"), Some(STRANGER), None).unwrap();
        assert_eq!(write(&folder.join("file")), expected(file), "{mode:o}");
        let opened = Place::of(&folder.join("file")).unwrap();
        let opened = opened.open(OFlags::APPEND, Mode::RUSR).map(drop);
        assert_eq!(opened.map_err(|error| error.kind()), expected(file));
    }
}

#[test]
fn links_and_files_of_the_user_and_of_the_directorys_owner_are_taken() {
    let Some((top, folder)) = shared(0o1777) else {
        return;
    };
    chown(&folder, Some(STRANGER), None).unwrap();
    for (name, owner) in [("own", 0), ("owners", STRANGER)] {
        let (file, link) = (folder.join(name), folder.join(format!("{name}-link")));
        fs::write(&file, "old").unwrap();
        chown(&file, Some(owner), None).unwrap();
        symlink("../closed/secret", &link).unwrap();
        lchown(&link, Some(owner), None).unwrap();
        assert_eq!(write(&file), Ok(()));
        assert_eq!(write(&link), Ok(()));
    }
    assert_eq!(
        fs::read_to_string(top.path().join("closed/secret")).unwrap(),
        "new"
    );
}

#[test]
fn a_file_that_a_stranger_makes_meanwhile_stays() {
    let Some((_top, folder)) = shared(0o1777) else {
        return;
    };
    let path = folder.join("file");
    let file = Unpublished::new(&path).unwrap();
    fs::write(&path, "theirs").unwrap();
    chown(&path, Some(STRANGER), None).unwrap();
    let error = file.publish().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::PermissionDenied);
    assert_eq!(fs::read_to_string(&path).unwrap(), "theirs");
}

#[test]
fn links_lead_to_other_folders_and_to_new_names_but_not_round() {
    let top = tempfile::tempdir().unwrap();
    fs::create_dir_all(top.path().join("a/b")).unwrap();
    symlink("b/c", top.path().join("a/one")).unwrap();
    symlink(top.path().join("a/one"), top.path().join("two")).unwrap();
    assert_eq!(write(&top.path().join("two")), Ok(()));
    assert_eq!(fs::read_to_string(top.path().join("a/b/c")).unwrap(), "new");
    symlink("round", top.path().join("round")).unwrap();
    let error = Place::of(&top.path().join("round")).unwrap_err();
    assert_eq!(Errno::from_io_error(&error), Some(Errno::LOOP));
}

#[test]
fn files_are_opened_in_place_and_links_are_not() {
    let top = tempfile::tempdir().unwrap();
    let (file, link) = (top.path().join("file"), top.path().join("link"));
    for text in ["one", "two"] {
        let place = Place::exact(&file).unwrap();
        let mut opened = place.open(OFlags::APPEND, Mode::RUSR | Mode::WUSR).unwrap();
        opened.write_all(text.as_bytes()).unwrap();
    }
    assert_eq!(fs::read_to_string(&file).unwrap(), "onetwo");
    symlink("file", &link).unwrap();
    let place = Place::exact(&link).unwrap();
    let error = place.open(OFlags::APPEND, Mode::RUSR).unwrap_err();
    assert_eq!(Errno::from_io_error(&error), Some(Errno::LOOP));
}

#[test]
fn the_name_of_a_directory_becomes_no_file() {
    let folder = tempfile::tempdir().unwrap();
    symlink("new/", folder.path().join("link")).unwrap();
    for name in ["new/", "new/.", "new//", "link", "..", "/"] {
        let written = write(&folder.path().join(name));
        assert_eq!(written, Err(ErrorKind::IsADirectory), "{name}");
        assert!(!folder.path().join("new").exists());
    }
}
