//! Tests of the buffers of answers.

use super::*;

#[test]
fn answers_in_use_are_bounded() {
    let buffers = TreeBuffers::default();
    let mut used: Vec<_> = (0..MOST_USED).filter_map(|_| buffers.take()).collect();
    assert_eq!(used.len(), MOST_USED);
    assert!(buffers.take().is_none());
    for mut buffer in used.drain(..) {
        assert_eq!(buffer.len(), TREE_BUFFER);
        // A ring that failed keeps the buffer, and an empty one comes back.
        buffer.clear();
        buffers.give_back(buffer);
    }
    assert_eq!(buffers.take().map(|buffer| buffer.len()), Some(TREE_BUFFER));
}
