//! The check that `PATH` is safe for `-execdir`.

use ringwalk_gnu::quote;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

/// Checks that `action` (`-execdir` or `-okdir`) may be used with this value of `PATH`. A path that
/// leads into the directory where the command runs would run a program that another user has put
/// there.
///
/// # Errors
///
/// GNU find's message, without the program's name, if an element is empty, `.` or does not begin
/// with a slash. The search must not begin then.
pub fn check_path(path: Option<&OsStr>, action: &str) -> Result<(), String> {
    let Some(path) = path else {
        return Ok(());
    };
    for element in path.as_bytes().split(|byte| *byte == b':') {
        match element {
            [b'/', ..] => {}
            b"" | b"." => {
                return Err(format!(
                    "The current directory is included in the PATH environment variable, which is insecure in combination \
                     with the {action} action of find.  Please remove the current directory from your $PATH (that is, \
                     remove \".\", doubled colons, or leading or trailing colons)"
                ));
            }
            relative => {
                return Err(format!(
                    "The relative path {} is included in the PATH environment variable, which is insecure in combination \
                     with the {action} action of find.  Please remove that entry from $PATH",
                    quote::value(relative)
                ));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
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
}
