//! Waits for work on other threads without the interpreter's lock, and checks for signals.

use pyo3::prelude::*;
use ringwalk::{Background, Next};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The longest time until a signal, for example from Ctrl-C, is noticed.
pub(crate) const SLICE: Duration = Duration::from_millis(50);

/// Calls `poll` with a time to wait until it returns an item or the end, which is `None`. Only the
/// main thread ever sees a signal, as always in Python.
///
/// # Errors
///
/// The exception of a signal handler.
pub(crate) fn wait<T: Send>(
    py: Python<'_>,
    mut poll: impl FnMut(Duration) -> Next<T> + Send,
) -> PyResult<Option<T>> {
    loop {
        match py.detach(|| poll(SLICE)) {
            Next::Item(item) => return Ok(Some(item)),
            Next::End => return Ok(None),
            Next::Pending => py.check_signals()?,
        }
    }
}

/// Returns true if this thread notices signals.
pub(crate) fn sees_signals() -> bool {
    rustix::thread::gettid() == rustix::process::getpid()
}

/// Makes a call that may hang, unless it is `local`. On the main thread, another thread makes the
/// call; if a signal handler raises an exception, that thread finishes the call alone.
///
/// # Errors
///
/// The exception of a signal handler; an error if no thread can be started.
pub(crate) fn call<R: Send + 'static>(
    py: Python<'_>,
    local: bool,
    work: impl FnOnce() -> R + Send + 'static,
) -> PyResult<R> {
    if local || !sees_signals() {
        Ok(py.detach(work))
    } else {
        run(py, "ringwalk-call", |_| work())
    }
}

/// Checks for signals, with the interpreter released between checks. Returns false if there is no
/// reason to wait any longer, and stores the exception of a signal handler in `raised`.
pub(crate) fn goes_on(raised: &mut Option<PyErr>) -> bool {
    // In an interpreter that is ending, no code waits for the result.
    Python::try_attach(|py| match py.check_signals() {
        Ok(()) => true,
        Err(error) => {
            *raised = Some(error);
            false
        }
    })
    .unwrap_or(false)
}

/// Ends work and waits for its threads, at most as long as a signal may go unnoticed. A thread may
/// be in a call that a server does not answer. It ends after the call, and its data is kept until
/// then.
pub(crate) fn end<T: Send + 'static, R: Send + 'static>(working: Background<T, R>) {
    // No code needs its result.
    drop(working.end_within(SLICE));
}

/// Does the slow part of dropping an object, without the interpreter if there is one.
pub(crate) fn detached(work: impl FnOnce() + Send) {
    let mut work = Some(work);
    Python::try_attach(|py| py.detach(|| work.take().map(|work| work())));
    if let Some(work) = work {
        work();
    }
}

/// Does `work` on a thread of its own. The work must now and then call the function that it is
/// passed, and end when that returns true.
///
/// # Errors
///
/// The exception of a signal handler: the work is then asked to end, and this thread does not wait
/// for it. An error if no thread can be started.
pub(crate) fn run<R: Send + 'static>(
    py: Python<'_>,
    name: &str,
    work: impl FnOnce(&(dyn Fn() -> bool + Sync)) -> R + Send + 'static,
) -> PyResult<R> {
    let working = Background::start(name, move |sender| work(&|| sender.is_closed()))?;
    finish(py, working, || ())
}

/// Does `work` on a thread of its own. The work must now and then look at the flag `stop`, and end
/// when that is set.
///
/// # Errors
///
/// As [`run`]. The flag is set before the exception is raised.
pub(crate) fn run_until<R: Send + 'static>(
    py: Python<'_>,
    name: &str,
    stop: &AtomicBool,
    work: impl FnOnce() -> R + Send + 'static,
) -> PyResult<R> {
    let working = Background::start(name, move |_| work())?;
    finish(py, working, || stop.store(true, Ordering::Relaxed))
}

/// Waits for the result. Calls `stop` if a signal handler raises an exception.
fn finish<R: Send + 'static>(
    py: Python<'_>,
    mut working: Background<(), R>,
    stop: impl FnOnce(),
) -> PyResult<R> {
    match wait(py, |time| working.next_within(time)) {
        Ok(_) => Ok(working.into_summary().expect("it has ended")),
        Err(raised) => {
            stop();
            py.detach(|| end(working));
            Err(raised)
        }
    }
}
