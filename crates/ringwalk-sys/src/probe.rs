//! What the kernel's `io_uring` offers to this process. A small ring is set up and asked.
//!
//! Version numbers prove nothing: a sysctl, a seccomp filter or a kernel built without `io_uring`
//! may each take away what the version promises. The ring is closed at once, and no request is ever
//! submitted.

use std::ffi::c_void;
use std::os::fd::{AsFd, BorrowedFd};

use rustix::io::Errno;
use rustix::io_uring::{IoringRegisterOp, io_uring_params, io_uring_register, io_uring_setup};

/// The number of requests that an asynchronous source keeps in flight. The kernel derives its
/// default number of bounded workers from it: the lesser of it and four times the CPUs
/// (`io_init_wq_offload` in `io_uring/tctx.c`).
pub const PROBE_ENTRIES: u32 = 64;

/// Highest number of operations that `IORING_REGISTER_PROBE` takes (`io_probe` in
/// `io_uring/register.c`).
const MOST_OPERATIONS: u32 = 256;

/// `sizeof(struct io_uring_probe)` without its records, and of one record
/// `struct io_uring_probe_op` (`include/uapi/linux/io_uring.h`). The bytes are read by offset.
/// rustix's types have an enum for operations, and a number newer than rustix would not be a valid
/// value of it.
const HEADER: usize = 16;
const RECORD: usize = 8;
/// Offset of the 16-bit flags in a record, and the flag "this kernel performs the operation".
const RECORD_FLAGS: usize = 2;
const IO_URING_OP_SUPPORTED: u16 = 1;

/// The buffer for the answer, aligned as the kernel's structure is.
#[repr(C, align(8))]
struct ProbeBuffer([u8; HEADER + MOST_OPERATIONS as usize * RECORD]);

const _: () = assert!(size_of::<ProbeBuffer>() == 2064 && align_of::<ProbeBuffer>() == 8);

/// The features and operations of `io_uring` in this process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IoUring {
    features: u32,
    operations: Vec<bool>,
    workers: Option<IoWorkers>,
}

/// The largest numbers of threads that the kernel starts for requests that block, for one ring of
/// [`PROBE_ENTRIES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IoWorkers {
    /// For work that ends in bounded time: on regular files, directories and block devices.
    pub bounded: u32,
    /// For work that may never end: on sockets and pipes. `RLIMIT_NPROC` limits these threads.
    pub unbounded: u32,
}

impl IoUring {
    /// Sets up a ring and asks it.
    ///
    /// # Errors
    ///
    /// The errors of [`io_uring_setup(2)`]: `ENOSYS` from a kernel without `io_uring`, or from a
    /// seccomp filter that pretends so; `EPERM` where the sysctl `kernel.io_uring_disabled` or a
    /// seccomp filter forbids it; `ENOMEM` where, before Linux 5.12, `RLIMIT_MEMLOCK` is spent;
    /// `EMFILE` and `ENFILE` without a free descriptor; `EINVAL` from a kernel before 5.6, which
    /// cannot list its operations.
    ///
    /// [`io_uring_setup(2)`]: https://man7.org/linux/man-pages/man2/io_uring_setup.2.html
    #[doc(alias = "IORING_REGISTER_PROBE")]
    pub fn probe() -> Result<Self, Errno> {
        let mut params = io_uring_params::default();
        // SAFETY: no flags are set, in particular not IORING_SETUP_ATTACH_WQ, so `wq_fd` is not
        // read by the kernel; `params` is a whole, zeroed structure that outlives the call.
        let ring = unsafe { io_uring_setup(PROBE_ENTRIES, &mut params) }?;
        Ok(Self {
            features: params.features.bits(),
            operations: operations(ring.as_fd())?,
            workers: workers(ring.as_fd()),
        })
    }

    /// Returns the `IORING_FEAT_` bits, including those that have no name here.
    pub fn features(&self) -> u32 {
        self.features
    }

    /// Returns the number of the highest operation that the kernel knows, performed or not.
    pub fn last_operation(&self) -> u8 {
        u8::try_from(self.operations.len().saturating_sub(1)).unwrap_or(u8::MAX)
    }

    /// Returns whether this kernel performs the operation with this number (`enum io_uring_op`).
    pub fn supports(&self, operation: u8) -> bool {
        self.operations
            .get(usize::from(operation))
            .copied()
            .unwrap_or(false)
    }

    /// Returns the number of operations that this kernel performs.
    pub fn supported(&self) -> usize {
        self.operations
            .iter()
            .filter(|supported| **supported)
            .count()
    }

