use super::*;

fn file(dev: u64, ino: u64) -> Identity {
    Identity { dev, ino }
}

#[test]
fn links_keep_their_order() {
    let totals = |size, secs: Option<i64>| Totals {
        size,
        inodes: 1,
        time: secs.map(|secs| Timestamp { secs, nanos: 0 }),
    };
    for time in [None, Some(5)] {
        let mut links = LinkedFiles::default();
        assert!(links.is_empty());
        links.push(file(1, 7), &totals(70, time), 0..3);
        links.push(file(2, 8), &totals(80, time), 3..9);
        let mut more = LinkedFiles::default();
        more.push(file(2, 9), &totals(90, time), 0..0);
        links.append(more);
        links.shrink();
        let all: Vec<_> = links.iter().collect();
        assert_eq!(
            all,
            [
                (file(1, 7), totals(70, time), 0..3),
                (file(2, 8), totals(80, time), 3..9),
                (file(2, 9), totals(90, time), 0..0),
            ]
        );
    }
}
