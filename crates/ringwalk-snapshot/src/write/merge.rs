//! Several sorted runs of one directory, merged into one.

use super::listing::Listing;
use super::pack::{Unpacked, Unpacker};
use super::piece::{PIECE, Piece, PieceBuilder};
use super::stage::{Place, Staged};
use crate::entry::Entry;
use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::io;

/// The most runs that are merged at once. One piece of each is in memory.
const FAN: usize = 64;

/// Merges the runs of a directory by the bytes of the names. Entries with the same name stay in the
/// order of the runs.
pub(super) fn merge(
    staged: &Staged,
    mut runs: Vec<Vec<Place>>,
    keep: usize,
) -> io::Result<Listing<'_>> {
    while runs.len() > FAN {
        runs = runs
            .chunks(FAN)
            .map(|group| {
                let (mut places, rest) = merge_group(staged, group, 0)?;
                places.push(append(staged, &rest)?);
                Ok(places)
            })
            .collect::<io::Result<_>>()?;
    }
    if let [_] = &runs[..] {
        return Ok(Listing::new(staged, runs.swap_remove(0)));
    }
    let (mut places, rest) = merge_group(staged, &runs, keep)?;
    if places.is_empty() {
        return Ok(Listing::merged(staged, Piece::new(Cow::Owned(rest))));
    }
    places.push(append(staged, &rest)?);
    Ok(Listing::new(staged, places))
}

fn append(staged: &Staged, piece: &[u8]) -> io::Result<Place> {
    Ok(Place::File(staged.spill.append(piece)?))
}

/// Merges some runs. Returns the places of the pieces, and the last piece. The first piece has up
/// to `keep` bytes.
fn merge_group(
    staged: &Staged,
    runs: &[Vec<Place>],
    keep: usize,
) -> io::Result<(Vec<Place>, Vec<u8>)> {
    let mut readers = Vec::new();
    let mut heap = BinaryHeap::new();
    for (index, run) in runs.iter().enumerate() {
        let mut reader = RunReader::new(staged, run);
        let mut name = Vec::new();
        if reader.peek(&mut name)? {
            heap.push(Reverse((name, index)));
        }
        readers.push(reader);
    }
    let mut places = Vec::new();
    let (mut piece, mut data) = (PieceBuilder::default(), Vec::new());
    let mut limit = keep.max(PIECE);
    while let Some(mut top) = heap.peek_mut() {
        let Reverse((name, index)) = &mut *top;
        if piece.len() >= limit {
            data.clear();
            piece.end(0, false, &mut data)?;
            places.push(append(staged, &data)?);
            limit = PIECE;
        }
        let reader = &mut readers[*index];
        if let Some(entry) = reader.unpacker.next(reader.piece.entries()) {
            repack(&entry, &mut piece);
        }
        if !reader.peek(name)? {
            PeekMut::pop(top);
        }
    }
    data.clear();
    piece.end(0, false, &mut data)?;
    Ok((places, data))
}

/// Reads the pieces of one run.
struct RunReader<'a> {
    staged: &'a Staged,
    places: std::slice::Iter<'a, Place>,
    piece: Piece<'a>,
    unpacker: Unpacker,
}

impl<'a> RunReader<'a> {
    fn new(staged: &'a Staged, run: &'a [Place]) -> Self {
        Self {
            staged,
            places: run.iter(),
            piece: Piece::default(),
            unpacker: Unpacker::default(),
        }
    }

    /// Copies the name of the next entry. Returns false at the end.
    fn peek(&mut self, name: &mut Vec<u8>) -> io::Result<bool> {
        loop {
            let mut unpacker = self.unpacker;
            if let Some(entry) = unpacker.next(self.piece.entries()) {
                name.clear();
                name.extend_from_slice(entry.entry.name);
                return Ok(true);
            }
            let Some(&place) = self.places.next() else {
                return Ok(false);
            };
            self.piece = self.staged.piece(place)?;
            self.unpacker = Unpacker::default();
        }
    }
}

/// Adds an entry of one piece to another one.
pub(super) fn repack(from: &Unpacked<'_>, piece: &mut PieceBuilder) {
    with_entry(from, |entry| piece.push(entry, from.child));
}

/// Calls `take` with an unpacked entry.
pub(super) fn with_entry<T>(from: &Unpacked<'_>, take: impl FnOnce(&Entry<'_>) -> T) -> T {
    let xattrs: Vec<_> = from
        .xattrs()
        .map(|(name, value)| (name.to_vec(), value.to_vec()))
        .collect();
    take(&Entry {
        xattrs: &xattrs,
        ..from.entry
    })
}
