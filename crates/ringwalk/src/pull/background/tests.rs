use super::*;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc;

#[test]
fn a_thread_that_hangs_is_not_waited_for() {
    let (go, wait) = mpsc::channel::<()>();
    let (ended, end) = mpsc::channel::<()>();
    let mut walk = Background::<(), ()>::start("ringwalk-test", move |_| {
        // Waits until the test lets it go on.
        let _ = wait.recv();
        drop(ended);
    })
    .unwrap();
    // After a cancellation the receiver does not wait for the thread either.
    walk.canceller().cancel();
    assert_eq!(walk.next_within(Duration::from_millis(1)), Next::Pending);
    assert_eq!(walk.end_within(Duration::from_millis(1)), None);
    assert_eq!(end.try_recv(), Err(mpsc::TryRecvError::Empty));
    drop(go);
    assert_eq!(end.recv(), Err(mpsc::RecvError));
}

#[test]
fn a_thread_that_ends_in_time_is_waited_for() {
    let walk = Background::<(), u8>::start("ringwalk-test", |sender| {
        while !sender.is_closed() {
            std::thread::yield_now();
        }
        7
    })
    .unwrap();
    assert_eq!(walk.end_within(Duration::from_secs(20)), Some(7));
}

#[test]
fn without_work_it_gives_its_items_and_ends() {
    let mut walk = Background::<u8, ()>::ended([1, 2].into());
    assert_eq!(
        (walk.take(), walk.take(), walk.take()),
        (Some(1), Some(2), None)
    );
    assert_eq!((walk.take(), walk.summary()), (None, None));
    drop(walk);
    let walk = Background::<u8, ()>::ended([1].into());
    assert_eq!(walk.end_within(Duration::from_secs(20)), None);
}

#[test]
fn in_a_fork_it_neither_waits_nor_ends_early() {
    let (go, wait) = mpsc::channel::<()>();
    let mut walk = Background::start("ringwalk-test", move |sender| {
        sender.send([1, 2], 2).unwrap();
        let _ = wait.recv();
    })
    .unwrap();
    assert_eq!(walk.take(), Some(1));
    // A child of this process would see it like this.
    walk.process = 0;
    // On a thread of its own, because a broken implementation waits for ever.
    let (sender, ended) = mpsc::channel();
    std::thread::spawn(move || {
        let fetched = walk.take();
        let taken = catch_unwind(AssertUnwindSafe(|| walk.take()));
        let cx = Context::from_waker(std::task::Waker::noop());
        let polled = catch_unwind(AssertUnwindSafe(|| walk.poll_next(&cx)));
        drop(walk);
        sender.send((fetched, taken.is_err(), polled.is_err()))
    });
    let found = ended.recv_timeout(Duration::from_secs(20));
    assert_eq!(found, Ok((Some(2), true, true)));
    drop(go);
}
