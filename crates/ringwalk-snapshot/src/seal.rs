//! The checksum of the footer.
//!
//! Parquet has checksums of pages, and none of the footer. So the value of `ringwalk.run`, which is
//! the only one that may differ between snapshots of the same trees, has the CRC-32 of all other
//! bytes of the footer in eight hexadecimal digits. A writer stores zeros there first.

use crate::read::TAIL;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;

/// The digits before the checksum is known.
pub(crate) const OPEN: &str = "00000000";

/// The bytes before the digits. In the texts of the footer, a quotation mark has a backslash in
/// front. The least and the largest paths, which have not, lie before all texts.
const MARK: &[u8] = b"\"footer_crc32\":\"";

/// Returns where the digits are in a footer; `None` in one without a checksum.
fn digits(footer: &[u8]) -> Option<Range<usize>> {
    let at = memchr::memmem::rfind(footer, MARK)? + MARK.len();
    let end = at + OPEN.len();
    (end <= footer.len()).then_some(at..end)
}

/// Returns the checksum of a footer without the digits of the checksum.
fn checksum(footer: &[u8], digits: &Range<usize>) -> String {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&footer[..digits.start]);
    hasher.update(&footer[digits.end..]);
    format!("{:08x}", hasher.finalize())
}

/// Returns false if a footer contains a checksum that is wrong. Older footers contain none.
pub(crate) fn is_intact(footer: &[u8]) -> bool {
    digits(footer).is_none_or(|digits| checksum(footer, &digits).as_bytes() == &footer[digits])
}

/// Writes the checksum into the footer of a file that is complete otherwise.
///
/// # Errors
///
/// The errors of reading and writing the file.
pub(crate) fn seal(file: &File) -> io::Result<()> {
    let malformed = || io::Error::other("the footer that was written is malformed");
    let tail = file.metadata()?.len().checked_sub(TAIL);
    let tail = tail.ok_or_else(malformed)?;
    let mut length = [0; 4];
    file.read_exact_at(&mut length, tail)?;
    let length = u32::from_le_bytes(length);
    let begin = tail.checked_sub(length.into()).ok_or_else(malformed)?;
    let mut footer = vec![0; length as usize];
    file.read_exact_at(&mut footer, begin)?;
    let digits = digits(&footer).ok_or_else(malformed)?;
    let checksum = checksum(&footer, &digits);
    file.write_all_at(checksum.as_bytes(), begin + digits.start as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Entry, Info, Snapshot, TreeBuilder, WriteOptions};
    use ringwalk::FileType;
    use std::fs;

    #[test]
    fn names_that_look_like_a_checksum() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        let mark = [MARK, OPEN.as_bytes()].concat();
        let mut tree = TreeBuilder::new(WriteOptions::default());
        let root = [b"/", &mark[..]].concat();
        tree.begin_root(&root, &Entry::new(b"", FileType::Directory))
            .unwrap();
        tree.file(&Entry::new(&mark, FileType::Regular)).unwrap();
        tree.end_directory().unwrap();
        tree.finish(Info::default(), &path).unwrap();
        assert_eq!(Snapshot::open(&path).unwrap().rows(), 2);
        let whole = fs::read(&path).unwrap();
        assert!(memchr::memmem::find_iter(&whole, MARK).count() > 1);
        let at = memchr::memmem::rfind(&whole, MARK).unwrap() + MARK.len();
        assert_ne!(&whole[at..at + 8], OPEN.as_bytes());
    }

    #[test]
    fn a_footer_without_a_checksum_is_intact() {
        assert!(is_intact(b""));
        assert!(is_intact(b"a footer"));
        assert!(is_intact(b"\"footer_crc32\":\"1234567"));
        assert!(!is_intact(b"\"footer_crc32\":\"12345678\""));
    }
}
