//! The interface of the kernel module: the structures, numbers and flags of
//! `kernel/module/include/uapi/linux/ringwalk.h`, under their names there without `ringwalk_`.
//!
//! That header documents the fields. `tests/uapi.rs` compares every size, offset and number with
//! it.

use std::mem::{offset_of, size_of};

use rustix::ioctl::{Opcode, opcode};

/// `RINGWALK_VERSION`.
pub const VERSION: u32 = 2;
/// `RINGWALK_MAGIC`.
pub const MAGIC: u64 = 0x6b6c_6177_676e_6972;
/// `RINGWALK_BUFFER_MAX`.
pub const BUFFER_MAX: u32 = 1 << 20;
/// `RINGWALK_F_INLINE`.
pub const F_INLINE: u32 = 1 << 0;
/// `RINGWALK_RESULT_END`.
pub const RESULT_END: u32 = 1 << 0;
/// `RINGWALK_OFF_CURRENT`.
pub const OFF_CURRENT: i64 = -1;
/// `RINGWALK_ENTRY_STAT`.
pub const ENTRY_STAT: u8 = 1 << 0;

/// Declares a structure of the header, all fields public, and asserts its size.
macro_rules! structure {
    ($(#[$doc:meta])* $name:ident, $size:literal { $($field:ident: $type:ty,)* }) => {
        $(#[$doc])*
        #[repr(C)]
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        #[allow(missing_docs, reason = "the header says what each is")]
        pub struct $name {
            $(pub $field: $type,)*
        }
        const _: () = assert!(size_of::<$name>() == $size);
        impl $name {
            /// The size, for the first field of a request.
            pub const SIZE: u32 = $size;
            /// Name and offset of each field, for comparison with the header.
            pub const FIELDS: &'static [(&'static str, usize)] =
                &[$((stringify!($field), offset_of!($name, $field)),)*];
        }
    };
}

structure! {
    /// `struct ringwalk_sqe`.
    Sqe, 16 {
        request: u64,
        reserved: u64,
    }
}

structure! {
    /// `struct ringwalk_info`.
    Info, 40 {
        size: u32,
        version: u32,
        magic: u64,
        flags: u32,
        commands: u32,
        buffer_max: u32,
        stat_mask: u32,
        readahead_max: u32,
        reserved: u32,
    }
}

structure! {
    /// `struct ringwalk_getdents`.
    Getdents, 40 {
        size: u32,
        flags: u32,
        fd: i32,
        len: u32,
        buf: u64,
        off: i64,
        result_flags: u32,
        reserved: u32,
    }
}

structure! {
    /// `struct ringwalk_fields`.
    Fields, 32 {
        mask: u32,
        stat_flags: u32,
        xattr_names: u64,
        xattr_names_len: u32,
        xattr_value_max: u32,
        xattr_entry_max: u32,
        reserved: u32,
    }
}

structure! {
    /// `struct ringwalk_readdirplus`.
    Readdirplus, 80 {
        size: u32,
        flags: u32,
        fd: i32,
        len: u32,
        buf: u64,
        off: i64,
        max_entries: u32,
        entries: u32,
        result_flags: u32,
        reserved: u32,
        fields: Fields,
    }
}

structure! {
    /// `struct ringwalk_readtree`.
    Readtree, 88 {
        size: u32,
        flags: u32,
        fd: i32,
        len: u32,
        buf: u64,
        off: i64,
        max_entries: u32,
        max_depth: u32,
        max_ms: u32,
        entries: u32,
        groups: u32,
        result_flags: u32,
        fields: Fields,
    }
}

structure! {
    /// `struct ringwalk_group`.
    Group, 32 {
        reclen: u32,
        parent: u32,
        depth: u32,
        entries: u32,
        error: i32,
        flags: u32,
        reserved: u64,
    }
}

structure! {
    /// `struct ringwalk_entry`.
    Entry, 32 {
        d_ino: u64,
        d_off: u64,
        reclen: u32,
        xattr_len: u32,
        error: i32,
        name_len: u16,
        d_type: u8,
        flags: u8,
    }
}

structure! {
    /// `struct ringwalk_stat`.
    Stat, 80 {
        mask: u32,
        blksize: u32,
        attributes: u64,
        attributes_mask: u64,
        nlink: u32,
        uid: u32,
        gid: u32,
        mode: u16,
        reserved: u16,
        ino: u64,
        size: u64,
        blocks: u64,
        dev_major: u32,
        dev_minor: u32,
        rdev_major: u32,
        rdev_minor: u32,
    }
}

structure! {
    /// `struct ringwalk_time`.
    Time, 16 {
        sec: i64,
        nsec: u32,
        reserved: u32,
    }
}

/// `RINGWALK_IOC_TYPE`.
const IOC_TYPE: u8 = 0xd7;
/// `RINGWALK_IOC_INFO`.
pub const IOC_INFO: Opcode = opcode::none(IOC_TYPE, 0x00);
/// `RINGWALK_IOC_GETDENTS`.
pub const IOC_GETDENTS: Opcode = opcode::none(IOC_TYPE, 0x01);
/// `RINGWALK_IOC_READDIRPLUS`.
pub const IOC_READDIRPLUS: Opcode = opcode::none(IOC_TYPE, 0x02);
/// `RINGWALK_IOC_READTREE`.
pub const IOC_READTREE: Opcode = opcode::none(IOC_TYPE, 0x05);

/// Returns the bit of [`Info::commands`] for the command with this number.
pub const fn command_bit(number: Opcode) -> u32 {
    1 << (number & 0xff)
}
