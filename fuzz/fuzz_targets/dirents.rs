//! The parser of `getdents64` records on arbitrary bytes.
//!
//! Whatever a file system's server sends, the parser must not panic, must end, and must never
//! return a name from outside the buffer. Its results must be those of the bytes: each record is
//! read a second time here, by offsets written down from the manual page. (The kernel ensures that
//! no name has a slash in it.)

#![no_main]

use libfuzzer_sys::fuzz_target;
use ringwalk_sys::{Dirents, RawFileType};

/// Returns the number in `bytes[at..at + 8]`, in the machine's byte order.
fn word(bytes: &[u8], at: usize) -> u64 {
    u64::from_ne_bytes(bytes[at..at + 8].try_into().unwrap())
}

fuzz_target!(|buffer: &[u8]| {
    let mut dirents = Dirents::new(buffer);
    loop {
        let start = dirents.offset();
        match dirents.next() {
            None => {
                assert!(start >= buffer.len(), "bytes left over without an error");
                break;
            }
            Some(Err(_)) => {
                assert!(dirents.next().is_none(), "something after an error");
                break;
            }
            Some(Ok(dirent)) => {
                let end = dirents.offset();
                assert!(end > start && end <= buffer.len() && (end - start).is_multiple_of(8));
                let record = &buffer[start..end];
                assert_eq!(dirent.ino(), word(record, 0));
                assert_eq!(dirent.cookie().cast_unsigned(), word(record, 8));
                let length = u16::from_ne_bytes([record[16], record[17]]);
                assert_eq!(usize::from(length), record.len());
                assert_eq!(dirent.file_type(), RawFileType::from_d_type(record[18]));
                let name = dirent.name().to_bytes();
                assert!(!name.is_empty());
                assert_eq!(name, &record[19..19 + name.len()]);
                assert_eq!(record[19 + name.len()], 0);
                assert_eq!(dirent.is_dot(), name == b"." || name == b"..");
            }
        }
    }
});
