//! The rules, one by one.

use super::model::{Row, Tree, compare, compare_on};
use crate::diff::{By, Diff, GroupKey, Renames};
use ringwalk::FileType;
use ringwalk_snapshot::Column;
use std::fmt::Write as _;

const FILE: FileType = FileType::Regular;
const DIRECTORY: FileType = FileType::Directory;

/// Returns the changes as text, after these edits.
fn after(edit: impl FnOnce(&mut Tree)) -> Vec<String> {
    changes(&edited(edit, Renames::Inode, true))
}

/// The tree before the edits: `d/a`, `d/b`, `d/s/x`, `e`, and `l1` and `d/l2`, names of one file.
fn tree() -> Tree {
    let mut tree = Tree::default();
    tree.create(b"d", DIRECTORY, 1);
    tree.create(b"d/a", FILE, 2);
    tree.create(b"d/b", FILE, 3);
    tree.create(b"d/s", DIRECTORY, 1);
    tree.create(b"d/s/x", FILE, 4);
    tree.create(b"e", DIRECTORY, 1);
    tree.create(b"l1", FILE, 8);
    tree.link(b"l1", b"d/l2");
    tree
}

fn edited(edit: impl FnOnce(&mut Tree), renames: Renames, has_births: bool) -> Diff {
    let mut tree = tree();
    let old = tree.rows(has_births);
    edit(&mut tree);
    compare(&old, &tree.rows(has_births), renames, 4)
}

/// Returns a line for each change: kind, path, the other path, fields, growth in blocks.
fn changes(diff: &Diff) -> Vec<String> {
    let line = |change: &crate::diff::Change| {
        let text = String::from_utf8_lossy;
        let mut line = format!("{} {}", change.kind.name(), text(&change.version().path));
        if let Some(from) = change.from() {
            write!(line, " from {}", text(&from.path)).unwrap();
        }
        if let Some(name) = &change.link_to {
            write!(line, " to {}", text(&name.path)).unwrap();
        }
        if change.is_likely {
            line += " likely";
        }
        let fields: Vec<_> = change.changed.iter().map(Column::name).collect();
        if !fields.is_empty() {
            write!(line, " ({})", fields.join(",")).unwrap();
        }
        if change.growth != 0 {
            write!(line, " {:+}", change.growth / 4096).unwrap();
        }
        line
    };
    diff.changes.iter().map(line).collect()
}

#[test]
fn a_file_that_is_written_is_modified() {
    let changed = after(|tree| tree.write(b"d/a", 7));
    assert_eq!(changed, ["modified d/a (size,alloc,mtime) +5"]);
    let changed = after(|tree| tree.inode(b"d/a").mode = 0o600);
    assert_eq!(changed, ["modified d/a (mode)"]);
    let changed = after(|tree| tree.inode(b"d/a").uid = 77);
    assert_eq!(changed, ["modified d/a (uid)"]);
}

#[test]
fn a_change_time_counts_where_nothing_explains_it() {
    // The contents were changed, and the modification time was set back.
    assert_eq!(
        after(|tree| {
            tree.inode(b"d/a");
        }),
        ["modified d/a (ctime)"]
    );
    // An access list was changed.
    assert_eq!(
        after(|tree| {
            tree.inode(b"d");
        }),
        ["modified d (ctime)"]
    );
    let link = after(|tree| tree.link(b"d/a", b"e/a"));
    assert_eq!(link, ["link-added e/a to d/a"], "links change it as well");
}

#[test]
fn other_contents_are_a_change_whatever_the_times_say() {
    let with_hash = |hash: fn(u8) -> Option<[u8; 32]>| {
        let mut tree = tree();
        for (number, inode) in (0..).zip(&mut tree.inodes) {
            inode.hash = hash(number);
        }
        tree.rows(true)
    };
    let known = with_hash(|number| Some([number; 32]));
    let other = with_hash(|number| Some([number / 3 * 3; 32]));
    let unknown = with_hash(|_| None);
    let lines = |old: &[Row], new: &[Row]| changes(&compare(old, new, Renames::Inode, 4));
    assert_eq!(lines(&known, &known), [""; 0]);
    assert_eq!(lines(&known, &unknown), [""; 0]);
    assert_eq!(lines(&unknown, &known), [""; 0]);
    let changed = lines(&known, &other);
    assert!(
        changed.contains(&"modified d/a (hash)".to_owned()),
        "{changed:?}"
    );
    // Others explain a change time.
    let mut tree = tree();
    tree.inode(b"d/a").hash = Some([1; 32]);
    let old = tree.rows(true);
    tree.inode(b"d/a").hash = Some([2; 32]);
    assert_eq!(lines(&old, &tree.rows(true)), ["modified d/a (hash)"]);
    tree.rename(b"d/a", b"e/a");
    assert_eq!(
        lines(&old, &tree.rows(true)),
        ["renamed e/a from d/a (hash)"]
    );
}

