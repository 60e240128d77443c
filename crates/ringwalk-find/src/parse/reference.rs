//! Files that tests compare with. The parser reads their metadata once.

use super::Refusal;
use super::words::quoted;
use crate::time::Time;
use ringwalk::{Errno, Fields, Follow, Identity, Metadata, Timestamp};
use std::ffi::OsStr;

/// A file that a test compares with.
#[derive(Debug)]
pub(super) struct Reference<'a> {
    name: &'a OsStr,
    metadata: Metadata,
}

impl<'a> Reference<'a> {
    /// Reads the metadata of a file. With `-H`, `-L` and after `-follow`, reads the metadata of a
    /// link's target, unless the link leads nowhere.
    pub(super) fn new(name: &'a OsStr, follow: Follow) -> Result<Self, Refusal> {
        let look = |follow| Metadata::of_path(None, name, follow, Fields::STATX);
        let answer = look(follow != Follow::Never).or_else(|error| match error {
            Errno::NOENT | Errno::NOTDIR => look(false).map_err(|_| error),
            _ => Err(error),
        });
        match answer {
            Ok(metadata) => Ok(Self { name, metadata }),
            Err(error) => Err(Refusal::wrong(format!(
                "{}: {}",
                quoted(name),
                ringwalk_gnu::reason(&error.into())
            ))),
        }
    }

    pub(super) fn identity(&self) -> Result<Identity, Refusal> {
        self.metadata.identity().ok_or_else(|| {
            let name = quoted(self.name);
            Refusal::wrong(format!("Cannot obtain inode number of file {name}"))
        })
    }

    pub(super) fn time(&self, time: Time) -> Result<Timestamp, Refusal> {
        time.of(&self.metadata).ok_or_else(|| {
            // All files have the other times.
            Refusal::wrong(format!(
                "Cannot obtain birth time of file {}",
                quoted(self.name)
            ))
        })
    }
}
