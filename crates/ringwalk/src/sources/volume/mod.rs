//! File systems read past the VFS, by inode number.
//!
//! A [`Volume`] is one mounted file system. Each worker has a [`Reader`] of it, which answers at
//! once: from the page cache of a block device, or by an ioctl. A worker asks the reader for a
//! directory's entries and for the metadata of a batch. System calls read directories that the
//! reader refuses, and entries that it leaves [`Known::Nothing`](crate::sources::raw_batch::Known).
//! So a reader refuses whatever it is not sure of, and no answer becomes wrong.
//!
//! | file | contents |
//! |---|---|
//! | `reader.rs` | the traits of a volume and of its readers, and why they decline |
//! | `open_mount.rs` | an open mount: the facts that hold for all files of a volume |
//! | `routing.rs` | decides from which volume each directory of a walk is read |
//! | `mounted_volumes.rs` | finds the volume of each root of a walk |
//! | `copy_memory.rs` | the memory that a walk may hold in copies of large directories |
//! | `covered.rs` | entries that are mount points |

mod copy_memory;
mod covered;
mod mounted_volumes;
mod open_mount;
mod reader;
mod routing;

pub(crate) use copy_memory::{CopyMemory, DirectoryCopy, Share};
pub(crate) use covered::Covered;
pub(crate) use mounted_volumes::{MountedVolumes, open_root};
pub(crate) use open_mount::{OpenMount, now as seconds_now, read_mounts};
pub(crate) use reader::{DirectoryKey, Position, Reader, Refused, Volume, listed_type};
pub(crate) use routing::VolumeRouting;

#[cfg(test)]
mod tests;
