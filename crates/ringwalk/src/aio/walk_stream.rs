//! The walk as a stream.

use crate::pull::batches::{Batches, OwnedBatch};
use crate::pull::entries::OwnedEntry;
use crate::visit::error::Error;
use crate::visit::leftover::Leftover;
use crate::visit::summary::Summary;
use crate::walk::Walk;
use futures_core::Stream;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// The entries of a walk as a stream, roots first, then in the order in which directories are read,
/// with errors among them. With [`Order::Name`](crate::Order::Name) the entries of each directory
/// are in order, but the directories are not. The iterator over a [`Walk`] orders both.
///
/// The walk runs on threads of its own, at most about 8000 entries and a batch for each worker
/// ahead of the consumer; then it waits. Dropping the stream ends the walk: its workers end after
/// their current batch, and nobody waits for them.
///
/// ```
/// use futures_lite::StreamExt;
/// use ringwalk::{Fields, Walk};
///
/// # futures_lite::future::block_on(async {
/// let mut entries = Walk::new("src").fields(Fields::SIZE).stream()?;
/// let mut bytes = 0;
/// while let Some(entry) = entries.next().await {
///     let size = entry?.metadata().and_then(|metadata| metadata.size());
///     bytes += size.expect("the walk asks for sizes");
/// }
/// assert!(bytes > 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Debug)]
pub struct WalkStream {
    batches: Batches,
    /// The batch that entries are being taken from, and the index of the next one.
    current: Option<(OwnedBatch, usize)>,
}

impl Walk {
    /// Runs the walk on threads of its own, and returns its entries as a stream.
    ///
    /// # Errors
    ///
    /// If no thread can be started.
    pub fn stream(self) -> io::Result<WalkStream> {
        Ok(WalkStream {
            batches: self.batches()?,
            current: None,
        })
    }
}

impl WalkStream {
    /// Returns the next entries, all of one directory. If [`Stream`] has returned some entries of a
    /// batch, returns only the others.
    pub async fn next_batch(&mut self) -> Option<Result<OwnedBatch, Error>> {
        std::future::poll_fn(|cx| self.poll_next_batch(cx)).await
    }

    /// Polls for the result of [`next_batch`](Self::next_batch), for futures written by hand.
    pub fn poll_next_batch(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<OwnedBatch, Error>>> {
        if let Some((batch, from)) = self.current.take() {
            return Poll::Ready(Some(Ok(batch.split_off(from))));
        }
        self.batches.poll_next(cx)
    }

    /// Returns the summary of the walk; `None` until the last batch has been taken.
    pub fn summary(&self) -> Option<&Summary> {
        self.batches.summary()
    }

    /// Returns what the walk has left over when its [budget](Walk::budget) was spent, for
    /// [`Walk::resume`]; `None` until the last batch has been taken, and if the walk was stopped or
    /// cancelled. Empty if nothing is left.
    pub fn leftovers(&self) -> Option<&[Leftover]> {
        self.batches.leftovers()
    }
}

impl Stream for WalkStream {
    type Item = Result<OwnedEntry, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        loop {
            if let Some((batch, next)) = &mut this.current {
                let entry = OwnedEntry::of_batch(batch, *next);
                *next += 1;
                if *next >= batch.entries().len() {
                    this.current = None;
                }
                if let Some(entry) = entry {
                    return Poll::Ready(Some(Ok(entry)));
                }
            }
            match ready!(this.batches.poll_next(cx)) {
                None => return Poll::Ready(None),
                Some(Err(error)) => return Poll::Ready(Some(Err(error))),
                Some(Ok(batch)) => this.current = Some((batch, 0)),
            }
        }
    }
}

impl Drop for WalkStream {
    fn drop(&mut self) {
        self.batches.detach();
    }
}
