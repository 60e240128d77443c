//! Files with several hard links: which name is charged, and which directory holds all names.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// What is known of a file with several links.
#[derive(Clone, Copy, Debug)]
struct Link {
    /// The number of names seen.
    seen: u32,
    /// The rank of the lowest directory below which all names seen so far lie.
    holder: u64,
}

/// Mixes the bits of inode numbers. Numbers are not chosen by attackers to collide: a file system
/// assigns them.
#[derive(Debug, Default)]
pub(super) struct Mixer(u64);

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
        // The finalizer of SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number
        // Generators, 2014).
        let mut mixed = self.0.rotate_left(5) ^ number;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        self.0 = mixed ^ (mixed >> 31);
    }
}

/// The files with several links that have been seen, by device and inode number.
#[derive(Debug, Default)]
pub(super) struct Links {
    seen: HashMap<(u64, u64), Link, BuildHasherDefault<Mixer>>,
}

/// What one more name of a file with several links means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Name {
    /// True if it is the first name.
    pub(super) is_first: bool,
    /// The depth of the lowest open directory below which all names lie. `None` as long as some
    /// names are missing.
    pub(super) all_below: Option<usize>,
}

impl Links {
    /// Notes one more name of a file, in the directory at the top of `open`. `open` has the ranks
    /// of the open directories, from the root. A rank is larger than those of all directories that
    /// were opened before.
    pub(super) fn add(&mut self, file: (u64, u64), nlink: u32, open: &[u64]) -> Name {
        let top = open.last().copied().unwrap_or_default();
        let mut is_first = false;
        let link = self.seen.entry(file).or_insert_with(|| {
            is_first = true;
            Link {
                seen: 0,
                holder: top,
            }
        });
        link.seen += 1;
        // The holder was opened after all open directories with smaller ranks, and while they were
        // open: the last of them is the lowest that holds both.
        let depth = open
            .partition_point(|rank| *rank <= link.holder)
            .saturating_sub(1);
        link.holder = open.get(depth).copied().unwrap_or_default();
        Name {
            is_first,
            all_below: (link.seen == nlink).then_some(depth),
        }
    }
}

#[cfg(test)]
mod tests;
