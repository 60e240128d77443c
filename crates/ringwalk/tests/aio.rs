//! Directories for tasks: every way to read a directory gives the same entries, whatever happens
//! meanwhile.

use futures_lite::StreamExt;
use futures_lite::future::block_on;
use ringwalk::aio::Dir;
use ringwalk::{EntryBuffer, Error, Fields, FileType, Metadata};
use rustix::fs::{AtFlags, CWD, StatxFlags, statx};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use tempfile::TempDir;

/// This many entries take several buffers.
const FILES: usize = 5000;

fn tree(files: usize) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    for number in 0..files {
        let contents = vec![b'x'; number % 50];
        fs::write(dir.path().join(format!("{number:0>20}")), contents).unwrap();
    }
    fs::create_dir(dir.path().join("below")).unwrap();
    symlink("nowhere", dir.path().join("link")).unwrap();
    let bytes = OsStr::from_bytes(b"not \xff UTF-8 \n");
    fs::write(dir.path().join(bytes), b"12345").unwrap();
    dir
}

type Sizes = BTreeMap<OsString, u64>;

/// Returns names and sizes, read by the standard library.
fn expected(path: &Path) -> Sizes {
    let entries = fs::read_dir(path).unwrap().map(Result::unwrap);
    entries
        .map(|entry| (entry.file_name(), entry.metadata().unwrap().len()))
        .collect()
}

/// Adds the entries of a batch to `found`, and returns how many there are.
fn take_batch(batch: &EntryBuffer, found: &mut Sizes) -> usize {
    for entry in batch.iter() {
        let name = OsStr::from_bytes(entry.name()).to_owned();
        let size = entry.metadata().and_then(Metadata::size);
        assert_eq!(found.insert(name, size.unwrap_or(u64::MAX)), None, "once");
    }
    batch.len()
}

/// Takes at most `most` entries one by one, and returns how many there were.
async fn take_entries(dir: &mut Dir, most: usize, found: &mut Sizes) -> usize {
    for taken in 0..most {
        let Some(entry) = dir.next().await else {
            return taken;
        };
        let entry = entry.unwrap();
        let size = entry.metadata().and_then(Metadata::size);
        let name = entry.file_name().to_owned();
        assert_eq!(found.insert(name, size.unwrap_or(u64::MAX)), None, "once");
    }
    most
}

#[test]
fn every_way_gives_every_entry_once() {
    let tree = tree(FILES);
    let expected = expected(tree.path());
    let names: Vec<_> = expected.keys().cloned().collect();
    block_on(async {
        let mut dir = Dir::open(tree.path()).await.unwrap();
        let mut found = Sizes::new();
        while let Some(entry) = StreamExt::next(&mut dir).await {
            found.insert(entry.unwrap().file_name().to_owned(), 0);
        }
        assert!(found.keys().eq(&names));
        assert!(dir.next().await.is_none(), "it stays at its end");

        let mut dir = Dir::open(tree.path()).read_ahead().await.unwrap();
        let (mut found, mut batch) = (Sizes::new(), EntryBuffer::new());
        while dir.next_batch(&mut batch).await.unwrap() > 0 {
            take_batch(&batch, &mut found);
        }
        assert!(batch.is_empty() && found.keys().eq(&names));
        assert_eq!(dir.next_batch(&mut batch).await.unwrap(), 0);

        for along in [false, true] {
            let open = Dir::open(tree.path());
            let mut dir = if along {
                open.read_plus(Fields::SIZE).await.unwrap()
            } else {
                open.await.unwrap()
            };
            dir.read_plus(Fields::SIZE);
            let mut found = Sizes::new();
            while take_entries(&mut dir, 7, &mut found).await == 7 {
                // The rest of the buffer.
                dir.next_batch(&mut batch).await.unwrap();
                take_batch(&batch, &mut found);
            }
            assert_eq!(found, expected);
        }
    });
}

