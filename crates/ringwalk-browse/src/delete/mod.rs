//! Deletion of entries that were shown, and of nothing else.
