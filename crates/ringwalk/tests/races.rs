//! A tree that changes while it is walked: the walk sees nothing outside of it, and never hangs.

mod support;

use std::fs;
use std::num::NonZeroUsize;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use support::{Random, collect};

/// Swaps directories for links to `outside`, renames and removes them, until `stop` is set.
fn disturb(tree: &Path, outside: &Path, stop: &AtomicBool) {
    let mut random = Random::new(5);
    let mut changes = 0_u64;
    while !stop.load(Ordering::Relaxed) {
        changes += 1;
        let dir = tree.join(format!("{}/{}", random.below(10), random.below(10)));
        let aside = tree.join(format!("{}/aside-{changes}", random.below(10)));
        if fs::rename(&dir, &aside).is_err() {
            continue;
        }
        match random.below(3) {
            0 => {
                let _ = symlink(outside, &dir);
                std::thread::yield_now();
                let _ = fs::remove_file(&dir);
                let _ = fs::rename(&aside, &dir);
            }
            1 => {
                let _ = fs::remove_dir_all(&aside);
                let _ = fs::create_dir(&dir);
                let _ = fs::write(dir.join("new"), b"");
            }
            _ => {
                let _ = fs::rename(&aside, &dir);
            }
        }
    }
}

#[test]
fn a_changing_tree_never_leads_outside() {
    let dir = tempfile::tempdir().unwrap();
    let outside = dir.path().join("outside");
    fs::create_dir_all(outside.join("secret/secret")).unwrap();
    let tree = dir.path().join("tree");
    for a in 0..10 {
        for b in 0..10 {
            fs::create_dir_all(tree.join(format!("{a}/{b}/secretless"))).unwrap();
            fs::write(tree.join(format!("{a}/{b}/file")), b"").unwrap();
        }
    }
    let stop = AtomicBool::new(false);
    let mut vanished = 0;
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| disturb(&tree, &outside, &stop));
        }
        let begin = Instant::now();
        while begin.elapsed() < Duration::from_secs(4) {
            for workers in [1, 2, 4] {
                let walk = support::walk(tree.as_path()).workers(NonZeroUsize::new(workers));
                let (all, summary) = collect(walk);
                for (path, ..) in &all.seen {
                    let name = path.rsplit(|b| *b == b'/').next();
                    assert_ne!(name, Some(&b"secret"[..]), "the walk left the tree");
                }
                assert!(
                    all.errors.iter().all(ringwalk::Error::is_vanished),
                    "{:?}",
                    all.errors
                );
                vanished += summary.vanished;
            }
        }
        stop.store(true, Ordering::Relaxed);
    });
    assert!(
        vanished > 0,
        "nothing ever vanished: the test tests nothing"
    );
}
