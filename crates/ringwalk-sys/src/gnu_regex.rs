//! Regular expressions as the GNU C library matches them.

use crate::CharacterLocale;
use crate::sync::lock;
use std::ffi::CStr;
use std::fmt;
use std::sync::Mutex;

/// `struct re_pattern_buffer` of glibc's `<regex.h>`.
#[repr(C)]
struct PatternBuffer {
    buffer: *mut libc::c_void,
    allocated: libc::c_ulong,
    used: libc::c_ulong,
    syntax: libc::c_ulong,
    fastmap: *mut libc::c_char,
    translate: *mut libc::c_uchar,
    subexpressions: libc::size_t,
    /// Bit fields, of 8 bits in all.
    flags: libc::c_uint,
}

const _: () = {
    let word = size_of::<libc::c_ulong>();
    assert!(size_of::<PatternBuffer>() == 8 * word);
    assert!(std::mem::offset_of!(PatternBuffer, subexpressions) == 6 * word);
};

unsafe extern "C" {
    fn re_set_syntax(syntax: libc::c_ulong) -> libc::c_ulong;
    fn re_compile_pattern(
        pattern: *const libc::c_char,
        length: libc::size_t,
        buffer: *mut PatternBuffer,
    ) -> *const libc::c_char;
    fn re_match(
        buffer: *mut PatternBuffer,
        text: *const libc::c_char,
        length: libc::c_int,
        start: libc::c_int,
        registers: *mut libc::c_void,
    ) -> libc::c_int;
    fn regfree(buffer: *mut PatternBuffer);
}

/// A process has one variable for the syntax to compile with.
static COMPILING: Mutex<()> = Mutex::new(());

/// A regular expression in one of the C library's syntaxes.
///
/// glibc locks a compiled expression while it matches. A thread that finds no idle one compiles its
/// own, so threads do not wait for each other.
///
/// [glibc's `regex.h`](https://sourceware.org/git/?p=glibc.git;a=blob;f=posix/regex.h)
#[doc(alias = "re_match")]
pub struct GnuRegex {
    pattern: Box<[u8]>,
    syntax: u32,
    locale: &'static CharacterLocale,
    idle: Mutex<Vec<Compiled>>,
}

impl GnuRegex {
    /// Compiles `pattern`. `syntax` holds `RE_*` bits of `<regex.h>`. `locale` defines the
    /// characters.
    ///
    /// # Errors
    ///
    /// The message of the C library, in English.
    pub fn new(
        pattern: &[u8],
        syntax: u32,
        locale: &'static CharacterLocale,
    ) -> Result<Self, String> {
        let compiled = Compiled::new(pattern, syntax, locale)?;
        Ok(Self {
            pattern: pattern.into(),
            syntax,
            locale,
            idle: Mutex::new(vec![compiled]),
        })
    }

    /// Returns whether the whole of `text` matches: whether the longest match at its start is all
    /// of it. Texts of 2 GiB and more never match.
    ///
    /// # Panics
    ///
    /// If a thread has no memory for its own copy of the expression.
    pub fn matches_whole(&self, text: &[u8]) -> bool {
        let idle = self.lock().pop();
        let compiled = match idle {
            Some(compiled) => Ok(compiled),
            None => Compiled::new(&self.pattern, self.syntax, self.locale),
        };
        // The pattern compiled once before, so only memory can be missing.
        let mut compiled =
            compiled.unwrap_or_else(|message| panic!("regular expression: {message}"));
        let matches = compiled.matches_whole(text, self.locale);
        self.lock().push(compiled);
        matches
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Compiled>> {
        lock(&self.idle)
    }
}

impl fmt::Debug for GnuRegex {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("GnuRegex")
            .field("pattern", &String::from_utf8_lossy(&self.pattern))
            .field("syntax", &self.syntax)
            .finish_non_exhaustive()
    }
}

struct Compiled(Box<PatternBuffer>);

// SAFETY: the buffer and what it points to are owned, and nothing of them is bound to a thread.
unsafe impl Send for Compiled {}

impl Compiled {
    fn new(pattern: &[u8], syntax: u32, locale: &CharacterLocale) -> Result<Self, String> {
        let mut compiled = Self(Box::new(PatternBuffer {
            buffer: std::ptr::null_mut(),
            allocated: 0,
            used: 0,
            syntax: 0,
            fastmap: std::ptr::null_mut(),
            translate: std::ptr::null_mut(),
            subexpressions: 0,
            flags: 0,
        }));
        let error = locale.with(|| {
            let _only = lock(&COMPILING);
            // SAFETY: the lock keeps other threads of ours from the variable that this sets.
            unsafe { re_set_syntax(libc::c_ulong::from(syntax)) };
            // SAFETY: the pattern is valid for its length. The buffer is as <regex.h> wants it:
            // zero, so that memory is allocated by the call, without a fastmap or a table of
            // translation.
            unsafe {
                re_compile_pattern(pattern.as_ptr().cast(), pattern.len(), &raw mut *compiled.0)
            }
        });
        if error.is_null() {
            return Ok(compiled);
        }
        // SAFETY: what is returned is null or a constant string.
        let words = unsafe { CStr::from_ptr(error) };
        Err(words.to_string_lossy().into_owned())
    }

    fn matches_whole(&mut self, text: &[u8], locale: &CharacterLocale) -> bool {
        let Ok(length) = libc::c_int::try_from(text.len()) else {
            return false;
        };
        // SAFETY: the buffer was compiled, nobody else has it, the text is valid for its length,
        // and null asks for no registers.
        let matched = locale.with(|| unsafe {
            re_match(
                &raw mut *self.0,
                text.as_ptr().cast(),
                length,
                0,
                std::ptr::null_mut(),
            )
        });
        matched == length
    }
}

impl Drop for Compiled {
    fn drop(&mut self) {
        // SAFETY: the buffer is zero, or was filled by re_compile_pattern, which leaves it such
        // that this frees what it holds, whether it failed or not; it is not used again.
        unsafe { regfree(&raw mut *self.0) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `RE_DOT_NEWLINE`, the only bit that GNU find's own syntax sets.
    const FINDUTILS: u32 = 0x40;

    fn regex(pattern: &[u8], utf8: bool) -> Result<GnuRegex, String> {
        GnuRegex::new(pattern, FINDUTILS, CharacterLocale::get(utf8))
    }

    #[test]
    fn back_references() {
        let twice = regex(br"\(a*b\)/\1", false).expect("it is well formed");
        assert!(twice.matches_whole(b"aab/aab"));
        assert!(!twice.matches_whole(b"aab/ab"));
        assert!(!twice.matches_whole(b"aab/aabc"));
    }

    #[test]
    fn characters_and_bytes() {
        assert!(regex(b".", true).is_ok_and(|one| one.matches_whole("é".as_bytes())));
        assert!(regex(b"..", false).is_ok_and(|two| two.matches_whole("é".as_bytes())));
        assert!(regex(b".", true).is_ok_and(|one| !one.matches_whole(b"\xff")));
    }

    #[test]
    fn errors() {
        let words = regex(br"a\(", false).err();
        assert_eq!(words.as_deref(), Some(r"Unmatched ( or \("));
    }

    #[test]
    fn many_threads() {
        let twice = regex(br"\(a*\)b\1", true).expect("it is well formed");
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..200 {
                        assert!(twice.matches_whole(b"aaabaaa"));
                        assert!(!twice.matches_whole(b"aaabaa"));
                    }
                });
            }
        });
    }
}
