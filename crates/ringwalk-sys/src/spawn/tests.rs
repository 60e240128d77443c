use super::*;
use rustix::fs::{Mode, OFlags, open};
use std::fs;
use std::os::fd::AsFd;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

fn words(words: &[&str]) -> Arguments {
    let mut arguments = Arguments::new();
    for word in words {
        arguments.push(word.as_bytes());
    }
    arguments
}

fn run(list: &[&str], directory: Option<BorrowedFd<'_>>) -> Result<Ended, Errno> {
    let arguments = words(list);
    let spawn = Spawn {
        arguments: &arguments,
        directory,
        null_input: true,
    };
    loop {
        // The child of another test may briefly hold open a script that was just written.
        match spawn.start() {
            Err(Errno::TXTBSY) => std::thread::yield_now(),
            started => return started?.wait(),
        }
    }
}

#[test]
fn exits_and_signals_are_distinguished() {
    assert_eq!(run(&["true"], None), Ok(Ended::Exited(0)));
    assert_eq!(run(&["sh", "-c", "exit 255"], None), Ok(Ended::Exited(255)));
    assert_eq!(
        run(&["sh", "-c", "kill -9 $$"], None),
        Ok(Ended::Signalled(9))
    );
}

#[test]
fn programs_that_cannot_run_are_reported() {
    let dir = tempfile::tempdir().unwrap();
    let plain = dir.path().join("plain");
    fs::write(&plain, b"true").unwrap();
    assert_eq!(run(&["no-such-program-here"], None), Err(Errno::NOENT));
    assert_eq!(run(&[plain.to_str().unwrap()], None), Err(Errno::ACCESS));
    assert_eq!(run(&[""], None), Err(Errno::NOENT));
    assert_eq!(run(&[], None), Err(Errno::NOENT));
    let long = "x".repeat(131_072);
    assert_eq!(run(&["true", &long], None), Err(Errno::TOOBIG));
    assert_eq!(run(&["true", &long[1..]], None), Ok(Ended::Exited(0)));
}

fn executable(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn a_script_without_a_first_line_goes_to_the_shell() {
    let dir = tempfile::tempdir().unwrap();
    let script = dir.path().join("script");
    executable(&script, "[ \"$1\" = 'a b' ] && [ \"$#\" = 2 ] && exit 7\n");
    let script = script.to_str().unwrap();
    assert_eq!(run(&[script, "a b", ""], None), Ok(Ended::Exited(7)));
    assert_eq!(run(&[script], None), Ok(Ended::Exited(1)));
}

#[test]
fn it_begins_in_the_directory_that_was_opened() {
    let dir = tempfile::tempdir().unwrap();
    let (first, moved) = (dir.path().join("first"), dir.path().join("moved"));
    fs::create_dir(&first).unwrap();
    let opened = open(&first, OFlags::PATH | OFlags::DIRECTORY, Mode::empty()).unwrap();
    fs::rename(&first, &moved).unwrap();
    fs::create_dir(&first).unwrap();
    assert_eq!(
        run(&["touch", "here"], Some(opened.as_fd())),
        Ok(Ended::Exited(0))
    );
    assert!(moved.join("here").exists());
    assert!(!first.join("here").exists());
    executable(&moved.join("script"), "exit 9\n");
    assert_eq!(
        run(&["./script"], Some(opened.as_fd())),
        Ok(Ended::Exited(9))
    );
}

#[test]
fn the_input_may_be_empty() {
    let test = "test \"$(readlink /proc/self/fd/0)\" = /dev/null";
    assert_eq!(run(&["sh", "-c", test], None), Ok(Ended::Exited(0)));
}

#[test]
fn a_closed_pipe_ends_a_child() {
    // Rust's runtime ignores the signal in this process.
    assert_eq!(
        run(&["sh", "-c", "kill -PIPE $$; exit 3"], None),
        Ok(Ended::Signalled(libc::SIGPIPE))
    );
}

#[test]
fn candidates_are_those_of_the_path() {
    assert_eq!(candidates(c"./x"), [c"./x".to_owned()]);
    let directories = std::env::var_os("PATH").unwrap();
    let first = directories.to_str().unwrap().split(':').next().unwrap();
    assert_eq!(candidates(c"x")[0].to_str().unwrap(), format!("{first}/x"));
}

/// The test below runs this test in a process of its own.
#[test]
#[ignore = "only in the surroundings that another test makes"]
fn with_signals_ignored() {
    // The kernel then discards the exit statuses of children. Not every shell can ignore SIGCHLD.
    // SAFETY: ignoring a signal runs no code of ours; nothing else in this process has children.
    unsafe { libc::signal(libc::SIGCHLD, libc::SIG_IGN) };
    assert_eq!(
        run(&["sh", "-c", "kill -PIPE $$; exit 3"], None),
        Ok(Ended::Exited(3))
    );
}

#[test]
fn what_the_caller_ignores_stays_ignored() {
    // `sh` may reset signals that it handles before it runs a program, but not ignored ones.
    let output = std::process::Command::new("sh")
        .args(["-c", "trap '' PIPE; exec \"$@\"", "sh"])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "spawn::tests::with_signals_ignored", "--ignored"])
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}");
    assert!(text.contains("1 passed"), "{text}");
}
