//! What the meaning of words depends on beside the words.

use crate::date;
use ringwalk::Timestamp;
use ringwalk_gnu::civil::Zone;
use ringwalk_gnu::reason;
use std::cell::OnceCell;
use std::io::IsTerminal;
use std::time::{SystemTime, UNIX_EPOCH};

/// The clock, the time zone and what else of the environment counts. What is seldom needed is found out when it is.
#[derive(Debug)]
pub struct Context {
    now: Timestamp,
    zone: OnceCell<Zone>,
    warns: OnceCell<bool>,
    posix: OnceCell<bool>,
    mask: OnceCell<u32>,
    utf8: bool,
    program: String,
}

impl Context {
    /// That of this process, at this moment.
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
        }
    }

    /// One of this moment and zone, in UTF-8, where standard input is no terminal and files are
    /// created with mask 022.
    pub fn at(now: Timestamp, zone: Zone) -> Self {
        Self {
            now,
            zone: zone.into(),
            warns: false.into(),
            posix: false.into(),
            mask: 0o022.into(),
            utf8: true,
            program: "find".to_owned(),
        }
    }

    /// The same, but `program` is what the user called: `-help` shows it. `find` if this is not called.
    pub fn program(self, program: impl Into<String>) -> Self {
        Self {
            program: program.into(),
            ..self
        }
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

    /// The moment that age is measured from after `-daystart`.
    pub(super) fn end_of_day(&self) -> Timestamp {
        date::end_of_day(self.now, self.zone())
    }

    /// Whether `POSIXLY_CORRECT` is set.
    pub(super) fn is_posix(&self) -> bool {
        let posix = || std::env::var_os("POSIXLY_CORRECT").is_some();
        *self.posix.get_or_init(posix)
    }

    /// Returns the file mode creation mask.
    ///
    /// # Errors
    ///
    /// A message, when it cannot be read. umask(2) could tell, but only by changing the mask for
    /// all threads.
    pub(super) fn creation_mask(&self) -> Result<u32, String> {
        if let Some(mask) = self.mask.get() {
            return Ok(*mask);
        }
        let mask = read_mask()?;
        Ok(*self.mask.get_or_init(|| mask))
    }

    /// Whether there are warnings, when `-warn` or `-nowarn` says `asked`.
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
