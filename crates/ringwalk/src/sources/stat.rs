//! Asks for metadata by `statx`: for entries of a batch that need it, and for single paths.

use crate::sources::names_at::NamesAt;
use crate::sources::project_id;
use crate::sources::raw_batch::{Known, RawBatch};
use crate::sources::wanted::{Wanted, with_identity};
use crate::visit::metadata::{Fields, Metadata};
use ringwalk_sys::{RawFileType as FileType, Statx, statx, statx_at};
use rustix::fs::{AtFlags, CWD};
use rustix::io::Errno;
use std::ffi::{CStr, CString};
use std::ops::Range;
use std::os::fd::RawFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

impl Metadata {
    /// Asks the kernel for these fields of a file. A relative path is below the directory whose
    /// descriptor has the number `base`, or below the working directory. The call triggers no
    /// automount.
    ///
    /// # Errors
    ///
    /// The errors of [statx(2)](https://man7.org/linux/man-pages/man2/statx.2.html); `EINVAL` if
    /// the path has a NUL byte.
    pub fn of_path(
        base: Option<RawFd>,
        path: impl AsRef<Path>,
        follow: bool,
        fields: Fields,
    ) -> Result<Self, Errno> {
        let path = CString::new(path.as_ref().as_os_str().as_bytes()).map_err(|_| Errno::INVAL)?;
        let mut flags = AtFlags::NO_AUTOMOUNT;
        flags.set(AtFlags::SYMLINK_NOFOLLOW, !follow);
        let mut stat = Statx::default();
        match base {
            None => statx(CWD, &path, flags, fields.statx_mask(), &mut stat),
            Some(number) => statx_at(number, &path, flags, fields.statx_mask(), &mut stat),
        }?;
        let mut metadata = Self::from(&stat);
        if fields.contains(Fields::PROJECT_ID) {
            match base {
                None => project_id::add(&mut metadata, CWD, &path, follow)?,
                Some(number) => {
                    let base = ringwalk_sys::duplicate(number)?;
                    project_id::add(&mut metadata, base, &path, follow)?;
                }
            }
        }
        Ok(metadata)
    }
}

impl NamesAt<'_> {
    /// Returns the metadata of the entry `index` with this name.
    pub(crate) fn stat(
        &self,
        index: usize,
        name: &CStr,
        follow: bool,
        fields: Fields,
    ) -> Result<Metadata, Errno> {
        let mut stat = Statx::default();
        self.statx(index, name, follow, with_identity(fields), &mut stat)?;
        check(&stat, fields)?;
        let mut metadata = Metadata::from(&stat);
        if fields.contains(Fields::PROJECT_ID) {
            project_id::add_at(&mut metadata, *self, index, name, follow)?;
        }
        Ok(metadata)
    }
}

/// Asks for the metadata of all entries in `raw` that need it and have none yet. Sets their types
/// by it, and adds project ids if they are wanted. Returns how many calls were made.
///
/// If `inode_order` is true, asks in the order of inode numbers, which is about the order of a
/// rotational disk.
pub(crate) fn stat_entries(
    raw: &mut RawBatch,
    place: NamesAt<'_>,
    wanted: Wanted,
    descending: bool,
    inode_order: bool,
) -> u64 {
    if !wanted.needs_any(&raw.records, descending) {
        return 0;
    }
    raw.known.resize(raw.records.len(), Known::Nothing);
    let mut stat = Statx::default();
    let mut calls = 0;
    if inode_order {
        let mut order: Vec<_> = (0..raw.records.len()).collect();
        order.sort_unstable_by_key(|&index| raw.records.ino(index));
        for index in order {
            calls += stat_entry(raw, index, place, wanted, descending, &mut stat);
        }
    } else {
        for index in 0..raw.records.len() {
            calls += stat_entry(raw, index, place, wanted, descending, &mut stat);
        }
    }
    if wanted.fields().contains(Fields::PROJECT_ID) {
        calls += project_id::add_to_entries(raw, place);
    }
    calls
}

/// Asks for the metadata of these entries, as [`stat_entries`] does for all, without project ids.
pub(crate) fn stat_range(
    raw: &mut RawBatch,
    range: Range<usize>,
    place: NamesAt<'_>,
    wanted: Wanted,
    descending: bool,
) -> u64 {
    if !wanted.needs_any(&raw.records, descending) {
        return 0;
    }
    raw.known.resize(raw.records.len(), Known::Nothing);
    let mut stat = Statx::default();
    let mut calls = 0;
    for index in range {
        calls += stat_entry(raw, index, place, wanted, descending, &mut stat);
    }
    calls
}

