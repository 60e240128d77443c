//! The submission entries for a read of a directory, built by [`opcode`](crate::opcode).

use io_uring::opcode::LinkTimeout;
use io_uring::{squeue, types};

use crate::module_device::{TreeBounds, What};
use crate::opcode::{Descriptor, DirectoryOpcodes, Getdents, ReadPlus, ReadPlusArgs, ReadTree};
use crate::readdirplus::PlusLayout;
use crate::uapi;

/// What the kernel reads besides the buffer. The module also writes to it. A request uses one of
/// the structures for arguments, and the others are zero.
#[derive(Debug, Default)]
pub(super) struct ReadArguments {
    names: uapi::Getdents,
    plus: uapi::Readdirplus,
    tree: uapi::Readtree,
    args: ReadPlusArgs,
    timeout: types::Timespec,
}

/// What a request returns.
#[derive(Clone, Copy, Debug)]
pub(super) enum Asked<'a> {
    /// The entries of a directory.
    Listing(&'a What),
    /// The entries of a directory and of those below it.
    Tree(&'a PlusLayout, TreeBounds),
}

/// A read: of which directory, what, and to where.
#[derive(Clone, Copy, Debug)]
pub(super) struct Read<'a> {
    pub(super) fd: types::Fd,
    pub(super) asked: Asked<'a>,
    pub(super) buf: *mut u8,
    pub(super) len: u32,
}

impl ReadArguments {
    /// Returns a submission entry for the device of the module.
    pub(super) fn command(
        &mut self,
        device: impl Descriptor,
        read: Read<'_>,
        inline: bool,
    ) -> squeue::Entry {
        *self = Self::default();
        let Read { fd, buf, len, .. } = read;
        match read.asked {
            Asked::Listing(What::Names) => {
                Getdents::new(fd, buf, len).command(device, inline, &mut self.names)
            }
            Asked::Listing(What::Plus(layout)) => {
                ReadPlus::new(fd, buf, len, layout).command(device, inline, &mut self.plus)
            }
            Asked::Tree(layout, bounds) => ReadTree::new(fd, buf, len, layout, bounds.depth)
                .milliseconds(bounds.milliseconds)
                .command(device, inline, &mut self.tree),
        }
    }

    /// Returns a submission entry for the operations of a patched kernel. With `whole` nobody uses
    /// the order or the cookies of the records.
    pub(super) fn operation(
        &mut self,
        opcodes: DirectoryOpcodes,
        read: Read<'_>,
        whole: bool,
    ) -> squeue::Entry {
        let Read { fd, buf, len, .. } = read;
        match read.asked {
            Asked::Listing(What::Names) => Getdents::new(fd, buf, len).build_for(opcodes),
            Asked::Listing(What::Plus(layout)) => ReadPlus::new(fd, buf, len, layout)
                .whole(whole)
                .build_for(opcodes, &mut self.args),
            Asked::Tree(layout, bounds) => ReadTree::new(fd, buf, len, layout, bounds.depth)
                .whole(whole)
                .build_for(opcodes, &mut self.args),
        }
    }

    /// Returns the entry that ends the request before it after so many milliseconds.
    pub(super) fn timeout(&mut self, milliseconds: u32) -> squeue::Entry {
        let time = std::time::Duration::from_millis(milliseconds.into());
        self.timeout = time.into();
        LinkTimeout::new(&raw const self.timeout).build()
    }

    /// Returns the result flags that the module has written.
    pub(super) fn result_flags(&self) -> u32 {
        self.names.result_flags | self.plus.result_flags | self.tree.result_flags
    }
}
