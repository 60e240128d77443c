//! The interface to the program around a search.

use crate::facts::Facts;
use ringwalk::{Monitor, Summary, Walk};
use std::io;
use std::sync::Arc;

/// The program around a search: standard error, standard output, and the options of walks.
pub trait Host: Sync {
    /// Reports to the user: `message` is a line without the program's name and without its newline.
    fn report(&self, message: &str);

    /// Writes all of `bytes` to standard output.
    ///
    /// # Errors
    ///
    /// The errors of write(2).
    fn write(&self, bytes: &[u8]) -> io::Result<()>;

    /// Returns true if standard output is a terminal.
    fn is_terminal(&self) -> bool;

    /// Sets up a walk with the user's options: source, workers. Returns `None` if that fails, after
    /// the host has reported it. The walk must not get a budget: a search that leaves something out
    /// panics.
    fn set_up(&self, walk: Walk) -> Option<Walk>;

    /// Runs a walk: calls `run` once, shows progress meanwhile, and may report on the walk
    /// afterwards.
    fn watch(&self, monitor: Arc<Monitor>, run: &mut dyn FnMut() -> Option<Summary>);

    /// Returns true if the user asked for an account of the plan other than by `-D tree`.
    fn explains(&self) -> bool;

    /// Receives a file for which a [filter](crate::parse::parse_filter) is true. Workers of the
    /// search call it at once. Metadata that cannot be read has been reported.
    fn found(&self, file: &dyn Facts) {
        let _ = file;
    }

    /// Returns true if the search must end early. Workers ask after each batch of entries.
    fn is_stopped(&self) -> bool {
        false
    }
}
