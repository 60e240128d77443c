//! Whether standard output was closed when the program began.
//!
//! Rust's runtime opens `/dev/null` in its place before `main`, so that no file comes to have that number. That is right,
//! but what a program prints is then lost without an error. Only before the runtime begins can it be told.

use std::sync::atomic::{AtomicBool, Ordering};

static CLOSED: AtomicBool = AtomicBool::new(false);

/// Called by the dynamic linker, or the C library's start code, before `main` and before there is a second thread.
extern "C" fn look() {
    // SAFETY: the call takes no pointer; it fails, with no other effect, if descriptor 1 is not open.
    let flags = unsafe { libc::fcntl(libc::STDOUT_FILENO, libc::F_GETFD) };
    CLOSED.store(flags == -1, Ordering::Relaxed);
}

// SAFETY: a section of pointers to functions without arguments that the ABI's start code calls (System V ABI, "Dynamic
// Linking", Initialization and Termination Functions); `look` is one, and needs nothing that the runtime sets up.
#[used]
#[unsafe(link_section = ".init_array")]
static LOOK: extern "C" fn() = look;

/// Whether descriptor 1 was not open when the program began: whatever is written to it now is lost.
pub fn stdout_was_closed() -> bool {
    CLOSED.load(Ordering::Relaxed)
}
