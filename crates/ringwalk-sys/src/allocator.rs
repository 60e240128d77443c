//! The allocator of the C library. With a C library other than glibc nothing here does anything.

use std::num::NonZeroUsize;

/// Gives freed memory back to the system ([`malloc_trim(3)`]). A thread that has ended leaves freed
/// memory that other threads rarely use.
///
/// [`malloc_trim(3)`]: https://man7.org/linux/man-pages/man3/malloc_trim.3.html
pub fn release_free_memory() {
    #[cfg(target_env = "gnu")]
    // SAFETY: it has no conditions. The result says only whether memory was given back.
    let _ = unsafe { libc::malloc_trim(0) };
}

/// Lets all threads of the process allocate from at most `most` arenas (`M_ARENA_MAX` of
/// [`mallopt(3)`]). Without a limit, glibc makes up to 8 for each processor, and each arena keeps
/// freed memory of its own. Arenas that already exist stay, so this is for the start of a program.
///
/// [`mallopt(3)`]: https://man7.org/linux/man-pages/man3/mallopt.3.html
pub fn limit_arenas(most: NonZeroUsize) {
    #[cfg(target_env = "gnu")]
    {
        let most = libc::c_int::try_from(most.get()).unwrap_or(libc::c_int::MAX);
        // SAFETY: it has no conditions. If it is refused, the program only takes more memory.
        let _ = unsafe { libc::mallopt(libc::M_ARENA_MAX, most) };
    }
    #[cfg(not(target_env = "gnu"))]
    let _ = most;
}
