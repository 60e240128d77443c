//! The command of the kernel module that reads whole trees.

use io_uring::{squeue, types};

use super::{Descriptor, Getdents, ReadPlus, command, flags};
use crate::readdirplus::PlusLayout;
use crate::uapi;

/// Reads a directory and those below it: groups of records ([`TreeGroup`](crate::TreeGroup)), one
/// group for each directory. The records are the same as for [`ReadPlus`].
///
/// The first group belongs to the directory `fd`. Each other group is complete, and names the
/// record of its directory by its place in the buffer. Directories without a group are left to the
/// caller. They did not fit, something is mounted on them, or a bound of the request was reached.
/// [`Filled::end`](crate::Filled::end) is about `fd` itself: if it is false, the next request goes
/// on there. The mount of `fd` is never left, and no link is followed.
///
/// A patched kernel has no operation for this.
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct ReadTree {
    plus: ReadPlus<types::Fd>,
    max_depth: u32,
    milliseconds: u32,
}

impl ReadTree {
    /// Reads up to `len` bytes of groups of the directory `fd`, and of `max_depth` levels of
    /// directories below it, into `buf`. With a depth of 0 it reads `fd` alone. `layout` must have
    /// a field and `buf` must be a multiple of 8, else the kernel answers `EINVAL`. It uses at most
    /// 1 MiB of `buf`. If no record of `fd` fits, the kernel answers `EINVAL`, too: a
    /// [`uapi::Group`] and a record with a name of 255 bytes ([`PlusLayout::record_size`]) are
    /// enough for any.
    pub const fn new(
        fd: types::Fd,
        buf: *mut u8,
        len: u32,
        layout: &PlusLayout,
        max_depth: u32,
    ) -> Self {
        Self {
            plus: ReadPlus::new(fd, buf, len, layout),
            max_depth,
            milliseconds: 0,
        }
    }

    /// Sets the position in `fd`, as [`Getdents::offset`] does.
    pub const fn offset(mut self, offset: i64) -> Self {
        self.plus = self.plus.offset(offset);
        self
    }

    /// Reads at most this many records in all groups together. With 0, or without this call: as
    /// many as fit.
    pub const fn max_entries(mut self, max_entries: u32) -> Self {
        self.plus = self.plus.max_entries(max_entries);
        self
    }

    /// Opens no more directories after so many milliseconds. With 0, or without this call: no
    /// bound.
    pub const fn milliseconds(mut self, milliseconds: u32) -> Self {
        self.milliseconds = milliseconds;
        self
    }

    /// Returns the entry as a command of the kernel module, as [`Getdents::command`] does.
    #[doc(alias = "RINGWALK_IOC_READTREE")]
    pub fn command(
        self,
        device: impl Descriptor,
        inline: bool,
        request: &mut uapi::Readtree,
    ) -> squeue::Entry {
        *request = self.request(inline);
        let address = std::ptr::from_mut(request) as u64;
        command(device, uapi::IOC_READTREE, address)
    }

    /// Returns the arguments of the module's command, for ioctl(2) as well.
    pub(crate) fn request(self, inline: bool) -> uapi::Readtree {
        let Getdents {
            fd,
            buf,
            len,
            offset,
        } = self.plus.place;
        uapi::Readtree {
            size: uapi::Readtree::SIZE,
            flags: flags(inline),
            fd: fd.0,
            len,
            buf: buf as u64,
            off: offset,
            max_entries: self.plus.max_entries,
            max_depth: self.max_depth,
            max_ms: self.milliseconds,
            fields: self.plus.fields(),
            ..uapi::Readtree::default()
        }
    }
}
