//! The path of `--under` in a snapshot.

use super::ReportArgs;
use crate::quote::{quoted, quoted_bytes};
use crate::status::{Ended, failed, trouble};
use ringwalk_snapshot::cluster::is_live;
use ringwalk_snapshot::{Info, Snapshot, places};
use std::ffi::OsStr;
use std::fmt::Write;
use std::path::Path;

/// Roots in a message.
const SHOWN_ROOTS: usize = 3;

/// Returns the path of `--under` as the snapshot has it; `None` if the report is on everything.
///
/// # Errors
///
/// The exit status, after a report that the snapshot does not have the path.
pub(super) fn find(args: &ReportArgs, snapshot: &Snapshot) -> Result<Option<Vec<u8>>, Ended> {
    let Some(under) = &args.under else {
        return Ok(None);
    };
    // A path may lead through symbolic links, which a snapshot does not follow.
    for path in places(under).map_err(|failure| failed(under, failure))? {
        let found = snapshot.find(&path);
        let found = found.map_err(|error| failed(error.path(), error.reason()))?;
        if found.is_some() {
            return Ok(Some(path));
        }
    }
    let roots = (!is_live(Path::new(&args.input))).then(|| snapshot.info());
    Err(trouble(message(under, &args.input, roots)))
}

/// Returns the message about a path that a directory or a snapshot does not have.
fn message(path: &OsStr, input: &OsStr, snapshot: Option<&Info>) -> String {
    let mut out = format!("{} is not in {}", quoted(path), quoted(input));
    let Some(info) = snapshot else {
        return out;
    };
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
mod tests {
    use super::*;
    use ringwalk_snapshot::RootInfo;

    #[test]
    fn the_message_names_the_roots() {
        let mut info = Info::default();
        for root in ["/a", "/b\n", "/c", "/d"] {
            info.roots.push(RootInfo::new(root.as_bytes()));
        }
        let message = |info| message(OsStr::new("x"), OsStr::new("y"), info);
        let expected = r"'x' is not in 'y', a snapshot of '/a', '/b'$'\n', '/c', ...";
        assert_eq!(message(Some(&info)), expected);
        assert_eq!(message(None), "'x' is not in 'y'");
    }
}
