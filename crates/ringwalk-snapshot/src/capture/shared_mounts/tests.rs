use super::*;

/// Mounts of the device 8:1, except the fourth.
const TABLE: &str = "\
1 0 8:1 / / rw - ext4 /dev/a rw
2 1 8:1 /x /b rw - ext4 /dev/a rw
3 1 8:1 /y /c rw - ext4 /dev/a rw
4 1 8:2 /x /d rw - ext4 /dev/b rw
5 3 8:1 /y/deep /c/e rw - ext4 /dev/a rw
";

#[track_caller]
fn check(roots: &[&str], expected: &[u64]) {
    let all = mounts::parse(TABLE.as_bytes()).unwrap();
    let roots: Vec<PathBuf> = roots.iter().map(PathBuf::from).collect();
    let SharedMounts::These(ids) = SharedMounts::among(&all, &roots) else {
        panic!("unknown");
    };
    assert_eq!(ids, expected.iter().copied().collect(), "{roots:?}");
}

#[test]
fn mounts_that_hold_each_other() {
    check(&["/x", "/b"], &[1, 2]);
    check(&["/b", "/d"], &[]);
    check(&["/b", "/c/f"], &[]);
    // A mount below a root.
    check(&["/b", "/c"], &[3, 5]);
    check(&["/b", "/c/e"], &[]);
}

#[test]
fn one_root_shares_nothing_and_an_unknown_mount_everything() {
    let metadata = Metadata::default();
    let one = SharedMounts::below(&[PathBuf::from("/")]);
    assert!(!one.may_show_again(&metadata));
    assert!(SharedMounts::Unknown.may_show_again(&metadata));
    let some = SharedMounts::These(HashSet::from([7]));
    assert!(some.may_show_again(&metadata));
    let of = |mnt_id| {
        let mut metadata = Metadata::default();
        metadata.set_mnt_id(mnt_id);
        metadata
    };
    assert!(some.may_show_again(&of(7)) && !some.may_show_again(&of(8)));
}
