//! Unit tests of `arguments.rs`.

use super::*;

fn words(arguments: &Arguments) -> Vec<&[u8]> {
    arguments.iter().map(CStr::to_bytes).collect()
}

#[test]
fn words_come_back() {
    let mut arguments = Arguments::new();
    assert!(arguments.is_empty());
    for word in [&b"echo"[..], b"", b"\xff x", b"cut\0off"] {
        arguments.push(word);
    }
    assert_eq!(words(&arguments), [&b"echo"[..], b"", b"\xff x", b"cut"]);
    assert_eq!(arguments.size(), 5 + 1 + 4 + 4 + 4 * 8);
    assert_eq!(arguments.get(4), None);
}

#[test]
fn words_are_forgotten_and_copied() {
    let mut arguments = Arguments::new();
    for word in [b"a", b"b", b"c", b"d"] {
        arguments.push(word);
    }
    let mut part = Arguments::new();
    part.push(b"first");
    part.extend(&arguments, 1..3);
    assert_eq!(words(&part), [&b"first"[..], b"b", b"c"]);
    arguments.truncate(9);
    assert_eq!(arguments.len(), 4);
    arguments.truncate(1);
    arguments.push(b"e");
    assert_eq!(words(&arguments), [b"a", b"e"]);
    assert_eq!(arguments.size(), 2 + 2 + 2 * 8);
}
