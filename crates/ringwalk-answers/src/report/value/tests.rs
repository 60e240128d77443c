//! Unit tests of `value.rs`.

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
