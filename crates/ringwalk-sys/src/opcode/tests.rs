//! Checks every byte of every entry. `tests/opcode.rs` checks that kernels accept the entries.

use super::*;

const OPCODES: DirectoryOpcodes = DirectoryOpcodes {
    getdents: 58,
    readdirplus: Some(59),
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
    let expected = laid_out(&[
        (0, &[59]),
        (4, &7_i32.to_ne_bytes()),
        (8, &77_i64.to_ne_bytes()),
        (16, &ADDRESS),
        (24, &4096_u32.to_ne_bytes()),
        (48, &(std::ptr::from_ref(&args) as u64).to_ne_bytes()),
    ]);
    assert_eq!(bytes(entry), expected);
    assert_eq!(words(args), [0, 9, layout.mask(), 0, 0, 0, 0, 0, 0, 0]);
    let names_only = DirectoryOpcodes {
        readdirplus: None,
        ..OPCODES
    };
    let refused = RawEntry::from(plus.build_for(names_only, &mut args));
    assert_eq!(refused.opcode, REFUSED);
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
#[cfg_attr(miri, ignore = "Miri reads no files of the host")]
fn a_mainline_kernel_is_not_taken_for_a_patched_one() {
    let found = DirectoryOpcodes::read().unwrap();
    assert_eq!(DirectoryOpcodes::cached(), found);
    // RINGWALK_TEST_SOURCE is set in the guest whose kernel has the operations.
    if std::env::var_os("RINGWALK_TEST_SOURCE").is_none_or(|source| source != "ring") {
        assert_eq!(found, None);
    }
}

#[test]
fn operations_are_found_by_name() {
    let of = DirectoryOpcodes::parse;
    let found = |getdents, readdirplus| {
        Some(DirectoryOpcodes {
            getdents,
            readdirplus,
        })
    };
    assert_eq!(of("GETDENTS 65\nREADDIRPLUS 66\n"), found(65, Some(66)));
    assert_eq!(of("OTHER 7\nREADDIRPLUS 8\nGETDENTS 9"), found(9, Some(8)));
    assert_eq!(of("GETDENTS 65\n"), found(65, None));
    assert_eq!(of("READDIRPLUS 65\n"), None);
    // The list of a kernel without operations.
    assert_eq!(of("\n"), None);
    assert_eq!(of(""), None);
}

#[test]
fn a_list_of_another_form_says_nothing() {
    for list in [
        "GETDENTS",
        "GETDENTS ",
        "GETDENTS  65",
        "GETDENTS 65 ",
        " GETDENTS 65",
        "getdents 65",
        "GETDENTS\t65",
        "GETDENTS 65 66",
        "GETDENTS 256",
        "GETDENTS -1",
        "GETDENTS 0x41",
        "GETDENTS 65\n\nREADDIRPLUS 66",
        "GETDENTS 65\nREADDIRPLUS",
        "GETDENTS 65\nGETDENTS 66",
        "GETDENTS 65\nREADDIRPLUS 65",
        "GETDENTS 65\nOTHER 65",
        "GETDENTS 65\0",
    ] {
        assert_eq!(DirectoryOpcodes::parse(list), None, "{list:?}");
    }
}
