use super::*;

#[test]
fn base_names() {
    for (path, name) in [
        ("a", "a"),
        ("a/b", "b"),
        ("a/b//", "b"),
        ("/", "/"),
        ("//", "/"),
        ("/a/", "a"),
        ("", ""),
        ("./.", "."),
    ] {
        assert_eq!(base_name(path.as_bytes()), name.as_bytes(), "{path}");
    }
}
