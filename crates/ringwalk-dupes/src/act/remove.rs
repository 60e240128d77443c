//! Deletion, and the move to the trash.

use super::aside::{move_aside, put_back};
use super::held::{Compared, Held};
use super::reason::Reason;
use ringwalk_delete::{Candidate, Found, Trash};
use rustix::fs::{AtFlags, unlinkat};
use std::cell::RefCell;

/// Fails if the file that was moved may have been written to, or if the file to keep is not there
/// as it was. A file that is both of them, seen through two file systems, has another `ctime` now.
pub(super) fn check_moved(keep: &Held, file: &Held) -> Result<(), Reason> {
    let kept = keep.check(Compared::All).and_then(|()| keep.check_name());
    kept.map_err(Reason::of_keep)?;
    // The last look: a program that opened the file by its name is seen here.
    file.check(Compared::Contents)
}

/// Removes the name of a file that was compared.
pub(super) fn delete(keep: &Held, file: &Held) -> Result<(), Reason> {
    let aside = move_aside(file, || check_moved(keep, file))?;
    let directory = file.directory();
    unlinkat(directory, aside.as_slice(), AtFlags::empty()).map_err(|errno| {
        let reason = Reason::of("remove", errno);
        put_back(directory, &aside, file.name(), reason)
    })
}

/// Moves a file that was compared to the trash. Returns where it is.
pub(super) fn trash(keep: &Held, file: &Held, trash: &mut Trash) -> Result<Vec<u8>, Reason> {
    let candidate = Duplicate {
        keep,
        file,
        reason: RefCell::new(None),
    };
    let thrown = trash.throw(file.directory(), file.name(), &candidate);
    thrown.map_err(|reason| match (reason, candidate.reason.take()) {
        (ringwalk_delete::Reason::Replaced, Some(reason)) => reason,
        (reason, _) => Reason::Trash(reason),
    })
}

/// A file and the one to keep, for the trash.
struct Duplicate<'h> {
    keep: &'h Held,
    file: &'h Held,
    /// Why the file is kept, more exactly than the trash can say.
    reason: RefCell<Option<Reason>>,
}

impl Duplicate<'_> {
    fn note(&self, result: Result<(), Reason>) -> Result<(), ringwalk_delete::Reason> {
        result.map_err(|reason| {
            *self.reason.borrow_mut() = Some(reason);
            ringwalk_delete::Reason::Replaced
        })
    }
}

impl Candidate for Duplicate<'_> {
    fn look(&self) -> Result<Found, ringwalk_delete::Reason> {
        let found = Found::at(self.file.directory(), self.file.name());
        self.note(self.file.check_name())?;
        found.map_err(|_| ringwalk_delete::Reason::Missing)
    }

    fn check(&self, _: &Found, moved: &Found) -> Result<(), ringwalk_delete::Reason> {
        let is_file =
            (moved.device, moved.inode) == (self.file.version().dev, self.file.version().ino);
        let is_file = if is_file {
            Ok(())
        } else {
            Err(Reason::Replaced)
        };
        self.note(is_file.and_then(|()| check_moved(self.keep, self.file)))
    }
}
