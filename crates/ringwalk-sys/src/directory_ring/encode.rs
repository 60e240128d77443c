//! The submission entries for a read of a directory, built by [`opcode`](crate::opcode).

use io_uring::{squeue, types};

use crate::module_device::What;
use crate::opcode::{Descriptor, DirectoryOpcodes, Getdents, ReadPlus, ReadPlusArgs};
use crate::uapi;

/// What the kernel reads besides the buffer. The module also writes to it. A request uses one of
/// the structures, and the others are zero.
#[derive(Debug, Default)]
pub(super) struct ReadArguments {
    names: uapi::Getdents,
    plus: uapi::Readdirplus,
    args: ReadPlusArgs,
}

/// A read: the directory, what to read, and the destination.
#[derive(Clone, Copy, Debug)]
pub(super) struct Read<'a> {
    pub(super) fd: types::Fd,
    pub(super) what: &'a What,
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
        let Read { fd, what, buf, len } = read;
        match what {
            What::Names => Getdents::new(fd, buf, len).command(device, inline, &mut self.names),
            What::Plus(layout) => {
                ReadPlus::new(fd, buf, len, layout).command(device, inline, &mut self.plus)
            }
        }
    }

    /// Returns a submission entry for the operations of a patched kernel.
    pub(super) fn operation(&mut self, opcodes: DirectoryOpcodes, read: Read<'_>) -> squeue::Entry {
        let Read { fd, what, buf, len } = read;
        match what {
            What::Names => Getdents::new(fd, buf, len).build_for(opcodes),
            What::Plus(layout) => {
                ReadPlus::new(fd, buf, len, layout).build_for(opcodes, &mut self.args)
            }
        }
    }

    /// Returns the result flags that the module has written.
    pub(super) fn result_flags(&self) -> u32 {
        self.names.result_flags | self.plus.result_flags
    }
}
