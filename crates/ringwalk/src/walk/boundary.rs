//! The device or mount of each root, for walks that stay on it.

use crate::visit::metadata::{Fields, Metadata};
use crate::walk::settings::Stay;
use std::sync::OnceLock;

#[derive(Debug)]
pub(crate) struct Boundaries {
    stay: Stay,
    /// Device and mount id of each root that has been looked at. Empty if the walk goes anywhere.
    roots: Vec<OnceLock<(u64, u64)>>,
}

impl Boundaries {
    pub(crate) fn new(stay: Stay, roots: usize) -> Self {
        let roots = match stay {
            Stay::Anywhere => 0,
            Stay::Device | Stay::Mount => roots,
        };
        Self {
            stay,
            roots: (0..roots).map(|_| OnceLock::new()).collect(),
        }
    }

    /// Notes device and mount of a root.
    pub(crate) fn set(&self, root_index: usize, metadata: &Metadata) {
        if let Some(boundary) = self.roots.get(root_index) {
            // Each root is looked at once.
            let _ = boundary.set((metadata.dev, metadata.mnt_id));
        }
    }

    /// Returns true if a file that is no directory, and no link that was followed, lies beyond the
    /// boundary of its root.
    ///
    /// Such a file is where its directory is, unless another file is mounted on it. An overlay
    /// gives the files of a layer another device than their directories, on the same mount.
    pub(crate) fn is_mounted_beyond(&self, root_index: usize, metadata: &Metadata) -> bool {
        let boundary = self.roots.get(root_index).and_then(OnceLock::get);
        let is_on_mount = metadata.mask.contains(Fields::MNT_ID)
            && boundary.is_some_and(|(_, mnt_id)| metadata.mnt_id == *mnt_id);
        !is_on_mount && self.lies_beyond(root_index, metadata)
    }

    /// Returns true if a directory lies beyond the boundary of its root.
    pub(crate) fn lies_beyond(&self, root_index: usize, metadata: &Metadata) -> bool {
        let boundary = self.roots.get(root_index).and_then(OnceLock::get);
        let Some(&(dev, mnt_id)) = boundary else {
            // No boundary is known: the walk goes anywhere, or nothing is known of the root. Nobody
            // goes down into such a root.
            return false;
        };
        match self.stay {
            Stay::Anywhere => false,
            Stay::Device => metadata.dev != dev,
            Stay::Mount => metadata.dev != dev || metadata.mnt_id != mnt_id,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(dev: u64, mnt_id: u64) -> Metadata {
        Metadata {
            dev,
            mnt_id,
            mask: Fields::MNT_ID,
            ..Metadata::default()
        }
    }

    #[test]
    fn a_file_of_another_layer_is_on_the_same_mount() {
        let boundaries = Boundaries::new(Stay::Device, 1);
        boundaries.set(0, &place(1, 7));
        let layer = place(2, 7);
        assert!(boundaries.lies_beyond(0, &layer), "a subvolume");
        assert!(!boundaries.is_mounted_beyond(0, &layer));
        assert!(boundaries.is_mounted_beyond(0, &place(2, 8)));
        assert!(
            !boundaries.is_mounted_beyond(0, &place(1, 8)),
            "a bind mount of the same device"
        );
        // Before Linux 5.8 the mount is not known.
        let unknown = Metadata {
            mask: Fields::empty(),
            ..place(2, 7)
        };
        assert!(boundaries.is_mounted_beyond(0, &unknown));
    }
}
