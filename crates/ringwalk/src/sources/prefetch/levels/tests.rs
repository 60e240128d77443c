//! Unit tests of `levels.rs`.

use super::*;

#[test]
fn inodes_are_new_once() {
    let mut seen = Seen::new(64);
    assert!(seen.is_new(64) && seen.is_new(1) && seen.is_new(63));
    assert!(!seen.is_new(64) && !seen.is_new(1) && !seen.is_new(128));
}

#[test]
fn blocks_of_two_directories_are_read_for_the_first() {
    let run = |logical, physical, blocks| DirectoryRun {
        extent: Extent {
            logical,
            physical,
            blocks,
        },
        directory: 0,
    };
    let mut runs = vec![
        run(0, 10, 5),
        run(7, 10, 5),
        run(0, 12, 2),
        run(20, 13, 4),
        run(0, 17, 1),
    ];
    take_each_block_once(&mut runs);
    assert_eq!(runs, [run(0, 10, 5), run(22, 15, 2), run(0, 17, 1)]);
}
