use super::*;
use ringwalk::FileType;
use ringwalk_snapshot::Column;
use std::sync::Arc;

/// The fuzzer found a snapshot in which two rows of a file were charged for nearly 2^63 bytes.
#[test]
fn sums_of_a_damaged_file_do_not_overflow() {
    let mut version = Version::new(0, 0, Arc::from(&b"f"[..]), FileType::Regular);
    version.set(Column::Alloc, Some(i64::MAX));
    version.charged = true;
    let added = Change::new(Kind::Added, None, Some(version));
    let mut changes = vec![added.clone(), added];
    let part = |change| Part {
        change,
        bytes: i64::MAX,
        is_new: true,
        is_charged: true,
    };
    settle_inode(&[part(0), part(1)], &mut changes);
    assert_eq!([changes[0].growth, changes[1].growth], [i64::MAX, 0]);
}
