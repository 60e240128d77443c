//! A process that forks has the threads of the driver in the parent only. A program of its own, as it forks.

use futures::executor::block_on;
use ringwalk::EntryBuffer;
use ringwalk::aio::Dir;
use std::fs;
use std::pin::pin;
use std::process::exit;
use std::task::{Context, Waker};
use std::time::{Duration, Instant};

const FILES: usize = 3000;

/// Runs `child` in a child of this process; returns whether it returned true, within a time.
#[expect(
    unsafe_code,
    reason = "there is no safe way to fork, which is what is tested"
)]
fn in_child(child: impl FnOnce() -> bool) -> bool {
    // SAFETY: what the child calls is this process's own code. It is allowed to allocate, since glibc sees to its allocator
    // in fork(2); it touches no lock that another thread may hold but those that are the test. It ends without going back to the
    // test's harness.
    let pid = unsafe { libc::fork() };
    assert!(pid >= 0, "{}", std::io::Error::last_os_error());
    if pid == 0 {
        let ok = std::panic::catch_unwind(std::panic::AssertUnwindSafe(child));
        exit(i32::from(!ok.unwrap_or(false)));
    }
    let begin = Instant::now();
    loop {
        let mut status = 0;
        // SAFETY: `status` is valid for writes of an int.
        let ended = unsafe { libc::waitpid(pid, &raw mut status, libc::WNOHANG) };
        if ended == pid {
            return status == 0;
        }
        if begin.elapsed() > Duration::from_secs(20) {
            // SAFETY: the child has not been waited for, so the number is still its own.
            unsafe { libc::kill(pid, libc::SIGKILL) };
            return false;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn count(dir: &mut Dir) -> std::io::Result<usize> {
    let (mut batch, mut entries) = (EntryBuffer::new(), 0);
    block_on(async {
        while dir.next_batch(&mut batch).await? > 0 {
            entries += batch.len();
        }
        Ok(entries)
    })
}

#[test]
fn a_child_has_a_driver_of_its_own() {
    let tree = tempfile::tempdir().unwrap();
    for number in 0..FILES {
        fs::write(tree.path().join(format!("{number:0>20}")), "").unwrap();
    }
    let path = tree.path();
    let read_anew = || count(&mut block_on(Dir::open(path)).unwrap()).unwrap() == FILES;
    assert!(in_child(read_anew), "with no driver in the parent");
    assert!(read_anew());
    for round in 0..20 {
        assert!(in_child(read_anew), "with threads in the parent");
        // A read under way: in the child it is told as lost, or what came before is there.
        let mut dir = block_on(Dir::open(path)).unwrap();
        let entry = block_on(dir.next()).unwrap().unwrap();
        let mut opening = pin!(Dir::open(path));
        let mut cx = Context::from_waker(Waker::noop());
        if round % 2 == 0 {
            drop(opening.as_mut().poll(&mut cx));
        }
        let fine = in_child(|| {
            match count(&mut dir) {
                Ok(entries) => assert!(entries < FILES),
                Err(error) => assert!(error.to_string().contains("fork"), "{error}"),
            }
            if round % 2 == 0 {
                // Either, by what was first; what counts is that it ends.
                drop(block_on(opening.as_mut()));
            }
            // The parent's read, if it is not over yet, moves the position that both have.
            let all = (0..20).any(|_| {
                std::thread::sleep(Duration::from_millis(50));
                dir.rewind();
                count(&mut dir).unwrap() == FILES
            });
            assert!(all);
            assert!(block_on(dir.metadata(&entry)).is_ok());
            block_on(dir.close()).is_ok()
                // And a child of the child.
                && in_child(read_anew)
        });
        assert!(fine, "round {round}");
    }
}
