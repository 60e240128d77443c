use super::*;

/// As GNU find 4.9 has them.
const PLACES: &[(&str, Option<&str>, &str)] = &[
    ("a", None, "./a"),
    ("a/", None, "./a/"),
    ("a/b", Some("a/"), "./b"),
    ("a/b/", Some("a/"), "./b/"),
    ("a/b//", Some("a/"), "./b/"),
    ("a//b", Some("a//"), "./b"),
    ("/", Some("/"), "/"),
    ("//", Some("/"), "/"),
    ("/tmp", Some("/"), "./tmp"),
    ("/tmp/", Some("/"), "./tmp/"),
    (".", None, "./."),
    ("./", None, "././"),
    ("..", None, "./.."),
    ("a/..", Some("a/"), "./.."),
    ("a/.", Some("a/"), "./."),
    ("-x", None, "./-x"),
];

#[test]
fn places() {
    for (path, directory, argument) in PLACES {
        let expected = Place {
            directory: directory.map(str::as_bytes),
            argument: argument.as_bytes().to_vec(),
        };
        assert_eq!(Place::of(path.as_bytes()), expected, "{path}");
    }
}

#[test]
fn directories_are_opened_through_links() {
    let dir = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(".", dir.path().join("link")).unwrap();
    let path = |end: &str| format!("{}/{end}", dir.path().display());
    assert!(Place::of(b"x").open().unwrap().is_none());
    assert!(
        Place::of(path("link/x").as_bytes())
            .open()
            .unwrap()
            .is_some()
    );
    let missing = path("none/x");
    assert_eq!(
        Place::of(missing.as_bytes()).open().unwrap_err(),
        Errno::NOENT
    );
}
