use super::*;
use crate::{Entry, Info, Snapshot, TreeBuilder, WriteOptions};
use ringwalk::FileType;
use std::fs;

#[test]
fn names_that_look_like_a_checksum() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("f");
    let mark = [MARK, OPEN.as_bytes()].concat();
    let mut tree = TreeBuilder::new(WriteOptions::default());
    let root = [b"/", &mark[..]].concat();
    tree.begin_root(&root, &Entry::new(b"", FileType::Directory))
        .unwrap();
    tree.file(&Entry::new(&mark, FileType::Regular)).unwrap();
    tree.end_directory().unwrap();
    tree.finish(Info::default(), &path).unwrap();
    assert_eq!(Snapshot::open(&path).unwrap().rows(), 2);
    let whole = fs::read(&path).unwrap();
    assert!(memchr::memmem::find_iter(&whole, MARK).count() > 1);
    let at = memchr::memmem::rfind(&whole, MARK).unwrap() + MARK.len();
    assert_ne!(&whole[at..at + 8], OPEN.as_bytes());
}

#[test]
fn a_footer_without_a_checksum_is_intact() {
    assert!(is_intact(b""));
    assert!(is_intact(b"a footer"));
    assert!(is_intact(b"\"footer_crc32\":\"1234567"));
    assert!(!is_intact(b"\"footer_crc32\":\"12345678\""));
}
