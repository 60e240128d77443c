//! The driver: makes the calls that tasks must not make, because they wait for a device.
//!
//! ```text
//!    task                       driver, one for the process
//!  ┌──────────┐   request   ┌──────────────────────────────────────────┐
//!  │ Pending ─┼── owns all ─┼─> pool: a few threads, by calls <─┐      │
//!  │   ^      │   it needs  │     │                       refused      │
//!  │   │      │             │     └─ calls wait ─> ring: many in flight │
//!  └───┼──────┘             └──────────────────┬───────────────────────┘
//!      └────────── slot: answer, wake ─────────┘
//! ```
//!
//! | file | contents |
//! |---|---|
//! | `request.rs` | requests and their answers |
//! | `answer.rs` | the slot for the answer to one request |
//! | `pool.rs` | a bounded pool of threads |
//! | `ring/` | directories opened and read on a ring, where the kernel offers that |
//!
//! A request owns all that it needs (buffer, descriptor, name), and its answer owns the results.
//! The task holds only its end of the slot. So the task, and its runtime, may go away at any point:
//! the thread that works on the request drops everything afterwards.
//!
//! There is one driver in the process, with threads only while there is something to do. A forked
//! child has none of these threads. It is recognised by its process id, and gets a driver of its
//! own.

mod answer;
mod pool;
mod request;
mod ring;

#[cfg(test)]
pub(crate) use answer::Completer;
pub(crate) use answer::{Pending, answer_slot};
pub(crate) use request::{DriverRequest, Fault, OpenTarget, Opened, ReadAnswer};

use pool::{Pool, PoolBounds};
use ring::Ring;
use std::num::NonZero;
use std::sync::OnceLock;
use std::thread::available_parallelism;

/// The largest number of threads: as many as fill the queues of most devices, as for a walk.
const MOST_THREADS: usize = crate::walk::concurrency::MOST_WORKERS;

/// Returns the id of this process, as opposed to one that it was forked from.
fn process() -> u32 {
    std::process::id()
}

/// The driver of one process, and behind it the driver of a process forked from that one.
#[derive(Debug)]
struct Driver {
    process: u32,
    pool: Pool<DriverRequest>,
    ring: Ring,
    next: OnceLock<Box<Driver>>,
}

static FIRST: OnceLock<Box<Driver>> = OnceLock::new();

impl Driver {
    fn new(process: u32) -> Self {
        let base = available_parallelism().map_or(1, NonZero::get);
        Self {
            process,
            pool: Pool::new(PoolBounds::new(base.min(MOST_THREADS), MOST_THREADS)),
            ring: Ring::new(call),
            next: OnceLock::new(),
        }
    }

    /// Returns the driver of this process. It uses no lock that a thread of the parent could hold
    /// for ever.
    fn of_process() -> &'static Self {
        let process = process();
        let mut at = &FIRST;
        loop {
            let Some(driver) = at.get() else {
                // Another thread may be faster.
                let _ = at.set(Box::new(Self::new(process)));
                continue;
            };
            if driver.process == process {
                return driver;
            }
            at = &driver.next;
        }
    }
}

/// Has the pool or the ring do a request.
pub(crate) fn submit(request: DriverRequest) {
    let driver = Driver::of_process();
    let request = if driver.pool.waits() {
        driver.ring.submit(request)
    } else {
        Some(request)
    };
    if let Some(request) = request {
        driver.pool.submit(request);
    }
}

/// Has the pool do a request, by calls.
fn call(request: DriverRequest) {
    Driver::of_process().pool.submit(request);
}

/// Notes that the ring has refused a request that calls could do.
fn refused_wrongly() {
    Driver::of_process().ring.refused_wrongly();
}
