//! Running commands: `-exec`, `-execdir`, `-ok`, `-okdir`.

use std::ffi::OsString;

/// A command as it was given, before a file's name is put into it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandTemplate {
    /// The command and its arguments, without `;` or `{} +`.
    pub words: Vec<OsString>,
    /// `-execdir`, `-okdir`: run in the directory that the file is in.
    pub in_directory: bool,
    /// `... {} +`: with as many files at once as fit.
    pub many: bool,
    /// `-ok`, `-okdir`: asked before.
    pub ask: bool,
}
