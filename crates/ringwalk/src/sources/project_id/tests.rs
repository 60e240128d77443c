//! Unit tests of `project_id.rs`. `tests/library/test_project_id.py` has file systems with project
//! ids other than 0.

use super::*;
use crate::{Directory, EntryBuffer, Flow, Visitor, Walk};
use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::Path;
use tempfile::TempDir;

/// Returns a directory with a file, a directory, a link to the file, a link to nothing, a FIFO and
/// a socket.
fn tree() -> TempDir {
    let top = tempfile::tempdir().unwrap();
    std::fs::write(top.path().join("file"), b"12345").unwrap();
    std::fs::create_dir(top.path().join("directory")).unwrap();
    symlink("file", top.path().join("link")).unwrap();
    symlink("nothing", top.path().join("dangling")).unwrap();
    let fifo = top.path().join("fifo");
    rustix::fs::mknodat(
        CWD,
        &fifo,
        rustix::fs::FileType::Fifo,
        Mode::RUSR | Mode::WUSR,
        0,
    )
    .unwrap();
    std::os::unix::net::UnixListener::bind(top.path().join("socket")).unwrap();
    top
}

fn look(path: &Path) -> Metadata {
    Metadata::of_path(None, path, false, Fields::STATX).unwrap()
}

/// Returns the ids that the kernel has for an open file; `None` if its file system has none.
fn of_open(path: &Path) -> Option<u32> {
    project_id(File::open(path).unwrap()).ok()
}

#[test]
fn it_is_that_of_the_open_file_and_comes_only_if_asked_for() {
    let top = tree();
    for name in ["file", "directory"] {
        let path = top.path().join(name);
        let asked = Metadata::of_path(None, &path, false, Fields::PROJECT_ID).unwrap();
        let known = asked.mask.contains(Fields::PROJECT_ID);
        assert_eq!(known.then_some(asked.project_id), of_open(&path));
        assert!(!look(&path).mask.contains(Fields::PROJECT_ID));
    }
}

#[test]
fn opening_gives_what_the_call_by_name_gives() {
    let top = tree();
    let base = File::open(top.path()).unwrap();
    for name in [c"file", c"directory"] {
        let path = top.path().join(name.to_str().unwrap());
        let opened = open_and_ask(&look(&path), base.as_fd(), name, false);
        assert_eq!(opened, Ok(of_open(&path)));
        assert_eq!(ask(&look(&path), base.as_fd(), name, false), opened);
    }
}

#[test]
fn special_files_and_links_are_not_opened() {
    let top = tree();
    let base = File::open(top.path()).unwrap();
    // Opening the FIFO for reading would succeed without a writer, so the answer shows whether it
    // was opened.
    for name in [c"fifo", c"socket", c"link", c"dangling"] {
        let path = top.path().join(name.to_str().unwrap());
        assert_eq!(
            open_and_ask(&look(&path), base.as_fd(), name, false),
            Ok(None)
        );
    }
}

#[test]
fn a_file_that_has_taken_the_place_of_another_is_not_asked() {
    let top = tree();
    let base = File::open(top.path()).unwrap();
    let file = look(&top.path().join("file"));
    for name in [c"directory", c"fifo", c"link"] {
        assert_eq!(open_and_ask(&file, base.as_fd(), name, false), Ok(None));
    }
    // The link leads to that file.
    let through = open_and_ask(&file, base.as_fd(), c"link", true);
    assert_eq!(through, Ok(of_open(&top.path().join("file"))));
}

#[test]
fn only_errors_that_say_why_leave_the_id_unknown() {
    for errno in [Errno::OPNOTSUPP, Errno::NOTTY, Errno::ACCESS, Errno::NOENT] {
        assert_eq!(unknown(errno), Ok(None));
    }
    for errno in [Errno::IO, Errno::NOMEM, Errno::MFILE, Errno::NFILE] {
        assert_eq!(unknown(errno), Err(errno));
    }
}

/// The names of entries, and their metadata.
#[derive(Default)]
struct Seen(BTreeMap<Vec<u8>, Metadata>);

impl Visitor for Seen {
    type State = ();

    fn batch(&mut self, batch: &crate::Batch<'_, ()>) -> Flow {
        for entry in batch.entries() {
            self.0
                .insert(entry.path(), *entry.metadata().expect("asked for"));
        }
        Flow::Continue
    }
}

#[test]
fn a_walk_and_a_directory_have_it_for_entries_and_roots() {
    let top = tree();
    let walk = Walk::new(top.path()).fields(Fields::PROJECT_ID);
    let seen = walk.run(|_| Seen::default()).visitors.remove(0).0;
    let directory = Directory::open(top.path()).unwrap();
    let mut entries = EntryBuffer::new();
    directory
        .read_plus(Fields::PROJECT_ID, &mut entries)
        .unwrap();
    for (path, metadata) in &seen {
        let path = Path::new(std::ffi::OsStr::from_bytes(path));
        let asked = Metadata::of_path(None, path, false, Fields::PROJECT_ID).unwrap();
        let told = |metadata: &Metadata| {
            let known = metadata.mask.contains(Fields::PROJECT_ID);
            known.then_some(metadata.project_id)
        };
        assert_eq!(told(metadata), told(&asked), "{path:?}");
        if is_file_or_directory(metadata.mode) {
            assert_eq!(told(metadata), of_open(path), "{path:?}");
        }
        let listed = entries
            .iter()
            .find(|entry| Some(entry.name()) == path.file_name().map(OsStrExt::as_bytes));
        if path != top.path() {
            assert_eq!(told(listed.unwrap().metadata().unwrap()), told(&asked));
        }
    }
    assert_eq!(seen.len(), 7);
    let types = seen.values().map(Metadata::file_type);
    assert_eq!(types.filter(|found| *found == FileType::Symlink).count(), 2);
}

/// Never called, so it counts nothing.
struct Never;

impl crate::SweepVisitor for Never {
    fn files(&mut self, _: &[Metadata]) {
        unreachable!("no scan gives files without their project ids");
    }
}

#[test]
fn an_inode_sweep_declines() {
    let scan = crate::InodeSweep::new("/").fields(Fields::PROJECT_ID);
    let why = scan.run(|_| Never).err().unwrap();
    assert!(why.to_string().contains("project ids"), "{why}");
}
