//! The walk as a stream.

use crate::batches::{Batches, OwnedBatch};
use crate::entries::OwnedEntry;
use crate::error::Error;
use crate::summary::Summary;
use crate::walk::Walk;
use futures_core::Stream;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// The entries of a walk as a stream, roots first, then in the order in which directories are read, and what could not be read as
/// errors among them.
///
/// The walk runs on threads of its own, at most some 8000 entries and a batch for each worker ahead of who takes them; then it
/// waits. Dropping this ends it: its threads end with what they are at, and nobody waits for them.
///
/// ```
/// use futures_lite::StreamExt;
/// use ringwalk::{Fields, Walk};
///
/// # futures_lite::future::block_on(async {
/// let mut entries = Walk::new("src").fields(Fields::SIZE).stream()?;
/// let mut bytes = 0;
/// while let Some(entry) = entries.next().await {
///     bytes += entry?.metadata().map_or(0, |metadata| metadata.size);
/// }
/// assert!(bytes > 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Debug)]
pub struct WalkStream {
    batches: Batches,
    /// What entries are being taken from.
    current: Option<(OwnedBatch, usize)>,
}

impl Walk {
    /// Runs the walk on threads of its own, and gives its entries as a stream.
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
    /// The next entries, all of one directory; with [`Stream`] entries of a batch that has been begun are left out of it.
    pub async fn next_batch(&mut self) -> Option<Result<OwnedBatch, Error>> {
        std::future::poll_fn(|cx| self.poll_next_batch(cx)).await
    }

    /// As [`next_batch`](Self::next_batch), for those who write futures by hand.
    pub fn poll_next_batch(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<OwnedBatch, Error>>> {
        if let Some((batch, from)) = self.current.take() {
            return Poll::Ready(Some(Ok(batch.split_off(from))));
        }
        self.batches.poll_next(cx)
    }

    /// What the walk has done; `None` before the last batch has been taken.
    pub fn summary(&self) -> Option<&Summary> {
        self.batches.summary()
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
