//! Unit tests of `environment.rs`.

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
