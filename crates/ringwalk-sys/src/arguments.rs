//! The arguments of a command, one after the other in one buffer.

use std::ffi::CStr;
use std::ops::Range;

/// The arguments of a command, as `execve(2)` gets them. One buffer holds all of them, so a hundred
/// thousand names need no allocation each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Arguments {
    /// Each argument and its NUL.
    bytes: Vec<u8>,
    /// Where in `bytes` each argument begins.
    starts: Vec<usize>,
}

impl Arguments {
    /// Creates an empty list.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an argument. C strings end at a NUL, so bytes from the first NUL on are left out. No
    /// file name and no argument of a program can contain one.
    pub fn push(&mut self, word: &[u8]) {
        let word = word.split(|byte| *byte == 0).next().unwrap_or_default();
        self.starts.push(self.bytes.len());
        self.bytes.extend_from_slice(word);
        self.bytes.push(0);
    }

    /// Returns the number of arguments.
    pub fn len(&self) -> usize {
        self.starts.len()
    }

    /// Returns whether there are no arguments.
    pub fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    /// Returns the argument at `index`, counted from 0.
    pub fn get(&self, index: usize) -> Option<&CStr> {
        let start = *self.starts.get(index)?;
        CStr::from_bytes_until_nul(self.bytes.get(start..)?).ok()
    }

    /// Returns the arguments, in order.
    pub fn iter(&self) -> impl Iterator<Item = &CStr> {
        (0..self.len()).filter_map(|index| self.get(index))
    }

    /// Removes all arguments from `len` on.
    pub fn truncate(&mut self, len: usize) {
        if let Some(end) = self.starts.get(len) {
            self.bytes.truncate(*end);
            self.starts.truncate(len);
        }
    }

    /// Adds the arguments of `other` in `range`.
    ///
    /// # Panics
    ///
    /// If the range ends after the last argument.
    pub fn extend(&mut self, other: &Self, range: Range<usize>) {
        range.for_each(|index| {
            let word = other.get(index).expect("a range of the words there are");
            self.push(word.to_bytes());
        });
    }

    /// Returns the bytes that the arguments take of the kernel's limit for a new program: each
    /// argument, its NUL and a pointer to it.
    pub fn size(&self) -> usize {
        self.bytes.len() + self.len() * size_of::<*const u8>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(arguments: &Arguments) -> Vec<&[u8]> {
        arguments.iter().map(CStr::to_bytes).collect()
    }

    #[test]
    fn words_come_back() {
        let mut arguments = Arguments::new();
        assert!(arguments.is_empty());
        for word in [&b"echo"[..], b"", b"\xff x", b"cut\0off"] {
            arguments.push(word);
        }
        assert_eq!(words(&arguments), [&b"echo"[..], b"", b"\xff x", b"cut"]);
        assert_eq!(arguments.size(), 5 + 1 + 4 + 4 + 4 * 8);
        assert_eq!(arguments.get(4), None);
    }

    #[test]
    fn words_are_forgotten_and_copied() {
        let mut arguments = Arguments::new();
        for word in [b"a", b"b", b"c", b"d"] {
            arguments.push(word);
        }
        let mut part = Arguments::new();
        part.push(b"first");
        part.extend(&arguments, 1..3);
        assert_eq!(words(&part), [&b"first"[..], b"b", b"c"]);
        arguments.truncate(9);
        assert_eq!(arguments.len(), 4);
        arguments.truncate(1);
        arguments.push(b"e");
        assert_eq!(words(&arguments), [b"a", b"e"]);
        assert_eq!(arguments.size(), 2 + 2 + 2 * 8);
    }
}
