//! The patterns of `--exclude` and `--exclude-from`.
//!
//! A pattern leaves a file out if it matches the path of the file as du would print it, or any part
//! of that path that follows a slash. A directory that is left out is not read.

use std::collections::HashSet;
use std::io;

use super::number::is_space;
use ringwalk_gnu::glob::Glob;
use ringwalk_gnu::locale::utf8;

/// A set of patterns.
#[derive(Clone, Debug, Default)]
pub(crate) struct Exclude {
    /// Patterns without wildcards, unescaped.
    texts: HashSet<Vec<u8>>,
    globs: Vec<Glob>,
}

impl Exclude {
    /// Adds one pattern.
    pub(crate) fn add(&mut self, pattern: &[u8]) {
        if has_wildcards(pattern) {
            self.globs.push(Glob::new(pattern, utf8()));
        } else {
            self.texts.insert(unescaped(pattern));
        }
    }

    /// Adds the patterns of a file, which has one a line. Spaces at the end of a line are no part
    /// of its pattern. Empty lines are no patterns.
    ///
    /// # Errors
    /// The errors of reading.
    pub(crate) fn add_lines(&mut self, mut from: impl io::Read) -> io::Result<()> {
        let mut text = Vec::new();
        from.read_to_end(&mut text)?;
        for line in text.split(|byte| *byte == b'\n') {
            let spaces = line.iter().rev().take_while(|b| is_space(**b)).count();
            if spaces < line.len() {
                self.add(&line[..line.len() - spaces]);
            }
        }
        Ok(())
    }

    /// Returns true if there are no patterns.
    pub(crate) fn is_empty(&self) -> bool {
        self.texts.is_empty() && self.globs.is_empty()
    }

    /// Returns true if the file at `path` is left out.
    pub(crate) fn matches(&self, path: &[u8]) -> bool {
        let mut tail = path;
        loop {
            if self.texts.contains(tail) {
                return true;
            }
            // A wildcard pattern does not match from the second of two slashes within a path.
            let within = tail.len() < path.len();
            if !(within && tail.first() == Some(&b'/'))
                && self.globs.iter().any(|glob| glob.matches(tail))
            {
                return true;
            }
            match tail.iter().position(|byte| *byte == b'/') {
                Some(slash) => tail = &tail[slash + 1..],
                None => return false,
            }
        }
    }
}

fn has_wildcards(pattern: &[u8]) -> bool {
    let mut bytes = pattern.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' => {
                bytes.next();
            }
            b'*' | b'?' | b'[' => return true,
            _ => {}
        }
    }
    false
}

fn unescaped(pattern: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(pattern.len());
    let mut bytes = pattern.iter();
    while let Some(byte) = bytes.next() {
        out.push(match byte {
            b'\\' => *bytes.next().unwrap_or(byte),
            _ => *byte,
        });
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn excluded(pattern: &str, path: &str) -> bool {
        let mut exclude = Exclude::default();
        exclude.add(pattern.as_bytes());
        exclude.matches(path.as_bytes())
    }

    #[test]
    fn texts() {
        assert!(excluded("b", "b"));
        assert!(excluded("b", "a/b"));
        assert!(excluded("a/b", "x/a/b"));
        assert!(excluded("/a", "/a"));
        assert!(!excluded("b", "a/bc"));
        assert!(!excluded("b", "b/c"));
        assert!(!excluded("a", "a/"));
        assert!(!excluded("b/", "a/b"));
        assert!(excluded("\\*", "a/*"));
        assert!(excluded("\\b", "a/b"));
        assert!(excluded("b\\", "a/b\\"));
    }

    #[test]
    fn wildcards() {
        assert!(excluded("*.o", "a/b.o"));
        assert!(excluded("a*", "a/b/c"));
        assert!(excluded("b?c", "a/b/c"));
        assert!(!excluded("b*", "ab"));
        assert!(excluded("[bc]", "a/b"));
    }

    #[test]
    fn files() {
        let mut exclude = Exclude::default();
        exclude.add_lines(&b"a \t\n\n  \nb c\n*.o"[..]).unwrap();
        assert!(exclude.matches(b"x/a"));
        assert!(exclude.matches(b"x/b c"));
        assert!(exclude.matches(b"x.o"));
        assert!(!exclude.matches(b"x/"));
        assert!(Exclude::default().is_empty());
    }
}
