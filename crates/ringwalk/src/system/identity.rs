//! How far the parts of a file's identity can be trusted: device, inode number, time of birth.
//!
//! Every part of Ringwalk that asks whether two names, or a name today and the same name yesterday,
//! are one file asks this module. `docs/identity.md` explains the table for users.

use ringwalk_sys::magic;
use ringwalk_sys::sync::IgnorePoison;
use std::collections::BTreeMap;
use std::hash::Hasher;
use std::os::fd::AsFd;
use std::sync::RwLock;

/// A hash function for device and inode numbers, for tables of files that were seen. It need not
/// resist attacks: nobody chooses the inode numbers of a file system.
#[derive(Clone, Debug, Default)]
pub struct InodeHasher(u64);

impl Hasher for InodeHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u64(&mut self, number: u64) {
        // The factor is 2^64 divided by the golden ratio. The table uses the highest and the lowest
        // bits, and the highest bits of a product are mixed best.
        let product = (self.0 ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = product ^ product >> 32;
    }
}

/// What names a file system, also after it was unmounted and mounted again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NamedBy {
    /// The UUID of the file system. A copy of the device has the same UUID, and Linux can mount
    /// both at a time. So the device number belongs to the name while both are mounted.
    Uuid,
    /// UUID and number of the subvolume. A subvolume of btrfs gets another device number at each
    /// mount. The numbers of deleted subvolumes are not used again.
    UuidAndSubvolume,
    /// Nothing that a program can ask for.
    Nothing,
}

/// How far the parts of an identity can be trusted on one type of file system. A property that is
/// not known for a type counts as false.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IdentityTrust {
    /// At one moment, a device and an inode number name one file. Where this is false, two files
    /// with one link each can have the same numbers: some servers pass on the inode numbers of
    /// several file systems.
    pub is_unique: bool,
    /// A file keeps its inode number when the file system is mounted again.
    pub keeps_inode: bool,
    /// A file keeps its time of birth, if it has one.
    pub keeps_birth: bool,
    /// What names the file system.
    pub named_by: NamedBy,
}

/// Nothing is known.
const NO_TRUST: IdentityTrust = IdentityTrust {
    is_unique: false,
    keeps_inode: false,
    keeps_birth: false,
    named_by: NamedBy::Nothing,
};

/// Inode numbers come from the disk or from one server, but nothing names the file system.
const NAMELESS: IdentityTrust = IdentityTrust {
    is_unique: true,
    keeps_inode: true,
    keeps_birth: true,
    named_by: NamedBy::Nothing,
};

/// The same, but one server may show several file systems as one.
const NAMELESS_UNION: IdentityTrust = IdentityTrust {
    is_unique: false,
    ..NAMELESS
};

const ON_DISK: IdentityTrust = IdentityTrust {
    named_by: NamedBy::Uuid,
    ..NAMELESS
};

const BTRFS: IdentityTrust = IdentityTrust {
    named_by: NamedBy::UuidAndSubvolume,
    ..NAMELESS
};

/// Inode numbers are given out while the file system is mounted, each to one file.
const UNTIL_UNMOUNTED: IdentityTrust = IdentityTrust {
    keeps_inode: false,
    ..NAMELESS
};

/// overlayfs: changing a file of a lower layer copies it up, and the copy has a time of birth of
/// its own. Depending on the layers, inode numbers last or not ("Inode properties" in
/// Documentation/filesystems/overlayfs.rst).
const OVERLAY: IdentityTrust = IdentityTrust {
    keeps_birth: false,
    ..UNTIL_UNMOUNTED
};

