//! Unit tests of `cells.rs`.

use super::*;

#[test]
fn bytes_that_are_not_utf_8_are_escaped_and_given_in_hexadecimal() {
    let cells = values(&[Value::Directory(b"a\xffb".to_vec())]);
    assert_eq!(cells, [Cell::from("a\\xffb"), Cell::from("61ff62")]);
    let cells = values(&[Value::Directory("é\n".into())]);
    assert_eq!(cells, [Cell::from("é\n"), Cell::Null]);
}

#[test]
fn every_value_has_the_columns_of_its_key() {
    use crate::report::AgeClass;
    use crate::report::SizeClass;
    let all = [
        (
            Key::Owner,
            Value::Owner {
                id: None,
                name: None,
            },
        ),
        (
            Key::Group,
            Value::Owner {
                id: Some(1),
                name: Some(b"g".to_vec()),
            },
        ),
        (Key::Project, Value::Project(Some(1))),
        (Key::Age, Value::Age(AgeClass::Future)),
        (Key::Size, Value::Size(SizeClass::Empty)),
        (Key::Type, Value::Type(None)),
        (Key::Directory, Value::Directory(b".".to_vec())),
        (Key::Extension, Value::Extension(None)),
    ];
    assert_eq!(all.len(), Key::ALL.len());
    for (key, value) in all {
        let cells = values(&[value]);
        assert_eq!(cells.len(), columns_of(key).len(), "{key}");
        for (cell, (name, kind)) in cells.iter().zip(columns_of(key)) {
            let agrees = match cell {
                Cell::Null => true,
                Cell::Text(_) => *kind == Values::Text,
                Cell::Number(_) => *kind == Values::Number,
                Cell::Real(_) => *kind == Values::Real,
                Cell::Boolean(_) => false,
            };
            assert!(agrees, "{name}");
        }
    }
}
