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

/// Whether signals are seen on this thread.
pub(crate) fn sees_signals() -> bool {
    rustix::thread::gettid() == rustix::process::getpid()
}

/// Makes a call that may hang unless it is `local`. On the main thread another one makes it then,
/// which is left to it if a signal handler raises something.
///
/// # Errors
///
/// What a signal handler raised; if no thread can be started.
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

/// Asks for signals while the interpreter is let go of. Returns false, and leaves in `raised` what
/// a signal handler raised, if there is no use in waiting any longer.
pub(crate) fn goes_on(raised: &mut Option<PyErr>) -> bool {
    // An interpreter that is ending has nobody who waits.
    Python::try_attach(|py| match py.check_signals() {
        Ok(()) => true,
        Err(error) => {
            *raised = Some(error);
            false
        }
    })
    .unwrap_or(false)
}

/// Ends work and waits for its threads, but not longer than a signal may go unseen: a thread may be
/// in a call that a server does not answer. It ends after that, and what it uses is kept until
/// then.
pub(crate) fn end<T: Send + 'static, R: Send + 'static>(working: Background<T, R>) {
    // What it has come to is of no use to anybody.
    drop(working.end_within(SLICE));
}

/// Does what may take a moment when something is dropped: without the interpreter, if there is one.
pub(crate) fn detached(work: impl FnOnce() + Send) {
    let mut work = Some(work);
    Python::try_attach(|py| py.detach(|| work.take().map(|work| work())));
    if let Some(work) = work {
        work();
    }
}

/// Does `work` on a thread of its own. It is to ask the function that it is given now and then whether it shall end.
///
/// # Errors
///
/// What a signal handler raised: the work is told to end then, and not waited for; if no thread can
/// be started.
pub(crate) fn run<R: Send + 'static>(
    py: Python<'_>,
    name: &str,
    work: impl FnOnce(&(dyn Fn() -> bool + Sync)) -> R + Send + 'static,
) -> PyResult<R> {
    let mut working = Background::<(), R>::start(name, move |sender| work(&|| sender.is_closed()))?;
    match wait(py, |time| working.next_within(time)) {
        Ok(_) => Ok(working.into_summary().expect("it has ended")),
        Err(raised) => {
            py.detach(|| end(working));
            Err(raised)
        }
    }
}
