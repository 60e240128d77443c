//! Refusals of the kernel, of rings or in the middle of a read, do not change the bytes that are
//! read. strace answers in the kernel's place, and one test sets the sysctl itself. This program
//! does the reading, run again as a child.

mod block_support;

use block_support::{SIZE, all, expected, open_direct, request, rings, stream, written};
use ringwalk::block::{BlockReader, ReaderOptions, Request};
use ringwalk_sys::sync::lock;
use std::ffi::OsString;
use std::fs::{self, File, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Names the file that a child reads. The variable is set in children only.
const FILE: &str = "RINGWALK_TEST_BLOCKS_OF";
/// Set where the child reads past the page cache.
const DIRECT: &str = "RINGWALK_TEST_BLOCKS_DIRECT";
/// Set where the child asks for a kernel thread that takes the reads.
const SQPOLL: &str = "RINGWALK_TEST_BLOCKS_SQPOLL";
/// Printed by the child before the way in which it read.
const MEANS: &str = "means: ";

/// Held by each test: one of them changes a setting of the whole machine.
static MACHINE: Mutex<()> = Mutex::new(());

fn requests() -> Vec<Request> {
    let count = u64::from(SIZE).div_ceil(4096) + 2;
    (0..count)
        .map(|number| request(number * 5 % count * 4096, 4096, number))
        .collect()
}

/// The child of the tests below; without the variables it does nothing.
#[test]
fn child() {
    let Some(path) = std::env::var_os(FILE) else {
        return;
    };
    let path = Path::new(&path);
    let bytes = fs::read(path).unwrap();
    let file = match std::env::var_os(DIRECT) {
        Some(_) => open_direct(path).unwrap(),
        None => Arc::new(File::open(path).unwrap()),
    };
    let options = ReaderOptions {
        depth: 16,
        buffer_size: 4096,
        ..ReaderOptions::default()
    };
    if std::env::var_os(SQPOLL).is_some() {
        let options = ReaderOptions {
            sqpoll: Some(Duration::from_millis(1)),
            ..options
        };
        let refused = BlockReader::new(file, &options).unwrap_err();
        assert_eq!(refused.kind(), std::io::ErrorKind::Unsupported);
        println!("\n{MEANS}{refused} / refused");
        return;
    }
    let mut reader = BlockReader::new(file, &options).unwrap();
    let before = reader.means();
    for found in [
        stream(&mut reader, &requests()),
        all(&mut reader, &requests()),
    ] {
        for request in requests() {
            assert!(
                found[&request.tag] == expected(&bytes, request, 4096),
                "{request:?}"
            );
        }
    }
    println!("\n{MEANS}{before} / {}", reader.means());
}

/// Runs `child` behind the words of `wrapper`. Returns the way in which it read, before and after.
fn read_behind(wrapper: &[&str], direct: bool) -> Option<(String, String)> {
    let (file, _) = written();
    // Some children belong to another user.
    fs::set_permissions(file.path(), Permissions::from_mode(0o644)).unwrap();
    if direct {
        open_direct(file.path())?;
    }
    let mut words: Vec<OsString> = wrapper.iter().map(OsString::from).collect();
    words.push(std::env::current_exe().unwrap().into());
    words.extend(["--exact", "child", "--nocapture"].map(OsString::from));
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).env(FILE, file.path());
    if direct {
        command.env(DIRECT, "1");
    }
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let complaints = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{wrapper:?}: {said}{complaints}");
    let line = said.lines().find_map(|line| line.strip_prefix(MEANS));
    let (before, after) = line?.split_once(" / ")?;
    Some((before.to_owned(), after.to_owned()))
}

/// Returns true if strace is installed and may trace.
fn strace() -> bool {
    let found = Command::new("strace")
        .args(["-qq", "-o", "/dev/null", "true"])
        .status();
    let works = found.is_ok_and(|status| status.success());
    if !works {
        println!("skipped: no strace");
    }
    works
}

/// Runs the child as `read_behind` does, with some answers of the kernel replaced.
fn with_answers(injected: &[&str], direct: bool) -> Option<(String, String)> {
    let mut wrapper = vec!["strace", "-f", "-qq", "-o", "/dev/null"];
    for each in injected {
        wrapper.extend(["-e", each]);
    }
    read_behind(&wrapper, direct)
}

const THREADS: &str = "pread on threads";

#[test]
fn without_rings_threads_read() {
    let _machine = lock(&MACHINE);
    if !strace() {
        return;
    }
    for errno in ["ENOSYS", "EPERM", "ENOMEM", "EMFILE"] {
        for direct in [false, true] {
            let setup = format!("inject=io_uring_setup:error={errno}");
            if let Some((before, after)) = with_answers(&[&setup], direct) {
                assert_eq!([before.as_str(), &after], [THREADS; 2], "{errno}");
            }
        }
    }
}

