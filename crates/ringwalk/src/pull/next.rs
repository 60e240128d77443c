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
mod tests {
    use super::*;

    #[test]
    fn a_poll_and_back_is_the_same() {
        for next in [Next::Item(7), Next::End, Next::Pending] {
            assert_eq!(Next::from(next.into_poll()), next);
        }
    }

    #[test]
    fn only_an_item_is_changed_and_taken() {
        assert_eq!(Next::Item(7).map(|item| item + 1), Next::Item(8));
        assert_eq!(Next::Item(7).item(), Some(7));
        for next in [Next::End, Next::Pending] {
            assert_eq!(next.map(|item: u32| item + 1), next);
            assert_eq!(next.item(), None);
        }
    }
}
