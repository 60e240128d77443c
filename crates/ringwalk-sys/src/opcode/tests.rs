//! Checks every byte of every entry. `tests/opcode.rs` checks that kernels accept the entries.

use super::trial::reads_directories;
use super::*;
use crate::IoUring;

const OPCODES: DirectoryOpcodes = DirectoryOpcodes {
    getdents: 58,
    readdirplus: 59,
    readtree: 60,
    readahead: 61,
};
const FD: types::Fd = types::Fd(7);
const BUF: *mut u8 = std::ptr::without_provenance_mut(0x1122_3344_5566_7788);

/// Returns the bytes of an entry, as the kernel reads them.
fn bytes(entry: squeue::Entry) -> [u8; 64] {
    let raw = RawEntry::from(entry);
    // SAFETY: a structure of integers without padding (the sizes of its fields add up to its own),
    // which has as many bytes as the array.
    unsafe { std::mem::transmute(raw) }
}

/// Returns 64 bytes that are zero except for these fields at these offsets.
fn laid_out(fields: &[(usize, &[u8])]) -> [u8; 64] {
    let mut bytes = [0; 64];
    for (at, field) in fields {
        bytes[*at..at + field.len()].copy_from_slice(field);
    }
    bytes
}

const ADDRESS: [u8; 8] = 0x1122_3344_5566_7788_u64.to_ne_bytes();

#[test]
fn getdents_byte_by_byte() {
    let entry = Getdents::new(FD, BUF, 0x0102_0304)
        .offset(-2)
        .build_for(OPCODES);
    let expected = laid_out(&[
        (0, &[58]),
        (4, &7_i32.to_ne_bytes()),
        (8, &(-2_i64).to_ne_bytes()),
        (16, &ADDRESS),
        (24, &0x0102_0304_u32.to_ne_bytes()),
    ]);
    assert_eq!(bytes(entry), expected);
}

#[test]
fn without_an_offset_it_is_the_current_one() {
    let raw = RawEntry::from(Getdents::new(FD, BUF, 1).build_for(OPCODES));
    assert_eq!(raw.off, -1);
    let raw = RawEntry::from(Getdents::new(FD, BUF, 1).offset(0).build_for(OPCODES));
    assert_eq!(raw.off, 0);
}

#[test]
fn a_registered_directory_is_one() {
    let mut args = ReadPlusArgs::default();
    let layout = PlusLayout::new(0);
    for entry in [
        Getdents::new(types::Fixed(3), BUF, 512).build_for(OPCODES),
        ReadPlus::new(types::Fixed(3), BUF, 512, &layout).build_for(OPCODES, &mut args),
    ] {
        let raw = RawEntry::from(entry);
        // IOSQE_FIXED_FILE is bit 0.
        assert_eq!((raw.fd, raw.flags), (3, 1));
    }
}

/// Returns the entry of READDIRPLUS or READTREE: position 77, 4096 bytes.
fn plus_entry(opcode: u8, args: &ReadPlusArgs) -> [u8; 64] {
    laid_out(&[
        (0, &[opcode]),
        (4, &7_i32.to_ne_bytes()),
        (8, &77_i64.to_ne_bytes()),
        (16, &ADDRESS),
        (24, &4096_u32.to_ne_bytes()),
        (48, &(std::ptr::from_ref(args) as u64).to_ne_bytes()),
    ])
}

fn words(args: ReadPlusArgs) -> [u32; 10] {
    // SAFETY: 40 bytes of integers without padding (asserted with the type).
    unsafe { std::mem::transmute(args) }
}

#[test]
fn readplus_byte_by_byte() {
    let layout = PlusLayout::new(libc::STATX_SIZE | libc::STATX_MTIME);
    let mut args = ReadPlusArgs::default();
    let plus = ReadPlus::new(FD, BUF, 4096, &layout)
        .offset(77)
        .max_entries(9);
    let entry = plus.build_for(OPCODES, &mut args);
    assert_eq!(bytes(entry), plus_entry(59, &args));
    assert_eq!(words(args), [0, 9, layout.mask(), 0, 0, 0, 0, 0, 0, 0]);
    let _ = plus.whole(true).build_for(OPCODES, &mut args);
    assert_eq!((args.flags, args.max_entries), (2, 9));
}

#[test]
fn readtree_byte_by_byte() {
    let layout = PlusLayout::new(libc::STATX_SIZE);
    let mut args = ReadPlusArgs::default();
    let tree = ReadTree::new(FD, BUF, 4096, &layout, 5)
        .offset(77)
        .max_entries(9)
        .milliseconds(20);
    let entry = tree.build_for(OPCODES, &mut args);
    assert_eq!(bytes(entry), plus_entry(60, &args));
    assert_eq!(words(args), [0, 9, layout.mask(), 0, 0, 0, 0, 0, 0, 5]);
    let _ = tree.whole(true).build_for(OPCODES, &mut args);
    assert_eq!((args.flags, args.max_depth), (2, 5));
    // READDIRPLUS refuses another depth than 0.
    let _ = ReadPlus::new(FD, BUF, 4096, &layout).build_for(OPCODES, &mut args);
    assert_eq!(args.max_depth, 0);
}

#[test]
fn what_stood_in_the_structures_is_overwritten() {
    let layout = PlusLayout::new(libc::STATX_SIZE);
    let plus = ReadPlus::new(FD, BUF, 4096, &layout);
    let mut args = ReadPlusArgs {
        flags: 9,
        max_entries: 9,
        ..ReadPlusArgs::default()
    };
    let _ = plus.build_for(OPCODES, &mut args);
    assert_eq!((args.flags, args.max_entries), (0, 0));
    let mut request = uapi::Readdirplus {
        result_flags: 1,
        entries: 5,
        ..uapi::Readdirplus::default()
    };
    let _ = plus.command(FD, false, &mut request);
    assert_eq!((request.result_flags, request.entries), (0, 0));
}

