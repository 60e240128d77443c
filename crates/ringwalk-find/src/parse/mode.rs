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
mod tests {
    use super::*;

    /// Modes that differ for directories, and what GNU find takes them for.
    #[test]
    fn directories_differ() {
        for (text, file, directory) in [
            ("a+X", 0, 0o111),
            ("u=rX,u+x,a+X", 0o511, 0o511),
            ("u+s,u=r", 0o400, 0o4400),
            ("ug+s,ug=r", 0o440, 0o6440),
            ("ug+s,=", 0, 0o6000),
            ("ug+s,u=rw,u-s", 0o2600, 0o2600),
            ("ug+s,u=g", 0o2000, 0o6000),
            ("ug+s,u=X", 0o2000, 0o6100),
        ] {
            assert_eq!(
                parse(text.as_bytes(), 0),
                Some(Mode { file, directory }),
                "{text}"
            );
        }
    }

    #[test]
    fn octal_and_symbolic() {
        for (text, bits) in [
            ("0", 0),
            ("07777", 0o7777),
            ("00000000644", 0o644),
            ("=644", 0o644),
            ("ug+s,=644", 0o644),
            ("ug+s,-00", 0o6000),
            ("+", 0),
            ("u=", 0),
            ("u=rw,g=r", 0o640),
            ("a+r", 0o444),
            ("+r", 0o444),
            ("u+s", 0o4000),
            ("o+s", 0),
            ("u+t", 0),
            ("o=t,o=rw", 0o6),
            ("=rwxst", 0o7777),
            ("u=rwx,g=u", 0o770),
            ("u=rw,=u", 0o666),
            ("u=rw,g=u-w", 0o640),
            ("u=s,g=u", 0o4000),
            ("u=rwx-w", 0o500),
            ("++x", 0o111),
        ] {
            let mode = Mode {
                file: bits,
                directory: bits,
            };
            assert_eq!(parse(text.as_bytes(), 0), Some(mode), "{text}");
        }
    }

    /// The results of chmod(1) on a file and a directory of mode 0, under a mask of 027.
    #[test]
    fn a_mask_holds_where_nobody_is_named() {
        for (text, file, directory) in [
            ("+w", 0o200, 0o200),
            ("+rwx", 0o750, 0o750),
            ("=rwx", 0o750, 0o750),
            ("a+w", 0o222, 0o222),
            ("ugo=w", 0o222, 0o222),
            ("a+rwx,-w", 0o577, 0o577),
            ("a+rwx,=", 0, 0),
            ("a+rwx,=r", 0o440, 0o440),
            ("u=rwx,+u", 0o750, 0o750),
            ("+X", 0, 0o110),
            ("+st", 0o7000, 0o7000),
            ("g+s,=r", 0o440, 0o2440),
            ("=777", 0o777, 0o777),
            ("777", 0o777, 0o777),
            ("+w,o+w", 0o202, 0o202),
        ] {
            let found = parse(text.as_bytes(), 0o027);
            assert_eq!(found, Some(Mode { file, directory }), "{text}");
        }
        for (text, masked) in [
            ("+w", true),
            ("u+w,=", true),
            ("a+w", false),
            ("644", false),
        ] {
            assert_eq!(is_masked(text.as_bytes()), masked, "{text}");
        }
    }

    #[test]
    fn no_modes() {
        for text in [
            "",
            "x",
            "8",
            "10000",
            "4294967296644",
            "644,u=r",
            "644 ",
            " 644",
            "u",
            "a",
            "u=z",
            "u=r,",
            ",u=r",
            "u=r,,g=r",
            "u=gX",
            "g=uo",
            "u+644",
            "a=644",
            "=644+1",
            "=10000",
            "X",
            "u=rw,X",
        ] {
            assert_eq!(parse(text.as_bytes(), 0), None, "{text}");
        }
    }
}
