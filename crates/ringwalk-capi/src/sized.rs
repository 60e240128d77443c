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
mod tests;
