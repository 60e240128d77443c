//! Lists of files that count once, and are charged to the first directory in the order ("A file
//! with several names counts once" in `docs/architecture.md`).

use std::ops::Range;
use std::sync::Mutex;

use ringwalk::{Identity, Timestamp};
use ringwalk_sys::sync::lock;

use crate::seen_inodes::SeenInodes;
use crate::totals::Totals;

/// Files that count once and may have been seen before, in order. A tree can consist of nothing
/// else, so the list is kept small.
#[derive(Debug, Default)]
pub(crate) struct LinkedFiles {
    runs: Vec<Run>,
}

/// Files that follow each other in the order and are on the same device.
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
    /// The range of its line in the text that goes with the list.
    line: [u32; 2],
}

impl LinkedFiles {
    /// Adds a file, whose line is at `line` in the text that goes with the list.
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
        // Workers pass texts on long before they reach 4 GiB.
        let at = |offset| u32::try_from(offset).unwrap_or(u32::MAX);
        run.files.push(LinkedFile {
            ino: file.ino,
            size: totals.size,
            line: [at(line.start), at(line.end)],
        });
        run.times.extend(totals.time);
    }

    /// Returns true if the list has no files.
    pub(crate) fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// Appends the files of another list, which have no lines.
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

    /// Frees memory that is not used.
    pub(crate) fn shrink(&mut self) {
        for run in &mut self.runs {
            run.files.shrink_to_fit();
            run.times.shrink_to_fit();
        }
        self.runs.shrink_to_fit();
    }

    /// Adds the files to `sum` that `seen` does not have yet, and gives the line of each other file
    /// to `repeated`.
    pub(crate) fn charge(
        &self,
        seen: &Mutex<SeenInodes>,
        sum: &mut Totals,
        mut repeated: impl FnMut(Range<usize>),
    ) {
        if self.is_empty() {
            return;
        }
        let mut seen = lock(seen);
        for (identity, totals, line) in self.iter() {
            if seen.insert(identity) {
                *sum += totals;
            } else {
                repeated(line);
            }
        }
    }

    /// Returns the files, each with the range of its line.
    fn iter(&self) -> impl Iterator<Item = (Identity, Totals, Range<usize>)> {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn file(dev: u64, ino: u64) -> Identity {
        Identity { dev, ino }
    }

    #[test]
    fn links_keep_their_order() {
        let totals = |size, secs: Option<i64>| Totals {
            size,
            inodes: 1,
            time: secs.map(|secs| Timestamp { secs, nanos: 0 }),
        };
        for time in [None, Some(5)] {
            let mut links = LinkedFiles::default();
            assert!(links.is_empty());
            links.push(file(1, 7), &totals(70, time), 0..3);
            links.push(file(2, 8), &totals(80, time), 3..9);
            let mut more = LinkedFiles::default();
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
