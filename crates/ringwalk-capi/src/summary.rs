//! The summary of a walk as C has it.

use crate::abi::RingwalkSummary;
use ringwalk::Summary;
use std::ffi::CStr;

/// What the struct says.
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

/// The name with a NUL, for as long as the program runs.
fn source(name: &str) -> &'static CStr {
    const NAMES: [&CStr; 6] = [c"syscall", c"module", c"ring", c"ext4", c"xfs", c"btrfs"];
    NAMES
        .into_iter()
        .find(|known| known.to_bytes() == name.as_bytes())
        .unwrap_or(c"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_source_has_its_name() {
        for name in ringwalk::SourceChoice::NAMES {
            // `auto` is a choice; what was chosen is told.
            assert_eq!(
                source(name).to_str().unwrap(),
                if name == "auto" { "" } else { name }
            );
        }
    }
}
