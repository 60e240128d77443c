//! The reads of one open directory that are in flight, and whether its end is final.
//!
//! Several reads of a large directory may be in flight. The kernel moves the position when a read
//! has taken names, and looks the names up afterwards. A read that ends early (because of a signal,
//! for example) sets the position back to the first entry that it does not return. So an end that
//! another read has seen meanwhile is not final:
//!
//! ```text
//!   read A   takes the last names ---- looks them up ---- ends early, sets the position back
//!   read B                    at the end: takes nothing
//!   rest                                  waits for A --------------------> read alone: the end
//! ```
//!
//! There is one task for the rest of a directory ([`Rest`](crate::walk::scheduler::Rest)), and only
//! the worker that takes the task begins a read. An end is final if the read was alone: no other
//! read was in flight at any moment between its beginning and its end. After an end that is not
//! final, the rest waits until no read is in flight. It is then read alone, which confirms the end
//! or finds the entries that were given back. So the end of a directory with concurrent reads costs
//! one more request, and no request is repeated while a slow one is waited for.
//!
//! With getdents64(2) no read gives entries back. The rule is the same there: a walk may change its
//! source, or fall back, while a read is in flight.

use ringwalk_sys::sync::lock;
use std::sync::Mutex;

/// The reads of one directory from its position: all reads but the one that comes with opening.
#[derive(Debug, Default)]
pub(crate) struct ReadsInFlight(Mutex<Reads>);

#[derive(Debug, Default)]
struct Reads {
    in_flight: u32,
    /// Reads have overlapped since the last moment without a read in flight.
    overlapped: bool,
    /// A read has seen the end, and was not alone.
    end_seen: bool,
    /// The rest waits until no read is in flight. Its next batch gets this number.
    waiting: Option<u32>,
}

/// How the rest of a directory is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Begun {
    /// Now. Other reads may be in flight at the same time.
    Freely,
    /// Now. No other read may be begun before this one is finished.
    Alone,
    /// Not now. The read that is finished last returns the rest.
    Waits,
}

/// What is known when a read is finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FinishedRead {
    /// True if the read has seen the end, and the end is final.
    pub(crate) end: bool,
    /// The number of the next batch, if the rest has waited and is to be pushed again.
    pub(crate) rest: Option<u32>,
}

impl ReadsInFlight {
    /// Begins to read the rest, from which the batch `next_batch` comes, or lets it wait.
    pub(crate) fn begin(&self, next_batch: u32) -> Begun {
        let mut reads = lock(&self.0);
        if reads.end_seen && reads.in_flight > 0 {
            reads.waiting = Some(next_batch);
            return Begun::Waits;
        }
        reads.overlapped |= reads.in_flight > 0;
        reads.in_flight += 1;
        if std::mem::take(&mut reads.end_seen) {
            Begun::Alone
        } else {
            Begun::Freely
        }
    }

    /// Finishes a read, which has come to the end if `end` is true.
    pub(crate) fn finish(&self, end: bool) -> FinishedRead {
        let mut reads = lock(&self.0);
        reads.in_flight -= 1;
        let is_final = end && !reads.overlapped;
        reads.end_seen |= end && !is_final;
        if reads.in_flight > 0 {
            return FinishedRead {
                end: is_final,
                rest: None,
            };
        }
        reads.overlapped = false;
        FinishedRead {
            end: is_final,
            rest: reads.waiting.take(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOES_ON: FinishedRead = FinishedRead {
        end: false,
        rest: None,
    };

    const FINAL: FinishedRead = FinishedRead {
        end: true,
        rest: None,
    };

    #[test]
    fn an_end_is_final_if_the_read_was_alone() {
        let reads = ReadsInFlight::default();
        for number in 1..3 {
            assert_eq!(reads.begin(number), Begun::Freely);
            assert_eq!(reads.finish(false), GOES_ON);
        }
        assert_eq!(reads.begin(3), Begun::Freely);
        assert_eq!(reads.finish(true), FINAL);
    }

    #[test]
    fn an_end_is_not_final_while_another_read_is_in_flight() {
        let reads = ReadsInFlight::default();
        assert_eq!(reads.begin(1), Begun::Freely);
        assert_eq!(reads.begin(2), Begun::Freely);
        assert_eq!(reads.finish(true), GOES_ON);
        // The first read may still give entries back.
        assert_eq!(reads.begin(3), Begun::Waits);
        let rest = Some(3);
        assert_eq!(reads.finish(false), FinishedRead { end: false, rest });
        assert_eq!(reads.begin(3), Begun::Alone);
        assert_eq!(reads.finish(true), FINAL);
    }

    #[test]
    fn a_rest_that_comes_after_the_last_read_is_read_alone() {
        let reads = ReadsInFlight::default();
        assert_eq!(reads.begin(1), Begun::Freely);
        assert_eq!(reads.begin(2), Begun::Freely);
        assert_eq!(reads.finish(true), GOES_ON);
        assert_eq!(reads.finish(false), GOES_ON);
        assert_eq!(reads.begin(3), Begun::Alone);
        // Entries were given back, and there are many of them.
        assert_eq!(reads.finish(false), GOES_ON);
        assert_eq!(reads.begin(4), Begun::Freely);
        assert_eq!(reads.begin(5), Begun::Freely);
        assert_eq!(reads.finish(false), GOES_ON);
    }

    #[test]
    fn a_read_whose_companion_was_finished_before_was_not_alone() {
        let reads = ReadsInFlight::default();
        assert_eq!(reads.begin(1), Begun::Freely);
        assert_eq!(reads.begin(2), Begun::Freely);
        assert_eq!(reads.finish(false), GOES_ON);
        // This read may have seen the end before the other one gave entries back.
        assert_eq!(reads.finish(true), GOES_ON);
        assert_eq!(reads.begin(3), Begun::Alone);
        assert_eq!(reads.finish(true), FINAL);
    }
}
