//! Small files, read many by one call.
//!
//! ```text
//!  open files ── reads, one submission ──> block layer
//!                                            │ one request for what lies side by side
//!  take <── whole contents ── buffer <────────┘
//! ```
//!
//! Trees of small files were mostly written in one go, and their contents lie side by side on the
//! disk. docs/decisions/0024 has the figures.

use crate::{BUFFER, OpenFile};
use ringwalk_sys::{FileBytes, FileRead, FilesRing, magic};
use std::os::fd::{AsFd, BorrowedFd};

/// The most files of one call.
pub const MULTI_FILES: usize = 64;

/// The most bytes of one call. With twice as many the disk got a tenth fewer requests
/// (docs/decisions/0024).
pub const MULTI_BYTES: u64 = BUFFER as u64;

/// Bytes that the reads of one call take in the buffer: each read is a byte longer than its file,
/// and begins at a cache line.
const SPACE: usize = BUFFER + MULTI_FILES * 64;

/// File systems whose buffered reads `io_uring` starts without a thread (`FOP_BUFFER_RASYNC` of
/// `include/linux/fs.h`, earlier `FMODE_BUF_RASYNC`).
const WITHOUT_THREADS: [u64; 3] = [magic::EXT4, magic::XFS, magic::BTRFS];

/// Returns true if small files of the file system of this one should be read many by one call. On
/// others, such as those behind a network, opening a file waits, and each should be read by a
/// worker of its own.
pub fn suits_multi_file_reads(file: BorrowedFd<'_>) -> bool {
    magic::of(file).is_ok_and(|found| WITHOUT_THREADS.contains(&found))
}

/// Reads small files, many by one call. Each worker has one.
#[derive(Debug, Default)]
pub struct MultiFileReader {
    ring: Ring,
    results: Vec<FileBytes>,
}

#[derive(Debug, Default)]
enum Ring {
    #[default]
    NotNeeded,
    Refused,
    Ready(Box<FilesRing>),
}

impl Ring {
    fn get(&mut self) -> Option<&mut FilesRing> {
        if matches!(self, Self::NotNeeded) {
            #[expect(clippy::cast_possible_truncation, reason = "a constant")]
            let depth = MULTI_FILES as u32;
            let ring = FilesRing::new(depth, SPACE);
            *self = ring.map_or(Self::Refused, |ring| Self::Ready(Box::new(ring)));
        }
        match self {
            Self::Ready(ring) => Some(ring),
            Self::NotNeeded | Self::Refused => None,
        }
    }
}

impl MultiFileReader {
    /// Closes the ring. The next call of [`read`](Self::read) opens another one.
    pub fn close(&mut self) {
        self.ring = Ring::NotNeeded;
    }

