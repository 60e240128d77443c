//! The environment that a new program gets.

use std::ffi::{CStr, c_char};

unsafe extern "C" {
    /// `environ(7)`.
    static environ: *const *const c_char;
}

/// Returns the array of the environment, which ends with a null pointer; null if there is none.
pub(crate) fn pointer() -> *const *const c_char {
    // SAFETY: `environ` is a pointer variable of the C library, which is only read here. Nothing in
    // this project changes the environment: `std::env::set_var` is `unsafe` and so not used outside
    // of this crate.
    unsafe { environ }
}

/// Returns the bytes that the environment takes of the kernel's limit for a new program: each
/// string, its NUL and a pointer to it.
#[doc(alias = "environ")]
pub fn environment_size() -> usize {
    let mut entry = pointer();
    if entry.is_null() {
        return 0;
    }
    let mut size = 0;
    loop {
        // SAFETY: `environ` is an array of pointers that ends with a null one, where this loop
        // ends; nobody changes it meanwhile, see above.
        let string = unsafe { *entry };
        if string.is_null() {
            return size;
        }
        // SAFETY: not null, so a string that ends with a zero byte, and nobody changes it
        // meanwhile.
        let string = unsafe { CStr::from_ptr(string) };
        size += string.to_bytes_with_nul().len() + size_of::<*const c_char>();
        // SAFETY: this was not the null pointer that ends the array, so there is another entry.
        entry = unsafe { entry.add(1) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::ffi::OsStrExt;

    #[test]
    fn it_is_the_standard_librarys() {
        let expected: usize = std::env::vars_os()
            .map(|(name, value)| name.as_bytes().len() + value.as_bytes().len() + 2 + 8)
            .sum();
        assert!(expected > 0);
        assert_eq!(environment_size(), expected);
    }
}
