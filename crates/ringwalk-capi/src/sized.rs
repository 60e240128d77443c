//! Structs that grow. The size that a program passes says which version of a struct it knows.
//!
//! The rules are the same as in the kernel (`copy_struct_from_user` in include/linux/uaccess.h).
//! When a struct is read, missing members count as zero, and unknown members must be zero
//! (`E2BIG`). When a struct is written, members that the program does not know are left out, and
//! members that the library does not know are set to zero. A size smaller than the first version's,
//! or above a page, is a mistake of the program: nothing is read or written (`EINVAL`).

use rustix::io::Errno;
use std::mem::MaybeUninit;
use std::ptr;
use std::slice;

/// The largest size of a struct. It is the limit of the kernel's calls for such structs.
const MOST: usize = 4096;

/// A struct of the header.
///
/// # Safety
///
/// The type is `repr(C)`, and every bit pattern is a valid value, zeros included.
#[allow(unsafe_code, reason = "what `read` relies on")]
pub(crate) unsafe trait Plain: Copy {
    /// The size in the first version that had the struct.
    const FIRST: usize;
}

/// Reads a struct. The program knows the first `size` bytes of it.
///
/// # Safety
///
/// `from` points to `size` bytes that can be read and do not change during the call, with the
/// alignment of `T`.
#[allow(unsafe_code, reason = "reads what C passes")]
pub(crate) unsafe fn read<T: Plain>(from: *const T, size: usize) -> Result<T, Errno> {
    if !(T::FIRST..=MOST).contains(&size) {
        return Err(Errno::INVAL);
    }
    let known = size.min(size_of::<T>());
    // SAFETY: `known..size` lies in the bytes that the caller vouches for, and is empty if `size`
    // is no more than the known size.
    let unknown = unsafe { slice::from_raw_parts(from.cast::<u8>().add(known), size - known) };
    if unknown.iter().any(|byte| *byte != 0) {
        return Err(Errno::TOOBIG);
    }
    let mut value = MaybeUninit::<T>::zeroed();
    // SAFETY: `known` bytes can be read (the caller vouches for `size`) and written (`known` is at
    // most the size of `T`). The value is local, so the two do not overlap. Zeros and any bytes of
    // C are values of a `Plain` type.
    unsafe {
        ptr::copy_nonoverlapping(from.cast::<u8>(), value.as_mut_ptr().cast::<u8>(), known);
        Ok(value.assume_init())
    }
}

/// Writes a struct. The program knows the first `size` bytes of it.
///
/// # Safety
///
/// `to` points to `size` bytes that can be written, and that no other thread uses during the call.
#[allow(unsafe_code, reason = "writes where C says")]
pub(crate) unsafe fn write<T: Plain>(to: *mut T, size: usize, value: &T) -> Result<(), Errno> {
    check_size::<T>(to, size)?;
    let known = size.min(size_of::<T>());
    // SAFETY: the caller vouches for `size` bytes at `to`; `known` of them are written, then the
    // rest. `value` has at least `known` bytes, and lies elsewhere.
    unsafe {
        ptr::copy_nonoverlapping(ptr::from_ref(value).cast::<u8>(), to.cast::<u8>(), known);
        ptr::write_bytes(to.cast::<u8>().add(known), 0, size - known);
    }
    Ok(())
}

/// Checks that [`write()`] would accept this pointer and size, before there is a value to write.
pub(crate) fn check_size<T: Plain>(to: *const T, size: usize) -> Result<(), Errno> {
    if to.is_null() || !(T::FIRST..=MOST).contains(&size) {
        return Err(Errno::INVAL);
    }
    Ok(())
}

#[cfg(test)]
#[allow(unsafe_code, reason = "tests what is unsafe")]
mod tests {
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
}
