//! The device of the kernel module: finds it, recognises it, and calls its ioctls.
//!
//! Any file may lie at `/dev/ringwalk`, and any driver may use the same ioctl number for something
//! else. So this module calls no ioctl before it knows that the file is a character device with the
//! number that the kernel's class `misc` lists for `ringwalk`. It uses no command before the device
//! has returned its magic number and version.

use std::ffi::CStr;
use std::fmt;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use io_uring::types;
use rustix::fs::{CWD, FileType, Mode, OFlags, fstat, major, minor, openat};
use rustix::io::{Errno, read, retry_on_intr};
use rustix::ioctl::Opcode;

use crate::getdents::{errno_of, last_errno};
use crate::opcode::{Getdents, ReadPlus, ReadTree, filled_by_module};
use crate::readdirplus::PlusLayout;
use crate::uapi;

/// The path that udev gives the device.
const DEVICE: &CStr = c"/dev/ringwalk";

/// The kernel lists the number of the misc device of this name here.
const NUMBER: &CStr = c"/sys/class/misc/ringwalk/dev";

/// The commands that a source of directories needs.
const NEEDED: u32 =
    uapi::command_bit(uapi::IOC_GETDENTS) | uapi::command_bit(uapi::IOC_READDIRPLUS);

/// Why the kernel module cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModuleRefused {
    /// There is no device: the module is not loaded.
    Missing,
    /// The device cannot be opened.
    Open(Errno),
    /// The file at that path is not the module's device. Says what it is.
    Foreign(&'static str),
    /// The module has another version of the interface: this one.
    Version(u32),
    /// The module lacks commands that are needed.
    Commands,
}

impl fmt::Display for ModuleRefused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => {
                f.write_str("the kernel module is not loaded: there is no /dev/ringwalk")
            }
            Self::Open(errno) => write!(f, "/dev/ringwalk cannot be opened: {errno}"),
            Self::Foreign(what) => write!(f, "/dev/ringwalk is not the kernel module's: {what}"),
            Self::Version(found) => write!(
                f,
                "the kernel module has version {found} of its interface, and this program version {}",
                uapi::VERSION
            ),
            Self::Commands => f.write_str("the kernel module lacks commands that are needed"),
        }
    }
}

impl std::error::Error for ModuleRefused {}

/// The result of one read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Filled {
    /// Bytes of records; 0 only at the end of the directory.
    pub bytes: usize,
    /// True if the directory has no more entries.
    pub end: bool,
}

impl Filled {
    /// Decodes the result of a request: bytes, or a negative errno.
    pub(crate) fn of(result: i32, end: bool) -> Result<Self, Errno> {
        match usize::try_from(result) {
            Ok(bytes) => Ok(Self {
                bytes,
                end: bytes == 0 || end,
            }),
            Err(_) => Err(errno_of(result)),
        }
    }
}

/// What a read returns for each entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// Names, in the records of `getdents64`.
    Names,
    /// Names and metadata.
    Plus(PlusLayout),
}

/// The device of the kernel module, open.
#[derive(Debug)]
pub struct ModuleDevice {
    fd: OwnedFd,
    info: uapi::Info,
}

impl ModuleDevice {
    /// Opens and recognises the device. Without a device this takes one system call.
    ///
    /// # Errors
    ///
    /// The reason why the device cannot be used.
    pub fn open() -> Result<Self, ModuleRefused> {
        Self::open_at(DEVICE, NUMBER)
    }

    fn open_at(device: &CStr, number: &CStr) -> Result<Self, ModuleRefused> {
        // `O_PATH` looks at the file without opening the device: opening another driver's device
        // can have effects.
        let seen = open(device, OFlags::PATH).map_err(|errno| match errno {
            Errno::NOENT | Errno::NOTDIR => ModuleRefused::Missing,
            errno => ModuleRefused::Open(errno),
        })?;
        let expected = misc_number(number);
        is_ours(seen.as_fd(), expected)?;
        let flags = OFlags::RDONLY | OFlags::NONBLOCK;
        let fd = open(device, flags).map_err(ModuleRefused::Open)?;
        // The file may have been replaced since it was looked at.
        is_ours(fd.as_fd(), expected)?;
        let mut info = uapi::Info {
            size: uapi::Info::SIZE,
            ..uapi::Info::default()
        };
        ioctl(fd.as_fd(), uapi::IOC_INFO, &mut info)
            .map_err(|_| ModuleRefused::Foreign("it does not report its version"))?;
        if info.magic != uapi::MAGIC {
            return Err(ModuleRefused::Foreign("it does not report its name"));
        }
        if info.version != uapi::VERSION {
            return Err(ModuleRefused::Version(info.version));
        }
        if info.commands & NEEDED != NEEDED {
            return Err(ModuleRefused::Commands);
        }
        Ok(Self { fd, info })
    }

