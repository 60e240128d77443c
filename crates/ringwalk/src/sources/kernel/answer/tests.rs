//! Tests of the buffers of requests and answers.

use super::*;

fn take(pool: &Arc<TreeBuffers>) -> Option<TreeBuffer> {
    let buffer = TreeBuffers::take(pool)?;
    assert_eq!(buffer.bytes.len(), TREE_BUFFER);
    Some(buffer)
}

#[test]
fn bytes_in_use_are_bounded() {
    let pool = Arc::new(TreeBuffers::default());
    let most = MOST_HELD / TREE_BUFFER;
    let mut used: Vec<_> = std::iter::from_fn(|| take(&pool)).collect();
    assert_eq!(used.len(), most);
    // A ring that failed keeps the bytes.
    used[0].bytes.clear();
    drop(used.remove(0));
    assert!(take(&pool).is_some());
    drop(used);
    assert_eq!(std::iter::from_fn(|| take(&pool)).take(100).count(), 100);
}

#[test]
fn short_answers_hold_what_they_fill() {
    let pool = Arc::new(TreeBuffers::default());
    let short: Vec<_> = (0..20)
        .map(|number| {
            let mut buffer = take(&pool).unwrap();
            buffer.bytes[999] = number;
            buffer.shorten(1000);
            buffer
        })
        .collect();
    for (number, buffer) in short.iter().enumerate() {
        assert_eq!((buffer.bytes.len(), buffer.held), (1000, 1000));
        assert_eq!(usize::from(buffer.bytes[999]), number);
    }
    let mut full = take(&pool).unwrap();
    full.shorten(TREE_BUFFER - 8);
    assert_eq!(full.held, TREE_BUFFER);
    drop((short, full));
    assert_eq!(lock(&pool.0).held, 0);
}
