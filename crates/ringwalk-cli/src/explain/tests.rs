use super::*;
use ringwalk::{Batch, Fields, Flow, Visitor, Walk};
use std::num::NonZeroUsize;
use std::time::Duration;

struct Nothing;

impl Visitor for Nothing {
    type State = ();
    fn batch(&mut self, _: &Batch<'_, ()>) -> Flow {
        Flow::Continue
    }
}

#[test]
fn the_explanation_names_what_was_used() {
    let walk = Walk::new("src")
        .fields(Fields::SIZE)
        .workers(NonZeroUsize::new(1));
    let text = text(&walk.run(|_| Nothing).summary);
    for part in [
        "source      syscall (auto",
        "workers     1 started (the number was given)",
        "SIZE",
        "0 errors",
    ] {
        assert!(text.contains(part), "{part} is missing in\n{text}");
    }
}

#[test]
fn the_source_is_told_with_its_reason() {
    let mut summary = Walk::new("src").run(|_| Nothing).summary;
    summary.source = "ext4";
    summary.source_reason = "more than half of the file system".to_owned();
    assert_eq!(
        source(&summary),
        "ext4 (auto: more than half of the file system)"
    );
    summary.source_given = true;
    summary.source_reason.clear();
    assert_eq!(source(&summary), "ext4 (asked for)");
}

#[test]
fn what_others_chose_stays_in_its_row() {
    let mut summary = Walk::new("src").run(|_| Nothing).summary;
    summary.source_reason = "/dev/\u{1b}[2J\nx".to_owned();
    assert!(text(&summary).contains("(auto: /dev/\\033[2J\\nx)\n"));
}

#[test]
fn explains_what_fell_back_and_was_read_ahead() {
    let mut summary = Walk::new("src").run(|_| Nothing).summary;
    summary.fell_back = 0;
    summary.prefetched = None;
    let plain = text(&summary);
    assert!(!plain.contains("fell back") && !plain.contains("prefetched"));
    summary.fell_back = 3;
    let mut prefetched = Prefetched::default();
    prefetched.inode_bytes = 5 << 20;
    prefetched.directory_bytes = 2048;
    prefetched.elapsed = Duration::from_millis(1500);
    prefetched.bounded = true;
    summary.prefetched = Some(prefetched);
    let text = text(&summary);
    for part in [
        "fell back   3 directories",
        "prefetched  5120 KiB of inode tables, 2 KiB of directories in 1.500 s; not all",
    ] {
        assert!(text.contains(part), "{part} is missing in\n{text}");
    }
}

#[test]
fn a_walk_without_metadata_says_so() {
    let text = text(&Walk::new("src").run(|_| Nothing).summary);
    assert!(text.contains("statx       not called"), "{text}");
}