#[test]
fn metadata_is_had_from_wherever_it_is_asked_for() {
    let tree = tree(FILES);
    let expected = expected(tree.path());
    block_on(async {
        for taken in [0, 1, 100, FILES - 1] {
            let mut dir = Dir::open(tree.path()).await.unwrap();
            let mut found = Sizes::new();
            take_entries(&mut dir, taken, &mut found).await;
            assert!(found.values().all(|size| *size == u64::MAX));
            // Entries that were read ahead get the fields, too.
            dir.read_plus(Fields::SIZE);
            let mut rest = Sizes::new();
            take_entries(&mut dir, usize::MAX, &mut rest).await;
            assert!(rest.iter().all(|(name, size)| expected[name] == *size));
            found.append(&mut rest);
            assert!(found.keys().eq(expected.keys()), "{taken}");
        }
        // Other fields than before, and then none again.
        let mut dir = Dir::open(tree.path())
            .read_plus(Fields::SIZE)
            .await
            .unwrap();
        let entry = dir.next().await.unwrap().unwrap();
        // Kernels before 6.13 may return the time as well, although it was not asked for.
        let told = statx(CWD, tree.path(), AtFlags::empty(), StatxFlags::SIZE).unwrap();
        let unasked = told.stx_mask & StatxFlags::MTIME.bits() != 0;
        assert!(unasked || entry.metadata().unwrap().mtime().is_none());
        dir.read_plus(Fields::MTIME);
        let entry = dir.next().await.unwrap().unwrap();
        assert!(entry.metadata().unwrap().mtime().is_some());
        dir.read_plus(Fields::empty());
        dir.rewind();
        assert!(dir.next().await.unwrap().unwrap().metadata().is_none());
    });
}

#[test]
fn one_entry_is_asked_about() {
    let tree = tree(3);
    block_on(async {
        let mut dir = Dir::open(tree.path()).await.unwrap();
        let mut links = 0;
        while let Some(entry) = dir.next().await {
            let entry = entry.unwrap();
            let metadata = dir.metadata(&entry).await.unwrap();
            let std = fs::symlink_metadata(tree.path().join(entry.file_name())).unwrap();
            assert_eq!(metadata.size(), Some(std.len()));
            assert_eq!((metadata.ino(), entry.ino()), (Some(std.ino()), std.ino()));
            assert_eq!(metadata.mode(), Some(std.mode()));
            links += usize::from(metadata.file_type() == FileType::Symlink);
        }
        assert_eq!(links, 1);
        // All metadata comes along: nothing is asked for again.
        dir.rewind();
        dir.read_plus(Fields::all());
        let entry = dir.next().await.unwrap().unwrap();
        let path = tree.path().join(entry.file_name());
        if entry.file_type() == FileType::Directory {
            fs::remove_dir(&path).unwrap();
        } else {
            fs::remove_file(&path).unwrap();
        }
        let known = dir.metadata(&entry).await.unwrap();
        assert_eq!(Some(&known), entry.metadata());
        dir.rewind();
        dir.read_plus(Fields::empty());
        let entry = dir.next().await.unwrap().unwrap();
        let path = tree.path().join(entry.file_name());
        drop(fs::remove_file(&path).or_else(|_| fs::remove_dir(&path)));
        let error = dir.metadata(&entry).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
        let name = path.as_os_str().as_bytes().escape_ascii().to_string();
        assert!(error.to_string().contains(&name), "{error}");
    });
}

#[test]
fn rewinding_begins_anew_wherever_it_is() {
    let tree = tree(FILES);
    let expected = expected(tree.path());
    block_on(async {
        for fields in [Fields::empty(), Fields::SIZE] {
            for taken in [0, 1, 500, FILES + 3, FILES + 9] {
                let mut dir = Dir::open(tree.path()).await.unwrap();
                dir.read_plus(fields);
                take_entries(&mut dir, taken, &mut Sizes::new()).await;
                for _ in 0..2 {
                    dir.rewind();
                }
                let mut found = Sizes::new();
                take_entries(&mut dir, usize::MAX, &mut found).await;
                assert!(found.keys().eq(expected.keys()), "{taken}");
            }
        }
    });
}

#[test]
fn below_and_by_descriptor() {
    let tree = tree(1);
    fs::write(tree.path().join("below/file"), "").unwrap();
    symlink("below", tree.path().join("to-below")).unwrap();
    block_on(async {
        let dir = Dir::open(tree.path()).await.unwrap();
        assert_eq!(dir.path(), Some(tree.path()));
        let mut below = Dir::open_at(&dir, "below").await.unwrap();
        assert_eq!(below.path(), Some(&*tree.path().join("below")));
        let entry = below.next().await.unwrap().unwrap();
        assert_eq!(entry.file_name(), "file");
        let error = dir.open_at("to-below").await.unwrap_err();
        assert!(error.to_string().contains("to-below"), "{error}");
        Dir::open(tree.path().join("to-below")).await.unwrap();

        let fd = OwnedFd::from(fs::File::open(tree.path().join("below")).unwrap());
        let mut below = Dir::from(fd);
        assert_eq!(below.path(), None);
        assert!(rustix::fs::fstat(below.as_fd()).is_ok());
        assert_eq!(below.next().await.unwrap().unwrap().file_name(), "file");
        assert!(below.next().await.is_none());
        below.close().await.unwrap();
        // A file is no directory: reading it fails.
        let fd = OwnedFd::from(fs::File::open(tree.path().join("below/file")).unwrap());
        let error = Dir::from(fd).next().await.unwrap().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotADirectory);
    });
}

