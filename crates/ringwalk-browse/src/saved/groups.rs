//! Totals of rows by extension, owner and age.

use super::open::read_error;
use crate::tree::{Group, GroupKey};
use ringwalk_answers::report::{Key, ReportError, ReportOptions, Sums, report};
use ringwalk_snapshot::Snapshot;
use std::cmp::Reverse;
use std::io;

/// The label of the groups that have no sums of their own, since there are too many.
const OTHERS: &[u8] = b"(others)";

/// Returns the totals of everything at or below an absolute path, or of all trees, the largest by
/// allocated size first.
pub(super) fn groups(
    snapshot: &Snapshot,
    under: Option<Vec<u8>>,
    key: GroupKey,
) -> io::Result<Vec<Group>> {
    let key = match key {
        GroupKey::Extension => Key::Extension,
        GroupKey::Owner => Key::Owner,
        GroupKey::Age => Key::Age,
    };
    let mut options = ReportOptions::by([key]);
    options.under = under;
    let report = report(snapshot, &options).map_err(|error| match &error {
        ReportError::Read(error) => read_error(error),
        _ => io::Error::new(io::ErrorKind::InvalidData, error.to_string()),
    })?;
    let group = |label: &[u8], sums: Sums| Group {
        label: label.to_vec(),
        entries: sums.entries,
        size: sums.size,
        alloc: sums.alloc,
    };
    let own = report.groups.iter().map(|each| {
        let label = each.values.first().map(|value| value.label());
        group(&label.unwrap_or_default(), each.sums)
    });
    let others = report.overflow.map(|sums| group(OTHERS, sums));
    let mut groups: Vec<Group> = own.chain(others).collect();
    groups.sort_by_key(|group| Reverse(group.alloc));
    Ok(groups)
}
