//! The stage: listings wait here, in any order, until everything is known that their order needs.
//!
//! A walk reads directories in an order of its own, and reads a large one in parts. Each part is
//! one *run*: entries sorted by name, in pieces. Pieces go into segments of a mebibyte. Beyond a
//! bound on memory, segments go into an unnamed temporary file. The pieces of one directory are
//! linked: each holds the address of the one before.

use super::heads::Heads;
use super::listing::Listing;
use super::merge::merge;
use super::piece::{HEADER, Header, Piece, PieceBuilder};
use super::spill::Spill;
use ringwalk_sys::sync::{IgnorePoison, lock};
use std::borrow::Cow;
use std::io;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes of a segment. A larger piece has a segment of its own.
const SEGMENT: usize = 1 << 20;

/// Bytes that are read of a piece in the file before its length is known.
const GUESS: usize = 2048;

/// The address of a piece: the number of its segment, and the offset in it. 0 means no piece: the
/// first segment begins with a byte that is not used.
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
    /// The address of the last piece of each directory.
    heads: Heads,
    /// Segments that exceed this number of bytes go into the file.
    memory: usize,
    spill: Spill,
    /// Names of files with several links.
    links: AtomicU64,
}

impl Stage {
    /// Creates a stage that keeps this number of bytes in memory. A directory may have a name
    /// twice: one that is changed while it is read may list it so.
    pub(crate) fn new(memory: usize) -> Self {
        Self {
            segments: Mutex::default(),
            heads: Heads::default(),
            memory,
            spill: Spill::default(),
            links: AtomicU64::new(0),
        }
    }

    /// Returns a number for a directory. The first one is 0: the list of roots.
    pub(crate) fn new_directory(&self) -> u64 {
        self.heads.add()
    }

    /// Returns the first of so many numbers for directories, which follow each other.
    pub(crate) fn new_directories(&self, count: u64) -> u64 {
        self.heads.add_many(count)
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
        let offset = self.spill.append(&data)?;
        lock(&self.segments).all[index] = Segment::File { offset };
        Ok(())
    }

    /// Ends writing.
    pub(crate) fn into_staged(self) -> Staged {
        Staged {
            segments: self.segments.into_inner().ignore_poison().all,
            heads: self.heads,
            spill: self.spill,
            links: self.links.into_inner(),
        }
    }
}

/// Writes runs into a stage. Each worker has one.
#[derive(Debug, Default)]
pub(crate) struct StageWriter {
    segment: Vec<u8>,
    /// The number of the segment that is being filled.
    index: Option<usize>,
    /// The last piece of the run that is being written.
    last: Option<Address>,
}

impl StageWriter {
    /// Adds a piece to the run that is being written, and begins the next piece of the same run.
    pub(crate) fn piece(
        &mut self,
        stage: &Stage,
        directory: u64,
        piece: &mut PieceBuilder,
    ) -> io::Result<()> {
        if !self.segment.is_empty() && self.segment.len() + piece.len() > SEGMENT {
            self.close(stage)?;
        }
        let index = *self.index.get_or_insert_with(|| {
            self.segment.reserve_exact(SEGMENT.max(piece.len() + 1));
            stage.open_segment()
        });
        if self.segment.is_empty() {
            self.segment.push(0);
        }
        let own = address(index, self.segment.len());
        let before = stage.heads.swap(directory, own);
        // Another worker may have added a piece to the directory meanwhile.
        let follows = self.last == Some(before);
        stage.links.fetch_add(piece.links, Ordering::Relaxed);
        piece.end(before, follows, &mut self.segment)?;
        self.last = Some(own);
        Ok(())
    }

    /// Adds the last piece of a run.
    pub(crate) fn end_run(
        &mut self,
        stage: &Stage,
        directory: u64,
        piece: &mut PieceBuilder,
    ) -> io::Result<()> {
        if !piece.is_empty() {
            self.piece(stage, directory, piece)?;
        }
        self.last = None;
        Ok(())
    }

    /// Hands over what has been written.
    pub(crate) fn close(&mut self, stage: &Stage) -> io::Result<()> {
        match self.index.take() {
            Some(index) => stage.close_segment(index, std::mem::take(&mut self.segment)),
            None => Ok(()),
        }
    }
}

/// Where a piece is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place {
    Segment(Address),
    /// The offset in the temporary file.
    File(u64),
}

/// All listings, to be read in any order.
#[derive(Debug)]
pub(crate) struct Staged {
    segments: Vec<Segment>,
    heads: Heads,
    pub(super) spill: Spill,
    /// Names of files with several links.
    pub(super) links: u64,
}

