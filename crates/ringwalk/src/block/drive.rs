//! Keeping all slots busy: short reads, refusals, stopping early.

use std::fs::File;
use std::io;
use std::mem;
use std::ops::ControlFlow;
use std::os::unix::fs::FileExt;

use ringwalk_sys::rustix::io::Errno;

use super::BlockReader;
use super::backend::{Backend, Completion};

/// The smallest logical block size. Counts of direct reads are multiples of it, except at the end
/// of the file.
pub(super) const SECTOR: u32 = 512;

/// Buffered reads of this length and more get a system call of their own. That costs less than
/// finding that their bytes have left the processor's caches.
const LONG: u32 = 16 << 10;

/// Returns true if `queued` direct reads are submitted although more can be queued, while the
/// device has `with_device` others.
///
/// If all reads of a ring end at once and one call replaces them, the device has no work while this
/// thread looks at the results, and then this thread waits for the device. So some are submitted as
/// soon as the device has less than half of the ring. A call for each read costs too much CPU time.
/// `docs/decisions/0019-block-reads.md` has the measurement.
fn submits_early(depth: u32, queued: u32, with_device: usize) -> bool {
    queued >= (depth / 4).clamp(4, 8) && with_device < depth as usize / 2
}

/// One read, and the requests that it is for.
#[derive(Debug)]
pub(super) struct PlannedRead<T> {
    pub(super) offset: u64,
    pub(super) len: u32,
    pub(super) what: T,
}

/// A read in a slot, and how many of its bytes are there.
struct SlotRead<T> {
    piece: PlannedRead<T>,
    got: u32,
}

/// The result of a read.
enum ReadOutcome {
    /// The read goes on where it stopped.
    Again,
    /// All bytes that exist have been read.
    Over,
    Failed(Errno),
}

/// The slots of one call: each is `None` and in `free`, or holds a read.
struct Slots<T> {
    readings: Vec<Option<SlotRead<T>>>,
    /// The slot that was freed last is used next: its memory is in the processor's caches.
    free: Vec<u32>,
    /// Number of reads started since the last system call that submitted them.
    queued: u32,
}

impl<T> Slots<T> {
    fn new(depth: u32) -> Self {
        Self {
            readings: (0..depth).map(|_| None).collect(),
            free: (0..depth).rev().collect(),
            queued: 0,
        }
    }

    fn is_idle(&self) -> bool {
        self.free.len() == self.readings.len()
    }
}

