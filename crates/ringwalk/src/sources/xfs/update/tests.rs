//! Unit tests of `update.rs`.

use super::*;

fn record() -> XfsBulkstat {
    let mut record = XfsBulkstat::default();
    (record.nlink, record.mode) = (2, 0o040_755);
    (record.btime, record.btime_nsec) = (100, 1);
    (record.mtime, record.mtime_nsec) = (200, 2);
    (record.ctime, record.ctime_nsec) = (300, 3);
    record
}

fn then() -> Metadata {
    let time = |secs, nanos| Timestamp { secs, nanos };
    Metadata {
        btime: time(100, 1),
        mtime: time(200, 2),
        ctime: time(300, 3),
        ..Metadata::default()
    }
}

#[test]
fn each_time_has_to_be_the_same() {
    assert!(is_same(&record(), &then(), 301));
    let changes: [fn(&mut XfsBulkstat); 8] = [
        |record| record.btime_nsec += 1,
        |record| record.mtime_nsec += 1,
        |record| record.ctime_nsec += 1,
        // The clock was set back before the change.
        |record| record.ctime -= 1,
        |record| record.mtime += 1,
        |record| record.btime += 1,
        |record| record.nlink = 0,
        |record| record.mode = 0o100_644,
    ];
    for change in changes {
        let mut record = record();
        change(&mut record);
        assert!(!is_same(&record, &then(), 301));
    }
}

#[test]
fn what_changed_as_the_older_tree_was_read_is_not_sure() {
    assert!(!is_same(&record(), &then(), 300));
    assert!(!is_same(&record(), &then(), 299));
}
