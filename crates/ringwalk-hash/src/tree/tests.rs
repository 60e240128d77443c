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
