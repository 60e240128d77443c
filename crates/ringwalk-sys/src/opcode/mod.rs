//! Submission entries that read directories, for programs with a ring of the [`io-uring`](io_uring)
//! crate of their own.
//!
//! They are built like that crate's own (`io_uring::opcode`), for a patched kernel and for the
//! kernel module:
//!
//! | kernel | entry | how to find out |
//! |---|---|---|
//! | patched (the patch series) | [`Getdents::build`], [`ReadPlus::build`] | [`DirectoryOpcodes::cached`] has it |
//! | with the module loaded | [`Getdents::command`], [`ReadPlus::command`], [`ReadTree::command`] | [`ModuleDevice::open`](crate::ModuleDevice::open) succeeds |
//!
//! Mainline does not have the operations, so no number is reserved for them: there is no `CODE`.
//! A patched kernel lists their numbers in a file, and `build` reads that once
//! ([`DirectoryOpcodes`]). No operation is ever tried, because mainline gives the same numbers to
//! others. **For a kernel without the operation, `build` returns an entry that the kernel refuses
//! with `EINVAL`.** The kernel answers the same for a misaligned buffer, and for one that is too
//! small for the next record. So find out first. A program with neither form calls
//! [`getdents64`](crate::getdents64) in a thread, as users of
//! [`DirectoryRing`](crate::DirectoryRing) do.
//!
//! # Completions
//!
//! A completion holds the bytes of records, and whether more entries follow. [`filled`] decodes the
//! completion of an operation, [`filled_by_module`] the completion of a command and its structure.
//! [`Dirents`](crate::Dirents) and [`PlusEntries`](crate::PlusEntries) read the records,
//! [`TreeGroup`](crate::TreeGroup) the groups of records that [`ReadTree`] returns. The errors are
//! the errors of getdents(2), and `EINVAL` as above.
//!
//! # Safety
//!
//! Building an entry is safe, and so is dropping it. Pushing it is not. From
//! [`push`](io_uring::squeue::SubmissionQueue::push) until the completion has been taken from the
//! ring, the kernel may
//!
//! - write to `len` bytes at `buf`: nobody else may read them, and they may not be freed or moved;
//! - read the structure that `build` or `command` was given, and write to that of a command: the
//!   same holds for it;
//! - use the descriptors: the directory and the module's device must stay open (a registered file
//!   must stay registered until the entry is submitted).
//!
//! Dropping a future, the end of a thread, and a request to cancel end none of that. Only the
//! completion does, and a cancelled request has one as well.
//!
//! Set up the ring with `setup_single_issuer` and `setup_defer_taskrun` (or `setup_coop_taskrun`)
//! where the kernel has them. Otherwise completions interrupt reads in progress and cut them short.
//! Two requests for one open directory may be in flight at once. Each gets another part of the
//! directory, in any order.
//!
//! # Example
//!
//! This returns the names of a directory, if the kernel has the operation:
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
//!         let fd = types::Fd(dir.as_raw_fd());
//!         let read = Getdents::new(fd, buffer.as_mut_ptr(), 32 * 1024).build();
//!         // SAFETY: nothing uses `dir` and `buffer` until the only request has completed.
//!         unsafe { ring.submission().push(&read) }.expect("an empty ring has room");
//!         while let Err(error) = ring.submit_and_wait(1) {
//!             assert_eq!(error.kind(), std::io::ErrorKind::Interrupted, "the ring fails");
//!         }
//!         let completion = ring.completion().next().expect("waited for");
//!         let read = filled(completion.result(), completion.flags())?;
//!         for entry in Dirents::new(&buffer[..read.bytes]) {
//!             let entry = entry.map_err(std::io::Error::other)?;
//!             names.push(entry.name().to_string_lossy().into_owned());
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
mod read_tree;

use io_uring::{opcode, squeue, types};
use rustix::io::Errno;

