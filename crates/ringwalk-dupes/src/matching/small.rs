//! Small files: each is read as a whole, many by one call.

use super::layout::{Faults, Layout};
use super::{Matched, Matcher, Unit};
use crate::inventory::FileId;
use ringwalk_hash::{
    Crew, Fault, FilePermits, MULTI_BYTES, MULTI_FILES, MultiFileReader, OpenFile, ReadBuffer,
    file_permits, most_open_roots, read_range,
};
use ringwalk_sys::release_free_memory;
use ringwalk_sys::sync::lock;
use rustix::io::Errno;
use std::collections::{HashMap, HashSet};
use std::io;
use std::ops::Range;
use std::sync::atomic::Ordering;

/// Candidates whose places on the disk are sorted together. Each takes 16 bytes.
#[cfg(not(test))]
pub(super) const BATCH: usize = 1 << 15;

/// Tests have few files, and more than one batch.
#[cfg(test)]
pub(super) const BATCH: usize = 8;

impl Matcher<'_> {
    pub(super) fn match_small(
        &self,
        classes: impl Iterator<Item = Range<u32>>,
        matched: &mut Matched,
    ) -> io::Result<()> {
        let mut units = Vec::new();
        let mut known = HashSet::new();
        for class in classes {
            if class.len() > 2 * BATCH {
                // The collector forgets what it has seen after a long class.
                self.read_small(&mut units, &known, matched)?;
                known.clear();
                self.match_long_class(class, matched)?;
                continue;
            }
            let size = self.inventory.file(FileId(class.start)).size;
            let mut has_known = false;
            for names in self.inventory.inodes(class) {
                has_known |= self.sort_out(names, &mut units, matched);
            }
            if has_known {
                known.insert(size);
            }
            // The classes are whole, so the collector can forget what it has seen of them.
            if units.len() >= BATCH {
                self.read_small(&mut units, &known, matched)?;
                known.clear();
                lock(&self.collector).forget();
            }
        }
        self.read_small(&mut units, &known, matched)?;
        lock(&self.collector).forget();
        Ok(())
    }

    /// Compares the files of one size in several batches.
    fn match_long_class(&self, class: Range<u32>, matched: &mut Matched) -> io::Result<()> {
        // Each file of the other batches may be like one of this batch, as if its hash were known.
        let known = HashSet::from([self.inventory.file(FileId(class.start)).size]);
        let mut units = Vec::new();
        for names in self.inventory.inodes(class) {
            self.sort_out(names, &mut units, matched);
            if units.len() == BATCH {
                self.read_small(&mut units, &known, matched)?;
            }
        }
        self.read_small(&mut units, &known, matched)?;
        lock(&self.collector).forget();
        Ok(())
    }

    /// Reads candidates. `known` has the sizes of those whose hashes are known.
    fn read_small(
        &self,
        units: &mut Vec<Unit>,
        known: &HashSet<u64>,
        matched: &mut Matched,
    ) -> io::Result<()> {
        // All hashes are known: no thread need be started.
        if units.is_empty() {
            return Ok(());
        }
        let layout = self.lay_out(units, Faults::FoundAgain)?;
        matched.shares.extend(layout.shares());
        units.retain(|unit| !layout.is_follower(unit.file));
        if !layout.is_empty() {
            self.keep_unread(units, known, &layout);
        }
        units.sort_unstable_by_key(|unit| unit.place);
        let crew = Crew::default();
        let roots = self.roots.len().min(most_open_roots());
        let permits = FilePermits::new(file_permits(self.options.workers, roots));
        let work = |files: Range<usize>, scratch: &mut Scratch| {
            let mut rest = &units[files];
            let mut more = permits.take(rest.len() - 1);
            if permits.is_closed() {
                scratch.multi_file.close();
            }
            while !rest.is_empty() {
                let (now, later) = rest.split_at(rest.len().min(1 + more.count()));
                let lack = |scratch: &mut Scratch| {
                    scratch.multi_file.close();
                    more.end_all();
                };
                self.match_units(now, &layout, scratch, lack);
                rest = later;
            }
        };
        let produce = || self.for_each_part(units, &layout, |files| crew.push(files));
        crew.run(self.options.workers, Scratch::default, work, produce)?;
        // Workers that have ended leave buffers, and old copies of the collector's lists.
        release_free_memory();
        units.clear();
        Ok(())
    }

    /// Takes away the units that can be like no other unit, but only like those that share their
    /// extents: these make groups without being read.
    fn keep_unread(&self, units: &mut Vec<Unit>, known: &HashSet<u64>, layout: &Layout) {
        let size = |unit: &Unit| self.inventory.file(unit.file).size;
        let mut counts: HashMap<u64, u32> = HashMap::new();
        for unit in units.iter() {
            *counts.entry(size(unit)).or_default() += 1;
        }
        units.retain(|unit| {
            let size = size(unit);
            let is_alone = counts.get(&size) == Some(&1) && !known.contains(&size);
            let followers = layout.followers(unit.file);
            if is_alone && !followers.is_empty() {
                lock(&self.collector).add_shared(self.inventory, unit.file, followers);
                self.options.progress.files.fetch_add(1, Ordering::Relaxed);
            }
            !is_alone
        });
    }

    /// Calls `push` for parts of `units` that one worker reads by one call.
    fn for_each_part(&self, units: &[Unit], layout: &Layout, push: impl FnMut(Range<usize>)) {
        let files = units.iter().map(|unit| {
            let file = self.inventory.file(unit.file);
            (file.size, layout.suits_multi_file_reads(file.device))
        });
        parts(files, push);
    }

    /// Reads candidates, and gives their hashes to the collector. Calls `lack` when a descriptor is
    /// lacking, to close those that can be done without.
    fn match_units(
        &self,
        units: &[Unit],
        layout: &Layout,
        scratch: &mut Scratch,
        lack: impl FnOnce(&mut Scratch),
    ) {
        let hashes = self.hash_units(units, scratch, lack);
        for (unit, hash) in units.iter().zip(hashes) {
            let mut hash = hash.inspect(|hash| self.remember(unit.file, hash));
            for file in std::iter::once(&unit.file).chain(layout.followers(unit.file)) {
                // Another one is read if the first is gone meanwhile.
                if hash.is_none() && *file != unit.file {
                    hash = self.hash_small(*file, &mut scratch.buffer);
                    hash.inspect(|hash| self.remember(*file, hash));
                }
                if let Some(hash) = hash {
                    lock(&self.collector).add(self.inventory, *file, hash);
                }
            }
        }
    }

    /// Hashes candidates by one call. Reports those that have no hash.
    fn hash_units(
        &self,
        units: &[Unit],
        scratch: &mut Scratch,
        lack: impl FnOnce(&mut Scratch),
    ) -> Vec<Option<[u8; 32]>> {
        let mut hashes = vec![None; units.len()];
        let (mut open, mut places, mut later) = (Vec::new(), Vec::new(), Vec::new());
        for (at, unit) in units.iter().enumerate() {
            match self.open_version(unit.file) {
                Ok(file) => {
                    open.push(file);
                    places.push(at);
                }
                Err(Fault::Open(Errno::MFILE | Errno::NFILE)) => later.push(at),
                Err(fault) => {
                    self.reported::<()>(unit.file, Err(fault));
                }
            }
        }
        let Scratch { buffer, multi_file } = scratch;
        multi_file.read(&open, |at, bytes| {
            let place = places[at];
            let hash = hash_open(&open[at], bytes, buffer);
            hashes[place] = self.reported(units[place].file, hash);
        });
        drop(open);
        if !later.is_empty() {
            lack(scratch);
        }
        for at in later {
            hashes[at] = self.hash_small(units[at].file, &mut scratch.buffer);
        }
        hashes
    }

    fn hash_small(&self, id: FileId, buffer: &mut [u8]) -> Option<[u8; 32]> {
        let hash = self.open_version(id);
        self.reported(id, hash.and_then(|file| hash_open(&file, None, buffer)))
    }
}

