//! The same program in every runtime: a tree, a task for each directory.
//!
//! There is nothing here but tests (`tests/`).
