//! One file as tests and actions see it: the facts that the walk has read, and those that are read
//! when something asks for them.

use super::dir_state::{DirState, Later};
use super::shared::Shared;
use crate::facts::{Facts, LinkTarget};
use crate::format;
use crate::mounts::UNKNOWN;
use crate::predicates::Listing;
use crate::selinux;
use ringwalk::identity::IdentityTrust;
use ringwalk::{Batch, Dir, Entry, Fields, FileType, Follow, Metadata};
use ringwalk_gnu::{quote, reason};
use rustix::fs::{AtFlags, CWD, Mode, OFlags, openat, statat};
use rustix::io::Errno;
use std::borrow::Cow;
use std::cell::{Cell, OnceCell};
use std::ffi::{CStr, CString};
use std::os::fd::BorrowedFd;

/// The place where a file was found.
#[derive(Clone, Copy)]
enum Directory<'a> {
    /// The directory of a batch, which may still have to be opened.
    Batch(&'a Batch<'a, DirState>),
    /// An open directory. None for a starting point.
    Open(Option<BorrowedFd<'a>>),
    /// A directory of a saved tree, which cannot be opened.
    Saved,
}

/// The place of a directory that the walk leaves.
#[derive(Clone, Copy)]
pub(crate) enum LeftIn<'a> {
    /// The open directory that lists it. None for a starting point.
    Live(Option<BorrowedFd<'a>>),
    /// A saved tree.
    Saved,
}

/// One file during its evaluation.
pub(crate) struct File<'a> {
    shared: &'a Shared<'a>,
    path: &'a [u8],
    root_len: usize,
    depth: usize,
    directory: Directory<'a>,
    /// The name in its directory; for a starting point the whole path.
    pub(crate) c_name: &'a CStr,
    kind: FileType,
    /// The file is a link that the search follows.
    followed: bool,
    known: Option<&'a Metadata>,
    stat_failed: Option<Errno>,
    entry: Option<Entry<'a, DirState>>,
    /// Whether a directory that the walk leaves is empty, in a saved tree.
    is_empty: Option<Result<bool, Errno>>,
    asked: OnceCell<Result<Metadata, Errno>>,
    /// The number of calls for metadata that were made for the file.
    pub(crate) stats: Cell<u64>,
}

impl<'a> File<'a> {
    /// Creates the file of a directory entry or of a starting point.
    #[inline]
    pub(crate) fn found(
        shared: &'a Shared<'a>,
        batch: &'a Batch<'a, DirState>,
        entry: Entry<'a, DirState>,
        c_name: &'a CStr,
        path: &'a [u8],
        root_len: usize,
    ) -> Self {
        Self {
            shared,
            path,
            root_len,
            depth: entry.depth(),
            directory: Directory::Batch(batch),
            c_name,
            kind: kind_of(shared, entry),
            followed: entry.is_followed(),
            known: entry.metadata(),
            stat_failed: entry.stat_error(),
            entry: Some(entry),
            is_empty: None,
            asked: OnceCell::new(),
            stats: Cell::new(0),
        }
    }

    /// Forgets the type that the directory lists, so that it is asked for when it matters.
    pub(crate) fn forget_listed_type(&mut self) {
        self.kind = FileType::Unknown;
    }

    /// Creates the file of a directory that the walk leaves.
    pub(crate) fn left(
        shared: &'a Shared<'a>,
        dir: &'a Dir<DirState>,
        later: &'a Later,
        directory: LeftIn<'a>,
        path: &'a [u8],
        root_len: usize,
    ) -> Self {
        Self {
            shared,
            path,
            root_len,
            depth: dir.depth(),
            directory: match directory {
                LeftIn::Live(directory) => Directory::Open(directory),
                LeftIn::Saved => Directory::Saved,
            },
            c_name: dir.c_name(),
            kind: FileType::Directory,
            followed: later.followed,
            known: later.metadata.as_ref(),
            stat_failed: later.stat_failed,
            entry: None,
            is_empty: later.is_empty,
            asked: OnceCell::new(),
            stats: Cell::new(0),
        }
    }