use crate::module_device::Filled;
use crate::readdirplus::PlusLayout;
use crate::uapi;

pub use numbers::DirectoryOpcodes;
use numbers::REFUSED;
pub use raw_entry::Descriptor;
use raw_entry::{FileTarget, RawEntry};
pub use read_tree::ReadTree;

#[cfg(test)]
mod tests;

/// `IORING_CQE_F_DIR_END`, in the flags of a completion: no more entries follow.
const CQE_END: u32 = 1 << 8;

/// Reads names, as getdents64(2) does: records of [`Dirents`](crate::Dirents).
///
/// `D` names the directory: [`types::Fd`], or [`types::Fixed`] for the operation of a patched
/// kernel.
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
    /// Reads up to `len` bytes of records of the directory `fd` into `buf`. Records that do not fit
    /// come with the next request. If no record fits, the kernel answers `EINVAL`: 280 bytes are
    /// enough for any name.
    pub const fn new(fd: D, buf: *mut u8, len: u32) -> Self {
        Self {
            fd,
            buf,
            len,
            offset: uapi::OFF_CURRENT,
        }
    }

    /// Reads from the position of this [cookie](crate::Dirent::cookie) of the same open directory,
    /// or from the beginning with 0. Without this call the read begins where the last one ended
    /// (-1).
    pub const fn offset(mut self, offset: i64) -> Self {
        self.offset = offset;
        self
    }

    /// Returns the entry, with the number of the operation in the running kernel
    /// ([`DirectoryOpcodes::cached`]). [`filled`] decodes its completion.
    pub fn build(self) -> squeue::Entry {
        self.build_for(DirectoryOpcodes::of_kernel())
    }

    /// Returns the entry, with a number of the operation that is known already.
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
    /// Returns the entry as a command of the kernel module, whose `device` is open or registered.
    /// Writes the arguments to `request`, which the kernel reads and writes. [`filled_by_module`]
    /// decodes its completion.
    ///
    /// With `inline` the thread that submits does the read, even if it has to wait for the disk:
    /// best for a directory in the page cache. Otherwise one of the ring's worker threads does it.
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

    /// Returns the arguments of the module's command, for ioctl(2) as well.
    pub(crate) fn request(self, inline: bool) -> uapi::Getdents {
        uapi::Getdents {
            size: uapi::Getdents::SIZE,
            flags: flags(inline),
            fd: self.fd.0,
            len: self.len,
            buf: self.buf as u64,
            off: self.offset,
            ..uapi::Getdents::default()
        }
    }
}

/// Arguments of the operation besides address and size: `struct readdirplus_args`.
/// [`ReadPlus::build`] fills it.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[doc(alias = "readdirplus_args")]
pub struct ReadPlusArgs {
    flags: u32,
    max_entries: u32,
    mask: u32,
    stat_flags: u32,
    xattr_names: u64,
    xattr_names_len: u32,
    xattr_value_max: u32,
    xattr_entry_max: u32,
    reserved: u32,
}

const _: () = assert!(size_of::<ReadPlusArgs>() == 40);

/// Reads names with metadata: records of [`PlusEntries`](crate::PlusEntries), which need the same
/// layout to be read. Does not follow links, and asks for no extended attributes.
///
/// `D` names the directory: [`types::Fd`], or [`types::Fixed`] for the operation of a patched
/// kernel.
#[derive(Clone, Copy, Debug)]
#[must_use]
#[doc(alias = "IORING_OP_READDIRPLUS")]
pub struct ReadPlus<D> {
    place: Getdents<D>,
    mask: u32,
    max_entries: u32,
}

impl<D: Descriptor> ReadPlus<D> {
    /// Reads up to `len` bytes of records of the directory `fd` into `buf`, with the fields of
    /// `layout`. `buf` must be a multiple of 8 (else `EINVAL`). The kernel uses at most 1 MiB of
    /// it. If no record fits, the kernel answers `EINVAL`: [`PlusLayout::record_size`] of 255 is
    /// enough for any.
    pub const fn new(fd: D, buf: *mut u8, len: u32, layout: &PlusLayout) -> Self {
        Self {
            place: Getdents::new(fd, buf, len),
            mask: layout.mask(),
            max_entries: 0,
        }
    }

