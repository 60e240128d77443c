//! How a read of a directory is put into a submission entry: for the module a command with a structure, for the kernel's own
//! operations an entry whose number is not known before a ring has been asked.

use std::os::fd::AsFd;

use io_uring::squeue;
use rustix::io::Errno;

use crate::module_device::{What, getdents, readdirplus};
use crate::probe::IoUring;
use crate::{DirectoryFd, uapi};

/// `IORING_FEAT_DIR`: the three highest operations are those for directories. Mainline does not use the bit.
const FEATURE: u32 = 1 << 30;

/// `IORING_CQE_F_DIR_END`, in the flags of a completion: nothing comes after.
const CQE_END: u32 = 1 << 8;

/// The last operation of mainline (`IORING_OP_URING_CMD128` of Linux 7.3) is number 64, of Linux 6.1 48: what reads directories
/// comes after the 48 of the oldest kernel that the patches are for.
const LEAST: u8 = 48;

/// `struct readdirplus_args`: what `addr3` of a READDIRPLUS entry points to.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
struct ReaddirplusArgs {
    flags: u32,
    max_entries: u32,
    fields: uapi::Fields,
}

const _: () = assert!(size_of::<ReaddirplusArgs>() == 40);

/// What the kernel reads, and for the module writes, besides the buffer.
#[derive(Debug, Default)]
pub(super) struct Request {
    module: ModuleRequest,
    args: ReaddirplusArgs,
}

#[derive(Debug)]
enum ModuleRequest {
    Names(uapi::Getdents),
    Plus(uapi::Readdirplus),
}

impl Default for ModuleRequest {
    fn default() -> Self {
        Self::Names(uapi::Getdents::default())
    }
}

impl Request {
    /// Sets up the structure for the module, and returns the command.
    pub(super) fn for_module(
        &mut self,
        fd: &DirectoryFd,
        what: &What,
        place: u64,
        len: u32,
        inline: bool,
    ) -> u32 {
        let fd = fd.as_fd();
        let (request, command) = match what {
            What::Names => (
                ModuleRequest::Names(getdents(fd, place, len, inline)),
                uapi::IOC_GETDENTS,
            ),
            What::Plus(layout) => (
                ModuleRequest::Plus(readdirplus(fd, layout, place, len, inline)),
                uapi::IOC_READDIRPLUS,
            ),
        };
        self.module = request;
        command
    }

    /// `struct ringwalk_sqe`, naming the structure.
    pub(super) fn command_data(&mut self) -> [u8; 16] {
        let address = match &mut self.module {
            ModuleRequest::Names(request) => std::ptr::from_mut(request) as u64,
            ModuleRequest::Plus(request) => std::ptr::from_mut(request) as u64,
        };
        let mut data = [0; 16];
        data[..8].copy_from_slice(&address.to_ne_bytes());
        data
    }

    /// What the module has written into it.
    pub(super) fn result_flags(&self) -> u32 {
        match &self.module {
            ModuleRequest::Names(request) => request.result_flags,
            ModuleRequest::Plus(request) => request.result_flags,
        }
    }
}

/// Numbers of the operations that read directories.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DirectoryOpcodes {
    /// Names.
    pub getdents: u8,
    /// Names and metadata.
    pub readdirplus: u8,
    /// Inodes brought in.
    pub readahead: u8,
}

impl DirectoryOpcodes {
    /// Asks a ring. `None`: this kernel does not have them.
    ///
    /// # Errors
    ///
    /// Those of [`IoUring::probe`].
    pub fn probe() -> Result<Option<Self>, Errno> {
        IoUring::probe().map(|ring| Self::of(&ring))
    }

    /// The operations of a kernel that has answered. Not told by version or number alone: a bit says that they are there, and they are the last.
    pub fn of(ring: &IoUring) -> Option<Self> {
        let last = ring.last_operation();
        let found = Self {
            getdents: last.checked_sub(2)?,
            readdirplus: last.checked_sub(1)?,
            readahead: last,
        };
        let performed = |operation| ring.supports(operation);
        let all = [found.getdents, found.readdirplus, found.readahead];
        (ring.features() & FEATURE != 0 && found.getdents > LEAST && all.into_iter().all(performed))
            .then_some(found)
    }

