//! Deletion: the loop over entries, without recursion.
//!
//! Each directory that is being deleted is a frame: its entries that remain, and whether one of
//! them was kept. The chain has its descriptor.
//!
//! For an entry that is no directory, right before its deletion:
//!
//! 1. `statx` of the name in the open directory, without following links.
//! 2. Comparison with what was shown.
//! 3. `unlinkat` of the name in the same open directory.
//!
//! Between 1 and 3, some microseconds, another process that may write in the directory can put
//! another file under the name. Linux has no call that removes a name only if it is a certain file,
//! so this window cannot be closed. In this time only this one name in this one directory can be
//! affected: the descriptor belongs to a directory that was shown, whatever was renamed meanwhile.
//! `unlinkat` removes a symbolic link itself, and never its target. A directory is removed only if
//! it is empty. So nothing outside the directories that were shown is touched. A process that moves
//! a directory away while it is being emptied moves the work with it: the entries are still
//! compared one by one, and they are the entries that the user has selected.

use super::chain::{Chain, Lost};
use super::log::{Line, Log, LogError};
use super::reason::Reason;
use super::root::Root;
use super::shown::{Doomed, Observer, Outcome, Selection, Shown};
use rustix::fs::{AtFlags, unlinkat};
use rustix::io::Errno;

/// Deletes entries that were shown. See the documentation of the module for the rules.
///
/// # Errors
///
/// If the log cannot be written. Entries that were reported to the observer by then are deleted,
/// and no others.
pub fn delete<S: Shown>(
    root: &Root,
    selections: &[Selection<S::Id>],
    shown: &S,
    log: &Log,
    observer: &mut dyn Observer<S::Id>,
) -> Result<Outcome, LogError> {
    announce(root, selections, log, "delete")?;
    let mut run = Run {
        report: Report {
            log,
            observer,
            outcome: Outcome::default(),
        },
        chain: Chain::new(root),
        shown,
        frames: Vec::new(),
        base: 0,
    };
    for selection in selections {
        run.selection(selection)?;
        if run.report.outcome.is_cancelled {
            break;
        }
    }
    log.sync()?;
    Ok(run.report.outcome)
}

/// Writes a line for each selected entry, before anything is done.
pub(super) fn announce<Id: Copy>(
    root: &Root,
    selections: &[Selection<Id>],
    log: &Log,
    action: &'static str,
) -> Result<(), LogError> {
    for selection in selections {
        let mut path = root.path().as_os_str().as_encoded_bytes().to_vec();
        let names = selection.parents.iter().map(|parent| &parent.name);
        for name in names.chain([&selection.entry.name]) {
            if path.last() != Some(&b'/') {
                path.push(b'/');
            }
            path.extend_from_slice(name);
        }
        log.append(&Line::new("begin", &path, selection.entry.identity).action(action))?;
    }
    log.sync()
}

/// Goes from the root to the directory of a selected entry.
pub(super) fn go_to<Id>(chain: &mut Chain<'_>, selection: &Selection<Id>) -> Result<(), Reason> {
    chain.leave_all();
    for parent in &selection.parents {
        let entered = chain.enter(&parent.name, parent.identity);
        entered
            .unwrap_or_else(|lost| Err(lost.reason))
            .map_err(Reason::below)?;
    }
    Ok(())
}

/// Where results go.
pub(super) struct Report<'r, Id> {
    pub(super) log: &'r Log,
    pub(super) observer: &'r mut dyn Observer<Id>,
    pub(super) outcome: Outcome,
}

impl<Id: Copy> Report<'_, Id> {
    /// Reports an entry that is still there.
    pub(super) fn keep(
        &mut self,
        path: &[u8],
        entry: &Doomed<Id>,
        reason: Reason,
    ) -> Result<(), LogError> {
        self.outcome.kept += 1;
        self.observer.kept(entry.id, &reason);
        self.log
            .append(&Line::new("kept", path, entry.identity).reason(&reason))
    }

    /// Asks whether to stop, and notes the answer.
    pub(super) fn is_cancelled(&mut self) -> bool {
        self.outcome.is_cancelled |= self.observer.cancelled();
        self.outcome.is_cancelled
    }
}

/// A directory that is being deleted.
struct Frame<Id> {
    entry: Doomed<Id>,
    remaining: std::vec::IntoIter<Doomed<Id>>,
    holds_kept: bool,
}

struct Run<'r, S: Shown> {
    report: Report<'r, S::Id>,
    chain: Chain<'r>,
    shown: &'r S,
    /// The directories that are being deleted, the selected one first.
    frames: Vec<Frame<S::Id>>,
    /// The level of the first frame in the chain.
    base: usize,
}

