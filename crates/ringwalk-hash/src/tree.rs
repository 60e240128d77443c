//! BLAKE3 of a file whose pieces are hashed separately, by several threads or at different times.
//!
//! BLAKE3 is a binary tree of chunks (section 2.1 of the BLAKE3 paper). A piece of [`PIECE`] bytes
//! at a multiple of that offset is a whole subtree, and has a chaining value of 32 bytes. The hash
//! of the file follows from the chaining values in their order.

use blake3::hazmat::{
    ChainingValue, HasherExt as _, Mode, merge_subtrees_non_root, merge_subtrees_root,
};

/// Bytes of a piece. It is a power of two, as the tree needs it.
pub const PIECE: u64 = 1 << 20;

/// The hash of one piece that is not a whole file.
#[derive(Debug)]
pub struct PieceHasher(blake3::Hasher);

impl PieceHasher {
    /// Begins the piece at `offset` of the file, in bytes: a multiple of [`PIECE`].
    pub fn new(offset: u64) -> Self {
        debug_assert!(offset.is_multiple_of(PIECE));
        let mut hasher = blake3::Hasher::new();
        hasher.set_input_offset(offset);
        Self(hasher)
    }

    /// Adds the bytes that follow. A piece has at most [`PIECE`] of them.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// Returns the chaining value.
    ///
    /// # Panics
    ///
    /// If the piece is empty.
    pub fn finish(&self) -> ChainingValue {
        self.0.finalize_non_root()
    }
}

/// The first pieces of a file, as chaining values of the largest subtrees that they fill. That is
/// at most one value for each bit of the number of pieces, and one more.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Tree {
    subtrees: Vec<ChainingValue>,
    pieces: u64,
}

impl Tree {
    /// Returns the number of pieces so far.
    pub fn pieces(&self) -> u64 {
        self.pieces
    }

    /// Adds the next piece. Each one has [`PIECE`] bytes; the last of a file may have fewer.
    pub fn push(&mut self, piece: ChainingValue) {
        // Two subtrees of one size become one only when more follows: the last merge of all makes
        // the root, which is another operation.
        while self.subtrees.len() > self.pieces.count_ones() as usize {
            self.merge();
        }
        self.subtrees.push(piece);
        self.pieces += 1;
    }

    fn merge(&mut self) {
        if let (Some(right), Some(left)) = (self.subtrees.pop(), self.subtrees.pop()) {
            let both = merge_subtrees_non_root(&left, &right, Mode::Hash);
            self.subtrees.push(both);
        }
    }

    /// Returns the hash of a file of two pieces or more. Returns `None` with fewer: the hash of one
    /// piece is not made of its chaining value.
    pub fn finish(mut self) -> Option<[u8; 32]> {
        while self.subtrees.len() > 2 {
            self.merge();
        }
        let [left, right] = self.subtrees[..] else {
            return None;
        };
        Some(merge_subtrees_root(&left, &right, Mode::Hash).into())
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::cast_possible_truncation, reason = "bytes of test data")]

    use super::*;

    #[test]
    fn pieces_give_the_hash_of_the_whole() {
        let piece = usize::try_from(PIECE).unwrap();
        let bytes: Vec<u8> = (0..9 * piece + 5).map(|at| (at / 7 % 251) as u8).collect();
        for pieces in 1..9 {
            for more in [1, 1024, piece - 1, piece] {
                let whole = &bytes[..pieces * piece + more];
                let mut tree = Tree::default();
                for (at, part) in (0..).zip(whole.chunks(piece)) {
                    let mut hasher = PieceHasher::new(at * PIECE);
                    part.chunks(100_000).for_each(|part| hasher.update(part));
                    tree.push(hasher.finish());
                }
                let expected: [u8; 32] = blake3::hash(whole).into();
                assert_eq!(
                    tree.finish(),
                    Some(expected),
                    "{pieces} pieces and {more} bytes"
                );
            }
        }
    }

    #[test]
    fn one_piece_has_no_hash_here() {
        let mut tree = Tree::default();
        let mut piece = PieceHasher::new(0);
        piece.update(b"one byte or more");
        tree.push(piece.finish());
        assert_eq!((tree.pieces(), tree.finish()), (1, None));
    }
}
