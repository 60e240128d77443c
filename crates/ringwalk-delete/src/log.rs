//! The log of deletions: one line of JSON for each entry, appended to a file.
//!
//! | field | contents |
//! |---|---|
//! | `time` | when, in UTC |
//! | `event` | `begin`, `deleted`, `trashed`, `linked`, `shared`, or `kept` |
//! | `action` | `delete`, `trash`, `hardlink` or `dedupe`, at `begin` |
//! | `path` | absolute path; bytes that are not UTF-8 as `\xHH` |
//! | `path_raw` | the bytes of the path in hexadecimal digits, if it is not UTF-8 |
//! | `device`, `inode` | which file, as it was shown |
//! | `size` | apparent size in bytes, of what was deleted or moved to the trash |
//! | `to`, `to_raw` | where it lies in the trash |
//! | `same_as`, `same_as_raw` | the file that has the same contents, if that is why it was deleted |
//! | `reason` | why it was kept |
//!
//! Before the first deletion there is a line `begin` for each selected entry, and these lines are
//! synced to the disk. So even after a power failure the log says what was about to be deleted. The
//! line of each entry is written right after the entry is deleted, by one call, and synced at the
//! end only. A program that is killed loses one line at most. A power failure may lose the lines of
//! the last seconds, as it may undo the deletions themselves.
//!
//! If a line cannot be written, the deletion stops. At most one entry is then deleted without a
//! line of its own, and the line `begin` of its selection is there.

use super::identity::{Found, Identity};
use super::root::real_path;
use jiff::Timestamp;
use ringwalk::shown;
use ringwalk_output::Place;
use ringwalk_text::{escaped, hex_unless_text};
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{FileType, Mode, OFlags, fdatasync, fstat};
use rustix::io::{Errno, pread, write};
use serde::Serialize;
use std::ffi::OsString;
use std::fmt;
use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// An open log.
#[derive(Debug)]
pub struct Log {
    file: OwnedFd,
    path: PathBuf,
    identity: Identity,
}

/// The log cannot be opened or written. Nothing is changed then, or nothing more.
#[derive(Debug)]
pub struct LogError {
    /// The path of the log; empty if no directory for it is known.
    pub path: PathBuf,
    /// Why.
    pub error: io::Error,
}

impl fmt::Display for LogError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = ringwalk_gnu::reason(&self.error);
        if self.path.as_os_str().is_empty() {
            return write!(
                f,
                "nothing more is changed, as the log has no place: {text}: set HOME or XDG_STATE_HOME"
            );
        }
        let path = ringwalk_gnu::quote::file_always(self.path.as_os_str().as_encoded_bytes());
        write!(
            f,
            "nothing more is changed, as the log {path} cannot be written: {text}"
        )
    }
}

impl std::error::Error for LogError {}

impl Log {
    /// Opens `ringwalk/deletions.jsonl` in `$XDG_STATE_HOME`, or else in `~/.local/state`.
    ///
    /// # Errors
    ///
    /// If neither variable has an absolute path, or the file cannot be opened.
    pub fn open_default() -> Result<Self, LogError> {
        let home = base_directory("XDG_STATE_HOME", ".local/state").ok_or_else(|| LogError {
            path: PathBuf::new(),
            error: io::Error::new(io::ErrorKind::NotFound, "no home directory is known"),
        })?;
        Self::open(&home.join("ringwalk/deletions.jsonl"))
    }

    /// Opens a log for appending, and creates it (mode 0600) and its directories (0700) if needed.
    ///
    /// # Errors
    ///
    /// If that fails, or the last component of the path is anything but a regular file.
    pub fn open(path: &Path) -> Result<Self, LogError> {
        let opened = Self::open_file(path);
        opened.map_err(|error| LogError {
            path: path.to_owned(),
            error,
        })
    }

