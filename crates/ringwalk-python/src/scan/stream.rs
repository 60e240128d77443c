//! A scan as a stream of Arrow's C stream interface, which other libraries read on any thread.

use super::reading::{Reading, Refused};
use crate::waiting::{SLICE, sees_signals};
use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, Schema, SchemaRef};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use ringwalk::Next;
use std::io;
use std::sync::Arc;

/// The batches of a scan. The scan is closed if the stream is released before its end.
pub(super) struct Stream {
    reading: Arc<Reading>,
    /// True if this stream has read a batch.
    begun: bool,
    ended: bool,
}

impl Stream {
    pub(super) fn new(reading: Arc<Reading>) -> Self {
        Self {
            reading,
            begun: false,
            ended: false,
        }
    }

    fn schema(&self) -> &Arc<Schema> {
        &self.reading.shared.schema
    }

    fn pull(&mut self) -> Result<Option<RecordBatch>, ArrowError> {
        if !self.begun && self.reading.is_begun() {
            return Err(arrow_error("this scan is being read already"));
        }
        self.begun = true;
        let batch = loop {
            match wait_a_slice(&self.reading)? {
                Next::Item(Ok(batch)) => break Some(batch),
                Next::Item(Err(refused)) => return Err(arrow_error(&refused.to_string())),
                Next::End => break None,
                Next::Pending => {}
            }
        };
        if batch.is_none() {
            self.ended = true;
            let shared = &self.reading.shared;
            if let Some(error) = shared.raised.of(&shared.log) {
                let text = error.to_string();
                return Err(ArrowError::IoError(text, error.into()));
            }
        }
        Ok(batch)
    }
}

fn arrow_error(text: &str) -> ArrowError {
    ArrowError::IoError(text.to_owned(), io::Error::other(text.to_owned()))
}

/// Waits once. On the main thread, checks for signals, and releases the interpreter in case the
/// caller holds it. On other threads the interpreter is not touched, unless tasks of asyncio read
/// the same scan: a thread may hold the interpreter and wait for this one.
fn wait_a_slice(reading: &Reading) -> Result<Next<Result<RecordBatch, Refused>>, ArrowError> {
    let waited = sees_signals().then(|| {
        Python::try_attach(|py| {
            let slice = py.detach(|| reading.next_within(SLICE));
            match py.check_signals() {
                Ok(()) => Ok(slice),
                Err(raised) => Err(interrupted(py, &raised)),
            }
        })
    });
    match waited.flatten() {
        Some(slice) => slice,
        None => Ok(reading.next_within(SLICE)),
    }
}

/// Converts an exception, which cannot pass through the C interface. Ctrl-C is raised again as soon
/// as Python runs; of other exceptions the text is passed.
fn interrupted(py: Python<'_>, raised: &PyErr) -> ArrowError {
    if raised.is_instance_of::<PyKeyboardInterrupt>(py) {
        let again = py
            .import("_thread")
            .and_then(|thread| thread.call_method0("interrupt_main"));
        if again.is_ok() {
            return arrow_error("interrupted");
        }
    }
    arrow_error(&raised.to_string())
}

impl Iterator for Stream {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        self.pull().transpose()
    }
}

impl RecordBatchReader for Stream {
    fn schema(&self) -> SchemaRef {
        Arc::clone(self.schema())
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        if self.begun && !self.ended {
            let closed = sees_signals()
                .then(|| Python::try_attach(|py| py.detach(|| self.reading.close())))
                .flatten();
            if closed.is_none() {
                self.reading.close();
            }
        }
    }
}