    /// Sets the position, as [`Getdents::offset`] does.
    pub const fn offset(mut self, offset: i64) -> Self {
        self.place = self.place.offset(offset);
        self
    }

    /// Reads at most this many records, `.` and `..` counted. With 0, or without this call: as many
    /// as fit.
    pub const fn max_entries(mut self, max_entries: u32) -> Self {
        self.max_entries = max_entries;
        self
    }

    /// Returns the entry, with the number of the operation in the running kernel
    /// ([`DirectoryOpcodes::cached`]). Writes the arguments to `args`, which the kernel reads.
    /// [`filled`] decodes its completion.
    pub fn build(self, args: &mut ReadPlusArgs) -> squeue::Entry {
        self.build_for(DirectoryOpcodes::of_kernel(), args)
    }

    /// Returns the entry, with a number of the operation that is known already.
    pub fn build_for(self, opcodes: DirectoryOpcodes, args: &mut ReadPlusArgs) -> squeue::Entry {
        *args = ReadPlusArgs {
            max_entries: self.max_entries,
            mask: self.mask,
            ..ReadPlusArgs::default()
        };
        RawEntry {
            off: self.place.offset,
            addr: self.place.buf as u64,
            len: self.place.len,
            addr3: std::ptr::from_mut(args) as u64,
            ..RawEntry::new(opcodes.readdirplus.unwrap_or(REFUSED), self.place.fd)
        }
        .into()
    }
}

impl ReadPlus<types::Fd> {
    /// Returns the entry as a command of the kernel module, as [`Getdents::command`] does.
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

    /// Returns the arguments of the module's command, for ioctl(2) as well.
    pub(crate) fn request(self, inline: bool) -> uapi::Readdirplus {
        uapi::Readdirplus {
            size: uapi::Readdirplus::SIZE,
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

    fn fields(&self) -> uapi::Fields {
        uapi::Fields {
            mask: self.mask,
            ..uapi::Fields::default()
        }
    }
}

const fn flags(inline: bool) -> u32 {
    if inline { uapi::F_INLINE } else { 0 }
}

/// Returns a command for the module's device: `struct ringwalk_sqe` names the structure.
fn command(device: impl Descriptor, command: u32, request: u64) -> squeue::Entry {
    let mut data = [0; 16];
    data[..8].copy_from_slice(&request.to_ne_bytes());
    match device.as_target() {
        FileTarget::Fd(fd) => opcode::UringCmd16::new(fd, command).cmd(data).build(),
        FileTarget::Fixed(place) => opcode::UringCmd16::new(place, command).cmd(data).build(),
    }
}

/// Decodes the completion of [`Getdents::build`] or [`ReadPlus::build`] from its
/// [`result`](io_uring::cqueue::Entry::result) and its [`flags`](io_uring::cqueue::Entry::flags).
///
/// # Errors
///
/// The errors of getdents(2); `EINVAL` for a kernel that does not have the operation; `ECANCELED`.
pub fn filled(result: i32, flags: u32) -> Result<Filled, Errno> {
    Filled::of(result, flags & CQE_END != 0)
}

/// Decodes the completion of a [command](Getdents::command) from its
/// [`result`](io_uring::cqueue::Entry::result) and the `result_flags` of its structure.
///
/// # Errors
///
/// As [`filled`], and the errors of the device: `ENOTTY`, `EPERM`, `ENODEV`, `ENOMEM`.
pub fn filled_by_module(result: i32, result_flags: u32) -> Result<Filled, Errno> {
    Filled::of(result, result_flags & uapi::RESULT_END != 0)
}
