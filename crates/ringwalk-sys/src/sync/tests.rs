use super::*;
use std::sync::Arc;

/// Returns a mutex whose holder has panicked.
fn poisoned() -> Arc<Mutex<u32>> {
    let mutex = Arc::new(Mutex::new(7));
    let held = Arc::clone(&mutex);
    let panicked = std::thread::spawn(move || {
        let _guard = held.lock().unwrap();
        panic!("to poison the lock");
    });
    assert!(panicked.join().is_err());
    assert!(mutex.is_poisoned());
    mutex
}

#[test]
fn a_poisoned_lock_is_locked_all_the_same() {
    let mutex = poisoned();
    *lock(&mutex) += 1;
    assert_eq!(*mutex.lock().ignore_poison(), 8);
    let mutex = Arc::into_inner(mutex).unwrap();
    assert_eq!(mutex.into_inner().ignore_poison(), 8);
}

#[test]
fn a_wait_on_a_poisoned_lock_ends_at_its_limit() {
    let (mutex, condition) = (poisoned(), Condvar::new());
    let limit = Some(Duration::from_millis(1));
    let guard = wait_at_most(&condition, lock(&mutex), limit);
    assert_eq!(*guard, 7);
}
