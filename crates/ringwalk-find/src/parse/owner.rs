//! `-user` and `-group`: names, or numbers where no account has that name.

use super::Refusal;
use super::words::{missing, out_of_range, plain, quoted};
use crate::expression::Compare;
use ringwalk_sys::{group_by_name, user_by_name};
use std::ffi::{CString, OsStr};
use std::os::unix::ffi::OsStrExt;

pub(super) fn user(name: Option<&OsStr>, word: &OsStr) -> Result<Compare, Refusal> {
    let name = name.ok_or_else(|| missing(word))?;
    if name.is_empty() {
        return Err(Refusal::wrong("The argument to -user should not be empty"));
    }
    let known = c_string(name).and_then(|name| user_by_name(&name).ok().flatten());
    if let Some(uid) = known {
        return Ok(Compare::Exactly(uid.into()));
    }
    if digits(name) < name.len() {
        return Err(Refusal::wrong(format!(
            "{} is not the name of a known user",
            quoted(name)
        )));
    }
    number(name)
}

pub(super) fn group(name: Option<&OsStr>, word: &OsStr) -> Result<Compare, Refusal> {
    let name = name.ok_or_else(|| missing(word))?;
    if name.is_empty() {
        return Err(Refusal::wrong(
            "argument to -group is empty, but should be a group name",
        ));
    }
    let known = c_string(name).and_then(|name| group_by_name(&name).ok().flatten());
    if let Some(gid) = known {
        return Ok(Compare::Exactly(gid.into()));
    }
    match digits(name) {
        0 => Err(Refusal::wrong(format!(
            "{} is not the name of an existing group",
            quoted(name)
        ))),
        count if count < name.len() => Err(Refusal::wrong(format!(
            "{} is not the name of an existing group and it does not look like a numeric group ID because it has the \
unexpected suffix {}",
            quoted(name),
            quoted(OsStr::from_bytes(&name.as_bytes()[count..]))
        ))),
        _ => number(name),
    }
}

fn c_string(name: &OsStr) -> Option<CString> {
    CString::new(name.as_bytes()).ok()
}

/// Digits at the beginning.
fn digits(name: &OsStr) -> usize {
    let bytes = name.as_bytes().iter();
    bytes.take_while(|byte| byte.is_ascii_digit()).count()
}

/// The largest number stands for no account in the kernel's calls.
fn number(name: &OsStr) -> Result<Compare, Refusal> {
    match plain(name).parse::<u32>() {
        Ok(number) if number < u32::MAX => Ok(Compare::Exactly(number.into())),
        _ => Err(out_of_range(name)),
    }
}
