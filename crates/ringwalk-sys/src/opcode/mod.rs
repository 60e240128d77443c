//! Entries that read directories, for rings of the [`io-uring`](io_uring) crate: for those who own their ring.
//!
//! They are built as that crate's own are (`io_uring::opcode`), for either form of the kernel's side:
//!
//! | kernel | entry | how to know beforehand |
//! |---|---|---|
//! | has the operations (the patch series) | [`Getdents::build`], [`ReadPlus::build`] | [`DirectoryOpcodes::cached`] is `Some` |
//! | has the module loaded | [`Getdents::command`], [`ReadPlus::command`] | [`ModuleDevice::open`](crate::ModuleDevice::open) succeeds |
//!
//! The operations are not in mainline, so their numbers are nobody's yet: there is no `CODE`, and `build` asks the kernel
//! once. **A kernel without them answers `EINVAL`** to what `build` makes, which is also what a misaligned buffer or one that is too small
//! for the next record is answered; so ask first. Who has neither calls [`getdents64`](crate::getdents64) in a thread, as
//! [`DirectoryRing`](crate::DirectoryRing)'s users do.
//!
//! # What a completion says
//!
//! Bytes of records, and whether anything comes after: [`filled`] reads it from the completion of an operation,
//! [`filled_by_module`] from that of a command and its structure. The records are those of [`Dirents`](crate::Dirents) and
//! [`PlusEntries`](crate::PlusEntries). The errors are those of getdents(2), and `EINVAL` as above.
//!
//! # Safety
//!
//! Building an entry is safe, and so is dropping it. Pushing it is not: from
//! [`push`](io_uring::squeue::SubmissionQueue::push) until its completion has been taken from the ring, the kernel may
//!
//! - write to `len` bytes at `buf`: nobody else may look at them, and they may not be freed or moved;
//! - read the structure that `build` or `command` was given, and write to that of a command: the same holds for it;
//! - use the descriptors: the directory and the module's device must stay open (a registered file must stay registered until the entry
//!   is submitted).
//!
//! Dropping a future, a thread that ends, and a request to cancel end none of that: only the completion does, and it
//! comes for a request that was cancelled as well.
//!
//! Set up the ring with `setup_single_issuer` and `setup_defer_taskrun` (or `setup_coop_taskrun`) where the kernel has them: otherwise completions
//! interrupt reads that are under way, and cut them short. Two requests for one open directory may be in flight at once, each gets another piece
//! of it; but the pieces come in any order.
//!
//! # Example
//!
//! The names of a directory, if this kernel has the operation:
//!
//! ```
//! use std::os::fd::AsRawFd;
//! use ringwalk_sys::io_uring::{IoUring, types};
//! use ringwalk_sys::opcode::{DirectoryOpcodes, Getdents, filled};
//! use ringwalk_sys::Dirents;
//!
//! fn names(path: &str) -> std::io::Result<Option<Vec<String>>> {
//!     if DirectoryOpcodes::cached().is_none() {
//!         return Ok(None);
//!     }
//!     let dir = std::fs::File::open(path)?;
//!     let mut ring = IoUring::new(4)?;
//!     let mut buffer = vec![0; 32 * 1024];
//!     let mut names = Vec::new();
//!     loop {
//!         let read = Getdents::new(types::Fd(dir.as_raw_fd()), buffer.as_mut_ptr(), 32 * 1024).build();
//!         // SAFETY: `dir` and `buffer` are used by nobody until `submit_and_wait` has seen the only request completed.
//!         unsafe { ring.submission().push(&read) }.expect("an empty ring has room");
//!         while ring.submit_and_wait(1).is_err_and(|error| error.kind() == std::io::ErrorKind::Interrupted) {}
//!         let completion = ring.completion().next().expect("waited for");
//!         let read = filled(completion.result(), completion.flags())?;
//!         for entry in Dirents::new(&buffer[..read.bytes]) {
//!             names.push(entry.map_err(std::io::Error::other)?.name().to_string_lossy().into_owned());
//!         }
//!         if read.end {
//!             return Ok(Some(names));
//!         }
//!     }
//! }
//!
//! match names("/")? {
//!     Some(names) => assert!(names.iter().any(|name| name == ".")),
//!     None => println!("this kernel does not read directories on a ring"),
//! }
//! # std::io::Result::Ok(())
//! ```

mod numbers;
mod raw_entry;

use io_uring::{opcode, squeue, types};
use rustix::io::Errno;

