//! One numbering for the file systems of two snapshots, and what their inode numbers prove.
//!
//! `ringwalk::identity` knows what names a file system. Here each one of the newer snapshot gets
//! the number of its partner of the older one. An imported snapshot may know nothing but devices:
//! then equal devices are taken as the same file system, and others as unknown.

use super::version::Version;
use ringwalk::identity::{IdentityTrust, KnownFileSystem, Sameness};
use ringwalk_snapshot::{Column, FileSystemInfo};
use std::collections::HashMap;

/// The number of a file system that may be any of the other snapshot's.
pub(super) const UNKNOWN: i64 = -1;

/// The number of each file system of each snapshot. A file system that both snapshots have has one
/// number.
#[derive(Clone, Debug, Default)]
pub(super) struct Numbers<'a> {
    /// For the column `fs` of the older snapshot.
    pub(super) old: Vec<i64>,
    /// For the column `fs` of the newer snapshot.
    pub(super) new: Vec<i64>,
    /// The file system of each number.
    known: Vec<KnownFileSystem<'a>>,
}

impl<'a> Numbers<'a> {
    pub(super) fn of(old: &'a [FileSystemInfo], new: &'a [FileSystemInfo]) -> Self {
        let own_number = |at| i64::try_from(at).unwrap_or(i64::MAX);
        let number = |(at, fs): (usize, &KnownFileSystem<'_>)| {
            if is_placeless(fs) {
                UNKNOWN
            } else {
                own_number(at)
            }
        };
        let old: Vec<_> = old.iter().map(FileSystemInfo::known).collect();
        let new: Vec<_> = new.iter().map(FileSystemInfo::known).collect();
        let mut numbers = Self {
            old: (0..).zip(&old).map(number).collect(),
            new: Vec::with_capacity(new.len()),
            known: old.clone(),
        };
        for (fs, partner) in new.iter().zip(partners(&old, &new)) {
            if let Some(at) = partner {
                if fs.kind.is_none() {
                    // If one of the two does not know its type, the type of the other cannot be
                    // trusted.
                    numbers.known[at] = *fs;
                }
                numbers.old[at] = own_number(at);
                numbers.new.push(own_number(at));
            } else {
                numbers.new.push(number((numbers.known.len(), fs)));
                numbers.known.push(*fs);
            }
        }
        numbers
    }

    /// Returns how far inode numbers can be trusted on the file system of this number.
    pub(super) fn trust(&self, number: i64) -> IdentityTrust {
        self.known(Some(number)).trust()
    }

    /// Returns how far inode numbers prove that two versions of one path are one file, or `None` if
    /// they certainly lie on two file systems.
    pub(super) fn trust_between(&self, old: &Version, new: &Version) -> Option<IdentityTrust> {
        let (old, new) = (old.get(Column::Fs), new.get(Column::Fs));
        let (a, b) = (self.known(old), self.known(new));
        if old != new && a.is_surely_other(&b) {
            return None;
        }
        let is_one_type = a.trust() == b.trust();
        let shared = if is_one_type {
            a
        } else {
            KnownFileSystem::default()
        };
        Some(shared.trust())
    }

    /// Returns what is known of the file system of this number: nothing without a number.
    fn known(&self, number: Option<i64>) -> KnownFileSystem<'a> {
        let number = number.and_then(|number| usize::try_from(number).ok());
        let known = number.and_then(|number| self.known.get(number));
        known.copied().unwrap_or_default()
    }
}

/// Returns true if nothing but the device is known of a file system.
fn is_placeless(fs: &KnownFileSystem<'_>) -> bool {
    fs.uuid.is_none() && fs.mount_point.is_none()
}

