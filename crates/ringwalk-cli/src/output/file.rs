//! A file that appears whole or not at all.

use std::ffi::OsStr;
use std::io::{BufWriter, Write};
use std::path::Path;

use ringwalk_output::{NotKept, Unpublished};

use super::Unwritten;
use crate::console;
use crate::quote::quoted;
use crate::status::{Ended, trouble};

/// A file that is being written.
pub struct OutputFile<'a> {
    path: &'a OsStr,
    file: Unpublished,
}

impl<'a> OutputFile<'a> {
    /// Creates the file.
    ///
    /// # Errors
    ///
    /// A message that names the file.
    pub fn create(path: &'a OsStr) -> Result<Self, String> {
        match Unpublished::new(Path::new(path)) {
            Ok(file) => Ok(Self { path, file }),
            Err(failure) => Err(message(path, &failure)),
        }
    }

    /// Writes the file by `write`, and lets it appear.
    ///
    /// # Errors
    ///
    /// If the file cannot be written, or `write` has no answer.
    pub(super) fn write(
        self,
        write: impl FnOnce(&mut (dyn Write + Send)) -> Result<(), Unwritten>,
    ) -> Result<(), Ended> {
        let Self { path, file } = self;
        let mut out = BufWriter::with_capacity(64 << 10, file.file());
        let written = write(&mut out).and_then(|()| Ok(out.flush()?));
        // After an error, dropping the writer would write the rest of its buffer.
        let _parts = out.into_parts();
        let published = written.and_then(|()| Ok(file.publish()?));
        match published {
            Ok(not_kept) => not_kept.inspect(|rights| say_not_kept(Path::new(path), *rights)),
            Err(Unwritten::Output(failure)) => return Err(trouble(message(path, &failure))),
            Err(Unwritten::Ended(ended)) => return Err(ended),
        };
        Ok(())
    }
}

/// Reports what the file at `output` could not keep of the rights of the file that it replaced.
pub fn say_not_kept(output: &Path, rights: NotKept) {
    console::error(format_args!("{}: {rights}", quoted(output)));
}

fn message(path: &OsStr, failure: &std::io::Error) -> String {
    format!(
        "cannot write {}: {}",
        quoted(path),
        console::reason(failure)
    )
}
