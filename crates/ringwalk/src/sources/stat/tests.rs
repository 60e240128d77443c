use super::*;
use std::os::fd::AsRawFd;

#[test]
fn a_path_below_a_descriptor_is_that_below_its_directory() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("file"), b"12345").unwrap();
    std::os::unix::fs::symlink("file", dir.path().join("link")).unwrap();
    let open = std::fs::File::open(dir.path()).unwrap();
    let ask = |base, path: &Path, follow| Metadata::of_path(base, path, follow, Fields::SIZE);
    for (base, path) in [
        (None, dir.path().join("link")),
        (Some(open.as_raw_fd()), "link".into()),
    ] {
        assert_eq!(ask(base, &path, true).unwrap().size, 5);
        assert_eq!(ask(base, &path, false).unwrap().size, 4);
    }
    assert_eq!(ask(Some(-1), "link".as_ref(), true), Err(Errno::BADF));
    assert_eq!(ask(None, "a\0b".as_ref(), true), Err(Errno::INVAL));
}
