//! A submission entry as the kernel declares it. The `io-uring` crate cannot express the operations
//! of this module.

use io_uring::{squeue, types};

/// `struct io_uring_sqe` (`include/uapi/linux/io_uring.h`).
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct RawEntry {
    pub(super) opcode: u8,
    pub(super) flags: u8,
    pub(super) ioprio: u16,
    pub(super) fd: i32,
    pub(super) off: i64,
    pub(super) addr: u64,
    pub(super) len: u32,
    pub(super) op_flags: u32,
    pub(super) user_data: u64,
    pub(super) buf_index: u16,
    pub(super) personality: u16,
    /// For READDIRPLUS `readdirplus_size`: 0 stands for the first version of its structure.
    pub(super) file_index: u32,
    pub(super) addr3: u64,
    pub(super) pad: u64,
}

const _: () = assert!(
    size_of::<RawEntry>() == 64
        && size_of::<squeue::Entry>() == 64
        && align_of::<squeue::Entry>() == align_of::<RawEntry>()
        && std::mem::offset_of!(RawEntry, addr3) == 48
);

impl From<RawEntry> for squeue::Entry {
    fn from(entry: RawEntry) -> Self {
        // SAFETY: `Entry` is a transparent-in-effect `repr(C)` wrapper of the kernel's structure,
        // of which `RawEntry` is another declaration; same size (asserted), and all of it integers,
        // for which any bytes are valid.
        unsafe { std::mem::transmute(entry) }
    }
}

#[cfg(test)]
impl From<squeue::Entry> for RawEntry {
    fn from(entry: squeue::Entry) -> Self {
        // SAFETY: as above, the other way round; every entry of the tests has been zeroed before it
        // was filled.
        unsafe { std::mem::transmute(entry) }
    }
}

mod sealed {
    pub trait Sealed {}
}

/// What names an open file in an entry: [`types::Fd`], a descriptor, or [`types::Fixed`], the index
/// of a file that is registered with the ring.
pub trait Descriptor: sealed::Sealed + Copy {
    #[doc(hidden)]
    fn as_target(self) -> FileTarget;
}

#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub enum FileTarget {
    Fd(types::Fd),
    Fixed(types::Fixed),
}

impl sealed::Sealed for types::Fd {}
impl Descriptor for types::Fd {
    fn as_target(self) -> FileTarget {
        FileTarget::Fd(self)
    }
}

impl sealed::Sealed for types::Fixed {}
impl Descriptor for types::Fixed {
    fn as_target(self) -> FileTarget {
        FileTarget::Fixed(self)
    }
}

impl RawEntry {
    /// Returns an entry of this operation on this file.
    pub(super) fn new(opcode: u8, file: impl Descriptor) -> Self {
        let (fd, flags) = match file.as_target() {
            FileTarget::Fd(fd) => (fd.0, squeue::Flags::empty()),
            FileTarget::Fixed(place) => (place.0.cast_signed(), squeue::Flags::FIXED_FILE),
        };
        Self {
            opcode,
            flags: flags.bits(),
            fd,
            ..Self::default()
        }
    }
}
