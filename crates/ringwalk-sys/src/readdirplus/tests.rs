use super::*;
use proptest::prelude::*;

/// The parts of a record.
#[derive(Clone, Debug)]
pub(crate) struct Made {
    pub(crate) ino: u64,
    pub(crate) cookie: u64,
    pub(crate) error: i32,
    pub(crate) d_type: u8,
    pub(crate) name: Vec<u8>,
    /// Words of metadata, if the record has metadata.
    pub(crate) stat: Option<Vec<u64>>,
    pub(crate) xattrs: usize,
}

fn made() -> Made {
    Made {
        ino: 1,
        cookie: 2,
        error: 0,
        d_type: 8,
        name: b"name".to_vec(),
        stat: None,
        xattrs: 0,
    }
}

fn record(made: &Made) -> Vec<u8> {
    let mut record = vec![0; HEADER];
    for word in made.stat.iter().flatten() {
        record.extend(word.to_ne_bytes());
    }
    record.extend(&made.name);
    record.push(0);
    record.resize(
        record.len().next_multiple_of(ALIGN) + made.xattrs * ALIGN,
        0,
    );
    let reclen = u32::try_from(record.len()).unwrap();
    let xattrs = u32::try_from(made.xattrs * ALIGN).unwrap();
    record[..8].copy_from_slice(&made.ino.to_ne_bytes());
    record[8..16].copy_from_slice(&made.cookie.to_ne_bytes());
    record[16..20].copy_from_slice(&reclen.to_ne_bytes());
    record[20..24].copy_from_slice(&xattrs.to_ne_bytes());
    record[24..28].copy_from_slice(&made.error.to_ne_bytes());
    let length = u16::try_from(made.name.len()).unwrap();
    record[28..30].copy_from_slice(&length.to_ne_bytes());
    record[30] = made.d_type;
    record[31] = u8::from(made.stat.is_some());
    record
}

fn only(bytes: &[u8], mask: u32) -> Result<(), DirentError> {
    let layout = PlusLayout::new(mask);
    let mut entries = PlusEntries::new(bytes, &layout);
    let first = entries.next().unwrap().map(|_| ());
    assert!(entries.next().is_none());
    first
}

#[test]
fn groups_lie_where_the_header_says() {
    let all = libc::STATX_BASIC_STATS | libc::STATX_BTIME | libc::STATX_MNT_ID;
    let layout = PlusLayout::new(all | 1 << 31);
    assert_eq!(layout.mask(), all);
    assert_eq!((layout.words, layout.groups), (19, [10, 12, 14, 16, 18]));
    let layout = PlusLayout::new(libc::STATX_SIZE | libc::STATX_CTIME | libc::STATX_MNT_ID);
    assert_eq!((layout.words, layout.groups), (13, [0, 0, 10, 0, 12]));
    assert_eq!(
        PlusLayout::new(libc::STATX_SIZE).record_size(7),
        32 + 80 + 8
    );
}

#[test]
fn metadata_is_read_field_by_field() {
    let layout = PlusLayout::new(libc::STATX_SIZE | libc::STATX_MTIME | libc::STATX_MNT_ID);
    let word = |low: u64, high: u64| low | high << 32;
    let stat = vec![
        word(0x7ff, 4096),
        3,
        4,
        word(5, 1000),
        word(1001, 0o100_644),
        77,
        12345,
        24,
        word(8, 1),
        word(9, 2),
        (-5_i64).cast_unsigned(),
        word(999_999_999, 0),
        42,
    ];
    let bytes = record(&Made {
        stat: Some(stat),
        ..made()
    });
    if cfg!(target_endian = "big") {
        return; // The words above are put together for the other.
    }
    let entry = PlusEntries::new(&bytes, &layout).next().unwrap().unwrap();
    assert_eq!((entry.name(), entry.ino(), entry.cookie()), (c"name", 1, 2));
    assert_eq!(entry.file_type(), RawFileType::Regular);
    let stat = entry.stat().unwrap().unwrap();
    let fixed = stat.fixed();
    assert_eq!(
        (fixed.mask, fixed.blksize, fixed.attributes),
        (0x7ff, 4096, 3)
    );
    assert_eq!((fixed.attributes_mask, fixed.nlink), (4, 5));
    assert_eq!((fixed.uid, fixed.gid, fixed.mode), (1000, 1001, 0o100_644));
    assert_eq!((fixed.ino, fixed.size, fixed.blocks), (77, 12345, 24));
    assert_eq!((fixed.dev_major, fixed.dev_minor), (8, 1));
    assert_eq!((fixed.rdev_major, fixed.rdev_minor), (9, 2));
    assert_eq!((stat.mtime().sec, stat.mtime().nsec), (-5, 999_999_999));
    assert_eq!((stat.atime(), stat.ctime()), Default::default());
    assert_eq!((stat.btime().sec, stat.mnt_id()), (0, 42));
}

#[test]
fn an_error_is_reported_instead_of_metadata() {
    let layout = PlusLayout::new(libc::STATX_SIZE);
    let bytes = record(&Made {
        error: -2,
        ..made()
    });
    let entry = PlusEntries::new(&bytes, &layout).next().unwrap().unwrap();
    assert_eq!(entry.stat().unwrap_err(), Errno::NOENT);
    let bytes = record(&made());
    let entry = PlusEntries::new(&bytes, &layout).next().unwrap().unwrap();
    assert!(entry.stat().unwrap().is_none());
}

