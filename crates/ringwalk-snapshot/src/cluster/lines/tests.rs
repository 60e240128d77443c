use super::*;
use ringwalk::FileType;

fn left(path: &[u8], depth: usize, remaining: Remaining) -> LeftLine {
    LeftLine {
        task: 3,
        index: 9,
        leftover: Leftover {
            root: 1,
            root_identity: Identity { dev: 1, ino: 2 },
            path: path.to_vec(),
            depth,
            identity: Some(Identity {
                dev: u64::MAX,
                ino: u64::MAX - 1,
            }),
            remaining,
            read: 17,
            tag: tag(3 << 32 | 5, true),
        },
    }
}

fn parse(line: &str) -> Result<LeftLine, String> {
    LeftLine::parse(line.strip_suffix('\n').unwrap().as_bytes(), 2)
}

#[test]
fn lines_are_read_as_they_were_written() {
    let name = |name: &[u8], file_type| ListedName {
        name: name.to_vec(),
        file_type,
        ino: u64::MAX,
    };
    let names = vec![
        name(b"a\n\"\\", FileType::Regular),
        name(b"\xff", FileType::Unknown),
    ];
    let (position, to) = (i64::MAX, Some(i64::MIN));
    for remaining in [
        Remaining::Whole,
        Remaining::From { position, to },
        Remaining::Names(names),
    ] {
        for (path, depth) in [(&b""[..], 0), (b"a/\xff\xfe/c", 3), (b"\n", 1)] {
            let mut left = left(path, depth, remaining.clone());
            for identity in [left.leftover.identity, None] {
                left.leftover.identity = identity;
                assert_eq!(parse(&left.to_line()), Ok(left.clone()));
            }
        }
    }
}

#[test]
fn any_change_of_a_line_is_noticed() {
    let line = left(b"a/b", 2, Remaining::Whole).to_line();
    for at in 0..line.len() - 1 {
        let mut bytes = line.clone().into_bytes();
        bytes.pop();
        bytes[at] ^= 1;
        assert!(LeftLine::parse(&bytes, 2).is_err(), "{at}");
        assert!(LeftLine::parse(&bytes[..at], 2).is_err(), "{at}");
    }
}

/// A sound line of another program must not lead out of the tree.
#[test]
fn paths_that_no_directory_has() {
    for (path, depth) in [
        (&b"/etc"[..], 2),
        (b"..", 1),
        (b"a/../b", 3),
        (b"a//b", 3),
        (b"a/", 2),
        (b".", 1),
        (b"a\0", 1),
        (b"a", 2),
        (b"", 1),
    ] {
        let error = parse(&left(path, depth, Remaining::Whole).to_line());
        assert!(error.is_err(), "{}", path.escape_ascii());
    }
    let mut other = left(b"a", 1, Remaining::Whole);
    other.leftover.root = 2;
    assert!(parse(&other.to_line()).unwrap_err().contains("root"));
    let names = vec![ListedName {
        name: b"a/b".to_vec(),
        file_type: FileType::Regular,
        ino: 1,
    }];
    let names = left(b"a", 1, Remaining::Names(names));
    assert!(parse(&names.to_line()).unwrap_err().contains("names"));
}
