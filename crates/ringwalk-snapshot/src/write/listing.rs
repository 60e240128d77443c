//! The listing of one directory, piece by piece.

use super::pack::Cursor;
use super::piece::Piece;
use super::stage::{Place, Staged};
use std::io;

/// The sorted pieces of a directory. One of them is in memory. They are read twice: first the
/// subdirectories, then the entries.
#[derive(Debug)]
pub(super) struct Listing<'a> {
    staged: &'a Staged,
    /// The pieces, in order. Empty if there is only one, which was merged in memory.
    places: Vec<Place>,
    /// The piece that is being read.
    piece: Piece<'a>,
    /// The index of the piece after it.
    next: usize,
    /// The position among the subdirectories of the piece.
    child: usize,
}

impl<'a> Listing<'a> {
    pub(super) fn new(staged: &'a Staged, places: Vec<Place>) -> Self {
        Self {
            staged,
            places,
            piece: Piece::default(),
            next: 0,
            child: 0,
        }
    }

    /// Creates a listing of one piece, which is in no segment.
    pub(super) fn merged(staged: &'a Staged, piece: Piece<'a>) -> Self {
        Self {
            piece,
            ..Self::new(staged, Vec::new())
        }
    }

    /// Reads the next piece. Returns false if there is none.
    fn advance(&mut self) -> io::Result<bool> {
        let Some(&place) = self.places.get(self.next) else {
            return Ok(false);
        };
        // The memory of the piece before goes first.
        self.piece = Piece::default();
        self.piece = self.staged.piece(place)?;
        self.next += 1;
        self.child = 0;
        Ok(true)
    }

    /// Returns the number of the next subdirectory. Its name is given to `name`.
    pub(super) fn next_child(&mut self, name: impl FnOnce(&[u8])) -> io::Result<Option<u64>> {
        while self.child == self.piece.children().len() {
            if !self.advance()? {
                return Ok(None);
            }
        }
        let mut from = Cursor {
            data: self.piece.children(),
            at: self.child,
        };
        let number = from.number();
        name(from.bytes());
        self.child = from.at;
        Ok(Some(number))
    }

    /// Calls `each` with the packed entries of each piece, in order.
    pub(super) fn entries(
        mut self,
        mut each: impl FnMut(&[u8]) -> io::Result<()>,
    ) -> io::Result<()> {
        if self.next != self.places.len() || self.places.len() > 1 {
            self.next = 0;
            self.advance()?;
        }
        loop {
            each(self.piece.entries())?;
            if !self.advance()? {
                return Ok(());
            }
        }
    }

    /// Returns the bytes that the listing takes in memory.
    pub(super) fn kept(&self) -> usize {
        self.piece.owned()
    }
}
