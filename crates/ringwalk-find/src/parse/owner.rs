//! `-user` and `-group`: names, or numbers where no account has that name.

use super::Refusal;
use super::number::whole;
use super::words::quoted;
use crate::expression::Compare;
use ringwalk_sys::{group_by_name, user_by_name};
use std::ffi::{CString, OsStr};
use std::os::unix::ffi::OsStrExt;

pub(super) fn user(name: &OsStr) -> Result<Compare, Refusal> {
    let known = c_string(name).and_then(|name| user_by_name(&name).ok().flatten());
    account(known, name).ok_or_else(|| {
        Refusal::wrong(format!(
            "invalid user name or UID argument to -user: {}",
            quoted(name)
        ))
    })
}

pub(super) fn group(name: &OsStr) -> Result<Compare, Refusal> {
    let known = c_string(name).and_then(|name| group_by_name(&name).ok().flatten());
    account(known, name).ok_or_else(|| {
        Refusal::wrong(format!(
            "invalid group name or GID argument to -group: {}",
            quoted(name)
        ))
    })
}

fn c_string(name: &OsStr) -> Option<CString> {
    CString::new(name.as_bytes()).ok()
}

/// Returns the number of the account of that name, or the number that the name is.
fn account(known: Option<u32>, name: &OsStr) -> Option<Compare> {
    let number = known.or_else(|| u32::try_from(whole(name.as_bytes())?).ok())?;
    Some(Compare::Exactly(number.into()))
}
