//! Unit tests of `accounts.rs`.

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
