//! Values of keys: as 16 bytes in a table, and as they are shown.

use super::classes::{AgeClass, SizeClass};
use super::directories::Directories;
use super::key::Key;
use super::table::Code;
use ringwalk::FileType;
use ringwalk_snapshot::{Info, LETTERS};
use std::borrow::Cow;

/// The value of a key.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Value {
    /// An owner or a group.
    Owner {
        /// Its number; `None` if it is not known.
        id: Option<u32>,
        /// Its name; `None` if the snapshot has none.
        name: Option<Vec<u8>>,
    },
    /// A project; `None` if it is not known.
    Project(Option<u32>),
    /// A class of ages.
    Age(AgeClass),
    /// A class of sizes.
    Size(SizeClass),
    /// A type, in the letters of find; `None` if it is not known.
    Type(Option<char>),
    /// A directory, relative to the base of the report. `.` stands for the base itself with the
    /// files directly in it. If the report covers several trees, the path is absolute.
    Directory(Vec<u8>),
    /// An extension; `None` for files without one.
    Extension(Option<Vec<u8>>),
}

impl Value {
    /// Returns the text for tables.
    pub fn label(&self) -> Cow<'_, [u8]> {
        match self {
            Self::Owner {
                name: Some(name), ..
            } => Cow::Borrowed(name),
            Self::Owner { id: Some(id), .. } | Self::Project(Some(id)) => {
                Cow::Owned(id.to_string().into_bytes())
            }
            Self::Owner { .. } | Self::Project(None) => Cow::Borrowed(b"unknown"),
            Self::Age(class) => Cow::Borrowed(class.label().as_bytes()),
            Self::Size(class) => Cow::Borrowed(class.label().as_bytes()),
            Self::Type(letter) => Cow::Borrowed(type_label(*letter).as_bytes()),
            Self::Directory(path) => Cow::Borrowed(path),
            Self::Extension(Some(extension)) => Cow::Owned([b".", &extension[..]].concat()),
            Self::Extension(None) => Cow::Borrowed(b"(none)"),
        }
    }

    pub(super) fn of_code(key: Key, code: Code, info: &Info, directories: &Directories) -> Self {
        match key {
            Key::Owner | Key::Group => {
                let id = id_of_code(code);
                let names = match key {
                    Key::Owner => &info.users,
                    _ => &info.groups,
                };
                let name = id.and_then(|id| names.get(&id));
                Self::Owner {
                    id,
                    name: name.map(|name| name.0.clone()),
                }
            }
            Key::Project => Self::Project(id_of_code(code)),
            Key::Age => Self::Age(at(&AgeClass::ALL, code).unwrap_or(AgeClass::Unknown)),
            Key::Size => Self::Size(at(&SizeClass::ALL, code).unwrap_or(SizeClass::Unknown)),
            Key::Type => {
                Self::Type(at(&LETTERS, code).and_then(|(_, letter)| letter.chars().next()))
            }
            Key::Directory => Self::Directory(directories.of_code(code).to_vec()),
            Key::Extension => {
                let bytes = code.to_le_bytes();
                let length = bytes.iter().position(|byte| *byte == 0);
                let extension = &bytes[..length.unwrap_or(bytes.len())];
                Self::Extension((!extension.is_empty()).then(|| extension.to_vec()))
            }
        }
    }
}

fn at<T: Copy>(all: &[T], code: Code) -> Option<T> {
    all.get(usize::try_from(code).ok()?).copied()
}

fn type_label(letter: Option<char>) -> &'static str {
    match letter {
        Some('f') => "file",
        Some('d') => "directory",
        Some('l') => "symbolic link",
        Some('b') => "block device",
        Some('c') => "character device",
        Some('p') => "named pipe",
        Some('s') => "socket",
        _ => "unknown",
    }
}

/// Returns the index of a type in `LETTERS`, and one more for an unknown type.
#[inline]
pub(super) fn code_of_type(file_type: FileType) -> Code {
    let index = LETTERS.iter().position(|(known, _)| *known == file_type);
    index.unwrap_or(LETTERS.len()) as Code
}

/// Returns 0 for an unknown owner, group or project, else its number and 1.
#[inline]
pub(super) fn code_of_id(id: Option<i64>) -> Code {
    match id {
        // A number of 32 bits; a reader may treat its highest bit as a sign.
        Some(id) => Code::from(id.cast_unsigned() & u64::from(u32::MAX)) + 1,
        None => 0,
    }
}

/// Returns the number of which [`code_of_id`] makes this code.
fn id_of_code(code: Code) -> Option<u32> {
    code.checked_sub(1).and_then(|id| u32::try_from(id).ok())
}

/// Returns the bytes of an extension, which has at most 16 and no NUL.
#[inline]
pub(super) fn code_of_extension(extension: Option<&[u8]>) -> Code {
    let mut bytes = [0; 16];
    let extension = extension.unwrap_or_default();
    let length = extension.len().min(bytes.len());
    bytes[..length].copy_from_slice(&extension[..length]);
    Code::from_le_bytes(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ringwalk_snapshot::Text;

    fn info() -> Info {
        let mut info = Info::default();
        info.users.insert(0, Text(b"root".to_vec()));
        info.groups.insert(0, Text(b"wheel".to_vec()));
        info
    }

    fn value(key: Key, code: Code) -> Value {
        Value::of_code(key, code, &info(), &Directories::default())
    }

    #[test]
    fn owners_without_a_name_are_shown_by_number() {
        let label = |key, id| {
            let value = value(key, code_of_id(id));
            String::from_utf8(value.label().into_owned()).unwrap()
        };
        assert_eq!(label(Key::Owner, Some(0)), "root");
        assert_eq!(label(Key::Group, Some(0)), "wheel");
        assert_eq!(label(Key::Owner, Some(1000)), "1000");
        assert_eq!(label(Key::Owner, Some(i64::from(u32::MAX))), "4294967295");
        assert_eq!(label(Key::Owner, None), "unknown");
        assert_eq!(label(Key::Project, Some(0)), "0");
        assert_eq!(label(Key::Project, Some(i64::from(u32::MAX))), "4294967295");
        assert_eq!(label(Key::Project, None), "unknown");
    }

    #[test]
    fn extensions_of_every_length_come_back() {
        for length in 1..=16 {
            let extension = "é1234567890abcdefg".as_bytes()[..length].to_vec();
            let code = code_of_extension(Some(&extension));
            assert_eq!(
                value(Key::Extension, code),
                Value::Extension(Some(extension))
            );
        }
        assert_eq!(
            value(Key::Extension, code_of_extension(None)),
            Value::Extension(None)
        );
    }

    #[test]
    fn every_type_comes_back_as_the_letter_of_find() {
        let letter = |file_type| match value(Key::Type, code_of_type(file_type)) {
            Value::Type(letter) => letter.unwrap_or('?'),
            _ => unreachable!(),
        };
        let types = [
            FileType::Regular,
            FileType::Directory,
            FileType::Symlink,
            FileType::BlockDevice,
            FileType::CharacterDevice,
            FileType::Fifo,
            FileType::Socket,
            FileType::Unknown,
        ];
        let letters: String = types.into_iter().map(letter).collect();
        assert_eq!(letters, "fdlbcps?");
    }

    #[test]
    fn classes_come_back() {
        for class in AgeClass::ALL {
            assert_eq!(value(Key::Age, class as Code), Value::Age(class));
        }
        for class in SizeClass::ALL {
            assert_eq!(value(Key::Size, class as Code), Value::Size(class));
        }
    }
}
