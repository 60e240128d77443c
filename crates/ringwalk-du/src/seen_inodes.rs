//! The set of inodes that a measurement has seen, so that each counts once ("A file with several
//! names counts once" in `docs/architecture.md`).

use ringwalk::Identity;
use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};

/// A set of inodes, by device and inode number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SeenInodes {
    /// A measurement sees few devices, and many inodes of each.
    devices: Vec<(u64, HashSet<u64, BuildHasherDefault<Mixer>>)>,
}

impl SeenInodes {
    /// Adds an inode. Returns false if the set had it already.
    pub(crate) fn insert(&mut self, file: Identity) -> bool {
        if let Some((_, inodes)) = self.devices.iter_mut().find(|(dev, _)| *dev == file.dev) {
            return inodes.insert(file.ino);
        }
        let mut inodes = HashSet::default();
        inodes.insert(file.ino);
        self.devices.push((file.dev, inodes));
        true
    }

    /// Returns true if the set has the inode.
    pub(crate) fn contains(&self, file: Identity) -> bool {
        self.devices
            .iter()
            .any(|(dev, inodes)| *dev == file.dev && inodes.contains(&file.ino))
    }

    /// Returns true if the set has no inodes.
    pub(crate) fn is_empty(&self) -> bool {
        self.devices.is_empty()
    }
}

/// A hash function for inode numbers. It need not resist attacks: nobody chooses inode numbers.
#[derive(Debug, Default)]
struct Mixer(u64);

impl Hasher for Mixer {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u64(&mut self, number: u64) {
        // The factor is 2^64 divided by the golden ratio. The table uses the highest and the lowest
        // bits, and the highest bits of a product are mixed best.
        let product = (self.0 ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = product ^ product >> 32;
    }
}

#[cfg(test)]
mod tests;
