use super::*;

fn names(list: &[u8]) -> Names {
    parse(b"list", list)
}

#[test]
fn lists() {
    assert_eq!(names(b""), Names::default());
    assert_eq!(names(b"a\0b c\0").names, ["a", "b c"]);
    assert_eq!(names(b"a\0b").names, ["a", "b"]);
    assert_eq!(names(b"-\0").names, ["-"]);
}

#[test]
fn empty_names() {
    let empty = |index| format!("list:{index}: invalid zero-length file name");
    assert_eq!(names(b"\0").complaints, [empty(1)]);
    let found = names(b"a\0\0b\0\0");
    assert_eq!(found.names, ["a", "b"]);
    assert_eq!(found.complaints, [empty(2), empty(4)]);
}

#[test]
fn standard_input_cannot_name_itself() {
    let found = parse(b"-", &b"a\0-\0"[..]);
    assert_eq!(found.names, ["a"]);
    assert_eq!(
        found.complaints,
        ["when reading file names from standard input, no file name of '-' allowed"]
    );
}
