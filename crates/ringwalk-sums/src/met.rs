//! Files that have been met, so that each counts once.

use ringwalk::Identity;
use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};

/// Files met, by device and inode number.
#[derive(Debug, Default)]
pub struct Met {
    /// Few devices, of each many numbers.
    devices: Vec<(u64, HashSet<u64, BuildHasherDefault<Mixer>>)>,
}

impl Met {
    /// Adds a file; false if it was there.
    pub fn insert(&mut self, file: Identity) -> bool {
        if let Some((_, inodes)) = self.devices.iter_mut().find(|(dev, _)| *dev == file.dev) {
            return inodes.insert(file.ino);
        }
        let mut inodes = HashSet::default();
        inodes.insert(file.ino);
        self.devices.push((file.dev, inodes));
        true
    }

    /// Whether a file is there.
    pub fn contains(&self, file: Identity) -> bool {
        self.devices
            .iter()
            .any(|(dev, inodes)| *dev == file.dev && inodes.contains(&file.ino))
    }

    /// Whether nothing is there.
    pub fn is_empty(&self) -> bool {
        self.devices.is_empty()
    }
}

/// Spreads inode numbers, which are no secret and not chosen by anyone, over a hash table.
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
        // 2^64 divided by the golden ratio; the table uses the highest and the lowest bits, and a product has its best
        // ones at the top.
        let product = (self.0 ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = product ^ product >> 32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(dev: u64, ino: u64) -> Identity {
        Identity { dev, ino }
    }

    #[test]
    fn files_are_met_once_on_each_device() {
        let mut met = Met::default();
        assert!(met.is_empty());
        assert!(met.insert(file(1, 7)));
        assert!(met.insert(file(2, 7)));
        assert!(met.insert(file(1, 8)));
        assert!(!met.insert(file(1, 7)));
        assert!(met.contains(file(2, 7)) && !met.contains(file(2, 8)));
        assert!(!met.is_empty());
    }
}