fn cause(error: &io::Error) -> &Error {
    error.get_ref().unwrap().downcast_ref().unwrap()
}

#[test]
fn errors_name_the_place_and_the_reason() {
    let tree = tree(1);
    block_on(async {
        let missing = tree.path().join("missing");
        let error = Dir::open(&missing).read_ahead().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
        assert_eq!(cause(&error).path(), missing);
        let error = Dir::open("a\0b").await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
        assert!(error.to_string().contains("\"a\\x00b\""), "{error}");

        // The directory is removed before it is read. The error comes once, and reading can begin
        // again.
        let below = tree.path().join("below");
        let mut dir = Dir::open(&below).await.unwrap();
        fs::remove_dir(&below).unwrap();
        for _ in 0..2 {
            let error = dir.next().await.unwrap().unwrap_err();
            assert_eq!(error.kind(), ErrorKind::NotFound);
            assert_eq!(cause(&error).path(), below);
            assert!(dir.next().await.is_none());
            dir.rewind();
        }
        let error = dir.next_batch(&mut EntryBuffer::new()).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);

        fs::create_dir(&below).unwrap();
        fs::set_permissions(&below, fs::Permissions::from_mode(0o0)).unwrap();
        if fs::read_dir(&below).is_err() {
            let error = Dir::open(&below).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::PermissionDenied);
        }
    });
}

/// A directory is removed while it is read. The entries that were read before are given, and then
/// the error or the end.
#[test]
fn removed_in_the_middle() {
    let tree = tree(0);
    let path = tree.path().join("below");
    for number in 0..FILES {
        fs::write(path.join(format!("{number:0>20}")), "").unwrap();
    }
    block_on(async {
        let mut dir = Dir::open(&path).await.unwrap();
        dir.next().await.unwrap().unwrap();
        fs::remove_dir_all(&path).unwrap();
        let mut after = 0;
        let mut errors = 0;
        while let Some(entry) = dir.next().await {
            match entry {
                Ok(_) => after += 1,
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::NotFound);
                    errors += 1;
                }
            }
        }
        assert!(after > 0 && errors <= 1, "{after} {errors}");
        // Metadata of an entry that was removed is an error of that entry alone.
        let mut dir = Dir::open(tree.path()).await.unwrap();
        let mut names = 0;
        dir.next().await.unwrap().unwrap();
        for entry in fs::read_dir(tree.path()).unwrap() {
            fs::remove_file(entry.unwrap().path()).unwrap();
        }
        dir.read_plus(Fields::SIZE);
        while let Some(entry) = dir.next().await {
            let entry = entry.unwrap();
            assert!(entry.metadata().is_none());
            assert_eq!(entry.stat_error(), Some(ringwalk::Errno::NOENT));
            names += 1;
        }
        assert_eq!(names, 1);
    });
}

/// Everything that a task is given can go with the task to another thread.
#[test]
fn all_of_it_is_send() {
    fn send<T: Send + 'static>(value: T) -> T {
        value
    }
    let tree = tree(2);
    let path = tree.path().to_owned();
    block_on(async {
        let dir = send(Dir::open(path)).await.unwrap();
        let below = send(dir.open_at("below"));
        let task = send(async move {
            let mut dir = dir;
            let mut batch = EntryBuffer::new();
            let entry = dir.next().await.unwrap().unwrap();
            dir.metadata(&entry).await.unwrap();
            dir.next_batch(&mut batch).await.unwrap();
            dir.close().await.unwrap();
            (below.await.unwrap(), batch.len())
        });
        assert_eq!(task.await.1, 4);
        let stream = ringwalk::Walk::new(tree.path()).stream().unwrap();
        assert_eq!(send(async move { stream.count().await }).await, 6);
    });
}
