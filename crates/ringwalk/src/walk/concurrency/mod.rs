//! The number of workers: as many as CPUs while calls return from cache, more while calls wait for
//! a device.
//!
//! | file | contents |
//! |---|---|
//! | `controller.rs` | the concurrency controller: decides the number from what workers report |
//! | `meter.rs` | what one worker measures of its own calls |

mod controller;
pub(crate) mod meter;

pub(crate) use controller::ConcurrencyController;
pub use controller::WorkerChange;

use std::num::NonZeroUsize;

/// The largest number of workers that wait for a device at a time. 64 fill the queues of most
/// devices and servers, and their buffers still fit into 16 MiB. On a disk with 2 ms a read and
/// eight requests at a time, all numbers from 8 to 128 took the same time: too many do no harm.
pub(crate) const MOST_WORKERS: usize = 64;

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
