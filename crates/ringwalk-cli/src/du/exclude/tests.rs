use super::*;

fn excluded(pattern: &str, path: &str) -> bool {
    let mut exclude = Exclude::default();
    exclude.add(pattern.as_bytes());
    exclude.matches(path.as_bytes())
}

#[test]
fn texts() {
    assert!(excluded("b", "b"));
    assert!(excluded("b", "a/b"));
    assert!(excluded("a/b", "x/a/b"));
    assert!(excluded("/a", "/a"));
    assert!(!excluded("b", "a/bc"));
    assert!(!excluded("b", "b/c"));
    assert!(!excluded("a", "a/"));
    assert!(!excluded("b/", "a/b"));
    assert!(excluded("\\*", "a/*"));
    assert!(excluded("\\b", "a/b"));
    assert!(excluded("b\\", "a/b\\"));
}

#[test]
fn wildcards() {
    assert!(excluded("*.o", "a/b.o"));
    assert!(excluded("a*", "a/b/c"));
    assert!(excluded("b?c", "a/b/c"));
    assert!(!excluded("b*", "ab"));
    assert!(excluded("[bc]", "a/b"));
}

#[test]
fn files() {
    let mut exclude = Exclude::default();
    exclude.add_lines(&b"a \t\n\n  \nb c\n*.o"[..]).unwrap();
    assert!(exclude.matches(b"x/a"));
    assert!(exclude.matches(b"x/b c"));
    assert!(exclude.matches(b"x.o"));
    assert!(!exclude.matches(b"x/"));
    assert!(Exclude::default().is_empty());
}
