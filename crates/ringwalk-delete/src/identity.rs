//! Which file an entry is: device, inode number, and a mark.
//!
//! An entry was shown some time before it is deleted. Meanwhile another file may have taken its
//! name, and a file system may reuse the inode number of a deleted file at once. So a mark is
//! compared too: the time of birth where the file system keeps it, otherwise the state of the file.
//! Then a file that has changed counts as another one.

use super::reason::Reason;
use ringwalk::identity::IdentityTrust;
use ringwalk::time_stamps::SLACK_SECONDS;
use ringwalk::{Fields, FileType, Metadata, Timestamp};
use rustix::fd::BorrowedFd;
use rustix::fs::{AtFlags, Statx, StatxAttributes, StatxFlags, StatxTimestamp, makedev, statx};
use rustix::io::Errno;
use rustix::time::{ClockId, clock_gettime};
use std::num::NonZeroU32;

/// What a mark is made of. The lowest bits of a mark say it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Basis {
    /// The time of birth. A log that grew is still the file that was shown.
    Birth = 1,
    /// Size, and both times of change.
    State = 2,
    /// Size and `mtime` of a file with several links: removing one of them changes `ctime`.
    LinkedState = 3,
}

/// What distinguishes a file from a later one with its inode number: a fingerprint in 4 bytes. An
/// option of it takes 4 bytes, too.
///
/// Two files have the same mark with a probability of 2^-30.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Mark(NonZeroU32);

impl Mark {
    /// Returns the mark of a time of birth.
    pub fn of_birth(time: Timestamp) -> Self {
        Self::new(Basis::Birth, &[time])
    }

    /// Returns the mark of a file on a file system with this trust. `None` if nothing of what
    /// metadata have distinguishes it, or if it has changed so short a time ago that another change
    /// would not show.
    pub fn of(metadata: &Metadata, trust: IdentityTrust) -> Option<Self> {
        let known = Known::of(metadata);
        if trust.keeps_birth && known.birth.is_some() {
            return known.mark(Basis::Birth);
        }
        if known.may_hide_change(clock_gettime(ClockId::Realtime).tv_sec) {
            return None;
        }
        let is_linked = metadata.file_type() != FileType::Directory && metadata.nlink()? > 1;
        known.mark(if is_linked {
            Basis::LinkedState
        } else {
            Basis::State
        })
    }

    fn new(basis: Basis, parts: &[Timestamp]) -> Self {
        let mut mixed: u64 = 0;
        for part in parts {
            mixed ^= part.secs.cast_unsigned() ^ (u64::from(part.nanos) << 34);
            // The finalizer of SplitMix64 (Steele, Lea, Flood 2014): each bit of the input changes
            // half of the bits of the output.
            mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            mixed ^= mixed >> 31;
        }
        // The upper half, and the basis, which is not 0. Zero stands for no mark.
        let upper = u32::try_from(mixed >> 32).unwrap_or(0);
        let bits = (upper & !3) | basis as u32;
        Self(NonZeroU32::new(bits).unwrap_or(NonZeroU32::MIN))
    }

    /// Returns true if it is the mark of a time of birth. Other marks change with the file.
    pub fn is_birth(self) -> bool {
        self.basis() == Basis::Birth
    }

    fn basis(self) -> Basis {
        match self.0.get() & 3 {
            1 => Basis::Birth,
            2 => Basis::State,
            _ => Basis::LinkedState,
        }
    }

    /// Returns the mark as a number that is not 0.
    pub fn to_bits(self) -> u32 {
        self.0.get()
    }

    /// Returns the mark that [`to_bits`](Self::to_bits) made a number of, or `None` for 0.
    pub fn from_bits(bits: u32) -> Option<Self> {
        NonZeroU32::new(bits).map(Self)
    }
}

/// What is known of a file at some time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Known {
    /// Time of birth.
    pub birth: Option<Timestamp>,
    /// Time of the last change of the contents.
    pub mtime: Option<Timestamp>,
    /// Time of the last change of the inode.
    pub ctime: Option<Timestamp>,
    /// Apparent size in bytes.
    pub size: Option<u64>,
}

impl Known {
    fn of(metadata: &Metadata) -> Self {
        Self {
            birth: metadata.btime(),
            mtime: metadata.mtime(),
            ctime: metadata.ctime(),
            size: metadata.size(),
        }
    }

