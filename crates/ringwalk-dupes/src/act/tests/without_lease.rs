//! Files of other users: no lease is possible.

use super::support::{Place, Results, as_nobody, contents};
use crate::act::{Action, Reason, act};
use ringwalk_delete::Log;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, chown};

#[test]
fn files_of_other_users_are_compared_without_leases() {
    for action in [Action::Delete, Action::Trash] {
        let place = Place::with(&["keep", "one", "two"]);
        let open = fs::Permissions::from_mode(0o777);
        for folder in [place.root.clone(), place.root.parent().unwrap().to_owned()] {
            fs::set_permissions(folder, open.clone()).unwrap();
        }
        let group = place.group("keep", &["one", "two"]);
        place.write("two", b"edited");
        let is_run = as_nobody(|| {
            let log = Log::open(&place.outside("../log")).unwrap();
            let groups = std::slice::from_ref(&group);
            let mut results = Results::default();
            let settings = place.settings(action);
            act(&place.roots(), groups, &settings, &log, &mut results).unwrap();
            assert_eq!(results.reasons(), [Reason::Changed], "{action:?}");
            assert_eq!(results.outcome.done, 0);
            assert_eq!(results.done.len(), 1);
        });
        if is_run {
            assert!(!place.at("one").exists());
            assert_eq!(place.read("two"), b"edited");
            assert_eq!(place.read("keep"), contents());
        }
    }
}

#[test]
fn what_the_user_may_not_change_is_kept() {
    let place = Place::with(&["keep", "closed/one", "unreadable"]);
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped: needs root");
        return;
    }
    for folder in [place.root.clone(), place.root.parent().unwrap().to_owned()] {
        fs::set_permissions(folder, fs::Permissions::from_mode(0o777)).unwrap();
    }
    fs::set_permissions(place.at("unreadable"), fs::Permissions::from_mode(0o600)).unwrap();
    chown(place.at("keep"), Some(65534), None).unwrap();
    let group = place.group("keep", &["closed/one", "unreadable"]);
    as_nobody(|| {
        let log = Log::open(&place.outside("../log")).unwrap();
        let groups = std::slice::from_ref(&group);
        let mut results = Results::default();
        let settings = place.settings(Action::Delete);
        act(&place.roots(), groups, &settings, &log, &mut results).unwrap();
        let reasons: Vec<String> = results.reasons().iter().map(Reason::to_string).collect();
        let expected = [
            "cannot rename: Permission denied",
            "cannot open: Permission denied",
        ];
        assert_eq!(reasons, expected);
    });
    assert!(place.at("closed/one").exists() && place.at("unreadable").exists());
}
