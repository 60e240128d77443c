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
mod tests {
    use super::compare;
    use proptest::prelude::*;
    use std::cmp::Ordering;
    use std::collections::BTreeMap;

    /// A tree: the names of a directory, and what is below each.
    #[derive(Clone, Debug, Default)]
    struct Tree(BTreeMap<Vec<u8>, Tree>);

    impl Tree {
        fn insert(&mut self, path: &[Vec<u8>]) {
            if let [name, rest @ ..] = path {
                self.0.entry(name.clone()).or_default().insert(rest);
            }
        }

        /// Appends the paths of a directory's subtree, as the definition of the order says.
        fn write(&self, path: &[u8], out: &mut Vec<Vec<u8>>) {
            let below = |name: &[u8]| {
                let mut below = path.to_vec();
                if !path.is_empty() {
                    below.push(b'/');
                }
                below.extend(name);
                below
            };
            for (name, tree) in &self.0 {
                tree.write(&below(name), out);
            }
            out.extend(self.0.keys().map(|name| below(name)));
        }
    }

    proptest! {
        #[test]
        fn it_is_the_order_of_listings(paths in proptest::collection::vec(
            proptest::collection::vec(proptest::collection::vec(b'.'..b'2', 1..3)
                .prop_filter("no slash", |name| !name.contains(&b'/')), 1..5), 1..30)) {
            let mut tree = Tree::default();
            for path in &paths {
                tree.insert(path);
            }
            let mut rows = Vec::new();
            tree.write(b"", &mut rows);
            rows.push(Vec::new());
            for (i, a) in rows.iter().enumerate() {
                for (j, b) in rows.iter().enumerate() {
                    prop_assert_eq!(compare(a, b), i.cmp(&j), "{:?} {:?}", a, b);
                }
            }
        }
    }

    #[test]
    fn names_that_begin_alike() {
        assert_eq!(compare(b"a", b"a.b"), Ordering::Less);
        assert_eq!(compare(b"a/x", b"a.b/x"), Ordering::Less);
        assert_eq!(compare(b"a.b/x", b"a"), Ordering::Less);
    }
}
