//! What the kernel offers for reading directories in batches: looked for once a walk, and given up by all workers where it turns
//! out not to work.

use crate::options::SourceChoice;
use ringwalk_sys::{DirectoryOpcodes, DirectoryReader, IoUring, ModuleDevice};
use rustix::io::Errno;
use rustix::process::{Resource, getrlimit};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// The module is given up after it has refused so many directories in a row that system calls could read.
const STRIKES: u32 = 3;

/// `auto` looks for the operations of the kernel when a worker has seen so many times what makes it look for the module: they are found
/// by setting up a ring, which takes longer than an open that fails.
const RING_WORTH: u64 = 8;

/// Directories in flight for all workers together: what fills the queues of most devices and servers twice over, and with
/// their buffers takes 2 MiB.
const MOST_IN_FLIGHT: usize = 128;

/// Fewer are not worth a ring.
const LEAST_IN_FLIGHT: usize = 8;

/// What there is, for all workers of a walk.
#[derive(Debug, Default)]
pub(crate) struct KernelSide {
    /// What has been looked for: the module, the operations.
    looked: [AtomicBool; 2],
    found: OnceLock<DirectoryReader>,
    /// Why there is none, of each that was looked for.
    refused: Mutex<Vec<String>>,
    given_up: AtomicBool,
    strikes: AtomicU32,
    handed_back: AtomicU64,
    /// The last error for which a directory was handed back.
    last: Mutex<Option<Errno>>,
    /// Workers that keep requests in flight; and whether any ever has.
    in_flight: AtomicUsize,
    was_in_flight: AtomicBool,
}

impl KernelSide {
    /// With what a source that was asked for by name has been found to be, or why it cannot be used.
    pub(crate) fn new(found: Option<Result<DirectoryReader, String>>) -> Self {
        let side = Self::default();
        if let Some(found) = found {
            side.note(found);
        }
        side
    }

    fn take(&self, found: DirectoryReader) {
        // Found once.
        let _ = self.found.set(found);
        for looked in &self.looked {
            looked.store(true, Ordering::Relaxed);
        }
    }

    /// What is to be read by now, unless it has been given up.
    #[inline]
    pub(crate) fn reader(&self) -> Option<&DirectoryReader> {
        self.found.get()
    }

    /// Looks for what there is, now that a worker has seen `times` what makes it worth it.
    #[inline]
    pub(crate) fn look(&self, times: u64) {
        debug_assert!(times > 0);
        if !self.looked[0].load(Ordering::Relaxed) {
            self.look_for_module();
        } else if times >= RING_WORTH && !self.looked[1].load(Ordering::Relaxed) {
            self.look_for_operations();
        }
    }

