//! Where candidates are on the disk: which share all their extents, and in which order to read.

use super::small::BATCH;
use super::{Matched, Matcher, Unit};
use crate::inventory::FileId;
use ringwalk::device::is_rotational;
use ringwalk::identity::NamedBy;
use ringwalk_hash::{Crew, Fault, OpenFile, suits_multi_file_reads};
use ringwalk_sys::sync::{IgnorePoison, lock};
use ringwalk_sys::{ExtentMap, FileExtent, cachestat, magic};
use rustix::fs::{major, minor};
use rustix::io::Errno;
use std::collections::HashMap;
use std::io;
use std::os::fd::AsFd;
use std::sync::Mutex;

/// File systems on which files can share extents (`FICLONE`).
const SHARING: [u64; 3] = [magic::BTRFS, magic::XFS, magic::OCFS2];

/// Extents of these kinds are not where the map says, or are not as they will be.
const UNCERTAIN: u32 =
    FileExtent::UNKNOWN | FileExtent::DELALLOC | FileExtent::ENCODED | FileExtent::INLINE;

/// Files that are asked whether they are in the page cache.
const PROBES: usize = 64;

/// What is done with files that cannot be mapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Faults {
    /// They are reported.
    Reported,
    /// They are read afterwards, which finds the fault again and reports it.
    FoundAgain,
}

/// What one device allows.
#[derive(Clone, Copy, Debug, Default)]
struct Traits {
    shares: bool,
    rotates: bool,
    /// Small files are read many by one call.
    suits_multi_file_reads: bool,
}

/// What was found out about a batch of candidates.
#[derive(Debug, Default)]
pub(super) struct Layout {
    /// The candidates that share all extents with one that is read, by that one.
    followers: HashMap<FileId, Vec<FileId>>,
    leaders: HashMap<FileId, FileId>,
    traits: HashMap<u16, Traits>,
}

impl Layout {
    /// Returns true if no file shares all extents with another.
    pub(super) fn is_empty(&self) -> bool {
        self.leaders.is_empty()
    }

    /// Returns true if the file shares all extents with another one, which is read.
    pub(super) fn is_follower(&self, file: FileId) -> bool {
        self.leaders.contains_key(&file)
    }

    /// Returns true if small files of this device are read many by one call.
    pub(super) fn suits_multi_file_reads(&self, device: u16) -> bool {
        let traits = self.traits.get(&device);
        traits.is_some_and(|traits| traits.suits_multi_file_reads)
    }

    /// Returns the files that share all extents with this one.
    pub(super) fn followers(&self, file: FileId) -> &[FileId] {
        self.followers.get(&file).map_or(&[], Vec::as_slice)
    }

    /// Returns each file that shares all extents with another one, and that one.
    pub(super) fn shares(&self) -> impl Iterator<Item = (FileId, FileId)> {
        self.leaders
            .iter()
            .map(|(follower, leader)| (*follower, *leader))
    }
}

