//! Unit tests of `state.rs`.

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
