//! The types of `-type` and `-xtype`.

use super::Refusal;
use super::words::plain;
use crate::expression::TypeSet;
use ringwalk::FileType;
use std::ffi::OsStr;

/// Reads the letters of `-type` and `-xtype`, with commas between them.
pub(super) fn types(name: &OsStr, letters: &[u8]) -> Result<TypeSet, Refusal> {
    let name = plain(name);
    let mut types = TypeSet::default();
    let mut rest = letters;
    if rest.is_empty() {
        return Err(Refusal::wrong(format!(
            "Arguments to {name} should contain at least one letter"
        )));
    }
    loop {
        let [letter, after @ ..] = rest else {
            return Err(Refusal::wrong(format!(
                "Last file type in list argument to {name} is missing, i.e., list is ending on: ','"
            )));
        };
        let file_type = type_of(*letter, &name)?;
        if types.contains(file_type) {
            return Err(Refusal::wrong(format!(
                "Duplicate file type '{}' in the argument list to {name}.",
                char::from(*letter)
            )));
        }
        types.insert(file_type);
        rest = match after {
            [] => return Ok(types),
            [b',', rest @ ..] => rest,
            _ => {
                return Err(Refusal::wrong(format!(
                    "Must separate multiple arguments to {name} using: ','"
                )));
            }
        };
    }
}

fn type_of(letter: u8, name: &str) -> Result<FileType, Refusal> {
    let mut known = TypeSet::LETTERS.iter();
    if let Some((_, file_type)) = known.find(|(known, _)| *known == letter) {
        return Ok(*file_type);
    }
    if letter == b'D' {
        return Err(Refusal::wrong(format!(
            "{name} D is not supported because Solaris doors are not supported on the platform find was compiled on."
        )));
    }
    let letter = String::from_utf8_lossy(std::slice::from_ref(&letter)).into_owned();
    Err(Refusal::wrong(format!(
        "Unknown argument to {name}: {letter}"
    )))
}
