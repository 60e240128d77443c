//! The current path. It is built from the path before, which mostly differs only in its end.
//!
//! A worker walks depth first, so the next directory is in one of those that the last path leads
//! through. Building a path from all its directories costs a tenth of a microsecond, most of it
//! cache misses.

use super::dir_state::DirState;
use ringwalk::Dir;

/// A path in a buffer, and the directories that it leads through.
#[derive(Debug, Default)]
pub(crate) struct PathBuffer {
    bytes: Vec<u8>,
    /// The directories: the number of each, and the length of its path with the slash behind it.
    directories: Vec<(u64, usize)>,
    root_len: usize,
}

impl PathBuffer {
    /// Turns to the names in `dir`, or to the starting points.
    pub(crate) fn enter(&mut self, dir: Option<&Dir<DirState>>) {
        let Some(dir) = dir else {
            self.directories.clear();
            return;
        };
        let number = dir.state().number;
        let above = dir.parent().map(|parent| parent.state().number);
        while let Some((last, len)) = self.directories.last() {
            if *last == number {
                return;
            }
            if Some(*last) == above {
                self.bytes.truncate(*len);
                self.bytes.extend_from_slice(dir.name());
                return self.push(number);
            }
            self.directories.pop();
        }
        dir.path_into(&mut self.bytes);
        let mut root = dir;
        while let Some(parent) = root.parent() {
            root = parent;
        }
        self.root_len = root.name().len();
        self.push(number);
    }

    fn push(&mut self, number: u64) {
        if !self.bytes.ends_with(b"/") {
            self.bytes.push(b'/');
        }
        self.directories.push((number, self.bytes.len()));
    }

    /// Returns the path of the directory and a slash, or nothing for starting points.
    pub(crate) fn prefix(&self) -> &[u8] {
        &self.bytes[..self.prefix_len()]
    }

    fn prefix_len(&self) -> usize {
        self.directories.last().map_or(0, |(_, len)| *len)
    }

    /// Appends `name` to the path of the directory.
    #[inline]
    pub(crate) fn set_name(&mut self, name: &[u8]) {
        let prefix = self.prefix_len();
        self.bytes.truncate(prefix);
        self.bytes.extend_from_slice(name);
        if prefix == 0 {
            self.root_len = name.len();
        }
    }

    /// Returns the path of the file.
    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the number of bytes of the path that are the starting point.
    pub(crate) fn root_len(&self) -> usize {
        self.root_len
    }
}
