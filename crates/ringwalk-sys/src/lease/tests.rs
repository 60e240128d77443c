//! Unit tests of `lease.rs`.

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
