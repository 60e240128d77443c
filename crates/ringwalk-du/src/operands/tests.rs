use super::*;

fn disjoint(operands: &[&str], operand: &str) -> bool {
    let mut whole = DisjointOperands::default();
    for operand in operands {
        whole.add(OsStr::new(operand), true);
    }
    whole.is_disjoint_from(OsStr::new(operand))
}

#[test]
fn disjoint_operands() {
    assert!(disjoint(&[], "../x"));
    assert!(disjoint(&["a", "b"], "c"));
    assert!(disjoint(&["a/x", "a/z"], "./a/y"));
    assert!(disjoint(&["a"], "ab"));
    assert!(disjoint(&["/a"], "/b"));
}

#[test]
fn operands_that_may_overlap() {
    assert!(!disjoint(&["a"], "a"));
    assert!(!disjoint(&["a"], "a/"));
    assert!(!disjoint(&["a"], "./a/b/c"));
    assert!(!disjoint(&["b", "a/b/c"], "a"));
    assert!(!disjoint(&["a!", "a/b"], "a"));
    assert!(!disjoint(&["."], "a"));
    assert!(!disjoint(&["a"], "."));
    assert!(!disjoint(&["a"], "/tmp/a"));
    assert!(!disjoint(&["a"], "../a"));
    assert!(!disjoint(&["../a"], "b"));
    assert!(!disjoint(&["/"], "/a"));
}

#[test]
fn files_contain_nothing() {
    let mut operands = DisjointOperands::default();
    operands.add(OsStr::new("a"), false);
    assert!(operands.is_disjoint_from(OsStr::new("a")));
    assert!(operands.is_disjoint_from(OsStr::new("/b")));
}
