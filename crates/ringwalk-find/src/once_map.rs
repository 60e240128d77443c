//! A map that only grows. Many threads read it without a lock.

use std::sync::OnceLock;

/// A map from numbers to values that are never removed. A lookup takes no lock, and the value can
/// be borrowed as long as the map.
///
/// The map is a trie over the bits of a hash. Its nodes are set once and never moved. Different
/// numbers have different hashes, because the hash multiplies by an odd number. So they part after
/// at most 32 levels.
#[derive(Debug)]
pub(crate) struct OnceMap<V>(OnceLock<Box<TrieNode<V>>>);

#[derive(Debug)]
struct TrieNode<V> {
    key: u64,
    value: V,
    /// The children, by the next two bits of the hash.
    children: [OnceLock<Box<TrieNode<V>>>; 4],
}

impl<V> Default for OnceMap<V> {
    fn default() -> Self {
        Self(OnceLock::new())
    }
}

impl<V> OnceMap<V> {
    /// Returns the value for `key`, if one was set.
    pub(crate) fn get(&self, key: u64) -> Option<&V> {
        let mut hash = hash(key);
        let mut node = self.0.get()?;
        while node.key != key {
            node = node.children[branch(&mut hash)].get()?;
        }
        Some(&node.value)
    }

    /// Sets the value for `key` unless it has one. Returns the value that it has then.
    pub(crate) fn insert(&self, key: u64, value: V) -> &V {
        let mut hash = hash(key);
        let mut slot = &self.0;
        let mut new = Some(value);
        loop {
            let node = slot.get_or_init(|| {
                let value = new.take().expect("only one slot is filled");
                Box::new(TrieNode {
                    key,
                    value,
                    children: Default::default(),
                })
            });
            if node.key == key {
                return &node.value;
            }
            slot = &node.children[branch(&mut hash)];
        }
    }
}

/// Spreads numbers over the upper bits, as most numbers are small. The factor is the golden ratio
/// times 2^64.
fn hash(key: u64) -> u64 {
    key.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// Takes and returns the upper two bits.
fn branch(hash: &mut u64) -> usize {
    let bits = *hash >> 62;
    *hash <<= 2;
    usize::try_from(bits).unwrap_or(0)
}

#[cfg(test)]
mod tests {
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
}
