use super::*;

fn file(path: &[u8], alloc: u64, link: Option<(u64, u64)>) -> Match<'_> {
    Match {
        path,
        is_directory: false,
        size: alloc + 1,
        alloc,
        link,
    }
}

fn directory(path: &[u8]) -> Match<'_> {
    Match {
        is_directory: true,
        ..file(path, 4, None)
    }
}

fn totals(entries: u64, size: u64, alloc: u64) -> Totals {
    Totals {
        entries,
        size,
        alloc,
    }
}

#[test]
fn totals_count_in_all_directories_above() {
    let mut matches = Matches::default();
    matches.add(file(b"a/b/c/f", 10, None));
    matches.add(file(b"a/g", 1, None));
    matches.add(directory(b"a/b"));
    matches.add(directory(b""));
    assert_eq!(matches.totals(b""), totals(4, 23, 19));
    assert_eq!(matches.totals(b"a"), totals(3, 18, 15));
    assert_eq!(matches.totals(b"a/b"), totals(2, 16, 14));
    assert_eq!(matches.totals(b"a/b/c"), totals(1, 11, 10));
    assert_eq!(matches.totals(b"a/b/c/f"), Totals::default());
    assert_eq!(matches.totals(b"elsewhere"), Totals::default());
    for (directory, name, expected) in [
        (&b"a/b/c"[..], &b"f"[..], true),
        (b"a", b"g", true),
        (b"a", b"b", true),
        (b"", b"", true),
        (b"", b"a", false),
        (b"", b"g", false),
        (b"a/b", b"c", false),
        (b"x", b"g", false),
    ] {
        assert_eq!(
            matches.has(directory, name),
            expected,
            "{directory:?} {name:?}"
        );
    }
}

#[test]
fn paths_of_several_roots_are_absolute() {
    let mut matches = Matches::default();
    matches.add(directory(b"/a/home"));
    matches.add(file(b"/a/home/x/f", 1, None));
    matches.add(file(b"/srv/g", 2, None));
    assert!(matches.has(b"", b"/a/home") && matches.has(b"/a/home/x", b"f"));
    assert!(!matches.has(b"", b"/srv"));
    assert_eq!(matches.totals(b"/a/home"), totals(2, 7, 5));
    assert_eq!(matches.totals(b""), totals(3, 10, 7));
}

/// The order in which workers find the names must not matter.
#[test]
fn a_file_counts_for_the_first_of_its_names() {
    let link = Some((5, 7));
    let names: [&[u8]; 4] = [b"b/x", b"a/y", b"a/b/z", b"w"];
    for turn in 0..4 {
        let mut matches = Matches::default();
        let mut names = names;
        names.rotate_left(turn);
        for name in names {
            matches.add(file(name, 8, link));
        }
        assert_eq!(matches.totals(b""), totals(4, 9, 8));
        assert_eq!(matches.totals(b"a"), totals(2, 9, 8));
        assert_eq!(matches.totals(b"a/b"), totals(1, 9, 8));
        assert_eq!(matches.totals(b"b"), totals(1, 0, 0));
    }
}
