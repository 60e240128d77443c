//! Images for tests, mounted through loop devices. They need root and btrfs-progs.

use crate::visit::metadata::{Fields, Metadata};
use ringwalk_sys::{Statx, statx};
use rustix::fs::{AtFlags, CWD};
use std::ffi::CString;
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A mounted file system, unmounted when dropped.
pub(crate) struct Image {
    directory: tempfile::TempDir,
}

impl Image {
    /// Creates and mounts an empty file system. If that is impossible, prints the reason and
    /// returns `None`.
    pub(crate) fn new() -> Option<Self> {
        if !rustix::process::geteuid().is_root() {
            eprintln!("skipped: mounting needs root");
            return None;
        }
        let directory = tempfile::tempdir().ok()?;
        let image = directory.path().join("image");
        File::create(&image).unwrap().set_len(256 << 20).unwrap();
        if !succeeds(Command::new("mkfs.btrfs").arg("-q").arg(&image)) {
            eprintln!("skipped: there is no mkfs.btrfs");
            return None;
        }
        let point = directory.path().join("mnt");
        std::fs::create_dir(&point).unwrap();
        let mut mount = Command::new("mount");
        if !succeeds(mount.args(["-o", "loop"]).arg(&image).arg(&point)) {
            eprintln!("skipped: an image of btrfs cannot be mounted");
            return None;
        }
        Some(Self { directory })
    }

    /// Returns the mount point.
    pub(crate) fn root(&self) -> PathBuf {
        self.directory.path().join("mnt")
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root().join(name)
    }

    /// Runs `btrfs` with `words`, such as `subvolume create`, on paths below the mount point.
    pub(crate) fn subvolume(&self, words: &[&str], paths: &[&str]) {
        let mut command = Command::new("btrfs");
        command.arg("subvolume").args(words);
        command.args(paths.iter().map(|path| self.path(path)));
        assert!(succeeds(&mut command), "{words:?} of {paths:?}");
    }

    /// Writes everything, and makes the mount read-only.
    pub(crate) fn freeze(&self) {
        let mut command = Command::new("mount");
        command.args(["-o", "remount,ro"]).arg(self.root());
        assert!(succeeds(&mut command));
    }

    /// Creates files of all kinds, a wide directory, nested subvolumes, a snapshot of them, and
    /// inodes that have a subvolume's number.
    pub(crate) fn fill(&self) {
        use std::fs::{create_dir, hard_link, write};
        // Subvolumes get the ids 256, 257, ...; inodes the numbers from 257 on. So `collides` is
        // directory 257 next to subvolume 257.
        create_dir(self.path("collides")).unwrap();
        write(self.path("collides/inside"), b"not of the subvolume").unwrap();
        self.subvolume(&["create"], &["one"]);
        self.subvolume(&["create"], &["two"]);
        create_dir(self.path("two/deep")).unwrap();
        self.subvolume(&["create"], &["two/deep/three"]);
        for (path, content) in [
            ("small", vec![b'x'; 100]),
            ("one/large", vec![b'y'; 300_000]),
            ("two/deep/file", vec![b'z'; 5000]),
            ("two/deep/three/last", vec![b'w'; 1]),
        ] {
            write(self.path(path), content).unwrap();
        }
        create_dir(self.path("wide")).unwrap();
        for number in 0..3000 {
            let name = format!("wide/a name that takes some room, number {number}");
            write(self.path(&name), vec![b'v'; number % 3000]).unwrap();
        }
        create_dir(self.path("kinds")).unwrap();
        symlink("nowhere", self.path("kinds/link")).unwrap();
        let sparse = File::create(self.path("kinds/sparse")).unwrap();
        sparse.set_len(1 << 30).unwrap();
        for name in ["kinds/second", "wide/third", "kinds/fourth"] {
            hard_link(self.path("small"), self.path(name)).unwrap();
        }
        self.run("mknod", &["-m", "640"], "kinds/block", &["b", "8", "300"]);
        self.run("mknod", &[], "kinds/character", &["c", "4095", "70000"]);
        self.run("mkfifo", &[], "kinds/pipe", &[]);
        write(self.path("kinds/flags"), b"flags").unwrap();
        self.run("chattr", &["+cdA"], "kinds/flags", &[]);
        self.run("chown", &["70000:80000"], "kinds/sparse", &[]);
        self.run(
            "touch",
            &["-d", "1890-05-06 07:08:09.123456789"],
            "kinds/pipe",
            &[],
        );
        self.run(
            "setfattr",
            &["-n", "user.some", "-v", "value"],
            "kinds",
            &[],
        );
        self.subvolume(&["snapshot"], &["two", "kinds/snapshot"]);
    }

    fn run(&self, program: &str, before: &[&str], path: &str, after: &[&str]) {
        let mut command = Command::new(program);
        command.args(before).arg(self.path(path)).args(after);
        if !succeeds(&mut command) {
            eprintln!("{program} of {path} did not work");
        }
    }
}

impl Drop for Image {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.root()).status();
    }
}

fn succeeds(command: &mut Command) -> bool {
    let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

/// Returns the answer of statx(2) for a path.
pub(crate) fn look(path: &Path) -> Metadata {
    let mut stat = Statx::default();
    let name = CString::new(path.as_os_str().as_bytes()).unwrap();
    let flags = AtFlags::SYMLINK_NOFOLLOW;
    statx(CWD, &name, flags, Fields::STATX.bits(), &mut stat).unwrap();
    Metadata::from(&stat)
}

/// Returns all directories below `top`, of any subvolume, and `top` first.
pub(crate) fn directories(top: &Path) -> Vec<PathBuf> {
    let mut found = vec![top.to_owned()];
    let mut at = 0;
    while at < found.len() {
        for entry in std::fs::read_dir(&found[at]).unwrap() {
            let entry = entry.unwrap();
            if entry.file_type().unwrap().is_dir() {
                found.push(entry.path());
            }
        }
        at += 1;
    }
    found
}
