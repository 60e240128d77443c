//! Access control lists, which ext4 stores in fewer bytes than getxattr(2) returns.

use crate::Error;
use crate::bytes::Fixed;

/// `EXT4_ACL_VERSION`: the first four bytes on disk.
const STORED: u32 = 1;
/// `POSIX_ACL_XATTR_VERSION`: the first four bytes of the attribute.
const GIVEN: u32 = 2;
/// The id of entries that are not for one user or group (`ACL_UNDEFINED_ID`).
const NO_ID: u32 = !0;
/// Tags of entries for one user or group (`ACL_USER`, `ACL_GROUP`).
const USER: u16 = 0x2;
const GROUP: u16 = 0x8;
/// Tags of the others: `ACL_USER_OBJ`, `ACL_GROUP_OBJ`, `ACL_MASK`, `ACL_OTHER`.
const OTHERS: [u16; 4] = [0x1, 0x4, 0x10, 0x20];

/// Returns the value of the attribute from the stored bytes. An entry is a tag, permissions and an
/// id. On disk only entries for one user or group have an id.
pub(crate) fn as_xattr(stored: &[u8]) -> Result<Vec<u8>, Error> {
    let wrong = Error::Corrupt("access control list");
    let Some((version, mut rest)) = stored.split_first_chunk::<4>() else {
        return Err(wrong);
    };
    if u32::from_le_bytes(*version) != STORED {
        return Err(wrong);
    }
    let mut given = GIVEN.to_le_bytes().to_vec();
    while let Some((entry, after)) = rest.split_first_chunk::<4>() {
        given.extend(entry);
        let tag = Fixed(entry).u16::<0>();
        rest = if OTHERS.contains(&tag) {
            given.extend(NO_ID.to_le_bytes());
            after
        } else {
            match after.split_first_chunk::<4>() {
                Some((id, after)) if tag == USER || tag == GROUP => {
                    given.extend(id);
                    after
                }
                _ => return Err(wrong),
            }
        };
    }
    if rest.is_empty() {
        Ok(given)
    } else {
        Err(wrong)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_entries_get_no_id() {
        let stored = [
            1, 0, 0, 0, 1, 0, 6, 0, 2, 0, 7, 0, 0xE8, 3, 0, 0, 4, 0, 4, 0,
        ];
        let given = [
            2, 0, 0, 0, 1, 0, 6, 0, 255, 255, 255, 255, 2, 0, 7, 0, 0xE8, 3, 0, 0, 4, 0, 4, 0, 255,
            255, 255, 255,
        ];
        assert_eq!(as_xattr(&stored).unwrap(), given);
    }

    #[test]
    fn what_is_none_is_an_error() {
        for stored in [
            &[][..],
            &[2, 0, 0, 0],
            &[1, 0, 0, 0, 1, 0],
            &[1, 0, 0, 0, 2, 0, 7, 0],
            &[1, 0, 0, 0, 3, 0, 7, 0, 0, 0, 0, 0],
        ] {
            assert!(as_xattr(stored).is_err(), "{stored:?}");
        }
    }
}