    /// An entry for a read of `fd` into `len` bytes at the address `place`.
    pub(super) fn entry(
        self,
        request: &mut Request,
        fd: i32,
        what: &What,
        place: u64,
        len: u32,
    ) -> squeue::Entry {
        let (opcode, addr3) = match what {
            What::Names => (self.getdents, 0),
            What::Plus(layout) => {
                request.args = ReaddirplusArgs {
                    fields: uapi::Fields {
                        mask: layout.mask(),
                        ..uapi::Fields::default()
                    },
                    ..ReaddirplusArgs::default()
                };
                (
                    self.readdirplus,
                    std::ptr::from_mut(&mut request.args) as u64,
                )
            }
        };
        RawEntry {
            opcode,
            fd,
            off: uapi::OFF_CURRENT,
            addr: place,
            len,
            addr3,
            ..RawEntry::default()
        }
        .into()
    }

    /// Whether a completion with these flags is a directory's last.
    pub(super) fn has_ended(flags: u32) -> bool {
        flags & CQE_END != 0
    }
}

/// `struct io_uring_sqe` (`include/uapi/linux/io_uring.h`), for operations that the `io-uring` crate cannot name.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
struct RawEntry {
    opcode: u8,
    flags: u8,
    ioprio: u16,
    fd: i32,
    off: i64,
    addr: u64,
    len: u32,
    op_flags: u32,
    user_data: u64,
    buf_index: u16,
    personality: u16,
    file_index: u32,
    addr3: u64,
    pad: u64,
}

const _: () = assert!(
    size_of::<RawEntry>() == 64
        && size_of::<squeue::Entry>() == 64
        && align_of::<squeue::Entry>() == align_of::<RawEntry>()
        && std::mem::offset_of!(RawEntry, addr3) == 48
);

impl From<RawEntry> for squeue::Entry {
    fn from(entry: RawEntry) -> Self {
        // SAFETY: `Entry` is a transparent-in-effect `repr(C)` wrapper of the kernel's structure, of which `RawEntry` is
        // another declaration; same size (asserted), and all of it integers, for which any bytes are valid.
        unsafe { std::mem::transmute(entry) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::readdirplus::PlusLayout;

    #[test]
    fn an_entry_has_everything_in_its_place() {
        let opcodes = DirectoryOpcodes {
            getdents: 58,
            readdirplus: 59,
            readahead: 60,
        };
        let mut request = Request::default();
        let entry = opcodes.entry(&mut request, 7, &What::Names, 0x1000, 512);
        assert_eq!(entry.get_opcode(), 58);
        let entry = entry.user_data(99);
        assert_eq!(entry.get_user_data(), 99);
        // SAFETY: as above, the other way round.
        let raw: RawEntry = unsafe { std::mem::transmute(entry) };
        assert_eq!((raw.fd, raw.off, raw.addr, raw.len), (7, -1, 0x1000, 512));
        assert_eq!((raw.addr3, raw.user_data, raw.flags), (0, 99, 0));
        let plus = What::Plus(PlusLayout::new(0x200));
        let entry = opcodes.entry(&mut request, 7, &plus, 0x1000, 512);
        assert_eq!(entry.get_opcode(), 59);
        // SAFETY: as above.
        let raw: RawEntry = unsafe { std::mem::transmute(entry) };
        assert_eq!(raw.addr3, std::ptr::from_ref(&request.args) as u64);
        assert_eq!(request.args.fields.mask, 0x200);
    }

    #[test]
    fn a_mainline_kernel_is_not_taken_for_a_patched_one() {
        if let Ok(ring) = IoUring::probe() {
            let found = DirectoryOpcodes::of(&ring);
            assert_eq!(found.is_some(), ring.features() & FEATURE != 0);
        }
    }
}