/// What a worker keeps from task to task.
#[derive(Debug, Default)]
struct Scratch {
    buffer: ReadBuffer,
    multi_file: MultiFileReader,
}

/// Hashes an open file. `bytes` are its contents, if they were read.
fn hash_open(file: &OpenFile, bytes: Option<&[u8]>, buffer: &mut [u8]) -> Result<[u8; 32], Fault> {
    let mut hasher = blake3::Hasher::new();
    if let Some(bytes) = bytes {
        hasher.update(bytes);
    } else {
        read_range(file, 0..file.version().size, buffer, |bytes| {
            hasher.update(bytes);
        })?;
    }
    file.check_unchanged()?;
    Ok(hasher.finalize().into())
}

/// Calls `push` for parts of a list of files that one worker reads by one call. Each file has a
/// size, and whether its file system suits that; otherwise it is a part of its own.
fn parts(files: impl Iterator<Item = (u64, bool)>, mut push: impl FnMut(Range<usize>)) {
    let mut part = 0..0;
    let mut bytes = 0;
    let mut suited = false;
    for (size, suits) in files {
        let is_full = part.len() == MULTI_FILES || bytes + size > MULTI_BYTES;
        if !part.is_empty() && (is_full || !suits || !suited) {
            push(part.clone());
            part.start = part.end;
            bytes = 0;
        }
        part.end += 1;
        bytes += size;
        suited = suits;
    }
    if !part.is_empty() {
        push(part);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts_of(files: &[(u64, bool)]) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        parts(files.iter().copied(), |part| found.push(part));
        found
    }

    #[test]
    fn parts_have_their_most_files_and_bytes() {
        assert_eq!(parts_of(&[]), []);
        let files = vec![(1, true); 2 * MULTI_FILES + 1];
        let (first, second) = (MULTI_FILES, 2 * MULTI_FILES);
        assert_eq!(
            parts_of(&files),
            [0..first, first..second, second..second + 1]
        );
        let half = MULTI_BYTES / 2;
        assert_eq!(parts_of(&[(half, true); 4]), [0..2, 2..4]);
        assert_eq!(parts_of(&[(half + 1, true); 3]), [0..1, 1..2, 2..3]);
        assert_eq!(
            parts_of(&[(1, true), (MULTI_BYTES, true), (1, true)]),
            [0..1, 1..2, 2..3]
        );
    }

    #[test]
    fn files_of_other_file_systems_are_alone() {
        let files = [true, true, false, true, true, false, false, true].map(|suits| (1, suits));
        assert_eq!(parts_of(&files), [0..2, 2..3, 3..5, 5..6, 6..7, 7..8]);
    }
}