    /// Returns the last component of the path. For a starting point the slashes at its end are left
    /// out; `/` stays.
    pub(crate) fn base_name(&self) -> &'a [u8] {
        if self.depth > 0 {
            return self.c_name.to_bytes();
        }
        base_name(self.path)
    }

    /// Returns the open directory that lists the file. None for a starting point.
    ///
    /// # Errors
    ///
    /// The errors of opening the directory.
    pub(crate) fn directory(&self) -> Result<Option<BorrowedFd<'a>>, Errno> {
        match self.directory {
            Directory::Open(fd) => Ok(fd),
            Directory::Saved => Err(Errno::OPNOTSUPP),
            Directory::Batch(batch) => batch.fd().map_err(|error| error.errno()),
        }
    }

    /// Returns the descriptor relative to which the name is looked up.
    ///
    /// # Errors
    ///
    /// The errors of opening the directory.
    pub(crate) fn at(&self) -> Result<BorrowedFd<'a>, Errno> {
        Ok(self.directory()?.unwrap_or(CWD))
    }

    /// Returns true if the file is in a saved tree.
    fn is_saved(&self) -> bool {
        match self.directory {
            Directory::Batch(batch) => batch.is_saved(),
            Directory::Open(_) => false,
            Directory::Saved => true,
        }
    }

    /// Returns whether a directory of a saved tree is empty. `None` in a live tree.
    pub(crate) fn saved_emptiness(&self) -> Option<Result<bool, Errno>> {
        match self.entry.and_then(|entry| entry.saved()) {
            Some(saved) => Some(saved.is_empty_directory()),
            None => self.is_empty,
        }
    }

    /// Returns true if this is a link that the search follows.
    pub(crate) fn is_followed(&self) -> bool {
        self.followed
    }

    /// Returns true if the file is on another device than its starting point. A starting point is
    /// not.
    pub(super) fn is_elsewhere(&self) -> bool {
        let Some(entry) = self.entry.filter(|_| self.depth > 0) else {
            return false;
        };
        // Such a file is where its directory is. A mount point has no listed type here.
        let listed = !matches!(self.kind, FileType::Directory | FileType::Unknown);
        if listed && self.known.is_none() {
            return false;
        }
        self.metadata()
            .is_ok_and(|metadata| entry.lies_beyond(metadata))
    }

    /// Returns true if the walk failed to read the metadata.
    pub(crate) fn has_failed(&self) -> bool {
        self.stat_failed.is_some()
    }

    /// Returns the metadata or the error that the walk has, if that is all that the plan asks for.
    fn known(&self) -> Option<Result<&Metadata, Errno>> {
        if let Some(errno) = self.stat_failed {
            return Some(Err(errno));
        }
        let known = self.known?;
        // Not every file system has these two, and asking again would not help.
        let sure = self.shared.plan.fields - ringwalk::Fields::BTIME - ringwalk::Fields::MNT_ID;
        let complete = known.mask().contains(sure) || self.entry.is_none();
        complete.then_some(Ok(known))
    }

    /// Returns the type of the file system. If the table of mounts cannot be read, reports that,
    /// ends the search and returns `None`: what is done with a file must not depend on a guess.
    pub(crate) fn file_system_type(&self) -> Option<&[u8]> {
        let Ok(metadata) = self.metadata() else {
            // `metadata` has reported the failure.
            return Some(UNKNOWN);
        };
        match self.shared.file_systems.type_of(metadata) {
            Ok(name) => Some(name),
            Err(error) => {
                let reason = reason(&error);
                self.shared
                    .fail(&format!("cannot read the table of mounts: {reason}"));
                self.shared.progress.stop();
                None
            }
        }
    }

    /// Returns true if no other file has its device and inode number. If this is not known for a
    /// saved tree, returns true: nothing else marks its links.
    pub(super) fn has_own_inode(&self, metadata: &Metadata) -> bool {
        if self.is_saved() {
            let name = self.file_system_type().unwrap_or(UNKNOWN);
            let name = std::str::from_utf8(name).unwrap_or_default();
            return name.as_bytes() == UNKNOWN || IdentityTrust::of_type(name).is_unique;
        }
        let link = if self.is_followed() {
            OFlags::empty()
        } else {
            OFlags::NOFOLLOW
        };
        let flags = OFlags::PATH | OFlags::CLOEXEC | link;
        let open = || openat(self.at().ok()?, self.c_name, flags, Mode::empty()).ok();
        let trust = |dev| self.shared.progress.trust.of(dev, open);
        metadata.dev().is_some_and(|dev| trust(dev).is_unique)
    }

    /// Returns the type of what a link leads to, or of a file that is no link its own type.
    fn follow(&self) -> Result<FileType, Errno> {
        let own = Facts::file_type(self);
        if own != FileType::Symlink {
            return Ok(own);
        }
        let look = |at| statat(at, self.c_name, AtFlags::NO_AUTOMOUNT);
        let stat = self.at().and_then(look)?;
        Ok(FileType::from_mode(stat.st_mode))
    }

    fn ask(&self) -> Result<Metadata, Errno> {
        let Some(entry) = &self.entry else {
            return Err(Errno::NOENT);
        };
        self.stats.set(self.stats.get() + 1);
        entry
            .stat(self.shared.plan.fields | Fields::TYPE)
            .map_err(|error| {
                self.shared.report_error(&error);
                error.errno()
            })
    }
}