/// Asks for the metadata of one entry that is on another file system than its directory.
pub(crate) fn stat_elsewhere(
    raw: &mut RawBatch,
    index: usize,
    place: NamesAt<'_>,
    wanted: Wanted,
    descending: bool,
) -> u64 {
    raw.known.resize(raw.records.len(), Known::Nothing);
    raw.known[index] = Known::Nothing;
    stat_entry(raw, index, place, wanted, descending, &mut Statx::default())
}

/// Settles one entry, and returns how many calls that took. `stat` is a buffer for an answer.
#[inline]
fn stat_entry(
    raw: &mut RawBatch,
    index: usize,
    place: NamesAt<'_>,
    wanted: Wanted,
    descending: bool,
    stat: &mut Statx,
) -> u64 {
    let listed = raw.records.file_type(index);
    if !matches!(raw.known[index], Known::Nothing) || !wanted.needs(listed, descending) {
        return 0;
    }
    let name = raw.records.name(index);
    // Most entries are no links: these take one call, and are never followed, even if they have
    // become links.
    let mut followed = wanted.follows() && listed == FileType::Symlink;
    let mut answer = place.statx(index, name, followed, wanted.fields(), stat);
    let mut calls = 1;
    if wanted.follows()
        && listed == FileType::Unknown
        && answer.is_ok()
        && FileType::from_mode(u32::from(stat.stx_mode)) == FileType::Symlink
    {
        followed = true;
        answer = place.statx(index, name, followed, wanted.fields(), stat);
        calls += 1;
    }
    if followed && matches!(answer, Err(Errno::NOENT | Errno::NOTDIR)) {
        // The target of the link does not exist, so the link is an entry of its own. The same holds
        // for `ENOTDIR`: the path to the target leads through a file that is not a directory. Any
        // other error is reported, as the target may exist.
        followed = false;
        answer = place.statx(index, name, followed, wanted.fields(), stat);
        calls += 1;
    }
    let answer = answer.and_then(|()| check(stat, wanted.fields()));
    take_answer(raw, index, answer.map(|()| &*stat), followed);
    calls
}

/// Fails if an answer lacks one of these fields that every file has.
#[inline]
fn check(stat: &Statx, fields: Fields) -> Result<(), Errno> {
    if Fields::from_statx(stat.stx_mask).contains(fields.required()) {
        Ok(())
    } else {
        Err(Errno::NODATA)
    }
}

/// Puts the answer of statx(2) for an entry into a batch. `followed` is true if the answer is for
/// the target of a link.
#[inline]
fn take_answer(raw: &mut RawBatch, index: usize, answer: Result<&Statx, Errno>, followed: bool) {
    raw.known[index] = match answer {
        Ok(stat) => {
            let file_type = FileType::from_mode(u32::from(stat.stx_mode));
            if file_type != raw.records.file_type(index) {
                raw.records.set_file_type(index, file_type);
            }
            let metadata = Metadata::from(stat);
            if followed {
                Known::Followed(metadata)
            } else {
                Known::Metadata(metadata)
            }
        }
        Err(errno) => {
            raw.failed += 1;
            Known::Failed(errno)
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsRawFd;

    #[test]
    fn a_path_below_a_descriptor_is_that_below_its_directory() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("file"), b"12345").unwrap();
        std::os::unix::fs::symlink("file", dir.path().join("link")).unwrap();
        let open = std::fs::File::open(dir.path()).unwrap();
        let ask = |base, path: &Path, follow| Metadata::of_path(base, path, follow, Fields::SIZE);
        for (base, path) in [
            (None, dir.path().join("link")),
            (Some(open.as_raw_fd()), "link".into()),
        ] {
            assert_eq!(ask(base, &path, true).unwrap().size, 5);
            assert_eq!(ask(base, &path, false).unwrap().size, 4);
        }
        assert_eq!(ask(Some(-1), "link".as_ref(), true), Err(Errno::BADF));
        assert_eq!(ask(None, "a\0b".as_ref(), true), Err(Errno::INVAL));
    }
}
