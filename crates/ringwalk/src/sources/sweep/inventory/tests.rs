//! Unit tests of `inventory.rs`.

use super::*;

#[test]
fn every_piece_is_given_out_once_until_stopped() {
    let turns = Turns::new(3);
    assert_eq!([turns.take(), turns.take()], [Some(0), Some(1)]);
    turns.stop();
    assert_eq!(turns.take(), None);
    let turns = Turns::new(1);
    assert_eq!([turns.take(), turns.take()], [Some(0), None]);
}
