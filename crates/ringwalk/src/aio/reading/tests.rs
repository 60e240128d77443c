use super::*;
use crate::aio::driver::Completer;
use futures_lite::future::block_on;
use ringwalk_sys::RawFileType as FileType;
use rustix::io::Errno;
use std::future::poll_fn;

fn entries(names: &[&std::ffi::CStr]) -> EntryBuffer {
    let mut entries = EntryBuffer::new();
    for name in names {
        entries.raw.records.push(name, FileType::Regular, 1, 0);
    }
    entries
}

/// Returns the state of a directory with one file, which has been read already.
fn reading(first: ReadAnswer) -> (Reading, tempfile::TempDir) {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("file"), "").unwrap();
    let directory = Directory::open(dir.path()).unwrap();
    let reading = Reading::new(Arc::new(directory), Some((first, Fields::empty())));
    (reading, dir)
}

fn next(reading: &mut Reading) -> Result<Option<Vec<u8>>, Fault> {
    block_on(poll_fn(|cx| {
        reading.poll_entry(cx, |entry| entry.name().to_vec())
    }))
}

#[test]
fn what_was_read_before_an_error_comes_before_it() {
    let broken = || ReadAnswer {
        entries: entries(&[c"a", c"b"]),
        end: Err(Fault::Kernel(Errno::IO)),
    };
    let (mut one_by_one, _dir) = reading(broken());
    assert_eq!(next(&mut one_by_one), Ok(Some(b"a".to_vec())));
    assert_eq!(next(&mut one_by_one), Ok(Some(b"b".to_vec())));
    assert_eq!(next(&mut one_by_one), Err(Fault::Kernel(Errno::IO)));
    assert_eq!(next(&mut one_by_one), Ok(None));
    let ((mut at_once, _dir), mut batch) = (reading(broken()), entries(&[c"old"]));
    let mut read = |batch: &mut _| block_on(poll_fn(|cx| at_once.poll_batch(cx, batch)));
    assert_eq!(read(&mut batch), Ok(2));
    assert_eq!(read(&mut batch), Err(Fault::Kernel(Errno::IO)));
    assert_eq!(batch.len(), 2, "left as it was");
    assert_eq!(read(&mut batch), Ok(0));
    assert!(batch.is_empty());
}

/// As after a fork: the reading thread is in another process.
#[test]
fn a_read_that_is_lost_ends_it_until_it_is_rewound() {
    let (mut reading, _dir) = reading(ReadAnswer {
        entries: entries(&[c"a"]),
        end: Ok(false),
    });
    let (answer, piece): (Completer<ReadAnswer>, _) = answer_slot();
    reading.ahead = Ahead::Asked {
        piece,
        fields: Fields::empty(),
        stale: false,
    };
    drop(answer);
    assert_eq!(next(&mut reading), Ok(Some(b"a".to_vec())));
    assert_eq!(next(&mut reading), Err(Fault::Lost));
    assert_eq!(next(&mut reading), Ok(None));
    reading.rewind();
    assert!(next(&mut reading).unwrap().is_some());
}

/// A rewind waits for the read that is under way, whose entries are not given.
#[test]
fn what_was_asked_before_a_rewind_is_thrown_away() {
    let (mut reading, _dir) = reading(ReadAnswer {
        entries: entries(&[c"a"]),
        end: Ok(false),
    });
    let (answer, piece) = answer_slot();
    reading.ahead = Ahead::Asked {
        piece,
        fields: Fields::empty(),
        stale: false,
    };
    reading.rewind();
    let cx = Context::from_waker(std::task::Waker::noop());
    let mut batch = EntryBuffer::new();
    assert!(reading.poll_batch(&cx, &mut batch).is_pending());
    answer.complete(ReadAnswer {
        entries: entries(&[c"of before"]),
        end: Ok(true),
    });
    let mut names = Vec::new();
    while let Some(name) = next(&mut reading).unwrap() {
        names.push(name);
    }
    assert_eq!(names, [b"file"]);
}

/// As after a fork, with a read of the parent under way.
#[test]
fn a_read_that_is_lost_after_a_rewind_is_not_missed() {
    let (mut reading, _dir) = reading(ReadAnswer {
        entries: entries(&[]),
        end: Ok(false),
    });
    let (answer, piece): (Completer<ReadAnswer>, _) = answer_slot();
    reading.ahead = Ahead::Asked {
        piece,
        fields: Fields::empty(),
        stale: false,
    };
    reading.rewind();
    drop(answer);
    assert_eq!(next(&mut reading), Ok(Some(b"file".to_vec())));
}
