//! Unit tests of `under.rs`.

use super::*;
use ringwalk_snapshot::RootInfo;

#[test]
fn the_message_names_the_roots() {
    let mut info = Info::default();
    for root in ["/a", "/b\n", "/c", "/d"] {
        info.roots.push(RootInfo::new(root.as_bytes()));
    }
    let message = |info| message(OsStr::new("x"), OsStr::new("y"), info);
    let expected = r"'x' is not in 'y', a snapshot of '/a', '/b'$'\n', '/c', ...";
    assert_eq!(message(Some(&info)), expected);
    assert_eq!(message(None), "'x' is not in 'y'");
}
