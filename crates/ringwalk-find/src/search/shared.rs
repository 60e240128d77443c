//! What all workers of a search share.

use super::host::Host;
use super::output::{Outputs, Texts};
use crate::accounts::Accounts;
use crate::execute::{Collector, Ran};
use crate::expression::Command;
use crate::format::Colors;
use crate::mounts::{FileSystems, MountPoints};
use crate::plan::Plan;
use ringwalk::ordered::{Line, Ordered, Place};
use ringwalk::{Errno, Error, Identity, Operation};
use ringwalk_gnu::{quote, reason};
use std::collections::HashSet;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// Results on their way into order, whoever writes them then.
pub(crate) trait InOrder: Sync {
    /// The place of starting points.
    fn roots(&self) -> &Place;
    /// See [`Ordered::add_batch`].
    fn add_batch(&self, place: &Place, index: u32, line: Line<Texts>) -> Vec<Place>;
    /// See [`Ordered::close`].
    fn close(&self, place: &Place, last: Option<Texts>);
}

impl<C: FnMut(Texts) + Send> InOrder for Ordered<Texts, C> {
    fn roots(&self) -> &Place {
        self.roots()
    }

    fn add_batch(&self, place: &Place, index: u32, line: Line<Texts>) -> Vec<Place> {
        self.add_batch(place, index, line)
    }

    fn close(&self, place: &Place, last: Option<Texts>) {
        self.close(place, last);
    }
}

/// What all workers share.
pub(crate) struct Shared<'a> {
    pub(crate) command: &'a Command,
    pub(crate) plan: &'a Plan<'a>,
    pub(crate) host: &'a dyn Host,
    pub(crate) outputs: &'a Outputs<'a>,
    /// Where results go that are put into order.
    pub(crate) line: Option<&'a dyn InOrder>,
    /// Those of the terminal that is printed to.
    pub(crate) colors: Option<&'a Colors>,
    pub(crate) accounts: &'a Accounts,
    pub(crate) file_systems: &'a FileSystems,
    /// Read when a type is asked for; none if the table of mounts cannot be read.
    pub(crate) mount_points: &'a OnceLock<Option<MountPoints>>,
    /// Commands for many files, by the number of their node.
    pub(crate) collectors: &'a [Collector],
    pub(crate) progress: &'a Progress,
}

/// How it goes.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    /// Nothing more is to be done.
    pub(crate) stop: AtomicBool,
    /// Something went wrong: the exit status says so.
    pub(crate) failed: AtomicBool,
    /// Files met, for `-unique`.
    pub(crate) met: Mutex<HashSet<Identity>>,
    /// Calls for metadata made by tests and actions.
    pub(crate) stats: AtomicU64,
    /// How often each node was evaluated and was true.
    pub(crate) counts: Mutex<Vec<(u64, u64)>>,
}

impl Progress {
    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    pub(crate) fn fail(&self) {
        self.failed.store(true, Ordering::Relaxed);
    }

    /// Whether a file is met for the first time.
    pub(crate) fn meets(&self, identity: Identity) -> bool {
        lock(&self.met).insert(identity)
    }

    /// Adds what one worker has counted.
    pub(crate) fn add_counts(&self, counts: &[(u64, u64)]) {
        let mut all = lock(&self.counts);
        let length = all.len().max(counts.len());
        all.resize(length, (0, 0));
        for (sum, count) in all.iter_mut().zip(counts) {
            sum.0 += count.0;
            sum.1 += count.1;
        }
    }
}

impl Shared<'_> {
    /// Whether there is no use in going on: `-quit`, or nobody reads what is printed. A full disk is no reason where
    /// something else is done than printing, as with `-print -delete`: GNU find does that to the end too.
    pub(crate) fn is_over(&self) -> bool {
        let outputs = self.outputs;
        let unheard = || outputs.is_closed() && (outputs.is_unread() || !self.plan.acts);
        self.progress.is_stopped() || unheard()
    }

    /// The name of the account with this number. That it could not be looked up is told, and counts as there being
    /// none.
    pub(crate) fn user_name(&self, uid: u32) -> Option<&[u8]> {
        self.found("user", uid, self.accounts.user_name(uid))
    }

    /// The name of the group with this number, as [`user_name`](Self::user_name).
    pub(crate) fn group_name(&self, gid: u32) -> Option<&[u8]> {
        self.found("group", gid, self.accounts.group_name(gid))
    }

    fn found<'n>(
        &self,
        what: &str,
        number: u32,
        name: Result<Option<&'n [u8]>, Errno>,
    ) -> Option<&'n [u8]> {
        name.unwrap_or_else(|errno| {
            let reason = reason(&errno.into());
            self.fail(&format!(
                "cannot look up the {what} with number {number}: {reason}"
            ));
            None
        })
    }

    /// Tells of something that could not be read.
    pub(crate) fn tell_error(&self, error: &Error) {
        if error.is_vanished() && self.command.options.ignore_readdir_race {
            return;
        }
        let path = error.path().as_os_str().as_bytes();
        if error.operation() == Operation::Loop {
            let above = error.loops_with().map(|above| above.as_os_str().as_bytes());
            self.tell_loop(path, above.unwrap_or_default());
        } else {
            self.tell_failure(path, error.errno());
        }
    }

    /// Tells of a directory that is one above it once more.
    pub(crate) fn tell_loop(&self, path: &[u8], above: &[u8]) {
        self.fail(&format!(
            "File system loop detected; {} is part of the same file system loop as {}.",
            quote::value(path),
            quote::value(above)
        ));
    }

    /// Tells of something that went wrong with a file.
    pub(crate) fn tell_failure(&self, path: &[u8], errno: Errno) {
        self.fail(&told(path, &errno.into()));
    }

    /// Tells of a failure.
    pub(crate) fn fail(&self, message: &str) {
        self.progress.fail();
        self.host.tell(message);
    }

    /// Tells of what running a command came to; whether that was success.
    pub(crate) fn tell_ran(&self, ran: &Ran) -> bool {
        for message in &ran.messages {
            self.host.tell(message);
        }
        if ran.find_fails {
            self.progress.fail();
        }
        if ran.ends {
            self.progress.stop.store(true, Ordering::Relaxed);
        }
        ran.succeeded
    }
}

/// What went wrong with a file: ‘name’: reason.
pub(super) fn told(name: &[u8], error: &io::Error) -> String {
    format!("{}: {}", quote::value(name), reason(error))
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
