//! Tests the ring with requests that every kernel accepts: opens, closes, and reads that the kernel
//! refuses. A guest with the module or the operations tests the results of reads.

use super::*;
use rustix::io::fcntl_getfd;
use std::os::fd::{AsFd, BorrowedFd};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

const FLAGS: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

/// Returns a ring, or `None` where the system refuses rings.
fn ring(depth: u32) -> Option<DirectoryRing> {
    match DirectoryRing::new(DirectoryReader::Opcodes(DirectoryOpcodes::NONE), depth, 8) {
        Ok(ring) => Some(ring),
        Err(Errno::NOSYS | Errno::PERM | Errno::NOMEM) => None,
        Err(errno) => panic!("{errno}"),
    }
}

fn directory(path: &Path) -> Arc<DirectoryFd> {
    let fd = OwnedFd::from(std::fs::File::open(path).unwrap());
    Arc::new(fd.into())
}

fn take_all(ring: &mut DirectoryRing) -> Vec<Completion> {
    let mut found = Vec::new();
    loop {
        found.extend(std::iter::from_fn(|| ring.next()));
        if ring.in_flight() == 0 {
            return found;
        }
        ring.enter(1).unwrap();
    }
}

#[test]
fn directories_are_opened_and_closed() {
    let Some(mut ring) = ring(8) else { return };
    let dir = tempfile::tempdir().unwrap();
    for name in 0..6 {
        std::fs::create_dir(dir.path().join(name.to_string())).unwrap();
    }
    std::os::unix::fs::symlink("0", dir.path().join("6")).unwrap();
    let at = directory(dir.path());
    for wait in [false, true] {
        let names = [c"0", c"1", c"2", c"3", c"4", c"5", c"6", c"7"];
        for (slot, name) in (0..).zip(names) {
            ring.open(slot, Some(&at), name, FLAGS, wait);
        }
        assert_eq!(ring.queued(), 8);
        let mut opened = 0;
        for completion in take_all(&mut ring) {
            let Completion::Opened { slot, result } = completion else {
                panic!("nothing was read");
            };
            match (slot, result) {
                (0..6, Ok(fd)) => {
                    opened += 1;
                    let number = fd.as_raw_fd();
                    let identity = rustix::fs::fstat(fd.as_fd()).unwrap().st_ino;
                    ring.close(fd);
                    ring.enter(0).unwrap();
                    // SAFETY: the descriptor is only tested, for whether it is open and which file
                    // it refers to.
                    let closed = unsafe { BorrowedFd::borrow_raw(number) };
                    // Another test may have opened the same number meanwhile.
                    let other = fcntl_getfd(closed).is_err()
                        || rustix::fs::fstat(closed).is_ok_and(|stat| stat.st_ino != identity);
                    assert!(other, "it is closed");
                }
                (6, Err(Errno::LOOP | Errno::NOTDIR)) | (7, Err(Errno::NOENT)) => {}
                (slot, result) => panic!("slot {slot}: {result:?}"),
            }
        }
        assert_eq!(opened, 6);
    }
    assert_eq!(Arc::strong_count(&at), 1, "given back");
}

#[test]
fn a_refused_read_gives_everything_back() {
    let Some(mut ring) = ring(2) else { return };
    let dir = tempfile::tempdir().unwrap();
    let fd = directory(dir.path());
    for wait in [false, true] {
        ring.read(1, Arc::clone(&fd), vec![7; 4096], 96, &What::Names, wait);
        let [
            Completion::Read {
                slot: 1,
                fd: back,
                buffer,
                from: 96,
                result: Err(Errno::INVAL),
            },
        ] = &take_all(&mut ring)[..]
        else {
            panic!("not what was asked");
        };
        assert!(Arc::ptr_eq(back, &fd));
        assert!(buffer.len() == 4096 && buffer.iter().all(|byte| *byte == 7));
    }
    assert_eq!(Arc::strong_count(&fd), 1);
}

#[test]
fn there_is_room_for_a_request_in_every_slot() {
    let at = directory(Path::new("/"));
    for depth in 1..20 {
        let Some(mut ring) = ring(depth) else { return };
        for _ in 0..depth {
            ring.close(OwnedFd::from(std::fs::File::open("/").unwrap()).into());
        }
        let (reader, _writer) = std::io::pipe().unwrap();
        ring.watch(&Arc::new(OwnedFd::from(reader)));
        for slot in 0..depth {
            ring.read(slot, Arc::clone(&at), vec![0; 64], 0, &What::Names, false);
        }
        assert!(ring.next_of(0).is_none(), "nothing was submitted");
        // The rest of the queue is for ending all of it.
        drop(ring);
    }
    assert_eq!(Arc::strong_count(&at), 1);
}

