//! Unit tests of `fnmatch.rs`.

use super::*;

#[test]
fn by_locale() {
    let utf8 = CharacterLocale::get(true);
    let bytes = CharacterLocale::get(false);
    assert!(fnmatch(c"[!x]a", c"\xc3\xa9a", false, utf8));
    assert!(!fnmatch(c"[!x]a", c"\xc3\xa9a", false, bytes));
    assert!(fnmatch(c"*.C", c"a/b.c", true, bytes));
    assert!(!fnmatch(c"*.C", c"a/b.c", false, bytes));
}