/// Returns the type of an entry. With `-L`, a link whose target could not be read for any reason
/// has no known type: `-type l` finds links that lead nowhere, and people remove those.
#[inline]
fn kind_of(shared: &Shared<'_>, entry: Entry<'_, DirState>) -> FileType {
    let kind = entry.file_type();
    let hidden = kind == FileType::Symlink
        && shared.command.follow == Follow::Always
        && entry.stat_error().is_some();
    if hidden { FileType::Unknown } else { kind }
}

/// Returns the last component of a path without the slashes behind it, or `/` if there is none.
fn base_name(path: &[u8]) -> &[u8] {
    match format::base(path) {
        b"/" => b"/",
        name => name.strip_suffix(b"/").unwrap_or(name),
    }
}

impl Listing for File<'_> {
    fn name(&self) -> &[u8] {
        self.base_name()
    }

    fn path(&self) -> &[u8] {
        self.path
    }

    fn file_type(&self) -> FileType {
        Facts::file_type(self)
    }
}

impl Facts for File<'_> {
    fn path(&self) -> &[u8] {
        self.path
    }

    fn root_len(&self) -> usize {
        self.root_len
    }

    fn depth(&self) -> usize {
        self.depth
    }

    fn file_type(&self) -> FileType {
        if self.kind != FileType::Unknown {
            return self.kind;
        }
        self.metadata()
            .map_or(FileType::Unknown, Metadata::file_type)
    }

    fn metadata(&self) -> Result<&Metadata, Errno> {
        if let Some(known) = self.known() {
            return known;
        }
        self.asked
            .get_or_init(|| self.ask())
            .as_ref()
            .map_err(|errno| *errno)
    }

    fn link_target(&self) -> Option<Vec<u8>> {
        if Facts::file_type(self) != FileType::Symlink {
            return None;
        }
        let read = |at| rustix::fs::readlinkat(at, self.c_name, Vec::new());
        let target = match self.entry.and_then(|entry| entry.saved()) {
            Some(saved) => saved.target(),
            None => self.at().and_then(read).map(CString::into_bytes),
        };
        match target {
            Ok(target) => Some(target),
            Err(errno) => {
                self.shared.report_failure(self.path, errno);
                None
            }
        }
    }

    fn target(&self) -> LinkTarget {
        let answer = self.follow();
        let target = answer.into();
        if let (LinkTarget::Unknown, Err(errno)) = (target, answer) {
            self.shared.report_failure(self.path, errno);
        }
        target
    }

    fn is_orphan(&self) -> bool {
        // Nobody knows where links of a saved tree lead.
        !self.is_saved() && self.follow().is_err()
    }

    fn file_system(&self) -> Cow<'_, [u8]> {
        Cow::Borrowed(self.file_system_type().unwrap_or(UNKNOWN))
    }

    fn context(&self) -> Option<Vec<u8>> {
        let label = |directory| selinux::label(directory, self.c_name, self.followed);
        match self.directory().and_then(label) {
            Ok(label) => Some(label),
            Err(errno) => {
                let path = quote::value(self.path);
                let reason = reason(&errno.into());
                self.shared
                    .fail(&format!("getfilecon failed: {path}: {reason}"));
                None
            }
        }
    }

    fn user_name(&self, uid: u32) -> Option<Cow<'_, [u8]>> {
        let name = self.shared.look_up_user(uid).ok().flatten();
        name.map(Cow::Borrowed)
    }

    fn group_name(&self, gid: u32) -> Option<Cow<'_, [u8]>> {
        let name = self.shared.look_up_group(gid).ok().flatten();
        name.map(Cow::Borrowed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base_names() {
        for (path, name) in [
            ("a", "a"),
            ("a/b", "b"),
            ("a/b//", "b"),
            ("/", "/"),
            ("//", "/"),
            ("/a/", "a"),
            ("", ""),
            ("./.", "."),
        ] {
            assert_eq!(base_name(path.as_bytes()), name.as_bytes(), "{path}");
        }
    }
}
