//! The state of the file system in the superblock.

use crate::bytes::Fixed;

/// `EXT4_VALID_FS` in `s_state`.
const VALID: u16 = 1;
/// `EXT4_ERROR_FS`.
const ERROR: u16 = 2;

/// The state of the file system that the driver recorded in the superblock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State {
    /// True if the file system was clean when it was unmounted or made read-only. A file system
    /// without a journal is not clean while it may be written to.
    pub is_clean: bool,
    /// True if errors were found since e2fsck(8) last checked it.
    pub has_errors: bool,
    /// True if the journal may hold changes that are not in place yet. This holds for every file
    /// system with a journal while it may be written to.
    pub needs_recovery: bool,
}

impl State {
    /// Decodes the bytes of the superblock. `is_dynamic` is true if the superblock has revision 1
    /// or later, and counts errors.
    pub(crate) fn decode(raw: Fixed<'_, 1024>, is_dynamic: bool, needs_recovery: bool) -> Self {
        let state = raw.u16::<0x3A>();
        let counted = is_dynamic && raw.u32::<0x194>() != 0;
        Self {
            is_clean: state & VALID != 0,
            has_errors: state & ERROR != 0 || counted,
            needs_recovery,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recorded_states_are_reported() {
        let decode = |state: u16, errors: u32, is_dynamic| {
            let mut bytes = [0; 1024];
            bytes[0x3A..0x3C].copy_from_slice(&state.to_le_bytes());
            bytes[0x194..0x198].copy_from_slice(&errors.to_le_bytes());
            let state = State::decode(Fixed(&bytes), is_dynamic, true);
            assert!(state.needs_recovery);
            (state.is_clean, state.has_errors)
        };
        assert_eq!(decode(1, 0, true), (true, false));
        assert_eq!(decode(0, 0, true), (false, false));
        assert_eq!(decode(3, 0, true), (true, true));
        assert_eq!(decode(1, 7, true), (true, true));
        assert_eq!(decode(1, 7, false), (true, false), "another field then");
        // Orphans remain (`EXT4_ORPHAN_FS`), which is no error.
        assert_eq!(decode(5, 0, true), (true, false));
    }
}
