//! Unit tests of `csv.rs`.

use super::*;

#[test]
fn text_with_special_characters_stands_in_quotes() {
    let of = |text: &str| {
        let mut out = String::new();
        push(&mut out, &Cell::Text(text.to_owned()));
        out
    };
    assert_eq!(of("plain.é"), "plain.é");
    assert_eq!(of("a,b"), "\"a,b\"");
    assert_eq!(of("a\"b"), "\"a\"\"b\"");
    assert_eq!(of("a\nb"), "\"a\nb\"");
    assert_eq!(of(" a"), "\" a\"");
    assert_eq!(of(""), "\"\"");
}

#[test]
fn numbers_and_null() {
    let mut out = String::new();
    for cell in [Cell::Null, Cell::Integer(-5), Cell::Real(33.3)] {
        push(&mut out, &cell);
        out.push('|');
    }
    assert_eq!(out, "|-5|33.30|");
}
