//! Reads the inodes of many entries at once, in the order of the disk.

use super::Ext4;
use ringwalk_ext4::Inode;
use ringwalk_sys::Records;
use std::fs::File;
use std::os::unix::fs::FileExt;

/// The widest gap between two inodes that is read along: copying so many bytes takes less time than
/// another call.
const GAP: u64 = 4096;

/// The most bytes that are read at a time.
const MOST: u64 = 64 * 1024;

/// Looks up inodes, and keeps its buffers between calls.
#[derive(Default)]
pub(super) struct InodeLookup {
    /// The offsets of the entries' inodes on the device, and the indices of the entries.
    places: Vec<(u64, u32)>,
    bytes: Vec<u8>,
}

impl InodeLookup {
    /// Passes on the inode of every entry whose inode is in use and sound, with the index of the
    /// entry, in ascending order of inode numbers.
    pub(super) fn each(
        &mut self,
        volume: &Ext4,
        records: &Records,
        mut each: impl FnMut(usize, &Inode<'_>),
    ) {
        let file_system = &volume.file_system;
        self.places.clear();
        for index in 0..records.len() {
            let place = u32::try_from(records.ino(index))
                .ok()
                .and_then(|ino| file_system.inode_offset(ino).ok());
            if let (Some(offset), Ok(index)) = (place, u32::try_from(index)) {
                self.places.push((offset, index));
            }
        }
        self.places.sort_unstable();
        let size = u64::from(file_system.superblock().inode_size);
        let mut rest = &self.places[..];
        while let [first, ..] = rest {
            let (run, behind) = rest.split_at(run_length(rest, size));
            rest = behind;
            let start = first.0;
            let end = run.last().map_or(start, |last| last.0) + size;
            // If the buffer has no room for an inode, the inode stays unknown and is asked for by
            // name.
            let length = usize::try_from(end - start).unwrap_or(0);
            if self.bytes.len() < length {
                self.bytes.resize(length, 0);
            }
            let bytes = &mut self.bytes[..length];
            if !read(&volume.device, bytes, start) {
                continue;
            }
            for (offset, index) in run {
                let index = *index as usize;
                let at = usize::try_from(offset - start).unwrap_or(usize::MAX);
                let raw = bytes.get(at..).unwrap_or_default();
                let ino = u32::try_from(records.ino(index)).unwrap_or(0);
                if let Ok(Some(inode)) = file_system.inode(ino, raw) {
                    each(index, &inode);
                }
            }
        }
    }
}

/// Returns how many of the places, which are in ascending order, are read together.
fn run_length(places: &[(u64, u32)], size: u64) -> usize {
    let Some(first) = places.first() else {
        return 0;
    };
    let ends = places.windows(2).position(|pair| {
        let (before, next) = (pair[0].0, pair[1].0);
        next > before + size + GAP || next + size - first.0 > MOST
    });
    ends.map_or(places.len(), |last| last + 1)
}

/// Returns true if all bytes were read. Otherwise system calls read the inodes, and report the
/// reason.
fn read(device: &File, bytes: &mut [u8], offset: u64) -> bool {
    device.read_exact_at(bytes, offset).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_read_together_and_the_far_are_not() {
        let places = [(0, 3), (256, 1), (1024, 0), (9000, 2), (9256, 4)];
        assert_eq!(run_length(&places, 256), 3);
        assert_eq!(run_length(&places[3..], 256), 2);
        assert_eq!(run_length(&[], 256), 0);
        // Two names of one file.
        assert_eq!(run_length(&[(512, 0), (512, 1)], 256), 2);
    }

    #[test]
    fn a_run_has_an_end() {
        let places: Vec<_> = (0..1000).map(|at| (u64::from(at) * 256, at)).collect();
        assert_eq!(run_length(&places, 256), 256, "64 KiB");
    }
}
