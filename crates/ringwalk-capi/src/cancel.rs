//! Handles of walks, and cancelling by handle without a lock.
//!
//! A signal handler may cancel a walk, so this must take no lock and no memory: the table is a fixed array with one word for each
//! walk that is open.
//!
//! ```text
//! handle   serial | place in the table (10 bits) | 0 | 1      odd, so never the address of anything
//! word     0: free;  handle: open;  handle + 2: open and cancelled
//! ```
//!
//! Serials only go up. On machines of 64 bits a handle is thus never given twice; on those of 32 bits, after half a million walks.

use std::sync::atomic::{
    AtomicUsize, Ordering::AcqRel, Ordering::Acquire, Ordering::Relaxed, Ordering::Release,
};

/// Walks that may be open at a time in a process: each has threads of its own, so thousands are a mistake.
pub(crate) const MOST_WALKS: usize = 1 << PLACE_BITS;

const PLACE_BITS: u32 = 10;
const ODD: usize = 1;
const CANCELLED: usize = 2;

static WORDS: [AtomicUsize; MOST_WALKS] = [const { AtomicUsize::new(0) }; MOST_WALKS];
static SERIAL: AtomicUsize = AtomicUsize::new(1);

/// The word of an open walk; dropping it makes the handle invalid.
#[derive(Debug)]
pub(crate) struct Ticket(usize);

impl Ticket {
    /// A new handle; `None` if [`MOST_WALKS`] are open.
    pub(crate) fn take() -> Option<Self> {
        let serial = SERIAL.fetch_add(1, Relaxed);
        // Beginning at another place each time, so that a free one is found at once.
        (0..MOST_WALKS).find_map(|step| {
            let place = (serial + step) % MOST_WALKS;
            let handle = (serial << (PLACE_BITS + 2)) | (place << 2) | ODD;
            let taken = WORDS[place].compare_exchange(0, handle, AcqRel, Relaxed);
            taken.ok().map(|_| Self(handle))
        })
    }

    /// The number that C has as a pointer.
    pub(crate) fn handle(&self) -> usize {
        self.0
    }

    /// Whether somebody cancelled.
    pub(crate) fn is_cancelled(&self) -> bool {
        word(self.0).load(Acquire) == self.0 | CANCELLED
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let word = word(self.0);
        // After a fork the word may belong to another walk of the child.
        if word.load(Relaxed) & !CANCELLED == self.0 {
            word.store(0, Release);
        }
    }
}

/// Cancels the walk of that handle; false if there is none. May be called from a signal handler.
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

/// In a child of fork(2): no walk is open here.
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
