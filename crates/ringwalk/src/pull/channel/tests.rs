use super::*;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Wake;
use std::thread;

fn take(channel: &BoundedChannel<u32>) -> Option<Vec<u32>> {
    let mut items = VecDeque::new();
    match channel.take(&mut items, None) {
        Next::Item(first) => {
            items.push_front(first);
            Some(items.into())
        }
        Next::End => None,
        Next::Pending => unreachable!("no deadline was given"),
    }
}

#[test]
fn all_that_is_sent_is_taken_and_then_it_ends() {
    let channel = BoundedChannel::new();
    let sender = Arc::clone(&channel);
    let senders = thread::spawn(move || {
        thread::scope(|scope| {
            for first in [0, 1] {
                let sender = &sender;
                scope.spawn(move || {
                    for number in 0..5000 {
                        sender.send([first + 2 * number], MOST_AHEAD / 8).unwrap();
                    }
                });
            }
        });
        sender.end();
    });
    let mut found = Vec::new();
    while let Some(items) = take(&channel) {
        assert!(items.len() <= 8, "{} at a time", items.len());
        found.extend(items);
    }
    senders.join().unwrap();
    found.sort_unstable();
    assert!(found.into_iter().eq(0..10_000));
}

#[test]
fn what_weighs_more_than_there_is_room_for_goes_alone() {
    let channel = BoundedChannel::new();
    channel.send([1], 2 * MOST_AHEAD).unwrap();
    assert_eq!(take(&channel), Some(vec![1]));
    // Once the first item is taken there is room again.
    channel.send([2], MOST_AHEAD).unwrap();
    assert_eq!(take(&channel), Some(vec![2]));
}

#[test]
fn nothing_weighs_nothing() {
    let channel = BoundedChannel::<u32>::new();
    for _ in 0..3 {
        channel.send([], MOST_AHEAD).unwrap();
    }
    channel.send([1], MOST_AHEAD).unwrap();
    assert_eq!(take(&channel), Some(vec![1]));
}

#[test]
fn a_sender_that_waits_learns_that_the_channel_is_closed() {
    let channel = BoundedChannel::new();
    channel.send([1], MOST_AHEAD).unwrap();
    let sender = Arc::clone(&channel);
    let sending = thread::spawn(move || sender.send([2], 1));
    while channel.lock().senders_waiting == 0 {
        thread::yield_now();
    }
    channel.close();
    assert_eq!(sending.join().unwrap(), Err(Closed));
    assert_eq!(take(&channel), None);
}

#[test]
fn a_consumer_waits_for_enough_and_then_for_anything() {
    let channel = BoundedChannel::new();
    let (sender, first) = (Arc::clone(&channel), Instant::now());
    let sending = thread::spawn(move || {
        // Too little to be woken for, and no more comes.
        sender.send([1], 1).unwrap();
        thread::sleep(20 * PATIENCE);
        sender.send([2], 1).unwrap();
        thread::sleep(20 * PATIENCE);
        sender.send([3], ENOUGH).unwrap();
    });
    for number in 1..=3 {
        assert_eq!(take(&channel), Some(vec![number]));
    }
    assert!(first.elapsed() >= 40 * PATIENCE);
    sending.join().unwrap();

    channel.lock().consumer = Waiting::Thread(ENOUGH);
    channel.send([4], ENOUGH - 1).unwrap();
    assert!(matches!(channel.lock().consumer, Waiting::Thread(_)));
    channel.send([5], 1).unwrap();
    assert!(matches!(channel.lock().consumer, Waiting::No));
}

#[test]
fn waiting_ends_at_the_deadline() {
    let channel = BoundedChannel::<u32>::new();
    let deadline = Instant::now() + Duration::from_millis(20);
    let taken = channel.take(&mut VecDeque::new(), Some(deadline));
    assert_eq!(taken, Next::Pending);
    assert!(Instant::now() >= deadline);
}

#[test]
fn a_task_is_woken_for_items_and_for_the_end() {
    struct Count(AtomicUsize);
    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
    let count = Arc::new(Count(AtomicUsize::new(0)));
    let waker = Waker::from(Arc::clone(&count));
    let cx = Context::from_waker(&waker);
    let (channel, mut items) = (BoundedChannel::new(), VecDeque::new());
    assert_eq!(channel.poll_take(&mut items, &cx), Poll::Pending);
    channel.send([1], 1).unwrap();
    channel.send([2], 1).unwrap();
    // The task is not woken for the second item, as it does not wait any more.
    assert_eq!(count.0.load(Ordering::Relaxed), 1);
    let taken = channel.poll_take(&mut items, &cx);
    assert_eq!(
        (taken, &items),
        (Poll::Ready(Some(1)), &VecDeque::from([2]))
    );
    items.clear();
    assert_eq!(channel.poll_take(&mut items, &cx), Poll::Pending);
    channel.end();
    assert_eq!(count.0.load(Ordering::Relaxed), 2);
    let taken = channel.poll_take(&mut items, &cx);
    assert_eq!(taken, Poll::Ready(None));
}

#[test]
fn a_task_waits_for_senders_to_end_after_closing() {
    let cx = Context::from_waker(Waker::noop());
    let (channel, mut items) = (BoundedChannel::new(), VecDeque::new());
    channel.send([1], 1).unwrap();
    channel.close();
    assert_eq!(channel.poll_take(&mut items, &cx), Poll::Pending);
    assert!(items.is_empty());
    channel.end();
    let taken = channel.poll_take(&mut items, &cx);
    assert_eq!(taken, Poll::Ready(None));
}
