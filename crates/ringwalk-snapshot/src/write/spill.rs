//! The unnamed temporary file, for what does not fit in memory.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// Returns an unnamed file in the folder for temporary files.
pub(crate) fn unnamed_file() -> io::Result<File> {
    use rustix::fs::{Mode, OFlags, open};
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    match open(std::env::temp_dir(), flags, Mode::RUSR | Mode::WUSR) {
        Ok(fd) => Ok(fd.into()),
        Err(errno) => Err(named("create", &errno.into())),
    }
}

/// Returns an error that names the folder for temporary files. Such files have no name of their
/// own.
fn named(operation: &str, error: &io::Error) -> io::Error {
    let folder = std::env::temp_dir();
    let folder = folder.display();
    io::Error::new(
        error.kind(),
        format!("cannot {operation} a temporary file in {folder}: {error}"),
    )
}

/// An unnamed file that is created when something is first written to it. Threads append at once.
#[derive(Debug, Default)]
pub(super) struct Spill {
    file: OnceLock<File>,
    /// Bytes of the file.
    used: AtomicU64,
}

impl Spill {
    fn file(&self) -> io::Result<&File> {
        if let Some(file) = self.file.get() {
            return Ok(file);
        }
        let file = unnamed_file()?;
        // Another thread may have been faster: then this file, which is empty, goes away.
        Ok(self.file.get_or_init(|| file))
    }

    /// Appends data. Returns where it is.
    pub(super) fn append(&self, data: &[u8]) -> io::Result<u64> {
        let file = self.file()?;
        let offset = self.used.fetch_add(data.len() as u64, Ordering::Relaxed);
        let written = file.write_all_at(data, offset);
        written.map_err(|error| named("write", &error))?;
        Ok(offset)
    }

    /// Fills the buffer with what was appended at `offset`.
    pub(super) fn read(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        self.file()?.read_exact_at(buffer, offset)
    }

    /// Reads at least so many bytes, and more if they are there. Returns their number.
    pub(super) fn read_some(
        &self,
        buffer: &mut [u8],
        least: usize,
        offset: u64,
    ) -> io::Result<usize> {
        let file = self.file()?;
        let mut got = 0;
        while got < least {
            match file.read_at(&mut buffer[got..], offset + got as u64)? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                more => got += more,
            }
        }
        Ok(got)
    }
}

/// Bytes of a spool that are in memory.
const CHUNK: usize = 64 << 10;

/// Packed records that are read in the order in which they were written, one by one. Long ones
/// are in the temporary file.
#[derive(Debug, Default)]
pub(super) struct Spool {
    /// Place and length of each chunk in the file.
    chunks: Vec<(u64, u32)>,
    buffer: Vec<u8>,
    /// The next chunk to read.
    next: usize,
    /// The position in the buffer.
    at: usize,
}

impl Spool {
    /// Returns the buffer, to which one record is to be appended.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a chunk has 64 KiB and one record"
    )]
    pub(super) fn buffer(&mut self, spill: &Spill) -> io::Result<&mut Vec<u8>> {
        if self.buffer.len() >= CHUNK {
            let offset = spill.append(&self.buffer)?;
            self.chunks.push((offset, self.buffer.len() as u32));
            self.buffer.clear();
        }
        Ok(&mut self.buffer)
    }

    /// Ends writing.
    pub(super) fn rewind(&mut self, spill: &Spill) -> io::Result<()> {
        if !self.chunks.is_empty() {
            let offset = spill.append(&self.buffer)?;
            let length = u32::try_from(self.buffer.len()).map_err(io::Error::other)?;
            self.chunks.push((offset, length));
            self.buffer.clear();
        }
        Ok(())
    }

    /// Reads the next record: `read` gets the data from the record on, and returns the record and
    /// its end.
    pub(super) fn next<T>(
        &mut self,
        spill: &Spill,
        read: impl FnOnce(&[u8], &mut usize) -> T,
    ) -> io::Result<T> {
        if self.at == self.buffer.len()
            && let Some(&(offset, length)) = self.chunks.get(self.next)
        {
            self.buffer.resize(length as usize, 0);
            spill.read(&mut self.buffer, offset)?;
            self.next += 1;
            self.at = 0;
        }
        Ok(read(&self.buffer, &mut self.at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(data: &[u8], at: &mut usize) -> u64 {
        let end = *at + size_of::<u64>();
        let number = data[*at..end].try_into().map(u64::from_le_bytes);
        *at = end;
        number.unwrap()
    }

    #[test]
    fn a_spool_returns_records_in_the_order_of_writing() {
        let spill = Spill::default();
        for count in [0, 1, 8192, 8193, 50_000] {
            let (mut spool, mut other) = (Spool::default(), Spool::default());
            for number in 0_u64..count {
                let write = |spool: &mut Spool| {
                    let buffer = spool.buffer(&spill).unwrap();
                    buffer.extend_from_slice(&number.to_le_bytes());
                    assert!(buffer.len() <= CHUNK + size_of::<u64>());
                };
                write(&mut spool);
                write(&mut other);
            }
            for spool in [&mut spool, &mut other] {
                spool.rewind(&spill).unwrap();
                for number in 0..count {
                    assert_eq!(spool.next(&spill, read).unwrap(), number);
                }
            }
        }
    }
}
