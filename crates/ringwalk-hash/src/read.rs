//! Reading a part of a file in order, without its holes.

use crate::{Fault, OpenFile};
use ringwalk::Errno;
use ringwalk_sys::PageBuffer;
use rustix::fs::{Advice, SeekFrom, fadvise, seek};
use rustix::io::{pread, retry_on_intr};
use std::alloc::{Layout, handle_alloc_error};
use std::ops::{Deref, DerefMut, Range};
use std::os::fd::{AsFd, BorrowedFd};

/// Bytes of a read from the page cache: the copy is still in the processor's own cache (L2) when it
/// is hashed.
pub const BUFFER: usize = 256 << 10;

/// Memory of [`BUFFER`] bytes that files are read into. It begins with a page: the kernel copied
/// 4 GiB into a buffer 16 bytes behind the beginning of a page, where large allocations begin, at
/// 1.7 GB/s, and into this one at 8 GB/s. It goes back to the system when it is dropped: the
/// allocator of the C library kept 20 MB of such buffers in a search of a million files.
#[derive(Debug)]
pub struct ReadBuffer(PageBuffer);

impl Default for ReadBuffer {
    /// Aborts the process if no memory is available, as a `Vec` does.
    fn default() -> Self {
        let out_of_memory = |_| handle_alloc_error(Layout::new::<[u8; BUFFER]>());
        Self(PageBuffer::new(BUFFER).unwrap_or_else(out_of_memory))
    }
}

impl Deref for ReadBuffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl DerefMut for ReadBuffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.0
    }
}

static ZEROS: [u8; 64 << 10] = [0; 64 << 10];

/// Gives the bytes in `range` of a file to `take`, in order, at most [`BUFFER`] at a time. Holes
/// are given as zeros and not read.
///
/// # Errors
///
/// [`Fault::Read`]; [`Fault::Changed`] if the file ends before the range; if the range ends where
/// the file should, [`Fault::FalseSize`] if the file does not.
pub fn read_range(
    file: &OpenFile,
    range: Range<u64>,
    buffer: &mut [u8],
    mut take: impl FnMut(&[u8]),
) -> Result<(), Fault> {
    let is_to_end = range.end == file.version().size && !range.is_empty();
    if file.may_have_holes() {
        let mut at = range.start;
        while at < range.end {
            let hole_at = |at| seek_from(file, SeekFrom::Hole(at));
            let data = data_from(at, range.end, next_data(file, at)?, hole_at)?;
            give_zeros(data.start - at, &mut take);
            read_data(file, data.clone(), buffer, &mut take)?;
            at = data.end;
        }
    } else {
        read_data(file, range, buffer, &mut take)?;
    }
    if is_to_end { check_end(file) } else { Ok(()) }
}

/// Returns the next data in `at..end`, empty at `end` if only a hole follows. `data` is where the
/// file system says that data begins, and `hole_at` asks for the hole behind it. Answers that lie
/// before the place that was asked for, which some file systems of users give, are no hole.
fn data_from(
    at: u64,
    end: u64,
    data: Option<u64>,
    hole_at: impl FnOnce(u64) -> Result<Option<u64>, Fault>,
) -> Result<Range<u64>, Fault> {
    let start = data.unwrap_or(end).clamp(at, end);
    if start == end {
        return Ok(end..end);
    }
    let hole = hole_at(start)?.filter(|hole| *hole > start);
    Ok(start..hole.unwrap_or(end).min(end))
}

/// Gives the bytes of a file to `take`, in order, until it ends.
///
/// # Errors
///
/// [`Fault::Read`].
pub(crate) fn read_to_end(
    file: &OpenFile,
    buffer: &mut [u8],
    mut take: impl FnMut(&[u8]),
) -> Result<(), Fault> {
    let mut at = 0;
    loop {
        let read = retry_on_intr(|| pread(file.file(), &mut *buffer, at)).map_err(Fault::Read)?;
        if read == 0 {
            return Ok(());
        }
        take(&buffer[..read]);
        at += read as u64;
    }
}

/// Advises the kernel that a file which takes several reads will be read from its beginning to its
/// end, so that it reads further ahead.
pub(crate) fn expect_whole(file: &OpenFile) {
    if file.version().size > BUFFER as u64 {
        // Advice: the answer is the same without it.
        let _ = fadvise(file.file(), 0, None, Advice::Sequential);
    }
}

/// Returns true if the file has no data in this range. An answer of the file system that is no help
/// counts as data.
pub(crate) fn is_hole(file: &OpenFile, range: &Range<u64>) -> bool {
    match next_data(file, range.start) {
        Ok(data) => data.is_none_or(|data| data >= range.end),
        Err(_) => false,
    }
}

fn give_zeros(mut count: u64, take: &mut impl FnMut(&[u8])) {
    while count > 0 {
        let part = usize::try_from(count).map_or(ZEROS.len(), |count| count.min(ZEROS.len()));
        take(&ZEROS[..part]);
        count -= part as u64;
    }
}

/// Returns the offset of the first data from `at` on. Returns `None` if only a hole follows.
fn next_data(file: &OpenFile, at: u64) -> Result<Option<u64>, Fault> {
    seek_from(file, SeekFrom::Data(at))
}

