//! Starts a program and waits for its end, by `posix_spawn(3)`.
//!
//! The C library's implementation shares this process's memory with the child until the child runs
//! the new program. So the cost does not grow with the memory in use, while `fork(2)` copies the
//! page tables.

use crate::arguments::Arguments;
use crate::{environment, signals};
use rustix::io::Errno;
use rustix::process::{Pid, WaitOptions, waitpid};
use std::ffi::{CStr, CString, c_char};
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use std::ptr;

/// A program to start, with the environment of this process, and with the signal actions and mask
/// that this process was started with.
#[derive(Clone, Copy, Debug)]
#[doc(alias = "posix_spawn")]
#[doc(alias = "execvp")]
pub struct Spawn<'a> {
    /// The program and its arguments. Without a slash in its name it is searched for in `PATH`.
    pub arguments: &'a Arguments,
    /// The directory that it starts in; `None` for the current directory of this process.
    pub directory: Option<BorrowedFd<'a>>,
    /// True if the standard input of the program is `/dev/null`; false if it inherits the standard
    /// input of this process.
    pub null_input: bool,
}

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// It exited with this status, from 0 to 255.
    Exited(i32),
    /// The signal with this number killed it.
    Signalled(i32),
}

/// A running program.
#[derive(Debug)]
#[must_use = "a program that nobody waits for stays in the table of processes"]
pub struct Child(Pid);

impl Child {
    /// Returns the process ID.
    pub fn id(&self) -> i32 {
        self.0.as_raw_nonzero().get()
    }

    /// Waits until it ends.
    ///
    /// # Errors
    ///
    /// The errors of waitpid(2): `ECHILD` if another thread has waited for it already.
    pub fn wait(self) -> Result<Ended, Errno> {
        loop {
            match waitpid(Some(self.0), WaitOptions::empty()) {
                Ok(Some((_, status))) => {
                    if let Some(code) = status.exit_status() {
                        return Ok(Ended::Exited(code));
                    }
                    if let Some(signal) = status.terminating_signal() {
                        return Ok(Ended::Signalled(signal));
                    }
                }
                Ok(None) | Err(Errno::INTR) => {}
                Err(errno) => return Err(errno),
            }
        }
    }
}

impl Spawn<'_> {
    /// Starts the program. When this returns, the program runs: a missing program, or one that
    /// cannot be run, is an error here.
    ///
    /// As with `execvp(3)`, `/bin/sh` runs a file that the kernel does not recognise and that has
    /// no `#!` line.
    ///
    /// # Errors
    ///
    /// The errors of execve(2) (`E2BIG` if the arguments are too long; among the files in `PATH`
    /// that cannot be run `EACCES` takes precedence over `ENOENT`), of fchdir(2), and of clone(2):
    /// `EAGAIN` and `ENOMEM` if no further process can be made. `ENOENT` without any arguments.
    ///
    /// [posix_spawn(3)](https://man7.org/linux/man-pages/man3/posix_spawn.3.html)
    pub fn start(&self) -> Result<Child, Errno> {
        let Some(program) = self.arguments.get(0) else {
            return Err(Errno::NOENT);
        };
        signals::keep_children();
        let setup = Setup::new(self.directory, self.null_input)?;
        match setup.spawn(Look::InPath, program, self.arguments) {
            Err(Errno::NOEXEC) => self.start_script(&setup, program),
            started => started,
        }
    }

    /// `posix_spawnp` does not report which file the kernel did not recognise, so this searches for
    /// it again.
    fn start_script(&self, setup: &Setup, program: &CStr) -> Result<Child, Errno> {
        for file in candidates(program) {
            match setup.spawn(Look::Nowhere, &file, self.arguments) {
                Err(Errno::NOEXEC) => {
                    let mut arguments = Arguments::new();
                    arguments.push(SHELL.to_bytes());
                    arguments.push(file.to_bytes());
                    arguments.extend(self.arguments, 1..self.arguments.len());
                    return setup.spawn(Look::Nowhere, SHELL, &arguments);
                }
                Ok(child) => return Ok(child),
                Err(_) => {}
            }
        }
        Err(Errno::NOEXEC)
    }
}

const SHELL: &CStr = c"/bin/sh";

/// Returns the files that `program` may name, in the order in which they are tried.
fn candidates(program: &CStr) -> Vec<CString> {
    let name = program.to_bytes();
    if name.contains(&b'/') {
        return vec![program.to_owned()];
    }
    // Without the variable execvp(3) searches these directories.
    let path = std::env::var_os("PATH").unwrap_or_else(|| "/bin:/usr/bin".into());
    let file = |directory: &[u8]| match directory {
        b"" => CString::new(name),
        _ => CString::new([directory, b"/", name].concat()),
    };
    let directories = path.as_bytes().split(|byte| *byte == b':');
    directories.filter_map(|found| file(found).ok()).collect()
}

/// Where a program without a slash in its name is searched for.
#[derive(Clone, Copy)]
enum Look {
    InPath,
    Nowhere,
}

