//! What can be done with entries of a live tree, beside deletion.

use super::Request;
use super::export::{export_all, export_row, new_file};
use crate::live::{LiveTree, Reading};
use crate::service::{Actions, Export, IsWanted, Unshared};
use crate::tree::{Id, Tree};
use crate::unshared;
use ringwalk_snapshot::Capture;
use ringwalk_sys::sync::lock;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Arc, Mutex};

/// Actions on a live tree.
pub(super) struct LiveActions {
    tree: Arc<LiveTree>,
    request: Request,
    /// The walk that reads a directory again.
    reading: Mutex<Option<Reading>>,
}

impl LiveActions {
    pub(super) fn new(tree: Arc<LiveTree>, request: Request) -> Self {
        Self {
            tree,
            request,
            reading: Mutex::default(),
        }
    }

    fn path(&self, relative: &[u8]) -> PathBuf {
        if relative.is_empty() {
            return self.request.input.clone();
        }
        self.request.input.join(OsStr::from_bytes(relative))
    }
}

impl Actions for LiveActions {
    fn shell(&self, directory: &[u8]) -> Result<(), String> {
        let shell = std::env::var_os("SHELL").filter(|shell| !shell.is_empty());
        let shell = shell.unwrap_or_else(|| "/bin/sh".into());
        let path = self.path(directory);
        // How the shell has ended is no matter of the browser.
        let status = Command::new(&shell).current_dir(path).status();
        status
            .map(|_| ())
            .map_err(|error| ringwalk_gnu::reason(&error))
    }

    fn rescan(&self, id: Id) -> Result<(), String> {
        let mut reading = lock(&self.reading);
        if self.tree.progress().finished
            && let Some(before) = reading.take()
        {
            // It has ended. Dropping it would end the next one.
            before.wait();
        }
        let again = self.tree.read_again(id);
        let (_, next) = again.map_err(|error| match error.kind() {
            std::io::ErrorKind::ResourceBusy => "the tree is still being read".to_owned(),
            _ => ringwalk_gnu::reason(&error),
        })?;
        *reading = next;
        Ok(())
    }

    fn unshared(&self, ids: &[Id], is_wanted: IsWanted<'_>) -> Result<Unshared, String> {
        let mut paths = Vec::new();
        for id in self.tree.outermost(ids) {
            // An entry that cannot be deleted frees nothing.
            self.tree.selection(id)?;
            let relative = self.tree.path(id);
            paths.push(self.path(&relative.map_err(|error| ringwalk_gnu::reason(&error))?));
        }
        unshared::add_up(&paths, &*self.request.set_up, is_wanted)
    }

    fn export(&self, id: Id, export: &Export<'_>) -> Result<Option<String>, String> {
        let relative = self
            .tree
            .path(id)
            .map_err(|error| ringwalk_gnu::reason(&error))?;
        let path = self.path(&relative);
        // Before a walk that may take long.
        drop(new_file(export.file)?);
        let failed = |error: ringwalk_snapshot::CaptureError| error.reason();
        let capture = Capture::new([path.as_os_str()]).map_err(failed)?;
        let capture = capture.one_file_system(self.request.one_file_system);
        let walk = (self.request.set_up)(capture.walk());
        let (snapshot, _) = capture.run_unnamed(walk, &path).map_err(failed)?;
        match snapshot.rows().checked_sub(1) {
            // The row of the top is the last one.
            Some(top) if export.matches.is_some() => export_row(&snapshot, top, &relative, export),
            _ => export_all(&snapshot, export),
        }
    }
}
