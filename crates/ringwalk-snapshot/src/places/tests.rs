use super::*;

fn of(path: &str) -> Vec<String> {
    let all = places(OsStr::new(path)).unwrap();
    all.into_iter()
        .map(|path| String::from_utf8(path).unwrap())
        .collect()
}

#[test]
fn paths_that_are_gone_are_taken_as_they_are_written() {
    let path = "/nowhere/a/../b/./c//d";
    assert_eq!(of(path), [path, "/nowhere/b/c/d"]);
    assert_eq!(of("/nowhere/"), ["/nowhere"]);
    assert_eq!(of("/../.."), ["/../..", "/"]);
    assert_eq!(of("//"), ["/"]);
}

#[test]
fn relative_paths_begin_at_the_working_directory() {
    let here = std::env::current_dir().unwrap();
    let here = here.to_str().unwrap();
    assert_eq!(
        of("no://where"),
        ["no://where".to_owned(), format!("{here}/no:/where")]
    );
    assert_eq!(of("./nowhere/.."), ["./nowhere/..", here]);
}

#[test]
fn symbolic_links_are_followed_if_they_are_there() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().canonicalize().unwrap();
    std::os::unix::fs::symlink("/", folder.join("link")).unwrap();
    let link = folder.join("link/usr");
    assert_eq!(of(link.to_str().unwrap())[1], "/usr");
}

#[test]
fn an_empty_path_is_an_error() {
    assert!(places(OsStr::new("")).is_err());
}

#[test]
fn a_path_lies_below_a_root_by_its_text() {
    for (root, path, expected) in [
        ("/r", "/r/a/b", Some("a/b")),
        ("/r", "/r/", Some("")),
        ("/r", "/rest", None),
        ("/r", "r", None),
        ("/", "/", Some("")),
        ("/", "/a", Some("a")),
        ("/", "a", None),
        ("s3://bucket", "s3://bucket/a/", Some("a")),
        ("s3://bucket/", "s3://bucket", Some("")),
        ("s3://", "s3://bucket", Some("/bucket")),
        (".", "./a", Some("a")),
        (".", "..", None),
    ] {
        let found = below(root.as_bytes(), path.as_bytes());
        assert_eq!(found, expected.map(str::as_bytes), "{root} {path}");
    }
}
