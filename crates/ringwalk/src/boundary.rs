//! The device or mount of each root, for walks that stay on it.

use crate::metadata::Metadata;
use crate::options::Stay;
use std::sync::OnceLock;

#[derive(Debug)]
pub(crate) struct Boundaries {
    stay: Stay,
    /// Device and mount id of each root, once it has been looked at; none if the walk goes anywhere.
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

    /// Notes what a root says of itself.
    pub(crate) fn set(&self, root_index: usize, metadata: &Metadata) {
        if let Some(boundary) = self.roots.get(root_index) {
            // Each root is looked at once.
            let _ = boundary.set((metadata.dev, metadata.mnt_id));
        }
    }

    /// Whether a directory lies beyond the boundary of its root.
    pub(crate) fn lies_beyond(&self, root_index: usize, metadata: &Metadata) -> bool {
        let boundary = self.roots.get(root_index).and_then(OnceLock::get);
        let Some(&(dev, mnt_id)) = boundary else {
            // Where there is one: nobody goes down into a root of which nothing is known.
            return false;
        };
        match self.stay {
            Stay::Anywhere => false,
            Stay::Device => metadata.dev != dev,
            Stay::Mount => metadata.dev != dev || metadata.mnt_id != mnt_id,
        }
    }
}
