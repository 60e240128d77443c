//! `--parquet FILE` and `--html FILE`: a file that appears whole or not at all.

use std::ffi::OsStr;
use std::fmt::Display;
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;

use ringwalk_output::{NotKept, Unpublished};

use crate::console;
use crate::quote::quoted;

/// A file that is being written.
pub struct OutputFile<'a> {
    path: &'a OsStr,
    file: Unpublished,
}

impl<'a> OutputFile<'a> {
    /// Creates the file, before the work: an output that cannot be written should not cost it.
    ///
    /// # Errors
    ///
    /// A message that names the file.
    pub fn create(path: &'a OsStr) -> Result<Self, String> {
        match Unpublished::new(Path::new(path)) {
            Ok(file) => Ok(Self { path, file }),
            Err(failure) => Err(message(path, &console::reason(&failure))),
        }
    }

    /// Writes the file by `write`, and lets it appear.
    ///
    /// # Errors
    ///
    /// A message that names the file.
    pub fn write<E: Display>(
        self,
        write: impl FnOnce(&mut BufWriter<&File>) -> Result<(), E>,
    ) -> Result<(), String> {
        let Self { path, file } = self;
        let mut out = BufWriter::new(file.file());
        write(&mut out).map_err(|failure| message(path, &failure))?;
        let flushed = out.flush();
        drop(out);
        let published = flushed.and_then(|()| file.publish());
        let not_kept = published.map_err(|failure| message(path, &console::reason(&failure)))?;
        not_kept.inspect(|rights| say_not_kept(Path::new(path), *rights));
        Ok(())
    }
}

/// Reports what the file at `output` could not keep of the rights of the file that it replaced.
pub fn say_not_kept(output: &Path, rights: NotKept) {
    console::error(format_args!("{}: {rights}", quoted(output)));
}

fn message(path: &OsStr, reason: &dyn Display) -> String {
    format!("cannot write {}: {reason}", quoted(path))
}
