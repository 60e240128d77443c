//! What a read of a directory on a ring names besides the buffer: the entries are those of [`opcode`](crate::opcode).

use io_uring::{squeue, types};

use crate::module_device::What;
use crate::opcode::{Descriptor, DirectoryOpcodes, Getdents, ReadPlus, ReadPlusArgs};
use crate::uapi;

/// What the kernel reads, and for the module writes. One of these is used by a request, and the others are zero.
#[derive(Debug, Default)]
pub(super) struct Request {
    names: uapi::Getdents,
    plus: uapi::Readdirplus,
    args: ReadPlusArgs,
}

/// What is read, and where to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Read<'a> {
    pub(super) fd: types::Fd,
    pub(super) what: &'a What,
    pub(super) buf: *mut u8,
    pub(super) len: u32,
}

impl Request {
    /// An entry for the module's device.
    pub(super) fn command(
        &mut self,
        device: impl Descriptor,
        read: Read<'_>,
        inline: bool,
    ) -> squeue::Entry {
        *self = Self::default();
        let Read { fd, buf, len, .. } = read;
        match read.what {
            What::Names => Getdents::new(fd, buf, len).command(device, inline, &mut self.names),
            What::Plus(layout) => {
                ReadPlus::new(fd, buf, len, layout).command(device, inline, &mut self.plus)
            }
        }
    }

    /// An entry for the kernel's own operations.
    pub(super) fn operation(&mut self, opcodes: DirectoryOpcodes, read: Read<'_>) -> squeue::Entry {
        let Read { fd, buf, len, .. } = read;
        match read.what {
            What::Names => Getdents::new(fd, buf, len).build_for(opcodes),
            What::Plus(layout) => {
                ReadPlus::new(fd, buf, len, layout).build_for(opcodes, &mut self.args)
            }
        }
    }

    /// What the module has written into it.
    pub(super) fn result_flags(&self) -> u32 {
        self.names.result_flags | self.plus.result_flags
    }
}
