//! The kernel's interfaces for reading directories in batches. A walk looks for them once. All
//! workers stop using an interface together if it turns out not to work.

use super::answer::TreeBuffers;
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

/// The most directories in flight for all workers together. So many fill the queues of most devices
/// and servers twice over, and their buffers take 2 MiB.
const MOST_IN_FLIGHT: usize = 128;

/// The fewest directories in flight that are worth a ring.
const LEAST_IN_FLIGHT: usize = 8;

/// The kernel interfaces of a walk, shared by all its workers.
#[derive(Debug, Default)]
pub(crate) struct KernelSide {
    /// True once the walk has looked for the module and the operations.
    looked: AtomicBool,
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

    /// Returns the interface that was found, even if it was given up later.
    #[inline]
    pub(crate) fn reader(&self) -> Option<&DirectoryReader> {
        self.found.get()
    }

    /// Returns the state for directories that are read without a walk. It uses the module if that
    /// is loaded.
    pub(crate) fn of_process() -> &'static Self {
        static SIDE: OnceLock<KernelSide> = OnceLock::new();
        SIDE.get_or_init(|| Self::new(Some(find_module())))
    }

    /// Looks for the module, and without it for the operations, unless the walk has done so or has
    /// asked for one of them by name.
    #[inline]
    pub(crate) fn look(&self) {
        if !self.looked.load(Ordering::Relaxed) {
            self.look_once();
        }
    }

    #[cold]
    fn look_once(&self) {
        if self.looked.swap(true, Ordering::Relaxed) {
            return;
        }
        self.note(find_module());
        if self.reader().is_none() {
            self.note(find_ring().and_then(with_metadata));
        }
    }

    fn note(&self, found: Result<DirectoryReader, String>) {
        match found {
            Ok(found) => {
                self.looked.store(true, Ordering::Relaxed);
                // The first interface that is found is used.
                let _ = self.found.set(found);
            }
            Err(why) => lock(&self.refused).push(why),
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
        DirectoryReader::Opcodes(operations) => {
            let plus = operations.readdirplus;
            let plus = plus.map_or(String::new(), |number| format!(", {number} (READDIRPLUS)"));
            format!(
                "io_uring operations {} (GETDENTS){plus} of this kernel",
                operations.getdents
            )
        }
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
    let opcodes = DirectoryOpcodes::read()
        .map_err(|errno| format!("the kernel's list of operations cannot be read: {errno}"))?
        .ok_or("io_uring of this kernel has no operations that read directories")?;
    IoUring::probe().map_err(|errno| format!("io_uring cannot be used: {errno}"))?;
    Ok(DirectoryReader::Opcodes(opcodes))
}

/// Refuses operations that read names alone: system calls do that as fast.
fn with_metadata(reader: DirectoryReader) -> Result<DirectoryReader, String> {
    match reader {
        DirectoryReader::Opcodes(DirectoryOpcodes {
            readdirplus: None, ..
        }) => Err("io_uring of this kernel reads names without metadata".to_owned()),
        reader => Ok(reader),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sources::kernel::available;

    #[test]
    fn all_missing_interfaces_are_reported() {
        assert_eq!(KernelSide::default().refused(), None);
        let side = KernelSide::new(Some(Err("no module".into())));
        side.note(Err("no operations".into()));
        let told = side.refused();
        assert_eq!(told.as_deref(), Some("no module; no operations"));
    }

    fn opcodes(readdirplus: Option<u8>) -> DirectoryReader {
        DirectoryReader::Opcodes(DirectoryOpcodes {
            getdents: 65,
            readdirplus,
        })
    }

    #[test]
    fn the_first_interface_is_used_and_no_other_is_looked_for() {
        let side = KernelSide::new(Some(Ok(opcodes(Some(66)))));
        side.look();
        assert_eq!(
            (side.source(), side.refused()),
            (Some(SourceChoice::Ring), None)
        );
        side.note(Ok(opcodes(None)));
        let told = side.describe();
        assert_eq!(
            told.as_deref(),
            Some("io_uring operations 65 (GETDENTS), 66 (READDIRPLUS) of this kernel")
        );
    }

    #[test]
    fn operations_without_metadata_are_for_those_who_ask_for_them() {
        assert!(with_metadata(opcodes(Some(66))).is_ok());
        assert!(with_metadata(opcodes(None)).is_err());
        let side = KernelSide::new(Some(Ok(opcodes(None))));
        let told = side.describe();
        assert_eq!(
            told.as_deref(),
            Some("io_uring operations 65 (GETDENTS) of this kernel")
        );
        assert_eq!(available(&opcodes(None)), 0);
    }
}
