//! Types and modes as letters.

use crate::facts::LinkTarget;
use ringwalk::FileType;

/// `%y`.
pub(super) fn type_letter(file_type: FileType) -> u8 {
    match file_type {
        FileType::Regular => b'f',
        FileType::Unknown => b'U',
        other => mode_letter(other),
    }
}

/// Returns the letter of `%Y` for a link: the type of its target, or a letter of its own without
/// one.
pub(super) fn target_letter(target: LinkTarget) -> u8 {
    match target {
        LinkTarget::File(file_type) => type_letter(file_type),
        LinkTarget::Missing => b'N',
        LinkTarget::Loop => b'L',
        LinkTarget::Unknown => b'?',
    }
}

/// Returns the letter of a type in the output of `ls -l`.
fn mode_letter(file_type: FileType) -> u8 {
    match file_type {
        FileType::Regular => b'-',
        FileType::Directory => b'd',
        FileType::Symlink => b'l',
        FileType::BlockDevice => b'b',
        FileType::CharacterDevice => b'c',
        FileType::Fifo => b'p',
        FileType::Socket => b's',
        FileType::Unknown => b'?',
    }
}

/// Returns the mode (type and permissions, `st_mode`) in the form of `ls -l`: `-rwxr-sr-t`.
pub(super) fn mode_letters(mode: u32) -> [u8; 10] {
    let mut letters = *b"?rwxrwxrwx";
    letters[0] = mode_letter(FileType::from_mode(mode));
    for (bit, letter) in letters[1..].iter_mut().rev().enumerate() {
        if mode & 1 << bit == 0 {
            *letter = b'-';
        }
    }
    for (bit, at, letter) in [(0o4000, 3, b's'), (0o2000, 6, b's'), (0o1000, 9, b't')] {
        if mode & bit != 0 {
            letters[at] = match letters[at] {
                b'x' => letter,
                _ => letter.to_ascii_uppercase(),
            };
        }
    }
    letters
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::io::Errno;

    /// Modes, and how GNU find 4.9 wrote them.
    #[test]
    fn modes() {
        for (mode, letters, letter) in [
            (0o100_000, "----------", b'f'),
            (0o104_644, "-rwSr--r--", b'f'),
            (0o102_644, "-rw-r-Sr--", b'f'),
            (0o101_644, "-rw-r--r-T", b'f'),
            (0o107_777, "-rwsrwsrwt", b'f'),
            (0o107_000, "---S--S--T", b'f'),
            (0o060_644, "brw-r--r--", b'b'),
            (0o020_644, "crw-r--r--", b'c'),
            (0o140_777, "srwxrwxrwx", b's'),
            (0o010_644, "prw-r--r--", b'p'),
            (0o120_777, "lrwxrwxrwx", b'l'),
            (0o041_777, "drwxrwxrwt", b'd'),
            (0o041_776, "drwxrwxrwT", b'd'),
            (0o170_000, "?---------", b'U'),
            (0o110_644, "?rw-r--r--", b'U'),
        ] {
            assert_eq!(&mode_letters(mode), letters.as_bytes(), "{mode:o}");
            assert_eq!(type_letter(FileType::from_mode(mode)), letter, "{mode:o}");
        }
    }

    #[test]
    fn targets() {
        let letter = |answer: Result<FileType, Errno>| target_letter(answer.into());
        assert_eq!(letter(Ok(FileType::Directory)), b'd');
        assert_eq!(letter(Err(Errno::NOENT)), b'N');
        assert_eq!(letter(Err(Errno::NOTDIR)), b'N');
        assert_eq!(letter(Err(Errno::LOOP)), b'L');
        assert_eq!(letter(Err(Errno::ACCESS)), b'?');
    }
}
