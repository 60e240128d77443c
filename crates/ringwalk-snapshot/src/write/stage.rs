//! The stage: listings wait here, in any order, until everything is known that their order needs.
//!
//! A walk reads directories in an order of its own, and reads a large one in pieces. Each piece is
//! one *run*: entries sorted by name, packed. Runs go into segments of a mebibyte. Beyond a bound
//! on memory, segments go into an unnamed temporary file. The runs of one directory are linked:
//! each holds the address of the one before.

use super::heads::Heads;
use super::merge::merge_runs;
use super::pack;
use ringwalk_sys::sync::{IgnorePoison, lock};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes of a segment. A larger run has a segment of its own.
const SEGMENT: usize = 1 << 20;

/// Bytes of the header of a run: the address of the run before, the length, and the length of the
/// list of subdirectories.
const HEADER: usize = 16;

/// Bytes that are read of a run in the file before its length is known.
const GUESS: usize = 4096;

/// The address of a run: the number of its segment, and the offset in it. 0 is none: the first
/// segment begins with a byte that is not used.
pub(super) type Address = u64;

fn address(segment: usize, offset: usize) -> Address {
    (segment as u64) << 32 | offset as u64
}

#[derive(Debug)]
enum Segment {
    /// A worker still fills it.
    Open,
    Memory(Vec<u8>),
    File {
        offset: u64,
    },
}

#[derive(Debug, Default)]
struct Segments {
    all: Vec<Segment>,
    /// Bytes in memory.
    memory: usize,
}

/// Listings of directories that wait for their turn.
#[derive(Debug)]
pub(crate) struct Stage {
    segments: Mutex<Segments>,
    /// The address of the last run of each directory.
    heads: Heads,
    /// Segments that exceed this number of bytes go into the file.
    memory: usize,
    file: Mutex<Option<File>>,
    /// Bytes of the file.
    used: AtomicU64,
    open_file: fn() -> io::Result<File>,
}

impl Stage {
    /// Creates a stage that keeps this number of bytes in memory.
    pub(crate) fn new(memory: usize) -> Self {
        Self {
            segments: Mutex::default(),
            heads: Heads::default(),
            memory,
            file: Mutex::default(),
            used: AtomicU64::new(0),
            open_file: unnamed_file,
        }
    }

    /// Returns a number for a directory. The first one is 0: the list of roots.
    pub(crate) fn new_directory(&self) -> u64 {
        self.heads.add()
    }

    /// Returns a writer, one for each worker.
    pub(crate) fn writer(&self) -> StageWriter<'_> {
        StageWriter {
            stage: self,
            segment: Vec::new(),
            index: None,
        }
    }

    fn open_segment(&self) -> usize {
        let mut segments = lock(&self.segments);
        segments.all.push(Segment::Open);
        segments.all.len() - 1
    }

    /// Keeps a segment that is full.
    fn close_segment(&self, index: usize, data: Vec<u8>) -> io::Result<()> {
        let mut segments = lock(&self.segments);
        if segments.memory + data.len() <= self.memory {
            segments.memory += data.len();
            segments.all[index] = Segment::Memory(data);
            return Ok(());
        }
        drop(segments);
        let offset = self.used.fetch_add(data.len() as u64, Ordering::Relaxed);
        {
            let mut file = lock(&self.file);
            let file = match &mut *file {
                Some(file) => file,
                none => none.insert((self.open_file)()?),
            };
            file.try_clone()?
        }
        .write_all_at(&data, offset)?;
        lock(&self.segments).all[index] = Segment::File { offset };
        Ok(())
    }

    /// Ends writing.
    pub(crate) fn into_staged(self) -> Staged {
        Staged {
            segments: self.segments.into_inner().ignore_poison().all,
            heads: self.heads,
            file: self.file.into_inner().ignore_poison(),
        }
    }
}

/// Returns an unnamed file in the folder for temporary files.
pub(crate) fn unnamed_file() -> io::Result<File> {
    use rustix::fs::{Mode, OFlags, open};
    let folder = std::env::temp_dir();
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    match open(&folder, flags, Mode::RUSR | Mode::WUSR) {
        Ok(fd) => Ok(fd.into()),
        Err(errno) => Err(io::Error::new(
            io::Error::from(errno).kind(),
            format!(
                "cannot create a temporary file in {}: {}",
                folder.display(),
                io::Error::from(errno)
            ),
        )),
    }
}

/// Writes runs into the stage.
#[derive(Debug)]
pub(crate) struct StageWriter<'s> {
    stage: &'s Stage,
    segment: Vec<u8>,
    /// The number of the segment that is being filled.
    index: Option<usize>,
}