#[test]
fn dots_are_distinguished_from_names_that_begin_with_them() {
    let layout = PlusLayout::new(libc::STATX_SIZE);
    for (name, is_dot) in [
        (&b"."[..], true),
        (b"..", true),
        (b"...", false),
        (b".x", false),
        (b"..x", false),
        (b"x", false),
    ] {
        let bytes = record(&Made {
            name: name.to_vec(),
            ..made()
        });
        let entry = PlusEntries::new(&bytes, &layout).next().unwrap().unwrap();
        assert_eq!(entry.is_dot(), is_dot, "{name:?}");
    }
}

#[test]
fn damaged_records_are_refused() {
    let good = record(&made());
    assert_eq!(only(&good, 0), Ok(()));
    let damaged = |at: usize, bytes: &[u8]| {
        let mut record = good.clone();
        record[at..at + bytes.len()].copy_from_slice(bytes);
        only(&record, libc::STATX_SIZE)
    };
    assert_eq!(only(&good[..31], 0), Err(DirentError::Truncated));
    assert_eq!(only(&good[..32], 0), Err(DirentError::BadLength));
    for length in [0_u32, 8, 32, 39, 48, u32::MAX, u32::MAX - 7] {
        let found = damaged(16, &length.to_ne_bytes());
        assert_eq!(found, Err(DirentError::BadLength), "{length}");
    }
    // Attributes that would begin before the end of the name.
    assert_eq!(damaged(20, &[8]), Err(DirentError::BadLength));
    assert_eq!(damaged(20, &[0xff; 4]), Err(DirentError::BadLength));
    // Wrong lengths of the name.
    assert_eq!(damaged(28, &[3]), Err(DirentError::UnterminatedName));
    assert_eq!(
        damaged(28, &8_u16.to_ne_bytes()),
        Err(DirentError::BadLength)
    );
    assert_eq!(damaged(28, &[0xff; 2]), Err(DirentError::BadLength));
    assert_eq!(damaged(32, &[0]), Err(DirentError::EmptyName));
    // Metadata that does not fit into the record.
    assert_eq!(damaged(31, &[1]), Err(DirentError::BadLength));
}

#[test]
fn what_follows_a_damaged_record_is_not_read() {
    let layout = PlusLayout::new(0);
    let mut bytes = record(&made());
    let good = bytes.len();
    bytes.extend([0; 40]);
    bytes.extend(record(&made()));
    let mut entries = PlusEntries::new(&bytes, &layout);
    assert!(entries.next().unwrap().is_ok());
    assert_eq!(entries.offset(), good);
    assert!(entries.next().unwrap().is_err());
    assert!(entries.next().is_none());
    let ragged = [&record(&made())[..], &[0; 3]].concat();
    assert_eq!(PlusEntries::new(&ragged, &layout).count(), 2);
}

fn name() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(1..=255_u8, 1..300)
}

proptest! {
    #[test]
    fn records_are_read_as_they_were_made(
        mask in any::<u32>(),
        all in prop::collection::vec(
            (any::<u64>(), name(), any::<bool>(), any::<u64>(), 0..5_usize), 0..20),
    ) {
        let layout = PlusLayout::new(mask);
        let all: Vec<_> = all
            .into_iter()
            .map(|(ino, name, stat, word, xattrs)| Made {
                ino,
                name,
                stat: stat.then(|| vec![word; layout.words]),
                xattrs,
                ..made()
            })
            .collect();
        let bytes: Vec<u8> = all.iter().flat_map(record).collect();
        let found: Vec<_> = PlusEntries::new(&bytes, &layout).map(Result::unwrap).collect();
        prop_assert_eq!(found.len(), all.len());
        for (found, made) in found.iter().zip(&all) {
            prop_assert_eq!(found.ino(), made.ino);
            prop_assert_eq!(found.name().to_bytes(), &made.name[..]);
            let stat = found.stat().unwrap();
            prop_assert_eq!(stat.map(|s| s.fixed().size), made.stat.as_ref().map(|s| s[6]));
            if mask & libc::STATX_MNT_ID != 0 {
                prop_assert_eq!(stat.map(|s| s.mnt_id()), made.stat.as_ref().map(|s| s[18.min(s.len() - 1)]));
            }
        }
    }

    #[test]
    fn any_bytes_are_records_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..400), mask in any::<u32>()) {
        let layout = PlusLayout::new(mask);
        let mut entries = PlusEntries::new(&bytes, &layout);
        while let Some(entry) = entries.next() {
            match entry {
                Ok(entry) => {
                    prop_assert!(!entry.name().is_empty());
                    let _ = (entry.is_dot(), entry.stat().map(|s| s.map(|s| (s.fixed(), s.btime(), s.mnt_id()))));
                    prop_assert!(entries.offset() <= bytes.len());
                }
                Err(_) => prop_assert!(entries.next().is_none()),
            }
        }
    }
}

#[test]
fn what_is_no_errno_is_an_error_all_the_same() {
    let layout = PlusLayout::new(libc::STATX_SIZE);
    for (error, reported) in [
        (-libc::ENOENT, Errno::NOENT),
        (1, Errno::IO),
        (-4096, Errno::IO),
        (i32::MIN, Errno::IO),
        (i32::MAX, Errno::IO),
    ] {
        let bytes = record(&Made { error, ..made() });
        let entry = PlusEntries::new(&bytes, &layout).next().unwrap().unwrap();
        assert_eq!(entry.stat().err(), Some(reported), "{error}");
    }
}
