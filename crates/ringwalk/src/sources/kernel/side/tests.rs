//! Unit tests of `side.rs`.

use super::*;
use crate::sources::kernel::available;

#[test]
fn all_missing_interfaces_are_reported() {
    assert_eq!(KernelSide::default().refused(), None);
    let side = KernelSide::new(Some(Err("no module".into())));
    side.note(Err("no operations".into()));
    let told = side.refused();
    assert_eq!(told.as_deref(), Some("no module; no operations"));
}

fn opcodes(readdirplus: Option<u8>) -> DirectoryReader {
    DirectoryReader::Opcodes(DirectoryOpcodes {
        getdents: 65,
        readdirplus,
    })
}

#[test]
fn the_first_interface_is_used_and_no_other_is_looked_for() {
    let side = KernelSide::new(Some(Ok(opcodes(Some(66)))));
    side.look();
    assert_eq!(
        (side.source(), side.refused()),
        (Some(SourceChoice::Ring), None)
    );
    side.note(Ok(opcodes(None)));
    let told = side.describe();
    assert_eq!(
        told.as_deref(),
        Some("io_uring operations 65 (GETDENTS), 66 (READDIRPLUS) of this kernel")
    );
}

#[test]
fn operations_without_metadata_are_for_those_who_ask_for_them() {
    assert!(with_metadata(opcodes(Some(66))).is_ok());
    assert!(with_metadata(opcodes(None)).is_err());
    let side = KernelSide::new(Some(Ok(opcodes(None))));
    let told = side.describe();
    assert_eq!(
        told.as_deref(),
        Some("io_uring operations 65 (GETDENTS) of this kernel")
    );
    assert_eq!(available(&opcodes(None)), 0);
}
