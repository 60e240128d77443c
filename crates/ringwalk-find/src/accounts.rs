//! Names of users and groups, remembered.

use crate::once_map::OnceMap;
use ringwalk_sys as sys;
use rustix::io::Errno;
use std::ffi::{CStr, CString};

/// The number of the user of this name; none if there is none. `-user` asks this first, and only if there is no such user
/// takes a name of digits for a number.
///
/// # Errors
///
/// If the sources of accounts (`nsswitch.conf(5)`) could not be asked.
pub fn user_by_name(name: &[u8]) -> Result<Option<u32>, Errno> {
    by_name(name, sys::user_by_name)
}

/// The number of the group of this name; none if there is none. As [`user_by_name`], for `-group`.
///
/// # Errors
///
/// As [`user_by_name`].
pub fn group_by_name(name: &[u8]) -> Result<Option<u32>, Errno> {
    by_name(name, sys::group_by_name)
}

fn by_name<T>(
    name: &[u8],
    look_up: impl FnOnce(&CStr) -> Result<Option<T>, Errno>,
) -> Result<Option<T>, Errno> {
    // No account has a name with a zero byte in it.
    CString::new(name).map_or(Ok(None), |name| look_up(&name))
}

/// Names by number, each asked for once. For use by all workers at once; a name that is known costs no lock.
///
/// The numbers and names of a long search are those of its beginning, as in GNU find.
#[derive(Debug, Default)]
pub struct Accounts {
    users: OnceMap<Option<Vec<u8>>>,
    groups: OnceMap<Option<Vec<u8>>>,
}

impl Accounts {
    /// The name of the user of this number; none if there is none.
    ///
    /// # Errors
    ///
    /// As [`user_by_name`]. This is not remembered: the next time it is asked again.
    pub fn user_name(&self, uid: u32) -> Result<Option<&[u8]>, Errno> {
        remembered(&self.users, uid, sys::user_name)
    }

    /// The name of the group of this number; none if there is none.
    ///
    /// # Errors
    ///
    /// As [`user_name`](Self::user_name).
    pub fn group_name(&self, gid: u32) -> Result<Option<&[u8]>, Errno> {
        remembered(&self.groups, gid, sys::group_name)
    }
}

/// Threads that ask for the same number at the same time may each look it up; the first answer stays.
fn remembered(
    names: &OnceMap<Option<Vec<u8>>>,
    id: u32,
    look_up: impl FnOnce(u32) -> Result<Option<Vec<u8>>, Errno>,
) -> Result<Option<&[u8]>, Errno> {
    let name = match names.get(id.into()) {
        Some(name) => name,
        None => names.insert(id.into(), look_up(id)?),
    };
    Ok(name.as_deref())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn names_and_numbers() {
        assert_eq!(user_by_name(b"root"), Ok(Some(0)));
        assert_eq!(group_by_name(b"root"), Ok(Some(0)));
        for name in [&b"no such name"[..], b"", b"root\0x", b"0"] {
            assert_eq!(user_by_name(name), Ok(None));
            assert_eq!(group_by_name(name), Ok(None));
        }
        let accounts = Accounts::default();
        for _ in 0..2 {
            assert_eq!(accounts.user_name(0), Ok(Some(&b"root"[..])));
            assert_eq!(accounts.group_name(0), Ok(Some(&b"root"[..])));
            assert_eq!(accounts.user_name(0x7fff_fff1), Ok(None));
            assert_eq!(accounts.group_name(0x7fff_fff1), Ok(None));
        }
    }

    #[test]
    fn answers_are_remembered_and_errors_are_not() {
        let names = OnceMap::default();
        let asked = Cell::new(0);
        let ask = |id, answer: Result<Option<Vec<u8>>, Errno>| {
            let look_up = |_| {
                asked.set(asked.get() + 1);
                answer
            };
            remembered(&names, id, look_up).map(|name| name.map(<[u8]>::to_vec))
        };
        assert_eq!(ask(5, Err(Errno::IO)), Err(Errno::IO));
        assert_eq!(
            ask(5, Ok(Some(b"five".to_vec()))),
            Ok(Some(b"five".to_vec()))
        );
        assert_eq!(ask(5, Ok(None)), Ok(Some(b"five".to_vec())));
        assert_eq!(ask(6, Ok(None)), Ok(None));
        assert_eq!(ask(6, Err(Errno::IO)), Ok(None));
        assert_eq!(asked.get(), 3);
    }
}
