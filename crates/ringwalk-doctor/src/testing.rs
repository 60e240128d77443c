//! A user and a directory for unit tests.

use crate::place::{Device, Place};
use crate::user::User;

pub(crate) fn user(sys_admin: bool) -> User {
    User {
        uid: 0,
        sys_admin,
        dac_read_search: sys_admin,
        initial_namespace: true,
        seccomp_filter: false,
        groups: vec![],
    }
}

pub(crate) fn place(file_system: &str) -> Place {
    Place {
        path: "/x".to_owned(),
        path_hex: None,
        given: "/x".into(),
        mount_point: Some("/".to_owned()),
        file_system: Some(file_system.to_owned()),
        mounts_unread: None,
        mount: None,
        device: Device {
            path: Some("/dev/null".to_owned()),
            ..Device::default()
        },
        unreadable: None,
        statx_mask: 0xfff,
    }
}
