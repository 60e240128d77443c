//! The last transactions before reading began, which a later update needs.

use super::file_systems::{open_directory, uuid_text};
use crate::info::Transaction;
use ringwalk_sys::btrfs::{start_commit, wait_for_commit};
use ringwalk_sys::{file_system_uuid, magic};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Commits what waits in memory on the btrfs file systems of the roots, and returns the last
/// transaction of each. What cannot be found out is missing: an update then reads everything.
pub(super) fn committed(roots: &[PathBuf]) -> Vec<Transaction> {
    let mut transactions: Vec<Transaction> = Vec::new();
    for root in roots {
        let Some(found) = last_transaction(root) else {
            continue;
        };
        if !transactions.iter().any(|known| known.uuid == found.uuid) {
            transactions.push(found);
        }
    }
    transactions
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
