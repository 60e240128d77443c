//! What rings that read files have in common: their setup, and answers of the kernel.

use std::io;
use std::time::Duration;

use io_uring::IoUring;
use rustix::io::Errno;

/// Settings of a ring.
pub(crate) struct RingOptions {
    /// Entries of the submission queue.
    pub(crate) entries: u32,
    /// If set, a kernel thread takes reads (`IORING_SETUP_SQPOLL`), and sleeps after this time.
    pub(crate) sqpoll: Option<Duration>,
    /// True if the device is polled for completions (`IORING_SETUP_IOPOLL`).
    pub(crate) iopoll: bool,
}

/// Sets up the ring, with the flags of the newest kernel first. A kernel that does not know a flag
/// answers `EINVAL`.
pub(crate) fn set_up(options: &RingOptions) -> Result<IoUring, Errno> {
    let mut answer = Errno::INVAL;
    for attempt in 0..4 {
        let mut builder = IoUring::builder();
        builder.dontfork();
        if options.iopoll {
            builder.setup_iopoll();
        }
        if let Some(idle) = options.sqpoll {
            builder.setup_sqpoll(u32::try_from(idle.as_millis()).unwrap_or(u32::MAX));
        }
        // The kernel works on completions when this thread asks for them, without interrupting it
        // (Linux 6.1, 5.19). This is not possible with a kernel thread that takes reads. NO_SQARRAY
        // (6.6): entries are taken in order, without a table of their numbers.
        match (attempt, options.sqpoll) {
            (0, None) => builder
                .setup_single_issuer()
                .setup_defer_taskrun()
                .setup_no_sqarray(),
            (1, None) => builder.setup_single_issuer().setup_defer_taskrun(),
            (2, None) => builder.setup_coop_taskrun(),
            (0, Some(_)) => builder.setup_single_issuer().setup_no_sqarray(),
            _ => &mut builder,
        };
        match builder.build(options.entries) {
            Ok(ring) => return Ok(ring),
            Err(error) => answer = errno(&error),
        }
        if answer != Errno::INVAL {
            break;
        }
    }
    Err(answer)
}

/// Returns the bytes that a completion says were read, or its error.
pub(crate) fn bytes_of(result: i32) -> Result<u32, Errno> {
    u32::try_from(result).map_err(|_| Errno::from_raw_os_error(result.saturating_neg()))
}

/// Returns `Ok` if a call that waits for reads may be made again after this error: at once after a
/// signal, or after a pause if memory is short (`EAGAIN`) or completions must be taken first
/// (`EBUSY`).
pub(crate) fn try_again(error: Errno) -> Result<(), Errno> {
    match error {
        Errno::INTR => Ok(()),
        Errno::AGAIN | Errno::BUSY => {
            std::thread::sleep(Duration::from_millis(1));
            Ok(())
        }
        error => Err(error),
    }
}

pub(crate) fn errno(error: &io::Error) -> Errno {
    Errno::from_io_error(error).unwrap_or(Errno::IO)
}
