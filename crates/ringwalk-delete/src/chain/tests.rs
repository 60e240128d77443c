use super::least_needed;

/// Goes down and up a tree with some descriptors, and returns how often directories are opened.
fn opened(depth: usize, most: usize) -> usize {
    let mut open: Vec<usize> = Vec::new();
    let mut opened = 0;
    let mut reach = |open: &mut Vec<usize>, level: usize| {
        while open.last() != Some(&level) {
            open.push(open.last().map_or(0, |last| last + 1));
            opened += 1;
            if open.len() > most {
                open.remove(least_needed(open));
            }
        }
    };
    reach(&mut open, depth - 1);
    for level in (0..depth).rev() {
        reach(&mut open, level);
        open.pop();
    }
    opened
}

#[test]
fn each_directory_is_opened_a_few_times_only() {
    assert_eq!(opened(64, 64), 64);
    // If only the deepest ones were kept, these would be 200 000 and 2 000 000.
    assert!(opened(5000, 64) < 4 * 5000, "{}", opened(5000, 64));
    assert!(opened(5000, 6) < 20 * 5000, "{}", opened(5000, 6));
    assert!(opened(100_000, 64) < 5 * 100_000, "{}", opened(100_000, 64));
}

#[test]
fn the_deepest_directory_stays_open() {
    assert_eq!(least_needed(&[0, 1, 2, 3]), 0);
    assert_eq!(least_needed(&[5, 9]), 0);
    // Closing 6 makes a gap of 2 at a distance of 4.
    assert_eq!(least_needed(&[1, 5, 6, 7, 10]), 2);
}
