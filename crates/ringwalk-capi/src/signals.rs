//! Threads of a walk are not the program's, and take no signals of it: its handlers run where it expects them, and the calls that it has
//! interrupted by signals are.

use std::mem::MaybeUninit;
use std::ptr;

/// Signals that this thread takes again when this is dropped. A thread takes over what is blocked where it is started.
pub(crate) struct Blocked(libc::sigset_t);

impl Blocked {
    /// Blocks all signals on this thread.
    pub(crate) fn all() -> Self {
        let mut all = MaybeUninit::uninit();
        let mut before = MaybeUninit::uninit();
        // SAFETY: sigfillset fills the set that it is given, which pthread_sigmask reads; that fills `before`. Neither can fail with these
        // arguments, and both sets are our own.
        #[allow(unsafe_code, reason = "the standard library has no signals")]
        unsafe {
            libc::sigfillset(all.as_mut_ptr());
            libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), before.as_mut_ptr());
            Self(before.assume_init())
        }
    }
}

impl Drop for Blocked {
    fn drop(&mut self) {
        // SAFETY: the set was filled when this was made.
        #[allow(unsafe_code, reason = "the standard library has no signals")]
        unsafe {
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.0, ptr::null_mut());
        }
    }
}
