//! A descriptor that wakes a task of asyncio: the event loop watches it.
//!
//! A thread of a walk writes to it without the interpreter. Calling a Python function there could
//! mean to wait, below frames of Rust, for an interpreter that is ending.

use pyo3::prelude::*;
use rustix::event::{EventfdFlags, eventfd};
use rustix::fd::{AsRawFd as _, OwnedFd, RawFd};
use rustix::io::{Errno, write};
use std::sync::Arc;
use std::task::{Wake, Waker};

#[doc = include_str!(concat!(env!("OUT_DIR"), "/Bell.txt"))]
#[pyclass(frozen, module = "ringwalk._ringwalk")]
pub(crate) struct Bell(Arc<Ring>);

/// An eventfd. It stays open as long as a thread may write to it.
struct Ring(OwnedFd);

impl Bell {
    /// Returns the object that writes to it.
    pub(super) fn waker(&self) -> Waker {
        Waker::from(Arc::clone(&self.0))
    }
}

impl Wake for Ring {
    fn wake(self: Arc<Self>) {
        while write(&self.0, &1_u64.to_ne_bytes()) == Err(Errno::INTR) {}
    }
}

#[pymethods]
impl Bell {
    #[new]
    fn new() -> PyResult<Self> {
        let fd = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK);
        Ok(Self(Arc::new(Ring(fd.map_err(std::io::Error::from)?))))
    }

    /// Returns the descriptor, which becomes readable when it is written to.
    fn fileno(&self) -> RawFd {
        self.0.0.as_raw_fd()
    }
}
