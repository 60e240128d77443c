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