/// Returns for each file system of the newer snapshot the same file system in the older snapshot.
/// Each is the partner of at most one. Names come before places.
fn partners(old: &[KnownFileSystem<'_>], new: &[KnownFileSystem<'_>]) -> Vec<Option<usize>> {
    let copies = [copies(old), copies(new)];
    let mut partners = vec![None; new.len()];
    let mut is_taken = vec![false; old.len()];
    for least in [Sameness::SameName, Sameness::SamePlace] {
        for (fs, partner) in new.iter().zip(&mut partners) {
            if partner.is_none() {
                // Copies have the same inode numbers for different files.
                let is_copied = fs.uuid.is_some_and(|uuid| {
                    let count = |copies: &Copies<'_>| copies.get(uuid).copied().unwrap_or(0);
                    fs.subvolume.is_none() && copies.iter().any(|copies| count(copies) > 1)
                });
                let may_be = |at: usize| {
                    !is_taken[at]
                        && fs.compare(&old[at]) >= least
                        && (!is_copied || fs.mount_point == old[at].mount_point)
                };
                *partner = best(fs, old, may_be);
                if let Some(at) = *partner {
                    is_taken[at] = true;
                }
            }
        }
    }
    partners
}

/// The number of file systems with each UUID. Subvolumes have another name.
type Copies<'a> = HashMap<&'a str, usize>;

fn copies<'a>(all: &[KnownFileSystem<'a>]) -> Copies<'a> {
    let mut copies = HashMap::new();
    for uuid in all.iter().filter_map(|fs| fs.uuid) {
        *copies.entry(uuid).or_insert(0) += 1;
    }
    copies
}

