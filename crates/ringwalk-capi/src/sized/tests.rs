//! Unit tests of `sized.rs`.

use super::*;

#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
struct Two {
    first: u64,
    second: u64,
}

// SAFETY: repr(C), of integers.
unsafe impl Plain for Two {
    const FIRST: usize = 8;
}

fn read_bytes(words: &[u64]) -> Result<Two, Errno> {
    // SAFETY: that many bytes are there, aligned as `Two` is.
    unsafe { read(words.as_ptr().cast(), size_of_val(words)) }
}

#[test]
fn what_is_missing_is_zero_and_what_is_too_much_must_be() {
    assert_eq!(
        read_bytes(&[7]),
        Ok(Two {
            first: 7,
            second: 0
        })
    );
    assert_eq!(
        read_bytes(&[7, 8]),
        Ok(Two {
            first: 7,
            second: 8
        })
    );
    assert_eq!(
        read_bytes(&[7, 8, 0, 0]),
        Ok(Two {
            first: 7,
            second: 8
        })
    );
    assert_eq!(read_bytes(&[7, 8, 0, 1 << 63]), Err(Errno::TOOBIG));
    assert_eq!(read_bytes(&[]), Err(Errno::INVAL));
}

#[test]
fn sizes_that_went_wrong_are_refused_untouched() {
    let mut value = Two {
        first: 1,
        second: 2,
    };
    for size in [MOST + 1, usize::MAX] {
        // SAFETY: nothing beyond the struct is read or written.
        let (read, written) = unsafe {
            let read = read(&raw const value, size);
            let with = Two { ..value };
            (read, write(&raw mut value, size, &with))
        };
        assert_eq!(read, Err(Errno::INVAL));
        assert_eq!(written, Err(Errno::INVAL));
    }
}

#[test]
fn what_is_written_is_cut_or_filled_up() {
    let value = Two {
        first: 1,
        second: 2,
    };
    for (words, expected) in [(1, [1, 9, 9]), (2, [1, 2, 9]), (3, [1, 2, 0])] {
        let mut out = [9u64; 3];
        // SAFETY: there are three words.
        unsafe { write(out.as_mut_ptr().cast(), words * 8, &value) }.unwrap();
        assert_eq!(out, expected);
    }
    // SAFETY: nothing is written.
    assert_eq!(
        unsafe { write(ptr::null_mut(), 16, &value) },
        Err(Errno::INVAL)
    );
}