    /// Returns the limits of the kernel's worker threads; `None` before Linux 5.15, which has no
    /// call for them.
    pub fn workers(&self) -> Option<IoWorkers> {
        self.workers
    }
}

/// Returns for each operation up to the last one that the kernel knows whether it is performed.
fn operations(ring: BorrowedFd<'_>) -> Result<Vec<bool>, Errno> {
    let mut buffer = ProbeBuffer([0; size_of::<ProbeBuffer>()]);
    let argument: *mut c_void = (&raw mut buffer).cast();
    // SAFETY: `argument` points to writable memory of `HEADER + MOST_OPERATIONS * RECORD` bytes,
    // zeroed as the call demands, aligned as `struct io_uring_probe` is and alive during the call;
    // the kernel writes the header and at most `MOST_OPERATIONS` records (asserted above), and
    // keeps no reference after it returns.
    unsafe {
        io_uring_register(
            ring,
            IoringRegisterOp::RegisterProbe,
            argument,
            MOST_OPERATIONS,
        )
    }?;
    Ok(parse_operations(&buffer.0))
}

/// Reads `last_op` and `ops_len`, then the flags of each record. An operation without a record
/// counts as not performed.
fn parse_operations(answer: &[u8]) -> Vec<bool> {
    let [last, filled, ..] = *answer else {
        return Vec::new();
    };
    (0..=usize::from(last))
        .map(|index| {
            let start = HEADER + index * RECORD + RECORD_FLAGS;
            let flags = answer
                .get(start..start + 2)
                .map(|bytes| u16::from_ne_bytes([bytes[0], bytes[1]]));
            index < usize::from(filled)
                && flags.is_some_and(|flags| flags & IO_URING_OP_SUPPORTED != 0)
        })
        .collect()
}

/// Asks for the limits. Two zeros mean "change nothing".
#[doc(alias = "IORING_REGISTER_IOWQ_MAX_WORKERS")]
fn workers(ring: BorrowedFd<'_>) -> Option<IoWorkers> {
    let mut limits = [0_u32; 2];
    let argument: *mut c_void = limits.as_mut_ptr().cast();
    // SAFETY: `argument` points to two writable, aligned `u32` that outlive the call; the kernel
    // reads and writes exactly `nr_args` = 2 of them and keeps no reference.
    let answer =
        unsafe { io_uring_register(ring, IoringRegisterOp::RegisterIowqMaxWorkers, argument, 2) };
    answer.ok().map(|_| IoWorkers {
        bounded: limits[0],
        unbounded: limits[1],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a kernel's answer with these flags for the operations 0, 1, and so on.
    fn answer(last: u8, flags: &[u16]) -> Vec<u8> {
        let mut bytes = vec![0; HEADER];
        bytes[0] = last;
        bytes[1] = u8::try_from(flags.len()).unwrap();
        for (index, flags) in flags.iter().enumerate() {
            bytes.extend([u8::try_from(index).unwrap(), 0]);
            bytes.extend(flags.to_ne_bytes());
            bytes.extend([0; 4]);
        }
        bytes
    }

    #[test]
    fn flags_are_read_by_record() {
        assert_eq!(
            parse_operations(&answer(2, &[1, 0, 3])),
            [true, false, true]
        );
    }

    #[test]
    fn records_that_were_not_filled_are_not_supported() {
        assert_eq!(
            parse_operations(&answer(3, &[1, 1])),
            [true, true, false, false]
        );
        let mut claims_more = answer(1, &[1, 1]);
        claims_more.truncate(HEADER + RECORD);
        assert_eq!(parse_operations(&claims_more), [true, false]);
        assert!(parse_operations(&[]).is_empty());
    }

    #[test]
    fn counts_follow_the_records() {
        let ring = IoUring {
            features: 0,
            operations: vec![true, false, true],
            workers: None,
        };
        assert_eq!((ring.last_operation(), ring.supported()), (2, 2));
        assert!(ring.supports(2) && !ring.supports(1) && !ring.supports(200));
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri has no io_uring")]
    fn the_kernel_answers_or_says_why_not() {
        match IoUring::probe() {
            // IORING_OP_NOP and IORING_OP_READV are as old as io_uring.
            Ok(ring) => assert!(
                ring.supports(0) && ring.supports(1) && ring.last_operation() >= 30,
                "{ring:?}"
            ),
            Err(errno) => assert!(
                [
                    Errno::NOSYS,
                    Errno::PERM,
                    Errno::NOMEM,
                    Errno::INVAL,
                    Errno::ACCESS
                ]
                .contains(&errno),
                "{errno}"
            ),
        }
    }
}
