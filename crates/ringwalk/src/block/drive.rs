//! Keeping the slots full: short reads, refusals, stopping early.

use std::fs::File;
use std::io;
use std::ops::ControlFlow;
use std::os::unix::fs::FileExt;

use ringwalk_sys::rustix::io::Errno;

use super::backend::Backend;
use super::{BlockReader, Request};

/// Counts of direct reads are multiples of the logical block size, at least this, except at the end of the file.
const SECTOR: u32 = 512;

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

/// What to do about a slot after one of its reads is over.
enum Step {
    /// Read on where it stopped.
    Again,
    /// As much as there is has been read.
    Over,
    Failed(Errno),
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
        let depth = self.options.depth;
        let mut slots: Vec<Option<Reading<T>>> = (0..depth).map(|_| None).collect();
        let mut free: Vec<u32> = (0..depth).rev().collect();
        let mut flow = ControlFlow::Continue(());
        let mut completions = Vec::new();
        loop {
            while flow.is_continue()
                && let Some(&slot) = free.last()
                && let Some(piece) = pieces.next()
            {
                if piece.len == 0 {
                    flow = done(piece, Ok(&[]));
                } else if piece.len > self.options.buffer_size {
                    flow = done(piece, Err(Errno::INVAL));
                } else {
                    self.backend.start(slot, piece.offset, 0, piece.len);
                    slots[slot as usize] = Some(Reading { piece, got: 0 });
                    free.pop();
                }
            }
            if free.len() == slots.len() {
                return flow;
            }
            if self.backend.wait(&mut completions).is_err() {
                self.start_over(&mut slots);
                continue;
            }
            for (slot, result) in completions.drain(..) {
                let reading = slots[slot as usize].as_mut().expect("a read was started");
                let step = advance(
                    reading,
                    slot,
                    result,
                    &mut self.backend,
                    &self.file,
                    self.direct,
                );
                if matches!(step, Step::Again) {
                    if flow.is_continue() {
                        let Reading { piece, got } = reading;
                        let at = piece.offset + u64::from(*got);
                        self.backend.start(slot, at, *got, piece.len - *got);
                        continue;
                    }
                }
                let Some(reading) = slots[slot as usize].take() else {
                    continue;
                };
                free.push(slot);
                if flow.is_continue() {
                    let bytes = match step {
                        Step::Failed(errno) => Err(errno),
                        _ => Ok(&self.backend.bytes(slot)[..reading.got as usize]),
                    };
                    flow = done(reading.piece, bytes);
                }
            }
        }
    }
}

impl BlockReader {
    /// Leaves a ring that works no more, and reads what it has not read with threads, from the start: it may still write
    /// into its own buffers.
    fn start_over<T>(&mut self, slots: &mut [Option<Reading<T>>]) {
        self.backend = Backend::threads(&self.file, &self.options);
        for (slot, reading) in (0..).zip(slots) {
            if let Some(Reading { piece, got }) = reading {
                *got = 0;
                self.backend.start(slot, piece.offset, 0, piece.len);
            }
        }
    }
}

/// Takes note of what a read brought.
fn advance<T>(
    reading: &mut Reading<T>,
    slot: u32,
    result: Result<u32, Errno>,
    backend: &mut Backend,
    file: &File,
    direct: bool,
) -> Step {
    let from = reading.got as usize;
    let until = reading.piece.len as usize;
    let result = match result {
        Err(errno) if backend.may_be_refusing(errno) => {
            let rest = &mut backend.bytes_mut(slot)[from..until];
            pread(file, rest, reading.piece.offset + from as u64)
        }
        result => result,
    };
    match result {
        Err(Errno::INTR) => Step::Again,
        // The file ends inside of a logical block: the rest of a direct read does not begin at one.
        Err(Errno::INVAL) if direct && from > 0 => Step::Over,
        Err(errno) => Step::Failed(errno),
        Ok(0) => Step::Over,
        Ok(count) => {
            reading.got += count;
            let over = reading.got >= reading.piece.len || (direct && count % SECTOR != 0);
            if over { Step::Over } else { Step::Again }
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
pub(super) fn part<'a>(
    read: &Result<&'a [u8], Errno>,
    from: usize,
    len: u32,
) -> io::Result<&'a [u8]> {
    if len == 0 {
        return Ok(&[]);
    }
    let bytes = read.as_ref().map_err(|errno| io::Error::from(*errno))?;
    bytes
        .get(from..from.saturating_add(len as usize))
        .ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
}

/// One request by itself, when the read that it was merged into failed.
pub(super) fn read_alone<'a>(
    file: &File,
    request: Request,
    spare: &'a mut Vec<u8>,
) -> io::Result<&'a [u8]> {
    spare.resize(request.len as usize, 0);
    file.read_exact_at(spare, request.offset)?;
    Ok(spare)
}