impl Staged {
    /// Returns the listing of a directory. If its runs have to be merged, up to `keep` bytes are
    /// kept in memory, and the rest is in the temporary file.
    ///
    /// # Errors
    ///
    /// If the temporary file cannot be read or written.
    pub(super) fn listing(&self, directory: u64, keep: usize) -> io::Result<Listing<'_>> {
        let last = self.heads.get(directory);
        if last == 0 {
            return Ok(Listing::new(self, Vec::new()));
        }
        let mut place = Place::Segment(last);
        let mut header = self.header(place)?;
        if header.before == 0 {
            return Ok(Listing::new(self, vec![place]));
        }
        // From the last run to the first one.
        let mut runs = Vec::new();
        let mut run = vec![place];
        while header.before != 0 {
            if !header.follows {
                run.reverse();
                runs.push(std::mem::take(&mut run));
            }
            place = Place::Segment(header.before);
            header = self.header(place)?;
            run.push(place);
        }
        run.reverse();
        runs.push(run);
        merge(self, runs, keep)
    }

    /// Returns the segment of a piece in memory, or the place of a piece in the file.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "an address is two numbers of 32 bits"
    )]
    fn resolve(&self, place: Place) -> io::Result<Result<&[u8], u64>> {
        let at = match place {
            Place::Segment(at) => at,
            Place::File(offset) => return Ok(Err(offset)),
        };
        let (segment, offset) = ((at >> 32) as u32 as usize, at as u32);
        match &self.segments[segment] {
            Segment::Memory(data) => Ok(Ok(&data[offset as usize..])),
            Segment::File { offset: begin } => Ok(Err(begin + u64::from(offset))),
            Segment::Open => Err(io::Error::other("a segment was not closed")),
        }
    }

    fn header(&self, place: Place) -> io::Result<Header> {
        match self.resolve(place)? {
            Ok(data) => Ok(Header::parse(data)),
            Err(offset) => {
                let mut data = [0; HEADER];
                self.spill.read(&mut data, offset)?;
                Ok(Header::parse(&data))
            }
        }
    }

    pub(super) fn piece(&self, place: Place) -> io::Result<Piece<'_>> {
        let offset = match self.resolve(place)? {
            Ok(data) => return Ok(Piece::new(Cow::Borrowed(data))),
            Err(offset) => offset,
        };
        let mut data = vec![0; GUESS];
        let got = self.spill.read_some(&mut data, HEADER, offset)?;
        let length = Header::parse(&data).length;
        data.resize(length, 0);
        if got < length {
            self.spill.read(&mut data[got..], offset + got as u64)?;
        }
        Ok(Piece::new(Cow::Owned(data)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entry::Entry;
    use crate::write::pack::Unpacker;
    use ringwalk::FileType;

    /// Adds a run. Names that begin with "d" belong to directory 7.
    fn add(stage: &Stage, writer: &mut StageWriter, directory: u64, names: &[&str]) {
        let mut piece = PieceBuilder::default();
        for name in names {
            let child = name.starts_with('d').then_some(7);
            piece.push(&Entry::new(name.as_bytes(), FileType::Regular), child);
            if piece.is_full() {
                writer.piece(stage, directory, &mut piece).unwrap();
            }
        }
        writer.end_run(stage, directory, &mut piece).unwrap();
    }

    /// Returns the subdirectories, then the entries.
    fn names(staged: &Staged, directory: u64, keep: usize) -> (Vec<String>, Vec<String>) {
        let text = |name: &[u8]| String::from_utf8_lossy(name).into_owned();
        let mut listing = staged.listing(directory, keep).unwrap();
        let (mut children, mut all) = (Vec::new(), Vec::new());
        while let Some(number) = listing
            .next_child(|name| children.push(text(name)))
            .unwrap()
        {
            assert_eq!(number, 7);
        }
        let each = |entries: &[u8]| {
            let mut unpacker = Unpacker::default();
            while let Some(entry) = unpacker.next(entries) {
                all.push(text(entry.entry.name));
            }
            Ok(())
        };
        listing.entries(each).unwrap();
        (children, all)
    }

    #[test]
    fn runs_of_a_directory_are_merged_in_memory_and_in_the_file() {
        for memory in [0, usize::MAX] {
            let stage = Stage::new(memory);
            let directories: Vec<_> = (0..3).map(|_| stage.new_directory()).collect();
            let (mut writer, mut other) = (StageWriter::default(), StageWriter::default());
            add(&stage, &mut writer, directories[0], &["b", "d", "x"]);
            add(&stage, &mut other, directories[1], &["q"]);
            add(&stage, &mut other, directories[0], &["a", "c", "e"]);
            add(&stage, &mut writer, directories[0], &["d2"]);
            writer.close(&stage).unwrap();
            other.close(&stage).unwrap();
            let staged = stage.into_staged();
            let (children, all) = names(&staged, 0, 0);
            assert_eq!(all, ["a", "b", "c", "d", "d2", "e", "x"]);
            assert_eq!(children, ["d", "d2"]);
            assert_eq!(names(&staged, 1, 0).1, ["q"]);
            assert_eq!(names(&staged, 2, 0).1, [""; 0]);
        }
    }

    #[test]
    fn pieces_larger_than_a_segment() {
        for memory in [0, usize::MAX] {
            let stage = Stage::new(memory);
            let long = "n".repeat(SEGMENT + 5);
            for number in 0..3 {
                assert_eq!(stage.new_directory(), number);
            }
            let mut writer = StageWriter::default();
            add(&stage, &mut writer, 0, &["a"]);
            add(&stage, &mut writer, 1, &[&long]);
            add(&stage, &mut writer, 2, &["b"]);
            writer.close(&stage).unwrap();
            let staged = stage.into_staged();
            assert_eq!(names(&staged, 0, 0).1, ["a"]);
            assert_eq!(names(&staged, 1, 0).1, [long]);
            assert_eq!(names(&staged, 2, 0).1, ["b"]);
        }
    }

    /// Returns many names. Some of them are names of directories.
    fn many(runs: usize, each: usize) -> Vec<Vec<String>> {
        let name = |run: usize, number: usize| {
            let kind = if number.is_multiple_of(3) { "d" } else { "f" };
            format!("{kind}{number:05}-{run}-{}", "x".repeat(50))
        };
        (0..runs)
            .map(|run| {
                let mut names: Vec<_> = (0..each).map(|number| name(run, number)).collect();
                names.sort();
                names
            })
            .collect()
    }

    #[test]
    fn large_directories_are_merged_piece_by_piece() {
        // More pieces in a run than one, and more runs than are merged at once.
        for (runs, each) in [(1, 5000), (3, 5000), (130, 60)] {
            for (memory, keep) in [(0, 0), (usize::MAX, 0), (0, usize::MAX)] {
                let runs = many(runs, each);
                let stage = Stage::new(memory);
                stage.new_directory();
                let mut writers = [StageWriter::default(), StageWriter::default()];
                for (index, run) in runs.iter().enumerate() {
                    let run: Vec<_> = run.iter().map(String::as_str).collect();
                    add(&stage, &mut writers[index % 2], 0, &run);
                }
                for writer in &mut writers {
                    writer.close(&stage).unwrap();
                }
                let staged = stage.into_staged();
                let mut expected = runs.concat();
                expected.sort();
                let (children, all) = names(&staged, 0, keep);
                assert!(all == expected);
                expected.retain(|name| name.starts_with('d'));
                assert!(children == expected);
            }
        }
    }

    #[test]
    fn a_piece_between_those_of_a_run_breaks_the_run() {
        let stage = Stage::new(usize::MAX);
        stage.new_directory();
        let (mut writer, mut other) = (StageWriter::default(), StageWriter::default());
        let mut piece = PieceBuilder::default();
        let entry = |name: &'static str| Entry::new(name.as_bytes(), FileType::Regular);
        piece.push(&entry("b"), None);
        writer.piece(&stage, 0, &mut piece).unwrap();
        add(&stage, &mut other, 0, &["a", "x"]);
        piece.push(&entry("m"), None);
        writer.end_run(&stage, 0, &mut piece).unwrap();
        writer.close(&stage).unwrap();
        other.close(&stage).unwrap();
        let staged = stage.into_staged();
        assert_eq!(names(&staged, 0, 0).1, ["a", "b", "m", "x"]);
    }

    #[test]
    fn a_directory_may_have_a_name_twice() {
        let stage = Stage::new(usize::MAX);
        stage.new_directory();
        let mut writer = StageWriter::default();
        add(&stage, &mut writer, 0, &["a", "b"]);
        add(&stage, &mut writer, 0, &["b", "c"]);
        writer.close(&stage).unwrap();
        let staged = stage.into_staged();
        assert_eq!(names(&staged, 0, 0).1, ["a", "b", "b", "c"]);
    }
}
