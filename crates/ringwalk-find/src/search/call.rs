//! Tests that need system calls beyond the metadata of the file.

use super::evaluate::Evaluator;
use super::file::File;
use super::shared::LookupFailed;
use crate::expression::{AccessMode, CallTest};
use crate::facts::{Facts, LinkTarget};
use ringwalk::{FileType, Metadata};
use rustix::fs::{Access, AtFlags, Mode, OFlags, RawDir, accessat, openat};
use rustix::io::Errno;
use std::mem::MaybeUninit;

impl Evaluator<'_> {
    /// Returns true if `test` is true of `file`.
    pub(super) fn call(&mut self, test: &CallTest, file: &File<'_>) -> bool {
        match test {
            CallTest::LinkName(pattern) => file
                .link_target()
                .is_some_and(|target| pattern.matches(&target)),
            CallTest::XType(types) => {
                Self::other_type(file).is_some_and(|other| types.contains(other))
            }
            CallTest::Empty => self.is_empty(file),
            CallTest::NoUser => {
                let uid = file.metadata().ok().and_then(Metadata::uid);
                uid.is_some_and(|uid| self.has_no_name(self.shared.look_up_user(uid)))
            }
            CallTest::NoGroup => {
                let gid = file.metadata().ok().and_then(Metadata::gid);
                gid.is_some_and(|gid| self.has_no_name(self.shared.look_up_group(gid)))
            }
            CallTest::Access(mode) => may_access(file, *mode).unwrap_or_else(|errno| {
                self.shared.report_failure(file.path(), errno);
                false
            }),
            CallTest::FileSystem(name) => {
                let found = file.file_system_type();
                self.quit |= found.is_none();
                found == Some(name)
            }
            CallTest::Elsewhere => file.is_elsewhere(),
            CallTest::Context(pattern) => {
                file.context().is_some_and(|label| pattern.matches(&label))
            }
        }
    }

    /// Returns true if an account has no name. After a failed lookup, which has been reported, ends
    /// the search: what is done with a file must not depend on a guess.
    fn has_no_name(&mut self, name: Result<Option<&[u8]>, LookupFailed>) -> bool {
        if name.is_err() {
            self.end();
        }
        name == Ok(None)
    }

    /// Returns the type of the link's target if links are not followed, or else of the link itself.
    fn other_type(file: &File<'_>) -> Option<FileType> {
        if file.is_followed() {
            return Some(FileType::Symlink);
        }
        match file.target() {
            LinkTarget::File(file_type) => Some(file_type),
            LinkTarget::Missing | LinkTarget::Loop => Some(FileType::Symlink),
            LinkTarget::Unknown => None,
        }
    }

    /// Returns true for a regular file of no bytes, and for a directory of no entries.
    fn is_empty(&self, file: &File<'_>) -> bool {
        match file.file_type() {
            FileType::Regular => file.metadata().is_ok_and(|m| m.size() == Some(0)),
            // The walk has reported that the directory could not be read.
            FileType::Directory if file.has_failed() => false,
            FileType::Directory => file
                .saved_emptiness()
                .unwrap_or_else(|| is_empty_directory(file))
                .unwrap_or_else(|errno| {
                    self.shared.report_failure(file.path(), errno);
                    false
                }),
            FileType::Fifo
            | FileType::CharacterDevice
            | FileType::BlockDevice
            | FileType::Symlink
            | FileType::Socket
            | FileType::Unknown => false,
        }
    }
}

fn is_empty_directory(file: &File<'_>) -> Result<bool, Errno> {
    let mut flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    if file.depth() > 0 && !file.is_followed() {
        flags |= OFlags::NOFOLLOW;
    }
    let fd = openat(file.at()?, file.c_name, flags, Mode::empty())?;
    let mut buffer = [MaybeUninit::uninit(); 1024];
    let mut entries = RawDir::new(fd, &mut buffer);
    while let Some(entry) = entries.next() {
        if !matches!(entry?.file_name().to_bytes(), b"." | b"..") {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Returns the answer of access(2), which is for the real user and through links.
///
/// # Errors
///
/// Any failure that is no answer, such as `EMFILE` for the directory or `EIO` for the file.
fn may_access(file: &File<'_>, mode: AccessMode) -> Result<bool, Errno> {
    let access = match mode {
        AccessMode::Read => Access::READ_OK,
        AccessMode::Write => Access::WRITE_OK,
        AccessMode::Execute => Access::EXEC_OK,
    };
    match accessat(file.at()?, file.c_name, access, AtFlags::empty()) {
        Ok(()) => Ok(true),
        // The last four: a link without a target, or a file that vanished. GNU find reports
        // neither.
        Err(
            Errno::ACCESS
            | Errno::PERM
            | Errno::ROFS
            | Errno::TXTBSY
            | Errno::NOENT
            | Errno::NOTDIR
            | Errno::LOOP
            | Errno::NAMETOOLONG,
        ) => Ok(false),
        Err(errno) => Err(errno),
    }
}
