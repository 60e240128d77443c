//! Read leases: the kernel delays programs that want to change a file.
//!
//! The kernel grants a read lease only while nobody has the file open for writing, which includes
//! shared mappings that can be written. After that, open(2) for writing and truncate(2) of other
//! programs wait until the lease is given up, `/proc/sys/fs/lease-break-time` seconds at most (45
//! by default). Meanwhile the lease counts as broken. Renaming, linking and unlinking go on as
//! usual.
//!
//! The kernel announces the waiting program by `SIGIO`, which would end the process. No signal is
//! wanted here: the holder asks [`is_leased`] at the right moments.
//!
//! See "Leases" in [fcntl(2)](https://man7.org/linux/man-pages/man2/fcntl.2.html), and `fs/locks.c`
//! of Linux.

use rustix::fd::AsRawFd;
use rustix::io::Errno;
use std::os::fd::AsFd;

/// `F_SETSIG` of `include/uapi/asm-generic/fcntl.h`, which libc lacks.
const F_SETSIG: i32 = 10;

/// Calls fcntl(2) with a command that takes an integer or nothing.
fn control(file: impl AsFd, command: i32, argument: i32) -> Result<i32, Errno> {
    let file = file.as_fd().as_raw_fd();
    // SAFETY: the commands of this file (F_SETSIG, F_SETLEASE, F_SETOWN, F_GETLEASE) take an
    // integer or no argument, so no memory is read or written; the descriptor is borrowed for the
    // call.
    let answer = unsafe { libc::fcntl(file, command, argument) };
    if answer >= 0 {
        return Ok(answer);
    }
    let errno = std::io::Error::last_os_error().raw_os_error();
    Err(Errno::from_raw_os_error(errno.unwrap_or(libc::EIO)))
}

/// Takes a read lease on a file that is open for reading only. It ends with the last descriptor of
/// this open file.
///
/// # Errors
///
/// - `EAGAIN`: somebody has the file open for writing. NFS also says so without a delegation.
/// - `EACCES`: the file belongs to another user, and the process has no `CAP_LEASE`.
/// - `EINVAL`: no regular file, or a file system without leases.
#[doc(alias = "F_SETLEASE")]
#[doc(alias = "F_RDLCK")]
pub fn take_read_lease(file: impl AsFd) -> Result<(), Errno> {
    // Between F_SETLEASE, which makes this process the receiver, and F_SETOWN, which makes nobody
    // the receiver, the signal is one that is ignored by default.
    control(&file, F_SETSIG, libc::SIGURG)?;
    control(&file, libc::F_SETLEASE, libc::F_RDLCK)?;
    control(&file, libc::F_SETOWN, 0)?;
    Ok(())
}

/// Returns true while the read lease holds: since it was taken, nobody could open the file for
/// writing or truncate it, and nobody waits to do so.
#[doc(alias = "F_GETLEASE")]
pub fn is_leased(file: impl AsFd) -> bool {
    control(file, libc::F_GETLEASE, 0) == Ok(libc::F_RDLCK)
}

/// Gives the lease up. A program that waited goes on.
#[doc(alias = "F_UNLCK")]
pub fn end_lease(file: impl AsFd) {
    // Fails only if there is none.
    let _ = control(file, libc::F_SETLEASE, libc::F_UNLCK);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{File, OpenOptions};
    use std::io::Write as _;
    use std::os::unix::fs::OpenOptionsExt as _;
    use std::sync::mpsc;
    use std::thread;

    fn file() -> (tempfile::TempDir, std::path::PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, "contents").unwrap();
        (folder, path)
    }

    #[test]
    fn a_writer_waits_and_breaks_the_lease_without_a_signal() {
        let (_folder, path) = file();
        let held = File::open(&path).unwrap();
        assert!(!is_leased(&held));
        take_read_lease(&held).unwrap();
        assert!(is_leased(&held));
        // Readers and renaming go on.
        File::open(&path).unwrap();
        std::fs::rename(&path, path.with_extension("new")).unwrap();
        let path = path.with_extension("new");
        assert!(is_leased(&held));
        let writer = OpenOptions::new()
            .append(true)
            .custom_flags(libc::O_NONBLOCK)
            .open(&path);
        assert_eq!(writer.unwrap_err().raw_os_error(), Some(libc::EAGAIN));
        // Although it was refused, the call has broken the lease.
        assert!(!is_leased(&held));
        let (send, receive) = mpsc::channel();
        thread::scope(|scope| {
            scope.spawn(|| {
                let mut writer = OpenOptions::new().append(true).open(&path).unwrap();
                writer.write_all(b" and more").unwrap();
                send.send(()).unwrap();
            });
            // Its default action of SIGIO would have ended this process by now.
            assert!(receive.try_recv().is_err());
            end_lease(&held);
            receive.recv().unwrap();
        });
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "contents and more");
    }

    #[test]
    fn no_lease_beside_a_writer() {
        let (_folder, path) = file();
        let writer = OpenOptions::new().append(true).open(&path).unwrap();
        let held = File::open(&path).unwrap();
        assert_eq!(take_read_lease(&held), Err(Errno::AGAIN));
        assert!(!is_leased(&held));
        drop(writer);
        take_read_lease(&held).unwrap();
    }

    #[test]
    fn no_lease_on_a_directory() {
        let (folder, _) = file();
        let directory = File::open(folder.path()).unwrap();
        assert_eq!(take_read_lease(&directory), Err(Errno::INVAL));
    }
}
