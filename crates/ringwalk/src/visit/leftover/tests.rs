use super::*;

#[test]
fn a_path_has_as_many_levels_as_names() {
    for (path, depth) in [(&b""[..], 0), (b"a", 1), (b"a/...", 2), (b"\xff/\n/ ", 3)] {
        assert_eq!(Leftover::depth_of(path), Some(depth));
    }
}

#[test]
fn paths_that_no_leftover_has() {
    for path in [
        &b"/"[..],
        b"/a",
        b"a/",
        b"a//b",
        b".",
        b"..",
        b"a/.",
        b"a/../b",
        b"a\0",
        b"a/\0/b",
    ] {
        assert_eq!(Leftover::depth_of(path), None, "{}", path.escape_ascii());
    }
}