    /// Returns what the module reports about itself.
    pub fn info(&self) -> &uapi::Info {
        &self.info
    }

    /// Reads the next entries of the directory `fd` into `buffer`, in this thread. For records of
    /// READDIRPLUS `buffer` must begin at a multiple of 8.
    ///
    /// # Errors
    ///
    /// The errors of getdents(2), and of the device: `ENOTTY`, `EPERM`, `ENODEV`, `ENOMEM`. The
    /// caller handles `EINTR`.
    pub fn read(&self, fd: impl AsFd, what: &What, buffer: &mut [u8]) -> Result<Filled, Errno> {
        let len = u32::try_from(buffer.len()).unwrap_or(u32::MAX);
        let (buf, fd) = (buffer.as_mut_ptr(), types::Fd(fd.as_fd().as_raw_fd()));
        let (result, result_flags) = match what {
            What::Names => {
                let mut request = Getdents::new(fd, buf, len).request(true);
                let result = ioctl(self.fd.as_fd(), uapi::IOC_GETDENTS, &mut request)?;
                (result, request.result_flags)
            }
            What::Plus(layout) => {
                let mut request = ReadPlus::new(fd, buf, len, layout).request(true);
                let result = ioctl(self.fd.as_fd(), uapi::IOC_READDIRPLUS, &mut request)?;
                (result, request.result_flags)
            }
        };
        filled_by_module(result, result_flags)
    }

    /// Returns whether the module can read [whole trees](Self::read_tree).
    pub fn reads_trees(&self) -> bool {
        self.info.commands & uapi::command_bit(uapi::IOC_READTREE) != 0
    }

    /// Reads the next entries of the directory `fd`, and the entries of directories below it, into
    /// `buffer`, in this thread: [groups](crate::TreeGroup) of records of READDIRPLUS. `buffer`
    /// must begin at a multiple of 8. [`Filled::end`] is about `fd` itself.
    ///
    /// # Errors
    ///
    /// The errors of [`read`](Self::read); `ENOTTY` for a module that cannot read trees.
    pub fn read_tree(
        &self,
        fd: impl AsFd,
        layout: &PlusLayout,
        bounds: TreeBounds,
        buffer: &mut [u8],
    ) -> Result<Filled, Errno> {
        let len = u32::try_from(buffer.len()).unwrap_or(u32::MAX);
        let (buf, fd) = (buffer.as_mut_ptr(), types::Fd(fd.as_fd().as_raw_fd()));
        let tree = ReadTree::new(fd, buf, len, layout, bounds.depth);
        let mut request = tree.milliseconds(bounds.milliseconds).request(true);
        let result = ioctl(self.fd.as_fd(), uapi::IOC_READTREE, &mut request)?;
        filled_by_module(result, request.result_flags)
    }
}

/// The directories below one that a READTREE reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TreeBounds {
    /// Levels below the directory of the request; 0 for that one alone.
    pub depth: u32,
    /// After so many milliseconds no more directories are opened; 0 for no limit.
    pub milliseconds: u32,
}

