//! The order of the rows: listings in sorted post-order.
//!
//! A directory's listing is one block of rows, sorted by the bytes of the names. The listings below
//! its subdirectories come before it. So the totals of a directory are known when its row is
//! written, each subtree is one range of rows, and two snapshots are compared by merging.

use std::cmp::Ordering;

/// Compares two paths relative to the same root by the order of their rows.
///
/// At the first component in which the paths differ, the path that goes deeper comes first. If both
/// or none go deeper, the component with the smaller bytes comes first.
///
/// ```
/// use ringwalk_snapshot::order::compare;
/// use std::cmp::Ordering;
///
/// assert_eq!(compare(b"a/z", b"a"), Ordering::Less, "what is below a directory");
/// assert_eq!(compare(b"b/c", b"a"), Ordering::Less, "a listing below, before the listing of a");
/// assert_eq!(compare(b"a/x", b"b/a"), Ordering::Less);
/// ```
pub fn compare(a: &[u8], b: &[u8]) -> Ordering {
    let common = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    if common == a.len() && common == b.len() {
        return Ordering::Equal;
    }
    // The root itself is the last row.
    if a.is_empty() || b.is_empty() {
        return b.len().cmp(&a.len());
    }
    // One path lies below the other: the last common component is whole.
    if common == a.len() && b[common] == b'/' {
        return Ordering::Greater;
    }
    if common == b.len() && a[common] == b'/' {
        return Ordering::Less;
    }
    // The component that differs begins behind the last common slash.
    let deeper = |rest: &[u8]| rest.contains(&b'/');
    let (rest_a, rest_b) = (&a[common..], &b[common..]);
    match (deeper(rest_a), deeper(rest_b)) {
        (true, false) => Ordering::Less,
        (false, true) => Ordering::Greater,
        _ => component(rest_a).cmp(component(rest_b)),
    }
}

/// Returns what comes before the first slash.
fn component(rest: &[u8]) -> &[u8] {
    let end = rest.iter().position(|byte| *byte == b'/');
    &rest[..end.unwrap_or(rest.len())]
}

#[cfg(test)]
mod tests;
