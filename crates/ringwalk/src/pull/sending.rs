//! The visitor of walks in the background, which sends entries as they are read.

use crate::pull::background::Sender;
use crate::visit::batch::Batch;
use crate::visit::dir::Dir;
use crate::visit::error::Error;
use crate::visit::visitor::{Flow, Visitor};

/// Sends the items that `items` makes of each batch, all at once, and errors. Ends the walk when
/// the receiver was dropped.
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
        Flow::continue_if(!self.sender.is_closed())
    }

    fn batch(&mut self, batch: &Batch<'_, ()>) -> Flow {
        // All items are made here: `send` takes the lock.
        let items = (self.items)(batch).into_iter().map(Ok);
        Flow::continue_if(self.sender.send(items, batch.len()).is_ok())
    }

    fn error(&mut self, error: &Error) {
        // If the receiver was dropped, the next batch or directory ends the walk.
        let _ = self.sender.send([Err(error.clone())], 1);
    }
}
