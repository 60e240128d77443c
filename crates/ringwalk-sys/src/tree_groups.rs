//! The answer of READTREE: records of READDIRPLUS in groups, one for each directory that was read.
//!
//! ```text
//! offset  0         4        8       12        16      20      24         32
//!         | reclen  | parent | depth | entries | error | flags | reserved | records |
//!           u32       u32      u32     u32       i32     u32     u64
//! ```
//!
//! `struct ringwalk_group` of [`uapi`]. Nothing here trusts a length or an offset.

use std::mem::size_of;
use std::ops::Range;

use crate::dirent::{ALIGN, DirentError};
use crate::uapi;

const HEADER: usize = size_of::<uapi::Group>();

/// A directory whose entries a READTREE has returned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeGroup {
    /// Offset in the answer of the record that names the directory; 0 for the first group, which
    /// belongs to the request itself.
    pub parent: usize,
    /// Where its records are in the answer.
    pub records: Range<usize>,
    /// How many records there are, as the kernel says.
    pub entries: usize,
    /// True if the kernel has not read the directory, because of an error.
    pub failed: bool,
    /// True if these are all entries up to the end of the directory.
    pub end: bool,
}

impl TreeGroup {
    /// Returns the groups of an answer, in order.
    ///
    /// # Errors
    ///
    /// For bytes that are not groups.
    pub fn all_of(answer: &[u8]) -> Result<Vec<Self>, DirentError> {
        let mut groups = Vec::new();
        let mut at = 0;
        while at < answer.len() {
            let header: &[u8; HEADER] = answer[at..].first_chunk().ok_or(DirentError::Truncated)?;
            let header = read_group(header);
            let length = header.reclen as usize;
            if length < HEADER || !length.is_multiple_of(ALIGN) || length > answer.len() - at {
                return Err(DirentError::BadLength);
            }
            let parent = header.parent as usize;
            // A group follows the record of its directory.
            if (parent == 0) != (at == 0) || parent > at {
                return Err(DirentError::BadLength);
            }
            groups.push(Self {
                parent,
                records: at + HEADER..at + length,
                entries: header.entries as usize,
                failed: header.error != 0,
                end: header.flags & uapi::RESULT_END != 0,
            });
            at += length;
        }
        Ok(groups)
    }
}

/// Returns the header of a group in these bytes.
#[inline]
fn read_group(bytes: &[u8; HEADER]) -> uapi::Group {
    // SAFETY: as many bytes as the structure has (asserted by the type), read at any alignment; it
    // consists of integers without padding, for which any bytes are valid.
    unsafe { bytes.as_ptr().cast::<uapi::Group>().read_unaligned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(length: u32, parent: u32, error: i32, flags: u32) -> Vec<u8> {
        let mut bytes = Vec::new();
        bytes.extend(length.to_ne_bytes());
        bytes.extend(parent.to_ne_bytes());
        bytes.extend([0; 8]);
        bytes.extend(error.to_ne_bytes());
        bytes.extend(flags.to_ne_bytes());
        bytes.resize((length as usize).max(HEADER), 0);
        bytes
    }

    #[test]
    fn groups_follow_each_other() {
        let mut answer = group(96, 0, 0, 1);
        answer.extend(group(32, 40, -13, 0));
        answer.extend(group(40, 64, 0, 1));
        let groups = TreeGroup::all_of(&answer).unwrap();
        let of = |parent, records, failed, end| TreeGroup {
            parent,
            records,
            entries: 0,
            failed,
            end,
        };
        assert_eq!(
            groups,
            [
                of(0, 32..96, false, true),
                of(40, 128..128, true, false),
                of(64, 160..168, false, true)
            ]
        );
    }

    #[test]
    fn other_bytes_are_refused() {
        let good = group(64, 0, 0, 1);
        assert_eq!(TreeGroup::all_of(&[]), Ok(Vec::new()));
        assert_eq!(TreeGroup::all_of(&good[..31]), Err(DirentError::Truncated));
        for length in [0, 24, 36, 72, u32::MAX] {
            let mut bad = good.clone();
            bad[..4].copy_from_slice(&length.to_ne_bytes());
            assert_eq!(TreeGroup::all_of(&bad), Err(DirentError::BadLength));
        }
        // The first group has a parent, another has none, and one comes before its parent.
        assert_eq!(
            TreeGroup::all_of(&group(64, 8, 0, 1)),
            Err(DirentError::BadLength)
        );
        for parent in [0, 65] {
            let mut answer = good.clone();
            answer.extend(group(32, parent, 0, 1));
            assert_eq!(TreeGroup::all_of(&answer), Err(DirentError::BadLength));
        }
    }
}
