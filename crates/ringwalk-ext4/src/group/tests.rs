//! Unit tests of `group.rs`.

use super::*;
use crate::test_image::{set, superblock};

/// Returns an image with the descriptors of two groups, whose tables are in blocks 10 and 2100.
fn image() -> Vec<u8> {
    let mut image = vec![0; 4096 * 1024];
    set(&mut image, 2048 + 8, &10_u32.to_le_bytes());
    set(&mut image, 2048 + 32 + 8, &2100_u32.to_le_bytes());
    image
}

fn read(superblock: &Superblock, image: &[u8]) -> Result<Vec<Descriptor>, Error> {
    let mut all = Vec::new();
    descriptors(superblock, image, |_, descriptor| all.push(descriptor))?;
    Ok(all)
}

#[test]
fn without_checksums_whole_tables_are_in_use() {
    let mut image = image();
    // INODE_UNINIT and the number of unused inodes have no meaning here.
    set(&mut image, 2048 + 0x12, &[1, 0]);
    set(&mut image, 2048 + 0x1C, &[9, 0]);
    let used = 256;
    let expected = [
        Descriptor { table: 10, used },
        Descriptor { table: 2100, used },
    ];
    assert_eq!(read(&superblock(), &image).unwrap(), expected);
}

#[test]
fn tables_are_within_the_file_system() {
    for table in [0, 1, 4033, u32::MAX] {
        let mut image = image();
        set(&mut image, 2048 + 32 + 8, &table.to_le_bytes());
        assert!(read(&superblock(), &image).is_err(), "{table}");
    }
    assert!(
        read(&superblock(), &image()[..2048 + 63]).is_err(),
        "cut short"
    );
}

#[test]
fn gdt_csum_reports_how_much_is_in_use() {
    let mut superblock = superblock();
    superblock.features.ro_compat = ro_compat::GDT_CSUM;
    let mut image = image();
    assert!(matches!(read(&superblock, &image), Err(Error::Checksum(_))));
    set(&mut image, 2048 + 0x1C, &[56, 0]);
    set(&mut image, 2048 + 32 + 0x12, &[1, 0]);
    for group in 0..2_u32 {
        let at = 2048 + 32 * group as usize;
        let sum = crc16(crc16(!0, &superblock.uuid), &group.to_le_bytes());
        let sum = crc16(sum, &image[at..at + 0x1E]);
        set(&mut image, at + 0x1E, &sum.to_le_bytes());
    }
    let expected = [
        Descriptor {
            table: 10,
            used: 200,
        },
        Descriptor {
            table: 2100,
            used: 0,
        },
    ];
    assert_eq!(read(&superblock, &image).unwrap(), expected);
}

#[test]
fn copies_are_in_powers_of_3_5_and_7() {
    let mut superblock = superblock();
    assert!(
        (0..100).all(|group| has_superblock(&superblock, group)),
        "in all"
    );
    superblock.features.ro_compat = ro_compat::SPARSE_SUPER;
    let with: Vec<u32> = (0..350)
        .filter(|&group| has_superblock(&superblock, group))
        .collect();
    assert_eq!(with, [0, 1, 3, 5, 7, 9, 25, 27, 49, 81, 125, 243, 343]);
    superblock.features.compat = compat::SPARSE_SUPER2;
    superblock.backup_groups = [1, 99];
    let with: Vec<u32> = (0..350)
        .filter(|&group| has_superblock(&superblock, group))
        .collect();
    assert_eq!(with, [0, 1, 99]);
}