    fn open_file(path: &Path) -> io::Result<Self> {
        if let Some(parent) = path.parent() {
            DirBuilder::new()
                .recursive(true)
                .mode(0o700)
                .create(parent)?;
        }
        // With sudo, HOME may be a directory of another user, who could place a link there.
        let place = Place::exact(path)?;
        let file = OwnedFd::from(place.open(OFlags::APPEND, Mode::RUSR | Mode::WUSR)?);
        // Lines written to a pipe or a device would be lost.
        if FileType::from_raw_mode(fstat(&file)?.st_mode) != FileType::RegularFile {
            return Err(io::Error::other("not a regular file"));
        }
        let found = Found::of(file.as_fd())?;
        let log = Self {
            file,
            path: path.to_owned(),
            identity: Identity {
                device: found.device,
                inode: found.inode,
                mark: None,
            },
        };
        log.end_torn_line()?;
        Ok(log)
    }

    /// Ends a line that a full disk or a power failure has cut.
    fn end_torn_line(&self) -> io::Result<()> {
        let stat = fstat(&self.file)?;
        let size = u64::try_from(stat.st_size).unwrap_or(0);
        if size == 0 {
            return Ok(());
        }
        let mut last = [0];
        pread(&self.file, &mut last, size - 1)?;
        if last != *b"\n" {
            write_all(&self.file, b"\n")?;
        }
        Ok(())
    }

    /// Returns the path of the log.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns true if a file that was shown has the inode of this log. A new log may have that
    /// of a file that was removed after it was shown. Then that name is kept, too.
    pub fn is(&self, identity: Identity) -> bool {
        self.identity.is_inode(identity)
    }

    /// Returns true if this log is in a directory, or below it. The path must be absolute and
    /// without links.
    pub(super) fn is_below(&self, directory: &Path) -> bool {
        let path = real_path(self.file.as_fd());
        path.unwrap_or_else(|| self.path.clone())
            .starts_with(directory)
    }

    /// Appends one line.
    ///
    /// # Errors
    ///
    /// If the line cannot be written as a whole. Nothing more may be deleted then.
    pub fn append(&self, line: &Line<'_>) -> Result<(), LogError> {
        let written = Fields::json(line).and_then(|json| write_all(&self.file, json.as_bytes()));
        written.map_err(|error| self.failed(error))
    }

    /// Waits until all lines are on the disk.
    ///
    /// # Errors
    ///
    /// If the system cannot write them.
    pub fn sync(&self) -> Result<(), LogError> {
        match fdatasync(&self.file) {
            // The file system has no way to do this.
            Ok(()) | Err(Errno::INVAL | Errno::ROFS) => Ok(()),
            Err(errno) => Err(self.failed(errno.into())),
        }
    }

    fn failed(&self, error: io::Error) -> LogError {
        LogError {
            path: self.path.clone(),
            error,
        }
    }
}

/// Returns a directory of the XDG Base Directory Specification: the value of `variable`, or else
/// `below` the home directory. Both must be absolute.
pub(super) fn base_directory(variable: &str, below: &str) -> Option<PathBuf> {
    base_directory_of(std::env::var_os(variable), std::env::var_os("HOME"), below)
}

fn base_directory_of(
    value: Option<OsString>,
    home: Option<OsString>,
    below: &str,
) -> Option<PathBuf> {
    let absolute = |value: OsString| Some(PathBuf::from(value)).filter(|path| path.is_absolute());
    let set = value.and_then(absolute);
    set.or_else(|| home.and_then(absolute).map(|home| home.join(below)))
}

