//! What a snapshot derives from one file: the letter of its type, and the extension of its name.

use ringwalk::FileType;

/// The types and their letters, as find's `-type` has them. The most frequent types come first.
pub const LETTERS: [(FileType, &str); 7] = [
    (FileType::Regular, "f"),
    (FileType::Directory, "d"),
    (FileType::Symlink, "l"),
    (FileType::BlockDevice, "b"),
    (FileType::CharacterDevice, "c"),
    (FileType::Fifo, "p"),
    (FileType::Socket, "s"),
];

/// Returns the letter of a type, as find's `-type` has it; `None` for an unknown type.
#[inline]
pub fn type_letter(file_type: FileType) -> Option<&'static str> {
    let found = LETTERS.iter().find(|(known, _)| *known == file_type);
    found.map(|(_, letter)| *letter)
}

/// Returns the type of a letter. Anything else is an unknown type.
#[inline]
pub(crate) fn type_of_letter(letter: Option<&[u8]>) -> FileType {
    let found = LETTERS
        .iter()
        .find(|(_, known)| Some(known.as_bytes()) == letter);
    found.map_or(FileType::Unknown, |(file_type, _)| *file_type)
}

/// The longest extension in bytes. Anybody can make up longer ones, and each is one more value.
const LONGEST_EXTENSION: usize = 16;

/// Returns the extension of a regular file: what follows the last dot, which does not begin the
/// name. Files of other types have none.
pub fn extension(file_type: FileType, name: &[u8]) -> Option<&str> {
    if file_type != FileType::Regular {
        return None;
    }
    let dot = name.iter().rposition(|byte| *byte == b'.')?;
    let extension = &name[dot + 1..];
    let fits = dot > 0 && (1..=LONGEST_EXTENSION).contains(&extension.len());
    let extension = fits.then_some(extension)?;
    std::str::from_utf8(extension).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_letter_comes_back_as_its_type() {
        for (file_type, letter) in LETTERS {
            assert_eq!(type_letter(file_type), Some(letter));
            assert_eq!(type_of_letter(Some(letter.as_bytes())), file_type);
        }
        assert_eq!(type_letter(FileType::Unknown), None);
        for other in [None, Some(&b"D"[..]), Some(b""), Some(b"ff")] {
            assert_eq!(type_of_letter(other), FileType::Unknown, "{other:?}");
        }
    }

    #[test]
    fn an_extension_is_short_text_behind_a_dot_that_does_not_begin_the_name() {
        let of = |name: &'static [u8]| extension(FileType::Regular, name);
        assert_eq!(of(b"a.tar.gz"), Some("gz"));
        assert_eq!(of(b"a.1234567890123456"), Some("1234567890123456"));
        for without in [
            &b"a"[..],
            b".profile",
            b"a.",
            b"a.12345678901234567",
            b"a.\xff",
        ] {
            assert_eq!(of(without), None, "{}", without.escape_ascii());
        }
        assert_eq!(extension(FileType::Directory, b"conf.d"), None);
    }
}
