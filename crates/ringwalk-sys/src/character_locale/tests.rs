//! Unit tests of `character_locale.rs`.

use super::*;

#[test]
fn characters_of_both() {
    let utf8 = CharacterLocale::get(true);
    assert!(utf8.is_utf8());
    assert_eq!(utf8.lower('É'), 'é');
    assert_eq!(utf8.lower('\u{212a}'), 'k');
    let upper = utf8.class(b"upper").expect("there is such a class");
    assert!(utf8.is(upper, 'É') && !utf8.is(upper, 'é'));
    assert_eq!(utf8.class(b"nothing"), None);
    let bytes = CharacterLocale::get(false);
    assert!(!bytes.is_utf8());
    assert_eq!(bytes.lower('E'), 'e');
    assert_eq!(bytes.lower('É'), 'É');
}
