use super::*;

#[test]
fn the_directory_that_holds_all_names() {
    let mut links = Table::default();
    // Root 0 with a (1), a/b (2), a/c (3) and d (4).
    let first = links.add((1, 5), 3, &[0, 1, 2]);
    assert_eq!((first.is_first, first.all_below), (true, None));
    let second = links.add((1, 5), 3, &[0, 1, 3]);
    assert_eq!((second.is_first, second.all_below), (false, None));
    assert_eq!(links.add((1, 5), 3, &[0, 1]).all_below, Some(1));
    assert_eq!(links.add((2, 5), 2, &[0, 1, 3]).all_below, None);
    assert_eq!(links.add((2, 5), 2, &[0, 4]).all_below, Some(0));
    assert_eq!(links.add((3, 5), 2, &[0, 4]).all_below, None);
    assert_eq!(links.add((3, 5), 2, &[0, 4]).all_below, Some(1));
}

#[test]
fn names_in_other_roots_and_roots_have_no_directory_in_common() {
    let mut links = Table::default();
    links.add((1, 5), 2, &[1, 2]);
    assert_eq!(links.add((1, 5), 2, &[3]).all_below, None);
    // The first name is a root.
    links.add((1, 6), 2, &[]);
    assert_eq!(links.add((1, 6), 2, &[4]).all_below, None);
    links.add((1, 7), 2, &[5]);
    assert_eq!(links.add((1, 7), 2, &[]).all_below, None);
}

#[test]
fn names_of_other_devices_are_of_other_files() {
    let mut links = Table::default();
    assert!(links.add((1, 5), 2, &[0]).is_first);
    assert!(links.add((2, 5), 2, &[0]).is_first);
    assert!(!links.add((1, 5), 2, &[0]).is_first);
}
