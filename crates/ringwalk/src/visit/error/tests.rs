//! Unit tests of `error.rs`.

use super::*;

#[test]
fn all_operations_are_listed_by_their_numbers() {
    for (operation, number) in Operation::ALL.into_iter().zip(1..) {
        assert_eq!(operation.number(), number);
        // An operation that is added must be counted here, and so in `ALL`.
        let at = match operation {
            Operation::Stat => 0,
            Operation::Open => 1,
            Operation::Read => 2,
            Operation::Loop => 3,
        };
        assert_eq!(Operation::ALL[at], operation);
    }
    assert_eq!(Operation::ALL.len(), 4);
}
