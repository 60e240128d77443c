//! Types of file systems as statfs(2) reports them in `f_type`: magic numbers.
//!
//! Each number is from libc, or from `include/uapi/linux/magic.h` or statfs(2) if libc has none.
//! Magic numbers have 32 bits; [`of`] returns them without the sign extension that a signed
//! `f_type` brings.

#![allow(
    clippy::cast_sign_loss,
    reason = "libc has them signed on some targets, unsigned on others"
)]

use rustix::fs::{StatFs, fstatfs};
use rustix::io::Errno;
use std::os::fd::AsFd;

/// The bits of a magic number.
const BITS: u64 = 0xffff_ffff;

/// 9P.
pub const V9FS: u64 = 0x0102_1997;
/// AFS.
pub const AFS: u64 = libc::AFS_SUPER_MAGIC as u64 & BITS;
/// `BeeGFS` (stat(1) of coreutils lists it).
pub const BEEGFS: u64 = 0x1983_0326;
/// `binfmt_misc`.
pub const BINFMT_MISC: u64 = 0x4249_4e4d;
/// The file system of BPF objects.
pub const BPF: u64 = libc::BPF_FS_MAGIC as u64 & BITS;
/// btrfs.
pub const BTRFS: u64 = libc::BTRFS_SUPER_MAGIC as u64 & BITS;
/// Ceph.
pub const CEPH: u64 = 0x00c3_6400;
/// cgroup, version 1.
pub const CGROUP: u64 = libc::CGROUP_SUPER_MAGIC as u64 & BITS;
/// cgroup, version 2.
pub const CGROUP2: u64 = libc::CGROUP2_SUPER_MAGIC as u64 & BITS;
/// CIFS.
pub const CIFS: u64 = 0xff53_4d42;
/// configfs.
pub const CONFIGFS: u64 = 0x6265_6570;
/// debugfs.
pub const DEBUGFS: u64 = libc::DEBUGFS_MAGIC as u64 & BITS;
/// devpts.
pub const DEVPTS: u64 = libc::DEVPTS_SUPER_MAGIC as u64 & BITS;
/// efivarfs.
pub const EFIVARFS: u64 = 0xde5e_81e4;
/// exFAT.
pub const EXFAT: u64 = 0x2011_bab0;
/// ext2, ext3 and ext4.
pub const EXT4: u64 = libc::EXT4_SUPER_MAGIC as u64 & BITS;
/// F2FS.
pub const F2FS: u64 = libc::F2FS_SUPER_MAGIC as u64 & BITS;
/// FAT.
pub const FAT: u64 = libc::MSDOS_SUPER_MAGIC as u64 & BITS;
/// FUSE and virtiofs.
pub const FUSE: u64 = libc::FUSE_SUPER_MAGIC as u64 & BITS;
/// GFS2.
pub const GFS2: u64 = 0x0116_1970;
/// GPFS, which IBM calls Storage Scale (stat(1) of coreutils lists it).
pub const GPFS: u64 = 0x4750_4653;
/// hugetlbfs.
pub const HUGETLBFS: u64 = libc::HUGETLBFS_MAGIC as u64 & BITS;
/// Lustre.
pub const LUSTRE: u64 = 0x0bd0_0bd0;
/// POSIX message queues.
pub const MQUEUE: u64 = 0x1980_0202;
/// NFS.
pub const NFS: u64 = libc::NFS_SUPER_MAGIC as u64 & BITS;
/// NTFS, read by the driver ntfs3 (`fs/ntfs3/super.c`).
pub const NTFS3: u64 = 0x7366_746e;
/// OCFS2.
pub const OCFS2: u64 = libc::OCFS2_SUPER_MAGIC as u64 & BITS;
/// overlayfs.
pub const OVERLAYFS: u64 = libc::OVERLAYFS_SUPER_MAGIC as u64 & BITS;
/// proc.
pub const PROC: u64 = libc::PROC_SUPER_MAGIC as u64 & BITS;
/// pstore.
pub const PSTORE: u64 = 0x6165_676c;
/// ramfs.
pub const RAMFS: u64 = 0x8584_58f6;
/// securityfs.
pub const SECURITYFS: u64 = libc::SECURITYFS_MAGIC as u64 & BITS;
/// SMB, version 1.
pub const SMB: u64 = libc::SMB_SUPER_MAGIC as u64 & BITS;
/// SMB, version 2 and later.
pub const SMB2: u64 = 0xfe53_4d42;
/// sysfs.
pub const SYSFS: u64 = libc::SYSFS_MAGIC as u64 & BITS;
/// tmpfs.
pub const TMPFS: u64 = libc::TMPFS_MAGIC as u64 & BITS;
/// tracefs.
pub const TRACEFS: u64 = libc::TRACEFS_MAGIC as u64 & BITS;
/// XFS.
pub const XFS: u64 = libc::XFS_SUPER_MAGIC as u64 & BITS;
/// ZFS (`ZFS_SUPER_MAGIC` of `OpenZFS`, `include/sys/zfs_znode.h`).
pub const ZFS: u64 = 0x2fc1_2fc1;

/// Returns the type of the file system that an open file is on.
///
/// # Errors
///
/// The errors of statfs(2).
pub fn of(file: impl AsFd) -> Result<u64, Errno> {
    fstatfs(file).map(|found| of_statfs(&found))
}

/// Returns the type in what statfs(2) has reported.
pub fn of_statfs(found: &StatFs) -> u64 {
    found.f_type.cast_unsigned() & BITS
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;

    #[test]
    fn the_kernel_reports_these_numbers() {
        for (path, magic) in [("/proc", PROC), ("/sys", SYSFS)] {
            assert_eq!(of(File::open(path).unwrap()), Ok(magic), "{path}");
        }
    }

    #[test]
    fn a_sign_is_no_part_of_a_number() {
        let mut found = fstatfs(File::open("/proc").unwrap()).unwrap();
        found.f_type = u32::try_from(BTRFS).unwrap().cast_signed().into();
        assert!(found.f_type < 0);
        assert_eq!(of_statfs(&found), BTRFS);
    }
}
