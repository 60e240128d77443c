//! Finds out by a trial whether an operation reads directories.
//!
//! Mainline gives the numbers of the patches' operations to others. A number, a count of operations
//! or a kernel version therefore proves nothing. The trial submits one entry and compares the
//! records with those of getdents64(2).
//!
//! The entry is one that every other operation refuses when it is submitted, so that the trial has
//! no effect on a kernel without the patches. These are the operations of Linux 6.1 to 7.3 that can
//! be tried, and the check of theirs that the entry fails (`io_uring/*.c`, the functions
//! `io_*_prep`):
//!
//! | field of the entry | refused by |
//! |---|---|
//! | `addr` is set | `WAITID`, `FIXED_FD_INSTALL`, `FTRUNCATE`, `LISTEN` |
//! | `len` is set | `FUTEX_WAIT`, `FUTEX_WAKE`, `BIND` |
//! | `off` is set | `FUTEX_WAITV`, `RECV_ZC`, `EPOLL_WAIT`, `PIPE` |
//! | `len` is over 1024, the most segments of a vector (`UIO_MAXIOV`) | `READV_FIXED`, `WRITEV_FIXED` |
//! | no group of buffers | `READ_MULTISHOT` |
//! | the entry has 64 bytes | `NOP128`, `URING_CMD128` |
//!
//! Operations up to number 48 are those of Linux 6.1 and are never tried.

use std::fs::File;
use std::os::fd::AsRawFd;

use io_uring::{IoUring, types};
use rustix::io::Errno;

use super::numbers::DirectoryOpcodes;
use super::{Getdents, filled};
use crate::getdents64;

/// Size of the buffer. More than `UIO_MAXIOV`, see the table above.
const LEN: u32 = 4096;
/// A directory that changes during a trial is read again, as often as this.
const ATTEMPTS: usize = 3;

/// Returns whether this number is that of the operation `GETDENTS`.
///
/// # Errors
///
/// Why the trial could not be made: no directory can be read, or no ring can be set up.
pub(super) fn reads_directories(opcodes: DirectoryOpcodes) -> Result<bool, Errno> {
    for _ in 0..ATTEMPTS {
        let before = by_system_call()?;
        match by_operation(opcodes)? {
            Ok(records) if records == before => return Ok(true),
            Err(Errno::INTR | Errno::AGAIN | Errno::CANCELED) => {}
            Err(_) => return Ok(false),
            Ok(_) if by_system_call()? == before => return Ok(false),
            Ok(_) => {}
        }
    }
    Ok(false)
}

/// Opens a directory that most processes may read.
fn open() -> Result<File, Errno> {
    File::open("/")
        .or_else(|_| File::open("."))
        .map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))
}

fn by_system_call() -> Result<Vec<u8>, Errno> {
    let mut records = vec![0; LEN as usize];
    let filled = getdents64(open()?, &mut records)?;
    records.truncate(filled);
    Ok(records)
}

/// Returns what the operation answers; an error if it cannot be submitted.
fn by_operation(opcodes: DirectoryOpcodes) -> Result<Result<Vec<u8>, Errno>, Errno> {
    let of_io = |error: &std::io::Error| Errno::from_io_error(error).unwrap_or(Errno::IO);
    let directory = open()?;
    let mut records = vec![0; LEN as usize];
    let mut ring = IoUring::new(1).map_err(|error| of_io(&error))?;
    let fd = types::Fd(directory.as_raw_fd());
    let entry = Getdents::new(fd, records.as_mut_ptr(), LEN).build_for(opcodes);
    // SAFETY: nothing uses `directory` and `records` until the only request has completed. If it
    // is unknown whether it has, both are never freed.
    unsafe { ring.submission().push(&entry) }.expect("an empty ring has room");
    let completion = loop {
        match ring.submit_and_wait(1) {
            Ok(_) => {
                if let Some(completion) = ring.completion().next() {
                    break completion;
                }
            }
            Err(error) if of_io(&error) == Errno::INTR => {}
            Err(error) => {
                std::mem::forget((directory, records));
                return Err(of_io(&error));
            }
        }
    };
    Ok(
        filled(completion.result(), completion.flags()).map(|filled| {
            records.truncate(filled.bytes);
            records
        }),
    )
}
