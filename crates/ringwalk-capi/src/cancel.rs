//! Handles of walks, and cancelling by handle without a lock.
//!
//! A signal handler may cancel a walk, so cancelling takes no lock and allocates no memory. The
//! table is a fixed array with one word for each open walk.
//!
//! ```text
//! handle   serial | place in the table (10 bits) | 0 | 1     odd, so never the address of anything
//! word     0: free;  handle: open;  handle + 2: open and cancelled
//! ```
//!
//! Serials only increase. So on 64-bit machines no handle is used twice; on 32-bit machines, none
//! within half a million walks.

use std::sync::atomic::{
    AtomicUsize, Ordering::AcqRel, Ordering::Acquire, Ordering::Relaxed, Ordering::Release,
};

/// The number of walks that a process can have open. Each walk has threads of its own, so thousands
/// of walks are a mistake.
pub(crate) const MOST_WALKS: usize = 1 << PLACE_BITS;

const PLACE_BITS: u32 = 10;
const ODD: usize = 1;
const CANCELLED: usize = 2;

static WORDS: [AtomicUsize; MOST_WALKS] = [const { AtomicUsize::new(0) }; MOST_WALKS];
static SERIAL: AtomicUsize = AtomicUsize::new(1);

/// The word of an open walk in the table. Dropping the ticket makes the handle invalid.
#[derive(Debug)]
pub(crate) struct Ticket(usize);

impl Ticket {
    /// Returns a new handle; `None` if [`MOST_WALKS`] are open.
    pub(crate) fn take() -> Option<Self> {
        let serial = SERIAL.fetch_add(1, Relaxed);
        // The search begins at another word each time, so that it finds a free one at once.
        (0..MOST_WALKS).find_map(|step| {
            let place = (serial + step) % MOST_WALKS;
            let handle = (serial << (PLACE_BITS + 2)) | (place << 2) | ODD;
            let taken = WORDS[place].compare_exchange(0, handle, AcqRel, Relaxed);
            taken.ok().map(|_| Self(handle))
        })
    }

    /// Returns the handle, which C has as a pointer.
    pub(crate) fn handle(&self) -> usize {
        self.0
    }

    /// Returns true if the walk was cancelled.
    pub(crate) fn is_cancelled(&self) -> bool {
        word(self.0).load(Acquire) == self.0 | CANCELLED
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let word = word(self.0);
        // After a fork, the word may belong to another walk of the child.
        if word.load(Relaxed) & !CANCELLED == self.0 {
            word.store(0, Release);
        }
    }
}

/// Cancels the walk of this handle; returns false if there is none. A signal handler may call this
/// function.
pub(crate) fn cancel(handle: usize) -> bool {
    if handle & (ODD | CANCELLED) != ODD {
        return false;
    }
    let word = word(handle);
    let cancelled = handle | CANCELLED;
    match word.compare_exchange(handle, cancelled, AcqRel, Acquire) {
        Ok(_) => true,
        Err(found) => found == cancelled,
    }
}

/// Marks all words as free, in a child of fork(2): no walk is open there.
pub(crate) fn forget_all() {
    for word in &WORDS {
        word.store(0, Relaxed);
    }
}

fn word(handle: usize) -> &'static AtomicUsize {
    &WORDS[(handle >> 2) % MOST_WALKS]
}

#[cfg(test)]
mod tests {
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
}
