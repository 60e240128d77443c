//! A file replaced by a hard link to the file to keep.
//!
//! The two names are exchanged, so a reader of the name always finds a file there. Where the file
//! system cannot exchange names (NFS, FUSE), the file is moved aside first and the link made after
//! that: for some microseconds the name is missing. A plain rename onto the name would leave no
//! gap, but would destroy a file that another program had put there just before.

use super::aside::{displaced, move_aside, path_of, put_back, with_new_name};
use super::held::{Compared, Held, look_at};
use super::reason::Reason;
use ringwalk::Errno;
use ringwalk_delete::is_unsupported;
use rustix::fd::BorrowedFd;
use rustix::fs::{AtFlags, RenameFlags, linkat, renameat_with, unlinkat};

/// Replaces the name of a file that was compared.
pub(super) fn replace(keep: &mut Held, file: &Held) -> Result<(), Reason> {
    keep.check(Compared::All).map_err(Reason::of_keep)?;
    let directory = file.directory();
    let link = with_new_name(|link| {
        linkat(
            keep.directory(),
            keep.name(),
            directory,
            link,
            AtFlags::empty(),
        )
    });
    let link = link.map_err(|errno| match errno {
        Errno::NOENT => Reason::Missing.of_keep(),
        errno => Reason::of("link", errno),
    })?;
    let replaced = with_link(keep, file, &link);
    // Linking and exchanging are changes of the inode, whether they have led to something or not.
    let renewed = keep.renew().map_err(Reason::of_keep);
    replaced.and(renewed)
}

/// Puts a link in the place of the file. Removes the link if that fails.
fn with_link(keep: &mut Held, file: &Held, link: &[u8]) -> Result<(), Reason> {
    let directory = file.directory();
    let ready = check_link(keep, directory, link)
        .map_err(Reason::of_keep)
        .and_then(|()| file.check_name());
    if let Err(reason) = ready {
        return Err(remove_link(keep, directory, link, reason));
    }
    // Nothing may come between the look at the name and this.
    let exchanged = exchange(directory, link, file.name());
    match exchanged {
        Ok(()) => {}
        Err(errno) if is_unsupported(errno) => return without_exchange(keep, file, link),
        Err(errno) => {
            let reason = Reason::of("exchange", errno);
            return Err(remove_link(keep, directory, link, reason));
        }
    }
    let removed = check_exchanged(keep, file, link).and_then(|()| {
        unlinkat(directory, link, AtFlags::empty()).map_err(|e| Reason::of("remove", e))
    });
    removed.map_err(|reason| exchange_back(keep, file, link, reason))
}

/// Fails if the link is not one to the file to keep: its name may have got another file.
fn check_link(keep: &mut Held, directory: BorrowedFd<'_>, link: &[u8]) -> Result<(), Reason> {
    let found = look_at(directory, link).map_err(|errno| Reason::of("read", errno))?;
    keep.check_is(&found)?;
    keep.renew()?;
    keep.check_lease()
}

/// Fails if the temporary name does not have the file that was compared, or if one of the two files
/// has changed.
///
/// A program that waits to write to the file to keep is no reason: it may have found that file
/// under the exchanged name. After an exchange back it would write to a file that it has not named.
fn check_exchanged(keep: &Held, file: &Held, aside: &[u8]) -> Result<(), Reason> {
    let moved = look_at(file.directory(), aside).map_err(|errno| Reason::of("read", errno))?;
    file.check_is(&moved)?;
    let kept = keep.check_version(Compared::Contents);
    kept.map_err(Reason::of_keep)?;
    // The last look: a program that opened the file by its name is seen here.
    file.check(Compared::Contents)
}

/// Undoes an exchange, and removes the link. Returns the reason for the report.
fn exchange_back(keep: &Held, file: &Held, aside: &[u8], reason: Reason) -> Reason {
    let (directory, name) = (file.directory(), file.name());
    match exchange(directory, aside, name) {
        // Somebody has removed the name in the meantime.
        Err(Errno::NOENT) => return put_back(directory, aside, name, reason),
        Err(_) => return displaced(directory, aside),
        Ok(()) => {}
    }
    match look_at(directory, aside) {
        Ok(found) if keep.check_is(&found).is_ok() => remove_link(keep, directory, aside, reason),
        // Another program replaced the link by a file of its own, which is newer than the one that
        // was moved aside.
        // If this exchange fails, both files stay, and the report gives the temporary name.
        _ => {
            let _ = exchange(directory, aside, name);
            displaced(directory, aside)
        }
    }
}

/// Replaces the file where names cannot be exchanged.
fn without_exchange(keep: &Held, file: &Held, link: &[u8]) -> Result<(), Reason> {
    let (directory, name) = (file.directory(), file.name());
    let aside = move_aside(file, || {
        let kept = keep.check(Compared::Contents);
        kept.and_then(|()| keep.check_name())
            .map_err(Reason::of_keep)?;
        file.check(Compared::Contents)
    });
    let aside = aside.map_err(|reason| remove_link(keep, directory, link, reason))?;
    // This fails if the name is taken.
    let linked = linkat(directory, link, directory, name, AtFlags::empty());
    let linked = linked.map_err(|errno| match errno {
        Errno::EXIST => Reason::Replaced,
        errno => Reason::of("link", errno),
    });
    let linked = linked.and_then(|()| {
        unlinkat(directory, aside.as_slice(), AtFlags::empty())
            .map_err(|errno| Reason::of("remove", errno))
    });
    let linked = linked.map_err(|reason| match reason {
        // The file that was compared: its contents are in the file to keep, but nobody asked for
        // its removal under these circumstances.
        Reason::Replaced => displaced(directory, &aside),
        reason => put_back(directory, &aside, name, reason),
    });
    let removed = unlink(keep, directory, link);
    linked.and(removed)
}

fn exchange(directory: BorrowedFd<'_>, one: &[u8], other: &[u8]) -> Result<(), Errno> {
    renameat_with(directory, one, directory, other, RenameFlags::EXCHANGE)
}

/// Removes a temporary name. Returns the reason for the report.
fn remove_link(keep: &Held, directory: BorrowedFd<'_>, link: &[u8], reason: Reason) -> Reason {
    unlink(keep, directory, link).err().unwrap_or(reason)
}

/// Removes a temporary name, if it can have the file to keep.
fn unlink(keep: &Held, directory: BorrowedFd<'_>, link: &[u8]) -> Result<(), Reason> {
    let removed = look_at(directory, link).and_then(|found| {
        if keep.may_be(&found) {
            unlinkat(directory, link, AtFlags::empty())
        } else {
            Ok(())
        }
    });
    match removed {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(_) => Err(Reason::LinkLeft(path_of(directory, link))),
    }
}
