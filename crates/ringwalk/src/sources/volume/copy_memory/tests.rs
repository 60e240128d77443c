//! Unit tests of `copy_memory.rs`.

use super::*;

#[test]
fn no_more_is_given_than_there_is() {
    let memory = Arc::new(CopyMemory::of(100));
    let first = memory.take(60).unwrap();
    assert!(memory.take(41).is_none());
    let second = memory.take(40).unwrap();
    assert!(memory.take(1).is_none());
    assert!(memory.take(0).is_some());
    drop(first);
    assert!(memory.take(61).is_none());
    drop((memory.take(60).unwrap(), second));
    assert!(memory.take(100).is_some());
}

#[test]
fn a_copy_gives_its_share_back_with_its_last_reader() {
    let memory = Arc::new(CopyMemory::of(10));
    let copy = Arc::new(DirectoryCopy::new(vec![7; 10], memory.take(10).unwrap()));
    let reader = Arc::clone(&copy);
    drop(copy);
    assert_eq!((reader.len(), memory.take(1).is_none()), (10, true));
    drop(reader);
    assert!(memory.take(10).is_some());
}

#[test]
fn all_threads_share_one() {
    let memory = Arc::new(CopyMemory::of(1000));
    let held = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for size in 1..=8 {
            let (memory, held) = (&memory, &held);
            scope.spawn(move || {
                for _ in 0..10_000 {
                    if let Some(share) = memory.take(size * 70) {
                        let all = held.fetch_add(share.bytes, Ordering::SeqCst) + share.bytes;
                        assert!(all <= 1000, "{all}");
                        held.fetch_sub(share.bytes, Ordering::SeqCst);
                    }
                }
            });
        }
    });
    assert!(memory.take(1000).is_some(), "all of it came back");
}
