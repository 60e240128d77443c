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
