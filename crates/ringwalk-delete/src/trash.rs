//! Moving entries to the trash, by the Trash Specification 1.0 of freedesktop.org.
//!
//! | file | contents |
//! |---|---|
//! | `place.rs` | the directories of a trash: which one, whether it is safe, how it is opened |
//! | `info.rs` | the files `info/NAME.trashinfo` |
//!
//! An entry is renamed, never copied, so the trash must be on the same mount. A directory is moved
//! as a whole, with entries that were not shown: it can be restored as a whole.
//!
//! The order of the calls: `info/NAME.trashinfo` is created and must be new; the entry is compared
//! with what was shown; it is renamed to `files/NAME`, which must not exist; it is compared again.
//! If another file has taken its name just before the renaming, that file is moved back.

mod info;
mod place;

use super::chain::Chain;
use super::identity::Found;
use super::log::{Line, Log, LogError};
use super::reason::Reason;
use super::root::{Root, real_path};
use super::run::{Report, announce, go_to};
use super::shown::{Doomed, Observer, Outcome, Selection};
use place::{Bin, Bins};
use ringwalk::mounts::{self, Mount};
use rustix::fd::BorrowedFd;
use rustix::fs::{RenameFlags, renameat_with};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Numbers that are tried if a name is taken in the trash.
const MOST_NUMBERS: u32 = 10_000;

/// Where the trash of the user's home is.
#[derive(Clone, Debug, Default)]
pub struct TrashOptions {
    /// The directory that holds `Trash`. `None`: there is no trash of the home.
    data_home: Option<PathBuf>,
}

impl TrashOptions {
    /// Takes `$XDG_DATA_HOME`, or else `~/.local/share`.
    pub fn from_environment() -> Self {
        Self {
            data_home: super::log::base_directory("XDG_DATA_HOME", ".local/share"),
        }
    }

    /// Takes this directory in place of `$XDG_DATA_HOME`.
    pub fn with_data_home(data_home: Option<PathBuf>) -> Self {
        Self { data_home }
    }
}

/// Moves selected entries to the trash. See the documentation of the module for the rules.
///
/// # Errors
///
/// If the log cannot be written. What was reported to the observer until then has been moved, and
/// nothing else.
pub fn trash<Id: Copy>(
    root: &Root,
    selections: &[Selection<Id>],
    options: &TrashOptions,
    log: &Log,
    observer: &mut dyn Observer<Id>,
) -> Result<Outcome, LogError> {
    announce(root, selections, log, "trash")?;
    let mut report = Report {
        log,
        observer,
        outcome: Outcome::default(),
    };
    let mut chain = Chain::new(root);
    let mut bins = Bins::new(options.data_home.clone());
    for selection in selections {
        if report.is_cancelled() {
            break;
        }
        let entry = &selection.entry;
        let gone_to = go_to(&mut chain, selection);
        let path = chain.path_of(&entry.name);
        match gone_to.and_then(|()| throw(&mut chain, &mut bins, log, entry, &path)) {
            Err(reason) => report.keep(&path, entry, reason)?,
            Ok((found, to)) => {
                report.outcome.deleted += 1;
                report.observer.deleted(entry.id, 0);
                let mut line = Line::new("trashed", &path, entry.identity);
                line.size = Some(found.size);
                line.to = Some(&to);
                log.append(&line)?;
            }
        }
    }
    log.sync()?;
    Ok(report.outcome)
}

