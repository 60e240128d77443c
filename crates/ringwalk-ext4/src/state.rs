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
mod tests;
