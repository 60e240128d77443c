//! CPU time and waits of the calling thread.

use std::mem::MaybeUninit;
use std::time::Duration;

/// CPU time and waits of one thread since it began.
///
/// Two readings show whether the thread computed or waited between them. A thread that waits for a
/// device or a network gives up its CPU voluntarily. A thread that other processes crowd out does
/// not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[doc(alias = "getrusage")]
pub struct ThreadUsage {
    /// Time on a CPU, in user space and in the kernel.
    pub cpu: Duration,
    /// The number of times that the thread gave up its CPU to wait (`ru_nvcsw`).
    pub voluntary_switches: u64,
}

impl ThreadUsage {
    /// Returns the usage of the calling thread until now, by getrusage(2) with `RUSAGE_THREAD`.
    ///
    /// [getrusage(2)](https://man7.org/linux/man-pages/man2/getrusage.2.html)
    pub fn now() -> Self {
        let mut usage = MaybeUninit::<libc::rusage>::uninit();
        // SAFETY: the pointer is valid for writes of a `struct rusage`, which is all that the call
        // writes.
        let status = unsafe { libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr()) };
        if status != 0 {
            // The call fails only for an unknown `who` or a bad pointer, and neither is possible
            // here.
            return Self::default();
        }
        // SAFETY: the call succeeded, so the kernel has filled the whole structure.
        let usage = unsafe { usage.assume_init() };
        Self {
            cpu: duration(usage.ru_utime) + duration(usage.ru_stime),
            voluntary_switches: u64::try_from(usage.ru_nvcsw).unwrap_or(0),
        }
    }
}

fn duration(time: libc::timeval) -> Duration {
    let micros = time.tv_sec * 1_000_000 + time.tv_usec;
    Duration::from_micros(u64::try_from(micros).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    #[test]
    fn waiting_and_working_differ() {
        let start = Instant::now();
        let before = ThreadUsage::now();
        let mut waited = before;
        // On a slow machine the time of a sleep may be over before the thread waits.
        while waited.voluntary_switches < before.voluntary_switches + 3 {
            assert!(
                start.elapsed() < Duration::from_secs(60),
                "no switch is counted while the thread sleeps"
            );
            std::thread::sleep(Duration::from_millis(2));
            waited = ThreadUsage::now();
        }
        let start = Instant::now();
        while ThreadUsage::now().cpu < waited.cpu + Duration::from_millis(20) {
            assert!(
                start.elapsed() < Duration::from_secs(60),
                "CPU time stands still"
            );
        }
    }
}
