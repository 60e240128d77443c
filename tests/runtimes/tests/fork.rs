//! After a fork, only the parent has the threads of the driver. This test is a program of its own
//! because it forks.

use futures::executor::block_on;
use ringwalk::EntryBuffer;
use ringwalk::aio::Dir;
use std::fs;
use std::pin::pin;
use std::process::exit;
use std::task::{Context, Waker};
use std::time::{Duration, Instant};

const FILES: usize = 3000;

/// Runs `child` in a child process. Returns whether `child` returned true within 20 seconds.
#[expect(
    unsafe_code,
    reason = "there is no safe way to fork, which is what is tested"
)]
fn in_child(child: impl FnOnce() -> bool) -> bool {
    // SAFETY: the child runs only code of this process. It may allocate, because glibc keeps its
    // allocator valid across fork(2). It touches no lock that another thread may hold, except the
    // locks under test. It exits without returning to the test harness.
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
            // SAFETY: the child has not been waited for, so the process ID is still its own.
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
        // A read that is in progress at the fork: the child reports it as lost, or gets the entries
        // that came before.
        let mut dir = block_on(Dir::open(path)).unwrap();
        let entry = block_on(dir.next()).unwrap().unwrap();
        let mut opening = pin!(Dir::open(path));
        let mut cx = Context::from_waker(Waker::noop());
        // A future that is complete must not be polled again.
        let pending = round % 2 == 0 && opening.as_mut().poll(&mut cx).is_pending();
        let fine = in_child(|| {
            match count(&mut dir) {
                Ok(entries) => assert!(entries < FILES),
                Err(error) => assert!(error.to_string().contains("fork"), "{error}"),
            }
            if pending {
                // The open may succeed or fail, depending on which came first. It must complete.
                drop(block_on(opening.as_mut()));
            }
            // The parent's read, if it is not complete yet, moves the file position that both
            // share.
            let all = (0..20).any(|_| {
                std::thread::sleep(Duration::from_millis(50));
                dir.rewind();
                count(&mut dir).unwrap() == FILES
            });
            assert!(all);
            assert!(block_on(dir.metadata(&entry)).is_ok());
            block_on(dir.close()).is_ok()
                // A child of the child works too.
                && in_child(read_anew)
        });
        assert!(fine, "round {round}");
    }
}