impl StageWriter<'_> {
    /// Adds a run to the listing of a directory. `children` is a packed list of the subdirectories
    /// in the order of the entries, each as number and name.
    pub(crate) fn run(
        &mut self,
        directory: u64,
        children: &[u8],
        entries: &[u8],
    ) -> io::Result<()> {
        let length = HEADER + children.len() + entries.len();
        if !self.segment.is_empty() && self.segment.len() + length > SEGMENT {
            self.close()?;
        }
        let index = *self.index.get_or_insert_with(|| {
            self.segment.reserve_exact(SEGMENT.max(length + 1));
            self.stage.open_segment()
        });
        if self.segment.is_empty() {
            self.segment.push(0);
        }
        let at = self.segment.len();
        let too_large = |_| io::Error::other("a listing of more than 4 GiB");
        let offset = u32::try_from(at).map_err(too_large)?;
        let sizes = [
            u32::try_from(length).map_err(too_large)?,
            u32::try_from(children.len()).map_err(too_large)?,
        ];
        let before = self
            .stage
            .heads
            .swap(directory, address(index, offset as usize));
        self.segment.extend_from_slice(&before.to_le_bytes());
        for size in sizes {
            self.segment.extend_from_slice(&size.to_le_bytes());
        }
        self.segment.extend_from_slice(children);
        self.segment.extend_from_slice(entries);
        Ok(())
    }

    /// Hands over what has been written.
    pub(crate) fn close(&mut self) -> io::Result<()> {
        match self.index.take() {
            Some(index) => {
                let data = std::mem::take(&mut self.segment);
                self.stage.close_segment(index, data)
            }
            None => Ok(()),
        }
    }
}

/// All listings, to be read in any order.
#[derive(Debug)]
pub(crate) struct Staged {
    segments: Vec<Segment>,
    heads: Heads,
    file: Option<File>,
}

/// The listing of a directory.
#[derive(Debug, Default)]
pub(crate) struct Listing {
    data: Vec<u8>,
    children: usize,
}

impl Listing {
    pub(super) fn new(children: &[u8], entries: &[u8]) -> Self {
        Self {
            data: [children, entries].concat(),
            children: children.len(),
        }
    }

    /// Returns the packed subdirectories.
    pub(crate) fn children(&self) -> &[u8] {
        &self.data[..self.children]
    }

    /// Returns the packed entries, sorted by name.
    pub(crate) fn entries(&self) -> &[u8] {
        &self.data[self.children..]
    }
}

impl Staged {
    /// Returns the listing of a directory.
    ///
    /// # Errors
    ///
    /// If the temporary file cannot be read.
    pub(crate) fn listing(&self, directory: u64) -> io::Result<Listing> {
        let mut at = self.heads.get(directory);
        if at == 0 {
            return Ok(Listing::default());
        }
        let (before, first) = self.run(at)?;
        if before == 0 {
            return Ok(first);
        }
        let mut runs = vec![first];
        at = before;
        while at != 0 {
            let (before, run) = self.run(at)?;
            runs.push(run);
            at = before;
        }
        Ok(merge_runs(&runs))
    }

    /// Returns a run, and the address of the run before it.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "an address is two numbers of 32 bits"
    )]
    fn run(&self, at: Address) -> io::Result<(Address, Listing)> {
        let (segment, offset) = ((at >> 32) as u32 as usize, at as u32 as usize);
        match &self.segments[segment] {
            Segment::Memory(data) => Ok(Self::parse(&data[offset..])),
            Segment::File { offset: begin } => self.read_run(begin + offset as u64),
            Segment::Open => Err(io::Error::other("a segment was not closed")),
        }
    }

    fn read_run(&self, offset: u64) -> io::Result<(Address, Listing)> {
        let file = self.file.as_ref();
        let file = file.ok_or_else(|| io::Error::other("there is no temporary file"))?;
        let mut data = vec![0; GUESS];
        let mut got = 0;
        while got < HEADER {
            match file.read_at(&mut data[got..], offset + got as u64)? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                more => got += more,
            }
        }
        let length = u32::from_le_bytes([data[8], data[9], data[10], data[11]]) as usize;
        data.resize(length.max(got), 0);
        if got < length {
            file.read_exact_at(&mut data[got..length], offset + got as u64)?;
        }
        Ok(Self::parse(&data))
    }

    fn parse(data: &[u8]) -> (Address, Listing) {
        let word =
            |at: usize| u32::from_le_bytes([data[at], data[at + 1], data[at + 2], data[at + 3]]);
        let before = u64::from(word(0)) | u64::from(word(4)) << 32;
        let (length, children) = (word(8) as usize, word(12) as usize);
        let listing = Listing {
            data: data[HEADER..length].to_vec(),
            children,
        };
        (before, listing)
    }
}

/// Appends a subdirectory to a packed list.
pub(crate) fn push_child(number: u64, name: &[u8], children: &mut Vec<u8>) {
    pack::number(number, children);
    pack::bytes(name, children);
}

#[cfg(test)]
mod tests;
