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
mod tests {
    use super::*;

    #[test]
    fn every_source_has_its_name() {
        for name in SourceChoice::names() {
            assert_eq!(source(name).to_str(), Ok(name));
        }
        assert_eq!(source("no source"), c"");
    }

    /// The header lists them for people.
    #[test]
    fn the_header_names_every_source() {
        let header = include_str!("../include/ringwalk.h").replace("//", " ");
        let header: Vec<_> = header.split_whitespace().collect();
        let mut names: Vec<_> = SourceChoice::names().map(|n| format!("{n:?}")).collect();
        let last = names.pop().unwrap();
        let sentence = format!("read from: {} or {last}; NULL", names.join(", "));
        assert!(header.join(" ").contains(&sentence), "{sentence}");
    }
}
