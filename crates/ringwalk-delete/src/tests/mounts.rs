//! Mount points below the root. As root, in a mount namespace of its own.

use super::super::Reason;
use super::super::testing::{Place, Tree, in_own_namespace, mount};
use super::run;
use std::fs;

#[test]
fn mount_points_and_what_is_below_them_are_kept() {
    if !in_own_namespace("tests::mounts::mount_points_and_what_is_below_them_are_kept") {
        return;
    }
    let place = Place::with(&[
        "top/tmpfs/hidden",
        "top/bind/hidden",
        "top/file",
        "top/on/x",
    ]);
    mount(&["-t", "tmpfs", "none"], &place.at("top/tmpfs"));
    fs::write(place.at("top/tmpfs/inside"), "").unwrap();
    let outside = place.outside();
    mount(
        &["--bind", outside.to_str().unwrap()],
        &place.at("top/bind"),
    );
    // A file on a file.
    mount(
        &["--bind", outside.join("file").to_str().unwrap()],
        &place.at("top/file"),
    );
    let tree = Tree::read(&place.root());
    let (_, results) = run(&place, &tree, &["top", "top/tmpfs/inside", "top/bind/sub"]);
    assert_eq!(results.deleted(&tree), ["top/on", "top/on/x"]);
    let mut kept = results.kept(&tree);
    kept.sort_by(|a, b| a.0.cmp(&b.0));
    let expected = [
        ("top".into(), Reason::HoldsKept),
        ("top/bind".into(), Reason::MountPoint),
        ("top/bind/sub".into(), Reason::OtherFileSystem),
        ("top/file".into(), Reason::MountPoint),
        ("top/tmpfs".into(), Reason::MountPoint),
        ("top/tmpfs/inside".into(), Reason::OtherFileSystem),
    ];
    assert_eq!(kept, expected);
    assert!(place.at("top/tmpfs/inside").exists());
}

#[test]
fn a_mount_that_came_after_the_display_is_kept() {
    if !in_own_namespace("tests::mounts::a_mount_that_came_after_the_display_is_kept") {
        return;
    }
    let place = Place::with(&["top/a/file", "top/b/file"]);
    let tree = Tree::read(&place.root());
    // The same file system, and even the same directory.
    let itself = place.at("top/a");
    mount(&["--bind", itself.to_str().unwrap()], &itself);
    let (_, results) = run(&place, &tree, &["top"]);
    let kept = [
        ("top/a".into(), Reason::MountPoint),
        ("top".into(), Reason::HoldsKept),
    ];
    assert_eq!(results.kept(&tree), kept);
    assert!(place.at("top/a/file").exists());
}
