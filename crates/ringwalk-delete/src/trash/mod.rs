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
//!
//! A file in a trash is not moved again: its record would name the trash as its origin.

mod info;
mod place;

use super::chain::Chain;
use super::identity::Found;
use super::log::{Line, Log, LogError};
use super::reason::Reason;
use super::rename::{rename_back, rename_to_new};
use super::root::{Root, real_path};
use super::run::{Report, announce, go_to};
use super::shown::{Doomed, Observer, Outcome, Selection};
pub use place::is_trash;
use place::{Bin, Bins, is_in_trash};
use ringwalk::mounts::{self, Mount};
use rustix::fd::BorrowedFd;
use rustix::io::Errno;
use std::ffi::OsStr;
use std::fmt;
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

/// A file that is to go to the trash, as the caller knows it.
pub trait Candidate {
    /// Reads about the name now, and refuses it if it is not what the caller wants moved. Called
    /// before a trash is chosen, and right before the move.
    ///
    /// # Errors
    ///
    /// Why the file is kept.
    fn look(&self) -> Result<Found, Reason>;

    /// Compares the file that was moved with what `look` found right before. If this fails, it is
    /// moved back.
    ///
    /// # Errors
    ///
    /// Why the file is moved back.
    fn check(&self, before: &Found, moved: &Found) -> Result<(), Reason>;
}

/// The trash of each mount, for files whose directories the caller has opened.
pub struct Trash(Bins);

impl Trash {
    /// Uses the trash of this user.
    pub fn new(options: &TrashOptions) -> Self {
        Self(Bins::new(options.data_home.clone()))
    }

    /// Moves a name of an open directory, and returns the absolute path where it is now.
    ///
    /// # Errors
    ///
    /// Why the file is kept.
    pub fn throw(
        &mut self,
        directory: BorrowedFd<'_>,
        name: &[u8],
        candidate: &dyn Candidate,
    ) -> Result<Vec<u8>, Reason> {
        let found = candidate.look()?;
        let table = mounts::read().map_err(|_| Reason::NoTrash)?;
        let path = real_path(directory).ok_or(Reason::NoTrash)?;
        let path = path.join(OsStr::from_bytes(name));
        move_to_bin(
            directory,
            name,
            candidate,
            &mut self.0,
            &found,
            &path,
            &table,
        )
    }
}

impl fmt::Debug for Trash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Trash").finish_non_exhaustive()
    }
}

/// An entry that was shown, in the current directory of a chain.
struct Entry<'e, Id> {
    root: &'e Root,
    directory: BorrowedFd<'e>,
    shown: &'e Doomed<Id>,
}

impl<Id> Candidate for Entry<'_, Id> {
    fn look(&self) -> Result<Found, Reason> {
        let Doomed {
            name,
            identity,
            is_directory,
            ..
        } = self.shown;
        self.root
            .look(self.directory, name, *identity, *is_directory)
    }

    fn check(&self, before: &Found, moved: &Found) -> Result<(), Reason> {
        if before.is_before_rename(moved) {
            Ok(())
        } else {
            Err(Reason::Replaced)
        }
    }
}

/// Moves selected entries to the trash. See the documentation of the module for the rules.
///
/// # Errors
///
/// If the log cannot be written. Entries that were reported to the observer by then have been
/// moved, and no others.
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
                let line = Line::new("trashed", &path, entry.identity);
                log.append(&line.size(found.size).to(&to))?;
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
    let candidate = Entry {
        root,
        directory,
        shown: entry,
    };
    // This comes before the search for a trash, so that a missing file, or a root, is refused for
    // its own reason.
    let found = candidate.look()?;
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
    let to = move_to_bin(
        directory,
        &entry.name,
        &candidate,
        bins,
        &found,
        path,
        &table,
    )?;
    Ok((found, to))
}

/// Moves a file to the trash of its mount, and returns where it is now.
fn move_to_bin(
    directory: BorrowedFd<'_>,
    name: &[u8],
    candidate: &dyn Candidate,
    bins: &mut Bins,
    found: &Found,
    path: &Path,
    table: &[Mount],
) -> Result<Vec<u8>, Reason> {
    if is_in_trash(path) {
        return Err(Reason::InTrash);
    }
    let bin = bins.of(found, path, table)?;
    let original = bin.recorded_path(path).ok_or(Reason::NoTrash)?;
    let move_to = |number| {
        let new_name = numbered(name, number);
        move_as(directory, name, candidate, bin, &new_name, original).map(|()| new_name)
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
    Ok(to.into_os_string().into_encoded_bytes())
}

/// Returns true if something is mounted below a directory. The renaming would take it along, and
/// emptying the trash would delete the mounted files.
fn holds_mount_point(table: &[Mount], path: &Path) -> bool {
    table
        .iter()
        .any(|mount| mount.point != path && mount.point.starts_with(path))
}

/// Moves a file under a name that must be free in the trash.
fn move_as(
    directory: BorrowedFd<'_>,
    name: &[u8],
    candidate: &dyn Candidate,
    bin: &Bin,
    new_name: &[u8],
    original: &Path,
) -> Result<(), Reason> {
    let record = info::create(bin.info(), new_name, original)?;
    // The name was checked before, but creating the record took some time. So it is checked again
    // right before the renaming.
    let looked = candidate.look();
    let moved = looked.and_then(|found| {
        let check = |moved: &Found| candidate.check(&found, moved);
        rename_compared(directory, name, check, bin.files(), new_name)
    });
    // A record without a file would be shown as a broken entry of the trash.
    if moved.is_err_and(|reason| reason != Reason::WrongFileInTrash) {
        record.remove();
    }
    moved
}

/// Renames a file, and checks the file that was moved. Another one goes back.
fn rename_compared(
    directory: BorrowedFd<'_>,
    old: &[u8],
    check: impl FnOnce(&Found) -> Result<(), Reason>,
    files: BorrowedFd<'_>,
    name: &[u8],
) -> Result<(), Reason> {
    rename_to_new(directory, old, files, name).map_err(|errno| match errno {
        Errno::BUSY => Reason::MountPoint,
        Errno::XDEV => Reason::NoTrash,
        errno => Reason::of("move to the trash", errno),
    })?;
    let checked = Found::at(files, name).map_err(|_| Reason::Replaced);
    let Err(reason) = checked.and_then(|moved| check(&moved)) else {
        return Ok(());
    };
    match rename_back(files, name, directory, old) {
        Ok(()) => Err(reason),
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
    let mut cut = &name[..name.len().min(most)];
    // Programs of the desktop cannot show a part of a character.
    if cut.len() < name.len()
        && let Err(error) = std::str::from_utf8(cut)
        && error.error_len().is_none()
    {
        cut = &cut[..error.valid_up_to()];
    }
    [cut, suffix.as_bytes()].concat()
}

#[cfg(test)]
mod tests;