/// Moves the position of the descriptor, which nothing else uses.
fn seek_from(file: &OpenFile, to: SeekFrom) -> Result<Option<u64>, Fault> {
    match retry_on_intr(|| seek(file.file(), to)) {
        Ok(offset) => Ok(Some(offset)),
        // No data from there on; or the file has become shorter, which the check of the version
        // after reading finds.
        Err(Errno::NXIO) => Ok(None),
        Err(errno) => Err(Fault::Read(errno)),
    }
}

fn read_data(
    file: &OpenFile,
    range: Range<u64>,
    buffer: &mut [u8],
    take: &mut impl FnMut(&[u8]),
) -> Result<(), Fault> {
    let mut at = range.start;
    while at < range.end {
        let most = usize::try_from(range.end - at).unwrap_or(usize::MAX);
        let part = &mut buffer[..most.min(BUFFER)];
        let read = retry_on_intr(|| pread(file.file(), &mut *part, at)).map_err(Fault::Read)?;
        if read == 0 {
            return Err(Fault::Changed);
        }
        take(&part[..read]);
        at += read as u64;
    }
    Ok(())
}

/// Checks that a file ends where its size says.
pub(crate) fn check_end(file: &OpenFile) -> Result<(), Fault> {
    match ends_at(file.file().as_fd(), file.version().size) {
        Ok(true) => Ok(()),
        Ok(false) => Err(more_than_size(file)),
        Err(errno) => Err(Fault::Read(errno)),
    }
}

/// Returns true if a file has no bytes behind its size, by a read there. A short read before does
/// not show it: some FUSE servers give a few bytes a call.
///
/// # Errors
///
/// The errors of pread(2).
pub fn ends_at(file: BorrowedFd<'_>, size: u64) -> Result<bool, Errno> {
    let mut byte = [0];
    match retry_on_intr(|| pread(file, &mut byte, size)) {
        Ok(read) => Ok(read == 0),
        // The kernel refuses a read that would pass 2^63 - 1, the largest size of a file.
        Err(Errno::INVAL) if size >= i64::MAX as u64 => Ok(true),
        Err(errno) => Err(errno),
    }
}

/// Returns what is wrong with a file that has bytes behind its size.
fn more_than_size(file: &OpenFile) -> Fault {
    file.check_unchanged().err().unwrap_or(Fault::FalseSize)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::cast_possible_truncation, reason = "bytes of test data")]

    use super::*;
    use crate::OpenRoot;
    use ringwalk::time_stamps::StampClocks;
    use std::fs::File;
    use std::os::unix::fs::FileExt as _;

    fn with_file(write: impl FnOnce(&File), test: impl FnOnce(&OpenFile)) {
        let file = tempfile::NamedTempFile::new().unwrap();
        write(file.as_file());
        test(&OpenFile::open(&OpenRoot::Working, file.path(), &StampClocks::default()).unwrap());
    }

    fn bytes_of(file: &OpenFile, range: Range<u64>) -> Result<Vec<u8>, Fault> {
        let mut bytes = Vec::new();
        read_range(file, range, &mut ReadBuffer::default(), |part| {
            bytes.extend_from_slice(part);
        })?;
        Ok(bytes)
    }

    #[test]
    fn holes_are_zeros() {
        let write = |file: &File| {
            file.write_all_at(b"first", 1 << 20).unwrap();
            file.write_all_at(b"second", 3 << 20).unwrap();
            file.set_len(5 << 20).unwrap();
        };
        let mut expected = vec![0; 5 << 20];
        expected[1 << 20..][..5].copy_from_slice(b"first");
        expected[3 << 20..][..6].copy_from_slice(b"second");
        with_file(write, |file| {
            assert!(file.may_have_holes());
            for range in [
                0..5 << 20,
                100..(1 << 20) + 3,
                (3 << 20) + 2..5 << 20,
                4 << 20..5 << 20,
                7..7,
            ] {
                let (start, end) = (range.start as usize, range.end as usize);
                let bytes = bytes_of(file, range.clone()).unwrap();
                assert!(bytes == expected[start..end], "{range:?}");
            }
            assert!(is_hole(file, &(4 << 20..5 << 20)));
            assert!(!is_hole(file, &(2 << 20..4 << 20)));
        });
    }

    #[test]
    fn a_file_that_ends_early_has_changed() {
        with_file(
            |file| file.write_all_at(&[1; 5000], 0).unwrap(),
            |file| {
                assert_eq!(bytes_of(file, 0..5000).unwrap(), [1; 5000]);
                assert_eq!(bytes_of(file, 10..5001), Err(Fault::Changed));
            },
        );
    }

    #[test]
    fn buffers_begin_where_pages_begin() {
        let buffer = ReadBuffer::default();
        let page = rustix::param::page_size();
        assert_eq!((buffer.as_ptr().addr() % page, buffer.len()), (0, BUFFER));
    }

    #[test]
    fn absurd_answers_about_holes_are_data() {
        let data = |data, hole| data_from(10, 100, data, |_| Ok(hole)).unwrap();
        assert_eq!(data(Some(20), Some(30)), 20..30);
        assert_eq!(data(Some(20), Some(200)), 20..100);
        assert_eq!(data(None, None), 100..100);
        assert_eq!(data(Some(200), None), 100..100);
        assert_eq!(data(Some(0), Some(0)), 10..100);
        assert_eq!(data(Some(10), Some(10)), 10..100);
        assert_eq!(data(Some(20), Some(19)), 20..100);
    }
}
