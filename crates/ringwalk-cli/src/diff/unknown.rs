//! What the snapshots do not know. An answer that may not be complete must not look like one that
//! is.

use crate::console;
use crate::quote::{quoted, quoted_bytes};
use ringwalk::Errno;
use ringwalk_answers::diff::{Diff, Unread, Which};
use std::ffi::OsString;

/// Messages about single files.
const MOST: usize = 10;

/// Reports what is not known. Returns true if the answer is not certain. `names` are the names of
/// the files.
pub(super) fn report(diff: &Diff, names: [&OsString; 2]) -> bool {
    if diff.is_certain() {
        return false;
    }
    for unread in diff.unread.iter().take(MOST) {
        let name = quoted(names[unread.which as usize]);
        let path = diff.absolute(unread.root, &unread.path);
        console::error(format_args!(
            "{}: in {name}, {}",
            quoted_bytes(&path),
            reason(unread)
        ));
    }
    let more = diff.unread.len().saturating_sub(MOST);
    if more > 0 {
        console::error(format_args!("... and {more} more; --format json lists all"));
    }
    for (which, info) in [(Which::Old, &diff.old), (Which::New, &diff.new)] {
        if !info.verdict.complete {
            let errors = info.verdict.errors;
            let plural = if errors == 1 { "" } else { "s" };
            console::error(format_args!(
                "{} is incomplete: {errors} error{plural}",
                quoted(names[which as usize])
            ));
        }
    }
    if diff.unknown > 0 {
        let plural = if diff.unknown == 1 { "" } else { "s" };
        console::error(format_args!(
            "{} path{plural} below unread directories cannot be compared and are not listed",
            diff.unknown
        ));
    }
    true
}

fn reason(unread: &Unread) -> String {
    match (unread.errno, &unread.reason[..]) {
        (Some(errno), operation) => {
            let what = match operation {
                "open" | "read" => "this directory could not be read",
                "readlink" => "the target of this link could not be read",
                "xattr" => "its extended attributes could not be read",
                _ => "its metadata could not be read",
            };
            let reason = console::reason(&Errno::from_raw_os_error(errno).into());
            format!("{what}: {reason}")
        }
        (None, reason) => format!("it was left out ({reason})"),
    }
}
