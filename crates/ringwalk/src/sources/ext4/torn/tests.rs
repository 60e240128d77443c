//! Unit tests of `torn.rs`.

use super::*;

/// Calls `read` with the number of pauses before it. Returns its result, and the sum of the pauses.
fn settled(
    mut read: impl FnMut(usize) -> Result<usize, Error>,
) -> (Result<usize, Error>, Duration) {
    let mut waited = Vec::new();
    let mut reads = 0;
    let result = read_with_pauses(
        || {
            reads += 1;
            read(reads - 1)
        },
        |length| waited.push(length),
    );
    (result, waited.iter().sum())
}

#[test]
fn a_checksum_that_becomes_right_is_no_damage() {
    for (torn, milliseconds) in [(0, 0), (1, 1), (4, 15), (PAUSES.len(), 511)] {
        let (result, waited) = settled(|pauses| {
            if pauses < torn {
                return Err(Error::Checksum("the superblock"));
            }
            Ok(pauses)
        });
        assert_eq!(result.unwrap(), torn);
        assert_eq!(waited, Duration::from_millis(milliseconds));
    }
}

#[test]
fn a_checksum_that_stays_wrong_is_damage() {
    let mut reads = 0;
    let (result, waited) = settled(|_| {
        reads += 1;
        Err(Error::Checksum("a group descriptor"))
    });
    assert_eq!(
        result.unwrap_err().to_string(),
        "wrong checksum of a group descriptor"
    );
    assert_eq!((reads, waited), (10, Duration::from_millis(511)));
}

#[test]
fn other_errors_are_returned_at_once() {
    for error in [Error::NotExt4, Error::Corrupt("inode size")] {
        let mut error = Some(error);
        let (result, waited) = settled(|_| Err(error.take().unwrap()));
        assert!(result.is_err() && waited.is_zero());
    }
}
