use super::*;

fn of(path: &str) -> Vec<String> {
    let all = places(OsStr::new(path)).unwrap();
    all.into_iter()
        .map(|path| String::from_utf8(path).unwrap())
        .collect()
}

#[test]
fn paths_that_are_gone_are_taken_as_they_are_written() {
    assert_eq!(of("/nowhere/a/../b/./c//d/"), ["/nowhere/b/c/d"]);
    assert_eq!(of("/../.."), ["/"]);
}

#[test]
fn relative_paths_begin_at_the_working_directory() {
    let here = std::env::current_dir().unwrap();
    let here = here.to_str().unwrap();
    assert_eq!(of("nowhere"), [format!("{here}/nowhere")]);
    assert_eq!(of("./nowhere/.."), [here.to_owned()]);
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
