//! Another process that swaps a directory with a symbolic link all the time.

use super::super::testing::{Place, Results, SetOnDrop, Tree};
use super::super::{Reason, delete};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use std::fs;
use std::os::unix::fs::symlink;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// For one second trees are made and deleted, while a thread exchanges `top/sub` with a link to a
/// directory outside that has entries of the same names.
#[test]
fn nothing_outside_is_touched_while_a_directory_is_swapped_all_the_time() {
    let place = Place::new();
    let link = place.at("link");
    // From the place of `top/sub`. An absolute link could lead over another mount.
    symlink("../../outside", &link).unwrap();
    let (is_over, swaps) = (AtomicBool::new(false), AtomicU64::new(0));
    let (mut deleted, mut kept) = (0, 0);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                let sub = place.at("top/sub");
                if renameat_with(CWD, &link, CWD, &sub, RenameFlags::EXCHANGE).is_ok() {
                    swaps.fetch_add(1, Ordering::Relaxed);
                }
            }
        });
        let _set = SetOnDrop(&is_over);
        let start = Instant::now();
        while start.elapsed() < Duration::from_secs(1) || deleted == 0 || kept == 0 {
            // One of the two names is a link now, in whichever round.
            for file in ["top/sub/file", "top/sub/other", "top/sub/sub/file"] {
                let path = place.at(file);
                let is_link = |name: &str| place.at(name).is_symlink();
                if !is_link("top/sub") && !is_link("link") {
                    let _ = fs::remove_dir_all(&link);
                    let _ = symlink("../../outside", &link);
                }
                // Through the link, this writes the same bytes to the files outside.
                let _ = fs::create_dir_all(path.parent().unwrap());
                let _ = fs::write(path, "canary");
            }
            let Some(tree) = read(&place) else { continue };
            let mut results = Results::default();
            let selections = [tree.select("top")];
            delete(&tree.root(), &selections, &tree, &place.log(), &mut results).unwrap();
            deleted += results.deleted.len();
            kept += results
                .kept
                .iter()
                .filter(|(_, why)| *why == Reason::Replaced)
                .count();
            place.check_outside();
            assert!(
                start.elapsed() < Duration::from_secs(60),
                "{deleted} {kept}"
            );
        }
    });
    assert!(swaps.into_inner() > 100);
    let canary = fs::read_to_string(place.outside().join("sub/file")).unwrap();
    assert_eq!(canary, "canary");
}

/// Returns the tree, or `None` if it changed while it was read.
fn read(place: &Place) -> Option<Tree> {
    let silent = std::panic::AssertUnwindSafe(|| Tree::read(&place.root()));
    let tree = std::panic::catch_unwind(silent).ok()?;
    tree.has("top").then_some(tree)
}
