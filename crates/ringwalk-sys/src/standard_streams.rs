//! Reports whether standard input and output were closed when the program began.
//!
//! Rust's runtime opens `/dev/null` in their place before `main`, so that no other file gets their
//! numbers. But then the program's output is lost without an error, and its input is empty. Only
//! code that runs before the runtime can detect this.

use std::io::{self, Read};
use std::sync::atomic::{AtomicBool, Ordering};

static INPUT_CLOSED: AtomicBool = AtomicBool::new(false);
static OUTPUT_CLOSED: AtomicBool = AtomicBool::new(false);

/// The dynamic linker, or the C library's start code, calls this before `main`, while the process
/// has one thread.
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

/// Returns whether descriptor 1 was closed when the program began. Anything written to it now is
/// lost.
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
