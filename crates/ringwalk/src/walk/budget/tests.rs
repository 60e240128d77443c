use super::*;

#[test]
fn nothing_is_spent_before_a_directory_has_been_read() {
    let spending = Spending::new(Budget {
        time: Some(Duration::ZERO),
        entries: None,
    });
    assert!(!spending.is_spent());
    spending.add(0);
    assert!(spending.is_spent());
}

#[test]
fn entries_are_counted_over_all_buffers() {
    let spending = Spending::new(Budget {
        time: None,
        entries: NonZeroU64::new(10),
    });
    spending.add(9);
    assert!(!spending.is_spent());
    spending.add(1);
    assert!(spending.is_spent());
}

#[test]
fn a_walk_without_a_budget_counts_nothing() {
    let spending = Spending::new(Budget::default());
    spending.add(1000);
    assert!(!spending.is_spent() && !spending.is_bounded());
}

/// A time that the clock cannot hold is no bound, rather than a panic.
#[test]
fn a_very_long_time_is_no_bound() {
    let spending = Spending::new(Budget {
        time: Some(Duration::MAX),
        entries: None,
    });
    spending.add(1);
    assert!(!spending.is_spent());
}
