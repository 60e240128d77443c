//! `-user` and `-group`: names, or numbers where no account has that name. A saved tree has its own
//! names, which were saved with it.

use super::Refusal;
use super::number::whole;
use super::words::quoted;
use crate::accounts::{group_by_name, user_by_name};
use crate::expression::Compare;
use crate::saved::SavedSearch;
use ringwalk_gnu::reason;
use rustix::io::Errno;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

/// The names of accounts that were saved with a tree, by their numbers.
type SavedNames = BTreeMap<u32, Vec<u8>>;

pub(super) fn user(name: &OsStr, saved: Option<&SavedSearch>) -> Result<Compare, Refusal> {
    let unknown = "invalid user name or UID argument to -user";
    let live = || user_by_name(name.as_bytes());
    match saved {
        Some(saved) => {
            check_names(name, saved, "-user")?;
            saved_account(name, &saved.users, live, "user", unknown)
        }
        None => account(name, live(), "user", unknown),
    }
}

pub(super) fn group(name: &OsStr, saved: Option<&SavedSearch>) -> Result<Compare, Refusal> {
    let unknown = "invalid group name or GID argument to -group";
    let live = || group_by_name(name.as_bytes());
    match saved {
        Some(saved) => {
            check_names(name, saved, "-group")?;
            saved_account(name, &saved.groups, live, "group", unknown)
        }
        None => account(name, live(), "group", unknown),
    }
}

/// A number that no account has.
const NOBODY: Compare = Compare::Exactly(u64::MAX);

/// Refuses a name if no names were saved, as with a tree that was imported.
fn check_names(name: &OsStr, saved: &SavedSearch, word: &str) -> Result<(), Refusal> {
    if saved.knows_names || whole(name.as_bytes()).is_some() {
        return Ok(());
    }
    Err(super::saved::no_names(word))
}

/// Returns the number of an account by the names that were saved. An account of this system whose
/// name was not saved owns no file of the saved tree.
fn saved_account(
    name: &OsStr,
    saved: &SavedNames,
    live: impl FnOnce() -> Result<Option<u32>, Errno>,
    what: &str,
    unknown: &str,
) -> Result<Compare, Refusal> {
    if let Some(number) = SavedSearch::number_of(saved, name.as_bytes()) {
        return Ok(Compare::Exactly(number.into()));
    }
    if whole(name.as_bytes()).is_none() && matches!(live(), Ok(Some(_))) {
        return Ok(NOBODY);
    }
    account(name, Ok(None), what, unknown)
}

/// Returns the number of the account that was looked up, or the number that `name` is if no account
/// has that name. `what` and `unknown` are for messages.
fn account(
    name: &OsStr,
    found: Result<Option<u32>, Errno>,
    what: &str,
    unknown: &str,
) -> Result<Compare, Refusal> {
    let found = found.map_err(|errno| {
        Refusal::wrong(format!(
            "cannot look up the {what} {}: {}",
            quoted(name),
            reason(&errno.into())
        ))
    })?;
    let number = found.or_else(|| u32::try_from(whole(name.as_bytes())?).ok());
    number
        .map(|number| Compare::Exactly(number.into()))
        .ok_or_else(|| Refusal::wrong(format!("{unknown}: {}", quoted(name))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(answer: Result<Compare, Refusal>) -> String {
        match answer {
            Err(Refusal::Wrong(messages)) => messages.concat(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_failed_lookup_is_not_an_unknown_name() {
        for name in ["nobody", "12"].map(OsStr::new) {
            for (errno, why) in [
                (Errno::NOMEM, "Cannot allocate memory"),
                (Errno::MFILE, "Too many open files"),
                (Errno::IO, "Input/output error"),
            ] {
                let said = message(account(name, Err(errno), "user", "unknown"));
                assert!(said.starts_with("cannot look up the user "), "{said}");
                assert!(said.ends_with(&format!(": {why}")), "{said}");
            }
        }
    }

    #[test]
    fn names_come_before_numbers() {
        let found = |name, found| account(OsStr::new(name), Ok(found), "group", "unknown");
        assert_eq!(found("12", Some(7)), Ok(Compare::Exactly(7)));
        assert_eq!(found("12", None), Ok(Compare::Exactly(12)));
        assert!(message(found("x12", None)).starts_with("unknown: "));
    }
}
