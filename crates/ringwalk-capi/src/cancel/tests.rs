//! Unit tests of `cancel.rs`.

use super::*;

#[test]
fn a_handle_is_good_until_its_ticket_is_dropped() {
    let ticket = Ticket::take().unwrap();
    let handle = ticket.handle();
    assert!(!ticket.is_cancelled());
    assert!(cancel(handle) && cancel(handle) && ticket.is_cancelled());
    drop(ticket);
    assert!(!cancel(handle));
}

#[test]
fn what_is_no_handle_cancels_nothing() {
    let ticket = Ticket::take().unwrap();
    let handle = ticket.handle();
    for wrong in [
        0,
        1,
        usize::MAX,
        handle | CANCELLED,
        handle & !ODD,
        handle + (1 << 12),
        handle ^ 4,
    ] {
        assert!(!cancel(wrong), "{wrong:#x}");
    }
    assert!(!ticket.is_cancelled());
}

#[test]
fn handles_are_not_given_twice() {
    let first = Ticket::take().unwrap().handle();
    for _ in 0..3 * MOST_WALKS {
        assert_ne!(Ticket::take().unwrap().handle(), first);
    }
}
