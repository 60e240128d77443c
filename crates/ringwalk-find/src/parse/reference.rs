//! Files that tests compare with. The parser reads their metadata once.

use super::Refusal;
use super::words::quoted;
use crate::expression::Time;
use ringwalk::{Follow, Identity, Timestamp};
use rustix::fs::{AtFlags, CWD, Statx, StatxFlags, StatxTimestamp, makedev, statx};
use rustix::io::Errno;
use std::ffi::OsStr;

/// A file that a test compares with.
#[derive(Debug)]
pub(super) struct Reference<'a> {
    name: &'a OsStr,
    stat: Statx,
}

impl<'a> Reference<'a> {
    /// Reads the metadata of a file. With `-H`, `-L` and after `-follow` it is that of a link's
    /// target, unless the link leads nowhere.
    pub(super) fn new(name: &'a OsStr, follow: Follow) -> Result<Self, Refusal> {
        let flags = StatxFlags::BASIC_STATS | StatxFlags::BTIME;
        let itself = || statx(CWD, name, AtFlags::SYMLINK_NOFOLLOW, flags);
        let answer = if follow == Follow::Never {
            itself()
        } else {
            statx(CWD, name, AtFlags::empty(), flags).or_else(|error| match error {
                Errno::NOENT | Errno::NOTDIR => itself().map_err(|_| error),
                _ => Err(error),
            })
        };
        match answer {
            Ok(stat) => Ok(Self { name, stat }),
            Err(error) => Err(Refusal::wrong(format!(
                "{}: {}",
                quoted(name),
                ringwalk_gnu::reason(&error.into())
            ))),
        }
    }

    pub(super) fn identity(&self) -> Identity {
        Identity {
            dev: makedev(self.stat.stx_dev_major, self.stat.stx_dev_minor),
            ino: self.stat.stx_ino,
        }
    }

    pub(super) fn time(&self, time: Time) -> Result<Timestamp, Refusal> {
        let stat = &self.stat;
        let known = StatxFlags::from_bits_retain(stat.stx_mask);
        match time {
            Time::Access => Ok(timestamp(stat.stx_atime)),
            Time::Change => Ok(timestamp(stat.stx_ctime)),
            Time::Modification => Ok(timestamp(stat.stx_mtime)),
            Time::Birth if known.contains(StatxFlags::BTIME) => Ok(timestamp(stat.stx_btime)),
            Time::Birth => Err(Refusal::wrong(format!(
                "Cannot obtain birth time of file {}",
                quoted(self.name)
            ))),
        }
    }
}

fn timestamp(time: StatxTimestamp) -> Timestamp {
    Timestamp {
        secs: time.tv_sec,
        nanos: time.tv_nsec,
    }
}