#[test]
fn times_of_a_directory_only_say_that_its_names_changed() {
    assert_eq!(after(|tree| tree.create(b"e/n", FILE, 1)), ["added e/n +1"]);
    let touch = after(|tree| {
        let now = tree.now + 1;
        tree.inode(b"e").mtime = now;
    });
    assert_eq!(touch, [""; 0]);
}

#[test]
fn a_directory_that_moves_is_one_line() {
    assert_eq!(
        after(|tree| tree.rename(b"d", b"e/z")),
        ["renamed e/z from d"]
    );
    let more = after(|tree| {
        tree.rename(b"d", b"n");
        tree.write(b"n/s/x", 5);
        tree.remove(b"n/a");
        tree.create(b"n/new", FILE, 1);
        tree.rename(b"n/b", b"n/c");
    });
    assert_eq!(
        more,
        [
            "removed d/a -2",
            "modified n/s/x from d/s/x (size,alloc,mtime) +1",
            "renamed n/c from d/b",
            "added n/new +1",
            "renamed n from d",
        ]
    );
    let twice = after(|tree| {
        tree.rename(b"d/s", b"e/s");
        tree.rename(b"e", b"f");
    });
    assert_eq!(twice, ["renamed f/s from d/s", "renamed f from e"]);
}

#[test]
fn a_file_that_an_editor_writes_anew_is_replaced() {
    let changed = after(|tree| {
        tree.create(b"d/.a.tmp", FILE, 3);
        tree.rename(b"d/.a.tmp", b"d/a");
    });
    assert_eq!(changed, ["replaced d/a (size,alloc,mtime,uid) +1"]);
    // The old file is kept as a backup.
    let backup = after(|tree| {
        tree.rename(b"d/a", b"d/a~");
        tree.create(b"d/a", FILE, 3);
    });
    assert_eq!(backup, ["added d/a +3", "renamed d/a~ from d/a"]);
}

#[test]
fn rotated_and_swapped_files_are_renamed() {
    let rotated = after(|tree| {
        tree.remove(b"d/b");
        tree.rename(b"d/a", b"d/b");
        tree.create(b"d/a", FILE, 1);
    });
    assert_eq!(
        rotated,
        ["added d/a +1", "removed d/b -3", "renamed d/b from d/a"]
    );
    let swapped = after(|tree| {
        tree.rename(b"d/a", b"t");
        tree.rename(b"d/b", b"d/a");
        tree.rename(b"t", b"d/b");
    });
    assert_eq!(swapped, ["renamed d/a from d/b", "renamed d/b from d/a"]);
}

#[test]
fn another_type_is_a_change_of_its_own() {
    let changed = after(|tree| {
        tree.remove(b"d/s");
        tree.create(b"d/s", FILE, 1);
    });
    let expected = ["removed d/s/x -4", "retyped d/s (type,size,alloc,mtime)"];
    assert_eq!(changed[0], expected[0]);
    assert!(
        changed[1].starts_with("retyped d/s (") && changed[1].contains("type"),
        "{changed:?}"
    );
}

#[test]
fn links_show_no_growth() {
    assert_eq!(
        after(|tree| tree.link(b"l1", b"e/l3")),
        ["link-added e/l3 to d/l2"]
    );
    // The name that counted is gone, and another one counts.
    assert_eq!(
        after(|tree| tree.remove(b"d/l2")),
        ["link-removed d/l2 to l1"]
    );
    let both = after(|tree| {
        tree.remove(b"l1");
        tree.remove(b"d/l2");
    });
    assert_eq!(both, ["removed d/l2 -8", "removed l1"]);
    let moved = after(|tree| {
        tree.rename(b"d/l2", b"e/l2");
        tree.write(b"l1", 9);
    });
    let growth = moved.iter().filter(|line| line.contains('+')).count();
    assert_eq!(
        growth, 1,
        "both names were written to, and one of them counts: {moved:?}"
    );
}

#[test]
fn without_times_of_birth_a_rename_is_likely() {
    let without = |edit: fn(&mut Tree)| changes(&edited(edit, Renames::Inode, false));
    let renamed = without(|tree| tree.rename(b"d/a", b"e/a"));
    assert_eq!(renamed, ["renamed e/a from d/a likely"]);
    let written = without(|tree| {
        tree.rename(b"d/a", b"e/a");
        tree.write(b"e/a", 2);
    });
    assert_eq!(
        written,
        ["removed d/a -2", "added e/a +2"],
        "the number may be used again"
    );
    let same_path = without(|tree| tree.write(b"d/a", 3));
    assert_eq!(same_path, ["modified d/a (size,alloc,mtime) +1"]);
}

