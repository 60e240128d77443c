//! Unit tests of `leftovers.rs`.

use super::*;
use rustix::io::Errno;

fn of(path: &[u8], depth: usize, remaining: Remaining) -> Leftover {
    Leftover {
        root: 1,
        root_identity: Identity { dev: 5, ino: 6 },
        path: path.to_vec(),
        depth,
        identity: None,
        remaining,
        read: 9,
        tag: 0,
    }
}

/// Returns a leftover as it comes back from C.
fn through_c(
    given: &Leftover,
    change: impl FnOnce(&mut RingwalkLeftover),
) -> Result<Leftover, Refused> {
    let list = Leftovers::from(std::slice::from_ref(given));
    let mut raw = list.raw()[0];
    change(&mut raw);
    leftover(&raw, &c_string(&given.path), 0, 2)
}

#[test]
fn leftovers_come_back_as_they_were() {
    let mut seen = of(
        b"a/b",
        2,
        Remaining::From {
            position: 7,
            to: None,
        },
    );
    seen.identity = Some(Identity { dev: 1, ino: 2 });
    for given in [
        seen,
        of(b"", 0, Remaining::Whole),
        of(b"\xff", 1, Remaining::Whole),
    ] {
        assert_eq!(through_c(&given, |_| {}).unwrap(), given);
    }
}

#[test]
fn leftovers_that_no_walk_makes_are_refused() {
    let refused = |path: &[u8], depth, change: fn(&mut RingwalkLeftover)| {
        let refused = through_c(&of(path, depth, Remaining::Whole), change).unwrap_err();
        assert_eq!(refused.errno, Errno::INVAL);
        refused.message
    };
    for path in [
        &b"/"[..],
        b"/a",
        b"a/",
        b"a//b",
        b".",
        b"a/..",
        b"../a",
        b"./a",
    ] {
        assert!(refused(path, 2, |_| {}).contains("without . and .."));
    }
    assert!(refused(b"a", 2, |_| {}).starts_with("resume[0].depth is 2"));
    assert!(refused(b"a", 1, |raw| raw.root = 2).starts_with("resume[0].root is 2"));
    assert!(refused(b"a", 1, |raw| raw.position = -2).contains("position is -2"));
    assert!(refused(b"a", 1, |raw| raw.reserved[6] = 1).contains("reserved"));
}

#[test]
fn an_empty_list_has_memory_of_its_own() {
    let list = Leftovers::from(&[][..]);
    assert!(list.raw.is_empty() && list.raw.capacity() > 0);
}
