//! One file as tests and actions see it: what the walk knows of it, and what it is asked for when it comes to it.

use super::shared::Shared;
use super::state::{Later, State};
use crate::facts::Facts;
use crate::format;
use crate::mounts::UNKNOWN;
use crate::selinux;
use ringwalk::{Batch, Dir, Entry, Fields, FileType, Follow, Metadata};
use ringwalk_gnu::{quote, reason};
use rustix::fs::{AtFlags, CWD, statat};
use rustix::io::Errno;
use std::borrow::Cow;
use std::cell::{Cell, OnceCell};
use std::ffi::CStr;
use std::os::fd::BorrowedFd;
use std::sync::atomic::Ordering;

/// Where a file was found.
#[derive(Clone, Copy)]
enum Directory<'a> {
    /// By a batch, whose directory may still have to be opened.
    Batch(&'a Batch<'a, State>),
    /// In an open directory; as a starting point in none.
    Open(Option<BorrowedFd<'a>>),
}

/// One file, while it is evaluated.
pub(crate) struct File<'a> {
    shared: &'a Shared<'a>,
    path: &'a [u8],
    root_len: usize,
    depth: usize,
    directory: Directory<'a>,
    /// What it is called there; for a starting point its whole path.
    pub(crate) c_name: &'a CStr,
    kind: FileType,
    /// It is a link that the search follows.
    followed: bool,
    known: Option<&'a Metadata>,
    stat_failed: Option<Errno>,
    entry: Option<Entry<'a, State>>,
    asked: OnceCell<Result<Metadata, Errno>>,
    /// Calls for metadata that were made for it.
    pub(crate) stats: Cell<u64>,
}

impl<'a> File<'a> {
    /// An entry of a directory, or a starting point.
    #[inline]
    pub(crate) fn found(
        shared: &'a Shared<'a>,
        batch: &'a Batch<'a, State>,
        entry: Entry<'a, State>,
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
            asked: OnceCell::new(),
            stats: Cell::new(0),
        }
    }

    /// Forgets the type that the directory told, so that it is asked for when it matters.
    pub(crate) fn forget_listed_type(&mut self) {
        self.kind = FileType::Unknown;
    }

    /// A directory that has been left.
    pub(crate) fn left(
        shared: &'a Shared<'a>,
        dir: &'a Dir<State>,
        later: &'a Later,
        directory: Option<BorrowedFd<'a>>,
        path: &'a [u8],
        root_len: usize,
    ) -> Self {
        Self {
            shared,
            path,
            root_len,
            depth: dir.depth(),
            directory: Directory::Open(directory),
            c_name: dir.c_name(),
            kind: FileType::Directory,
            followed: later.followed,
            known: later.metadata.as_ref(),
            stat_failed: later.stat_failed,
            entry: None,
            asked: OnceCell::new(),
            stats: Cell::new(0),
        }
    }

    /// The last component of the path: of a starting point without the slashes at its end, all of `/`.
    pub(crate) fn base_name(&self) -> &'a [u8] {
        if self.depth > 0 {
            return self.c_name.to_bytes();
        }
        base_name(self.path)
    }

    /// The open directory that it was found in; none for a starting point.
    ///
    /// # Errors
    ///
    /// Those of opening it.
    pub(crate) fn directory(&self) -> Result<Option<BorrowedFd<'a>>, Errno> {
        match self.directory {
            Directory::Open(fd) => Ok(fd),
            Directory::Batch(batch) => batch.fd().map_err(|error| error.errno()),
        }
    }

    /// Where its name can be looked up.
    ///
    /// # Errors
    ///
    /// Those of opening that.
    pub(crate) fn at(&self) -> Result<BorrowedFd<'a>, Errno> {
        Ok(self.directory()?.unwrap_or(CWD))
    }

    /// Whether this is a link that the search follows.
    pub(crate) fn is_followed(&self) -> bool {
        self.followed
    }

    /// Whether the walk has asked for its metadata in vain.
    pub(crate) fn has_failed(&self) -> bool {
        self.stat_failed.is_some()
    }

    /// What the walk knows, or why it knows nothing, if it holds all that the plan asks for.
    fn known(&self) -> Option<Result<&Metadata, Errno>> {
        if let Some(errno) = self.stat_failed {
            return Some(Err(errno));
        }
        let known = self.known?;
        // Not every file system has these two, and asking again would not help.
        let sure = self.shared.plan.fields - ringwalk::Fields::BTIME - ringwalk::Fields::MNT_ID;
        let complete = known.mask.contains(sure) || self.entry.is_none();
        complete.then_some(Ok(known))
    }

    /// Returns the type of its file system. If the table of mounts cannot be read, reports that,
    /// ends the search and returns `None`: what is done with a file must not depend on a guess.
    pub(crate) fn file_system_type(&self) -> Option<&[u8]> {
        let Ok(metadata) = self.metadata() else {
            // Of which the user has been told.
            return Some(UNKNOWN);
        };
        match self.shared.file_systems.type_of(metadata) {
            Ok(name) => Some(name),
            Err(error) => {
                let reason = reason(&error);
                self.shared
                    .fail(&format!("cannot read the table of mounts: {reason}"));
                self.shared.progress.stop.store(true, Ordering::Relaxed);
                None
            }
        }
    }

    /// Returns the type of what a link leads to, or of a file that is no link its own type.
    fn follow(&self) -> Result<FileType, Errno> {
        let own = self.file_type();
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
                self.shared.tell_error(&error);
                error.errno()
            })
    }
}

/// The type of an entry. What a link leads to is not known where looking at that failed: with `-L`, `-type l` is for links
/// that lead nowhere, and people remove those.
#[inline]
fn kind_of(shared: &Shared<'_>, entry: Entry<'_, State>) -> FileType {
    let kind = entry.file_type();
    let hidden = kind == FileType::Symlink
        && shared.command.follow == Follow::Always
        && entry.stat_error().is_some();
    if hidden { FileType::Unknown } else { kind }
}

/// The last component of a path, without slashes behind it; `/` if there is nothing else.
fn base_name(path: &[u8]) -> &[u8] {
    match format::base(path) {
        b"/" => b"/",
        name => name.strip_suffix(b"/").unwrap_or(name),
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
        if self.file_type() != FileType::Symlink {
            return None;
        }
        let read = |at| rustix::fs::readlinkat(at, self.c_name, Vec::new());
        match self.at().and_then(read) {
            Ok(target) => Some(target.into_bytes()),
            Err(errno) => {
                self.shared.tell_failure(self.path, errno);
                None
            }
        }
    }

    fn target_type(&self) -> Result<FileType, Errno> {
        self.follow().inspect_err(|errno| {
            // A link that leads nowhere or in circles is nothing to tell of.
            if !matches!(*errno, Errno::NOENT | Errno::NOTDIR | Errno::LOOP) {
                self.shared.tell_failure(self.path, *errno);
            }
        })
    }

    fn is_orphan(&self) -> bool {
        self.follow().is_err()
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
        self.shared.user_name(uid).map(Cow::Borrowed)
    }

    fn group_name(&self, gid: u32) -> Option<Cow<'_, [u8]>> {
        self.shared.group_name(gid).map(Cow::Borrowed)
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
