use super::*;

#[test]
fn a_path_has_one_slash_between_two_names() {
    let names = [&b"file"[..], b"dir"];
    for (head, expected) in [
        (&b""[..], &b"dir/file"[..]),
        (b"/", b"/dir/file"),
        (b"root", b"root/dir/file"),
        (b"root/", b"root/dir/file"),
    ] {
        assert_eq!(join(head, names.into_iter()), expected);
        assert_eq!(join(head, std::iter::empty()), head);
    }
}

#[test]
fn a_name_knows_its_root() {
    for (root, below, path) in [
        (&b"a"[..], &b"b/c"[..], &b"a/b/c"[..]),
        (b"a/", b"b", b"a/b"),
        (b"/", b"b", b"/b"),
        (b"a", b"", b"a"),
        (b"a/", b"", b"a/"),
    ] {
        let name = Name::new(root, below);
        assert_eq!(
            (name.root(), name.below(), name.path()),
            (root, below, path)
        );
    }
}
