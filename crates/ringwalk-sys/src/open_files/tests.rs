use super::*;

/// Other tests open and close files meanwhile, so the count is repeated until none came between.
#[test]
fn both_ways_count_the_same() {
    let (mut size, mut list) = (0, 1);
    for _ in 0..10_000 {
        (size, list) = (stat(LIST).unwrap().st_size, listed().unwrap());
        // Linux before 6.2 gives no size.
        if size == 0 || usize::try_from(size).unwrap() == list {
            break;
        }
    }
    assert!(size == 0 || usize::try_from(size).unwrap() == list);
    assert_eq!(open_file_count().is_some(), list > 0);
}

#[test]
fn an_open_file_is_counted() {
    let grew = (0..10_000).any(|_| {
        let before = open_file_count().unwrap();
        let held: Vec<_> = (0..50)
            .map(|_| std::fs::File::open("/dev/null").unwrap())
            .collect();
        let between = open_file_count().unwrap();
        drop(held);
        between == before + 50
    });
    assert!(grew);
}
