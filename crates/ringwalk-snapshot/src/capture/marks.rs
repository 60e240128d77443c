//! What a later update needs to know of the time before reading began.

use super::file_systems::{open_directory, uuid_text};
use crate::info::Transaction;
use ringwalk_sys::btrfs::{start_commit, wait_for_commit};
use ringwalk_sys::{file_system_uuid, magic};
use rustix::io::{Errno, read};
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Marks of the time before reading began.
#[derive(Debug, Default)]
pub(super) struct Marks {
    /// A timer that is cancelled when the clock is set.
    clock: Option<OwnedFd>,
    pub(super) transactions: Vec<Transaction>,
}

impl Marks {
    /// Begins to watch the clock, and commits what waits in memory on the btrfs file systems of the
    /// roots. What cannot be found out is missing: an update then reads everything.
    pub(super) fn set(roots: &[PathBuf]) -> Self {
        let mut transactions: Vec<Transaction> = Vec::new();
        for root in roots {
            let Some(found) = last_transaction(root) else {
                continue;
            };
            if !transactions.iter().any(|known| known.uuid == found.uuid) {
                transactions.push(found);
            }
        }
        Self {
            clock: watch_clock().ok(),
            transactions,
        }
    }

    /// Returns whether the clock was set since; `None` if that is not known.
    pub(super) fn clock_was_set(&self) -> Option<bool> {
        let mut expirations = [0; 8];
        match read(self.clock.as_ref()?, &mut expirations) {
            Err(Errno::CANCELED) => Some(true),
            Err(Errno::AGAIN) => Some(false),
            _ => None,
        }
    }
}

/// Sets a timer to a time that never comes. Reading it fails with `ECANCELED` after the clock has
/// been set (`timerfd_create(2)`, `TFD_TIMER_CANCEL_ON_SET`), and with `EAGAIN` before.
fn watch_clock() -> Result<OwnedFd, Errno> {
    let flags = TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK;
    let timer = timerfd_create(TimerfdClockId::Realtime, flags)?;
    let zero = Timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    let never = Itimerspec {
        it_interval: zero,
        it_value: Timespec {
            // Later times overflow the kernel's nanoseconds in 64 bits.
            tv_sec: i64::MAX / 1_000_000_000,
            tv_nsec: 0,
        },
    };
    let flags = TimerfdTimerFlags::ABSTIME | TimerfdTimerFlags::CANCEL_ON_SET;
    timerfd_settime(&timer, flags, &never)?;
    Ok(timer)
}

/// Commits the running transaction of the btrfs of a root, and returns its number.
fn last_transaction(root: &Path) -> Option<Transaction> {
    let directory = open_directory(root.as_os_str().as_bytes()).ok()?;
    if magic::of(&directory).ok()? != magic::BTRFS {
        return None;
    }
    let uuid = uuid_text(&file_system_uuid(&directory).ok()?)?;
    let transaction = start_commit(&directory).ok()?;
    wait_for_commit(&directory, transaction).ok()?;
    Some(Transaction { uuid, transaction })
}

#[cfg(test)]
mod tests;