/// What the child does before the program begins.
struct Setup {
    actions: Box<libc::posix_spawn_file_actions_t>,
    attributes: Box<libc::posix_spawnattr_t>,
}

impl Setup {
    fn new(directory: Option<BorrowedFd<'_>>, null_input: bool) -> Result<Self, Errno> {
        let mut setup = Self::blank()?;
        if null_input {
            // SAFETY: the actions are initialized; the path is copied by the call.
            check(unsafe {
                libc::posix_spawn_file_actions_addopen(
                    &raw mut *setup.actions,
                    libc::STDIN_FILENO,
                    c"/dev/null".as_ptr(),
                    libc::O_RDONLY,
                    0,
                )
            })?;
        }
        if let Some(directory) = directory {
            // SAFETY: the actions are initialized; the number is only used while starting, and a
            // wrong one would be an error of fchdir(2) in the child.
            check(unsafe {
                libc::posix_spawn_file_actions_addfchdir_np(
                    &raw mut *setup.actions,
                    directory.as_raw_fd(),
                )
            })?;
        }
        setup.signals()?;
        Ok(setup)
    }

    fn blank() -> Result<Self, Errno> {
        let mut actions = Box::new(MaybeUninit::uninit());
        // SAFETY: the pointer is valid for writes of the actions, which the call initializes.
        check(unsafe { libc::posix_spawn_file_actions_init(actions.as_mut_ptr()) })?;
        // SAFETY: the call succeeded, so they are initialized.
        let actions = unsafe { actions.assume_init() };
        let mut attributes = Box::new(MaybeUninit::uninit());
        // SAFETY: the pointer is valid for writes of the attributes, which the call initializes;
        // neither the GNU nor the musl library can fail here, so that the actions need no freeing.
        check(unsafe { libc::posix_spawnattr_init(attributes.as_mut_ptr()) })?;
        // SAFETY: the call succeeded, so they are initialized.
        let attributes = unsafe { attributes.assume_init() };
        Ok(Self {
            actions,
            attributes,
        })
    }

    fn signals(&mut self) -> Result<(), Errno> {
        let inherited = signals::inherited();
        let mut default = signals::empty();
        if !inherited.pipe_ignored {
            // SAFETY: the set is initialized and the number is a signal number.
            unsafe { libc::sigaddset(&raw mut default, libc::SIGPIPE) };
        }
        let flags = libc::POSIX_SPAWN_SETSIGDEF | libc::POSIX_SPAWN_SETSIGMASK;
        let flags = i16::try_from(flags).map_err(|_| Errno::INVAL)?;
        let attributes = &raw mut *self.attributes;
        // SAFETY: the attributes are initialized, and so are the sets, which the calls copy.
        unsafe {
            check(libc::posix_spawnattr_setsigdefault(
                attributes,
                &raw const default,
            ))?;
            check(libc::posix_spawnattr_setsigmask(
                attributes,
                &raw const inherited.mask,
            ))?;
            check(libc::posix_spawnattr_setflags(attributes, flags))
        }
    }

    fn spawn(&self, look: Look, file: &CStr, arguments: &Arguments) -> Result<Child, Errno> {
        let pointers: Vec<*mut c_char> = arguments
            .iter()
            .map(|word| word.as_ptr().cast_mut())
            .chain([ptr::null_mut()])
            .collect();
        let call = match look {
            Look::InPath => libc::posix_spawnp,
            Look::Nowhere => libc::posix_spawn,
        };
        let mut pid = 0;
        // SAFETY: `file` ends with a zero byte; the actions and attributes are initialized;
        // `pointers` are strings that end with zero bytes and live as long as `arguments`, the last
        // being null; the environment is such an array too. The strings are declared mutable for
        // old times' sake and are not written to. The call returns when the child has begun the
        // program or ended, and does not keep any of the pointers.
        let status = unsafe {
            call(
                &raw mut pid,
                file.as_ptr(),
                &raw const *self.actions,
                &raw const *self.attributes,
                pointers.as_ptr(),
                environment::pointer().cast(),
            )
        };
        check(status)?;
        Pid::from_raw(pid).map(Child).ok_or(Errno::CHILD)
    }
}

impl Drop for Setup {
    fn drop(&mut self) {
        // SAFETY: both are initialized, and not used after this.
        unsafe {
            libc::posix_spawn_file_actions_destroy(&raw mut *self.actions);
            libc::posix_spawnattr_destroy(&raw mut *self.attributes);
        }
    }
}

/// Converts a result: the functions of this family return the error itself.
fn check(status: i32) -> Result<(), Errno> {
    match status {
        0 => Ok(()),
        errno => Err(Errno::from_raw_os_error(errno)),
    }
}

#[cfg(test)]
mod tests {
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
        // The kernel then discards the exit statuses of children. Not every shell can ignore
        // SIGCHLD. SAFETY: ignoring a signal runs no code of ours; nothing else in this process has
        // children.
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
}
