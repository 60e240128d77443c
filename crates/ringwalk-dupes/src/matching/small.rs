//! Small files: each is read as a whole, at once.

use super::layout::{Faults, Layout};
use super::{Matched, Matcher, Unit};
use crate::inventory::FileId;
use ringwalk_hash::{Crew, ReadBuffer, read_range};
use ringwalk_sys::release_free_memory;
use ringwalk_sys::sync::lock;
use std::collections::{HashMap, HashSet};
use std::io;
use std::ops::Range;
use std::sync::atomic::Ordering;

/// Candidates whose places on the disk are sorted together. Each takes 16 bytes here, and as many
/// in the queue of the crew.
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
        let work = |unit: Unit, buffer: &mut ReadBuffer| {
            let all = std::iter::once(&unit.file).chain(layout.followers(unit.file));
            // Another one is read if the first is gone meanwhile.
            let mut hash = None;
            for file in all {
                hash = hash.or_else(|| self.hash_small(*file, buffer));
                if let Some(hash) = hash {
                    lock(&self.collector).add(self.inventory, *file, hash);
                }
            }
        };
        let produce = || units.iter().for_each(|unit| crew.push(*unit));
        crew.run(self.options.workers, ReadBuffer::default, work, produce)?;
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

    fn hash_small(&self, id: FileId, buffer: &mut [u8]) -> Option<[u8; 32]> {
        let size = self.inventory.file(id).size;
        let mut hasher = blake3::Hasher::new();
        self.with_file(id, |file| {
            read_range(file, 0..size, buffer, |bytes| {
                hasher.update(bytes);
            })
        })?;
        let hash = hasher.finalize().into();
        self.remember(id, &hash);
        Some(hash)
    }
}