#[test]
fn an_inode_number_that_is_used_again_is_another_file() {
    let changed = after(|tree| {
        tree.remove(b"d/a");
        tree.create(b"e/a", FILE, 2);
    });
    let mut tree = tree();
    let ino = tree.inode(b"d/a").ino;
    tree.remove(b"d/a");
    tree.create(b"e/a", FILE, 2);
    assert_eq!(tree.inode(b"e/a").ino, ino);
    assert_eq!(changed, ["removed d/a -2", "added e/a +2"]);
}

/// Returns the changes on a file system of this type that was mounted anew before the edits.
fn after_remount(kind: &str, edit: impl FnOnce(&mut Tree)) -> Vec<String> {
    let mut tree = tree();
    let old = tree.rows(true);
    tree.remount();
    edit(&mut tree);
    changes(&compare_on(kind, &old, &tree.rows(true), Renames::Inode, 4))
}

const FLEETING: [&str; 4] = ["fuse.sshfs", "overlay", "9p", "unheard-of"];

#[test]
fn inode_numbers_that_do_not_last_are_no_change() {
    for kind in FLEETING {
        assert_eq!(after_remount(kind, |_| ()), [""; 0], "{kind}");
        let changed = after_remount(kind, |tree| {
            tree.inode(b"d/a").mode = 0o600;
            tree.inode(b"e").uid = 5;
            tree.remove(b"d/s/x");
            tree.create(b"e/n", FILE, 1);
        });
        let expected = [
            "removed d/s/x -4",
            "modified d/a (mode)",
            "added e/n +1",
            "modified e (uid)",
        ];
        assert_eq!(changed, expected, "{kind}");
        let written = after_remount(kind, |tree| tree.write(b"d/a", 7));
        assert_eq!(
            written,
            ["replaced d/a likely (size,alloc,mtime) +5"],
            "{kind}: nobody can tell"
        );
    }
}

/// After a mount the number of `d/s/x` can be that of another file of the same moment and size.
#[test]
fn files_that_look_the_same_are_not_renamed_crosswise() {
    for kind in FLEETING {
        let mut tree = tree();
        for name in [&b"e/1"[..], b"e/2", b"e/3"] {
            tree.create(name, FILE, 0);
            tree.inode(name).mtime = 7;
        }
        let old = tree.rows(true);
        tree.remount();
        tree.rename(b"e/1", b"d/1");
        tree.rename(b"e/2", b"d/2");
        let lines = changes(&compare_on(kind, &old, &tree.rows(true), Renames::Inode, 4));
        let expected = ["added d/1", "added d/2", "removed e/1", "removed e/2"];
        assert_eq!(lines, expected, "{kind}");
    }
}

#[test]
fn without_inode_numbers_that_last_a_rename_is_likely() {
    for kind in FLEETING {
        let mut tree = tree();
        let old = tree.rows(true);
        // The first change of a file copies it up, which gives it a new time of birth.
        tree.inode(b"d/a").btime += 1;
        tree.inode(b"d/b").btime += 1;
        tree.inode(b"d/a").mode = 0o600;
        tree.rename(b"d/b", b"e/b");
        let lines = changes(&compare_on(kind, &old, &tree.rows(true), Renames::Inode, 4));
        let expected = ["modified d/a (mode)", "renamed e/b from d/b likely"];
        assert_eq!(lines, expected, "{kind}");
    }
}

#[test]
fn names_of_one_file_are_those_of_one_moment() {
    let linked = after_remount("overlay", |tree| tree.link(b"l1", b"e/l3"));
    assert_eq!(linked, ["link-added e/l3 to d/l2"]);
    let unlinked = after_remount("overlay", |tree| tree.remove(b"d/l2"));
    assert_eq!(unlinked, ["link-removed d/l2 to l1"]);
    // Where two files can have one inode number, no name is another name of a file.
    let linked = after_remount("fuse.sshfs", |tree| tree.link(b"l1", b"e/l3"));
    assert_eq!(linked, ["added e/l3"]);
    let unlinked = after_remount("fuse.sshfs", |tree| tree.remove(b"d/l2"));
    assert_eq!(unlinked, ["removed d/l2 -8", "modified l1 +8"]);
}

