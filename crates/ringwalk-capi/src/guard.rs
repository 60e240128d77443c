//! Results as C expects them, and a barrier for panics, which must not unwind into C.
//!
//! The optimized library aborts on a panic (`panic = "abort"`). A debug build unwinds: the panic
//! ends here, prints its message on standard error, and the function returns `-ENOTRECOVERABLE`.

use rustix::io::Errno;
use std::ffi::c_int;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs a call. Returns its result, or -errno.
pub(crate) fn guard(call: impl FnOnce() -> Result<c_int, Errno>) -> c_int {
    caught(call).unwrap_or_else(|errno| -errno.raw_os_error())
}

/// Does the same for a call that returns a length.
pub(crate) fn guard_length(call: impl FnOnce() -> Result<usize, Errno>) -> isize {
    let length =
        caught(call).and_then(|length| isize::try_from(length).map_err(|_| Errno::OVERFLOW));
    length.unwrap_or_else(|errno| -(errno.raw_os_error() as isize))
}

fn caught<T>(call: impl FnOnce() -> Result<T, Errno>) -> Result<T, Errno> {
    // State that a panic leaves half changed is behind locks, which are used regardless, or belongs
    // to a walk in the middle of a call, which is over then.
    catch_unwind(AssertUnwindSafe(call)).unwrap_or(Err(Errno::NOTRECOVERABLE))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_and_panics() {
        assert_eq!(guard(|| Ok(1)), 1);
        assert_eq!(guard(|| Err(Errno::BADF)), -libc::EBADF);
        assert_eq!(guard_length(|| Ok(7)), 7);
        assert_eq!(guard_length(|| Err(Errno::INVAL)), -(libc::EINVAL as isize));
        assert_eq!(guard(|| panic!("for the test")), -libc::ENOTRECOVERABLE);
    }
}
