use super::*;

fn file(dev: u64, ino: u64) -> Identity {
    Identity { dev, ino }
}

#[test]
fn each_inode_is_new_once_on_each_device() {
    let mut seen = SeenInodes::default();
    assert!(seen.is_empty());
    assert!(seen.insert(file(1, 7)));
    assert!(seen.insert(file(2, 7)));
    assert!(seen.insert(file(1, 8)));
    assert!(!seen.insert(file(1, 7)));
    assert!(seen.contains(file(2, 7)) && !seen.contains(file(2, 8)));
    assert!(!seen.is_empty());
}
