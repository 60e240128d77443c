//! Unit tests of `write_back.rs`.

use super::*;

#[test]
fn bytes_that_wait_for_write_back_are_known_or_not() {
    let memory = "MemTotal: 9 kB\nDirty:    12 kB\nWriteback:   3 kB\nWritebackTmp: 7 kB\n";
    assert_eq!(backlog(memory), Some(15 << 10));
    for unknown in [
        "",
        "Dirty: 12 kB\n",
        "Writeback: 3 kB\n",
        "Dirty: x kB\nWriteback: 3 kB\n",
    ] {
        assert_eq!(backlog(unknown), None, "{unknown}");
    }
}

#[test]
fn this_machine_writes_back() {
    assert!(seconds().is_some_and(|seconds| seconds > 0));
}
