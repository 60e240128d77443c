//! The summary of a walk as C sees it.

use crate::abi::RingwalkSummary;
use ringwalk::{SourceChoice, Summary};
use std::ffi::CStr;

/// Returns the struct.
pub(crate) fn view(summary: &Summary) -> RingwalkSummary {
    RingwalkSummary {
        entries: summary.entries,
        directories: summary.directories,
        errors: summary.errors,
        vanished: summary.vanished,
        elapsed: u64::try_from(summary.elapsed.as_nanos()).unwrap_or(u64::MAX),
        source: source(summary.source).as_ptr(),
        workers: u32::try_from(summary.workers).unwrap_or(u32::MAX),
        stopped: summary.stopped.into(),
    }
}

/// Returns the name as a C string, which stays valid.
fn source(name: &str) -> &'static CStr {
    let found = name.parse().map(SourceChoice::as_c_str);
    found.unwrap_or_default()
}

#[cfg(test)]
mod tests;