impl Matcher<'_> {
    /// Finds out where units are, on devices on which that is of use. On rotating disks sets the
    /// place of each unit.
    pub(super) fn lay_out(&self, units: &mut [Unit], faults: Faults) -> io::Result<Layout> {
        let traits = self.traits(units);
        let rotates = traits.values().any(|traits| traits.rotates);
        let is_cold = rotates && !self.is_in_memory(units);
        let is_of_use = |unit: &Unit| {
            let device = self.inventory.file(unit.file).device;
            let traits = traits.get(&device).copied().unwrap_or_default();
            traits.shares || (traits.rotates && is_cold)
        };
        let asked: Vec<usize> = (0..units.len())
            .filter(|at| is_of_use(&units[*at]))
            .collect();
        let mut layout = Layout::default();
        if asked.is_empty() {
            layout.traits = traits;
            return Ok(layout);
        }
        let found = Mutex::new(Vec::with_capacity(asked.len()));
        let crew = Crew::default();
        let work = |at: usize, map: &mut ExtentMap| {
            let id = units[at].file;
            let size = self.inventory.file(id).size;
            let device = self.inventory.file(id).device;
            let shares = traits.get(&device).is_some_and(|traits| traits.shares);
            let find = |open: &OpenFile| extents(open, size, shares, map).map_err(Fault::Read);
            let place = match faults {
                Faults::Reported => self.with_file(id, find),
                Faults::FoundAgain => self.try_with_file(id, find).ok(),
            };
            if let Some(place) = place {
                lock(&found).push((at, place));
            }
        };
        let produce = || asked.iter().for_each(|at| crew.push(*at));
        crew.run(self.options.workers, ExtentMap::default, work, produce)?;
        let mut found = found.into_inner().ignore_poison();
        // In a fixed order, so that the same files lead in each run.
        found.sort_unstable_by_key(|(at, _)| *at);
        let mut leaders: HashMap<(u16, u64, u128), FileId> = HashMap::new();
        for (at, place) in found {
            let unit = &mut units[at];
            let file = self.inventory.file(unit.file);
            let rotates = traits
                .get(&file.device)
                .is_some_and(|traits| traits.rotates);
            if let (true, Some(first)) = (rotates, place.first) {
                unit.place = first;
            }
            let Some(shared) = place.shared else {
                continue;
            };
            // Subvolumes of one btrfs have several device numbers. Extents have one space of
            // numbers, but other file systems have the same numbers.
            let space = self.extent_space(file.device);
            let leader = *leaders
                .entry((space, file.size, shared))
                .or_insert(unit.file);
            if leader != unit.file {
                layout.followers.entry(leader).or_default().push(unit.file);
                layout.leaders.insert(unit.file, leader);
            }
        }
        layout.traits = traits;
        Ok(layout)
    }

    /// Finds files of groups that share all extents. Files whose hashes were known have not been
    /// mapped before.
    pub(super) fn find_shared(&self, matched: &mut Matched) -> io::Result<()> {
        let mut units = Vec::new();
        for class in self.inventory.classes() {
            for mut names in self.inventory.inodes(class) {
                // The group stands at one name of each file.
                let grouped = names.find(|name| {
                    let file = self.inventory.file(FileId(*name));
                    file.group().is_some() && !self.inventory.is_saved(file)
                });
                units.extend(grouped.map(|name| Unit {
                    file: FileId(name),
                    place: 0,
                }));
            }
            // No group is split: all files of a size are in one batch.
            if units.len() >= BATCH {
                self.add_shared(&mut units, matched)?;
            }
        }
        self.add_shared(&mut units, matched)
    }

    fn add_shared(&self, units: &mut Vec<Unit>, matched: &mut Matched) -> io::Result<()> {
        let traits = self.traits(units);
        units.retain(|unit| {
            let device = self.inventory.file(unit.file).device;
            let Some(traits) = traits.get(&device) else {
                // None of its files can be opened. The call reports that.
                self.with_file(unit.file, |_| Ok(()));
                return false;
            };
            traits.shares
        });
        let layout = self.lay_out(units, Faults::Reported)?;
        for unit in units.iter() {
            matched.shares.remove(&unit.file);
        }
        matched.shares.extend(layout.shares());
        units.clear();
        Ok(())
    }

    /// Returns the first device whose extents have the same numbers: for btrfs, the device of any
    /// subvolume. A copy of a disk has the same UUID, but its own extents.
    fn extent_space(&self, device: u16) -> u16 {
        let devices = &self.inventory.devices;
        let uuid = |at: usize| {
            let info = devices[at].info.as_ref()?;
            let is_shared = info.known().trust().named_by == NamedBy::UuidAndSubvolume;
            info.uuid.as_ref().filter(|_| is_shared)
        };
        let Some(own) = uuid(usize::from(device)) else {
            return device;
        };
        let first = (0..devices.len()).find(|at| uuid(*at) == Some(own));
        first
            .and_then(|at| u16::try_from(at).ok())
            .unwrap_or(device)
    }

    /// Returns true if most files of a sample are in the page cache. Then the order of the disk
    /// does not matter.
    fn is_in_memory(&self, units: &[Unit]) -> bool {
        let sample = units.iter().step_by(units.len().div_ceil(PROBES).max(1));
        let (mut cached, mut asked) = (0, 0);
        for unit in sample {
            let Ok(open) = self.open(unit.file) else {
                continue;
            };
            asked += 1;
            cached += usize::from(cachestat(open.file(), 0, 0).is_ok_and(|found| found.cached > 0));
        }
        2 * cached > asked
    }

    /// Asks one file of each device.
    fn traits(&self, units: &[Unit]) -> HashMap<u16, Traits> {
        let mut traits = HashMap::new();
        for unit in units {
            let device = self.inventory.file(unit.file).device;
            if traits.contains_key(&device) {
                continue;
            }
            // Another file may answer if this one cannot be opened.
            if let Ok(open) = self.open_version(unit.file) {
                let number = self.inventory.devices[usize::from(device)].number;
                traits.insert(device, traits_of(&open, number.unwrap_or(0)));
            }
        }
        traits
    }
}