/// Returns the file system that may be this one. If several may be, place and device decide, or
/// there is none.
fn best(
    fs: &KnownFileSystem<'_>,
    old: &[KnownFileSystem<'_>],
    may_be: impl Fn(usize) -> bool,
) -> Option<usize> {
    let rank = |at: &usize| {
        let old = &old[*at];
        (old.mount_point == fs.mount_point, old.device == fs.device)
    };
    let mut all: Vec<_> = (0..old.len()).filter(|at| may_be(*at)).collect();
    all.sort_by_key(rank);
    match all[..] {
        [.., second, last] if rank(&second) == rank(&last) => None,
        [.., last] => Some(last),
        [] => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ringwalk_snapshot::Text;

    fn fs(uuid: &str, kind: &str, mount_point: &str, device: u64) -> FileSystemInfo {
        let mut fs = FileSystemInfo::default();
        fs.uuid = (!uuid.is_empty()).then(|| uuid.to_owned());
        fs.kind = (!kind.is_empty()).then(|| kind.to_owned());
        fs.mount_point = (!mount_point.is_empty()).then(|| Text::from(mount_point.as_bytes()));
        fs.device = device;
        fs
    }

    fn numbers(old: &[FileSystemInfo], new: &[FileSystemInfo]) -> Vec<i64> {
        let numbers = Numbers::of(old, new);
        assert_eq!(numbers.old, (0..).take(old.len()).collect::<Vec<_>>());
        numbers.new
    }

    #[test]
    fn the_uuid_is_the_file_system_wherever_it_is_mounted() {
        let old = [fs("u1", "ext4", "/", 1), fs("u2", "ext4", "/a", 2)];
        let new = [fs("u2", "ext4", "/b", 1), fs("u1", "ext4", "/", 2)];
        assert_eq!(numbers(&old, &new), [1, 0]);
        assert_eq!(
            numbers(&old, &[fs("u3", "ext4", "/", 1)]),
            [2],
            "another disk"
        );
    }

    #[test]
    fn without_a_uuid_type_and_mount_point_are() {
        let old = [fs("", "tmpfs", "/tmp", 1), fs("", "nfs", "/n", 2)];
        let new = [fs("", "nfs", "/n", 9), fs("", "nfs", "/tmp", 1)];
        assert_eq!(numbers(&old, &new), [1, 2]);
    }

    #[test]
    fn of_imported_files_only_the_device_may_be_known() {
        let old = [fs("", "", "", 1), fs("", "", "", 2)];
        let new = [
            fs("", "", "", 2),
            fs("", "", "", 3),
            fs("u", "ext4", "/", 1),
        ];
        let numbers = Numbers::of(&old, &new);
        assert_eq!(numbers.old, [UNKNOWN, 1]);
        assert_eq!(numbers.new, [1, UNKNOWN, 3]);
    }

    #[test]
    fn a_uuid_that_one_snapshot_could_not_read_is_no_difference() {
        let old = [fs("", "ext4", "/", 1)];
        assert_eq!(numbers(&old, &[fs("u", "ext4", "/", 1)]), [0]);
        assert_eq!(numbers(&old, &[fs("u", "ext4", "/mnt", 1)]), [1]);
    }

    #[test]
    fn subvolumes_with_one_uuid_are_told_apart() {
        let old = [
            fs("u", "btrfs", "/", 1),
            fs("u", "btrfs", "/home", 2),
            fs("u", "btrfs", "/", 3),
        ];
        assert_eq!(numbers(&old, &old), [0, 1, 2]);
        let later = [fs("u", "btrfs", "/home", 8), fs("u", "btrfs", "/", 9)];
        assert_eq!(
            numbers(&old, &later),
            [1, 3],
            "two are at /, and no device tells which"
        );
    }

    #[test]
    fn subvolumes_are_known_by_number_whatever_their_devices_are() {
        let subvolume = |number, device| {
            let mut fs = fs("u", "btrfs", "/b", device);
            fs.subvolume = Some(number);
            fs
        };
        let old = [subvolume(256, 41), subvolume(257, 42), subvolume(5, 40)];
        // A mount has given out the device numbers in another order.
        let new = [
            subvolume(5, 41),
            subvolume(257, 40),
            subvolume(258, 43),
            subvolume(256, 42),
        ];
        assert_eq!(numbers(&old, &new), [2, 1, 3, 0]);
        assert_eq!(
            numbers(&[subvolume(5, 40)], &new),
            [0, 1, 2, 3],
            "most subvolumes are new"
        );
    }

    #[test]
    fn a_name_comes_before_a_place() {
        // The disk at /a has moved to /b, where the UUID could not be read before.
        let old = [fs("", "ext4", "/b", 1), fs("u", "ext4", "/a", 2)];
        let new = [fs("v", "ext4", "/b", 1), fs("u", "ext4", "/b", 2)];
        assert_eq!(numbers(&old, &new), [0, 1]);
        let new = [new[1].clone(), new[0].clone()];
        assert_eq!(numbers(&old, &new), [1, 0]);
    }

    #[test]
    fn copies_of_a_disk_are_told_apart_by_place_then_device() {
        let old = [fs("u", "xfs", "/1", 1), fs("u", "xfs", "/2", 2)];
        // Loop devices are given out anew.
        let new = [fs("u", "xfs", "/2", 1), fs("u", "xfs", "/1", 2)];
        assert_eq!(numbers(&old, &new), [1, 0]);
        let old = [fs("u", "xfs", "/1", 1), fs("u", "xfs", "/1", 2)];
        let new = [fs("u", "xfs", "/1", 2), fs("u", "xfs", "/1", 1)];
        assert_eq!(numbers(&old, &new), [1, 0]);
        assert_eq!(
            numbers(&old[..1], &[fs("u", "xfs", "/9", 1)]),
            [0],
            "one disk, wherever it is mounted"
        );
    }

    #[test]
    fn what_inode_numbers_prove_depends_on_both_file_systems() {
        let old = [
            fs("u", "ext4", "/", 1),
            fs("", "overlay", "/o", 2),
            fs("", "overlay", "/o", 3),
            fs("", "", "/x", 4),
        ];
        let new = [fs("v", "xfs", "/", 1), fs("", "overlay", "/o", 9)];
        let numbers = Numbers::of(&old, &new);
        assert_eq!(numbers.new, [4, 5], "no partner");
        let version = |fs: Option<i64>| {
            let mut version = Version::new(0, 0, b"a"[..].into(), ringwalk::FileType::Regular);
            version.set(Column::Fs, fs);
            version
        };
        let between = |a, b| numbers.trust_between(&version(a), &version(b));
        let trust = |kind| Some(IdentityTrust::of_type(kind));
        assert_eq!(between(Some(0), Some(0)), trust("ext4"));
        assert_eq!(between(Some(0), Some(4)), None, "another disk");
        assert_eq!(between(Some(0), Some(5)), None, "another type");
        assert_eq!(between(Some(1), Some(5)), trust("overlay"), "a layer of it");
        assert_eq!(between(Some(3), Some(4)), trust("unknown"));
        assert_eq!(between(None, Some(4)), trust("unknown"));
    }
}