/// A line that cannot be written as a whole is an error. One call writes a line, so lines of two
/// programs do not mix.
fn write_all(file: &OwnedFd, line: &[u8]) -> io::Result<()> {
    loop {
        match write(file, line) {
            Ok(written) if written == line.len() => return Ok(()),
            Ok(_) => return Err(io::ErrorKind::WriteZero.into()),
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
}

/// What happened to an entry. The documentation of the module's file says what each field means.
#[derive(Clone, Debug)]
pub struct Line<'l> {
    event: &'static str,
    action: Option<&'static str>,
    path: &'l [u8],
    identity: Identity,
    size: Option<u64>,
    to: Option<&'l [u8]>,
    same_as: Option<&'l [u8]>,
    reason: Option<String>,
}

impl<'l> Line<'l> {
    /// A line about a file: the event, its absolute path, and which file it is.
    pub fn new(event: &'static str, path: &'l [u8], identity: Identity) -> Self {
        Self {
            event,
            action: None,
            path,
            identity,
            size: None,
            to: None,
            same_as: None,
            reason: None,
        }
    }

    /// Adds what is about to be done.
    pub fn action(mut self, action: &'static str) -> Self {
        self.action = Some(action);
        self
    }

    /// Adds the apparent size in bytes.
    pub fn size(mut self, size: u64) -> Self {
        self.size = Some(size);
        self
    }

    /// Adds where the file is now.
    pub fn to(mut self, path: &'l [u8]) -> Self {
        self.to = Some(path);
        self
    }

    /// Adds the absolute path of the file that has the same contents.
    pub fn same_as(mut self, path: &'l [u8]) -> Self {
        self.same_as = Some(path);
        self
    }

    /// Adds why the file was kept.
    pub fn reason(mut self, reason: &dyn fmt::Display) -> Self {
        self.reason = Some(reason.to_string());
        self
    }
}

/// A line as JSON.
#[derive(Serialize)]
struct Fields<'l> {
    time: String,
    event: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    action: Option<&'static str>,
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    path_raw: Option<String>,
    device: u64,
    inode: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    to_raw: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    same_as: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    same_as_raw: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'l str>,
}

