//! The features of the kernel, found by trying them.

use ringwalk_sys::{DirectoryOpcodes, IoUring, IoWorkers, PROBE_ENTRIES};
use rustix::io::Errno;
use rustix::system::uname;
use serde::Serialize;

use crate::user::User;
use crate::words;

/// `IORING_OP_URING_CMD` (`include/uapi/linux/io_uring.h`, since Linux 5.19).
const URING_CMD: u8 = 46;

/// The kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Kernel {
    /// The release, as in `uname -r`.
    pub release: String,
    /// The architecture, as in `uname -m`.
    pub machine: String,
    /// The features of `io_uring` for this process.
    pub io_uring: Ring,
    /// `openat2` works. Without it, walks open each component of a path by itself.
    pub openat2: bool,
}

/// The features of `io_uring` for this process.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Ring {
    /// A ring could be set up.
    pub available: bool,
    /// Number of operations that the kernel performs.
    pub operations: usize,
    /// Number of the last operation that the kernel knows.
    pub last_operation: u8,
    /// The `IORING_FEAT_` bits.
    pub features: u32,
    /// The kernel performs `IORING_OP_URING_CMD`.
    pub uring_cmd: bool,
    /// The kernel has operations that read directories.
    pub getdents: bool,
    /// The largest number of threads for requests of bounded duration, for a ring of 64 entries.
    /// `None` if the kernel does not report it.
    pub bounded_workers: Option<u32>,
    /// The largest number of threads for requests of unbounded duration.
    pub unbounded_workers: Option<u32>,
    /// The reason why there is no ring.
    pub obstacle: Option<Obstacle>,
}

/// An obstacle to a source, and its remedy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Obstacle {
    /// The problem.
    pub problem: String,
    /// The change that would help.
    pub remedy: String,
}

impl Obstacle {
    /// Returns an obstacle.
    pub fn new(problem: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self {
            problem: problem.into(),
            remedy: remedy.into(),
        }
    }
}

impl Kernel {
    pub(crate) fn read(user: &User) -> Self {
        let name = uname();
        Self {
            release: name.release().to_string_lossy().into_owned(),
            machine: name.machine().to_string_lossy().into_owned(),
            io_uring: Ring::read(user),
            openat2: has_openat2(),
        }
    }

    /// Returns true if the release is at least this one.
    pub(crate) fn at_least(&self, major: u32, minor: u32) -> bool {
        version(&self.release).is_some_and(|version| version >= (major, minor))
    }
}

/// Returns the first two numbers of a release such as `6.12.107-generic`.
fn version(release: &str) -> Option<(u32, u32)> {
    let mut numbers = release.split(|character: char| !character.is_ascii_digit());
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

fn has_openat2() -> bool {
    use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};
    openat2(
        CWD,
        "/",
        OFlags::PATH | OFlags::CLOEXEC,
        Mode::empty(),
        ResolveFlags::NO_SYMLINKS,
    )
    .is_ok()
}

impl Ring {
    fn read(user: &User) -> Self {
        match IoUring::probe() {
            Ok(ring) => Self::of(&ring),
            Err(errno) => {
                let setting = |name: &str| {
                    let text = std::fs::read_to_string(format!("/proc/sys/kernel/{name}")).ok()?;
                    text.trim().parse().ok()
                };
                let settings = Settings {
                    disabled: setting("io_uring_disabled"),
                    group: setting("io_uring_group"),
                };
                Self {
                    obstacle: Some(why_not(errno, settings, user)),
                    ..Self::default()
                }
            }
        }
    }

    fn of(ring: &IoUring) -> Self {
        let workers = ring.workers();
        Self {
            available: true,
            operations: ring.supported(),
            last_operation: ring.last_operation(),
            features: ring.features(),
            uring_cmd: ring.supports(URING_CMD),
            getdents: DirectoryOpcodes::cached().is_some(),
            bounded_workers: workers.map(|IoWorkers { bounded, .. }| bounded),
            unbounded_workers: workers.map(|IoWorkers { unbounded, .. }| unbounded),
            obstacle: None,
        }
    }
}

/// The sysctls that govern `io_uring` (Documentation/admin-guide/sysctl/kernel.rst, since Linux
/// 6.6).
#[derive(Clone, Copy, Debug, Default)]
struct Settings {
    disabled: Option<i64>,
    group: Option<i64>,
}

