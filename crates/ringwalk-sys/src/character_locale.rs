//! Classes, case and order of characters in a locale, without changing the process's locale.

use std::sync::OnceLock;

// Not in the libc crate. Declared as in <string.h> and <wctype.h> (POSIX.1-2008); `wint_t` and
// `wctype_t` are glibc's.
unsafe extern "C" {
    fn strcoll_l(
        one: *const libc::c_char,
        other: *const libc::c_char,
        locale: libc::locale_t,
    ) -> libc::c_int;
    fn towlower_l(character: libc::c_uint, locale: libc::locale_t) -> libc::c_uint;
    fn wctype_l(name: *const libc::c_char, locale: libc::locale_t) -> libc::c_ulong;
    fn iswctype_l(
        character: libc::c_uint,
        class: libc::c_ulong,
        locale: libc::locale_t,
    ) -> libc::c_int;
}

/// The characters (`LC_CTYPE`) and their order (`LC_COLLATE`) of a locale: of the C locale, or of
/// one with UTF-8.
///
/// Each of the two is loaded at its first use, and stays loaded. The locale of the process and of
/// its threads does not change.
///
/// [newlocale(3)](https://man7.org/linux/man-pages/man3/newlocale.3.html)
#[derive(Debug)]
#[doc(alias = "newlocale")]
pub struct CharacterLocale(libc::locale_t);

// SAFETY: the object is never changed or freed after it was made, and POSIX lets any number of
// threads use one locale.
unsafe impl Send for CharacterLocale {}
// SAFETY: as above.
unsafe impl Sync for CharacterLocale {}

/// A class of characters by its name in patterns, in one locale.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CharacterClass(libc::c_ulong);

impl CharacterLocale {
    /// Returns the locale. With `utf8`: the environment's locale if its codeset is UTF-8, else
    /// `C.UTF-8`. Without `utf8`, or if no such locale is installed: the C locale, whose characters
    /// are bytes.
    pub fn get(utf8: bool) -> &'static Self {
        static BYTES: OnceLock<CharacterLocale> = OnceLock::new();
        static UTF8: OnceLock<CharacterLocale> = OnceLock::new();
        if utf8 {
            UTF8.get_or_init(|| {
                [c"", c"C.UTF-8", c"C"]
                    .iter()
                    .filter_map(|name| Self::load(name))
                    .find(Self::is_utf8)
                    .unwrap_or_else(Self::c)
            })
        } else {
            BYTES.get_or_init(Self::c)
        }
    }

    fn load(name: &std::ffi::CStr) -> Option<Self> {
        let categories = libc::LC_CTYPE_MASK | libc::LC_COLLATE_MASK;
        // SAFETY: the name is NUL-terminated; a null base asks for a new object.
        let locale = unsafe { libc::newlocale(categories, name.as_ptr(), std::ptr::null_mut()) };
        (!locale.is_null()).then_some(Self(locale))
    }

    fn c() -> Self {
        Self::load(c"C").expect("the C locale is built into the C library")
    }

    /// Returns true if the locale's characters are UTF-8, where U+00E9 is a letter.
    pub fn is_utf8(&self) -> bool {
        self.class(b"alpha")
            .is_some_and(|letters| self.is(letters, 'é') && !self.is(letters, '\u{d7}'))
    }

    /// Returns whether characters are ordered by their numbers, as in the C locale and `C.UTF-8`.
    /// In other locales `a` comes before `B`.
    pub fn collates_by_number(&self) -> bool {
        // SAFETY: both texts are NUL-terminated.
        unsafe { strcoll_l(c"B".as_ptr(), c"a".as_ptr(), self.0) < 0 }
    }

    /// Returns the class of this name, such as `alpha`, or `None` if there is no such class.
    pub fn class(&self, name: &[u8]) -> Option<CharacterClass> {
        let name = std::ffi::CString::new(name).ok()?;
        // SAFETY: the name is NUL-terminated and the locale lives for ever.
        let class = unsafe { wctype_l(name.as_ptr(), self.0) };
        (class != 0).then_some(CharacterClass(class))
    }

    /// Returns whether the character is in the class, which must be a class of this locale.
    pub fn is(&self, class: CharacterClass, character: char) -> bool {
        // SAFETY: any number may be asked about; unknown ones are in no class.
        unsafe { iswctype_l(u32::from(character), class.0, self.0) != 0 }
    }

    /// Returns the lower-case form of a character, or the character itself if it has none.
    pub fn lower(&self, character: char) -> char {
        // SAFETY: any number may be asked about.
        let lower = unsafe { towlower_l(u32::from(character), self.0) };
        char::from_u32(lower).unwrap_or(character)
    }

    /// Runs `function` with this locale as the thread's.
    pub(crate) fn with<T>(&self, function: impl FnOnce() -> T) -> T {
        struct Restore(libc::locale_t);
        impl Drop for Restore {
            fn drop(&mut self) {
                // SAFETY: this is what the thread had before.
                unsafe { libc::uselocale(self.0) };
            }
        }
        // SAFETY: the locale lives for ever, so the thread cannot be left with a dangling one.
        let _restore = Restore(unsafe { libc::uselocale(self.0) });
        function()
    }
}

#[cfg(test)]
mod tests {
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
}
