//! Shell patterns as the C library matches them.

use crate::CharacterLocale;
use std::ffi::CStr;

/// Returns whether `pattern` matches the whole of `text`, by fnmatch(3) without flags, or with
/// `FNM_CASEFOLD` if `fold_case`.
///
/// [fnmatch(3)](https://man7.org/linux/man-pages/man3/fnmatch.3.html)
pub fn fnmatch(pattern: &CStr, text: &CStr, fold_case: bool, locale: &CharacterLocale) -> bool {
    let flags = if fold_case { libc::FNM_CASEFOLD } else { 0 };
    // SAFETY: both are NUL-terminated, and only read.
    locale.with(|| unsafe { libc::fnmatch(pattern.as_ptr(), text.as_ptr(), flags) == 0 })
}

#[cfg(test)]
mod tests {
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
}