/// Types of file systems: the magic number of statfs(2), and the names in `/proc/self/mountinfo`.
///
/// Not in the table, so without trust, is bcachefs too: subvolumes with equal inode numbers share
/// one device number there.
#[rustfmt::skip]
const TYPES: [(u64, &[&str], IdentityTrust); 23] = [
    (magic::EXT4, &["ext2", "ext3", "ext4"], ON_DISK),
    (magic::XFS, &["xfs"], ON_DISK),
    (magic::F2FS, &["f2fs"], ON_DISK),
    (magic::OCFS2, &["ocfs2"], ON_DISK),
    (magic::GFS2, &["gfs2"], ON_DISK),
    (magic::BTRFS, &["btrfs"], BTRFS),
    (magic::ZFS, &["zfs"], NAMELESS),
    (magic::NTFS3, &["ntfs3"], NAMELESS),
    // A server may export several file systems as one, such as the subvolumes of a btrfs.
    (magic::NFS, &["nfs", "nfs4"], NAMELESS_UNION),
    (magic::CEPH, &["ceph"], NAMELESS),
    (magic::LUSTRE, &["lustre"], NAMELESS),
    (magic::GPFS, &["gpfs"], NAMELESS),
    (magic::BEEGFS, &["beegfs"], NAMELESS),
    (magic::TMPFS, &["tmpfs", "devtmpfs"], UNTIL_UNMOUNTED),
    (magic::RAMFS, &["ramfs", "rootfs"], UNTIL_UNMOUNTED),
    (magic::FAT, &["vfat", "msdos"], UNTIL_UNMOUNTED),
    (magic::EXFAT, &["exfat"], UNTIL_UNMOUNTED),
    (magic::OVERLAYFS, &["overlay"], OVERLAY),
    // The server chooses the numbers: bindfs and mergerfs pass on the numbers of several file
    // systems.
    (magic::FUSE, &["fuse", "fuseblk", "virtiofs"], NO_TRUST),
    (magic::V9FS, &["9p"], NO_TRUST),
    // Numbers of the server, or made by the client (mount option `noserverino`).
    (magic::CIFS, &["cifs"], NO_TRUST),
    (magic::SMB2, &["smb3", "smb2"], NO_TRUST),
    (magic::AFS, &["afs"], NO_TRUST),
];

impl IdentityTrust {
    /// Returns what holds for a type of file system by its name in `/proc/self/mountinfo`. The text
    /// that a FUSE server adds after a dot does not count.
    pub fn of_type(name: &str) -> Self {
        let name = name.split('.').next().unwrap_or(name);
        let found = TYPES.iter().find(|(_, names, _)| names.contains(&name));
        found.map_or(NO_TRUST, |found| found.2)
    }

    /// Returns what holds on the file system of an open file. If the system does not say which
    /// type it has, nothing is trusted.
    pub fn of(file: impl AsFd) -> Self {
        let found = magic::of(file).ok();
        let found = TYPES.iter().find(|(number, ..)| Some(*number) == found);
        found.map_or(NO_TRUST, |found| found.2)
    }
}

/// What holds on each device that a run has met, so that each is asked once.
#[derive(Debug, Default)]
pub struct TrustOfDevices(RwLock<BTreeMap<u64, IdentityTrust>>);

impl TrustOfDevices {
    /// Returns what holds on a device (`st_dev`). `file` opens or borrows a file on it, and is
    /// called only for a device that is not known yet. Without a file nothing is trusted, and the
    /// next call asks again.
    pub fn of<F: AsFd>(&self, dev: u64, file: impl FnOnce() -> Option<F>) -> IdentityTrust {
        if let Some(known) = self.0.read().ignore_poison().get(&dev) {
            return *known;
        }
        let Some(file) = file() else { return NO_TRUST };
        let trust = IdentityTrust::of(file);
        self.0.write().ignore_poison().insert(dev, trust);
        trust
    }
}

/// What is known of a file system at some time: now, or when a snapshot was taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KnownFileSystem<'a> {
    /// The type in `/proc/self/mountinfo`.
    pub kind: Option<&'a str>,
    /// The UUID, as text.
    pub uuid: Option<&'a str>,
    /// The number of the subvolume of btrfs.
    pub subvolume: Option<u64>,
    /// The path at which it is mounted.
    pub mount_point: Option<&'a [u8]>,
    /// The device number (`st_dev`).
    pub device: u64,
}

