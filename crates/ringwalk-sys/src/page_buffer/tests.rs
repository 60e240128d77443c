//! Unit tests of `page_buffer.rs`.

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
