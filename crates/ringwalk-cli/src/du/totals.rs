//! Sums over files, and lists of those that may have been met before.

use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

use ringwalk::{Identity, Timestamp};

/// What is added up: for one file, or for many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Totals {
    /// Bytes, of contents or of space. Stays at its greatest value when it would pass it.
    pub(crate) size: u64,
    /// Files of any type.
    pub(crate) inodes: u64,
    /// The latest of the times shown; none of no file.
    pub(crate) time: Option<Timestamp>,
}

impl Totals {
    /// Adds other files.
    pub(crate) fn add(&mut self, other: &Self) {
        self.size = self.size.saturating_add(other.size);
        self.inodes += other.inodes;
        self.time = self.time.max(other.time);
    }
}

/// Files that count only if they have not been met before, in order. A tree can consist of nothing else, so they are kept
/// small.
#[derive(Debug, Default)]
pub(crate) struct Links {
    runs: Vec<Run>,
}

/// Files one after the other on the same device.
#[derive(Debug)]
struct Run {
    dev: u64,
    files: Vec<LinkedFile>,
    /// The times of the files; empty if none are shown.
    times: Vec<Timestamp>,
}

#[derive(Debug)]
struct LinkedFile {
    ino: u64,
    size: u64,
    /// Where its line is in the text that goes with it.
    line: [u32; 2],
}

impl Links {
    /// Adds a file, whose line is at `line` in some text.
    pub(crate) fn push(&mut self, file: Identity, totals: &Totals, line: Range<usize>) {
        if self.runs.last().is_none_or(|run| run.dev != file.dev) {
            self.runs.push(Run {
                dev: file.dev,
                files: Vec::new(),
                times: Vec::new(),
            });
        }
        let Some(run) = self.runs.last_mut() else {
            return;
        };
        // Texts are handed on long before they are that long.
        let at = |offset| u32::try_from(offset).unwrap_or(u32::MAX);
        run.files.push(LinkedFile {
            ino: file.ino,
            size: totals.size,
            line: [at(line.start), at(line.end)],
        });
        run.times.extend(totals.time);
    }

    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// Adds others, which have no lines.
    pub(crate) fn append(&mut self, mut others: Self) {
        if let (Some(last), [first]) = (self.runs.last_mut(), &mut others.runs[..])
            && last.dev == first.dev
        {
            last.files.append(&mut first.files);
            last.times.append(&mut first.times);
            return;
        }
        self.runs.append(&mut others.runs);
    }

    /// Gives back memory that is not used.
    pub(crate) fn shrink(&mut self) {
        for run in &mut self.runs {
            run.files.shrink_to_fit();
            run.times.shrink_to_fit();
        }
        self.runs.shrink_to_fit();
    }

    /// The files, each with its place in the text.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Identity, Totals, Range<usize>)> {
        self.runs.iter().flat_map(|run| {
            let times = run.times.iter().copied().map(Some);
            let times = times.chain(std::iter::repeat(None));
            run.files.iter().zip(times).map(|(file, time)| {
                let identity = Identity {
                    dev: run.dev,
                    ino: file.ino,
                };
                let totals = Totals {
                    size: file.size,
                    inodes: 1,
                    time,
                };
                let [start, end] = file.line;
                (identity, totals, start as usize..end as usize)
            })
        })
    }
}

/// The lock, also if a thread panicked with it: sums are added to in whole steps.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(dev: u64, ino: u64) -> Identity {
        Identity { dev, ino }
    }

    #[test]
    fn sums() {
        let time = |secs| Some(Timestamp { secs, nanos: 0 });
        let mut sum = Totals::default();
        sum.add(&Totals {
            size: 5,
            inodes: 1,
            time: time(-7),
        });
        assert_eq!(sum.time, time(-7), "a time before 1970 is later than none");
        sum.add(&Totals {
            size: u64::MAX - 1,
            inodes: 2,
            time: time(-9),
        });
        assert_eq!((sum.size, sum.inodes, sum.time), (u64::MAX, 3, time(-7)));
    }

    #[test]
    fn links_keep_their_order() {
        let totals = |size, secs: Option<i64>| Totals {
            size,
            inodes: 1,
            time: secs.map(|secs| Timestamp { secs, nanos: 0 }),
        };
        for time in [None, Some(5)] {
            let mut links = Links::default();
            assert!(links.is_empty());
            links.push(file(1, 7), &totals(70, time), 0..3);
            links.push(file(2, 8), &totals(80, time), 3..9);
            let mut more = Links::default();
            more.push(file(2, 9), &totals(90, time), 0..0);
            links.append(more);
            links.shrink();
            let all: Vec<_> = links.iter().collect();
            assert_eq!(
                all,
                [
                    (file(1, 7), totals(70, time), 0..3),
                    (file(2, 8), totals(80, time), 3..9),
                    (file(2, 9), totals(90, time), 0..0),
                ]
            );
        }
    }
}
