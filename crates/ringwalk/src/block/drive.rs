//! Keeping the slots full: short reads, refusals, stopping early.

use std::fs::File;
use std::io;
use std::ops::ControlFlow;
use std::os::unix::fs::FileExt;

use ringwalk_sys::rustix::io::Errno;

use super::BlockReader;
use super::backend::{Backend, Completion};

/// Counts of direct reads are multiples of the logical block size, at least this, except at the end of the file.
pub(super) const SECTOR: u32 = 512;

/// From this length on a system call of its own costs less of a read than finding its bytes gone from the processor's caches.
const LONG: u32 = 16 << 10;

/// One read, and what it is for.
#[derive(Debug)]
pub(super) struct Piece<T> {
    pub(super) offset: u64,
    pub(super) len: u32,
    pub(super) what: T,
}

/// A piece in a slot, and how much of it is there.
struct Reading<T> {
    piece: Piece<T>,
    got: u32,
}

/// What a read came to.
enum Step {
    /// It goes on where it stopped.
    Again,
    /// As much as there is has been read.
    Over,
    Failed(Errno),
}

/// The slots of one call: `None` and in `free`, or reading.
struct Slots<T> {
    readings: Vec<Option<Reading<T>>>,
    /// The last one freed is the next one used: its memory is in the processor's caches.
    free: Vec<u32>,
}

impl<T> Slots<T> {
    fn new(depth: u32) -> Self {
        Self {
            readings: (0..depth).map(|_| None).collect(),
            free: (0..depth).rev().collect(),
        }
    }

    fn is_idle(&self) -> bool {
        self.free.len() == self.readings.len()
    }
}

impl BlockReader {
    /// Reads pieces in their order, `depth` at a time; `done` is given the bytes read, fewer than asked for only where the
    /// file ends.
    pub(super) fn drive<T>(
        &mut self,
        pieces: impl Iterator<Item = Piece<T>>,
        mut done: impl FnMut(Piece<T>, Result<&[u8], Errno>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        // Left by a `done` that panicked.
        if self.backend.drain().is_err() {
            self.backend = Backend::threads(&self.file, &self.options);
        }
        let mut pieces = pieces.fuse();
        let mut slots = Slots::new(self.options.depth);
        let mut completions = Vec::new();
        let mut flow = ControlFlow::Continue(());
        loop {
            if flow.is_continue() {
                flow = self.fill(&mut slots, &mut pieces, &mut completions, &mut done);
            }
            if slots.is_idle() {
                return flow;
            }
            if completions.is_empty() && self.backend.wait(&mut completions).is_err() {
                self.start_over(&mut slots);
                continue;
            }
            for (slot, result) in completions.drain(..) {
                flow = self.settle(&mut slots, slot, result, flow, &mut done);
            }
        }
    }

    /// Starts reads while there are slots, or until one is over: what is in the page cache is not read ahead of being
    /// asked for, which would only take it out of the processor's caches again.
    fn fill<T>(
        &mut self,
        slots: &mut Slots<T>,
        pieces: &mut impl Iterator<Item = Piece<T>>,
        completions: &mut Vec<Completion>,
        done: &mut impl FnMut(Piece<T>, Result<&[u8], Errno>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        while let Some(&slot) = slots.free.last()
            && completions.is_empty()
            && let Some(piece) = pieces.next()
        {
            if piece.len == 0 {
                done(piece, Ok(&[]))?;
                continue;
            }
            if piece.len > self.options.buffer_size {
                done(piece, Err(Errno::INVAL))?;
                continue;
            }
            self.backend.start(slot, piece.offset, 0, piece.len);
            let long = piece.len >= LONG;
            slots.readings[slot as usize] = Some(Reading { piece, got: 0 });
            slots.free.pop();
            if long && !self.direct {
                self.backend.submit(completions);
            }
        }
        ControlFlow::Continue(())
    }

    /// Gives what was read to `done`, unless the read has to go on or nobody wants it any more.
    fn settle<T>(
        &mut self,
        slots: &mut Slots<T>,
        slot: u32,
        result: Result<u32, Errno>,
        flow: ControlFlow<()>,
        done: &mut impl FnMut(Piece<T>, Result<&[u8], Errno>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let Some(mut reading) = slots.readings[slot as usize].take() else {
            return flow;
        };
        let step = self.advance(&mut reading, slot, result);
        if matches!(step, Step::Again) && flow.is_continue() {
            let Reading { piece, got } = &reading;
            let at = piece.offset + u64::from(*got);
            self.backend.start(slot, at, *got, piece.len - *got);
            slots.readings[slot as usize] = Some(reading);
            return flow;
        }
        slots.free.push(slot);
        flow?;
        match step {
            Step::Failed(errno) => done(reading.piece, Err(errno)),
            Step::Again | Step::Over => {
                let bytes = &self.backend.bytes(slot)[..reading.got as usize];
                done(reading.piece, Ok(bytes))
            }
        }
    }

    /// Leaves a ring that works no more, and reads what it has not read with threads, from the start: it may still write
    /// into its own buffers.
    #[cold]
    fn start_over<T>(&mut self, slots: &mut Slots<T>) {
        self.backend = Backend::threads(&self.file, &self.options);
        for (slot, reading) in (0..).zip(&mut slots.readings) {
            if let Some(Reading { piece, got }) = reading {
                *got = 0;
                self.backend.start(slot, piece.offset, 0, piece.len);
            }
        }
    }

    /// Takes note of what a read brought.
    fn advance<T>(
        &mut self,
        reading: &mut Reading<T>,
        slot: u32,
        result: Result<u32, Errno>,
    ) -> Step {
        let result = match result {
            Err(errno) if self.backend.may_be_refusing(errno) => {
                let (from, until) = (reading.got as usize, reading.piece.len as usize);
                let rest = &mut self.backend.bytes_mut(slot)[from..until];
                pread(&self.file, rest, reading.piece.offset + from as u64)
            }
            result => result,
        };
        match result {
            Err(Errno::INTR) => Step::Again,
            // The file ends inside of a logical block: the rest of a direct read does not begin at one.
            Err(Errno::INVAL) if self.direct && reading.got > 0 => Step::Over,
            Err(errno) => Step::Failed(errno),
            Ok(0) => Step::Over,
            Ok(count) => {
                reading.got += count;
                let ended = self.direct && count % SECTOR != 0;
                if ended || reading.got >= reading.piece.len {
                    Step::Over
                } else {
                    Step::Again
                }
            }
        }
    }
}

/// One [`pread(2)`](https://man7.org/linux/man-pages/man2/pread.2.html).
pub(super) fn pread(file: &File, buffer: &mut [u8], offset: u64) -> Result<u32, Errno> {
    let count = file
        .read_at(buffer, offset)
        .map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
    Ok(u32::try_from(count).expect("no more than asked for"))
}

/// `len` bytes at `from` of what was read. No bytes are nowhere beyond the end.
pub(super) fn part(read: Result<&[u8], Errno>, from: u64, len: u32) -> io::Result<&[u8]> {
    if len == 0 {
        return Ok(&[]);
    }
    // Shorter than a `u32` can say: `from` is a place in a buffer.
    let from = usize::try_from(from).unwrap_or(usize::MAX);
    read?
        .get(from..from.saturating_add(len as usize))
        .ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
}
