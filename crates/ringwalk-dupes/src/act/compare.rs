//! The comparison byte by byte.

use super::held::{Compared, Held};
use super::reason::Reason;
use ringwalk::Errno;
use ringwalk_hash::ends_at;
use rustix::fd::BorrowedFd;
use rustix::fs::{Advice, fadvise};
use rustix::io::pread;

/// Bytes that are compared at once. Between two pieces the leases are looked at, so a program that
/// wants to write waits for one piece.
const PIECE: usize = 1 << 20;

/// Memory for a piece of each file.
#[derive(Debug)]
pub(super) struct Comparison {
    one: Vec<u8>,
    other: Vec<u8>,
}

impl Comparison {
    pub(super) fn new() -> Self {
        Self {
            one: vec![0; PIECE],
            other: vec![0; PIECE],
        }
    }

    /// Fails if the contents differ, if a file is not the version that was seen, before or
    /// afterwards, or if somebody wants to write to one.
    pub(super) fn check(&mut self, keep: &Held, other: &Held) -> Result<(), Reason> {
        let check = || {
            keep.check(Compared::All).map_err(Reason::of_keep)?;
            other.check(Compared::All)
        };
        check()?;
        let size = keep.version().size;
        if size != other.version().size {
            return Err(Reason::Differs);
        }
        // Advice: a failure changes nothing.
        let _ = fadvise(keep.file(), 0, None, Advice::Sequential);
        let _ = fadvise(other.file(), 0, None, Advice::Sequential);
        let mut offset = 0;
        while offset < size {
            let piece = usize::try_from(size - offset).unwrap_or(PIECE).min(PIECE);
            let one = &mut self.one[..piece];
            let two = &mut self.other[..piece];
            read(keep.file(), one, offset).map_err(Reason::of_keep)?;
            read(other.file(), two, offset)?;
            keep.check_lease().map_err(Reason::of_keep)?;
            other.check_lease()?;
            if one != two {
                return Err(Reason::Differs);
            }
            offset += piece as u64;
        }
        // A FUSE server can report a size that is too small.
        check_end(keep).map_err(Reason::of_keep)?;
        check_end(other)?;
        check()
    }
}

/// Checks that a file ends where its size says.
fn check_end(file: &Held) -> Result<(), Reason> {
    let ends = ends_at(file.file(), file.version().size);
    if !ends.map_err(|errno| Reason::of("read", errno))? {
        file.check(Compared::All)?;
        return Err(Reason::FalseSize);
    }
    Ok(())
}

/// Fills a buffer.
fn read(file: BorrowedFd<'_>, buffer: &mut [u8], offset: u64) -> Result<(), Reason> {
    let mut done = 0;
    while done < buffer.len() {
        match pread(file, &mut buffer[done..], offset + done as u64) {
            // The file is shorter than before.
            Ok(0) => return Err(Reason::Changed),
            Ok(length) => done += length,
            Err(Errno::INTR) => {}
            Err(errno) => return Err(Reason::of("read", errno)),
        }
    }
    Ok(())
}
