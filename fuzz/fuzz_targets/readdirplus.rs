//! The parser of READDIRPLUS records on arbitrary bytes.
//!
//! The first four bytes are the requested mask, the rest the bytes that the kernel is said to have
//! written. The parser must not panic, and must end. Its results must be those of the bytes: each
//! record is read a second time here, by offsets written down from the header of the kernel module.
//! The same bytes are also taken for groups of READTREE.

#![no_main]

use libfuzzer_sys::fuzz_target;
use ringwalk_sys::{PlusEntries, PlusLayout, RawFileType, Records, TreeGroup};

fn number<const N: usize>(bytes: &[u8], at: usize) -> u64 {
    let mut word = [0; 8];
    word[..N].copy_from_slice(&bytes[at..at + N]);
    u64::from_le_bytes(word)
}

fuzz_target!(|input: &[u8]| {
    let Some((mask, buffer)) = input.split_first_chunk::<4>() else {
        return;
    };
    check_groups(buffer);
    let layout = PlusLayout::new(u32::from_le_bytes(*mask));
    let asked = layout.mask();
    let mut entries = PlusEntries::new(buffer, &layout);
    let mut names = Vec::new();
    let mut damaged = false;
    loop {
        let start = entries.offset();
        match entries.next() {
            None => break,
            Some(Err(_)) => {
                assert!(entries.next().is_none(), "something after an error");
                damaged = true;
                break;
            }
            Some(Ok(entry)) => {
                let end = entries.offset();
                assert!(end > start && end <= buffer.len());
                let record = &buffer[start..end];
                assert_eq!(number::<4>(record, 16), record.len() as u64);
                assert_eq!(entry.ino(), number::<8>(record, 0));
                assert_eq!(entry.cookie().cast_unsigned(), number::<8>(record, 8));
                assert_eq!(entry.file_type(), RawFileType::from_d_type(record[30]));
                let groups = [0x20, 0x40, 0x80, 0x800].map(|bit| u64::from(asked & bit != 0) * 16);
                let mount = u64::from(asked & 0x1000 != 0) * 8;
                let has_stat = record[31] & 1 != 0;
                let stat = if has_stat {
                    80 + groups.iter().sum::<u64>() + mount
                } else {
                    0
                };
                let at = 32 + stat as usize;
                let name = entry.name().to_bytes();
                assert!(!name.is_empty());
                assert_eq!(name, &record[at..at + name.len()]);
                assert_eq!(record[at + name.len()], 0);
                assert!(name.len() as u64 <= number::<2>(record, 28));
                assert_eq!(entry.is_dot(), name == b"." || name == b"..");
                match entry.stat() {
                    Err(_) => assert_ne!(number::<4>(record, 24), 0),
                    Ok(None) => assert!(!has_stat),
                    Ok(Some(stat)) => {
                        let fixed = stat.fixed();
                        assert_eq!(u64::from(fixed.mask), number::<4>(record, 32));
                        assert_eq!(fixed.size, number::<8>(record, 32 + 48));
                        assert_eq!(u64::from(fixed.rdev_minor), number::<4>(record, 32 + 76));
                        if mount != 0 {
                            assert_eq!(stat.mnt_id(), number::<8>(record, at - 8));
                        }
                        if groups[0] != 0 {
                            assert_eq!(
                                stat.atime().sec.cast_unsigned(),
                                number::<8>(record, 32 + 80)
                            );
                        }
                    }
                }
                if !entry.is_dot() {
                    names.push(name.to_vec());
                }
            }
        }
    }
    // The index finds the same, in whichever way it is filled.
    let mut records = Records::default();
    let (mut copy, filled) = (buffer.to_vec(), buffer.len());
    records.swap_buffer(&mut copy, filled);
    let indexed = records.index_plus(&layout, |entry| entry.file_type());
    assert_eq!(indexed.is_err(), damaged);
    let found = (0..records.len()).map(|index| records.name(index).to_bytes());
    assert!(found.eq(names.iter().map(Vec::as_slice)));
});

/// The groups of READTREE: what is accepted lies in the buffer, one group behind the other, each
/// behind the record of its directory.
fn check_groups(buffer: &[u8]) {
    let Ok(groups) = TreeGroup::all_of(buffer) else {
        return;
    };
    let mut end = 0;
    for group in &groups {
        assert_eq!(group.records.start, end + 32);
        assert_eq!(number::<4>(buffer, end), (group.records.end - end) as u64);
        assert_eq!(number::<4>(buffer, end + 4), group.parent as u64);
        assert!((group.parent == 0) == (end == 0) && group.parent <= end);
        end = group.records.end;
    }
    assert_eq!(end, buffer.len());
}
