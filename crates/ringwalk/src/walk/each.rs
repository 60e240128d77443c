//! A walk that calls a closure for each entry, where the caller needs no visitor.

use crate::visit::batch::Batch;
use crate::visit::dir::Dir;
use crate::visit::entry::Entry;
use crate::visit::error::Error;
use crate::visit::summary::Summary;
use crate::visit::visitor::{Flow, Visitor};
use crate::walk::Walk;

impl Walk {
    /// Runs the walk as [`run`](Self::run) does, with one closure on each worker, which is called
    /// with each entry and each error. `make` makes the closure of a worker, on the worker's
    /// thread.
    ///
    /// With [`Flow::Prune`] the walk does not descend into the entry, and with [`Flow::Stop`] it
    /// ends. An error cannot be pruned. An entry whose metadata could not be read comes after the
    /// error, without metadata.
    ///
    /// ```
    /// use ringwalk::{Flow, Walk};
    /// use std::sync::mpsc::channel;
    ///
    /// let (sender, receiver) = channel();
    /// let summary = Walk::new("src").run_each(|| {
    ///     let sender = sender.clone();
    ///     move |entry| {
    ///         let Ok(entry) = entry else { return Flow::Continue };
    ///         if entry.file_name() == "sources" {
    ///             return Flow::Prune;
    ///         }
    ///         sender.send(entry.path()).expect("the receiver waits for the walk");
    ///         Flow::Continue
    ///     }
    /// });
    /// drop(sender);
    /// assert!(receiver.iter().any(|path| path == b"src/lib.rs"));
    /// assert_eq!(summary.errors, 0);
    /// ```
    ///
    /// # Panics
    ///
    /// As [`run`](Self::run).
    pub fn run_each<F>(self, make: impl Fn() -> F + Sync) -> Summary
    where
        F: FnMut(Result<Entry<'_, ()>, &Error>) -> Flow + Send,
    {
        let make = |_| Each {
            call: make(),
            stopped: false,
        };
        self.run(make).summary
    }
}

/// The visitor that calls the closure of a worker.
struct Each<F> {
    call: F,
    /// The closure has stopped the walk when it was called with an error.
    stopped: bool,
}

impl<F> Visitor for Each<F>
where
    F: FnMut(Result<Entry<'_, ()>, &Error>) -> Flow + Send,
{
    type State = ();

    fn enter(&mut self, _: &Dir<()>) -> Flow {
        Flow::continue_if(!self.stopped)
    }

    fn batch(&mut self, batch: &Batch<'_, ()>) -> Flow {
        for entry in batch.entries() {
            if self.stopped {
                return Flow::Stop;
            }
            match (self.call)(Ok(entry)) {
                Flow::Continue => {}
                Flow::Prune => entry.prune(),
                Flow::Stop => self.stopped = true,
            }
        }
        Flow::continue_if(!self.stopped)
    }

    fn error(&mut self, error: &Error) {
        self.stopped |= !self.stopped && (self.call)(Err(error)) == Flow::Stop;
    }
}