/// Whether two of [`KnownFileSystem`], of two times, are one file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sameness {
    /// They are two.
    Different,
    /// They have the same place, but nothing names them: another file system may be mounted there
    /// by now.
    SamePlace,
    /// They have the same name. One may still be a copy of the other: an LVM snapshot, or the
    /// image of a disk.
    SameName,
    /// They have the same name and device.
    Same,
}

impl KnownFileSystem<'_> {
    /// Returns how far the identities on it can be trusted.
    pub fn trust(&self) -> IdentityTrust {
        self.kind.map_or(NO_TRUST, IdentityTrust::of_type)
    }

    /// Returns true if it certainly is another one: the type differs, or a name that stays.
    /// [`Sameness::Different`] says less where nothing names a file system: another mount point.
    pub fn is_surely_other(&self, other: &Self) -> bool {
        let has_other_name = || {
            matches!((self.uuid, other.uuid), (Some(a), Some(b)) if a != b)
                || matches!((self.subvolume, other.subvolume), (Some(a), Some(b)) if a != b)
        };
        let keeps_name = self.trust().named_by != NamedBy::Nothing;
        self.has_other_type(other) || keeps_name && has_other_name()
    }

    /// Returns true if both types are known and differ. Some types have several names.
    fn has_other_type(&self, other: &Self) -> bool {
        let (Some(a), Some(b)) = (self.kind, other.kind) else {
            return false;
        };
        let mut types = TYPES.iter();
        a != b && !types.any(|(_, names, _)| names.contains(&a) && names.contains(&b))
    }

    /// Compares it with one of another time.
    pub fn compare(&self, other: &Self) -> Sameness {
        if self.has_other_type(other) {
            return Sameness::Different;
        }
        match (self.uuid, other.uuid) {
            (Some(a), Some(b)) if a != b => Sameness::Different,
            (Some(_), Some(_)) => self.compare_named(other),
            // One of them was met where its UUID could not be read.
            _ => self.compare_places(other),
        }
    }

    fn compare_named(&self, other: &Self) -> Sameness {
        match (self.subvolume, other.subvolume) {
            (Some(a), Some(b)) if a != b => Sameness::Different,
            (Some(_), Some(_)) => Sameness::Same,
            (None, None) if self.trust().named_by != NamedBy::UuidAndSubvolume => {
                if self.device == other.device {
                    Sameness::Same
                } else {
                    Sameness::SameName
                }
            }
            // Which subvolume it is could not be found out.
            _ => self.compare_places(other),
        }
    }

    fn compare_places(&self, other: &Self) -> Sameness {
        let is_same = match (self.mount_point, other.mount_point) {
            (Some(a), Some(b)) => a == b,
            // Both are imported: nothing but the device is known.
            (None, None) => self.device == other.device,
            _ => false,
        };
        if is_same {
            Sameness::SamePlace
        } else {
            Sameness::Different
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(kind: &'static str, uuid: &'static str, device: u64) -> KnownFileSystem<'static> {
        KnownFileSystem {
            kind: Some(kind),
            uuid: Some(uuid).filter(|uuid| !uuid.is_empty()),
            device,
            mount_point: Some(b"/mnt"),
            ..KnownFileSystem::default()
        }
    }

    #[test]
    fn names_and_numbers_of_a_type_agree() {
        for (number, names, trust) in TYPES {
            for name in names {
                assert_eq!(IdentityTrust::of_type(name), trust, "{name}");
            }
            let rows = TYPES.iter().filter(|row| row.0 == number);
            assert_eq!(rows.count(), 1, "{names:?}");
        }
        assert_eq!(IdentityTrust::of_type("fuse.bindfs"), NO_TRUST);
        assert_eq!(IdentityTrust::of_type("bcachefs"), NO_TRUST);
    }

    #[test]
    fn an_open_file_has_the_trust_of_its_type() {
        let proc = std::fs::File::open("/proc/self/mountinfo").unwrap();
        assert_eq!(IdentityTrust::of(&proc), NO_TRUST);
        let devices = TrustOfDevices::default();
        assert_eq!(devices.of(1, || None::<std::fs::File>), NO_TRUST);
        devices.0.write().unwrap().insert(1, ON_DISK);
        assert_eq!(devices.of(1, || Some(&proc)), ON_DISK);
    }

    #[test]
    fn a_copy_of_a_device_has_the_name_but_not_the_device() {
        let origin = known("ext4", "u", 7);
        assert_eq!(origin.compare(&known("ext4", "u", 7)), Sameness::Same);
        assert_eq!(origin.compare(&known("ext4", "u", 8)), Sameness::SameName);
        assert_eq!(origin.compare(&known("ext2", "u", 7)), Sameness::Same);
        assert_eq!(origin.compare(&known("ext4", "v", 7)), Sameness::Different);
    }

    #[test]
    fn only_types_and_names_that_stay_prove_that_it_is_another_one() {
        let other = |a: KnownFileSystem<'_>, b| a.is_surely_other(&b);
        assert!(other(known("ext4", "", 7), known("xfs", "", 7)));
        assert!(other(known("ext4", "u", 7), known("ext4", "v", 7)));
        assert!(!other(known("ext3", "u", 7), known("ext4", "u", 8)));
        assert!(!other(known("nfs", "", 7), known("nfs4", "", 8)));
        // A tree has another UUID each time that it is mounted.
        assert!(!other(known("overlay", "u", 7), known("overlay", "v", 7)));
        let nothing = KnownFileSystem::default();
        assert!(!other(known("ext4", "u", 7), nothing) && !other(nothing, known("ext4", "u", 7)));
        let subvolume = |number| KnownFileSystem {
            subvolume: Some(number),
            ..known("btrfs", "u", 40)
        };
        assert!(other(subvolume(5), subvolume(256)) && !other(subvolume(5), subvolume(5)));
        assert_eq!(
            known("ext4", "", 7).compare(&known("xfs", "", 7)),
            Sameness::Different
        );
    }

    #[test]
    fn subvolumes_are_told_apart_by_number_and_not_by_device() {
        let subvolume = |number, device| KnownFileSystem {
            subvolume: Some(number),
            ..known("btrfs", "u", device)
        };
        assert_eq!(subvolume(5, 40).compare(&subvolume(5, 41)), Sameness::Same);
        assert_eq!(
            subvolume(5, 40).compare(&subvolume(256, 40)),
            Sameness::Different
        );
        let unknown = known("btrfs", "u", 40);
        assert_eq!(subvolume(5, 40).compare(&unknown), Sameness::SamePlace);
    }

    #[test]
    fn without_a_uuid_only_the_place_is_the_same() {
        let tmpfs = known("tmpfs", "", 40);
        assert_eq!(tmpfs.compare(&known("tmpfs", "", 41)), Sameness::SamePlace);
        assert_eq!(
            tmpfs.compare(&known("ext4", "u", 40)),
            Sameness::Different,
            "another type"
        );
        let elsewhere = KnownFileSystem {
            mount_point: Some(b"/other"),
            ..tmpfs
        };
        assert_eq!(tmpfs.compare(&elsewhere), Sameness::Different);
        let imported = KnownFileSystem {
            device: 40,
            ..KnownFileSystem::default()
        };
        assert_eq!(imported.compare(&imported), Sameness::SamePlace);
        assert_eq!(
            imported.compare(&KnownFileSystem {
                device: 41,
                ..imported
            }),
            Sameness::Different
        );
    }
}
