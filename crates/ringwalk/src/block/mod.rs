//! Reads many places of a block device or a file at once, over `io_uring` or, where that is refused, threads.
