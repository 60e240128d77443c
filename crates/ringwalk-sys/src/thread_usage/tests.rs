//! Unit tests of `thread_usage.rs`.

use super::*;
use std::time::Instant;

#[test]
fn waiting_and_working_differ() {
    let start = Instant::now();
    let before = ThreadUsage::now();
    let mut waited = before;
    // On a slow machine the time of a sleep may be over before the thread waits.
    while waited.voluntary_switches < before.voluntary_switches + 3 {
        assert!(
            start.elapsed() < Duration::from_secs(60),
            "no switch is counted while the thread sleeps"
        );
        std::thread::sleep(Duration::from_millis(2));
        waited = ThreadUsage::now();
    }
    let start = Instant::now();
    while ThreadUsage::now().cpu < waited.cpu + Duration::from_millis(20) {
        assert!(
            start.elapsed() < Duration::from_secs(60),
            "CPU time stands still"
        );
    }
}