/// Moves one entry of the current directory, and returns where it is now.
fn throw<Id: Copy>(
    chain: &mut Chain<'_>,
    bins: &mut Bins,
    log: &Log,
    entry: &Doomed<Id>,
    path: &[u8],
) -> Result<(Found, Vec<u8>), Reason> {
    if log.is(entry.identity) {
        return Err(Reason::Log);
    }
    let root = chain.root();
    let directory = chain.current().map_err(|lost| lost.reason.below())?;
    // Before a trash is looked for: a missing file, or a root, is refused as what it is.
    let found = root.look(directory, &entry.name, entry.identity, entry.is_directory)?;
    let table = mounts::read().map_err(|_| Reason::NoTrash)?;
    // As the mount table has it. The root may have been moved since it was opened.
    let name = OsStr::from_bytes(&entry.name);
    let real = real_path(directory).map(|directory| directory.join(name));
    let path = real
        .as_deref()
        .unwrap_or(Path::new(OsStr::from_bytes(path)));
    if entry.is_directory && holds_mount_point(&table, path) {
        return Err(Reason::HoldsMountPoint);
    }
    if entry.is_directory && log.is_below(path) {
        return Err(Reason::HoldsLog);
    }
    let bin = bins.of(&found, path, &table)?;
    let original = bin.recorded_path(path).ok_or(Reason::NoTrash)?;
    let move_to = |number| {
        let name = numbered(&entry.name, number);
        move_as(root, directory, entry, bin, &name, original).map(|()| name)
    };
    let moved = (1..=MOST_NUMBERS).find_map(|number| match move_to(number) {
        Err(Reason::Failed {
            errno: Errno::EXIST,
            ..
        }) => None,
        other => Some(other),
    });
    let name = moved.unwrap_or(Err(Reason::TrashNames))?;
    let to = bin.path().join("files").join(OsStr::from_bytes(&name));
    Ok((found, to.into_os_string().into_encoded_bytes()))
}

/// Returns true if something is mounted below a directory. The renaming would take it along, and
/// emptying the trash would delete what is mounted.
fn holds_mount_point(table: &[Mount], path: &Path) -> bool {
    table
        .iter()
        .any(|mount| mount.point != path && mount.point.starts_with(path))
}

/// Moves an entry under a name that must be free in the trash.
fn move_as<Id: Copy>(
    root: &Root,
    directory: BorrowedFd<'_>,
    entry: &Doomed<Id>,
    bin: &Bin,
    name: &[u8],
    original: &Path,
) -> Result<(), Reason> {
    let record = info::create(bin.info(), name, original)?;
    // Right before the renaming, though the name was looked at before: creating the record took
    // some time.
    let looked = root.look(directory, &entry.name, entry.identity, entry.is_directory);
    let moved = looked.and_then(|_| rename_compared(directory, entry, bin.files(), name));
    // A record without a file would be shown as a broken entry of the trash.
    if moved.is_err_and(|reason| reason != Reason::WrongFileInTrash) {
        record.remove();
    }
    moved
}

/// Renames an entry, and compares the file that was moved with what was shown. Another one goes
/// back.
fn rename_compared<Id: Copy>(
    directory: BorrowedFd<'_>,
    entry: &Doomed<Id>,
    files: BorrowedFd<'_>,
    name: &[u8],
) -> Result<(), Reason> {
    let old = entry.name.as_slice();
    let flags = RenameFlags::NOREPLACE;
    renameat_with(directory, old, files, name, flags).map_err(|errno| match errno {
        Errno::BUSY => Reason::MountPoint,
        Errno::XDEV => Reason::NoTrash,
        errno => Reason::of("move to the trash", errno),
    })?;
    if Found::at(files, name).is_ok_and(|moved| moved.identity == entry.identity) {
        return Ok(());
    }
    match renameat_with(files, name, directory, old, flags) {
        Ok(()) => Err(Reason::Replaced),
        Err(_) => Err(Reason::WrongFileInTrash),
    }
}

/// Returns a name in the trash: the entry's own, and with a number if that is taken. Cut where a
/// name with `.trashinfo` behind it would be too long for a file system (255 bytes).
fn numbered(name: &[u8], number: u32) -> Vec<u8> {
    let suffix = match number {
        1 => String::new(),
        number => format!(".{number}"),
    };
    let most = 255 - info::SUFFIX.len() - suffix.len();
    let mut numbered = name[..name.len().min(most)].to_vec();
    numbered.extend_from_slice(suffix.as_bytes());
    numbered
}

#[cfg(test)]
mod tests;
