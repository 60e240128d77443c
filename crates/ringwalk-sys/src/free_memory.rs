//! Memory that was freed, and that the allocator of the C library keeps.

/// Gives freed memory back to the system ([`malloc_trim(3)`]). A thread that has ended leaves freed
/// memory that other threads rarely use. Does nothing with a C library other than glibc.
///
/// [`malloc_trim(3)`]: https://man7.org/linux/man-pages/man3/malloc_trim.3.html
pub fn release_free_memory() {
    #[cfg(target_env = "gnu")]
    // SAFETY: it has no conditions. The result says only whether memory was given back.
    let _ = unsafe { libc::malloc_trim(0) };
}
