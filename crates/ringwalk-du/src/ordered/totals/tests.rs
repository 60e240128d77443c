use super::*;
use crate::measurement::{Measurement, Size};
use crate::rule::Rule;
use crate::test_host::TestHost;
use ringwalk::{Follow, Identity};

/// Adds `events`. Returns the lines, and the total size.
fn written(separate: bool, events: Vec<Event>) -> (String, u64) {
    let measurement = Measurement {
        rule: Rule::new(Follow::Never),
        size: Size::Apparent,
        time: None,
        all: false,
        max_depth: usize::MAX,
        separate,
    };
    let common = Common::new(&measurement, &TestHost);
    let mut output = Vec::new();
    let mut totals = OrderedTotals::new(&common, &mut output);
    for event in events {
        totals.take(event);
    }
    let size = totals.total.size;
    (String::from_utf8(output).unwrap(), size)
}

fn size(size: u64) -> Totals {
    Totals {
        size,
        inodes: 1,
        time: None,
    }
}

fn links(inodes: &[u64]) -> LinkedFiles {
    let mut links = LinkedFiles::default();
    for &ino in inodes {
        links.push(Identity { dev: 1, ino }, &size(100), 0..0);
    }
    links
}

fn link(depth: usize, ino: u64) -> Event {
    Event::Files {
        depth,
        text: Vec::new(),
        links: links(&[ino]),
    }
}

fn enter(depth: usize, ino: u64) -> Event {
    let identity = Identity { dev: 1, ino };
    Event::Enter { depth, identity }
}

fn leave(depth: usize, own: u64, path: &str) -> Event {
    Event::Leave(Box::new(Leave {
        depth,
        totals: size(own),
        links: LinkedFiles::default(),
        path: path.as_bytes().to_vec(),
        complaint: None,
    }))
}

/// Returns files whose lines are `text`. Those in `of` count once, each with a line of two bytes.
fn lines_and_links(text: &str, of: &[(u64, usize)]) -> Event {
    let mut links = LinkedFiles::default();
    for &(ino, at) in of {
        links.push(Identity { dev: 1, ino }, &size(100), at..at + 2);
    }
    Event::Files {
        depth: 2,
        text: text.as_bytes().to_vec(),
        links,
    }
}

#[test]
fn lines_of_files_seen_before_are_left_out() {
    let separate = false;
    let events = vec![
        lines_and_links("a\nb\nc\n", &[(1, 0), (2, 4)]),
        lines_and_links("d\ne\nf\ng\n", &[(2, 0), (3, 2), (1, 6)]),
        lines_and_links("h\n", &[]),
    ];
    let (lines, total) = written(separate, events);
    assert_eq!(lines, "a\nb\nc\ne\nf\nh\n");
    assert_eq!(total, 300);
}

#[test]
fn the_first_link_is_charged() {
    let separate = false;
    let events = vec![
        link(2, 7),
        leave(1, 5, "t/a"),
        link(2, 7),
        leave(1, 6, "t/b"),
        leave(0, 1, "t"),
    ];
    let (lines, total) = written(separate, events);
    assert_eq!(lines, "105\tt/a\n6\tt/b\n112\tt\n");
    assert_eq!(total, 112);
}

#[test]
fn separate_directories_have_only_their_files() {
    let separate = true;
    let events = vec![
        link(1, 8),
        link(2, 7),
        leave(1, 5, "t/a"),
        link(1, 7),
        leave(0, 1, "t"),
    ];
    let (lines, total) = written(separate, events);
    assert_eq!(lines, "105\tt/a\n101\tt\n");
    assert_eq!(total, 206);
}

#[test]
fn a_directory_seen_before_is_left_out_with_all_below() {
    let separate = false;
    let events = vec![
        enter(0, 1),
        leave(0, 5, "a"),
        enter(0, 2),
        enter(1, 1),
        lines_and_links("x\n", &[]),
        enter(2, 9),
        link(3, 7),
        leave(2, 5, "t/a/b"),
        leave(1, 5, "t/a"),
        link(1, 7),
        leave(0, 1, "t"),
    ];
    let (lines, total) = written(separate, events);
    assert_eq!(lines, "5\ta\n101\tt\n");
    assert_eq!(total, 106);
}

#[test]
fn files_of_merged_directories_count_once() {
    let separate = false;
    let unit = |depth, path: &str| {
        Event::Leave(Box::new(Leave {
            depth,
            totals: size(5),
            links: links(&[7, 7]),
            path: path.as_bytes().to_vec(),
            complaint: None,
        }))
    };
    let events = vec![unit(1, "t/a"), unit(1, "t/b"), leave(0, 1, "t")];
    let (lines, total) = written(separate, events);
    assert_eq!(lines, "105\tt/a\n5\tt/b\n111\tt\n");
    assert_eq!(total, 111);
}
