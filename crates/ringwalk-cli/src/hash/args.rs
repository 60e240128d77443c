//! The options of `ringwalk hash`.

use crate::output::snapshot_name;
use clap::{Args, ValueEnum, ValueHint};
use ringwalk_hash::Algorithm;
use std::ffi::OsString;

/// The hash functions by their names on the command line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Algo {
    /// BLAKE3, as b3sum prints it. Several threads hash one large file.
    #[default]
    Blake3,
    /// XXH3 of 128 bits, as xxhsum -H128 prints it. It is no protection: somebody can make two
    /// files with the same hash.
    Xxh3,
    /// SHA-256, as sha256sum prints it.
    Sha256,
}

impl From<Algo> for Algorithm {
    fn from(algo: Algo) -> Self {
        match algo {
            Algo::Blake3 => Self::Blake3,
            Algo::Xxh3 => Self::Xxh3,
            Algo::Sha256 => Self::Sha256,
        }
    }
}

/// Arguments of `ringwalk hash`.
#[derive(Debug, Args)]
pub struct HashArgs {
    /// Files, and directories whose files to hash; symbolic links given here are followed
    #[arg(
        value_name = "ROOT",
        required_unless_present = "check",
        conflicts_with = "check",
        value_hint = ValueHint::AnyPath
    )]
    pub roots: Vec<OsString>,

    /// The hash function
    #[arg(long, value_name = "NAME", value_enum, default_value_t)]
    pub algo: Algo,

    /// Read the list of hashes FILE, and check that the files still have these hashes. With - as
    /// FILE, read standard input
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub check: Option<OsString>,

    /// With --check, print only the files that fail
    // clap requires no argument that conflicts with one that is given, such as a root.
    #[arg(long, requires = "check", conflicts_with = "roots")]
    pub quiet: bool,

    /// Save a snapshot with hashes in SNAP instead of printing a list: the input of dupes and diff.
    /// Only files with the size of another file are hashed
    #[arg(
        long,
        value_name = "SNAP",
        conflicts_with = "check",
        value_hint = ValueHint::FilePath,
        value_parser = snapshot_name()
    )]
    pub save: Option<OsString>,

    /// With --save, hash all regular files that are not empty
    #[arg(long, requires = "save")]
    pub all: bool,

    /// Leave out other file systems below the roots
    #[arg(short = 'x', long, conflicts_with = "check")]
    pub one_file_system: bool,
}
