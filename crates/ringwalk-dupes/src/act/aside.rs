//! Temporary names, and moving a file to one and back.

use super::held::{Held, look_at};
use super::reason::Reason;
use ringwalk::Errno;
use ringwalk_delete::{rename_back, rename_to_new};
use rustix::fd::BorrowedFd;
use std::ffi::OsStr;
use std::hash::{BuildHasher as _, RandomState};
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

/// How each temporary name begins. The dot hides it.
const PREFIX: &[u8] = b".ringwalk-";
/// Characters after that.
const RANDOM: usize = 8;
/// The characters: base 32, without those that look alike.
const ALPHABET: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";
/// Names that are tried if one is taken. There are 2^40.
const ATTEMPTS: usize = 16;

/// Returns true for a temporary name of this module. A killed run has left such a file: a copy that
/// it was about to remove or to replace, or a link to the file to keep.
pub fn is_temporary_name(name: &[u8]) -> bool {
    name.strip_prefix(PREFIX)
        .is_some_and(|rest| rest.len() == RANDOM && rest.iter().all(|byte| ALPHABET.contains(byte)))
}

/// Calls `try_name` with new names until it finds one that is not taken.
pub(super) fn with_new_name(
    mut try_name: impl FnMut(&[u8]) -> Result<(), Errno>,
) -> Result<Vec<u8>, Errno> {
    for _ in 0..ATTEMPTS {
        let mut bits = RandomState::new().hash_one(0);
        let mut name = PREFIX.to_vec();
        for _ in 0..RANDOM {
            name.push(ALPHABET[usize::from(bits.to_le_bytes()[0] % 32)]);
            bits >>= 5;
        }
        match try_name(&name) {
            Err(Errno::EXIST) => {}
            result => return result.map(|()| name),
        }
    }
    Err(Errno::EXIST)
}

/// Renames the name of a file to a temporary one, which is returned. Afterwards `check` decides
/// whether this file may go. If not, the file gets its name back.
pub(super) fn move_aside(
    file: &Held,
    check: impl FnOnce() -> Result<(), Reason>,
) -> Result<Vec<u8>, Reason> {
    let (directory, name) = (file.directory(), file.name());
    // Nothing may come between this look and the renaming: see the documentation of `act`.
    file.check_name()?;
    // The temporary name is one of 2^40.
    let aside = with_new_name(|aside| rename_to_new(directory, name, directory, aside));
    let aside = aside.map_err(|errno| Reason::of("rename", errno))?;
    let moved = look_at(directory, &aside).map_err(|errno| Reason::of("read", errno));
    let moved = moved.and_then(|moved| file.check_is(&moved));
    match moved.and_then(|()| check()) {
        Ok(()) => Ok(aside),
        Err(reason) => Err(put_back(directory, &aside, name, reason)),
    }
}

/// Gives a file its name back, unless another one has it by now. Returns the reason for the report.
pub(super) fn put_back(
    directory: BorrowedFd<'_>,
    aside: &[u8],
    name: &[u8],
    reason: Reason,
) -> Reason {
    match rename_back(directory, aside, directory, name) {
        Ok(()) => reason,
        // A program has removed it meanwhile, under this strange name.
        Err(Errno::NOENT) => Reason::Missing,
        Err(_) => displaced(directory, aside),
    }
}

/// Returns the reason for a file that stays under a temporary name.
pub(super) fn displaced(directory: BorrowedFd<'_>, aside: &[u8]) -> Reason {
    Reason::Displaced(path_of(directory, aside))
}

/// Returns the path of a temporary name, for the report.
pub(super) fn path_of(directory: BorrowedFd<'_>, aside: &[u8]) -> PathBuf {
    let path = PathBuf::from(OsStr::from_bytes(aside));
    match ringwalk_delete::real_path(directory) {
        Some(directory) => directory.join(path),
        None => path,
    }
}
