//! Unit tests of `xfs.rs`.

use super::*;
use std::fs::File;

#[test]
fn other_file_systems_do_not_know_the_calls() {
    let proc = File::open("/proc").unwrap();
    assert_eq!(xfs_geometry(&proc), Err(Errno::NOTTY));
    let mut bulk = XfsBulk::<XfsBulkstat>::default();
    assert!(bulk.records().is_empty());
    assert_eq!(bulk.read(&proc, None, 0, 4), Err(Errno::NOTTY));
    assert!(bulk.records().is_empty());
}

/// Compares sizes and numbers with the values from a C compiler with Debian's xfslibs-dev on
/// x86-64.
#[test]
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
fn the_codes_are_those_of_the_header() {
    let code = |number| opcode::read::<BulkHeader>(b'X', number);
    assert_eq!(code(XfsBulkstat::NUMBER), 0x8040_587f);
    assert_eq!(code(XfsInodeChunk::NUMBER), 0x8040_5880);
    assert_eq!(opcode::read::<XfsGeometry>(b'X', 126), 0x8100_587e);
}
