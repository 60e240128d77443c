//! Who does what tasks may not: calls that wait for a device.
//!
//! ```text
//!    task                       driver, one for the process
//!  ┌──────────┐   Request   ┌──────────────────────────────────────────┐
//!  │ Pending ─┼── owns all ─┼─> pool: a few threads, by calls <─┐      │
//!  │   ^      │   it needs  │     │                       refused      │
//!  │   │      │             │     └─ calls wait ─> ring: many in flight │
//!  └───┼──────┘             └──────────────────┬───────────────────────┘
//!      └────────── slot: answer, wake ─────────┘
//! ```
//!
//! `pool.rs` and `ring/` have their own drawings. The ring is there only where the kernel offers to read directories on one: by the module, or
//! by operations of its own.
//!
//! A request owns what it needs (buffer, descriptor, name), and its answer owns what came of it. The task holds nothing but its end
//! of the slot (`slot.rs`); so it may go away at any point, with its runtime if need be, and whoever is at work on the request drops all of
//! it when it is over.
//!
//! There is one driver for the process, with threads only while there is something to do. A child that the process forks has
//! none of these threads: it is told by its process id, and gets a driver of its own.

mod pool;
mod request;
mod ring;
mod slot;

pub(crate) use request::{Fault, Opened, Piece, Place, Request};
#[cfg(test)]
pub(crate) use slot::Completer;
pub(crate) use slot::{Pending, slot};

use pool::{Bounds, Pool};
use ring::Ring;
use std::num::NonZero;
use std::sync::OnceLock;
use std::thread::available_parallelism;

/// Threads at most: what fills the queues of most devices, as for a walk (`regime.rs`).
const MOST_THREADS: usize = crate::regime::MOST_WORKERS;

/// This process, as opposed to one that it was forked from.
fn process() -> u32 {
    std::process::id()
}

/// The driver of one process, and behind it that of a process forked from that one.
#[derive(Debug)]
struct Driver {
    process: u32,
    pool: Pool<Request>,
    ring: Ring,
    next: OnceLock<Box<Driver>>,
}

static FIRST: OnceLock<Box<Driver>> = OnceLock::new();

impl Driver {
    fn new(process: u32) -> Self {
        let base = available_parallelism().map_or(1, NonZero::get);
        Self {
            process,
            pool: Pool::new(Bounds::new(base.min(MOST_THREADS), MOST_THREADS)),
            ring: Ring::new(call),
            next: OnceLock::new(),
        }
    }

    /// That of this process. No lock is involved that the process it was forked from could hold for good.
    fn of_process() -> &'static Self {
        let process = process();
        let mut at = &FIRST;
        loop {
            let Some(driver) = at.get() else {
                // Another thread may be first.
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

/// Has a request done.
pub(crate) fn submit(request: Request) {
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

/// Has a request done by calls.
fn call(request: Request) {
    Driver::of_process().pool.submit(request);
}

/// The ring has refused what calls could do.
fn refused_wrongly() {
    Driver::of_process().ring.refused_wrongly();
}