impl AsFd for ModuleDevice {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

fn open(path: &CStr, flags: OFlags) -> Result<OwnedFd, Errno> {
    let flags = flags | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    retry_on_intr(|| openat(CWD, path, flags, Mode::empty()))
}

/// Returns the device number in this file, which holds it as text.
fn misc_number(path: &CStr) -> Option<(u32, u32)> {
    let fd = retry_on_intr(|| openat(CWD, path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()))
        .ok()?;
    let mut text = [0; 32];
    let length = retry_on_intr(|| read(&fd, &mut text)).ok()?;
    let text = std::str::from_utf8(&text[..length]).ok()?;
    let (major, minor) = text.trim_end().split_once(':')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

fn is_ours(fd: BorrowedFd<'_>, expected: Option<(u32, u32)>) -> Result<(), ModuleRefused> {
    let stat = fstat(fd).map_err(ModuleRefused::Open)?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::CharacterDevice {
        return Err(ModuleRefused::Foreign("it is not a character device"));
    }
    match expected {
        None => Err(ModuleRefused::Foreign(
            "/sys/class/misc/ringwalk does not report the number of the device",
        )),
        Some(number) if number == (major(stat.st_rdev), minor(stat.st_rdev)) => Ok(()),
        Some(_) => Err(ModuleRefused::Foreign(
            "it has another number than /sys/class/misc/ringwalk says",
        )),
    }
}

/// A structure that the ioctl commands read and write.
trait IoctlArgument: Copy {}
impl IoctlArgument for uapi::Info {}
impl IoctlArgument for uapi::Getdents {}
impl IoctlArgument for uapi::Readdirplus {}
impl IoctlArgument for uapi::Readtree {}

/// Calls an ioctl and returns its result.
fn ioctl<R: IoctlArgument>(
    device: BorrowedFd<'_>,
    command: Opcode,
    request: &mut R,
) -> Result<i32, Errno> {
    // SAFETY: `device` is a character device that the kernel lists under the module's name, so
    // `command` reads and writes one `R`, which begins with its size, to a pointer valid for both
    // as `request` is borrowed mutably; it consists of integers, for which any bytes are valid. The
    // buffer that the request names is, by `ModuleDevice::read` and `read_tree`, one that is
    // borrowed mutably for longer than the call; INFO names none. The command is done when the call
    // returns.
    let status = unsafe {
        libc::syscall(
            libc::SYS_ioctl,
            device.as_raw_fd(),
            command,
            std::ptr::from_mut(request),
        )
    };
    match i32::try_from(status) {
        Ok(result) if result >= 0 => Ok(result),
        _ => Err(last_errno()),
    }
}

#[cfg(test)]
mod tests {
    //! Checks that other files are refused as the device. A guest with the module tests the device.

    use super::*;
    use std::ffi::CString;
    use std::os::unix::ffi::OsStrExt;
    use std::path::Path;

    fn c_path(path: &Path) -> CString {
        CString::new(path.as_os_str().as_bytes()).unwrap()
    }

    fn refused(device: &CStr, number: &CStr) -> ModuleRefused {
        ModuleDevice::open_at(device, number).expect_err("it is none")
    }

    #[test]
    fn where_there_is_nothing_it_is_missing() {
        assert_eq!(
            refused(c"/dev/no-such-device", NUMBER),
            ModuleRefused::Missing
        );
        let text = ModuleRefused::Missing.to_string();
        assert!(text.contains("not loaded"), "{text}");
    }

    #[test]
    fn files_of_other_kinds_are_not_asked() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("ringwalk");
        let number = dir.path().join("dev");
        std::fs::write(&number, "1:3\n").unwrap();
        std::fs::write(&path, "").unwrap();
        let kind = ModuleRefused::Foreign("it is not a character device");
        assert_eq!(refused(&c_path(&path), &c_path(&number)), kind);
        // A symbolic link could refer to any device.
        std::fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink("/dev/null", &path).unwrap();
        assert_eq!(refused(&c_path(&path), &c_path(&number)), kind);
    }

    #[test]
    fn other_drivers_are_recognised_by_their_number() {
        let dir = tempfile::tempdir().unwrap();
        let number = dir.path().join("dev");
        let of = |text: &str| {
            std::fs::write(&number, text).unwrap();
            refused(c"/dev/null", &c_path(&number))
        };
        assert!(matches!(of("10:123\n"), ModuleRefused::Foreign(why) if why.contains("number")));
        assert!(matches!(of("nonsense"), ModuleRefused::Foreign(why) if why.contains("/sys")));
        std::fs::remove_file(&number).unwrap();
        let missing = refused(c"/dev/null", &c_path(&number));
        assert!(matches!(missing, ModuleRefused::Foreign(why) if why.contains("/sys")));
    }

    #[test]
    fn a_driver_with_that_number_must_still_report_its_version() {
        let dir = tempfile::tempdir().unwrap();
        let number = dir.path().join("dev");
        // /dev/null has the number 1:3 (Documentation/admin-guide/devices.txt).
        std::fs::write(&number, "1:3\n").unwrap();
        let answer = refused(c"/dev/null", &c_path(&number));
        assert_eq!(
            answer,
            ModuleRefused::Foreign("it does not report its version")
        );
    }

    #[test]
    fn here_it_is_the_module_or_refused() {
        match ModuleDevice::open() {
            Ok(device) => assert_eq!(device.info().version, uapi::VERSION),
            Err(refused) => assert!(!refused.to_string().is_empty()),
        }
    }
}
