//! An open mount: the facts that hold for all files of a volume.

use super::Refused;
use crate::system::device;
use crate::system::mounts::{self, Mount};
use crate::system::privilege;
use crate::system::time_stamps::SLACK_SECONDS;
use crate::system::write_back;
use crate::visit::metadata::{Fields, Metadata};
use ringwalk_sys::{Statx, statx};
use rustix::fs::{AtFlags, Mode, OFlags, fstatvfs, openat};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{SystemTime, UNIX_EPOCH};

/// A mounted file system, kept mounted by an open directory on it.
#[derive(Debug)]
pub(crate) struct OpenMount {
    directory: OwnedFd,
    /// The metadata of the open directory.
    pub(crate) metadata: Metadata,
    pub(crate) mount: Mount,
    /// Files changed at this second or later may not have been written back.
    unsettled_from: i64,
    /// Files changed at this second or later may have been changed since the mount was opened.
    begin: i64,
}

impl OpenMount {
    /// Opens the mount of the directory `at`. If `sync` is true, first writes the file system back
    /// (syncfs(2)), so that earlier changes are settled.
    pub(crate) fn new(at: impl AsFd, sync: bool) -> Result<Self, Refused> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let directory = openat(at, c".", flags, Mode::empty())
            .map_err(|errno| Refused::because(format!("it cannot be opened: {errno}")))?;
        let metadata = Self::look_at(&directory)?;
        let mounts = read_mounts()?;
        let mount = mounts.into_iter().find(|mount| mount.id == metadata.mnt_id);
        let mount =
            mount.ok_or_else(|| Refused::because("its mount is not in /proc/self/mountinfo"))?;
        let begin = signed(now().saturating_sub(SLACK_SECONDS));
        let (begin, unsettled_from) = if mount.is_read_only() {
            // A read-only file system does not change.
            (i64::MAX, i64::MAX)
        } else if sync {
            rustix::fs::syncfs(&directory)
                .map_err(|errno| Refused::because(format!("it cannot be synced: {errno}")))?;
            (begin, begin)
        } else {
            let window = write_back::seconds();
            (
                begin,
                window.map_or(i64::MIN, |window| begin.saturating_sub_unsigned(window)),
            )
        };
        Ok(Self {
            directory,
            metadata,
            mount,
            unsettled_from,
            begin,
        })
    }

    /// Notes that a walk has read directories since this second. A file changed later may not be
    /// the one whose name the walk has read.
    pub(crate) fn begin_at(&mut self, second: u64) {
        let second = signed(second.saturating_sub(SLACK_SECONDS));
        // On a read-only file system nothing has changed.
        if self.begin != i64::MAX {
            self.begin = self.begin.min(second);
            self.unsettled_from = self.unsettled_from.min(second);
        }
    }

    /// Returns the metadata of an open directory, its mount id included. They have the fields that
    /// files of a volume can have, as the kernel may return more than it is asked for.
    pub(crate) fn look_at(directory: impl AsFd) -> Result<Metadata, Refused> {
        let fields = Fields::VOLUME;
        let mut stat = Statx::default();
        statx(
            directory,
            c"",
            AtFlags::EMPTY_PATH,
            fields.bits(),
            &mut stat,
        )
        .map_err(|errno| Refused::because(format!("it cannot be looked at: {errno}")))?;
        let mut metadata = Metadata::from(&stat);
        metadata.retain(fields);
        if !metadata.mask.contains(Fields::MNT_ID) {
            return Err(Refused::because(
                "this kernel reports no mount ids (Linux 5.8 does)",
            ));
        }
        Ok(metadata)
    }

    /// Declines mounts that show files with other metadata than the file system holds.
    pub(crate) fn check(&self) -> Result<(), Refused> {
        if self.mount.has_option("idmapped") {
            return Err(Refused::because("the mount is idmapped"));
        }
        if self.mount.has_option("lazytime") {
            return Err(Refused::because(
                "it is mounted with lazytime: times of changes are in memory only",
            ));
        }
        if !privilege::is_initial_namespace() {
            return Err(Refused::because(
                "this process is in a user namespace, where ids are mapped",
            ));
        }
        Ok(())
    }

    /// Returns a description for people: how many inodes are in use, and the kind of disk.
    pub(crate) fn describe(&self) -> String {
        let mut facts = Vec::new();
        if let Ok(stat) = fstatvfs(&self.directory)
            && stat.f_files > 0
        {
            let used = stat.f_files.saturating_sub(stat.f_ffree);
            facts.push(format!("{used} of {} inodes in use", stat.f_files));
        }
        match device::is_rotational(self.mount.major, self.mount.minor) {
            Some(true) => facts.push("rotational".into()),
            Some(false) => facts.push("not rotational".into()),
            None => {}
        }
        facts.push(
            "CAP_DAC_READ_SEARCH ".to_owned()
                + if privilege::may_read_everything() {
                    "held"
                } else {
                    "not held"
                },
        );
        facts.join(", ")
    }

    /// Returns true if this mount, or the whole file system, was read-only when it was opened.
    pub(crate) fn is_mounted_read_only(&self) -> bool {
        self.mount.has_option("ro")
    }

    /// Returns the open directory, for ioctls and file handles.
    pub(crate) fn directory(&self) -> BorrowedFd<'_> {
        self.directory.as_fd()
    }

    /// Returns true if the file system's structures may lack the size and blocks of a file that was
    /// last changed (`st_ctime`) at this second. Delayed allocation writes them only with the data.
    pub(crate) fn is_unsettled(&self, ctime: i64) -> bool {
        ctime >= self.unsettled_from
    }

    /// Returns true if a file that was last changed at this second may have been changed or created
    /// since the walk began. It may not be the file whose name was read.
    pub(crate) fn is_new(&self, ctime: i64) -> bool {
        ctime >= self.begin
    }
}

/// Reads the mount table. Without the table, the mounts that cover a file system are unknown.
pub(crate) fn read_mounts() -> Result<Vec<Mount>, Refused> {
    mounts::read().map_err(|error| Refused::because(error.to_string()))
}

/// Returns the seconds since the epoch. Linux does not let the clock be set to a time before the
/// epoch.
pub(crate) fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}

/// Converts a time of the clock to a time of a file. No clock reaches the largest number.
fn signed(second: u64) -> i64 {
    i64::try_from(second).unwrap_or(i64::MAX)
}
