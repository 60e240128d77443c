//! Records of numbers, sorted in bounded memory.

use super::spill::Spill;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::io;

/// Bytes of a number.
const NUMBER: usize = size_of::<u64>();

/// The least bytes of a run, however little memory there is.
const LEAST_RUN: usize = 64 << 10;

/// The least bytes that are read of a run at once.
const LEAST_READ: usize = 4096;

/// Collects records of `N` numbers. What does not fit in memory goes into the temporary file, in
/// sorted runs.
pub(super) struct Sorter<'s, const N: usize> {
    spill: &'s Spill,
    records: Vec<[u64; N]>,
    /// The number of records that are sorted at once.
    most: usize,
    runs: Vec<Run>,
}

/// Sorted records in the temporary file.
struct Run {
    offset: u64,
    records: usize,
}

impl<'s, const N: usize> Sorter<'s, N> {
    pub(super) fn new(spill: &'s Spill, memory: usize) -> Self {
        Self {
            spill,
            records: Vec::new(),
            // A power of two, because a growing vector has such sizes, too.
            most: 1 << (memory.max(LEAST_RUN) / (N * NUMBER)).ilog2(),
            runs: Vec::new(),
        }
    }

    pub(super) fn push(&mut self, record: [u64; N]) -> io::Result<()> {
        if self.records.len() == self.most {
            self.write_run()?;
        }
        self.records.push(record);
        Ok(())
    }

    fn write_run(&mut self) -> io::Result<()> {
        self.records.sort_unstable();
        let mut data = Vec::with_capacity(LEAST_RUN);
        let mut first = None;
        for chunk in self.records.chunks(LEAST_RUN / (N * NUMBER)) {
            data.clear();
            data.extend(
                chunk
                    .iter()
                    .flatten()
                    .flat_map(|number| number.to_le_bytes()),
            );
            // Nobody else writes to the file meanwhile, so the parts of a run follow each other.
            let offset = self.spill.append(&data)?;
            first.get_or_insert(offset);
        }
        if let Some(offset) = first {
            let records = self.records.len();
            self.runs.push(Run { offset, records });
        }
        self.records.clear();
        Ok(())
    }

    /// Ends collecting.
    pub(super) fn into_sorted(mut self) -> io::Result<Sorted<'s, N>> {
        if self.runs.is_empty() {
            self.records.sort_unstable();
            return Ok(Sorted::Memory(self.records.into_iter()));
        }
        self.write_run()?;
        self.records = Vec::new();
        let record = N * NUMBER;
        let read = (self.most * record / self.runs.len()).max(LEAST_READ) / record;
        let mut heap = BinaryHeap::with_capacity(self.runs.len());
        let mut readers = Vec::with_capacity(self.runs.len());
        for (index, run) in self.runs.into_iter().enumerate() {
            let mut reader = RunReader {
                run,
                buffer: Vec::new(),
                at: 0,
            };
            if let Some(first) = reader.next(self.spill, read)? {
                heap.push(Reverse((first, index)));
            }
            readers.push(reader);
        }
        Ok(Sorted::File {
            spill: self.spill,
            readers,
            read,
            heap,
        })
    }
}

/// The records in order.
pub(super) enum Sorted<'s, const N: usize> {
    Memory(std::vec::IntoIter<[u64; N]>),
    File {
        spill: &'s Spill,
        readers: Vec<RunReader<N>>,
        /// The number of records that are read of a run at once.
        read: usize,
        /// The next record of each run.
        heap: BinaryHeap<Reverse<([u64; N], usize)>>,
    },
}

impl<const N: usize> Sorted<'_, N> {
    pub(super) fn next(&mut self) -> io::Result<Option<[u64; N]>> {
        let (spill, readers, read, heap) = match self {
            Self::Memory(records) => return Ok(records.next()),
            Self::File {
                spill,
                readers,
                read,
                heap,
            } => (spill, readers, read, heap),
        };
        let Some(mut top) = heap.peek_mut() else {
            return Ok(None);
        };
        let Reverse((first, index)) = *top;
        match readers[index].next(spill, *read)? {
            Some(next) => *top = Reverse((next, index)),
            None => drop(PeekMut::pop(top)),
        }
        Ok(Some(first))
    }
}

/// Reads the records of one run.
pub(super) struct RunReader<const N: usize> {
    /// What has not been read.
    run: Run,
    buffer: Vec<u8>,
    at: usize,
}

impl<const N: usize> RunReader<N> {
    fn next(&mut self, spill: &Spill, read: usize) -> io::Result<Option<[u64; N]>> {
        if self.at == self.buffer.len() {
            let records = self.run.records.min(read);
            self.buffer.resize(records * N * NUMBER, 0);
            spill.read(&mut self.buffer, self.run.offset)?;
            self.run.offset += self.buffer.len() as u64;
            self.run.records -= records;
            self.at = 0;
        }
        let (numbers, _) = self.buffer[self.at..].as_chunks::<NUMBER>();
        if numbers.is_empty() {
            return Ok(None);
        }
        self.at += N * NUMBER;
        Ok(Some(std::array::from_fn(|index| {
            u64::from_le_bytes(numbers[index])
        })))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns numbers without an order.
    fn numbers(count: u64) -> impl Iterator<Item = u64> {
        (0..count).map(|number| number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20)
    }

    #[test]
    fn records_are_sorted_in_memory_and_in_the_file() {
        // A run of 64 KiB has 2048 records.
        for count in [0, 1, 2047, 2048, 2049, 60_000] {
            for memory in [0, usize::MAX] {
                let spill = Spill::default();
                let mut collected = Sorter::<4>::new(&spill, memory);
                let record = |number| [number % 7, number, 5, !number];
                for number in numbers(count) {
                    collected.push(record(number)).unwrap();
                }
                let mut expected: Vec<_> = numbers(count).map(record).collect();
                expected.sort_unstable();
                let mut sorted = collected.into_sorted().unwrap();
                let mut all = Vec::new();
                while let Some(record) = sorted.next().unwrap() {
                    all.push(record);
                }
                assert!(all == expected, "{count} records, {memory} bytes");
            }
        }
    }
}
