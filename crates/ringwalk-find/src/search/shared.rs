//! The state that all workers of a search share.

use super::host::Host;
use super::output::{Outputs, Texts};
use crate::accounts::Accounts;
use crate::execute::{Collector, Ran};
use crate::expression::Command;
use crate::format::Colors;
use crate::mounts::{FileSystems, MountPoints};
use crate::plan::Plan;
use ringwalk::identity::TrustOfDevices;
use ringwalk::ordered::{Line, Ordered, Place};
use ringwalk::{Errno, Error, Identity, Operation};
use ringwalk_gnu::{quote, reason};
use ringwalk_sys::sync::lock;
use std::collections::HashSet;
use std::io;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt as _;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock};

/// Results that are put into order, independent of the type of their receiver.
pub(crate) trait InOrder: Sync {
    /// Returns the place of the starting points.
    fn roots(&self) -> &Place;
    /// See [`Ordered::add_batch`].
    fn add_batch(&self, place: &Place, numbers: Range<u64>, line: Line<Texts>) -> Vec<Place>;
    /// See [`Ordered::close`].
    fn close(&self, place: &Place, last: Option<Texts>);
}

impl<C: FnMut(Texts) + Send> InOrder for Ordered<Texts, C> {
    fn roots(&self) -> &Place {
        self.roots()
    }

    fn add_batch(&self, place: &Place, numbers: Range<u64>, line: Line<Texts>) -> Vec<Place> {
        self.add_batch(place, numbers, line)
    }

    fn close(&self, place: &Place, last: Option<Texts>) {
        self.close(place, last);
    }
}

/// The state that all workers share.
pub(crate) struct Shared<'a> {
    pub(crate) command: &'a Command,
    pub(crate) plan: &'a Plan<'a>,
    pub(crate) host: &'a dyn Host,
    pub(crate) outputs: &'a Outputs<'a>,
    /// Receives the results that are put into order.
    pub(crate) line: Option<&'a dyn InOrder>,
    /// The colours of the terminal that is printed to.
    pub(crate) colors: Option<&'a Colors>,
    pub(crate) accounts: &'a Accounts,
    pub(crate) file_systems: &'a FileSystems,
    /// Read when a type is asked for. `None` if the table of mounts cannot be read.
    pub(crate) mount_points: &'a OnceLock<Option<MountPoints>>,
    /// Commands for many files, by the number of their step.
    pub(crate) collectors: &'a [Collector],
    pub(crate) progress: &'a Progress,
}

/// The name of an account could not be looked up, which has been reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LookupFailed;

/// The progress of a search.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    /// The search ends: nothing more is evaluated.
    stopped: AtomicBool,
    /// Something failed, so the exit status is 1.
    pub(crate) failed: AtomicBool,
    /// The files seen so far, for `-unique`.
    pub(crate) seen: Mutex<HashSet<Identity>>,
    /// On which devices device and inode number identify a file.
    pub(crate) trust: TrustOfDevices,
    /// The number of calls for metadata that tests and actions made.
    pub(crate) stats: AtomicU64,
    /// How often each step was evaluated and was true.
    pub(crate) counts: Mutex<Vec<(u64, u64)>>,
}

impl Progress {
    /// Ends the search.
    pub(crate) fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    pub(crate) fn fail(&self) {
        self.failed.store(true, Ordering::Relaxed);
    }

    /// Returns true if a file is seen for the first time.
    pub(crate) fn is_new(&self, identity: Identity) -> bool {
        lock(&self.seen).insert(identity)
    }

    /// Adds the counts of one worker.
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
    /// Returns true if there is no use in going on: after `-quit`, if the host has been stopped, or
    /// if nobody reads the output. A
    /// full disk does not end a search that does more than print, such as `-print -delete`: GNU
    /// find goes on too.
    pub(crate) fn is_over(&self) -> bool {
        let outputs = self.outputs;
        let unheard = || outputs.is_closed() && (outputs.is_unread() || !self.plan.acts);
        self.progress.is_stopped() || self.host.is_stopped() || unheard()
    }

    /// Returns the name of the user with this number. Reports a failed lookup.
    pub(crate) fn look_up_user(&self, uid: u32) -> Result<Option<&[u8]>, LookupFailed> {
        self.looked_up("user", uid, self.accounts.user_name(uid))
    }

    /// Returns the name of the group with this number. Reports a failed lookup.
    pub(crate) fn look_up_group(&self, gid: u32) -> Result<Option<&[u8]>, LookupFailed> {
        self.looked_up("group", gid, self.accounts.group_name(gid))
    }

    fn looked_up<'n>(
        &self,
        what: &str,
        number: u32,
        name: Result<Option<&'n [u8]>, Errno>,
    ) -> Result<Option<&'n [u8]>, LookupFailed> {
        name.map_err(|errno| {
            let reason = reason(&errno.into());
            self.fail(&format!(
                "cannot look up the {what} with number {number}: {reason}"
            ));
            LookupFailed
        })
    }

    /// Reports a file that could not be read.
    pub(crate) fn report_error(&self, error: &Error) {
        if error.is_vanished() && self.command.options.ignore_readdir_race {
            return;
        }
        let path = error.path().as_os_str().as_bytes();
        if error.operation() == Operation::Loop {
            self.report_loop(path);
        } else {
            self.report_failure(path, error.errno());
        }
    }

    /// Reports a directory that contains itself through a link.
    pub(crate) fn report_loop(&self, path: &[u8]) {
        self.fail(&format!(
            "File system loop detected; the following directory is part of the cycle: {}",
            quote::value(path)
        ));
    }

    /// Reports a failure with a file.
    pub(crate) fn report_failure(&self, path: &[u8], errno: Errno) {
        self.fail(&failure_of(path, &errno.into()));
    }

    /// Reports a failure.
    pub(crate) fn fail(&self, message: &str) {
        self.progress.fail();
        self.host.report(message);
    }

    /// Reports the messages of a command that ran. Returns true if it succeeded.
    pub(crate) fn report_ran(&self, ran: &Ran) -> bool {
        for message in &ran.messages {
            self.host.report(message);
        }
        if ran.find_fails {
            self.progress.fail();
        }
        if ran.ends {
            self.progress.stop();
        }
        ran.succeeded
    }
}

/// Returns the message about a failure with a file: ‘name’: reason.
pub(super) fn failure_of(name: &[u8], error: &io::Error) -> String {
    format!("{}: {}", quote::value(name), reason(error))
}
