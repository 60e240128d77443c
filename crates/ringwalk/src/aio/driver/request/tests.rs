use super::*;
use crate::aio::driver::answer::answer_slot;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Wake, Waker};

/// Counts the owners of a directory at the time of the answer.
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

/// Runs a request. Returns how many owners the directory has when the task is woken.
fn holders<T: std::fmt::Debug>(
    request: impl FnOnce(Arc<Directory>, Completer<T>) -> DriverRequest,
) {
    let directory = Arc::new(Directory::open(".").unwrap());
    let holders = Arc::new(Holders {
        directory: Arc::clone(&directory),
        found: AtomicUsize::new(0),
    });
    let waker = Waker::from(Arc::clone(&holders));
    let (answer, mut pending) = answer_slot();
    assert!(pending.poll(&Context::from_waker(&waker)).is_pending());
    let request = request(Arc::clone(&directory), answer);
    let told = format!("{request:?}");
    request.run();
    assert!(pending.poll(&Context::from_waker(&waker)).is_ready());
    // The owners are this test and its waker.
    assert_eq!(holders.found.load(Ordering::Relaxed), 2, "{told}");
}

#[test]
fn who_has_the_answer_can_close_the_directory() {
    for rewind in [false, true] {
        holders(|directory, answer| DriverRequest::Read {
            directory,
            rewind,
            refused: false,
            fields: Fields::SIZE,
            entries: EntryBuffer::new(),
            answer,
        });
    }
    holders(|directory, answer| DriverRequest::Complete {
        directory,
        fields: Fields::SIZE,
        piece: ReadAnswer {
            entries: EntryBuffer::new(),
            end: Ok(true),
        },
        answer,
    });
    holders(|directory, answer| DriverRequest::Stat {
        directory,
        name: c".".into(),
        fields: Fields::SIZE,
        answer,
    });
    holders(|directory, answer| {
        let place = OpenTarget {
            at: Some(directory),
            path: c".".into(),
            follow: false,
            first: None,
            refused: false,
        };
        DriverRequest::Open { place, answer }
    });
}
