//! Unit tests of `thread_usage.rs`.

use super::*;
use std::time::Instant;

#[test]
fn waiting_and_working_differ() {
    let before = ThreadUsage::now();
    for _ in 0..3 {
        std::thread::sleep(Duration::from_millis(2));
    }
    let waited = ThreadUsage::now();
    assert!(waited.voluntary_switches >= before.voluntary_switches + 3);
    let start = Instant::now();
    while ThreadUsage::now().cpu < waited.cpu + Duration::from_millis(20) {
        assert!(
            start.elapsed() < Duration::from_secs(60),
            "CPU time stands still"
        );
    }
}
