//! Unit tests of `probe.rs`.

use super::*;

/// Returns a kernel's answer with these flags for the operations 0, 1, and so on.
fn answer(last: u8, flags: &[u16]) -> Vec<u8> {
    let mut bytes = vec![0; HEADER];
    bytes[0] = last;
    bytes[1] = u8::try_from(flags.len()).unwrap();
    for (index, flags) in flags.iter().enumerate() {
        bytes.extend([u8::try_from(index).unwrap(), 0]);
        bytes.extend(flags.to_ne_bytes());
        bytes.extend([0; 4]);
    }
    bytes
}

#[test]
fn flags_are_read_by_record() {
    assert_eq!(
        parse_operations(&answer(2, &[1, 0, 3])),
        [true, false, true]
    );
}

#[test]
fn records_that_were_not_filled_are_not_supported() {
    assert_eq!(
        parse_operations(&answer(3, &[1, 1])),
        [true, true, false, false]
    );
    let mut claims_more = answer(1, &[1, 1]);
    claims_more.truncate(HEADER + RECORD);
    assert_eq!(parse_operations(&claims_more), [true, false]);
    assert!(parse_operations(&[]).is_empty());
}

#[test]
fn counts_follow_the_records() {
    let ring = IoUring {
        features: 0,
        operations: vec![true, false, true],
        workers: None,
    };
    assert_eq!((ring.last_operation(), ring.supported()), (2, 2));
    assert!(ring.supports(2) && !ring.supports(1) && !ring.supports(200));
}

#[test]
#[cfg_attr(miri, ignore = "Miri has no io_uring")]
fn the_kernel_answers_or_says_why_not() {
    match IoUring::probe() {
        // IORING_OP_NOP and IORING_OP_READV are as old as io_uring.
        Ok(ring) => assert!(
            ring.supports(0) && ring.supports(1) && ring.last_operation() >= 30,
            "{ring:?}"
        ),
        Err(errno) => assert!(
            [
                Errno::NOSYS,
                Errno::PERM,
                Errno::NOMEM,
                Errno::INVAL,
                Errno::ACCESS
            ]
            .contains(&errno),
            "{errno}"
        ),
    }
}