#[test]
fn one_can_be_waited_for_and_the_others_stay() {
    let Some(mut ring) = ring(3) else { return };
    for slot in 0..3 {
        ring.open(slot, None, c"/", FLAGS, false);
    }
    ring.enter(3).unwrap();
    let one = ring.next_of(1);
    assert!(matches!(one, Some(Completion::Opened { slot: 1, .. })));
    assert_eq!(take_all(&mut ring).len(), 2);
}

#[test]
fn a_slot_that_is_busy_is_out_of_reach() {
    let Some(mut ring) = ring(1) else { return };
    ring.open(0, None, c"/", FLAGS, false);
    let fd = directory(Path::new("/"));
    for misuse in [
        |ring: &mut DirectoryRing, _: &Arc<DirectoryFd>| ring.open(0, None, c"/", FLAGS, false),
        |ring: &mut DirectoryRing, fd: &Arc<DirectoryFd>| {
            ring.read(0, Arc::clone(fd), vec![0; 9], 0, &What::Names, false);
        },
        |ring: &mut DirectoryRing, _: &Arc<DirectoryFd>| ring.open(1, None, c"/", FLAGS, false),
    ] {
        assert!(catch_unwind(AssertUnwindSafe(|| misuse(&mut ring, &fd))).is_err());
    }
    assert_eq!(take_all(&mut ring).len(), 1);
}

#[test]
fn a_ring_may_go_with_requests_in_flight() {
    let dir = tempfile::tempdir().unwrap();
    let at = directory(dir.path());
    for round in 0..20 {
        let Some(mut ring) = ring(64) else { return };
        for slot in 0..64 {
            if slot % 2 == 0 {
                ring.open(slot, Some(&at), c".", FLAGS, slot % 4 == 0);
            } else {
                let fd = Arc::clone(&at);
                ring.read(slot, fd, vec![0; 1024], 0, &What::Names, round % 2 == 0);
            }
        }
        // In some rounds the request is still queued, in others the kernel has it.
        if round % 3 == 0 {
            ring.enter(0).unwrap();
        }
    }
    assert_eq!(Arc::strong_count(&at), 1, "nothing was left behind");
}

#[test]
fn what_was_to_be_closed_is_when_the_ring_goes() {
    let Some(mut ring) = ring(2) else { return };
    let dir = tempfile::tempdir().unwrap();
    let fd = OwnedFd::from(std::fs::File::open(dir.path()).unwrap());
    let number = fd.as_raw_fd();
    let identity = rustix::fs::fstat(&fd).unwrap().st_ino;
    ring.close(fd.into());
    drop(ring);
    // SAFETY: the descriptor is only tested, for whether it is open and which file it refers to:
    // another test may have opened the same number meanwhile.
    let closed = unsafe { BorrowedFd::borrow_raw(number) };
    let open = rustix::fs::fstat(closed);
    assert!(open.is_err() || open.is_ok_and(|stat| stat.st_ino != identity));
}

#[test]
fn more_closes_than_there_is_room_for_are_no_matter() {
    let Some(mut ring) = ring(2) else { return };
    for _ in 0..50 {
        let fd = OwnedFd::from(std::fs::File::open("/").unwrap());
        ring.close(fd.into());
        if ring.in_flight() == 0 {
            ring.open(0, None, c"/", FLAGS, false);
        }
    }
    assert_eq!(take_all(&mut ring).len(), 1);
}

#[test]
fn a_wait_is_ended_by_what_is_watched() {
    let Some(mut ring) = ring(1) else { return };
    let (reader, mut writer) = std::io::pipe().unwrap();
    let reader = Arc::new(OwnedFd::from(reader));
    for byte in 0..3 {
        ring.watch(&reader);
        assert!(catch_unwind(AssertUnwindSafe(|| ring.watch(&reader))).is_err());
        ring.enter(0).unwrap();
        assert!(ring.next().is_none() && !ring.was_woken());
        std::thread::scope(|scope| {
            scope.spawn(|| std::io::Write::write_all(&mut writer, &[byte]));
            while !ring.was_woken() {
                ring.enter(1).unwrap();
                assert!(ring.next().is_none());
            }
        });
        assert!(!ring.was_woken() && !ring.is_watching());
        let mut read = [9];
        rustix::io::read(&reader, &mut read).unwrap();
        assert_eq!(read, [byte]);
    }
    // The ring is dropped while it waits for this descriptor. The drop cancels the wait.
    ring.watch(&reader);
    ring.enter(0).unwrap();
    drop(ring);
    assert_eq!(Arc::strong_count(&reader), 1);
}
