//! The message about a path of `--under` that a snapshot does not have.

use crate::quote::{quoted, quoted_bytes};
use ringwalk_snapshot::Info;
use std::ffi::OsStr;
use std::fmt::Write;

/// Roots in a message.
const SHOWN_ROOTS: usize = 3;

/// Returns the message about a path that a snapshot does not have.
pub(super) fn message(path: &OsStr, snapshot: &OsStr, info: &Info) -> String {
    let mut out = format!("{} is not in {}", quoted(path), quoted(snapshot));
    for (at, root) in info.roots.iter().take(SHOWN_ROOTS).enumerate() {
        let before = if at == 0 { ", a snapshot of " } else { ", " };
        // Writing to a string cannot fail.
        let _ = write!(out, "{before}{}", quoted_bytes(&root.path.0));
    }
    if info.roots.len() > SHOWN_ROOTS {
        out.push_str(", ...");
    }
    out
}

#[cfg(test)]
mod tests;
