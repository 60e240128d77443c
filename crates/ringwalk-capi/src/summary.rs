//! The end of a walk: its summary as C sees it, and its leftovers.

use crate::abi::RingwalkSummary;
use crate::leftovers::Leftovers;
use ringwalk::{Leftover, SourceChoice, Summary};
use std::ffi::CStr;

/// How a walk has ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) summary: Summary,
    /// `None` if the walk was stopped: some may be missing then.
    pub(crate) leftovers: Option<Leftovers>,
}

impl Ended {
    pub(crate) fn new(summary: Summary, leftovers: Option<&[Leftover]>) -> Self {
        let leftovers = leftovers.map(Leftovers::from);
        Self { summary, leftovers }
    }
}

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
        stopped: (summary.stopped || summary.leftovers > 0).into(),
    }
}

/// Returns the name as a C string, which stays valid.
fn source(name: &str) -> &'static CStr {
    let found = name.parse().map(SourceChoice::as_c_str);
    found.unwrap_or_default()
}

#[cfg(test)]
mod tests;
