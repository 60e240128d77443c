//! Unit tests of `fish.rs`.

use super::*;

#[test]
fn a_line_for_each_word() {
    let script = extend("function __fish_ringwalk_using_subcommand\nend\n").unwrap();
    for line in [
        "find' -o maxdepth -x -d 'Go down at most so many levels below the starting points'",
        "find' -s H -d '",
        "find' -l help -d '",
        "find' -o newermt -r -F -d '",
        "find' -o xtype -x -a 'b c d f l p s' -d '",
    ] {
        assert!(script.contains(line), "{line}\n{script}");
    }
    assert_eq!(extend("something else"), None);
}