use crate::module_device::Filled;
use crate::readdirplus::PlusLayout;
use crate::uapi;

pub use numbers::DirectoryOpcodes;
pub use raw_entry::Descriptor;
use raw_entry::{RawEntry, Target};

#[cfg(test)]
mod tests;

/// `IORING_CQE_F_DIR_END`, in the flags of a completion: nothing comes after.
const CQE_END: u32 = 1 << 8;

/// Reads names, as getdents64(2) does: records of [`Dirents`](crate::Dirents).
///
/// `D` is what names the directory: [`types::Fd`], or [`types::Fixed`] for the kernel's operation.
#[derive(Clone, Copy, Debug)]
#[must_use]
#[doc(alias = "IORING_OP_GETDENTS")]
pub struct Getdents<D> {
    fd: D,
    buf: *mut u8,
    len: u32,
    offset: i64,
}

impl<D: Descriptor> Getdents<D> {
    /// Up to `len` bytes of records of the directory `fd` to `buf`. Those that do not fit come with the next request. If not one does, that
    /// is `EINVAL`: 280 bytes are enough for any name.
    pub const fn new(fd: D, buf: *mut u8, len: u32) -> Self {
        Self {
            fd,
            buf,
            len,
            offset: uapi::OFF_CURRENT,
        }
    }

    /// From the position that this [cookie](crate::Dirent::cookie) of the same open directory says, or from the beginning with 0, where the
    /// position then is. Without it: from where the last read ended (-1).
    pub const fn offset(mut self, offset: i64) -> Self {
        self.offset = offset;
        self
    }

    /// The entry, with the number that the running kernel has for the operation ([`DirectoryOpcodes::cached`]). Its completion: [`filled`].
    pub fn build(self) -> squeue::Entry {
        self.build_for(DirectoryOpcodes::cached().unwrap_or(DirectoryOpcodes::NONE))
    }

    /// The entry, with a number that has been found before.
    pub fn build_for(self, opcodes: DirectoryOpcodes) -> squeue::Entry {
        RawEntry {
            off: self.offset,
            addr: self.buf as u64,
            len: self.len,
            ..RawEntry::new(opcodes.getdents, self.fd)
        }
        .into()
    }
}

impl Getdents<types::Fd> {
    /// The same as a command of the kernel module, whose `device` is open or registered. What is asked for is written to
    /// `request`, which the kernel reads and writes. Its completion: [`filled_by_module`].
    ///
    /// `inline`: in the thread that submits, even if it has to wait for the disk, which is best for what is cached; otherwise in one of the ring's worker threads.
    #[doc(alias = "RINGWALK_IOC_GETDENTS")]
    pub fn command(
        self,
        device: impl Descriptor,
        inline: bool,
        request: &mut uapi::Getdents,
    ) -> squeue::Entry {
        *request = self.request(inline);
        command(
            device,
            uapi::IOC_GETDENTS,
            std::ptr::from_mut(request) as u64,
        )
    }

    /// What the module is asked, by ioctl(2) as well.
    pub(crate) fn request(self, inline: bool) -> uapi::Getdents {
        uapi::Getdents {
            version: uapi::VERSION,
            flags: flags(inline),
            fd: self.fd.0,
            len: self.len,
            buf: self.buf as u64,
            off: self.offset,
            ..uapi::Getdents::default()
        }
    }
}

/// What the operation is asked besides place and size: `struct readdirplus_args`. Filled by [`ReadPlus::build`].
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[doc(alias = "readdirplus_args")]
pub struct ReadPlusArgs {
    flags: u32,
    max_entries: u32,
    fields: uapi::Fields,
}

const _: () = assert!(size_of::<ReadPlusArgs>() == 40);

/// Reads names with metadata: records of [`PlusEntries`](crate::PlusEntries), which need the same layout to be read. Links are not
/// followed, and extended attributes not asked for.
///
/// `D` is what names the directory: [`types::Fd`], or [`types::Fixed`] for the kernel's operation.
#[derive(Clone, Copy, Debug)]
#[must_use]
#[doc(alias = "IORING_OP_READDIRPLUS")]
pub struct ReadPlus<D> {
    place: Getdents<D>,
    mask: u32,
    max_entries: u32,
}