/// Where a file is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Place {
    /// The first byte on the device.
    first: Option<u64>,
    /// A hash of all extents, if all of them are shared with other files.
    shared: Option<u128>,
}

/// Maps a file. Where files can share extents, the kernel first writes the file back, since the map
/// does not show data that is in memory only.
fn extents(open: &OpenFile, size: u64, shares: bool, map: &mut ExtentMap) -> Result<Place, Errno> {
    let mut place = Place::default();
    let mut runs = Vec::new();
    // File systems cut the same blocks into other extents for each file.
    let mut run: Option<Run> = None;
    let mut is_shared = shares;
    let mut at = 0;
    loop {
        let extents = map.read(open.file(), at, shares)?;
        let Some(last) = extents.last().copied() else {
            break;
        };
        for extent in extents {
            // It reads as zeros, as a hole does. A clone has a hole there.
            if extent.has(FileExtent::UNWRITTEN) && !extent.has(UNCERTAIN) {
                continue;
            }
            place.first.get_or_insert(extent.physical);
            is_shared &= extent.has(FileExtent::SHARED) && !extent.has(UNCERTAIN);
            let next = Run::of(extent);
            match &mut run {
                Some(run) if run.is_continued_by(&next) => run.length += next.length,
                _ => runs.extend(run.replace(next)),
            }
        }
        at = last.end();
        // A file that does not share all extents is read.
        if last.has(FileExtent::LAST) || at >= size || !is_shared {
            break;
        }
    }
    runs.extend(run);
    let text: Vec<u8> = runs.into_iter().flat_map(Run::to_bytes).collect();
    // A file without extents is a hole. It is read in no time.
    if is_shared && !text.is_empty() {
        place.shared = Some(ringwalk_hash::quick_hash(&text));
    }
    Ok(place)
}

/// Bytes that lie one behind the other in the file and on the device.
#[derive(Clone, Copy, Debug)]
struct Run {
    logical: u64,
    physical: u64,
    length: u64,
}

impl Run {
    fn of(extent: &FileExtent) -> Self {
        Self {
            logical: extent.logical,
            physical: extent.physical,
            length: extent.length,
        }
    }

    fn is_continued_by(&self, next: &Self) -> bool {
        let is_behind = |begin: u64, other: u64| begin.checked_add(self.length) == Some(other);
        is_behind(self.logical, next.logical) && is_behind(self.physical, next.physical)
    }

    fn to_bytes(self) -> [u8; 24] {
        let mut bytes = [0; 24];
        bytes[..8].copy_from_slice(&self.logical.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.physical.to_le_bytes());
        bytes[16..].copy_from_slice(&self.length.to_le_bytes());
        bytes
    }
}

fn traits_of(open: &OpenFile, dev: u64) -> Traits {
    Traits {
        // If the system does not say, the file is read like any other.
        shares: magic::of(open.file()).is_ok_and(|kind| SHARING.contains(&kind)),
        rotates: is_rotational(major(dev), minor(dev)).unwrap_or(false),
        suits_multi_file_reads: suits_multi_file_reads(open.file().as_fd()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_go_on_where_both_sides_do() {
        let run = |logical, physical, length| Run {
            logical,
            physical,
            length,
        };
        let first = run(0, 4096, 8192);
        assert!(first.is_continued_by(&run(8192, 12_288, 1)));
        for other in [
            run(8192, 12_289, 1),
            run(8193, 12_288, 1),
            run(0, 4096, 8192),
        ] {
            assert!(!first.is_continued_by(&other), "{other:?}");
        }
        // Numbers of a damaged file system.
        assert!(!run(u64::MAX, 0, 2).is_continued_by(&run(1, 2, 3)));
    }
}