    /// Reads files, and gives to `take` the place of each in `files` and its whole contents, up to
    /// the size in [`OpenFile::version`] and no byte behind. Holes are read as zeros. Gives `None`
    /// for files that must be read in another way, which then finds what is wrong:
    ///
    /// - files without a size, or of more than [`MULTI_BYTES`];
    /// - files for which a read failed, or returned another number of bytes;
    /// - one that is left alone for a call;
    /// - all, if there is no `io_uring`.
    ///
    /// Does not check whether a file has changed meanwhile: see [`OpenFile::check_unchanged`].
    pub fn read(&mut self, files: &[OpenFile], mut take: impl FnMut(usize, Option<&[u8]>)) {
        let mut chosen: Vec<(usize, FileRead<'_>)> = Vec::new();
        let mut bytes = 0;
        for (at, file) in files.iter().enumerate() {
            let size = file.version().size;
            let Some(len) = length_of_read(size) else {
                take(at, None);
                continue;
            };
            if chosen.len() == MULTI_FILES || bytes + size > MULTI_BYTES {
                self.read_chosen(&chosen, &mut take);
                chosen.clear();
                bytes = 0;
            }
            bytes += size;
            let file = file.file().as_fd();
            chosen.push((at, FileRead { file, len }));
        }
        self.read_chosen(&chosen, &mut take);
    }

    fn read_chosen(
        &mut self,
        chosen: &[(usize, FileRead<'_>)],
        take: &mut impl FnMut(usize, Option<&[u8]>),
    ) {
        // One file alone gains nothing.
        let ring = if chosen.len() > 1 {
            self.ring.get()
        } else {
            None
        };
        let reads: Vec<FileRead<'_>> = chosen.iter().map(|(_, read)| *read).collect();
        let result = ring.map(|ring| ring.read(&reads, &mut self.results));
        if matches!(result, Some(Err(_))) {
            // It would fail again.
            self.ring = Ring::Refused;
        }
        let (Ring::Ready(ring), Some(_)) = (&self.ring, result) else {
            for (at, _) in chosen {
                take(*at, None);
            }
            return;
        };
        for ((at, read), result) in chosen.iter().zip(&self.results) {
            let bytes = result
                .as_ref()
                .ok()
                .map(|range| &ring.bytes()[range.clone()]);
            take(
                *at,
                bytes.filter(|bytes| bytes.len() + 1 == read.len as usize),
            );
        }
    }
}

/// Returns how much of a file is read: one byte more than its size, to see that it ends there.
/// Returns `None` for files that are not read by one call with others.
fn length_of_read(size: u64) -> Option<u32> {
    let len = u32::try_from(size.saturating_add(1)).ok()?;
    (1..=MULTI_BYTES).contains(&size).then_some(len)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::cast_possible_truncation, reason = "bytes of test data")]

    use super::*;
    use crate::OpenRoot;
    use ringwalk::time_stamps::StampClocks;
    use std::fs;
    use std::path::Path;

    fn contents(at: usize) -> Vec<u8> {
        // Some are larger than all that is read at once, and one is empty.
        let size = if at % 40 == 7 {
            MULTI_BYTES as usize + at
        } else {
            at * 997 % 30_000
        };
        (0..size).map(|byte| (byte / 100 + at) as u8).collect()
    }

    #[test]
    fn each_file_is_given_once_with_its_contents() {
        let folder = tempfile::tempdir().unwrap();
        let root = OpenRoot::open(folder.path()).unwrap();
        let open = |at: usize| {
            fs::write(folder.path().join(at.to_string()), contents(at)).unwrap();
            OpenFile::open(&root, Path::new(&at.to_string()), &StampClocks::default()).unwrap()
        };
        let mut reader = MultiFileReader::default();
        for count in [0, 1, 2, 3 * MULTI_FILES + 5] {
            let files: Vec<OpenFile> = (0..count).map(open).collect();
            let mut given = vec![0; count];
            let mut read = 0;
            reader.read(&files, |at, bytes| {
                given[at] += 1;
                if let Some(bytes) = bytes {
                    assert_eq!(bytes, contents(at), "{at}");
                    read += 1;
                }
            });
            assert!(given.iter().all(|times| *times == 1));
            // A ring may be refused here.
            if count > 2 && matches!(reader.ring, Ring::Ready(_)) {
                let fits = |at: &usize| (1..=MULTI_BYTES).contains(&(contents(*at).len() as u64));
                assert_eq!(read, (0..count).filter(fits).count());
            }
        }
    }

    #[test]
    fn a_file_of_another_length_by_now_is_read_otherwise() {
        let folder = tempfile::tempdir().unwrap();
        let root = OpenRoot::open(folder.path()).unwrap();
        let names = ["same", "longer", "shorter", "empty"];
        let open = |name: &&str| {
            fs::write(folder.path().join(name), "contents").unwrap();
            OpenFile::open(&root, Path::new(name), &StampClocks::default()).unwrap()
        };
        let files: Vec<OpenFile> = names.iter().map(open).collect();
        fs::write(folder.path().join("longer"), "contents and more").unwrap();
        fs::write(folder.path().join("shorter"), "cont").unwrap();
        fs::write(folder.path().join("empty"), "").unwrap();
        let mut found = [false; 4];
        let mut reader = MultiFileReader::default();
        reader.read(&files, |at, bytes| found[at] = bytes.is_some());
        let is_there = matches!(reader.ring, Ring::Ready(_));
        assert_eq!(found, [is_there, false, false, false]);
    }

    #[test]
    fn one_call_takes_as_many_files_and_bytes_as_it_says() {
        let folder = tempfile::tempdir().unwrap();
        let root = OpenRoot::open(folder.path()).unwrap();
        let size = MULTI_BYTES as usize / MULTI_FILES;
        let open = |at: usize| {
            fs::write(folder.path().join(at.to_string()), vec![1; size]).unwrap();
            OpenFile::open(&root, Path::new(&at.to_string()), &StampClocks::default()).unwrap()
        };
        let mut reader = MultiFileReader::default();
        // None of them is left alone.
        for count in [MULTI_FILES, MULTI_FILES + 2] {
            let files: Vec<OpenFile> = (0..count).map(open).collect();
            let mut read = 0;
            reader.read(&files, |_, bytes| read += usize::from(bytes.is_some()));
            if matches!(reader.ring, Ring::Ready(_)) {
                assert_eq!(read, count);
            }
        }
    }

    #[test]
    fn limits_of_sizes() {
        let at_most = u32::try_from(MULTI_BYTES).unwrap();
        assert_eq!(length_of_read(0), None);
        assert_eq!(length_of_read(1), Some(2));
        assert_eq!(length_of_read(MULTI_BYTES), Some(at_most + 1));
        assert_eq!(length_of_read(MULTI_BYTES + 1), None);
        assert_eq!(length_of_read(u64::MAX - 1), None);
    }
}