impl BlockReader {
    /// Reads pieces in their order, `depth` at a time. `done` gets the bytes of each, fewer than
    /// asked for only at the end of the file.
    pub(super) fn drive<T>(
        &mut self,
        pieces: impl Iterator<Item = PlannedRead<T>>,
        mut done: impl FnMut(PlannedRead<T>, Result<&[u8], Errno>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        // Reads are in flight if an earlier `done` panicked.
        if self.backend.drain().is_err() {
            self.backend = Backend::threads(&self.file, &self.options);
        }
        let mut pieces = pieces.fuse();
        let mut slots = Slots::new(self.options.depth);
        let (mut completions, mut settled) = (Vec::new(), Vec::new());
        let mut flow = ControlFlow::Continue(());
        loop {
            if flow.is_continue() {
                flow = self.fill(&mut slots, &mut pieces, &mut completions, &mut done);
            }
            if slots.is_idle() {
                return flow;
            }
            if completions.is_empty() {
                slots.queued = 0;
                if self.backend.wait(&mut completions).is_err() {
                    self.start_over(&mut slots);
                    continue;
                }
            }
            mem::swap(&mut completions, &mut settled);
            for (slot, result) in settled.drain(..) {
                flow = self.settle(&mut slots, slot, result, flow, &mut done);
                if self.direct && flow.is_continue() {
                    flow = self.fill(&mut slots, &mut pieces, &mut completions, &mut done);
                }
            }
        }
    }

    /// Starts reads while slots are free. Direct reads are submitted a few at a time, so that the
    /// device has some while the rest is prepared.
    ///
    /// Other reads are started until one is finished. Pages in the page cache are not read before
    /// they are asked for: that would only push them out of the processor's caches again.
    fn fill<T>(
        &mut self,
        slots: &mut Slots<T>,
        pieces: &mut impl Iterator<Item = PlannedRead<T>>,
        completions: &mut Vec<Completion>,
        done: &mut impl FnMut(PlannedRead<T>, Result<&[u8], Errno>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        while let Some(&slot) = slots.free.last()
            && (self.direct || completions.is_empty())
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
            slots.queued += 1;
            let submit = if self.direct {
                let with_device = self
                    .backend
                    .in_flight()
                    .saturating_sub(slots.queued as usize);
                submits_early(self.options.depth, slots.queued, with_device)
            } else {
                piece.len >= LONG
            };
            slots.readings[slot as usize] = Some(SlotRead { piece, got: 0 });
            slots.free.pop();
            if submit {
                slots.queued = 0;
                self.backend.submit(completions);
            }
        }
        ControlFlow::Continue(())
    }

    /// Gives the bytes of a read to `done`, unless the read goes on, or `done` has stopped.
    fn settle<T>(
        &mut self,
        slots: &mut Slots<T>,
        slot: u32,
        result: Result<u32, Errno>,
        flow: ControlFlow<()>,
        done: &mut impl FnMut(PlannedRead<T>, Result<&[u8], Errno>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let Some(mut reading) = slots.readings[slot as usize].take() else {
            return flow;
        };
        let step = self.advance(&mut reading, slot, result);
        if matches!(step, ReadOutcome::Again) && flow.is_continue() {
            let SlotRead { piece, got } = &reading;
            let at = piece.offset + u64::from(*got);
            self.backend.start(slot, at, *got, piece.len - *got);
            slots.queued += 1;
            slots.readings[slot as usize] = Some(reading);
            return flow;
        }
        slots.free.push(slot);
        flow?;
        match step {
            ReadOutcome::Failed(errno) => done(reading.piece, Err(errno)),
            ReadOutcome::Again | ReadOutcome::Over => {
                let bytes = &self.backend.bytes(slot)[..reading.got as usize];
                done(reading.piece, Ok(bytes))
            }
        }
    }

    /// Leaves a ring that can no longer be used, and starts its unfinished reads again on threads,
    /// from their beginning: the ring may still write into its own buffers.
    #[cold]
    fn start_over<T>(&mut self, slots: &mut Slots<T>) {
        self.backend = Backend::threads(&self.file, &self.options);
        for (slot, reading) in (0..).zip(&mut slots.readings) {
            if let Some(SlotRead { piece, got }) = reading {
                *got = 0;
                self.backend.start(slot, piece.offset, 0, piece.len);
            }
        }
    }

    /// Notes the result of a read.
    fn advance<T>(
        &mut self,
        reading: &mut SlotRead<T>,
        slot: u32,
        result: Result<u32, Errno>,
    ) -> ReadOutcome {
        let result = match result {
            Err(errno) if self.backend.may_be_refusing(errno) => {
                let (from, until) = (reading.got as usize, reading.piece.len as usize);
                let rest = &mut self.backend.bytes_mut(slot)[from..until];
                pread(&self.file, rest, reading.piece.offset + from as u64)
            }
            result => result,
        };
        match result {
            Err(Errno::INTR) => ReadOutcome::Again,
            // The file ends inside of a logical block, so the rest of a direct read would not begin
            // at one.
            Err(Errno::INVAL) if self.direct && reading.got > 0 => ReadOutcome::Over,
            Err(errno) => ReadOutcome::Failed(errno),
            Ok(0) => ReadOutcome::Over,
            Ok(count) => {
                reading.got += count;
                let ended = self.direct && count % SECTOR != 0;
                if ended || reading.got >= reading.piece.len {
                    ReadOutcome::Over
                } else {
                    ReadOutcome::Again
                }
            }
        }
    }
}

/// Makes one call of [`pread(2)`](https://man7.org/linux/man-pages/man2/pread.2.html).
pub(super) fn pread(file: &File, buffer: &mut [u8], offset: u64) -> Result<u32, Errno> {
    let count = file
        .read_at(buffer, offset)
        .map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
    Ok(u32::try_from(count).expect("no more than asked for"))
}

/// Returns `len` bytes at `from` of a read. An empty range is never beyond the end.
pub(super) fn slice_of(read: Result<&[u8], Errno>, from: u64, len: u32) -> io::Result<&[u8]> {
    if len == 0 {
        return Ok(&[]);
    }
    // `from` is an index into a buffer, whose length fits in a `u32`.
    let from = usize::try_from(from).unwrap_or(usize::MAX);
    read?
        .get(from..from.saturating_add(len as usize))
        .ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
}

#[cfg(test)]
mod tests {
    use super::submits_early;

    /// Returns how many reads the calls submit that replace `over` reads of a ring.
    fn calls(depth: u32, over: u32) -> Vec<u32> {
        let (mut calls, mut queued) = (Vec::new(), 0);
        let mut with_device = (depth - over) as usize;
        for _ in 0..over {
            queued += 1;
            if submits_early(depth, queued, with_device) {
                calls.push(queued);
                with_device += queued as usize;
                queued = 0;
            }
        }
        calls.extend((queued > 0).then_some(queued));
        calls
    }

    #[test]
    fn a_device_with_few_reads_gets_some_early() {
        assert_eq!(calls(16, 16), [4, 4, 8]);
        assert_eq!(calls(32, 32), [8, 8, 16]);
        assert_eq!(calls(64, 40), [8, 32]);
    }

    #[test]
    fn a_device_with_many_reads_gets_the_others_by_one_call() {
        assert_eq!(calls(64, 32), [32]);
        assert_eq!(calls(16, 6), [6]);
        assert_eq!(calls(2, 2), [2]);
        assert_eq!(calls(1, 1), [1]);
    }
}
