//! The report of `--explain`: the source, the workers and the limits of a walk, with reasons.

use std::fmt::Write;

use ringwalk::shown::one_line;
use ringwalk::{Prefetched, SourceChoice, Summary};

use crate::console;

/// Writes the report about a walk or an inode sweep to standard error.
pub fn explain(summary: &Summary) {
    console::note(text(summary).trim_end());
}

fn text(summary: &Summary) -> String {
    let mut out = String::new();
    let mut row = |name: &str, value: &str| {
        let value = one_line(value);
        let _ = writeln!(out, "{}: {name:<12}{value}", console::program());
    };
    row("source", &source(summary));
    if summary.fell_back > 0 {
        row(
            "fell back",
            &format!(
                "{} directories, read by system calls (the last of them: {})",
                summary.fell_back,
                summary.fell_back_reason.as_deref().unwrap_or("unknown")
            ),
        );
    }
    if let Some(prefetched) = &summary.prefetched {
        row("prefetched", &read_ahead(prefetched));
    }
    let seconds = summary.elapsed.as_secs_f64();
    row(
        "read",
        &format!(
            "{} entries, {} directories in {seconds:.3} s",
            summary.entries, summary.directories
        ),
    );
    row(
        "missed",
        &format!(
            "{} errors, {} vanished while the walk ran",
            summary.errors, summary.vanished
        ),
    );
    if summary.stopped {
        row("stopped", "before everything was read");
    }
    workers(summary, &mut row);
    metadata(summary, &mut row);
    // An inode sweep reads no directories.
    if summary.buffer_size > 0 {
        directories(summary, &mut row);
    }
    out
}

fn metadata(summary: &Summary, row: &mut impl FnMut(&str, &str)) {
    let order = if summary.inode_order {
        ", in inode order (rotational disk)"
    } else {
        ""
    };
    if summary.source == SourceChoice::Syscall.as_str() {
        row("statx", &format!("{}{order}", fields(summary)));
    } else if !summary.fields.is_empty() {
        row(
            "metadata",
            &format!(
                "{} by the source, or by statx where the source is not sure",
                names(summary)
            ),
        );
    }
}

fn directories(summary: &Summary, row: &mut impl FnMut(&str, &str)) {
    row(
        "buffer",
        &format!("{} bytes a getdents64 call", summary.buffer_size),
    );
    let reopened = match summary.reopened {
        0 => "no directory had to be opened again".to_owned(),
        times => format!("closed directories were opened again {times} times"),
    };
    row(
        "descriptors",
        &format!(
            "{} held at the most, {} allowed, {} left to other uses; {reopened}",
            summary.descriptors_held, summary.descriptor_limit, summary.descriptor_reserve
        ),
    );
}

fn source(summary: &Summary) -> String {
    let chosen = if summary.source_given {
        "asked for"
    } else {
        "auto"
    };
    let (source, reason) = (summary.source, &summary.source_reason);
    if reason.is_empty() {
        format!("{source} ({chosen})")
    } else {
        format!("{source} ({chosen}: {reason})")
    }
}

fn read_ahead(prefetched: &Prefetched) -> String {
    let Prefetched {
        inode_bytes,
        directory_bytes,
        elapsed,
        bounded,
        ..
    } = prefetched;
    let (inodes, directories) = (inode_bytes >> 10, directory_bytes >> 10);
    let seconds = elapsed.as_secs_f64();
    let end = if *bounded {
        "; not all, since the limit was reached"
    } else {
        ""
    };
    format!("{inodes} KiB of inode tables, {directories} KiB of directories in {seconds:.3} s{end}")
}

fn workers(summary: &Summary, row: &mut impl FnMut(&str, &str)) {
    let why = if summary.workers_given {
        "the number was given"
    } else if summary.waited {
        "adapted; calls waited for a device or a network"
    } else {
        "adapted; calls were answered from cache"
    };
    row("workers", &format!("{} started ({why})", summary.workers));
    for change in &summary.worker_changes {
        let at = change.at.as_secs_f64();
        row(
            "",
            &format!("at {at:.3} s {}: {}", change.workers, change.reason),
        );
    }
}

fn fields(summary: &Summary) -> String {
    if summary.fields.is_empty() {
        return "not called for entries whose type the directory has".to_owned();
    }
    format!(
        "one call an entry for {} (mask {:#x})",
        names(summary),
        summary.fields.bits()
    )
}

fn names(summary: &Summary) -> String {
    let names: Vec<_> = summary.fields.iter_names().map(|(name, _)| name).collect();
    names.join(" ")
}

#[cfg(test)]
mod tests {
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
}
