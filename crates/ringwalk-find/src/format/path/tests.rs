use super::*;

/// Paths, and what GNU find 4.9 has for %f and %h.
const SEEN: &[(&str, &str, &str)] = &[
    ("/", "/", ""),
    ("//", "/", "/"),
    ("///", "/", "//"),
    ("a/", "a/", "a"),
    ("a//", "a/", "a/"),
    ("a/////", "a/", "a////"),
    (".", ".", "."),
    ("./", "./", "."),
    (".//", "./", "./"),
    ("..", "..", "."),
    ("t//d", "d", "t/"),
    ("t/d/", "d/", "t"),
    ("t/d///", "d/", "t"),
    ("./t/", "t/", "."),
    (".//t", "t", "./"),
    ("t/./d", "d", "t/."),
    ("t/d/.", ".", "t/d"),
    ("t/d/./", "./", "t/d"),
    ("/srv", "srv", ""),
    ("/srv/", "srv/", ""),
    ("//srv//", "srv/", "/"),
    ("a//b/", "b/", "a/"),
    ("a///b", "b", "a//"),
    ("noexec", "noexec", "."),
];

#[test]
fn seen() {
    for (path, f, h) in SEEN {
        assert_eq!(base(path.as_bytes()), f.as_bytes(), "%f of {path}");
        assert_eq!(head(path.as_bytes()), h.as_bytes(), "%h of {path}");
    }
    assert_eq!((base(b""), head(b"")), (&b""[..], &b""[..]));
}

#[test]
fn below_the_starting_point() {
    assert_eq!(below(b"t//dang", 3), b"dang");
    assert_eq!(below(b"//bin", 2), b"bin");
    assert_eq!(below(b"t/d/sub", 1), b"d/sub");
    assert_eq!(below(b"t/", 2), b"");
}