    fn mark(&self, basis: Basis) -> Option<Mark> {
        let size = |size: u64| Timestamp {
            secs: size.cast_signed(),
            nanos: 0,
        };
        Some(match basis {
            Basis::Birth => Mark::of_birth(self.birth?),
            Basis::State => Mark::new(basis, &[self.ctime?, self.mtime?, size(self.size?)]),
            Basis::LinkedState => Mark::new(basis, &[self.mtime?, size(self.size?)]),
        })
    }

    /// Returns true if a file that was read in this second (since 1970), or later, could have
    /// changed once more and kept its `ctime`: its time stamps have whole seconds.
    pub fn may_hide_change(&self, second: i64) -> bool {
        let slack = i64::try_from(SLACK_SECONDS).unwrap_or(i64::MAX);
        self.ctime
            .is_some_and(|ctime| ctime.nanos == 0 && ctime.secs >= second - slack)
    }

    /// Returns true if a file that has this mark by now is as it was known, and false if it is not.
    /// `None` if too little was known.
    pub fn has_mark(&self, mark: Mark) -> Option<bool> {
        Some(self.mark(mark.basis())? == mark)
    }
}

/// Which file an entry was when it was shown. The head of this module's file says what is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Identity {
    /// Device, in the form of `st_dev`.
    pub device: u64,
    /// Inode number.
    pub inode: u64,
    /// The mark. Nothing but a directory can be deleted without one.
    pub mark: Option<Mark>,
}

impl Identity {
    /// Returns the identity in metadata that a walk has read, on a file system with this trust;
    /// `None` without device and inode number.
    ///
    /// The walk must ask for [`Identity::FIELDS`].
    pub fn of(metadata: &Metadata, trust: IdentityTrust) -> Option<Self> {
        let found = metadata.identity()?;
        Some(Self {
            device: found.dev,
            inode: found.ino,
            mark: Mark::of(metadata, trust),
        })
    }

    /// The metadata that an identity is made of.
    pub const FIELDS: Fields = Fields::TYPE
        .union(Fields::INO)
        .union(Fields::NLINK)
        .union(Fields::SIZE)
        .union(Fields::MTIME)
        .union(Fields::CTIME)
        .union(Fields::BTIME);

    /// Returns true if the other one is the same inode, whatever its mark.
    pub(super) fn is_inode(self, other: Self) -> bool {
        (self.device, self.inode) == (other.device, other.inode)
    }
}

/// What the system says of a file now.
#[derive(Clone, Copy, Debug)]
pub struct Found {
    /// Device, in the form of `st_dev`.
    pub device: u64,
    /// Inode number.
    pub inode: u64,
    known: Known,
    /// True if it is a directory.
    pub is_directory: bool,
    /// True if something is mounted here, or would be at an access (autofs).
    pub is_mount_point: bool,
    /// Id of the mount that the file is on. `None` before Linux 5.8.
    pub mount: Option<u64>,
    /// Apparent size in bytes.
    pub size: u64,
    /// Allocated bytes.
    pub allocated: u64,
    /// Number of hard links.
    pub links: u32,
    /// User that owns the file.
    pub owner: u32,
    /// Type and permissions, as `st_mode`.
    pub mode: u16,
}

impl Found {
    /// Reads about a name in a directory. Follows no symbolic link and triggers no mount.
    ///
    /// # Errors
    ///
    /// The errors of [statx(2)](https://man7.org/linux/man-pages/man2/statx.2.html).
    pub fn at(directory: BorrowedFd<'_>, name: &[u8]) -> Result<Self, Errno> {
        let flags = AtFlags::SYMLINK_NOFOLLOW | AtFlags::NO_AUTOMOUNT;
        Self::read(directory, name, flags)
    }

    /// Reads about an open file.
    pub(super) fn of(file: BorrowedFd<'_>) -> Result<Self, Errno> {
        Self::read(file, b"", AtFlags::EMPTY_PATH)
    }

    fn read(file: BorrowedFd<'_>, name: &[u8], flags: AtFlags) -> Result<Self, Errno> {
        let mask = StatxFlags::BASIC_STATS | StatxFlags::BTIME | StatxFlags::MNT_ID;
        statx(file, name, flags, mask).map(|stat| Self::new(&stat))
    }

