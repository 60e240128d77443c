//! The environment in which words are understood: clock, time zone, locale and variables.

use crate::date;
use crate::saved::{OpenSaved, SavedSearch};
use ringwalk::Timestamp;
use ringwalk_gnu::civil::Zone;
use ringwalk_gnu::reason;
use std::cell::OnceCell;
use std::ffi::OsStr;
use std::io::IsTerminal;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

/// The environment in which words are understood. Parts that are seldom needed are read on first
/// use.
#[derive(Debug)]
pub struct Context {
    now: Timestamp,
    zone: OnceCell<Zone>,
    warns: OnceCell<bool>,
    posix: OnceCell<bool>,
    mask: OnceCell<u32>,
    utf8: bool,
    program: String,
    open_saved: Option<OpenSaved>,
    saved_tree: Option<Arc<SavedSearch>>,
}

impl Context {
    /// Returns the environment of this process, at this moment.
    pub fn from_environment() -> Self {
        let since = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        Self {
            now: Timestamp {
                secs: i64::try_from(since.as_secs()).unwrap_or(i64::MAX),
                nanos: since.subsec_nanos(),
            },
            zone: OnceCell::new(),
            warns: OnceCell::new(),
            posix: OnceCell::new(),
            mask: OnceCell::new(),
            utf8: ringwalk_gnu::locale::utf8(),
            program: "find".to_owned(),
            open_saved: None,
            saved_tree: None,
        }
    }

    /// Creates an environment with this moment and zone, in UTF-8, in which standard input is no
    /// terminal and files are created with mask 022.
    pub fn at(now: Timestamp, zone: Zone) -> Self {
        Self {
            now,
            zone: zone.into(),
            warns: false.into(),
            posix: false.into(),
            mask: 0o022.into(),
            utf8: true,
            program: "find".to_owned(),
            open_saved: None,
            saved_tree: None,
        }
    }

    /// Returns the same environment with the name by which the user called the program: `-help`
    /// shows it. The default is `find`.
    pub fn program(self, program: impl Into<String>) -> Self {
        Self {
            program: program.into(),
            ..self
        }
    }

    /// Returns the same environment with saved trees, which `open` opens: `--from` is understood.
    pub fn open_saved(self, open: OpenSaved) -> Self {
        Self {
            open_saved: Some(open),
            ..self
        }
    }

    /// Returns the same environment, in which every search is one of this saved tree.
    pub fn search_saved(self, tree: Arc<SavedSearch>) -> Self {
        Self {
            saved_tree: Some(tree),
            ..self
        }
    }

    /// Returns the saved tree that every search is one of.
    pub(super) fn saved_tree(&self) -> Option<Arc<SavedSearch>> {
        self.saved_tree.clone()
    }

    /// Opens the saved tree of `--from`.
    ///
    /// # Errors
    ///
    /// A message, if that fails or if there are no saved trees.
    pub(super) fn saved(&self, name: &OsStr) -> Result<Arc<SavedSearch>, String> {
        let none = || "unknown predicate `--from'".to_owned();
        self.open_saved.ok_or_else(none)?(name)
    }

    pub(super) fn program_name(&self) -> &str {
        &self.program
    }

    pub(super) fn now(&self) -> Timestamp {
        self.now
    }

    pub(super) fn utf8(&self) -> bool {
        self.utf8
    }

    pub(super) fn zone(&self) -> &Zone {
        self.zone.get_or_init(Zone::from_environment)
    }

    /// Returns the moment from which ages are measured after `-daystart`.
    pub(super) fn end_of_day(&self) -> Timestamp {
        date::end_of_day(self.now, self.zone())
    }

    /// Returns true if `POSIXLY_CORRECT` is set.
    pub(super) fn is_posix(&self) -> bool {
        *self
            .posix
            .get_or_init(ringwalk_gnu::locale::posixly_correct)
    }

    /// Returns the file mode creation mask.
    ///
    /// # Errors
    ///
    /// A message, if the mask cannot be read. umask(2) could return it, but only by changing the
    /// mask for all threads.
    pub(super) fn creation_mask(&self) -> Result<u32, String> {
        if let Some(mask) = self.mask.get() {
            return Ok(*mask);
        }
        let mask = read_mask()?;
        Ok(*self.mask.get_or_init(|| mask))
    }

    /// Returns true if the parser warns. `asked` is what `-warn` or `-nowarn` said.
    pub(super) fn warns(&self, asked: Option<bool>) -> bool {
        if asked == Some(false) || self.is_posix() {
            return false;
        }
        let terminal = || std::io::stdin().is_terminal();
        asked.unwrap_or_else(|| *self.warns.get_or_init(terminal))
    }
}

/// Reads the file mode creation mask of this thread.
fn read_mask() -> Result<u32, String> {
    const STATUS: &str = "/proc/thread-self/status";
    let failed =
        |why: &str| format!("cannot read the file mode creation mask from {STATUS}: {why}");
    let status = std::fs::read(STATUS).map_err(|error| failed(&reason(&error)))?;
    let mut lines = status.split(|byte| *byte == b'\n');
    let mask = lines.find_map(|line| line.strip_prefix(b"Umask:"));
    let text = mask.and_then(|mask| std::str::from_utf8(mask).ok());
    text.and_then(|text| u32::from_str_radix(text.trim(), 8).ok())
        .ok_or_else(|| failed("there is no line Umask"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mask_is_that_of_the_process() {
        let file = tempfile::tempdir().unwrap();
        let file = file.path().join("file");
        std::fs::write(&file, "").unwrap();
        let mode = std::os::unix::fs::MetadataExt::mode(&std::fs::metadata(&file).unwrap());
        assert_eq!(mode & 0o777, 0o666 & !read_mask().unwrap());
    }
}
