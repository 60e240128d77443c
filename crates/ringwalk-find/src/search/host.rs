//! What a search needs of the program it runs in.

use ringwalk::{Monitor, Summary, Walk};
use std::io;
use std::sync::Arc;

/// The program around a search: standard error, standard output, and the options of its walks.
pub trait Host: Sync {
    /// Tells the user something: `message` is a line without the program's name and without its end.
    fn tell(&self, message: &str);

    /// Writes all of `bytes` to standard output.
    ///
    /// # Errors
    ///
    /// Those of write(2).
    fn write(&self, bytes: &[u8]) -> io::Result<()>;

    /// Whether standard output is a terminal.
    fn is_terminal(&self) -> bool;

    /// Sets up a walk as the user wants it: source, workers. `None` if that cannot be, of which the user has been told.
    fn set_up(&self, walk: Walk) -> Option<Walk>;

    /// Runs a walk: calls `run` once, with progress shown meanwhile, and may tell how it went.
    fn watch(&self, monitor: Arc<Monitor>, run: &mut dyn FnMut() -> Option<Summary>);

    /// Whether the user wants to know how the search is planned, without having said `-D tree`.
    fn explains(&self) -> bool;
}
