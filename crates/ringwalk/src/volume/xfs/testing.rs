//! File systems to test on: images on loop devices, for whoever may mount them.

use crate::volume::Mounted;
use ringwalk_sys::{Statx, statx};
use rustix::fs::{AtFlags, CWD, Mode, OFlags, open};
use std::ffi::CString;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use tempfile::TempDir;

use crate::metadata::{Fields, Metadata};

/// The least that mkfs.xfs takes is 300 MiB; next to nothing of it is written.
const SIZE: u64 = 320 << 20;

/// A mounted XFS, unmounted and deleted when dropped.
pub(crate) struct Image {
    directory: TempDir,
}

impl Image {
    /// Makes and mounts a file system with these options of mkfs.xfs. `None`, with the reason printed, where that cannot be done.
    pub(crate) fn new(options: &[&str]) -> Option<Self> {
        if !rustix::process::geteuid().is_root() {
            eprintln!("skipped: only root can mount an image");
            return None;
        }
        let directory = tempfile::tempdir().unwrap();
        let image = directory.path().join("image");
        std::fs::File::create(&image)
            .unwrap()
            .set_len(SIZE)
            .unwrap();
        std::fs::create_dir(directory.path().join("mnt")).unwrap();
        let mkfs = Command::new("mkfs.xfs")
            .arg("-q")
            .args(options)
            .arg(&image)
            .status();
        if !mkfs.as_ref().is_ok_and(std::process::ExitStatus::success) {
            eprintln!("skipped: mkfs.xfs (xfsprogs): {mkfs:?}");
            return None;
        }
        let made = Self { directory };
        let mount = made.mount("loop");
        if !mount.as_ref().is_ok_and(std::process::ExitStatus::success) {
            eprintln!("skipped: an XFS image cannot be mounted: {mount:?}");
            return None;
        }
        Some(made)
    }

    fn mount(&self, options: &str) -> std::io::Result<std::process::ExitStatus> {
        let mut mount = Command::new("mount");
        mount.args(["-t", "xfs", "-o", options]);
        if options == "loop" {
            mount.arg(self.directory.path().join("image"));
        }
        mount.arg(self.path()).status()
    }

    /// Where it is mounted.
    pub(crate) fn path(&self) -> PathBuf {
        self.directory.path().join("mnt")
    }

    /// Writes everything back, after which nothing is unsettled.
    pub(crate) fn make_read_only(&self) {
        let mount = self.mount("remount,ro").unwrap();
        assert!(mount.success());
    }

    pub(crate) fn mounted(&self) -> Arc<Mounted> {
        Arc::new(Mounted::new(open_directory(&self.path()), false).unwrap())
    }
}

impl Drop for Image {
    fn drop(&mut self) {
        // Nothing is mounted if that failed.
        let _ = Command::new("umount").arg("-q").arg(self.path()).status();
    }
}

pub(crate) fn open_directory(path: &Path) -> OwnedFd {
    open(path, OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty()).unwrap()
}

/// What statx(2) says of a file.
pub(crate) fn stat(path: &Path, fields: Fields) -> Metadata {
    let path = CString::new(path.as_os_str().as_bytes()).unwrap();
    let mut stat = Statx::default();
    let flags = AtFlags::SYMLINK_NOFOLLOW;
    statx(CWD, &path, flags, fields.bits(), &mut stat).unwrap();
    Metadata::from(&stat)
}
