//! One request by itself, after the read that it was merged into failed: a bad block must not fail
//! its neighbours.

use std::fs::File;
use std::io;

use ringwalk_sys::PageBuffer;
use ringwalk_sys::rustix::io::Errno;

use super::Request;
use super::drive::{SECTOR, pread, slice_of};

/// Reads requests one at a time, with `pread`.
#[derive(Debug, Default)]
pub(super) struct Alone {
    /// Memory aligned for `O_DIRECT`, as long as the longest request so far.
    spare: Option<PageBuffer>,
}

impl Alone {
    /// Returns the bytes of `request`. `direct` says that the file was opened with `O_DIRECT`.
    ///
    /// # Errors
    ///
    /// The errors of the request: `UnexpectedEof` past the end of the file.
    pub(super) fn read(
        &mut self,
        file: &File,
        request: Request,
        direct: bool,
    ) -> io::Result<&[u8]> {
        let Request { offset, len, .. } = request;
        if len == 0 {
            return Ok(&[]);
        }
        let wanted = len as usize;
        let spare = match self.spare.take() {
            Some(spare) if spare.size() >= wanted => spare,
            _ => PageBuffer::new(wanted)?,
        };
        let bytes = &mut self.spare.insert(spare)[..wanted];
        let mut got = 0;
        while got < wanted {
            match pread(file, &mut bytes[got..], offset + got as u64) {
                Err(Errno::INTR) => {}
                // The file ends inside of a logical block, so the rest of a direct read would not
                // begin at one.
                Err(Errno::INVAL) if direct && got > 0 => break,
                Err(errno) => return Err(errno.into()),
                Ok(0) => break,
                Ok(count) => {
                    got += count as usize;
                    if direct && count % SECTOR != 0 {
                        break;
                    }
                }
            }
        }
        slice_of(Ok(&bytes[..got]), 0, len)
    }
}

#[cfg(test)]
mod tests;
