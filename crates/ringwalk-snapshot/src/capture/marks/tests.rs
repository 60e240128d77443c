//! Unit tests of `marks.rs`.

use super::*;

#[test]
fn a_clock_that_runs_on_was_not_set() {
    let marks = Marks::set(&[]);
    assert_eq!(marks.clock_was_set(), Some(false));
    assert_eq!(marks.transactions, []);
}

#[test]
fn without_marks_nothing_is_known() {
    assert_eq!(Marks::default().clock_was_set(), None);
}
