//! The number of workers: as many as CPUs while calls return from cache, more while calls wait for
//! a device.
//!
//! | file | contents |
//! |---|---|
//! | `controller.rs` | the concurrency controller: decides the number from what workers report |
//! | `climb.rs` | its decisions: more workers, or fewer |
//! | `meter.rs` | what one worker measures of its own calls |
//! | `rate.rs` | the limit on entries a second |

mod climb;
mod controller;
pub(crate) mod meter;
pub(crate) mod rate;

pub(crate) use controller::ConcurrencyController;
pub use controller::WorkerChange;

use std::num::NonZeroUsize;

/// The largest number of workers that wait for a device at a time. A server with 5 ms a request
/// answered 37 000 requests a second of 512 workers, and 11 000 of 64. A worker takes about 52 KiB.
pub(crate) const MOST_WORKERS: usize = 512;

/// The largest number of workers on a warm cache, unless the caller gives a number: a walk should
/// not take all of a shared host with 128 CPUs.
const MOST_BUSY_WORKERS: usize = 16;

/// Returns how many workers a walk has while its calls return from cache, unless the caller gives a
/// number. That is the number of CPUs this process may use, by affinity and by the quota of its
/// cgroups, and at most 16.
pub fn warm_workers() -> usize {
    let cpus = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    cpus.min(MOST_BUSY_WORKERS)
}
