//! The visitor of walks in the background that send what they read as it comes.

use crate::background::Sender;
use crate::batch::Batch;
use crate::dir::Dir;
use crate::error::Error;
use crate::visitor::{Flow, Visitor, go_on};

/// Sends what `items` makes of each batch, all at once as they are handed over under a lock, and errors; ends the walk when nobody
/// takes anything any more.
pub(crate) struct Sending<'a, T, F> {
    sender: &'a Sender<Result<T, Error>>,
    items: F,
}

impl<'a, T, F> Sending<'a, T, F> {
    pub(crate) fn new(sender: &'a Sender<Result<T, Error>>, items: F) -> Self {
        Self { sender, items }
    }
}

impl<T, F, I> Visitor for Sending<'_, T, F>
where
    T: Send,
    F: FnMut(&Batch<'_, ()>) -> I + Send,
    I: IntoIterator<Item = T>,
{
    type State = ();

    fn enter(&mut self, _: &Dir<()>) -> Flow {
        go_on(!self.sender.is_closed())
    }

    fn batch(&mut self, batch: &Batch<'_, ()>) -> Flow {
        // Made by now: the lock is taken next.
        let items = (self.items)(batch).into_iter().map(Ok);
        go_on(self.sender.send(items, batch.len()).is_ok())
    }

    fn error(&mut self, error: &Error) {
        // If nobody listens any more, the next batch or directory ends the walk.
        let _ = self.sender.send([Err(error.clone())], 1);
    }
}
