//! Unit tests of `directory.rs`.

use super::*;

const TYPED: Records = Records {
    has_types: true,
    inodes: 100,
};

/// Returns a record of `length` bytes.
fn record(ino: u32, length: u16, name: &[u8], kind: u8) -> Vec<u8> {
    let mut bytes = ino.to_le_bytes().to_vec();
    bytes.extend(length.to_le_bytes());
    bytes.extend([u8::try_from(name.len()).unwrap(), kind]);
    bytes.extend(name);
    bytes.resize(bytes.len().max(length.into()), 0xAA);
    bytes
}

fn names(records: Records, room: &[u8]) -> (Vec<(u32, u8, Vec<u8>)>, bool) {
    let mut names = Vec::new();
    let result = records.each(room, |entry| {
        names.push((entry.ino, entry.file_type, entry.name.to_vec()));
    });
    (names, result.is_ok())
}

#[test]
fn records_in_use_are_given() {
    let room = [
        record(2, 12, b".", 2),
        record(0, 16, b"gone", 1),
        record(11, 20, b"a name", 99),
    ]
    .concat();
    let expected = vec![(2, 2, b".".to_vec()), (11, 0, b"a name".to_vec())];
    assert_eq!(names(TYPED, &room), (expected, true));
    assert_eq!(names(TYPED, &[]), (vec![], true));
}

#[test]
fn without_types_that_byte_belongs_to_the_length() {
    let untyped = Records {
        has_types: false,
        ..TYPED
    };
    let room = record(7, 12, b"abc", 0);
    assert_eq!(names(untyped, &room), (vec![(7, 0, b"abc".to_vec())], true));
    assert_eq!(names(untyped, &record(7, 12, b"abc", 1)), (vec![], false));
}

#[test]
fn what_cannot_be_is_an_error() {
    for room in [
        record(7, 8, b"", 1),
        record(7, 0, b"abcd", 1),
        record(7, 14, b"abcdef", 1),
        record(7, 12, b"abcde", 1),
        record(7, 12, b"", 1),
        record(7, 12, b"a/b", 1),
        record(7, 12, b"a\0b", 1),
        record(101, 12, b"abc", 1),
        [record(7, 12, b"abc", 1), vec![0; 4]].concat(),
        [record(7, 12, b"abc", 1), vec![0; 8]].concat(),
        record(7, 24, b"abc", 1)[..20].to_vec(),
    ] {
        let (found, is_whole) = names(TYPED, &room);
        assert!(!is_whole, "{room:?} {found:?}");
    }
}

#[test]
fn records_of_64_kib_have_18_bits() {
    let mut room = vec![0; 1 << 16];
    // Lengths of 65524 and 12 bytes.
    room[..12].copy_from_slice(&record(7, 0xFFF4, b"abc", 1)[..12]);
    room[0xFFF4..].copy_from_slice(&record(8, 12, b"def", 1));
    let both = vec![(7, 1, b"abc".to_vec()), (8, 1, b"def".to_vec())];
    assert_eq!(names(TYPED, &room), (both, true));
    for whole in [0, 0xFFFF] {
        room[4..6].copy_from_slice(&u16::to_le_bytes(whole));
        assert_eq!(names(TYPED, &room), (vec![(7, 1, b"abc".to_vec())], true));
    }
    let header = [0, 0, 0, 0, 0xF5, 0xFF, 0, 0];
    assert_eq!(record_length(Fixed(&header), 1 << 16), 0x1_FFF4);
    assert_eq!(record_length(Fixed(&header), 1 << 15), 0xFFF5);
}

#[test]
fn inline_data_begins_with_the_parent() {
    let first = [&[2, 0, 0, 0], &record(5, 56, b"one", 1)[..]].concat();
    let second = record(6, 16, b"two", 1);
    let mut names = Vec::new();
    let result = TYPED.each_inline(&first, &second, |entry| {
        names.push((entry.ino, entry.name.to_vec()));
    });
    assert!(result.is_ok());
    assert_eq!(
        names,
        [
            (2, b"..".to_vec()),
            (5, b"one".to_vec()),
            (6, b"two".to_vec())
        ]
    );
    assert!(
        TYPED.each_inline(&[0; 60], &[], |_| ()).is_err(),
        "no parent"
    );
}
