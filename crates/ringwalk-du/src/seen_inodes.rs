//! The set of inodes that a measurement has seen, so that each counts once ("A file with several
//! names counts once" in `docs/architecture.md`).

use ringwalk::Identity;
use ringwalk::identity::InodeHasher;
use std::collections::HashSet;
use std::hash::BuildHasherDefault;

/// A set of inodes, by device and inode number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SeenInodes {
    /// A measurement sees few devices, and many inodes of each.
    devices: Vec<(u64, HashSet<u64, BuildHasherDefault<InodeHasher>>)>,
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

#[cfg(test)]
mod tests {
    use super::*;

    fn file(dev: u64, ino: u64) -> Identity {
        Identity { dev, ino }
    }

    #[test]
    fn each_inode_is_new_once_on_each_device() {
        let mut seen = SeenInodes::default();
        assert!(seen.is_empty());
        assert!(seen.insert(file(1, 7)));
        assert!(seen.insert(file(2, 7)));
        assert!(seen.insert(file(1, 8)));
        assert!(!seen.insert(file(1, 7)));
        assert!(seen.contains(file(2, 7)) && !seen.contains(file(2, 8)));
        assert!(!seen.is_empty());
    }
}
