//! Unit tests of `features.rs`.

use super::*;

fn refused(incompat: u32) -> Option<String> {
    let features = Features {
        compat: !0,
        incompat,
        ro_compat: !0,
    };
    match features.check() {
        Ok(()) => None,
        Err(Error::Unsupported(name)) => Some(name),
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn unknown_incompatible_features_are_named() {
    assert_eq!(refused(0), None);
    assert_eq!(refused(0x3_E7D6), None, "all that are known");
    assert_eq!(refused(0x1).as_deref(), Some("compression"));
    assert_eq!(refused(0x8).as_deref(), Some("journal_dev"));
    assert_eq!(refused(0x1000).as_deref(), Some("dirdata"));
    assert_eq!(refused(0x20).as_deref(), Some("0x20 (incompatible)"));
    assert_eq!(
        refused(1 << 31).as_deref(),
        Some("0x80000000 (incompatible)")
    );
    assert_eq!(
        refused(0x8_1000).as_deref(),
        Some("dirdata"),
        "the first of two"
    );
}

#[test]
fn unknown_read_only_features_are_reported() {
    let features = Features {
        compat: 0,
        incompat: 0,
        ro_compat: 0x4_0400,
    };
    assert!(features.check().is_ok());
    assert_eq!(features.unknown_ro_compat(), 0x4_0000);
}
