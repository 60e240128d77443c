//! Unit tests of `side.rs`.

use super::*;

#[test]
fn all_missing_interfaces_are_reported() {
    assert_eq!(KernelSide::default().refused(), None);
    let side = KernelSide::new(Some(Err("no module".into())));
    side.note(Err("no operations".into()));
    let told = side.refused();
    assert_eq!(told.as_deref(), Some("no module; no operations"));
}
