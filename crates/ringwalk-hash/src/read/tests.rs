#![expect(clippy::cast_possible_truncation, reason = "bytes of test data")]

use super::*;
use crate::OpenRoot;
use ringwalk::time_stamps::StampClocks;
use std::fs::File;
use std::os::unix::fs::FileExt as _;

fn with_file(write: impl FnOnce(&File), test: impl FnOnce(&OpenFile)) {
    let file = tempfile::NamedTempFile::new().unwrap();
    write(file.as_file());
    test(&OpenFile::open(&OpenRoot::Working, file.path(), &StampClocks::default()).unwrap());
}

fn bytes_of(file: &OpenFile, range: Range<u64>) -> Result<Vec<u8>, Fault> {
    let mut bytes = Vec::new();
    read_range(file, range, &mut ReadBuffer::default(), |part| {
        bytes.extend_from_slice(part);
    })?;
    Ok(bytes)
}

#[test]
fn holes_are_zeros() {
    let write = |file: &File| {
        file.write_all_at(b"first", 1 << 20).unwrap();
        file.write_all_at(b"second", 3 << 20).unwrap();
        file.set_len(5 << 20).unwrap();
    };
    let mut expected = vec![0; 5 << 20];
    expected[1 << 20..][..5].copy_from_slice(b"first");
    expected[3 << 20..][..6].copy_from_slice(b"second");
    with_file(write, |file| {
        assert!(file.may_have_holes());
        for range in [
            0..5 << 20,
            100..(1 << 20) + 3,
            (3 << 20) + 2..5 << 20,
            4 << 20..5 << 20,
            7..7,
        ] {
            let (start, end) = (range.start as usize, range.end as usize);
            let bytes = bytes_of(file, range.clone()).unwrap();
            assert!(bytes == expected[start..end], "{range:?}");
        }
        assert!(is_hole(file, &(4 << 20..5 << 20)));
        assert!(!is_hole(file, &(2 << 20..4 << 20)));
    });
}

#[test]
fn a_file_that_ends_early_has_changed() {
    with_file(
        |file| file.write_all_at(&[1; 5000], 0).unwrap(),
        |file| {
            assert_eq!(bytes_of(file, 0..5000).unwrap(), [1; 5000]);
            assert_eq!(bytes_of(file, 10..5001), Err(Fault::Changed));
        },
    );
}

#[test]
fn buffers_begin_where_pages_begin() {
    let buffer = ReadBuffer::default();
    let page = rustix::param::page_size();
    assert_eq!((buffer.as_ptr().addr() % page, buffer.len()), (0, BUFFER));
}

#[test]
fn absurd_answers_about_holes_are_data() {
    let data = |data, hole| data_from(10, 100, data, |_| Ok(hole)).unwrap();
    assert_eq!(data(Some(20), Some(30)), 20..30);
    assert_eq!(data(Some(20), Some(200)), 20..100);
    assert_eq!(data(None, None), 100..100);
    assert_eq!(data(Some(200), None), 100..100);
    assert_eq!(data(Some(0), Some(0)), 10..100);
    assert_eq!(data(Some(10), Some(10)), 10..100);
    assert_eq!(data(Some(20), Some(19)), 20..100);
}
