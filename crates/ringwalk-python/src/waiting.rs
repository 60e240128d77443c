//! Waiting for work on other threads, without the interpreter's lock and with an eye on signals.

use pyo3::prelude::*;
use ringwalk::{Background, TimedOut};
use std::time::Duration;

/// How long a signal, such as that of Ctrl-C, may go unseen.
pub(crate) const SLICE: Duration = Duration::from_millis(50);

/// Calls `poll` with a time to wait until it has something. Only the main thread ever sees a signal, as always in Python.
///
/// # Errors
///
/// What a signal handler raised.
pub(crate) fn wait<T: Send>(
    py: Python<'_>,
    mut poll: impl FnMut(Duration) -> Result<T, TimedOut> + Send,
) -> PyResult<T> {
    loop {
        match py.detach(|| poll(SLICE)) {
            Ok(found) => return Ok(found),
            Err(TimedOut) => py.check_signals()?,
        }
    }
}

/// Does `work` on a thread of its own. It is to ask the function that it is given now and then whether it shall end.
///
/// # Errors
///
/// What a signal handler raised, when the work has ended early for it; if no thread can be started.
pub(crate) fn run<R: Send + 'static>(
    py: Python<'_>,
    name: &str,
    work: impl FnOnce(&(dyn Fn() -> bool + Sync)) -> R + Send + 'static,
) -> PyResult<R> {
    let mut working = Background::<(), R>::start(name, move |sender| work(&|| sender.is_closed()))?;
    let waited = wait(py, |time| working.next_within(time));
    // Dropping it waits for it to end.
    py.detach(move || waited.map(|_| working.into_summary().expect("it has ended")))
}