impl<D: Descriptor> ReadPlus<D> {
    /// Up to `len` bytes of records of the directory `fd` to `buf`, which must be a multiple of 8 (else `EINVAL`), with what the layout has room for. Of
    /// more than 1 MiB the rest is not used. If not one record fits, that is `EINVAL`: [`PlusLayout::record_size`] of 255 is enough for any.
    pub const fn new(fd: D, buf: *mut u8, len: u32, layout: &PlusLayout) -> Self {
        Self {
            place: Getdents::new(fd, buf, len),
            mask: layout.mask(),
            max_entries: 0,
        }
    }

    /// As [`Getdents::offset`].
    pub const fn offset(mut self, offset: i64) -> Self {
        self.place = self.place.offset(offset);
        self
    }

    /// At most so many records, `.` and `..` counted; 0, as without it: as many as fit.
    pub const fn max_entries(mut self, max_entries: u32) -> Self {
        self.max_entries = max_entries;
        self
    }

    /// The entry, with the number that the running kernel has for the operation ([`DirectoryOpcodes::cached`]). What is asked for is written to
    /// `args`, which the kernel reads. Its completion: [`filled`].
    pub fn build(self, args: &mut ReadPlusArgs) -> squeue::Entry {
        let opcodes = DirectoryOpcodes::cached().unwrap_or(DirectoryOpcodes::NONE);
        self.build_for(opcodes, args)
    }

    /// The entry, with a number that has been found before.
    pub fn build_for(self, opcodes: DirectoryOpcodes, args: &mut ReadPlusArgs) -> squeue::Entry {
        *args = ReadPlusArgs {
            max_entries: self.max_entries,
            fields: self.fields(),
            ..ReadPlusArgs::default()
        };
        RawEntry {
            off: self.place.offset,
            addr: self.place.buf as u64,
            len: self.place.len,
            addr3: std::ptr::from_mut(args) as u64,
            ..RawEntry::new(opcodes.readdirplus, self.place.fd)
        }
        .into()
    }

    fn fields(&self) -> uapi::Fields {
        uapi::Fields {
            mask: self.mask,
            ..uapi::Fields::default()
        }
    }
}

impl ReadPlus<types::Fd> {
    /// As [`Getdents::command`].
    #[doc(alias = "RINGWALK_IOC_READDIRPLUS")]
    pub fn command(
        self,
        device: impl Descriptor,
        inline: bool,
        request: &mut uapi::Readdirplus,
    ) -> squeue::Entry {
        *request = self.request(inline);
        let address = std::ptr::from_mut(request) as u64;
        command(device, uapi::IOC_READDIRPLUS, address)
    }

    /// What the module is asked, by ioctl(2) as well.
    pub(crate) fn request(self, inline: bool) -> uapi::Readdirplus {
        uapi::Readdirplus {
            version: uapi::VERSION,
            flags: flags(inline),
            fd: self.place.fd.0,
            len: self.place.len,
            buf: self.place.buf as u64,
            off: self.place.offset,
            max_entries: self.max_entries,
            fields: self.fields(),
            ..uapi::Readdirplus::default()
        }
    }
}

const fn flags(inline: bool) -> u32 {
    if inline { uapi::F_INLINE } else { 0 }
}

/// A command for the module's device: `struct ringwalk_sqe` names the structure.
fn command(device: impl Descriptor, command: u32, request: u64) -> squeue::Entry {
    let mut data = [0; 16];
    data[..8].copy_from_slice(&request.to_ne_bytes());
    match device.as_target() {
        Target::Fd(fd) => opcode::UringCmd16::new(fd, command).cmd(data).build(),
        Target::Fixed(place) => opcode::UringCmd16::new(place, command).cmd(data).build(),
    }
}

/// What the completion of [`Getdents::build`] or [`ReadPlus::build`] says, by its [`result`](io_uring::cqueue::Entry::result)
/// and its [`flags`](io_uring::cqueue::Entry::flags).
///
/// # Errors
///
/// Those of getdents(2); `EINVAL` for a kernel that does not have the operation; `ECANCELED`.
pub fn filled(result: i32, flags: u32) -> Result<Filled, Errno> {
    Filled::of(result, flags & CQE_END != 0)
}

/// What the completion of a [command](Getdents::command) says, by its [`result`](io_uring::cqueue::Entry::result) and the `result_flags` that are in
/// its structure then.
///
/// # Errors
///
/// As of [`filled`], and those of the device: `ENOTTY`, `EPERM`, `ENODEV`, `ENOMEM`.
pub fn filled_by_module(result: i32, result_flags: u32) -> Result<Filled, Errno> {
    Filled::of(result, result_flags & uapi::RESULT_END != 0)
}