impl<S: Shown> Run<'_, S> {
    /// Deletes a selected entry, and what was shown below it.
    fn selection(&mut self, selection: &Selection<S::Id>) -> Result<(), LogError> {
        if self.report.is_cancelled() {
            return Ok(());
        }
        if let Err(reason) = go_to(&mut self.chain, selection) {
            let path = self.chain.path_of(&selection.entry.name);
            return self.report.keep(&path, &selection.entry, reason);
        }
        self.frames.clear();
        self.base = self.chain.depth();
        self.begin(selection.entry.clone())?;
        while let Some(frame) = self.frames.last_mut() {
            if self.report.is_cancelled() {
                break;
            }
            match frame.remaining.next() {
                Some(entry) => self.begin(entry)?,
                None => self.finish()?,
            }
        }
        Ok(())
    }

    /// Deletes a file, or goes into a directory.
    fn begin(&mut self, entry: Doomed<S::Id>) -> Result<(), LogError> {
        if !entry.is_directory {
            return self.remove(&entry, AtFlags::empty());
        }
        match self.chain.enter(&entry.name, entry.identity) {
            Err(lost) => self.lose(&lost, &entry),
            Ok(Err(reason)) => self.keep(&entry, reason),
            Ok(Ok(())) => {
                let remaining = self.shown.children(entry.id).into_iter();
                self.frames.push(Frame {
                    entry,
                    remaining,
                    holds_kept: false,
                });
                Ok(())
            }
        }
    }

    /// Leaves a directory after all its entries were looked at, and removes it if it can be empty.
    fn finish(&mut self) -> Result<(), LogError> {
        let Some(frame) = self.frames.pop() else {
            return Ok(());
        };
        self.chain.leave();
        if frame.holds_kept {
            self.keep(&frame.entry, Reason::HoldsKept)
        } else {
            self.remove(&frame.entry, AtFlags::REMOVEDIR)
        }
    }

    /// Compares a name in the current directory with what was shown, and removes it.
    fn remove(&mut self, entry: &Doomed<S::Id>, flags: AtFlags) -> Result<(), LogError> {
        if self.report.log.is(entry.identity) {
            return self.keep(entry, Reason::Log);
        }
        let root = self.chain.root();
        let directory = match self.chain.current() {
            Ok(directory) => directory,
            Err(lost) => return self.lose(&lost, entry),
        };
        // Nothing may come between these two calls: see the head of this file.
        let looked = root.look(directory, &entry.name, entry.identity, entry.is_directory);
        let removed = looked.and_then(|found| {
            let removed = unlinkat(directory, entry.name.as_slice(), flags);
            removed.map(|()| found).map_err(|errno| match errno {
                Errno::NOTEMPTY | Errno::EXIST => Reason::NotShown,
                // Something was mounted there a moment ago, or before Linux 5.8.
                Errno::BUSY => Reason::MountPoint,
                errno => Reason::of("remove", errno),
            })
        });
        match removed {
            Err(reason) => self.keep(entry, reason),
            Ok(found) => {
                self.report.outcome.deleted += 1;
                self.report.outcome.freed += found.freed();
                self.report.observer.deleted(entry.id, found.freed());
                let path = self.chain.path_of(&entry.name);
                let line = Line::new("deleted", &path, entry.identity).size(found.size);
                self.report.log.append(&line)
            }
        }
    }

    /// Reports an entry of the current directory as kept.
    fn keep(&mut self, entry: &Doomed<S::Id>, reason: Reason) -> Result<(), LogError> {
        if let Some(frame) = self.frames.last_mut() {
            frame.holds_kept = true;
        }
        let path = self.chain.path_of(&entry.name);
        self.report.keep(&path, entry, reason)
    }

    /// Gives up the directories from a level on, which were moved or replaced while the deletion
    /// was below them, and the entry that came next.
    fn lose(&mut self, lost: &Lost, entry: &Doomed<S::Id>) -> Result<(), LogError> {
        self.keep(entry, Reason::PathChanged)?;
        while self.base + self.frames.len() > lost.level
            && let Some(frame) = self.frames.pop()
        {
            self.chain.leave();
            let is_lost_one = self.base + self.frames.len() == lost.level;
            let reason = if is_lost_one {
                lost.reason
            } else {
                Reason::PathChanged
            };
            self.keep(&frame.entry, reason)?;
        }
        Ok(())
    }
}
