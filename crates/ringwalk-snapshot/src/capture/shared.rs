//! What all visitors of a walk share.

use super::failures::FailureLog;
use super::file_systems::FileSystems;
use super::own_output::OwnOutput;
use super::resumed::Resumed;
use super::shared_mounts::SharedMounts;
use super::vanished::VanishedTrees;
use super::{FileHashes, Report};
use crate::entry::Failure;
use crate::info::FileSystemInfo;
use crate::row_counter::RowCounter;
use crate::schema::Contents;
use ringwalk::{Errno, Identity, Leftover};
use ringwalk_du::Rule;
use ringwalk_sys::sync::lock;
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;

/// What all visitors share.
pub(crate) struct Shared<'a> {
    pub(super) rule: Rule,
    pub(super) mounts: SharedMounts,
    pub(super) contents: Contents,
    pub(super) hashes: Option<&'a dyn FileHashes>,
    pub(super) progress: &'a RowCounter,
    pub(super) failures: FailureLog<'a>,
    pub(super) file_systems: FileSystems,
    /// The files that are left out.
    pub(super) own: OwnOutput,
    /// The roots, if there are several.
    pub(super) roots: Vec<Identity>,
    /// Why the walk was stopped.
    pub(super) fatal: Mutex<Option<Fatal>>,
    pub(super) report: Option<&'a Report>,
    /// Takes all failures.
    pub(super) listener: Option<Listener<'a>>,
    /// True if the walk is to end early.
    pub(super) stop: &'a AtomicBool,
    /// The directories at which the walk goes on.
    pub(super) resumed: Resumed,
    /// Trees that were removed meanwhile, if they are to be counted.
    pub(crate) vanished: Option<VanishedTrees>,
}

impl Shared<'_> {
    /// Notes why the walk is stopped, if it is the first reason.
    pub(super) fn note(&self, fatal: Fatal) {
        lock(&self.fatal).get_or_insert(fatal);
    }

    /// Returns why the walk was stopped, if it was.
    pub(crate) fn fatal(&self) -> Option<Fatal> {
        lock(&self.fatal).take()
    }

    /// Reports a failure that the walk itself does not report.
    pub(super) fn report(&self, path: &[u8], failure: Failure) {
        if let Some(report) = self.report {
            report(path, failure);
        }
        if let Some(listener) = self.listener {
            let place = self.failures.place(Path::new(OsStr::from_bytes(path)));
            if let Err(error) = listener(place, failure) {
                self.note(Fatal::Keeping(error));
            }
        }
    }
}

/// Takes a failure, with the index of its root and the path relative to that. A path below no root
/// has none. All workers call it.
pub(crate) type Listener<'a> =
    &'a (dyn Fn(Option<(usize, &[u8])>, Failure) -> io::Result<()> + Sync);

impl<'a> Shared<'a> {
    /// Gives all failures to `listener`, in place of keeping them. Counts trees that vanish.
    pub(crate) fn listen(&mut self, roots: &'a [PathBuf], listener: Listener<'a>) {
        self.failures = FailureLog::forgetful(roots);
        self.listener = Some(listener);
        self.vanished = Some(VanishedTrees::default());
    }

    /// Goes on at these leftovers.
    ///
    /// # Errors
    ///
    /// The errors of [`Resumed::new`].
    pub(crate) fn resume(
        &mut self,
        roots: &[PathBuf],
        leftovers: &[Leftover],
    ) -> Result<(), (usize, Errno)> {
        self.resumed = Resumed::new(roots, leftovers, &self.file_systems)?;
        Ok(())
    }

    /// Returns the devices of the roots at which the walk goes on, and what is known of all file
    /// systems.
    pub(crate) fn into_file_systems(self) -> (Vec<u64>, Vec<FileSystemInfo>) {
        (self.resumed.devices(), self.file_systems.resolve())
    }
}

/// Why a walk was stopped.
pub(crate) enum Fatal {
    /// Entries could not be kept.
    Keeping(io::Error),
    /// The root with the first index is reached again below the one with the second.
    RootAgain(usize, usize),
}
