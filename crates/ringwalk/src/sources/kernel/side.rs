//! The kernel's interfaces for reading directories in batches. A walk looks for them once. All
//! workers stop using an interface together if it turns out not to work.

use super::tree::TreeBuffers;
use crate::sources::registry::SourceChoice;
use ringwalk_sys::sync::lock;
use ringwalk_sys::{DirectoryOpcodes, DirectoryReader, IoUring, ModuleDevice};
use rustix::io::Errno;
use rustix::process::{Resource, getrlimit};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

/// The module is given up after it has refused this many directories in a row that system calls
/// could read.
const STRIKES: u32 = 3;

/// How many times the amount of work that triggers a search for the module a worker must see,
/// before `auto` looks for the kernel operations. They are found by setting up a ring, which takes
/// longer than an open that fails.
const RING_WORTH: u64 = 8;

/// The most directories in flight for all workers together. So many fill the queues of most devices
/// and servers twice over, and their buffers take 2 MiB.
const MOST_IN_FLIGHT: usize = 128;

/// The fewest directories in flight that are worth a ring.
const LEAST_IN_FLIGHT: usize = 8;

/// The kernel interfaces of a walk, shared by all its workers.
#[derive(Debug, Default)]
pub(crate) struct KernelSide {
    /// True once the walk has looked for the module, and for the operations.
    looked: [AtomicBool; 2],
    found: OnceLock<DirectoryReader>,
    /// Why the module or the operations cannot be used, if the walk has looked for them.
    refused: Mutex<Vec<String>>,
    given_up: AtomicBool,
    strikes: AtomicU32,
    fell_back: AtomicU64,
    /// The last error for which a directory fell back to system calls.
    last: Mutex<Option<Errno>>,
    /// The number of workers that keep requests in flight; and true if any ever did.
    in_flight: AtomicUsize,
    was_in_flight: AtomicBool,
    tree_buffers: Arc<TreeBuffers>,
}

impl KernelSide {
    /// Creates the state. `found` is the source that was asked for by name, or why it cannot be
    /// used.
    pub(crate) fn new(found: Option<Result<DirectoryReader, String>>) -> Self {
        let side = Self::default();
        if let Some(found) = found {
            side.note(found);
        }
        side
    }

    fn take(&self, found: DirectoryReader) {
        // The caller has found it already.
        let _ = self.found.set(found);
        for looked in &self.looked {
            looked.store(true, Ordering::Relaxed);
        }
    }

    /// Returns the interface that was found, even if it was given up later.
    #[inline]
    pub(crate) fn reader(&self) -> Option<&DirectoryReader> {
        self.found.get()
    }

    /// Looks for the module, or later for the operations. `times` is how often a worker has seen
    /// enough work for a search.
    #[inline]
    pub(crate) fn look(&self, times: u64) {
        debug_assert!(times > 0);
        if !self.looked[0].load(Ordering::Relaxed) {
            self.look_for_module();
        } else if times >= RING_WORTH && !self.looked[1].load(Ordering::Relaxed) {
            self.look_for_operations();
        }
    }

