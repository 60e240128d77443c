//! Images on loop devices for tests. Only root can mount them.

use crate::sources::project_id::is_file_or_directory;
use crate::sources::volume::OpenMount;
use rustix::fs::{Mode, OFlags, open};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use tempfile::TempDir;

use crate::visit::metadata::{Fields, Metadata};

/// The smallest size that mkfs.xfs accepts is 300 MiB; almost none of it is written.
const SIZE: u64 = 320 << 20;

/// A mounted XFS, unmounted and deleted when dropped.
pub(crate) struct Image {
    directory: TempDir,
}

impl Image {
    /// Creates and mounts a file system with these options of mkfs.xfs. If that is impossible,
    /// prints the reason and returns `None`.
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

    /// Returns the mount point.
    pub(crate) fn path(&self) -> PathBuf {
        self.directory.path().join("mnt")
    }

    /// Writes everything back; after that no file is unsettled.
    pub(crate) fn make_read_only(&self) {
        let mount = self.mount("remount,ro").unwrap();
        assert!(mount.success());
    }

    pub(crate) fn mounted(&self) -> Arc<OpenMount> {
        Arc::new(OpenMount::new(open_directory(&self.path()), false).unwrap())
    }
}

impl Drop for Image {
    fn drop(&mut self) {
        // If the mount failed, there is nothing to unmount.
        let _ = Command::new("umount").arg("-q").arg(self.path()).status();
    }
}

pub(crate) fn open_directory(path: &Path) -> OwnedFd {
    open(path, OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty()).unwrap()
}

/// Returns the kernel's metadata of a file. Leaves out the project id of a link or a special file,
/// as the reader leaves that to the kernel.
pub(crate) fn stat(path: &Path, fields: Fields) -> Metadata {
    let mut metadata = Metadata::of_path(None, path, false, fields).unwrap();
    if !is_file_or_directory(metadata.mode) {
        metadata.mask.remove(Fields::PROJECT_ID);
        metadata.project_id = 0;
    }
    metadata
}