/// `IORING_OP_URING_CMD`.
const URING_CMD: u8 = 46;

#[test]
fn commands_byte_by_byte() {
    let mut names = uapi::Getdents::default();
    let getdents = Getdents::new(FD, BUF, 4096).offset(5);
    let entry = getdents.command(types::Fd(4), true, &mut names);
    let expected = laid_out(&[
        (0, &[URING_CMD]),
        (4, &4_i32.to_ne_bytes()),
        (8, &uapi::IOC_GETDENTS.to_ne_bytes()),
        (48, &(std::ptr::from_ref(&names) as u64).to_ne_bytes()),
    ]);
    assert_eq!(bytes(entry), expected);
    let asked = uapi::Getdents {
        size: 40,
        flags: uapi::F_INLINE,
        fd: 7,
        len: 4096,
        buf: BUF as u64,
        off: 5,
        ..uapi::Getdents::default()
    };
    assert_eq!(names, asked);

    let mut plus = uapi::Readdirplus::default();
    let layout = PlusLayout::new(libc::STATX_MODE);
    let readplus = ReadPlus::new(FD, BUF, 4096, &layout).max_entries(3);
    let entry = readplus.command(types::Fixed(2), false, &mut plus);
    let expected = laid_out(&[
        (0, &[URING_CMD, 1]),
        (4, &2_i32.to_ne_bytes()),
        (8, &uapi::IOC_READDIRPLUS.to_ne_bytes()),
        (48, &(std::ptr::from_ref(&plus) as u64).to_ne_bytes()),
    ]);
    assert_eq!(bytes(entry), expected);
    let asked = uapi::Readdirplus {
        size: 80,
        fd: 7,
        len: 4096,
        buf: BUF as u64,
        off: -1,
        max_entries: 3,
        fields: uapi::Fields {
            mask: layout.mask(),
            ..uapi::Fields::default()
        },
        ..uapi::Readdirplus::default()
    };
    assert_eq!(plus, asked);

    let mut tree = uapi::Readtree::default();
    let entry = ReadTree::new(FD, BUF, 4096, &layout, 5)
        .milliseconds(20)
        .command(types::Fixed(2), true, &mut tree);
    let expected = laid_out(&[
        (0, &[URING_CMD, 1]),
        (4, &2_i32.to_ne_bytes()),
        (8, &uapi::IOC_READTREE.to_ne_bytes()),
        (48, &(std::ptr::from_ref(&tree) as u64).to_ne_bytes()),
    ]);
    assert_eq!(bytes(entry), expected);
    let asked = uapi::Readtree {
        size: 88,
        flags: uapi::F_INLINE,
        fd: 7,
        len: 4096,
        buf: BUF as u64,
        off: -1,
        max_depth: 5,
        max_ms: 20,
        fields: plus.fields,
        ..uapi::Readtree::default()
    };
    assert_eq!(tree, asked);
}

#[test]
fn what_completions_say() {
    let of = |bytes, end| Ok(Filled { bytes, end });
    assert_eq!(filled(24, 0), of(24, false));
    assert_eq!(filled(24, CQE_END), of(24, true));
    assert_eq!(filled(24, !CQE_END), of(24, false));
    assert_eq!(filled(0, 0), of(0, true));
    assert_eq!(filled(-22, CQE_END), Err(Errno::INVAL));
    assert_eq!(filled_by_module(24, uapi::RESULT_END), of(24, true));
    assert_eq!(filled_by_module(24, !uapi::RESULT_END), of(24, false));
    assert_eq!(filled_by_module(i32::MIN, 0), Err(Errno::IO));
}

#[test]
#[cfg_attr(miri, ignore = "Miri has no io_uring")]
fn a_mainline_kernel_is_not_taken_for_a_patched_one() {
    let Ok(ring) = IoUring::probe() else { return };
    let found = DirectoryOpcodes::of(&ring);
    assert_eq!(DirectoryOpcodes::cached(), found);
    // RINGWALK_TEST_SOURCE is set in the guest whose kernel has the operations.
    if std::env::var_os("RINGWALK_TEST_SOURCE").is_none_or(|source| source != "ring") {
        assert_eq!(found, None);
    }
}

/// Every operation that the kernel may have at that place is refused, or reads directories.
#[test]
#[cfg_attr(miri, ignore = "Miri has no io_uring")]
fn the_trial_tells_operations_apart() {
    let Ok(ring) = IoUring::probe() else { return };
    let patched = DirectoryOpcodes::of(&ring).map(|found| found.getdents);
    for getdents in 49..=ring.last_operation() {
        let tried = DirectoryOpcodes {
            getdents,
            ..DirectoryOpcodes::NONE
        };
        let reads = reads_directories(tried);
        assert_eq!(reads, Ok(patched == Some(getdents)), "operation {getdents}");
    }
    assert_eq!(reads_directories(DirectoryOpcodes::NONE), Ok(false));
}

#[test]
fn the_last_four_operations_are_candidates() {
    let of = |last, missing| DirectoryOpcodes::candidates(&IoUring::invented(last, missing));
    let four = |getdents| {
        Some(DirectoryOpcodes {
            getdents,
            readdirplus: getdents + 1,
            readtree: getdents + 2,
            readahead: getdents + 3,
        })
    };
    assert_eq!(of(61, None), four(58));
    assert_eq!(of(52, None), four(49));
    // Operations of Linux 6.1 are no candidates, and all four must be performed.
    assert_eq!(of(51, None), None);
    for missing in 58..=61 {
        assert_eq!(of(61, Some(missing)), None);
    }
    assert_eq!(of(2, None), None);
}
