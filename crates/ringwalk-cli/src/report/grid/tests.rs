//! Unit tests of `grid.rs`.

use super::*;

fn grid(lines: &[&[&str]]) -> Grid {
    let mut grid = Grid::new(1);
    for line in lines {
        grid.push(line.iter().map(|cell| (*cell).to_owned()).collect());
    }
    grid
}

#[test]
fn labels_stand_to_the_left_and_numbers_to_the_right() {
    let grid = grid(&[&["name", "n"], &["é", "10"], &["日本語", "9"]]);
    assert_eq!(grid.lines(), ["name     n", "é       10", "日本語   9"]);
    assert_eq!(grid.width(), 10);
}

#[test]
fn long_labels_are_cut_to_the_width() {
    let mut grid = grid(&[
        &["a label that is long", "10"],
        &["日本語日本語日本語", "9"],
        &["b", "1"],
    ]);
    grid.fit(14);
    let expected = ["a label t~  10", "日本語日~    9", "b            1"];
    assert_eq!(grid.lines(), expected);
}

#[test]
fn numbers_are_never_cut() {
    let mut grid = grid(&[&["a label that is long", "1234567890"]]);
    grid.fit(10);
    assert_eq!(grid.lines(), ["a label~  1234567890"]);
}

#[test]
fn no_lines_have_no_width() {
    assert_eq!(Grid::new(1).width(), 0);
    assert!(Grid::new(1).lines().is_empty());
}
