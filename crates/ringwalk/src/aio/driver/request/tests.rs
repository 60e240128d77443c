use super::*;
use crate::aio::driver::slot::slot;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Wake, Waker};

/// Counts who has a directory when the answer is there.
struct Holders {
    directory: Arc<Directory>,
    found: AtomicUsize,
}

impl Wake for Holders {
    fn wake(self: Arc<Self>) {
        let found = Arc::strong_count(&self.directory);
        self.found.store(found, Ordering::Relaxed);
    }
}

/// Runs a request; how many have the directory when who waits for the answer is woken.
fn holders<T: std::fmt::Debug>(request: impl FnOnce(Arc<Directory>, Completer<T>) -> Request) {
    let directory = Arc::new(Directory::open(".").unwrap());
    let holders = Arc::new(Holders {
        directory: Arc::clone(&directory),
        found: AtomicUsize::new(0),
    });
    let waker = Waker::from(Arc::clone(&holders));
    let (answer, mut pending) = slot();
    assert!(pending.poll(&Context::from_waker(&waker)).is_pending());
    let request = request(Arc::clone(&directory), answer);
    let told = format!("{request:?}");
    request.run();
    assert!(pending.poll(&Context::from_waker(&waker)).is_ready());
    // This test and its waker.
    assert_eq!(holders.found.load(Ordering::Relaxed), 2, "{told}");
}

#[test]
fn who_has_the_answer_can_close_the_directory() {
    for rewind in [false, true] {
        holders(|directory, answer| Request::Read {
            directory,
            rewind,
            refused: false,
            fields: Fields::SIZE,
            entries: EntryBuffer::new(),
            answer,
        });
    }
    holders(|directory, answer| Request::Complete {
        directory,
        fields: Fields::SIZE,
        piece: Piece {
            entries: EntryBuffer::new(),
            end: Ok(true),
        },
        answer,
    });
    holders(|directory, answer| Request::Stat {
        directory,
        name: c".".into(),
        fields: Fields::SIZE,
        answer,
    });
    holders(|directory, answer| {
        let place = Place {
            at: Some(directory),
            path: c".".into(),
            follow: false,
            first: None,
            refused: false,
        };
        Request::Open { place, answer }
    });
}
