//! Several sorted runs of one directory, merged into one.

use super::pack::{Packer, Unpacked, Unpacker};
use super::stage::{Listing, push_child};
use crate::entry::Entry;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Merges the runs of a directory by the bytes of the names.
pub(super) fn merge_runs(runs: &[Listing]) -> Listing {
    let mut unpackers = vec![Unpacker::default(); runs.len()];
    let mut current: Vec<Option<Unpacked<'_>>> = runs
        .iter()
        .zip(&mut unpackers)
        .map(|(run, unpacker)| unpacker.next(run.entries()))
        .collect();
    let mut heap: BinaryHeap<Reverse<(&[u8], usize)>> = current
        .iter()
        .enumerate()
        .filter_map(|(index, entry)| entry.map(|entry| Reverse((entry.name, index))))
        .collect();
    let mut packer = Packer::default();
    let (mut children, mut entries) = (Vec::new(), Vec::new());
    while let Some(Reverse((_, index))) = heap.pop() {
        if let Some(entry) = current[index].take() {
            if let Some(child) = entry.child {
                push_child(child, entry.name, &mut children);
            }
            repack(&entry, &mut packer, &mut entries);
        }
        current[index] = unpackers[index].next(runs[index].entries());
        if let Some(entry) = current[index] {
            heap.push(Reverse((entry.name, index)));
        }
    }
    Listing::new(&children, &entries)
}

fn repack(from: &Unpacked<'_>, packer: &mut Packer, out: &mut Vec<u8>) {
    let xattrs: Vec<_> = from
        .xattrs()
        .map(|(name, value)| (name.to_vec(), value.to_vec()))
        .collect();
    let entry = Entry {
        name: from.name,
        file_type: from.file_type,
        attributes: from.attributes,
        target: from.target,
        xattrs: &xattrs,
        failure: from.failure,
        skipped: from.skipped,
    };
    packer.push(&entry, from.child, out);
}

/// Appends an entry that is packed alone to a run.
pub(super) fn repack_alone(alone: &[u8], packer: &mut Packer, out: &mut Vec<u8>) {
    if let Some(entry) = Unpacker::default().next(alone) {
        repack(&entry, packer, out);
    }
}
