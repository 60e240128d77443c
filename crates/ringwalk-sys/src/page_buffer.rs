//! Memory in whole pages, with one owner, at an address that never changes.

use std::ops::{Deref, DerefMut};
use std::ptr::{self, NonNull};
use std::slice;

use rustix::io::Errno;
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};

/// A buffer of this size or more asks the kernel for huge pages. A huge page takes one entry in the
/// processor's tables, one pin when the buffer is registered with a ring, and one fault instead of
/// 512. This is their size on x86-64 and, with 4 KiB pages, on arm64.
const HUGE: usize = 2 << 20;

/// Zeroed memory, aligned to pages as every device wants it for `O_DIRECT`.
#[derive(Debug)]
pub struct PageBuffer {
    start: NonNull<u8>,
    len: usize,
}

// SAFETY: the mapping is owned by this value alone and is not tied to the thread that made it.
unsafe impl Send for PageBuffer {}
// SAFETY: a shared reference allows reading only.
unsafe impl Sync for PageBuffer {}

impl PageBuffer {
    /// Maps `len` bytes. A page takes memory when it is first touched.
    ///
    /// # Errors
    ///
    /// The errors of [`mmap(2)`]: `ENOMEM` without enough address space, or for more than a slice
    /// can have; `EINVAL` if `len` is 0.
    ///
    /// [`mmap(2)`]: https://man7.org/linux/man-pages/man2/mmap.2.html
    pub fn new(len: usize) -> Result<Self, Errno> {
        // A kernel for 32 bits would map it.
        if isize::try_from(len).is_err() {
            return Err(Errno::NOMEM);
        }
        let flags = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a null address lets the kernel choose an unused one, so no existing memory is
        // replaced.
        let start = unsafe { mmap_anonymous(ptr::null_mut(), len, flags, MapFlags::PRIVATE) }?;
        if len >= HUGE {
            // SAFETY: advice about the mapping just made; huge pages change none of its contents. A
            // kernel built without them refuses, which changes nothing either.
            let _ = unsafe { madvise(start, len, Advice::LinuxHugepage) };
        }
        let start = NonNull::new(start.cast()).ok_or(Errno::NOMEM)?;
        Ok(Self { start, len })
    }

    /// Returns the address of the memory, to be given to the kernel. It does not go through a
    /// reference, because no reference may exist to memory that the kernel writes.
    pub fn as_mut_ptr(&mut self) -> *mut u8 {
        self.start.as_ptr()
    }

    /// Returns the same address as [`as_mut_ptr`](Self::as_mut_ptr), for reading.
    pub fn as_ptr(&self) -> *const u8 {
        self.start.as_ptr()
    }

    /// Returns the size in bytes, without borrowing the contents.
    pub fn size(&self) -> usize {
        self.len
    }
}

impl Deref for PageBuffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: `start` and `len` describe a readable mapping that lives as long as `self`,
        // zeroed at first and so initialized, and no longer than `isize::MAX`; `&self` excludes
        // writers in this process. The kernel writes only to addresses from `as_mut_ptr`, and the
        // caller of that function must not call this one meanwhile.
        unsafe { slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }
}

impl DerefMut for PageBuffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above, and writable; `&mut self` excludes everybody else.
        unsafe { slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }
}

impl Drop for PageBuffer {
    fn drop(&mut self) {
        // SAFETY: exactly the mapping made in `new`; no reference to it outlives `self`. Unmapping
        // a whole mapping fails only if its place is wrong, which it is not.
        let _ = unsafe { munmap(self.start.as_ptr().cast(), self.len) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_aligned_zeroed_and_writable() {
        for len in [1, 4096, 3 << 20] {
            let mut buffer = PageBuffer::new(len).unwrap();
            assert_eq!(buffer.as_ptr().align_offset(4096), 0);
            assert!(buffer.len() == len && buffer.iter().all(|byte| *byte == 0));
            buffer[len - 1] = 7;
            assert_eq!((buffer[len - 1], buffer.size()), (7, len));
        }
        assert_eq!(PageBuffer::new(0).unwrap_err(), Errno::INVAL);
        for too_long in [usize::MAX / 2 + 1, usize::MAX] {
            assert_eq!(PageBuffer::new(too_long).unwrap_err(), Errno::NOMEM);
        }
    }
}
