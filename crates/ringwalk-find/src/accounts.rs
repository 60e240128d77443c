//! Names and numbers of users and groups.

use crate::once_map::OnceMap;
use crate::saved::SavedSearch;
use ringwalk_sys as sys;
use rustix::io::Errno;
use std::ffi::{CStr, CString};

/// Returns the number of the user with this name. None if no user has it. `-user` asks this first,
/// and treats a name of digits as a number only if there is no such user.
///
/// # Errors
///
/// The error of a lookup in the sources of accounts (`nsswitch.conf(5)`).
pub fn user_by_name(name: &[u8]) -> Result<Option<u32>, Errno> {
    by_name(name, sys::user_by_name)
}

/// Returns the number of the group with this name. None if no group has it. `-group` asks this
/// first, as `-user` asks [`user_by_name`].
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

/// Names by number, each looked up once. All workers may use it at once; a known name costs no
/// lock.
///
/// During a long search the answers do not change: names and numbers are kept after the first
/// look-up, as in GNU find.
#[derive(Debug, Default)]
pub struct Accounts {
    users: OnceMap<Option<Vec<u8>>>,
    groups: OnceMap<Option<Vec<u8>>>,
    /// All names are there: others are not looked up.
    complete: bool,
}

impl Accounts {
    /// Creates the names that were saved with a tree. No others are looked up.
    pub(crate) fn saved(saved: &SavedSearch) -> Self {
        let accounts = Self {
            complete: true,
            ..Self::default()
        };
        for (number, name) in &saved.users {
            accounts.users.insert((*number).into(), Some(name.clone()));
        }
        for (number, name) in &saved.groups {
            accounts.groups.insert((*number).into(), Some(name.clone()));
        }
        accounts
    }

    /// Returns the name of the user with this number. None if there is none.
    ///
    /// # Errors
    ///
    /// As [`user_by_name`]. Errors are not kept: the next call looks the number up again.
    pub fn user_name(&self, uid: u32) -> Result<Option<&[u8]>, Errno> {
        let look_up = |number| self.look_up(number, sys::user_name);
        remembered(&self.users, uid, look_up)
    }

    /// Returns the name of the group with this number. None if there is none.
    ///
    /// # Errors
    ///
    /// As [`user_name`](Self::user_name).
    pub fn group_name(&self, gid: u32) -> Result<Option<&[u8]>, Errno> {
        let look_up = |number| self.look_up(number, sys::group_name);
        remembered(&self.groups, gid, look_up)
    }

    fn look_up(
        &self,
        number: u32,
        live: impl FnOnce(u32) -> Result<Option<Vec<u8>>, Errno>,
    ) -> Result<Option<Vec<u8>>, Errno> {
        if self.complete {
            return Ok(None);
        }
        live(number)
    }
}

/// Threads that ask for the same number at the same time may each look it up. The first answer is
/// kept.
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
