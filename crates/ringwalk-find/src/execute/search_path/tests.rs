use super::*;

#[test]
fn only_absolute_directories() {
    let check = |path: &str| check_path(Some(OsStr::new(path)), "-execdir");
    assert_eq!(check_path(None, "-execdir"), Ok(()));
    assert_eq!(check("/usr/bin:/bin"), Ok(()));
    assert_eq!(check("/bin/../bin"), Ok(()));
    for path in [
        "",
        ":",
        "/bin:",
        ":/bin",
        "/bin::/usr/bin",
        ".",
        "/bin:.:bin",
    ] {
        let message = check(path).unwrap_err();
        assert!(message.starts_with("The current directory is"), "{path}");
    }
    for path in ["bin", "/bin:bin:.", "./:/bin", "../x", "~/bin"] {
        let message = check(path).unwrap_err();
        assert!(message.starts_with("The relative path "), "{path}");
    }
}

#[test]
fn the_words_are_gnus() {
    assert_eq!(
        check_path(Some(OsStr::new("")), "-okdir").unwrap_err(),
        "The current directory is included in the PATH environment variable, which is insecure in combination with the \
         -okdir action of find.  Please remove the current directory from your $PATH (that is, remove \".\", doubled \
         colons, or leading or trailing colons)"
    );
    assert_eq!(
        check_path(Some(OsStr::new("bin")), "-execdir").unwrap_err(),
        format!(
            "The relative path {} is included in the PATH environment variable, which is insecure in combination with \
             the -execdir action of find.  Please remove that entry from $PATH",
            quote::value(b"bin")
        )
    );
}
