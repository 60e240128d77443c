//! An output whose writer can be stopped.
//!
//! Writing the rows of a large tree takes seconds after the walk. The writer writes at the end of
//! each row group, so it notices there that it is to end.

use std::fs::File;
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};

/// A file that refuses to be written as soon as the flag is set.
pub(crate) struct Stoppable<'a> {
    file: &'a File,
    stop: &'a AtomicBool,
}

impl<'a> Stoppable<'a> {
    pub(crate) fn new(file: &'a File, stop: &'a AtomicBool) -> Self {
        Self { file, stop }
    }
}

impl Write for Stoppable<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(io::Error::other("stopped"));
        }
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}
