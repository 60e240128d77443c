//! The mount that a volume is read below of: what holds for all files of it.

use super::Refused;
use crate::device;
use crate::metadata::{Fields, Metadata};
use crate::mounts::{self, Mount};
use crate::privilege;
use ringwalk_sys::{Statx, statx};
use rustix::fs::{AtFlags, Mode, OFlags, fstatvfs, openat};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{SystemTime, UNIX_EPOCH};

/// Seconds that a clock may have gone on between a change and the time stamp of it, and between two readings of it here.
const CLOCK_SLACK: u64 = 2;

/// Bytes of dirty pages that any disk writes back in a second.
const WRITE_BACK_RATE: u64 = 4 << 20;

/// A mounted file system, kept mounted by an open directory on it.
#[derive(Debug)]
pub(crate) struct Mounted {
    directory: OwnedFd,
    /// What statx says of that directory.
    pub(crate) metadata: Metadata,
    pub(crate) mount: Mount,
    /// Files changed at this second or later may not have been written back.
    unsettled_from: i64,
    /// Files changed at this second or later may have been changed since this was made.
    begin: i64,
}

impl Mounted {
    /// Looks at the mount of the directory `at`. `sync`: has the file system written back first (syncfs(2)), so that nothing
    /// before is unsettled.
    pub(crate) fn new(at: impl AsFd, sync: bool) -> Result<Self, Refused> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let directory = openat(at, c".", flags, Mode::empty())
            .map_err(|errno| Refused::because(format!("it cannot be opened: {errno}")))?;
        let metadata = Self::look_at(&directory)?;
        let mounts = read_mounts()?;
        let mount = mounts.into_iter().find(|mount| mount.id == metadata.mnt_id);
        let mount =
            mount.ok_or_else(|| Refused::because("its mount is not in /proc/self/mountinfo"))?;
        let begin = signed(now().saturating_sub(CLOCK_SLACK));
        let (begin, unsettled_from) = if mount.is_read_only() {
            // Nothing changes.
            (i64::MAX, i64::MAX)
        } else if sync {
            rustix::fs::syncfs(&directory)
                .map_err(|errno| Refused::because(format!("it cannot be synced: {errno}")))?;
            (begin, begin)
        } else {
            let window = write_back_seconds();
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

    /// A walk has read directories since this second: whatever was changed after may not be what it has read of.
    pub(crate) fn begin_at(&mut self, second: u64) {
        let second = signed(second.saturating_sub(CLOCK_SLACK));
        // Where nothing changes, nothing has.
        if self.begin != i64::MAX {
            self.begin = self.begin.min(second);
            self.unsettled_from = self.unsettled_from.min(second);
        }
    }

    /// What statx(2) says of an open directory, its mount included.
    pub(crate) fn look_at(directory: impl AsFd) -> Result<Metadata, Refused> {
        let fields = Fields::all();
        let mut stat = Statx::default();
        statx(
            directory,
            c"",
            AtFlags::EMPTY_PATH,
            fields.bits(),
            &mut stat,
        )
        .map_err(|errno| Refused::because(format!("it cannot be looked at: {errno}")))?;
        let metadata = Metadata::from(&stat);
        if !metadata.mask.contains(Fields::MNT_ID) {
            return Err(Refused::because(
                "this kernel tells no mount ids (Linux 5.8 does)",
            ));
        }
        Ok(metadata)
    }

    /// Refuses mounts whose files look otherwise than the file system has them.
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

    /// What can be said of it for people: how much of it is in use, on what kind of disk.
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

    /// Whether this mount was read-only when it was looked at, be it by itself or with the whole
    /// file system.
    pub(crate) fn is_mounted_read_only(&self) -> bool {
        self.mount.has_option("ro")
    }

    /// The open directory, for ioctls and file handles.
    pub(crate) fn directory(&self) -> BorrowedFd<'_> {
        self.directory.as_fd()
    }

    /// Whether a file last changed (`st_ctime`) at this second may have size and blocks that the file system's own structures do not
    /// have yet: those of delayed allocation come with write-back.
    pub(crate) fn is_unsettled(&self, ctime: i64) -> bool {
        ctime >= self.unsettled_from
    }

    /// Whether a file last changed at this second may have been changed, or made, since the walk began: perhaps it is not the one whose
    /// name was read.
    pub(crate) fn is_new(&self, ctime: i64) -> bool {
        ctime >= self.begin
    }
}

/// The table of mounts. Without it nothing is known of what covers a file system.
pub(crate) fn read_mounts() -> Result<Vec<Mount>, Refused> {
    mounts::read().map_err(|error| Refused::because(error.to_string()))
}

/// Seconds since the epoch. Linux lets nobody set the clock to before it.
pub(crate) fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}

/// A time of the clock as files have theirs; the clock ends before the numbers do.
fn signed(second: u64) -> i64 {
    i64::try_from(second).unwrap_or(i64::MAX)
}

/// Seconds after which changes have been written back: the age at which dirty pages are, the period in which that is looked for
/// (`/proc/sys/vm`, Documentation/admin-guide/sysctl/vm.rst), and the time that the backlog takes.
/// `None` if they never are by themselves, or it cannot be told.
fn write_back_seconds() -> Option<u64> {
    let centiseconds = |name: &str| -> Option<u64> {
        let text = std::fs::read_to_string(format!("/proc/sys/vm/{name}")).ok()?;
        text.trim().parse().ok()
    };
    let expire = centiseconds("dirty_expire_centisecs")?;
    // 0: never by itself.
    let period = centiseconds("dirty_writeback_centisecs").filter(|period| *period > 0)?;
    let backlog = backlog(&std::fs::read_to_string("/proc/meminfo").ok()?)?;
    Some((expire + 2 * period).div_ceil(100) + backlog / WRITE_BACK_RATE)
}

/// Bytes that wait for write-back or are being written, by `/proc/meminfo`; `None` if it does not
/// tell both.
fn backlog(memory: &str) -> Option<u64> {
    let bytes = |name: &str| -> Option<u64> {
        let value = memory.lines().find_map(|line| line.strip_prefix(name))?;
        let kibibytes: u64 = value.split_ascii_whitespace().next()?.parse().ok()?;
        kibibytes.checked_mul(1024)
    };
    bytes("Dirty:")?.checked_add(bytes("Writeback:")?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_waits_for_write_back_is_known_or_not() {
        let memory = "MemTotal: 9 kB\nDirty:    12 kB\nWriteback:   3 kB\nWritebackTmp: 7 kB\n";
        assert_eq!(backlog(memory), Some(15 << 10));
        for unknown in [
            "",
            "Dirty: 12 kB\n",
            "Writeback: 3 kB\n",
            "Dirty: x kB\nWriteback: 3 kB\n",
        ] {
            assert_eq!(backlog(unknown), None, "{unknown}");
        }
    }

    #[test]
    fn this_machine_writes_back() {
        assert!(write_back_seconds().is_some_and(|seconds| seconds > 0));
    }
}
