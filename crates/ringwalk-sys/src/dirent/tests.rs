//! Parses records that were written, records that were damaged, and random bytes.

use super::*;
use proptest::prelude::*;

fn record(ino: u64, cookie: i64, d_type: u8, name: &[u8], padding: usize) -> Vec<u8> {
    let length = (HEADER + name.len() + 1).next_multiple_of(ALIGN) + padding * ALIGN;
    let mut bytes = Vec::new();
    bytes.extend(ino.to_ne_bytes());
    bytes.extend(cookie.to_ne_bytes());
    bytes.extend(u16::try_from(length).unwrap().to_ne_bytes());
    bytes.push(d_type);
    bytes.extend(name);
    bytes.resize(length, 0);
    bytes
}

#[test]
fn a_record_is_read_back() {
    let buffer = record(7, -2, 8, b"name", 0);
    let dirent = Dirents::new(&buffer).next().unwrap().unwrap();
    assert_eq!((dirent.ino(), dirent.cookie()), (7, -2));
    assert_eq!(dirent.file_type(), RawFileType::Regular);
    assert_eq!(dirent.name(), c"name");
}

#[test]
fn dots_are_known() {
    for (name, dot) in [
        (&b"."[..], true),
        (b"..", true),
        (b"...", false),
        (b".a", false),
    ] {
        let buffer = record(1, 1, 4, name, 0);
        assert_eq!(Dirents::new(&buffer).next().unwrap().unwrap().is_dot(), dot);
    }
}

#[test]
fn bad_records_are_errors_and_the_end() {
    let good = record(1, 1, 8, b"abc", 0);
    let cases = [
        (good[..18].to_vec(), DirentError::Truncated),
        (good[..16].to_vec(), DirentError::Truncated),
        (
            {
                let mut b = good.clone();
                b[16] = 16;
                b
            },
            DirentError::BadLength,
        ),
        (
            {
                let mut b = good.clone();
                b[16] = 23;
                b
            },
            DirentError::BadLength,
        ),
        (
            {
                let mut b = good.clone();
                b[16] = 32;
                b
            },
            DirentError::BadLength,
        ),
        (
            {
                let mut b = good.clone();
                b[16] = 0;
                b
            },
            DirentError::BadLength,
        ),
        (
            {
                let mut b = good.clone();
                b[19..].fill(b'x');
                b
            },
            DirentError::UnterminatedName,
        ),
        (record(1, 1, 8, b"", 0), DirentError::EmptyName),
    ];
    for (buffer, error) in cases {
        let mut dirents = Dirents::new(&buffer);
        assert_eq!(dirents.next().unwrap().unwrap_err(), error);
        assert!(dirents.next().is_none());
    }
}

#[test]
fn padding_is_not_looked_at() {
    for length in 1..40 {
        let name = vec![b'n'; length];
        let mut buffer = record(1, 1, 8, &name, 2);
        buffer[HEADER + length + 1..].fill(b'/');
        let dirent = Dirents::new(&buffer).next().unwrap().unwrap();
        assert_eq!(dirent.name().to_bytes(), name);
    }
}

#[test]
fn types_follow_the_mode_bits() {
    for (mode, file_type) in [
        (0o040_755, RawFileType::Directory),
        (0o100_644, RawFileType::Regular),
        (0o120_777, RawFileType::Symlink),
        (0o140_777, RawFileType::Socket),
        (0o010_644, RawFileType::Fifo),
        (0o060_660, RawFileType::BlockDevice),
        (0o020_660, RawFileType::CharacterDevice),
        (0o000_644, RawFileType::Unknown),
    ] {
        assert_eq!(RawFileType::from_mode(mode), file_type);
    }
}

proptest! {
    #[test]
    fn what_is_written_is_read(entries in prop::collection::vec(
        (any::<u64>(), any::<i64>(), 0u8..16, prop::collection::vec(1u8..=255, 1..256), 0usize..3), 0..50)) {
        let entries: Vec<_> = entries
            .into_iter()
            .map(|(ino, cookie, d_type, mut name, padding)| {
                for byte in &mut name {
                    if *byte == b'/' {
                        *byte = b'_';
                    }
                }
                (ino, cookie, d_type, name, padding)
            })
            .collect();
        let buffer: Vec<u8> = entries
            .iter()
            .flat_map(|(ino, cookie, d_type, name, padding)| record(*ino, *cookie, *d_type, name, *padding))
            .collect();
        let read: Vec<_> = Dirents::new(&buffer).map(Result::unwrap).collect();
        prop_assert_eq!(read.len(), entries.len());
        for (dirent, (ino, cookie, d_type, name, _)) in read.iter().zip(&entries) {
            prop_assert_eq!(dirent.ino(), *ino);
            prop_assert_eq!(dirent.cookie(), *cookie);
            prop_assert_eq!(dirent.file_type(), RawFileType::from_d_type(*d_type));
            prop_assert_eq!(dirent.name().to_bytes(), &name[..]);
        }
    }

    #[test]
    fn any_bytes_end(bytes in prop::collection::vec(any::<u8>(), 0..4096)) {
        // Every record takes at least 24 bytes, which limits the number of records.
        prop_assert!(Dirents::new(&bytes).count() <= bytes.len() / 24 + 1);
    }
}