    /// Returns the state for directories that are read without a walk. It uses the module if that
    /// is loaded.
    pub(crate) fn of_process() -> &'static Self {
        static SIDE: OnceLock<KernelSide> = OnceLock::new();
        let side = SIDE.get_or_init(Self::default);
        side.look(1);
        side
    }

    /// Looks for the module, and without it for the operations.
    pub(crate) fn look_for_all(&self) {
        self.look_for_module();
        if self.reader().is_none() {
            self.look_for_operations();
        }
    }

    #[cold]
    fn look_for_module(&self) {
        if !self.looked[0].swap(true, Ordering::Relaxed) {
            self.note(find_module());
        }
    }

    #[cold]
    fn look_for_operations(&self) {
        if !self.looked[1].swap(true, Ordering::Relaxed) {
            self.note(find_ring());
        }
    }

    fn note(&self, found: Result<DirectoryReader, String>) {
        match found {
            Ok(found) => self.take(found),
            Err(why) => {
                let mut refused = lock(&self.refused);
                refused.push(why);
            }
        }
    }

    /// Returns true if the kernel was given up, so that system calls read from now on.
    #[inline]
    pub(crate) fn is_given_up(&self) -> bool {
        self.given_up.load(Ordering::Relaxed)
    }

    /// Notes that a directory was read.
    #[inline]
    pub(super) fn worked(&self) {
        if self.strikes.load(Ordering::Relaxed) != 0 {
            self.strikes.store(0, Ordering::Relaxed);
        }
    }

    /// Notes that a directory was refused with this error. `readable` is true if system calls have
    /// read it.
    #[cold]
    pub(super) fn fall_back(&self, errno: Errno, readable: bool) {
        if !readable {
            // The error is the directory's own.
            return;
        }
        self.fell_back.fetch_add(1, Ordering::Relaxed);
        *lock(&self.last) = Some(errno);
        if self.strikes.fetch_add(1, Ordering::Relaxed) + 1 >= STRIKES {
            self.given_up.store(true, Ordering::Relaxed);
        }
    }

    /// Returns how many directories may be in flight for all workers together: an eighth of the
    /// descriptors that the process may have. Returns `None` if descriptors are scarce.
    pub(super) fn most_in_flight() -> Option<usize> {
        let limit = getrlimit(Resource::Nofile).current;
        let limit = limit.map_or(usize::MAX, |limit| {
            usize::try_from(limit).unwrap_or(usize::MAX)
        });
        Some((limit / 8).min(MOST_IN_FLIGHT)).filter(|most| *most >= LEAST_IN_FLIGHT)
    }

    /// Notes that a worker begins to keep requests in flight, or ends it.
    pub(super) fn note_in_flight(&self, begins: bool) {
        if begins {
            self.was_in_flight.store(true, Ordering::Relaxed);
            self.in_flight.fetch_add(1, Ordering::Relaxed);
        } else {
            self.in_flight.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Returns the share of one worker in `most`.
    pub(super) fn share_of(&self, most: usize) -> usize {
        (most / self.in_flight.load(Ordering::Relaxed).max(1)).max(2)
    }

    /// Returns the buffers of trees.
    pub(super) fn tree_buffers(&self) -> &Arc<TreeBuffers> {
        &self.tree_buffers
    }

    pub(crate) fn fell_back(&self) -> u64 {
        self.fell_back.load(Ordering::Relaxed)
    }

    pub(crate) fn fallback_reason(&self) -> Option<String> {
        let last = lock(&self.last);
        last.map(|errno| errno.to_string())
    }

    /// Returns the source that was found.
    pub(crate) fn source(&self) -> Option<SourceChoice> {
        Some(match self.found.get()? {
            DirectoryReader::Module(_) => SourceChoice::Module,
            DirectoryReader::Opcodes(_) => SourceChoice::Ring,
        })
    }

    /// Returns a description of the interface that was found.
    pub(crate) fn describe(&self) -> Option<String> {
        let mut words = describe(self.found.get()?);
        if self.is_given_up() {
            words += "; given up, as it refused directories that system calls could read";
        } else if self.was_in_flight.load(Ordering::Relaxed) {
            words += "; requests were kept in flight, as calls waited";
        }
        Some(words)
    }

    /// Returns why no interface can be used, if the walk has looked.
    pub(crate) fn refused(&self) -> Option<String> {
        let refused = lock(&self.refused);
        Some(refused.join("; ")).filter(|words| !words.is_empty())
    }
}

/// Returns versions and features in words.
pub(crate) fn describe(reader: &DirectoryReader) -> String {
    match reader {
        DirectoryReader::Module(device) => {
            let info = device.info();
            format!(
                "kernel module, interface version {}, commands {:#x}, flags {:#x}, statx mask {:#x}",
                info.version, info.commands, info.flags, info.stat_mask
            )
        }
        DirectoryReader::Opcodes(operations) => format!(
            "io_uring operations {} (GETDENTS), {} (READDIRPLUS) and {} (READTREE) of this kernel",
            operations.getdents, operations.readdirplus, operations.readtree
        ),
    }
}

/// Looks for the kernel module.
///
/// # Errors
///
/// Why the module cannot be used.
pub(crate) fn find_module() -> Result<DirectoryReader, String> {
    ModuleDevice::open()
        .map(|device| DirectoryReader::Module(Arc::new(device)))
        .map_err(|refused| refused.to_string())
}

/// Looks for operations of `io_uring` that read directories.
///
/// # Errors
///
/// Why they cannot be used.
pub(crate) fn find_ring() -> Result<DirectoryReader, String> {
    let ring = IoUring::probe().map_err(|errno| format!("io_uring cannot be used: {errno}"))?;
    DirectoryOpcodes::of(&ring)
        .map(DirectoryReader::Opcodes)
        .ok_or_else(|| {
            format!(
                "io_uring of this kernel has no operations that read directories (its last is number {}, and a trial is refused)",
                ring.last_operation()
            )
        })
}

#[cfg(test)]
mod tests;
