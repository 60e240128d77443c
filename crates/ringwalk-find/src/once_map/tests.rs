use super::*;
use std::thread;

#[test]
fn values_stay() {
    let map = OnceMap::default();
    assert_eq!(map.get(0), None);
    let keys = || (0..3000).chain([u64::MAX, 1 << 63, u64::from(u32::MAX)]);
    for key in keys() {
        assert_eq!(map.insert(key, key), &key);
    }
    for key in keys() {
        assert_eq!(map.get(key), Some(&key));
        assert_eq!(map.insert(key, 7), &key, "the first one stays");
    }
    assert_eq!(map.get(3001), None);
}

#[test]
fn threads_agree() {
    let map = OnceMap::default();
    thread::scope(|scope| {
        for worker in 0..4 {
            let map = &map;
            scope.spawn(move || {
                for key in 0..2000 {
                    let value = *map.insert(key, (key, worker));
                    assert_eq!(map.get(key), Some(&value));
                    assert_eq!(value.0, key);
                }
            });
        }
    });
}