    /// The side of this process, for directories that are read without a walk: it has the module, if that is there.
    pub(crate) fn of_process() -> &'static Self {
        static SIDE: OnceLock<KernelSide> = OnceLock::new();
        let side = SIDE.get_or_init(Self::default);
        side.look(1);
        side
    }

    /// Looks for everything.
    pub(crate) fn look_for_all(&self) {
        self.look_for_module();
        if self.reader().is_none() {
            self.look_for_operations();
        }
    }

    #[cold]
    fn look_for_module(&self) {
        if !self.looked[0].swap(true, Ordering::Relaxed) {
            self.note(find(SourceChoice::Module));
        }
    }

    #[cold]
    fn look_for_operations(&self) {
        if !self.looked[1].swap(true, Ordering::Relaxed) {
            self.note(find(SourceChoice::Ring));
        }
    }

    fn note(&self, found: Result<DirectoryReader, String>) {
        match found {
            Ok(found) => self.take(found),
            Err(why) => {
                let mut refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
                refused.push(why);
            }
        }
    }

    /// Whether directories are left to system calls after all.
    #[inline]
    pub(crate) fn is_given_up(&self) -> bool {
        self.given_up.load(Ordering::Relaxed)
    }

    /// A directory was read.
    #[inline]
    pub(super) fn worked(&self) {
        if self.strikes.load(Ordering::Relaxed) != 0 {
            self.strikes.store(0, Ordering::Relaxed);
        }
    }

    /// A directory was refused with this error. `readable`: system calls have read it.
    #[cold]
    pub(super) fn hand_back(&self, errno: Errno, readable: bool) {
        if !readable {
            // It is the directory's own.
            return;
        }
        self.handed_back.fetch_add(1, Ordering::Relaxed);
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(errno);
        if self.strikes.fetch_add(1, Ordering::Relaxed) + 1 >= STRIKES {
            self.given_up.store(true, Ordering::Relaxed);
        }
    }

    /// How many directories may be in flight for all workers together: an eighth of the descriptors that the process may have. None
    /// where those are scarce.
    pub(super) fn most_in_flight() -> Option<usize> {
        let limit = getrlimit(Resource::Nofile).current;
        let limit = limit.map_or(usize::MAX, |limit| {
            usize::try_from(limit).unwrap_or(usize::MAX)
        });
        Some((limit / 8).min(MOST_IN_FLIGHT)).filter(|most| *most >= LEAST_IN_FLIGHT)
    }

    /// A worker begins to keep requests in flight, or ends it.
    pub(super) fn note_in_flight(&self, begins: bool) {
        if begins {
            self.was_in_flight.store(true, Ordering::Relaxed);
            self.in_flight.fetch_add(1, Ordering::Relaxed);
        } else {
            self.in_flight.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// What `most` is for each of them.
    pub(super) fn share_of(&self, most: usize) -> usize {
        (most / self.in_flight.load(Ordering::Relaxed).max(1)).max(2)
    }

    pub(crate) fn handed_back(&self) -> u64 {
        self.handed_back.load(Ordering::Relaxed)
    }

    pub(crate) fn last_hand_back(&self) -> Option<String> {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        last.map(|errno| errno.to_string())
    }

    /// The name of what was found.
    pub(crate) fn source(&self) -> Option<&'static str> {
        Some(match self.found.get()? {
            DirectoryReader::Module(_) => SourceChoice::Module.as_str(),
            DirectoryReader::Opcodes(_) => SourceChoice::Ring.as_str(),
        })
    }

    /// What it is, in words.
    pub(crate) fn describe(&self) -> Option<String> {
        let mut words = describe(self.found.get()?);
        if self.is_given_up() {
            words += "; given up, as it refused directories that system calls could read";
        } else if self.was_in_flight.load(Ordering::Relaxed) {
            words += "; requests were kept in flight, as calls waited";
        }
        Some(words)
    }

    /// Why there is none, if it was looked for.
    pub(crate) fn refused(&self) -> Option<String> {
        let refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        Some(refused.join("; ")).filter(|words| !words.is_empty())
    }
}

/// What it is: versions and features, in words.
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
            "io_uring operations {} (GETDENTS) and {} (READDIRPLUS) of this kernel",
            operations.getdents, operations.readdirplus
        ),
    }
}

/// Looks for a source that was asked for by name.
///
/// # Errors
///
/// Why it cannot be used.
pub(crate) fn find(choice: SourceChoice) -> Result<DirectoryReader, String> {
    match choice {
        SourceChoice::Module => ModuleDevice::open()
            .map(|device| DirectoryReader::Module(Arc::new(device)))
            .map_err(|refused| refused.to_string()),
        SourceChoice::Ring => match IoUring::probe() {
            Ok(ring) => DirectoryOpcodes::of(&ring)
                .map(DirectoryReader::Opcodes)
                .ok_or_else(|| {
                    format!(
                        "io_uring of this kernel has no operations that read directories (its last is number {}, without the feature bit of the patches)",
                        ring.last_operation()
                    )
                }),
            Err(errno) => Err(format!("io_uring is not to be had: {errno}")),
        },
        _ => Err("it is not read by the kernel in batches".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_that_is_missing_is_told() {
        assert_eq!(KernelSide::default().refused(), None);
        let side = KernelSide::new(Some(Err("no module".into())));
        side.note(Err("no operations".into()));
        let told = side.refused();
        assert_eq!(told.as_deref(), Some("no module; no operations"));
    }
}
