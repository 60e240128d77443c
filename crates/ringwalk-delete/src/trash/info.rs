//! The files `info/NAME.trashinfo`: where an entry was, and when it was moved to the trash.

use super::Reason;
use jiff::Timestamp;
use ringwalk_gnu::civil::Zone;
use rustix::fd::{BorrowedFd, OwnedFd};
use rustix::fs::{AtFlags, Mode, OFlags, openat, unlinkat};
use rustix::io::write;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// What follows the name of the entry.
pub(super) const SUFFIX: &[u8] = b".trashinfo";

/// A record that was created, and that nobody else has under this name.
pub(super) struct Record<'b> {
    directory: BorrowedFd<'b>,
    name: Vec<u8>,
}

impl Record<'_> {
    /// Deletes the record again.
    pub(super) fn remove(self) {
        // If that fails, the trash has a record without a file, which its programs ignore.
        let _ = unlinkat(self.directory, self.name.as_slice(), AtFlags::empty());
    }
}

/// Creates a record. Fails with `EEXIST` if the name is taken.
pub(super) fn create<'b>(
    directory: BorrowedFd<'b>,
    name: &[u8],
    original: &Path,
) -> Result<Record<'b>, Reason> {
    let failed = |errno| Reason::Failed {
        action: "write to the trash",
        errno,
    };
    let name = [name, SUFFIX].concat();
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    let file = openat(directory, name.as_slice(), flags, Mode::RUSR | Mode::WUSR);
    let file = file.map_err(failed)?;
    let record = Record { directory, name };
    let text = contents(
        original,
        &local_time(Timestamp::now(), &Zone::from_environment()),
    );
    if let Err(errno) = write_all(&file, text.as_bytes()) {
        record.remove();
        return Err(failed(errno));
    }
    Ok(record)
}

fn write_all(file: &OwnedFd, mut text: &[u8]) -> Result<(), rustix::io::Errno> {
    while !text.is_empty() {
        let written = write(file, text)?;
        text = &text[written..];
    }
    Ok(())
}

fn contents(original: &Path, time: &str) -> String {
    let path = percent_encoded(original.as_os_str().as_bytes());
    format!("[Trash Info]\nPath={path}\nDeletionDate={time}\n")
}

/// Returns a time as the clocks of a zone show it: `2004-08-31T22:32:08`.
fn local_time(time: Timestamp, zone: &Zone) -> String {
    let seconds = time.as_second();
    let shown = Timestamp::from_second(seconds + zone.offset(seconds)).unwrap_or(time);
    shown.strftime("%Y-%m-%dT%H:%M:%S").to_string()
}

/// Returns a path as the specification asks for it: all bytes are escaped as in URLs, except the
/// unreserved characters of RFC 2396, section 2.3, and slashes.
fn percent_encoded(path: &[u8]) -> String {
    use std::fmt::Write as _;
    let mut text = String::with_capacity(path.len());
    for byte in path {
        if byte.is_ascii_alphanumeric() || b"-_.!~*'()/".contains(byte) {
            text.push(char::from(*byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(text, "%{byte:02X}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{Path, Timestamp, Zone, contents, create, local_time};
    use crate::Reason;
    use rustix::fd::AsFd;
    use rustix::io::Errno;
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    #[test]
    fn a_record_has_the_form_of_the_specification() {
        let path = Path::new(OsStr::from_bytes(b"/home/me/a b%\n\xff\xc3\xa4_~.txt"));
        let text = "[Trash Info]\n\
                Path=/home/me/a%20b%25%0A%FF%C3%A4_~.txt\n\
                DeletionDate=2004-08-31T22:32:08\n";
        assert_eq!(contents(path, "2004-08-31T22:32:08"), text);
    }

    #[test]
    fn times_are_local() {
        let time = Timestamp::from_second(1_093_991_528).unwrap();
        assert_eq!(local_time(time, &Zone::named("")), "2004-08-31T22:32:08");
        assert_eq!(
            local_time(time, &Zone::named("XYZ-3:30")),
            "2004-09-01T02:02:08"
        );
    }

    #[test]
    fn a_name_is_taken_once() {
        let directory = tempfile::tempdir().unwrap();
        let opened = std::fs::File::open(directory.path()).unwrap();
        let record = create(opened.as_fd(), b"a", Path::new("/a")).unwrap();
        let taken = create(opened.as_fd(), b"a", Path::new("/a")).map(drop);
        let expected = Reason::Failed {
            action: "write to the trash",
            errno: Errno::EXIST,
        };
        assert_eq!(taken, Err(expected));
        assert!(directory.path().join("a.trashinfo").exists());
        record.remove();
        assert!(!directory.path().join("a.trashinfo").exists());
    }
}