#[test]
fn renames_can_be_turned_off() {
    let off = changes(&edited(|tree| tree.rename(b"e", b"f"), Renames::Off, true));
    assert_eq!(off, ["removed e -1", "added f +1"]);
    let link = changes(&edited(
        |tree| tree.link(b"l1", b"e/l3"),
        Renames::Off,
        true,
    ));
    assert_eq!(link, ["added e/l3"]);
}

/// Reads `directory` in vain, before or after the edit.
fn unread(directory: &[u8], is_old: bool, edit: impl FnOnce(&mut Tree)) -> Diff {
    let mut tree = tree();
    let rows = |tree: &mut Tree, is_unread: bool| -> Vec<Row> {
        if is_unread {
            tree.unread.insert(directory.to_vec());
        } else {
            tree.unread.clear();
        }
        tree.rows(true)
    };
    let old = rows(&mut tree, is_old);
    edit(&mut tree);
    let new = rows(&mut tree, !is_old);
    compare(&old, &new, Renames::Inode, 4)
}

#[test]
fn nothing_below_an_unread_directory_was_added_or_removed() {
    let diff = unread(b"d", false, |tree| tree.create(b"e/n", FILE, 1));
    assert_eq!(changes(&diff), ["added e/n +1"]);
    assert_eq!(diff.unknown, 5, "d/a, d/b, d/l2, d/s and d/s/x");
    assert!(!diff.is_certain());
    let diff = unread(b"d", true, |tree| tree.write(b"l1", 9));
    assert_eq!(changes(&diff), ["modified l1 (size,alloc,mtime) +1"]);
    assert_eq!(diff.unknown, 5);
    assert!(!diff.is_certain());
}

#[test]
fn a_file_that_left_an_unread_directory_is_renamed() {
    let diff = unread(b"d", false, |tree| tree.rename(b"d/a", b"e/a"));
    assert_eq!(changes(&diff), ["renamed e/a from d/a"]);
    assert_eq!(diff.unknown, 4);
}

#[test]
fn groups_add_up_where_files_lie() {
    let diff = edited(
        |tree| {
            tree.rename(b"d/s", b"e/s");
            tree.write(b"d/a", 7);
        },
        Renames::Inode,
        true,
    );
    let groups = |by| -> Vec<_> {
        let groups = diff.groups(by).into_iter();
        groups
            .map(|group| {
                let key = match group.key {
                    GroupKey::Directory(at) => String::from_utf8_lossy(&at.path).into_owned(),
                    GroupKey::Owner(uid) => format!("{uid:?}"),
                    GroupKey::Extension(extension) => format!("{extension:?}"),
                };
                (key, group.growth / 4096, group.entries)
            })
            .collect()
    };
    let named = |list: &[(&str, i64, i64)]| -> Vec<_> {
        list.iter()
            .map(|(key, a, b)| ((*key).to_owned(), *a, *b))
            .collect()
    };
    let one = groups(By::Directory { depth: 1 });
    // d has lost as much as it has gained.
    assert_eq!(one, named(&[("", 5, 0), ("e", 5, 2), ("d", 0, -2)]));
    let two = groups(By::Directory { depth: 2 });
    let more = [("", 5, 0), ("e", 5, 2), ("e/s", 5, 2), ("d/s", -5, -2)];
    assert_eq!(two.len(), 5, "{two:?}");
    assert!(
        more.iter().all(|each| two.contains(&named(&[*each])[0])),
        "{two:?}"
    );
    assert_eq!(groups(By::Owner), named(&[("Some(2)", 5, 0)]));
    assert_eq!(groups(By::Extension), named(&[("None", 5, 0)]));
}

#[test]
fn whole_directories_are_one_line_for_people() {
    let diff = edited(
        |tree| {
            tree.create(b"n", DIRECTORY, 1);
            tree.create(b"n/m", DIRECTORY, 1);
            tree.create(b"n/m/x", FILE, 5);
            tree.rename(b"d/a", b"n/m/a");
            tree.remove(b"d/s");
        },
        Renames::Inode,
        true,
    );
    let lines: Vec<_> = diff
        .lines()
        .iter()
        .map(|line| {
            let path = String::from_utf8_lossy(&line.change.version().path);
            (
                format!("{} {path}", line.change.kind.name()),
                line.growth / 4096,
                line.below,
            )
        })
        .collect();
    let line = |text: &str, growth, below| (text.to_owned(), growth, below);
    assert_eq!(
        lines,
        [
            line("added n", 7, 2),
            line("renamed n/m/a", 0, 0),
            line("removed d/s", -5, 1),
        ]
    );
    assert_eq!(diff.changes.len(), 6);
}