impl Fields<'_> {
    fn json(line: &Line<'_>) -> io::Result<String> {
        let fields = Fields {
            time: Timestamp::now().to_string(),
            event: line.event,
            action: line.action,
            path: escaped(line.path),
            path_raw: hex_unless_text(line.path),
            device: line.identity.device,
            inode: line.identity.inode,
            size: line.size,
            to: line.to.map(escaped),
            to_raw: line.to.and_then(hex_unless_text),
            same_as: line.same_as.map(escaped),
            same_as_raw: line.same_as.and_then(hex_unless_text),
            reason: line.reason.as_deref(),
        };
        let json = serde_json::to_string(&fields).map_err(io::Error::from)?;
        Ok(shown::json(json) + "\n")
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Place, Results, Tree};
    use super::super::{Log, delete};
    use super::{Identity, Line, base_directory_of};
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::path::{Path, PathBuf};

    const IDENTITY: Identity = Identity {
        device: 1,
        inode: 2,
        mark: None,
    };

    #[test]
    fn each_selection_and_each_entry_has_a_line() {
        let place = Place::with(&["a/b", "a/c"]);
        let tree = Tree::read(&place.root());
        place.write("a/new");
        let selections = [tree.select("a/b"), tree.select("a")];
        delete(
            &tree.root(),
            &selections,
            &tree,
            &place.log(),
            &mut Results::default(),
        )
        .unwrap();
        let lines = place.lines();
        let root = place.root().canonicalize().unwrap();
        let found: Vec<_> = lines
            .iter()
            .map(|line| {
                let path = Path::new(line["path"].as_str().unwrap());
                let path = path.strip_prefix(&root).unwrap().to_str().unwrap();
                (line["event"].as_str().unwrap(), path)
            })
            .collect();
        let mut expected = vec![("begin", "a/b"), ("begin", "a"), ("deleted", "a/b")];
        // In the order in which the directory was listed.
        let rest: Vec<_> = found[3..5].to_vec();
        assert!(rest.contains(&("deleted", "a/c")) && rest.contains(&("kept", "a/b")));
        expected.extend(rest);
        expected.push(("kept", "a"));
        assert_eq!(found, expected);
        assert_eq!(lines[0]["action"], "delete");
        assert_eq!(lines[2]["size"], 3);
        assert_eq!(lines[2]["inode"], selections[0].entry.identity.inode);
        assert_eq!(lines[2]["device"], selections[0].entry.identity.device);
        assert_eq!(lines[5]["reason"], "contains entries that were kept");
        assert!(lines[0]["time"].as_str().unwrap().ends_with('Z'));
    }

    #[test]
    fn the_log_and_its_directories_belong_to_the_user_alone() {
        let place = Place::new();
        let path = place.directory.path().join("new/state/log");
        drop(Log::open(&path).unwrap());
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&path), 0o600);
        assert_eq!(mode(path.parent().unwrap()), 0o700);
        assert_eq!(mode(path.parent().unwrap().parent().unwrap()), 0o700);
    }

    #[test]
    fn nothing_is_deleted_if_the_log_cannot_be_written() {
        let place = Place::with(&["a"]);
        let tree = Tree::read(&place.root());
        // A log on a full disk.
        let path = PathBuf::from("/dev/full");
        let file = fs::OpenOptions::new()
            .write(true)
            .open(&path)
            .unwrap()
            .into();
        let log = Log {
            file,
            path,
            identity: IDENTITY,
        };
        let mut results = Results::default();
        let selections = [tree.select("a")];
        let error = delete(&tree.root(), &selections, &tree, &log, &mut results).unwrap_err();
        let text = "nothing more is changed, as the log '/dev/full' cannot be written: \
                No space left on device";
        assert_eq!(error.to_string(), text);
        assert!(results.deleted.is_empty());
        assert!(place.at("a").exists());
    }

    #[test]
    fn a_log_is_a_regular_file() {
        let place = Place::new();
        let pipe = place.directory.path().join("pipe");
        mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        for path in [&pipe, Path::new("/dev/null")] {
            let error = Log::open(path).unwrap_err();
            assert!(error.to_string().ends_with("not a regular file"), "{error}");
        }
    }

    #[test]
    fn a_log_behind_a_link_is_not_opened() {
        let place = Place::new();
        let path = place.directory.path().join("log");
        symlink(place.outside().join("file"), &path).unwrap();
        let error = Log::open(&path).unwrap_err();
        assert_eq!(error.path, path);
        let canary = fs::read_to_string(place.outside().join("file")).unwrap();
        assert_eq!(canary, "canary");
    }

    #[test]
    fn lines_are_appended_behind_a_torn_one() {
        let place = Place::new();
        let path = place.directory.path().join("log");
        fs::write(&path, "{\"time\":").unwrap();
        for _ in 0..2 {
            let log = Log::open(&path).unwrap();
            log.append(&Line::new("deleted", b"/x", IDENTITY)).unwrap();
        }
        let text = fs::read_to_string(&path).unwrap();
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines.len(), 3, "{text}");
        assert!(
            lines[1..]
                .iter()
                .all(|line| line.starts_with("{\"time\":\"2"))
        );
    }

    #[test]
    fn paths_cannot_disturb_a_terminal_that_shows_the_log() {
        let place = Place::new();
        let log = place.log();
        let path = "/\u{202e}\u{9b}\u{1b}\n\"".as_bytes();
        log.append(&Line::new("deleted", path, IDENTITY)).unwrap();
        let text = fs::read_to_string(place.log_path()).unwrap();
        assert!(
            text.contains(r#""path":"/\u202e\u009b\u001b\n\"""#),
            "{text}"
        );
        assert_eq!(place.lines()[0]["path"].as_str().unwrap().as_bytes(), path);
    }

    #[test]
    fn base_directories_must_be_absolute() {
        let found = |value: Option<&str>, home: Option<&str>| {
            base_directory_of(value.map(Into::into), home.map(Into::into), ".local/state")
        };
        let path = |path: &str| Some(PathBuf::from(path));
        assert_eq!(found(Some("/state"), Some("/home")), path("/state"));
        assert_eq!(
            found(Some("state"), Some("/home")),
            path("/home/.local/state")
        );
        assert_eq!(found(Some(""), Some("/home")), path("/home/.local/state"));
        assert_eq!(found(None, Some("home")), None);
        assert_eq!(found(None, None), None);
    }
}
