//! Unit tests of `search.rs`.

use super::*;

fn header(objectid: u64, offset: u64, kind: u32, length: u32) -> Vec<u8> {
    let mut bytes = vec![0; 8];
    bytes.extend(objectid.to_ne_bytes());
    bytes.extend(offset.to_ne_bytes());
    bytes.extend(kind.to_ne_bytes());
    bytes.extend(length.to_ne_bytes());
    bytes
}

#[test]
fn items_lie_one_behind_the_other_without_alignment() {
    let mut bytes = header(256, 0, 1, 3);
    bytes.extend(b"abc");
    bytes.extend(header(256, 7, 12, 0));
    bytes.extend(header(300, 0, 1, 1));
    bytes.extend(b"z");
    let found = Found {
        bytes: &bytes,
        left: 3,
        limited: false,
    };
    let items: Vec<_> = found
        .map(|item| {
            (
                item.key.objectid,
                item.key.kind,
                item.key.offset,
                item.data.to_vec(),
            )
        })
        .collect();
    let expected = [
        (256, 1, 0, b"abc".to_vec()),
        (256, 12, 7, Vec::new()),
        (300, 1, 0, b"z".to_vec()),
    ];
    assert_eq!(items, expected);
}

#[test]
fn lengths_that_lead_outside_end_the_items() {
    let mut bytes = header(256, 0, 1, 4);
    bytes.extend(b"abc");
    let found = |left| Found {
        bytes: &bytes,
        left,
        limited: false,
    };
    assert_eq!(found(1).count(), 0);
    assert_eq!(found(u32::MAX).count(), 0);
    assert_eq!(found(0).count(), 0);
}

#[test]
fn keys_follow_each_other() {
    let key = |objectid, kind, offset| Key {
        objectid,
        kind,
        offset,
    };
    assert_eq!(key(1, 2, 3).next(), Some(key(1, 2, 4)));
    assert_eq!(key(1, 2, u64::MAX).next(), Some(key(1, 3, 0)));
    assert_eq!(key(1, 255, u64::MAX).next(), Some(key(2, 0, 0)));
    assert_eq!(key(u64::MAX, 255, u64::MAX).next(), None);
    assert!(Key::last(1, 2) < Key::first(1, 3));
}

#[test]
#[cfg_attr(miri, ignore = "Miri has no ioctls")]
fn another_file_system_refuses() {
    let proc = std::fs::File::open("/proc").unwrap();
    let range = Key::first(256, 0)..=Key::last(256, 255);
    let mut search = TreeSearch::default();
    let answer = search.search(&proc, 0, range, 1, ROOM).map(Iterator::count);
    assert_eq!(answer, Err(Errno::NOTTY));
}
