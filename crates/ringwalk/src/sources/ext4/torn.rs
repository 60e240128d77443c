//! Reads of a superblock or group descriptor that the kernel is changing at that moment.
//!
//! The kernel changes fields in the page cache first, and their checksum after that. A reader that
//! comes in between finds a wrong checksum, as in a damaged file system. Only the wrong checksum of
//! a damaged file system stays.

use ringwalk_ext4::Error;
use std::time::Duration;

/// The pauses in milliseconds after which a wrong checksum is read again: half a second in all.
///
/// The kernel needs about a microsecond, and `ringwalk-ext4` reads again at once. But the kernel
/// can be held up in between: by an interrupt, by the scheduler, by a host that takes the CPU away
/// from its guest. Measured on a busy guest of two CPUs, while two processes removed files: one
/// read in 2000 found a wrong checksum, and 3 of 938 wrong checksums were still there after four
/// reads. A scheduler gives a CPU away for milliseconds, and for up to 100 ms to enforce a limit on
/// CPU time (`cpu.max`).
const PAUSES: [u64; 9] = [1, 2, 4, 8, 16, 32, 64, 128, 256];

/// Returns the result of `read`. Calls it again after a pause while a checksum is wrong.
///
/// # Errors
///
/// If `read` fails for another reason, or a checksum stays wrong.
pub(super) fn read_settled<T>(read: impl FnMut() -> Result<T, Error>) -> Result<T, Error> {
    read_with_pauses(read, std::thread::sleep)
}

fn read_with_pauses<T>(
    mut read: impl FnMut() -> Result<T, Error>,
    mut pause: impl FnMut(Duration),
) -> Result<T, Error> {
    for milliseconds in PAUSES {
        match read() {
            Err(Error::Checksum(_)) => pause(Duration::from_millis(milliseconds)),
            result => return result,
        }
    }
    read()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Calls `read` with the number of pauses before it. Returns its result, and the sum of the
    /// pauses.
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
}
