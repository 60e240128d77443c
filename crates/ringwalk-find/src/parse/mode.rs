//! Modes as chmod(1) takes them, for `-perm`.

use crate::expression::Permission;

/// Permission bits for files that are no directories, and for directories.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mode {
    pub(super) file: u32,
    pub(super) directory: u32,
}

/// All permission bits.
const ALL: u32 = Permission::BITS;
/// Set-user-ID and set-group-ID. Directories keep them under an `=` that does not name them.
const SET_ID: u32 = 0o6000;
const EXECUTE: u32 = 0o111;

/// Returns true if a part of a symbolic mode names nobody, as `+w` does. Then the file mode
/// creation mask applies to that part.
pub(super) fn is_masked(text: &[u8]) -> bool {
    clauses(text).any(|clause| matches!(clause, [b'+' | b'-' | b'=', ..]))
}

/// Returns the bits that a mode, octal or symbolic, sets if the bits were 0 before. Where it names
/// nobody, the bits of `mask` stay as they are.
pub(super) fn parse(text: &[u8], mask: u32) -> Option<Mode> {
    if text.first().is_some_and(|byte| matches!(byte, b'0'..=b'7')) {
        let (bits, rest) = octal(text)?;
        return rest.is_empty().then_some(Mode {
            file: bits,
            directory: bits,
        });
    }
    let mut mode = Mode {
        file: 0,
        directory: 0,
    };
    for clause in clauses(text) {
        apply(clause, mask, &mut mode)?;
    }
    Some(mode)
}

fn clauses(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|byte| *byte == b',')
}

/// Reads octal digits at the beginning. Returns their value and the rest.
fn octal(text: &[u8]) -> Option<(u32, &[u8])> {
    let digits = text
        .iter()
        .take_while(|byte| matches!(byte, b'0'..=b'7'))
        .count();
    let bits = text[..digits].iter().try_fold(0, |bits, digit| {
        let bits = bits * 8 + u32::from(digit - b'0');
        (bits <= ALL).then_some(bits)
    })?;
    Some((bits, &text[digits..]))
}

/// Applies `WHO...(OP PERMISSIONS...)...`, such as `ug+rw-x`.
fn apply(clause: &[u8], mask: u32, mode: &mut Mode) -> Option<()> {
    let letters = clause
        .iter()
        .take_while(|letter| bits_of(**letter).is_some())
        .count();
    let (who, mut rest) = clause.split_at(letters);
    let affected = if who.is_empty() {
        Affected {
            cleared: ALL,
            set: ALL & !mask,
        }
    } else {
        let bits = who.iter().filter_map(|letter| bits_of(*letter));
        let bits = bits.fold(0, |all, bits| all | bits);
        Affected {
            cleared: bits,
            set: bits,
        }
    };
    if rest.is_empty() {
        return None;
    }
    while let Some((change, after)) = Change::read(rest) {
        let (permissions, remaining) = Permissions::read(after, who.is_empty())?;
        rest = remaining;
        mode.file = permissions.change(change, affected, mode.file, false);
        mode.directory = permissions.change(change, affected, mode.directory, true);
    }
    rest.is_empty().then_some(())
}

/// Returns the bits of the letter of a class of users: `u`, `g`, `o` or `a`.
fn bits_of(who: u8) -> Option<u32> {
    match who {
        b'u' => Some(0o4700),
        b'g' => Some(0o2070),
        b'o' => Some(0o1007),
        b'a' => Some(ALL),
        _ => None,
    }
}

/// An operator of a clause.
#[derive(Clone, Copy, Debug)]
enum Change {
    /// `+`.
    Add,
    /// `-`.
    Remove,
    /// `=`.
    Set,
}

impl Change {
    /// Reads an operator. Returns it with the rest of the text.
    fn read(text: &[u8]) -> Option<(Self, &[u8])> {
        let (operator, rest) = text.split_first()?;
        let change = match operator {
            b'+' => Self::Add,
            b'-' => Self::Remove,
            b'=' => Self::Set,
            _ => return None,
        };
        Some((change, rest))
    }
}

/// The bits that a clause changes.
#[derive(Clone, Copy, Debug)]
struct Affected {
    /// The bits that `=` clears.
    cleared: u32,
    /// The bits that any operator may set or clear by name.
    set: u32,
}

/// The permissions after an operator.
#[derive(Clone, Copy, Debug)]
enum Permissions {
    /// Octal digits.
    Octal(u32),
    /// `u`, `g` or `o`: the permissions of that class, as a shift of the bits.
    Copy(u32),
    /// Letters.
    Letters {
        bits: u32,
        /// `X`: execution for directories, and for files that somebody may execute already.
        some_execute: bool,
    },
}

impl Permissions {
    fn read(text: &[u8], for_all: bool) -> Option<(Self, &[u8])> {
        match text {
            [b'0'..=b'7', ..] => {
                let (bits, rest) = octal(text)?;
                (for_all && rest.is_empty()).then_some((Self::Octal(bits), rest))
            }
            [b'u', rest @ ..] => Some((Self::Copy(6), rest)),
            [b'g', rest @ ..] => Some((Self::Copy(3), rest)),
            [b'o', rest @ ..] => Some((Self::Copy(0), rest)),
            _ => Some(Self::letters(text)),
        }
    }

    fn letters(mut text: &[u8]) -> (Self, &[u8]) {
        let mut bits = 0;
        let mut some_execute = false;
        while let [letter, rest @ ..] = text {
            match letter {
                b'r' => bits |= 0o444,
                b'w' => bits |= 0o222,
                b'x' => bits |= EXECUTE,
                b's' => bits |= SET_ID,
                b't' => bits |= 0o1000,
                b'X' => some_execute = true,
                _ => break,
            }
            text = rest;
        }
        (Self::Letters { bits, some_execute }, text)
    }

    fn change(self, change: Change, affected: Affected, mode: u32, directory: bool) -> u32 {
        let bits = match self {
            Self::Octal(bits) => bits,
            Self::Copy(shift) => ((mode >> shift & 7) * EXECUTE) & affected.set,
            Self::Letters { bits, some_execute } => {
                let executes = some_execute && (directory || mode & EXECUTE != 0);
                (bits | if executes { EXECUTE } else { 0 }) & affected.set
            }
        };
        let mut cleared = affected.cleared;
        if directory && !matches!(self, Self::Octal(_)) {
            cleared &= !SET_ID;
        }
        match change {
            Change::Add => mode | bits,
            Change::Remove => mode & !bits,
            Change::Set => mode & !cleared | bits,
        }
    }
}

#[cfg(test)]
mod tests;