#[test]
fn options_that_need_a_ring_are_refused_without_one() {
    let _machine = lock(&MACHINE);
    if !strace() {
        return;
    }
    let variable = format!("{SQPOLL}=1");
    let setup = "inject=io_uring_setup:error=EPERM";
    let words = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", setup, "-E"];
    let (before, _) = read_behind(&[&words[..], &[&variable]].concat(), false).unwrap();
    assert!(
        before.ends_with("Operation not permitted (os error 1)"),
        "{before}"
    );
}

#[test]
fn a_kernel_that_knows_few_flags_has_a_ring_all_the_same() {
    let _machine = lock(&MACHINE);
    if !strace() || !rings() {
        return;
    }
    for refused in 1..=3 {
        let setup = format!("inject=io_uring_setup:error=EINVAL:when=1..{refused}");
        let (before, _) = with_answers(&[&setup], false).unwrap();
        assert_eq!(before, "io_uring, file registered", "{refused} refused");
    }
}

#[test]
fn what_cannot_be_registered_is_read_without() {
    let _machine = lock(&MACHINE);
    if !strace() || !rings() {
        return;
    }
    // The file is registered first, then the buffers.
    for (when, expected) in [
        ("2+", "io_uring, file registered"),
        ("1", "io_uring, buffers registered"),
        ("1+", "io_uring"),
    ] {
        let register = format!("inject=io_uring_register:error=ENOMEM:when={when}");
        if let Some((before, after)) = with_answers(&[&register], true) {
            assert_eq!([before.as_str(), &after], [expected; 2]);
        }
    }
}

#[test]
fn a_ring_that_is_taken_away_is_replaced_by_threads() {
    let _machine = lock(&MACHINE);
    if !strace() || !rings() {
        return;
    }
    // A seccomp filter that is installed while a program runs refuses like this.
    for when in ["1+", "2+", "7+"] {
        for direct in [false, true] {
            let enter = format!("inject=io_uring_enter:error=EPERM:when={when}");
            if let Some((before, after)) = with_answers(&[&enter], direct) {
                assert!(before.starts_with("io_uring, file"), "{before}");
                assert_eq!(after, THREADS);
            }
        }
    }
}

#[test]
fn interruptions_are_nothing() {
    let _machine = lock(&MACHINE);
    if !strace() {
        return;
    }
    for errno in ["EINTR", "EAGAIN", "EBUSY"] {
        let enter = format!("inject=io_uring_enter:error={errno}:when=1+2");
        if let Some((before, after)) = with_answers(&[&enter], true) {
            assert!(
                before == after && (before.starts_with("io_uring") || !rings()),
                "{after}"
            );
        }
    }
    let setup = "inject=io_uring_setup:error=ENOSYS";
    // The loader makes the first calls.
    let pread = "inject=pread64:error=EINTR:when=50+3";
    with_answers(&[setup, pread], false).unwrap();
}

/// Restores a setting when it is dropped.
struct Restored {
    path: &'static str,
    value: String,
}

impl Drop for Restored {
    fn drop(&mut self) {
        fs::write(self.path, &self.value).expect("root may write its setting back");
    }
}

#[test]
fn the_sysctl_is_obeyed() {
    let _machine = lock(&MACHINE);
    let path = "/proc/sys/kernel/io_uring_disabled";
    let Ok(value) = fs::read_to_string(path) else {
        return println!("skipped: no {path} before Linux 6.6");
    };
    let restored = Restored { path, value };
    if fs::write(path, "2").is_err() {
        std::mem::forget(restored);
        return println!("skipped: not root");
    }
    let found = [false, true].map(|direct| read_behind(&["env"], direct));
    drop(restored);
    for (before, after) in found.into_iter().flatten() {
        assert_eq!([before.as_str(), &after], [THREADS; 2]);
    }
}

#[test]
fn memory_that_may_not_be_locked_is_not_registered() {
    let _machine = lock(&MACHINE);
    // The limit is the memory of the buffers, and the ring takes some of it.
    let wrapper = [
        "prlimit",
        "--memlock=65536:65536",
        "setpriv",
        "--reuid=65534",
        "--clear-groups",
    ];
    let exe = std::env::current_exe().unwrap();
    let reachable = Command::new(wrapper[0])
        .args(&wrapper[1..])
        .arg("test")
        .args([OsString::from("-x"), exe.into()])
        .status();
    if !rings() || !reachable.is_ok_and(|status| status.success()) {
        return println!("skipped: not root, or another user cannot run this program");
    }
    if let Some((before, _)) = read_behind(&wrapper, true) {
        assert_eq!(before, "io_uring, file registered");
    }
}
