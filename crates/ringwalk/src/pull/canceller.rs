//! Ending a walk in the background from any thread.

use std::fmt;
use std::sync::Arc;

/// Ends a walk that runs [in the background](crate::Batches), from any thread.
#[derive(Clone)]
pub struct Canceller(Arc<dyn Fn() + Send + Sync>);

impl fmt::Debug for Canceller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Canceller").finish_non_exhaustive()
    }
}

impl Canceller {
    /// Creates a canceller that calls `cancel`.
    pub(crate) fn new(cancel: impl Fn() + Send + Sync + 'static) -> Self {
        Self(Arc::new(cancel))
    }

    /// Drops all items in the channel, and wakes a consumer that waits for one.
    ///
    /// The consumer still gets the items that it has fetched already: some 4000 entries at most, or
    /// one batch that has more. Workers end after the batch that they work on.
    pub fn cancel(&self) {
        (self.0)();
    }
}
