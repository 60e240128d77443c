//! Unit tests of `page_cache.rs`.

use super::*;
use std::io::Write;

#[test]
fn what_has_just_been_written_is_cached() {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(&[1; 8192]).unwrap();
    match cachestat(&file, 0, 8192) {
        Ok(found) => assert!((1..=2).contains(&found.cached)),
        Err(errno) => assert_eq!(errno, Errno::NOSYS),
    }
    match cachestat(&file, 64 << 20, 8192) {
        Ok(found) => assert_eq!(found, Cachestat::default()),
        Err(errno) => assert_eq!(errno, Errno::NOSYS),
    }
}
