//! Running a command for as many files at once as fit: `-exec ... {} +`, `-execdir ... {} +`.
//!
//! ```text
//!  worker 0 ── push ──┐                                     one at a time, in the order
//!  worker 1 ── push ──┼─> pending (a lock) ── full ──────>  in which they were filled
//!  worker n ── push ──┘      │                                 running (a lock)
//!                            └── a new, empty one is put in its place
//! ```
//!
//! Whoever finds `pending` full takes it out and runs it. `running` is locked before `pending` is let go, so that full ones
//! cannot overtake each other; other workers collect on meanwhile, until theirs is full too and waits. So there are at most two.
//!
//! With `-execdir` files of different directories cannot be in one command: each worker has a [`Batch`] of its own.

use super::launch::{launch, of_many, too_long};
use super::limit::Limit;
use super::place::{Place, argument};
use super::template::no_directory;
use super::{CommandTemplate, Console, Ran};
use ringwalk_sys::{Arguments, Spawn};
use rustix::io::Errno;
use std::mem;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Collects files and runs a command for as many at once as fit. For use by all workers at once.
#[derive(Debug)]
pub struct Collector {
    /// The command and what precedes the files.
    command: Arguments,
    limit: Limit,
    pending: Mutex<Batch>,
    /// Held while a command runs.
    running: Mutex<()>,
}

/// Files that a command has not been run for yet, of one directory and one worker: `-execdir ... {} +`.
#[derive(Clone, Debug)]
pub struct Batch(Arguments);

impl Collector {
    /// For a command whose [`many`](CommandTemplate::many) is set.
    pub fn new(template: &CommandTemplate) -> Self {
        Self::with_limit(template, Limit::here())
    }

    fn with_limit(template: &CommandTemplate, limit: Limit) -> Self {
        let mut command = Arguments::new();
        for word in &template.words {
            command.push(word.as_bytes());
        }
        Self {
            pending: Mutex::new(Batch(command.clone())),
            command,
            limit,
            running: Mutex::new(()),
        }
    }

    /// `-exec`: adds a file by its path, and if it does not fit any more, first runs the command for those there are.
    ///
    /// None if nothing was run and nothing went wrong; the action is true for the file in any case.
    pub fn push(&self, path: &[u8], console: &mut dyn Console) -> Option<Ran> {
        let Some(cost) = self.cost(path) else {
            return Some(unfit(path));
        };
        let mut pending = locked(&self.pending);
        if self.fits(&pending, cost) {
            pending.0.push(path);
            return None;
        }
        let full = mem::replace(&mut *pending, self.batch());
        pending.0.push(path);
        let running = locked(&self.running);
        drop(pending);
        Some(self.run(&full, None, running, console))
    }

    /// `-exec`: runs the command for the files that are left, if any. To be called when the search ends, however it
    /// ends, after the last [`push`](Self::push) has returned.
    pub fn finish(&self, console: &mut dyn Console) -> Option<Ran> {
        let mut pending = locked(&self.pending);
        if self.is_empty(&pending) {
            return None;
        }
        let rest = mem::replace(&mut *pending, self.batch());
        let running = locked(&self.running);
        drop(pending);
        Some(self.run(&rest, None, running, console))
    }

    /// `-execdir`: an empty batch, for one worker.
    pub fn batch(&self) -> Batch {
        Batch(self.command.clone())
    }

    /// `-execdir`: adds a file to a worker's batch by its name in the open directory `dir`, which all files of the batch are
    /// in. If it does not fit any more, the command is first run for those there are.
    pub fn add(
        &self,
        batch: &mut Batch,
        dir: BorrowedFd<'_>,
        name: &[u8],
        console: &mut dyn Console,
    ) -> Option<Ran> {
        let argument = argument(name);
        let Some(cost) = self.cost(&argument) else {
            return Some(unfit(&argument));
        };
        let ran = if self.fits(batch, cost) {
            None
        } else {
            self.flush(batch, dir, console)
        };
        batch.0.push(&argument);
        ran
    }

    /// `-execdir`: runs the command in `dir` for the files of a worker's batch, if any, which is empty then. To be called
    /// when there are no more files of that directory.
    pub fn flush(
        &self,
        batch: &mut Batch,
        dir: BorrowedFd<'_>,
        console: &mut dyn Console,
    ) -> Option<Ran> {
        if self.is_empty(batch) {
            return None;
        }
        let ran = self.run(batch, Some(dir), locked(&self.running), console);
        batch.0.truncate(self.command.len());
        Some(ran)
    }

    /// `-execdir`: runs the command for a starting point, which GNU find never puts together with another file, in the
    /// directory that is found from its path.
    pub fn run_at_start(&self, path: &[u8], console: &mut dyn Console) -> Ran {
        let place = Place::of(path);
        if self.cost(&place.argument).is_none() {
            return unfit(path);
        }
        let dir = match place.open() {
            Ok(dir) => dir,
            Err(errno) => return no_directory(path, errno),
        };
        let mut batch = self.batch();
        batch.0.push(&place.argument);
        let dir = dir.as_ref().map(AsFd::as_fd);
        self.run(&batch, dir, locked(&self.running), console)
    }

    /// What an argument takes of the room; none if it does not fit though it were alone.
    fn cost(&self, argument: &[u8]) -> Option<usize> {
        let cost = self.limit.cost(argument)?;
        (self.command.size() + cost <= self.limit.all).then_some(cost)
    }

    fn fits(&self, batch: &Batch, cost: usize) -> bool {
        batch.0.size() + cost <= self.limit.all
    }

    fn is_empty(&self, batch: &Batch) -> bool {
        batch.0.len() == self.command.len()
    }

    /// Runs the command for all files of a batch.
    fn run(
        &self,
        batch: &Batch,
        directory: Option<BorrowedFd<'_>>,
        running: MutexGuard<'_, ()>,
        console: &mut dyn Console,
    ) -> Ran {
        console.flush();
        let ran = self.run_parts(&batch.0, directory, console);
        drop(running);
        ran
    }

    /// Once for all, or where the kernel finds that too much after all, for halves: as deep as the logarithm of the files.
    fn run_parts(
        &self,
        arguments: &Arguments,
        directory: Option<BorrowedFd<'_>>,
        console: &mut dyn Console,
    ) -> Ran {
        let spawn = Spawn {
            arguments,
            directory,
            null_input: false,
        };
        let how = launch(spawn, console);
        if how != Err(Errno::TOOBIG) {
            return of_many(arguments, how);
        }
        let Some([first, second]) = self.halves(arguments) else {
            let file = arguments.iter().last().unwrap_or_default();
            return unfit(file.to_bytes());
        };
        let mut ran = self.run_parts(&first, directory, console);
        if !ran.ends {
            ran.add(self.run_parts(&second, directory, console));
        }
        ran
    }

    /// Two commands for half of the files each; none for one file.
    fn halves(&self, arguments: &Arguments) -> Option<[Arguments; 2]> {
        let (begin, end) = (self.command.len(), arguments.len());
        if end - begin < 2 {
            return None;
        }
        let middle = begin + (end - begin) / 2;
        Some([begin..middle, middle..end].map(|range| {
            let mut half = self.command.clone();
            half.extend(arguments, range);
            half
        }))
    }
}

fn unfit(path: &[u8]) -> Ran {
    let what = "cannot fit single argument within argument list size limit";
    too_long(what, path, true)
}

/// A worker that has panicked leaves nothing half done behind these locks.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
