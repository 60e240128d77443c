//! Unit tests of `raw_batch.rs`.

use super::*;
use ringwalk_sys::RawFileType as FileType;

fn batch(known: bool) -> RawBatch {
    let mut batch = RawBatch::default();
    for (errno, name) in [(3_i32, c"c"), (1, c"a"), (2, c"b")] {
        let ino = 10 - errno.cast_unsigned();
        batch
            .records
            .push(name, FileType::Regular, u64::from(ino), 0);
        if known {
            let errno = Errno::from_raw_os_error(errno);
            batch.known.push(Known::Failed(errno));
        }
    }
    batch
}

#[test]
fn metadata_stays_with_its_entry() {
    for known in [false, true] {
        let mut batch = batch(known);
        batch.sort_by_name();
        let names: Vec<_> = (0..3).map(|i| batch.records.name(i)).collect();
        assert_eq!(names, [c"a", c"b", c"c"]);
        let of = |batch: &RawBatch| -> Vec<_> {
            (0..3)
                .filter_map(|i| Some(batch.failure(i)?.raw_os_error()))
                .collect()
        };
        assert_eq!(of(&batch), &[1, 2, 3][..if known { 3 } else { 0 }]);
        batch.sort_by_ino();
        assert_eq!(batch.records.name(0), c"c");
        assert_eq!(of(&batch), &[3, 2, 1][..if known { 3 } else { 0 }]);
    }
}
