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
mod tests {
    use super::*;
    use rustix::fs::OFlags;
    use std::fs::OpenOptions;
    use std::io::Write;
    use std::os::unix::fs::OpenOptionsExt;

    fn request(offset: u64, len: u32) -> Request {
        Request {
            offset,
            len,
            tag: 0,
        }
    }

    #[test]
    fn what_is_read_past_the_page_cache_too_is_what_was_written() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        let bytes: Vec<u8> = (0..20_000_u32).map(|at| at.to_le_bytes()[1]).collect();
        file.write_all(&bytes).unwrap();
        file.as_file().sync_all().unwrap();
        for flags in [OFlags::empty(), OFlags::DIRECT] {
            let direct = !flags.is_empty();
            let opened = OpenOptions::new()
                .read(true)
                .custom_flags(flags.bits().cast_signed())
                .open(file.path());
            let Ok(opened) = opened else {
                println!("skipped: no O_DIRECT here");
                continue;
            };
            let mut alone = Alone::default();
            for (offset, len) in [(4096, 4096), (0, 16_384), (8192, 4096), (4096, 0)] {
                let from = usize::try_from(offset).unwrap();
                let found = alone.read(&opened, request(offset, len), direct);
                assert_eq!(
                    found.unwrap(),
                    &bytes[from..from + len as usize],
                    "{direct}"
                );
            }
            // The file ends in the middle of the first, and before the second.
            for offset in [16_384, 20_480] {
                let found = alone.read(&opened, request(offset, 4096), direct);
                assert_eq!(found.unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
            }
        }
    }
}
