//! System interfaces besides directories and metadata.
//!
//! | file | contents |
//! |---|---|
//! | `mounts.rs` | the table of mounts |
//! | `device.rs` | the block device of a file system |
//! | `filesystem.rs` | kinds of file systems: remote, rotational |
//! | `identity.rs` | how far device, inode number and time of birth identify a file |
//! | `privilege.rs` | privileges of this process |
//! | `write_back.rs` | how long changes may be in memory only |
//! | `time_stamps.rs` | how long a change can hide behind a time stamp |
//! | `at_hand.rs` | whether a call can be answered without a server (FUSE, network file systems) |

pub(crate) mod at_hand;
pub mod device;
pub(crate) mod filesystem;
pub mod identity;
pub mod mounts;
pub mod privilege;
pub mod time_stamps;
pub mod write_back;
