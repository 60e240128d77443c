//! Whether standard input and output were closed when the program began.
//!
//! Rust's runtime opens `/dev/null` in their place before `main`, so that no file comes to have
//! their numbers. That is right, but what a program prints is then lost without an error, and what
//! it reads is empty. Only code that runs before the runtime can tell.

use std::io::{self, Read};
use std::sync::atomic::{AtomicBool, Ordering};

static INPUT_CLOSED: AtomicBool = AtomicBool::new(false);
static OUTPUT_CLOSED: AtomicBool = AtomicBool::new(false);

/// Called by the dynamic linker, or the C library's start code, before `main` and before there is a
/// second thread.
extern "C" fn look() {
    INPUT_CLOSED.store(is_closed(libc::STDIN_FILENO), Ordering::Relaxed);
    OUTPUT_CLOSED.store(is_closed(libc::STDOUT_FILENO), Ordering::Relaxed);
}

fn is_closed(number: libc::c_int) -> bool {
    // SAFETY: the call takes no pointer; it fails, with no other effect, if the descriptor is not
    // open.
    unsafe { libc::fcntl(number, libc::F_GETFD) == -1 }
}

// SAFETY: a section of pointers to functions without arguments that the ABI's start code calls
// (System V ABI, "Dynamic Linking", Initialization and Termination Functions); `look` is one, and
// needs nothing that the runtime sets up.
#[used]
#[unsafe(link_section = ".init_array")]
static LOOK: extern "C" fn() = look;

/// Whether descriptor 1 was not open when the program began: whatever is written to it now is lost.
pub fn stdout_was_closed() -> bool {
    OUTPUT_CLOSED.load(Ordering::Relaxed)
}

/// Standard input. Reading fails with `EBADF` if descriptor 0 was not open when the program began.
#[derive(Clone, Copy, Debug)]
pub struct StandardInput;

impl Read for StandardInput {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if INPUT_CLOSED.load(Ordering::Relaxed) {
            return Err(rustix::io::Errno::BADF.into());
        }
        io::stdin().read(buffer)
    }
}
