//! Unit tests of `signals.rs`.

use super::*;

fn is_blocked(signal: i32) -> bool {
    let set = mask();
    // SAFETY: a valid set and a valid signal.
    unsafe { libc::sigismember(&raw const set, signal) == 1 }
}

#[test]
fn threads_started_with_signals_blocked_keep_them_so() {
    assert!(!is_blocked(libc::SIGINT));
    let thread = with_signals_blocked(|| std::thread::spawn(|| is_blocked(libc::SIGINT)));
    assert!(thread.join().unwrap());
    assert!(!is_blocked(libc::SIGINT));
}
