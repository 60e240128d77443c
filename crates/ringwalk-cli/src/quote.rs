//! Names of any bytes in messages: unambiguous, and without control characters.
//!
//! The style is the same as in GNU's messages: `'name'`, `"it's"`, or `'a'$'\n''b'`. A shell reads
//! each of them back as the same bytes. Characters that change the direction of text or break lines
//! are escaped like control characters, because they make a name look like another one.

use std::ffi::OsStr;
use std::fmt;
use std::os::unix::ffi::OsStrExt;

use ringwalk::shown::{is_plain, push_escape};

/// Returns `name` in quotes, for messages.
pub fn quoted<N: AsRef<OsStr> + ?Sized>(name: &N) -> Quoted<'_> {
    Quoted(name.as_ref().as_bytes())
}

/// Returns bytes in quotes, like [`quoted`].
pub fn quoted_bytes(name: &[u8]) -> Quoted<'_> {
    Quoted(name)
}

/// A name that displays in quotes.
#[derive(Clone, Copy, Debug)]
pub struct Quoted<'a>(&'a [u8]);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plain = std::str::from_utf8(self.0)
            .ok()
            .filter(|text| text.chars().all(is_plain));
        match plain {
            Some(text) if !text.contains('\'') => write!(f, "'{text}'"),
            // Within double quotes, a shell still interprets these four.
            Some(text) if !text.contains(['"', '$', '`', '\\']) => write!(f, "\"{text}\""),
            _ => fmt_pieces(f, self.0),
        }
    }
}

/// Writes plain runs in single quotes, and everything else as `$'...'`.
fn fmt_pieces(f: &mut fmt::Formatter<'_>, name: &[u8]) -> fmt::Result {
    let mut out = String::from("'");
    let mut escaping = false;
    for chunk in name.utf8_chunks() {
        for character in chunk.valid().chars() {
            if is_plain(character) && character != '\'' {
                switch(&mut out, &mut escaping, false);
                out.push(character);
                continue;
            }
            switch(&mut out, &mut escaping, true);
            if character == '\'' {
                out.push_str("\\'");
                continue;
            }
            for byte in character.encode_utf8(&mut [0; 4]).bytes() {
                push_escape(byte, &mut out);
            }
        }
        for &byte in chunk.invalid() {
            switch(&mut out, &mut escaping, true);
            push_escape(byte, &mut out);
        }
    }
    out.push('\'');
    f.write_str(&out)
}

/// Changes from `'...'` to `$'...'` or back if necessary.
fn switch(out: &mut String, escaping: &mut bool, wanted: bool) {
    if *escaping != wanted {
        *escaping = wanted;
        out.push_str(if wanted { "'$'" } else { "''" });
    }
}

/// Appends `name` to `out` for a line of progress: without quotes, and with `?` for each character
/// that is not plain.
pub fn push_shown(out: &mut String, name: &[u8]) {
    for chunk in name.utf8_chunks() {
        out.extend(
            chunk
                .valid()
                .chars()
                .map(|character| if is_plain(character) { character } else { '?' }),
        );
        out.extend(chunk.invalid().iter().map(|_| '?'));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    fn show(name: &[u8]) -> String {
        quoted_bytes(name).to_string()
    }

    #[test]
    fn styles() {
        assert_eq!(show(b"name"), "'name'");
        assert_eq!(show(b""), "''");
        assert_eq!(show(b"it's"), "\"it's\"");
        assert_eq!(show("gr\u{fc}n".as_bytes()), "'gr\u{fc}n'");
        assert_eq!(show(b"a\nb"), r"'a'$'\n''b'");
        assert_eq!(show(b"\x1b[2J"), r"''$'\033''[2J'");
        assert_eq!(show(b"\xff"), r"''$'\377'");
        assert_eq!(show("\u{202e}".as_bytes()), r"''$'\342\200\256'");
        assert_eq!(show(b"$it's"), r"'$it'$'\'''s'");
    }

    #[test]
    fn a_shell_reads_back_every_byte() {
        let mut name: Vec<u8> = (1..=255).collect();
        name.extend_from_slice(b"it's \"$x\" `y` \\n 12");
        name.extend_from_slice("\u{1f600}\u{202e}\u{85}7".as_bytes());
        let script = format!("printf %s {}", show(&name));
        let output = Command::new("bash")
            .arg("-c")
            .arg(script)
            .output()
            .expect("bash runs");
        assert_eq!(output.stdout, name);
    }

    #[test]
    fn shown_names_hold_no_controls() {
        let mut out = String::new();
        push_shown(&mut out, b"a\x1b[31m\n\xffb\xc2\x85");
        assert_eq!(out, "a?[31m??b?");
    }
}
