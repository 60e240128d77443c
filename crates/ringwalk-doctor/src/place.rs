//! The examined directory: its file system, its device, and the access that this user has.

use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use ringwalk_sys::{Statx, statx};
use ringwalk_text::hex_unless_text;
use rustix::fs::{AtFlags, CWD, Mode, OFlags, StatxFlags, open, openat};
use rustix::io::Errno;
use serde::Serialize;

use ringwalk::device;
use ringwalk::mounts::{self, Mount};

/// A directory with its file system and device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Place {
    /// The path as given, with replacement characters for bytes that are not UTF-8.
    pub path: String,
    /// The bytes of the path in hexadecimal, if they are not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path_hex: Option<String>,
    /// The path as given.
    #[serde(skip)]
    pub given: PathBuf,
    /// The mount point. `None` if the table of mounts does not have it.
    pub mount_point: Option<String>,
    /// The type of the file system, such as `ext4` or `fuse.sshfs`. `None` if the table of mounts
    /// does not have it.
    pub file_system: Option<String>,
    /// The reason why the table of mounts cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mounts_unread: Option<String>,
    /// The device of the file system.
    pub device: Device,
    #[serde(skip)]
    pub(crate) mount: Option<Mount>,
    /// The reason why this user cannot read the directory.
    pub unreadable: Option<String>,
    /// The fields that `statx` returned, of those that a walk asks for.
    pub statx_mask: u32,
}

/// The device of a file system.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Device {
    /// Major number.
    pub major: u32,
    /// Minor number.
    pub minor: u32,
    /// The path of its node. `None` for a file system without a block device.
    pub path: Option<String>,
    /// The reason why this user cannot open the device for reading.
    pub unreadable: Option<String>,
    /// A device rule forbids access, as in containers (`EPERM`). Otherwise it is a lack of
    /// permission (`EACCES`).
    #[serde(skip)]
    pub(crate) forbidden: bool,
    /// The device is a spinning disk. `None` if the kernel does not report it.
    pub rotational: Option<bool>,
}

impl Place {
    /// Examines `directory`.
    ///
    /// # Errors
    ///
    /// When the directory does not exist, cannot be reached, or is not a directory.
    pub(crate) fn read(directory: &Path) -> Result<Self, Errno> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let fd = open(directory, flags, Mode::empty())?;
        let wanted = StatxFlags::BASIC_STATS | StatxFlags::BTIME | StatxFlags::MNT_ID;
        let mut facts = Statx::default();
        statx(&fd, c"", AtFlags::EMPTY_PATH, wanted.bits(), &mut facts)?;
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
            path_hex: hex_unless_text(directory.as_os_str().as_bytes()),
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

fn device(mount: Option<&Mount>, major: u32, minor: u32) -> Device {
    let found = mount.and_then(|mount| device::node(mount, major, minor));
    // btrfs gives each subvolume a device number of its own, which no block device has: that of the
    // node counts.
    let (major, minor) = found
        .as_ref()
        .map_or((major, minor), |(_, numbers)| *numbers);
    let path = found.map(|(path, _)| path);
    // Not O_DIRECT and never for writing; O_NONBLOCK so that a drive without a medium does not keep
    // us waiting.
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
