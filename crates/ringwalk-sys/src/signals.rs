//! The signal actions and mask that the program began with, which programs started by it get too.
//!
//! Rust's runtime ignores `SIGPIPE` before `main`. A program that inherits this goes on writing
//! into a closed pipe. But the caller may itself have ignored the signal. Only code that runs
//! before the runtime can distinguish the two cases.

use std::mem::MaybeUninit;
use std::ptr;
use std::sync::OnceLock;

/// The signal state that a child begins with.
#[derive(Clone, Copy)]
pub(crate) struct Inherited {
    pub(crate) pipe_ignored: bool,
    pub(crate) mask: libc::sigset_t,
}

static INHERITED: OnceLock<Inherited> = OnceLock::new();

/// The dynamic linker, or the C library's start code, calls this before `main`, while the process
/// has one thread.
extern "C" fn look() {
    INHERITED.get_or_init(|| Inherited {
        pipe_ignored: handler(libc::SIGPIPE) == libc::SIG_IGN,
        mask: mask(),
    });
}

// SAFETY: a section of pointers to functions without arguments that the ABI's start code calls
// (System V ABI, "Dynamic Linking", Initialization and Termination Functions); `look` is one, and
// needs nothing that the runtime sets up: it neither allocates nor uses thread-locals or standard
// streams.
#[used]
#[unsafe(link_section = ".init_array")]
static LOOK: extern "C" fn() = look;

/// Returns the state that the program began with. If the start code did not call `look`, returns
/// the likely state: no signal ignored or blocked.
pub(crate) fn inherited() -> Inherited {
    *INHERITED.get_or_init(|| Inherited {
        pipe_ignored: false,
        mask: empty(),
    })
}

/// Makes the kernel keep the exit statuses of children. Otherwise it discards them if the caller of
/// this program ignored `SIGCHLD`.
pub(crate) fn keep_children() {
    static ONCE: OnceLock<()> = OnceLock::new();
    ONCE.get_or_init(|| {
        if handler(libc::SIGCHLD) == libc::SIG_IGN {
            // SAFETY: setting the default action runs no code of ours; the signal is then still
            // ignored, except that ended children are kept for waitpid(2).
            unsafe { libc::signal(libc::SIGCHLD, libc::SIG_DFL) };
        }
    });
}

pub(crate) fn empty() -> libc::sigset_t {
    let mut set = MaybeUninit::uninit();
    // SAFETY: sigemptyset(3) fills the whole set that it is given a valid pointer to, and cannot
    // fail then.
    unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        set.assume_init()
    }
}

fn handler(signal: i32) -> libc::sighandler_t {
    let mut action = MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: nothing is set, and what is written goes into one `struct sigaction` that is valid
    // for it; where the call fails, it stays zero, which is valid for its integers and optional
    // function and means the default action.
    unsafe {
        libc::sigaction(signal, ptr::null(), action.as_mut_ptr());
        action.assume_init().sa_sigaction
    }
}

/// Calls `act` while the calling thread blocks all signals. A thread that `act` starts blocks them
/// all its life, so the signals go to threads that expect them.
pub fn with_signals_blocked<T>(act: impl FnOnce() -> T) -> T {
    /// Restores the mask, also if `act` panics.
    struct Before(libc::sigset_t);

    impl Drop for Before {
        fn drop(&mut self) {
            // SAFETY: a valid set, which was this thread's own; nothing is written.
            unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.0, ptr::null_mut()) };
        }
    }

    let mut all = empty();
    let mut before = empty();
    // SAFETY: both are valid sets, one to be filled by each call; blocking signals runs no code of
    // ours.
    unsafe {
        libc::sigfillset(&raw mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, &raw mut before);
    }
    let _before = Before(before);
    act()
}

/// Returns the signals that the calling thread blocks.
fn mask() -> libc::sigset_t {
    let mut set = empty();
    // SAFETY: nothing is set; what is written goes into one set that is valid for it.
    unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, ptr::null(), &raw mut set) };
    set
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_blocked(signal: i32) -> bool {
        let set = mask();
        // SAFETY: a valid set and a valid signal.
        unsafe { libc::sigismember(&raw const set, signal) == 1 }
    }

    #[test]
    fn threads_started_with_signals_blocked_keep_them_so() {
        assert!(!is_blocked(libc::SIGINT));
        let thread = with_signals_blocked(|| std::thread::spawn(|| is_blocked(libc::SIGINT)));
        assert!(thread.join().unwrap());
        assert!(!is_blocked(libc::SIGINT));
    }
}