    fn new(stat: &Statx) -> Self {
        let has = |field: StatxFlags| stat.stx_mask & field.bits() != 0;
        let time = |time: StatxTimestamp| Timestamp {
            secs: time.tv_sec,
            nanos: time.tv_nsec,
        };
        let mounted = StatxAttributes::MOUNT_ROOT | StatxAttributes::AUTOMOUNT;
        Self {
            device: makedev(stat.stx_dev_major, stat.stx_dev_minor),
            inode: stat.stx_ino,
            known: Known {
                birth: has(StatxFlags::BTIME).then(|| time(stat.stx_btime)),
                mtime: has(StatxFlags::MTIME).then(|| time(stat.stx_mtime)),
                ctime: has(StatxFlags::CTIME).then(|| time(stat.stx_ctime)),
                size: has(StatxFlags::SIZE).then_some(stat.stx_size),
            },
            // S_IFMT and S_IFDIR (inode(7)).
            is_directory: stat.stx_mode & 0o170_000 == 0o040_000,
            is_mount_point: stat.stx_attributes.intersects(mounted),
            mount: has(StatxFlags::MNT_ID).then_some(stat.stx_mnt_id),
            size: stat.stx_size,
            allocated: stat.stx_blocks.saturating_mul(512),
            links: stat.stx_nlink,
            owner: stat.stx_uid,
            mode: stat.stx_mode,
        }
    }

    /// Compares it with what was shown.
    ///
    /// A directory changes when entries in it are deleted, so its state says nothing. It is removed
    /// only when it is empty, and its entries are compared one by one.
    ///
    /// # Errors
    ///
    /// [`Reason::Replaced`] if it is another file, [`Reason::Changed`] if that cannot be known.
    pub fn compare(&self, shown: Identity, is_directory: bool) -> Result<(), Reason> {
        let is_inode = (self.device, self.inode) == (shown.device, shown.inode);
        if !is_inode || self.is_directory != is_directory {
            return Err(Reason::Replaced);
        }
        let is_by_birth = shown.mark.is_some_and(Mark::is_birth);
        if is_directory && !is_by_birth {
            return Ok(());
        }
        match shown.mark.and_then(|mark| self.known.has_mark(mark)) {
            Some(true) => Ok(()),
            Some(false) if is_by_birth => Err(Reason::Replaced),
            _ => Err(Reason::Changed),
        }
    }

    /// Returns true if a file that was renamed is the one that was found before. Renaming changes
    /// `ctime`. On overlayfs it also changes the time of birth, as it copies the file up.
    pub fn is_before_rename(&self, renamed: &Self) -> bool {
        let which = |found: &Self| (found.device, found.inode, found.is_directory);
        let state = |found: &Self| (found.known.mtime, found.known.size);
        let has_same_birth = self.known.birth.is_some() && self.known.birth == renamed.known.birth;
        which(self) == which(renamed)
            && (self.is_directory || has_same_birth || state(self) == state(renamed))
    }

    /// Returns the bytes that the file system gets back when this name is removed.
    pub(super) fn freed(&self) -> u64 {
        let is_last = self.is_directory || self.links <= 1;
        if is_last { self.allocated } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::{Found, Identity, Known, Mark};
    use crate::Reason;
    use ringwalk::identity::IdentityTrust;
    use ringwalk::{Metadata, Timestamp};
    use rustix::fd::AsFd;
    use std::collections::HashSet;
    use std::fs::{self, File};
    use std::mem::size_of;
    use std::path::Path;

    fn time(secs: i64, nanos: u32) -> Timestamp {
        Timestamp { secs, nanos }
    }

    fn metadata(path: &Path) -> Metadata {
        Metadata::of_path(None, path, false, Identity::FIELDS).unwrap()
    }

    /// Returns the trust of file systems that keep times of birth, and of those that do not.
    fn trusts() -> [IdentityTrust; 2] {
        ["ext4", "overlay"].map(IdentityTrust::of_type)
    }

    #[test]
    fn times_that_are_close_have_different_marks() {
        let times = (0..100).flat_map(|seconds| (0..100).map(move |nano| (seconds, nano)));
        let marks: HashSet<_> = times
            .map(|(seconds, nano)| Mark::of_birth(time(seconds, nano)))
            .collect();
        // Of 10^4 random numbers of 30 bits, 0.05 pairs are the same.
        assert_eq!(marks.len(), 10_000);
        let late = (0..1000).map(|nano| Mark::of_birth(time(1_700_000_000, 999_999_999 - nano)));
        assert_eq!(late.collect::<HashSet<_>>().len(), 1000);
    }

    #[test]
    fn a_mark_is_a_number_that_is_not_zero() {
        assert_eq!(size_of::<Option<Mark>>(), 4);
        assert_eq!(Mark::from_bits(0), None);
        // The time whose hash is zero.
        assert_ne!(Mark::of_birth(time(0, 0)).to_bits(), 0);
        for mark in [time(0, 0), time(-1, 5), time(i64::MAX, 7)].map(Mark::of_birth) {
            assert_eq!(Mark::from_bits(mark.to_bits()), Some(mark));
        }
    }

    #[test]
    fn a_walk_and_the_deletion_see_the_same_identity() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("f");
        fs::write(&path, "1").unwrap();
        let file = File::open(&path).unwrap();
        let top = File::open(directory.path()).unwrap();
        for trust in trusts() {
            let shown = Identity::of(&metadata(&path), trust).unwrap();
            let found = Found::of(file.as_fd()).unwrap();
            assert_eq!(found.compare(shown, false), Ok(()));
            assert_eq!(found.compare(shown, true), Err(Reason::Replaced));
            let shown = Identity::of(&metadata(directory.path()), trust).unwrap();
            let found = Found::of(top.as_fd()).unwrap();
            assert_eq!(found.compare(shown, true), Ok(()));
            assert!(found.is_directory && !found.is_mount_point);
        }
    }