/// Returns the reason why a ring could not be set up.
fn why_not(errno: Errno, settings: Settings, user: &User) -> Obstacle {
    let allow = "sysctl kernel.io_uring_disabled=0, as root";
    let filter = "allow io_uring_setup, io_uring_enter and io_uring_register in the seccomp profile \
                  (of the container runtime or the service)";
    match (errno, settings.disabled) {
        (Errno::PERM, Some(2)) => Obstacle::new(
            "io_uring is disabled for everyone: kernel.io_uring_disabled is 2",
            allow,
        ),
        (Errno::PERM, Some(1)) if !user.sys_admin && !in_group(settings.group, user) => {
            Obstacle::new(
                "io_uring is disabled for this user: kernel.io_uring_disabled is 1, without CAP_SYS_ADMIN or the group of kernel.io_uring_group",
                format!("{allow}; or join the group that kernel.io_uring_group names"),
            )
        }
        (Errno::PERM | Errno::NOSYS | Errno::ACCESS, _) if user.seccomp_filter => Obstacle::new(
            format!("a seccomp filter keeps io_uring away ({})", words(errno)),
            filter,
        ),
        (Errno::PERM | Errno::ACCESS, _) => Obstacle::new(
            format!("a security module forbids io_uring ({})", words(errno)),
            "allow io_uring in its policy",
        ),
        (Errno::NOSYS, _) => Obstacle::new(
            "this kernel has no io_uring",
            "a kernel of 5.6 or later built with CONFIG_IO_URING",
        ),
        (Errno::INVAL, _) => Obstacle::new(
            "io_uring of this kernel is too old",
            "a kernel of 5.6 or later",
        ),
        (Errno::NOMEM, _) => Obstacle::new(
            format!(
                "no memory for a ring of {PROBE_ENTRIES} entries (before Linux 5.12 RLIMIT_MEMLOCK counts)"
            ),
            "raise the limit of locked memory: ulimit -l",
        ),
        _ => Obstacle::new(
            format!("io_uring cannot be set up: {}", words(errno)),
            "none known",
        ),
    }
}

fn in_group(group: Option<i64>, user: &User) -> bool {
    group.is_some_and(|group| user.groups.iter().any(|mine| i64::from(*mine) == group))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user() -> User {
        User {
            uid: 1000,
            sys_admin: false,
            dac_read_search: false,
            initial_namespace: true,
            seccomp_filter: false,
            groups: vec![1000],
        }
    }

    fn problem(errno: Errno, disabled: Option<i64>, group: i64, user: &User) -> String {
        why_not(
            errno,
            Settings {
                disabled,
                group: Some(group),
            },
            user,
        )
        .problem
    }

    #[test]
    fn versions() {
        assert_eq!(version("6.18.44-fc-v445"), Some((6, 18)));
        assert_eq!(version("5.6"), Some((5, 6)));
        assert_eq!(version("strange"), None);
    }

    #[test]
    fn the_sysctl_is_told_from_a_filter_and_a_security_module() {
        assert!(problem(Errno::PERM, Some(2), -1, &user()).contains("io_uring_disabled is 2"));
        assert!(problem(Errno::PERM, Some(1), -1, &user()).contains("io_uring_disabled is 1"));
        assert!(
            problem(Errno::PERM, Some(1), 1000, &user()).contains("security module"),
            "the group may"
        );
        let filtered = User {
            seccomp_filter: true,
            ..user()
        };
        assert!(problem(Errno::PERM, Some(0), -1, &filtered).contains("seccomp"));
        assert!(problem(Errno::NOSYS, None, -1, &filtered).contains("seccomp"));
        assert!(problem(Errno::NOSYS, None, -1, &user()).contains("has no io_uring"));
    }

    #[test]
    fn the_running_kernel_is_described() {
        let kernel = Kernel::read(&User::read());
        assert!(version(&kernel.release).is_some());
        assert_eq!(
            kernel.io_uring.available,
            kernel.io_uring.obstacle.is_none()
        );
        assert!(kernel.at_least(2, 6) && !kernel.at_least(u32::MAX, 0));
    }
}
