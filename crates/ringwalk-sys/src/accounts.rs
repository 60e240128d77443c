//! Users and groups by name and by number, from whatever sources `nsswitch.conf(5)` names.

use rustix::io::Errno;
use std::ffi::{CStr, c_char, c_int};
use std::mem::MaybeUninit;
use std::ptr;

/// Bytes of the first buffer: enough for a user, and for a group of some hundred members.
const FIRST_BUFFER: usize = 4096;

/// An entry larger than this counts as an error of the source.
const LARGEST_BUFFER: usize = 256 << 20;

/// Returns the user ID of `name`, or `None` if no such user exists.
///
/// # Errors
///
/// If a source cannot be asked: the errors of getpwnam(3), such as `EIO` and `EMFILE`.
///
/// [getpwnam(3)](https://man7.org/linux/man-pages/man3/getpwnam.3.html)
#[doc(alias = "getpwnam_r")]
pub fn user_by_name(name: &CStr) -> Result<Option<u32>, Errno> {
    // SAFETY: the name ends with a zero byte, and `look_up` gives the other pointers as the call
    // needs them.
    let call = |entry, buffer, size, result| unsafe {
        libc::getpwnam_r(name.as_ptr(), entry, buffer, size, result)
    };
    look_up(call, |user: &libc::passwd| user.pw_uid)
}

/// Returns the name of the user `uid`, or `None` if no such user exists.
///
/// # Errors
///
/// As [`user_by_name`].
#[doc(alias = "getpwuid_r")]
pub fn user_name(uid: u32) -> Result<Option<Vec<u8>>, Errno> {
    // SAFETY: `look_up` gives the pointers as the call needs them.
    let call =
        |entry, buffer, size, result| unsafe { libc::getpwuid_r(uid, entry, buffer, size, result) };
    // SAFETY: `look_up` calls this with an entry that was found, whose name lies in a buffer that
    // still is there.
    look_up(call, |user: &libc::passwd| unsafe { copy(user.pw_name) })
}

/// Returns the group ID of `name`, or `None` if no such group exists.
///
/// # Errors
///
/// As [`user_by_name`].
#[doc(alias = "getgrnam_r")]
pub fn group_by_name(name: &CStr) -> Result<Option<u32>, Errno> {
    // SAFETY: the name ends with a zero byte, and `look_up` gives the other pointers as the call
    // needs them.
    let call = |entry, buffer, size, result| unsafe {
        libc::getgrnam_r(name.as_ptr(), entry, buffer, size, result)
    };
    look_up(call, |group: &libc::group| group.gr_gid)
}

/// Returns the name of the group `gid`, or `None` if no such group exists.
///
/// # Errors
///
/// As [`user_by_name`].
#[doc(alias = "getgrgid_r")]
pub fn group_name(gid: u32) -> Result<Option<Vec<u8>>, Errno> {
    // SAFETY: `look_up` gives the pointers as the call needs them.
    let call =
        |entry, buffer, size, result| unsafe { libc::getgrgid_r(gid, entry, buffer, size, result) };
    // SAFETY: `look_up` calls this with an entry that was found, whose name lies in a buffer that
    // still is there.
    look_up(call, |group: &libc::group| unsafe { copy(group.gr_name) })
}

/// # Safety
///
/// `name` is null or a string that ends with a zero byte.
unsafe fn copy(name: *const c_char) -> Vec<u8> {
    if name.is_null() {
        return Vec::new();
    }
    // SAFETY: not null, and a string by what the caller promises.
    unsafe { CStr::from_ptr(name) }.to_bytes().to_vec()
}

/// Calls with larger and larger buffers until the entry fits, then returns what `take` takes from
/// it.
fn look_up<E, T>(
    call: impl Fn(*mut E, *mut c_char, usize, *mut *mut E) -> c_int,
    take: impl FnOnce(&E) -> T,
) -> Result<Option<T>, Errno> {
    let mut entry = MaybeUninit::<E>::uninit();
    let mut buffer = vec![0; FIRST_BUFFER];
    loop {
        let mut result = ptr::null_mut();
        let status = call(
            entry.as_mut_ptr(),
            buffer.as_mut_ptr(),
            buffer.len(),
            &raw mut result,
        );
        match status {
            // SAFETY: where `result` is not null it points to `entry`, which the call has then
            // filled, with strings that lie in `buffer`; both live until `take` has returned.
            0 => return Ok(unsafe { result.as_ref() }.map(take)),
            libc::EINTR => {}
            libc::ERANGE if buffer.len() < LARGEST_BUFFER => buffer.resize(buffer.len() * 4, 0),
            // The manual page lists these errors for a name or number that does not exist.
            libc::ENOENT | libc::ESRCH | libc::EBADF | libc::EPERM => return Ok(None),
            errno => return Err(Errno::from_raw_os_error(errno)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn root_is_there() {
        assert_eq!(user_by_name(c"root"), Ok(Some(0)));
        assert_eq!(user_name(0), Ok(Some(b"root".to_vec())));
        assert_eq!(group_by_name(c"root"), Ok(Some(0)));
        assert_eq!(group_name(0), Ok(Some(b"root".to_vec())));
    }

    #[test]
    fn what_is_not_there() {
        for name in [c"no such name", c"", c"0"] {
            assert_eq!(user_by_name(name), Ok(None));
            assert_eq!(group_by_name(name), Ok(None));
        }
        assert_eq!(user_name(0x7fff_fff1), Ok(None));
        assert_eq!(group_name(0x7fff_fff1), Ok(None));
    }

    /// Answers as a source whose entries need `need` bytes would.
    fn ask(need: usize, errors: &[c_int]) -> (Result<Option<u32>, Errno>, usize) {
        let calls = Cell::new(0);
        let call = |entry: *mut u32, _: *mut c_char, size: usize, result: *mut *mut u32| {
            let number = calls.replace(calls.get() + 1);
            if let Some(error) = errors.get(number) {
                return *error;
            }
            if size < need {
                return libc::ERANGE;
            }
            // SAFETY: `look_up` passes valid pointers, and this test relies on nothing else.
            unsafe {
                *entry = 5;
                *result = entry;
            }
            0
        };
        (look_up(call, |entry| *entry), calls.get())
    }

    #[test]
    fn buffers_grow() {
        assert_eq!(ask(0, &[]), (Ok(Some(5)), 1));
        assert_eq!(ask(FIRST_BUFFER * 16, &[]), (Ok(Some(5)), 3));
        assert_eq!(ask(usize::MAX, &[]).0, Err(Errno::RANGE));
    }

    #[test]
    fn errors_are_not_absence() {
        assert_eq!(ask(0, &[libc::EINTR, libc::EINTR]), (Ok(Some(5)), 3));
        assert_eq!(ask(0, &[libc::EMFILE]), (Err(Errno::MFILE), 1));
        assert_eq!(ask(0, &[libc::ESRCH]), (Ok(None), 1));
    }
}