    #[test]
    fn without_births_a_file_that_has_changed_may_be_another_one() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("f");
        fs::write(&path, "1").unwrap();
        let shown = trusts().map(|trust| Identity::of(&metadata(&path), trust).unwrap());
        let shown_directory = Identity::of(&metadata(directory.path()), trusts()[1]).unwrap();
        fs::write(&path, "longer").unwrap();
        let found = Found::of(File::open(&path).unwrap().as_fd()).unwrap();
        let answers = shown.map(|shown| found.compare(shown, false));
        assert_eq!(answers, [Ok(()), Err(Reason::Changed)]);
        // Deleting the contents of a directory changes the directory.
        fs::remove_file(&path).unwrap();
        let found = Found::of(File::open(directory.path()).unwrap().as_fd()).unwrap();
        assert_eq!(found.compare(shown_directory, true), Ok(()));
    }

    #[test]
    fn a_second_link_is_still_the_file_after_the_first_was_removed() {
        let directory = tempfile::tempdir().unwrap();
        let [one, two] = ["1", "2"].map(|name| directory.path().join(name));
        fs::write(&one, "1").unwrap();
        fs::hard_link(&one, &two).unwrap();
        let shown = Identity::of(&metadata(&two), trusts()[1]).unwrap();
        fs::remove_file(&one).unwrap();
        let found = Found::of(File::open(&two).unwrap().as_fd()).unwrap();
        assert_eq!(found.compare(shown, false), Ok(()));
    }

    #[test]
    fn a_renamed_file_is_known_by_its_contents_or_its_birth() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("f");
        fs::write(&path, "1").unwrap();
        let found = || Found::of(File::open(&path).unwrap().as_fd()).unwrap();
        let before = found();
        fs::rename(&path, directory.path().join("g")).unwrap();
        fs::rename(directory.path().join("g"), &path).unwrap();
        assert!(before.is_before_rename(&found()));
        let copied_up = |mut found: Found| {
            found.known.birth = Some(time(1, 1));
            found
        };
        assert!(before.is_before_rename(&copied_up(found())));
        fs::write(&path, "longer").unwrap();
        assert!(before.is_before_rename(&found()), "a log that grows");
        assert!(!before.is_before_rename(&copied_up(found())));
    }

    #[test]
    fn what_was_not_asked_for_gives_no_mark_and_no_deletion() {
        assert_eq!(Mark::of(&Metadata::default(), trusts()[0]), None);
        assert_eq!(Identity::of(&Metadata::default(), trusts()[0]), None);
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("f");
        fs::write(&path, "1").unwrap();
        let found = Found::of(File::open(&path).unwrap().as_fd()).unwrap();
        let shown = Identity {
            device: found.device,
            inode: found.inode,
            mark: None,
        };
        assert_eq!(found.compare(shown, false), Err(Reason::Changed));
        let mark = Mark::of_birth(time(1, 1));
        assert_eq!(Known::default().has_mark(mark), None);
    }

    #[test]
    fn times_in_whole_seconds_must_be_old_enough() {
        let known = |secs, nanos| Known {
            ctime: Some(time(secs, nanos)),
            ..Known::default()
        };
        assert!(known(100, 0).may_hide_change(102));
        assert!(known(200, 0).may_hide_change(102), "in the future");
        assert!(!known(100, 0).may_hide_change(103));
        assert!(!known(100, 1).may_hide_change(100), "nanoseconds");
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("f");
        fs::write(&path, "1").unwrap();
        let mut found = metadata(&path);
        let ctime = found.ctime().unwrap();
        assert!(Mark::of(&found, trusts()[1]).is_some() || ctime.nanos == 0);
        found.set_ctime(time(ctime.secs, 0));
        assert_eq!(Mark::of(&found, trusts()[1]), None);
    }
}
