//! The answer of a call that waits for an item no longer than the caller allows.

use std::task::Poll;

/// What a wait for the next item of a sequence has brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next<T> {
    /// The next item.
    Item(T),
    /// The sequence has ended: no more items come.
    End,
    /// No item has come yet. The call may be made again.
    Pending,
}

impl<T> Next<T> {
    /// Applies `change` to the item, if there is one.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Next<U> {
        match self {
            Self::Item(item) => Next::Item(change(item)),
            Self::End => Next::End,
            Self::Pending => Next::Pending,
        }
    }

    /// Returns the answer in the form that streams have.
    pub fn into_poll(self) -> Poll<Option<T>> {
        match self {
            Self::Item(item) => Poll::Ready(Some(item)),
            Self::End => Poll::Ready(None),
            Self::Pending => Poll::Pending,
        }
    }

    /// Returns the item; `None` at the end, and while no item has come.
    pub fn item(self) -> Option<T> {
        match self {
            Self::Item(item) => Some(item),
            Self::End | Self::Pending => None,
        }
    }
}

impl<T> From<Poll<Option<T>>> for Next<T> {
    fn from(polled: Poll<Option<T>>) -> Self {
        match polled {
            Poll::Ready(Some(item)) => Self::Item(item),
            Poll::Ready(None) => Self::End,
            Poll::Pending => Self::Pending,
        }
    }
}

#[cfg(test)]
mod tests;
