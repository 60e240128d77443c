//! What this kernel's `io_uring` offers to this process: found by setting up a small ring and asking it.
//!
//! Nothing is read from version numbers: a sysctl, a seccomp filter or a build without `io_uring` may each take away
//! what the version promises. The ring is closed again at once; no request is ever submitted.

use std::ffi::c_void;
use std::os::fd::{AsFd, BorrowedFd};

use rustix::io::Errno;
use rustix::io_uring::{IoringRegisterOp, io_uring_params, io_uring_register, io_uring_setup};

/// As many requests as an asynchronous source would keep in flight; the kernel derives its default number of bounded
/// workers from it (`io_init_wq_offload` in `io_uring/tctx.c`: the lesser of it and four times the CPUs).
pub const PROBE_ENTRIES: u32 = 64;

/// Highest number of operations that `IORING_REGISTER_PROBE` takes (`io_probe` in `io_uring/register.c`).
const MOST_OPERATIONS: u32 = 256;

/// `sizeof(struct io_uring_probe)` without its records, and of one record `struct io_uring_probe_op`
/// (`include/uapi/linux/io_uring.h`). The bytes are read by offset rather than through rustix's types, whose
/// operations are an enum: a number newer than rustix would not be a valid value of it.
const HEADER: usize = 16;
const RECORD: usize = 8;
/// Where the 16-bit flags stand in a record, and the flag for "this kernel performs it".
const RECORD_FLAGS: usize = 2;
const IO_URING_OP_SUPPORTED: u16 = 1;

/// Room for the answer, aligned as the kernel's structure is.
#[repr(C, align(8))]
struct ProbeBuffer([u8; HEADER + MOST_OPERATIONS as usize * RECORD]);

const _: () = assert!(size_of::<ProbeBuffer>() == 2064 && align_of::<ProbeBuffer>() == 8);

/// What `io_uring` offers to this process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IoUring {
    features: u32,
    operations: Vec<bool>,
    workers: Option<IoWorkers>,
}

/// How many threads the kernel starts at most for requests that would block, for one ring of [`PROBE_ENTRIES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IoWorkers {
    /// For work of bounded duration: regular files, directories and block devices.
    pub bounded: u32,
    /// For work that may take for ever: sockets, pipes; limited by `RLIMIT_NPROC`.
    pub unbounded: u32,
}

impl IoUring {
    /// Sets up a ring and asks it.
    ///
    /// # Errors
    ///
    /// Those of [`io_uring_setup(2)`]: `ENOSYS` from a kernel without `io_uring` (or a seccomp filter that pretends so),
    /// `EPERM` where the sysctl `kernel.io_uring_disabled` or a seccomp filter forbids it, `ENOMEM` where, before Linux
    /// 5.12, `RLIMIT_MEMLOCK` is spent, `EMFILE` and `ENFILE` without a free descriptor.
    /// A kernel before 5.6 cannot list its operations: that is `EINVAL`.
    ///
    /// [`io_uring_setup(2)`]: https://man7.org/linux/man-pages/man2/io_uring_setup.2.html
    #[doc(alias = "IORING_REGISTER_PROBE")]
    pub fn probe() -> Result<Self, Errno> {
        let mut params = io_uring_params::default();
        // SAFETY: no flags are set, in particular not IORING_SETUP_ATTACH_WQ, so `wq_fd` is not read by the kernel;
        // `params` is a whole, zeroed structure that outlives the call.
        let ring = unsafe { io_uring_setup(PROBE_ENTRIES, &mut params) }?;
        Ok(Self {
            features: params.features.bits(),
            operations: operations(ring.as_fd())?,
            workers: workers(ring.as_fd()),
        })
    }

    /// The `IORING_FEAT_` bits, including those that have no name here.
    pub fn features(&self) -> u32 {
        self.features
    }

    /// Number of the highest operation this kernel knows, performed or not.
    pub fn last_operation(&self) -> u8 {
        u8::try_from(self.operations.len().saturating_sub(1)).unwrap_or(u8::MAX)
    }

    /// Whether this kernel performs the operation with this number (`enum io_uring_op`).
    pub fn supports(&self, operation: u8) -> bool {
        self.operations
            .get(usize::from(operation))
            .copied()
            .unwrap_or(false)
    }

    /// Number of operations that this kernel performs.
    pub fn supported(&self) -> usize {
        self.operations
            .iter()
            .filter(|supported| **supported)
            .count()
    }

    /// Limits of the kernel's worker threads; none before Linux 5.15, which cannot tell them.
    pub fn workers(&self) -> Option<IoWorkers> {
        self.workers
    }
}

/// For each operation up to the last one known, whether it is performed.
fn operations(ring: BorrowedFd<'_>) -> Result<Vec<bool>, Errno> {
    let mut buffer = ProbeBuffer([0; size_of::<ProbeBuffer>()]);
    let argument: *mut c_void = (&raw mut buffer).cast();
    // SAFETY: `argument` points to writable memory of `HEADER + MOST_OPERATIONS * RECORD` bytes, zeroed as the call
    // demands, aligned as `struct io_uring_probe` is and alive during the call; the kernel writes the header and at
    // most `MOST_OPERATIONS` records (asserted above), and keeps no reference after it returns.
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

/// Reads `last_op` and `ops_len`, then the flags of each record; a record that is missing counts as not performed.
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

/// Asks for the limits; two zeros mean "change nothing".
#[doc(alias = "IORING_REGISTER_IOWQ_MAX_WORKERS")]
fn workers(ring: BorrowedFd<'_>) -> Option<IoWorkers> {
    let mut limits = [0_u32; 2];
    let argument: *mut c_void = limits.as_mut_ptr().cast();
    // SAFETY: `argument` points to two writable, aligned `u32` that outlive the call; the kernel reads and writes
    // exactly `nr_args` = 2 of them and keeps no reference.
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

    /// An answer of the kernel with these flags for operations 0, 1, ...
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
            // IORING_OP_NOP is there since io_uring is; reading vectors too.
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
