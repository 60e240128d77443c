//! The directory that was asked about: its file system, its device, and what this user may do with them.

use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Mode, OFlags, StatxFlags, open, openat, statx};
use rustix::io::Errno;
use serde::Serialize;

use ringwalk::device;
use ringwalk::mounts::{self, Mount};

/// A directory and what it stands on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Place {
    /// The path as given; bytes that are not UTF-8 are replaced here.
    pub path: String,
    /// The bytes of the path in hexadecimal, when they are not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path_hex: Option<String>,
    /// The path as given.
    #[serde(skip)]
    pub given: PathBuf,
    /// Where its mount is; none if the table of mounts does not tell.
    pub mount_point: Option<String>,
    /// Type of the file system, such as `ext4` or `fuse.sshfs`; none if the table of mounts does
    /// not tell.
    pub file_system: Option<String>,
    /// Why the table of mounts cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mounts_unread: Option<String>,
    /// The device it is on.
    pub device: Device,
    #[serde(skip)]
    pub(crate) mount: Option<Mount>,
    /// Why the directory cannot be read by this user.
    pub unreadable: Option<String>,
    /// The fields that `statx` returned, of those a walk asks for.
    pub statx_mask: u32,
}

/// The device of a file system.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Device {
    /// Major number.
    pub major: u32,
    /// Minor number.
    pub minor: u32,
    /// Its node; none for a file system without a block device.
    pub path: Option<String>,
    /// Why it cannot be opened for reading by this user.
    pub unreadable: Option<String>,
    /// It is not permissions that keep us out but a rule about devices, as containers have: `EPERM`, not `EACCES`.
    #[serde(skip)]
    pub(crate) forbidden: bool,
    /// Whether it is a spinning disk; none if the kernel does not say.
    pub rotational: Option<bool>,
}

impl Place {
    /// Looks at `directory`.
    ///
    /// # Errors
    ///
    /// When it is not there, cannot be reached, or is not a directory.
    pub(crate) fn read(directory: &Path) -> Result<Self, Errno> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let fd = open(directory, flags, Mode::empty())?;
        let wanted = StatxFlags::BASIC_STATS | StatxFlags::BTIME | StatxFlags::MNT_ID;
        let facts = statx(&fd, c"", AtFlags::EMPTY_PATH, wanted)?;
        let mask = StatxFlags::from_bits_retain(facts.stx_mask);
        let id = mask
            .contains(StatxFlags::MNT_ID)
            .then_some(facts.stx_mnt_id);
        let readable = openat(
            fd.as_fd(),
            c".",
            OFlags::RDONLY | OFlags::CLOEXEC,
            Mode::empty(),
        );
        let real = std::fs::canonicalize(directory).unwrap_or_else(|_| directory.to_owned());
        let (mounts, mounts_unread) = match mounts::read() {
            Ok(mounts) => (mounts, None),
            Err(error) => (Vec::new(), Some(ringwalk_gnu::reason(&error))),
        };
        let mount = mounts::find(&mounts, id, &real);
        Ok(Self {
            path: directory.to_string_lossy().into_owned(),
            path_hex: directory
                .to_str()
                .is_none()
                .then(|| hex(directory.as_os_str().as_bytes())),
            given: directory.to_owned(),
            mount_point: mount.map(|mount| mount.point.to_string_lossy().into_owned()),
            file_system: mount.map(|mount| mount.file_system.to_string_lossy().into_owned()),
            mounts_unread,
            mount: mount.cloned(),
            device: device(mount, facts.stx_dev_major, facts.stx_dev_minor),
            unreadable: readable.err().map(crate::words),
            statx_mask: facts.stx_mask,
        })
    }
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

fn device(mount: Option<&Mount>, major: u32, minor: u32) -> Device {
    let found = mount.and_then(|mount| device::node(mount, major, minor));
    // btrfs gives each subvolume a device number of its own, which no block device has: that of the node counts.
    let (major, minor) = found
        .as_ref()
        .map_or((major, minor), |(_, numbers)| *numbers);
    let path = found.map(|(path, _)| path);
    // Not O_DIRECT and never for writing; O_NONBLOCK so that a drive without a medium does not keep us waiting.
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let attempt = path
        .as_ref()
        .map(|path| openat(CWD, path, flags, Mode::empty()));
    let errno = attempt.and_then(Result::err);
    Device {
        major,
        minor,
        path: path.map(|path| path.to_string_lossy().into_owned()),
        unreadable: errno.map(crate::words),
        forbidden: errno == Some(Errno::PERM),
        rotational: device::is_rotational(major, minor),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsStr;

    #[test]
    fn a_directory_is_described() {
        let place = Place::read(Path::new("/proc")).unwrap();
        assert_eq!(place.file_system.as_deref(), Some("proc"));
        assert_eq!(place.mount_point.as_deref(), Some("/proc"));
        assert_eq!((place.device.path, place.unreadable), (None, None));
    }

    #[test]
    fn what_is_no_directory_is_refused() {
        assert_eq!(
            Place::read(Path::new("/proc/self/status")).unwrap_err(),
            Errno::NOTDIR
        );
        assert_eq!(
            Place::read(Path::new("/proc/no such thing")).unwrap_err(),
            Errno::NOENT
        );
    }

    #[test]
    fn a_path_that_is_not_text_keeps_its_bytes() {
        let name = OsStr::from_bytes(b"\xff0");
        let directory = std::env::temp_dir()
            .join(format!("ringwalk-{}", std::process::id()))
            .join(name);
        std::fs::create_dir_all(&directory).unwrap();
        let place = Place::read(&directory).unwrap();
        std::fs::remove_dir_all(directory.parent().unwrap()).unwrap();
        assert!(place.path_hex.unwrap().ends_with("2fff30"));
    }
}
