#![allow(missing_docs)]
use ringwalk_hash::FileVersion;
#[derive(Debug)]
pub struct HashCache;
impl HashCache {
    pub fn insert(&self, _: &FileVersion, _: &[u8; 32]) {}
    pub fn file_system(&self, _: &std::fs::File, _: u64) {}
}
