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
mod tests;
