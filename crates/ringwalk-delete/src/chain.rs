//! The directories from the root to where the deletion is, and a few descriptors of them.
//!
//! A tree may be deeper than the number of descriptors. So only some directories of the chain are
//! open, 64 at most, and fewer if the system refuses more. When the deletion has come up to one
//! that was closed, the chain is opened again from the nearest open one above, name by name, and
//! each identity is compared again. `..` is never used: it would lead outside if the directory was
//! moved.
//!
//! ```text
//!   root ── 1 ── 2 ── 3 ── 4 ── 5 ── 6 ── 7 ── 8     open: root, 4, 6, 7, 8
//! ```
//!
//! The distances between open directories grow with the distance from the deepest one. So each
//! directory is opened again a few times at most. Deleting 5000 levels takes 13 389 openings with
//! 64 descriptors, and 49 698 with 6. With the deepest directories only, these are 197 816 and
//! 2 085 834.

use super::identity::Identity;
use super::reason::Reason;
use super::root::Root;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::io::Errno;

/// The most directories that are open, without the root.
const MOST_OPEN: usize = 64;

/// One directory of the chain.
struct Level {
    name: Vec<u8>,
    identity: Identity,
}

/// A directory of the chain could not be opened again.
pub(super) struct Lost {
    /// Its level: 0 lies directly in the root.
    pub(super) level: usize,
    pub(super) reason: Reason,
}

/// The way from the root to the current directory.
pub(super) struct Chain<'r> {
    root: &'r Root,
    levels: Vec<Level>,
    open: OpenLevels,
    /// The path of the current directory, for the log.
    path: Vec<u8>,
}

impl<'r> Chain<'r> {
    pub(super) fn new(root: &'r Root) -> Self {
        Self {
            root,
            levels: Vec::new(),
            open: OpenLevels {
                open: Vec::new(),
                most: MOST_OPEN,
            },
            path: root.path().as_os_str().as_encoded_bytes().to_vec(),
        }
    }

    pub(super) fn root(&self) -> &'r Root {
        self.root
    }

    /// Returns the number of directories below the root.
    pub(super) fn depth(&self) -> usize {
        self.levels.len()
    }

    /// Returns the path of a name in the current directory.
    pub(super) fn path_of(&self, name: &[u8]) -> Vec<u8> {
        let mut path = Vec::with_capacity(self.path.len() + 1 + name.len());
        path.extend_from_slice(&self.path);
        push_name(&mut path, name);
        path
    }

    /// Returns the current directory. Opens it again if it was closed.
    pub(super) fn current(&mut self) -> Result<BorrowedFd<'_>, Lost> {
        for level in self.open.next()..self.levels.len() {
            let Level { name, identity } = &self.levels[level];
            let opened = self.open.descend(self.root, name, *identity);
            opened.map_err(|reason| Lost { level, reason })?;
        }
        Ok(self.open.deepest(self.root))
    }

    /// Goes into a directory of the current one.
    pub(super) fn enter(
        &mut self,
        name: &[u8],
        identity: Identity,
    ) -> Result<Result<(), Reason>, Lost> {
        self.current()?;
        if let Err(reason) = self.open.descend(self.root, name, identity) {
            return Ok(Err(reason));
        }
        push_name(&mut self.path, name);
        self.levels.push(Level {
            name: name.to_owned(),
            identity,
        });
        Ok(Ok(()))
    }

    /// Goes up to the directory above.
    pub(super) fn leave(&mut self) {
        if let Some(level) = self.levels.pop() {
            self.open.close_from(self.levels.len());
            self.path.truncate(self.path.len() - level.name.len());
            // Removes the slash, unless the path is the root directory itself.
            if self.path.len() > 1 {
                self.path.pop();
            }
        }
    }

    /// Goes back to the root.
    pub(super) fn leave_all(&mut self) {
        while !self.levels.is_empty() {
            self.leave();
        }
    }
}

fn push_name(path: &mut Vec<u8>, name: &[u8]) {
    if path.last() != Some(&b'/') {
        path.push(b'/');
    }
    path.extend_from_slice(name);
}

/// The directories of a chain that are open.
struct OpenLevels {
    /// Levels and their descriptors, the deepest last.
    open: Vec<(usize, OwnedFd)>,
    most: usize,
}

impl OpenLevels {
    /// Returns the level below the deepest open one.
    fn next(&self) -> usize {
        self.open.last().map_or(0, |(level, _)| level + 1)
    }

    fn deepest<'f>(&'f self, root: &'f Root) -> BorrowedFd<'f> {
        self.open
            .last()
            .map_or_else(|| root.directory(), |(_, file)| file.as_fd())
    }

    /// Closes a level and those below.
    fn close_from(&mut self, level: usize) {
        while self.next() > level {
            self.open.pop();
        }
    }

    /// Opens a directory of the deepest open one.
    fn descend(&mut self, root: &Root, name: &[u8], identity: Identity) -> Result<(), Reason> {
        loop {
            let opened = root.enter(self.deepest(root), name, identity);
            let is_short_of_descriptors = matches!(
                opened,
                Err(Reason::Failed {
                    errno: Errno::MFILE | Errno::NFILE,
                    ..
                })
            );
            if is_short_of_descriptors && self.open.len() > 1 {
                // Other parts of the program need some, too: close half.
                self.most = self.open.len() / 2;
                self.close_surplus();
                continue;
            }
            self.open.push((self.next(), opened?));
            self.close_surplus();
            return Ok(());
        }
    }

    /// Closes the directories that are needed the least, but never the deepest one.
    fn close_surplus(&mut self) {
        while self.open.len() > self.most.max(1) {
            let levels: Vec<usize> = self.open.iter().map(|(level, _)| *level).collect();
            self.open.remove(least_needed(&levels));
        }
    }
}

/// Returns the place of the level whose closing makes the smallest gap, in proportion to the
/// distance from the deepest level.
fn least_needed(levels: &[usize]) -> usize {
    let Some((deepest, above)) = levels.split_last() else {
        return 0;
    };
    let mut best = (0, usize::MAX, 1);
    for (place, level) in above.iter().enumerate() {
        // The root counts as the level before 0, and is always open.
        let before = place.checked_sub(1).map_or(0, |before| levels[before] + 1);
        let gap = levels[place + 1] + 1 - before;
        let distance = deepest - level;
        // gap / distance < best gap / best distance. Levels are far from an overflow.
        if gap.saturating_mul(best.2) < best.1.saturating_mul(distance) {
            best = (place, gap, distance);
        }
    }
    best.0
}

#[cfg(test)]
mod tests {
    use super::least_needed;

    /// Goes down and up a tree with some descriptors, and returns how often directories are opened.
    fn opened(depth: usize, most: usize) -> usize {
        let mut open: Vec<usize> = Vec::new();
        let mut opened = 0;
        let mut reach = |open: &mut Vec<usize>, level: usize| {
            while open.last() != Some(&level) {
                open.push(open.last().map_or(0, |last| last + 1));
                opened += 1;
                if open.len() > most {
                    open.remove(least_needed(open));
                }
            }
        };
        reach(&mut open, depth - 1);
        for level in (0..depth).rev() {
            reach(&mut open, level);
            open.pop();
        }
        opened
    }

    #[test]
    fn each_directory_is_opened_a_few_times_only() {
        assert_eq!(opened(64, 64), 64);
        // If only the deepest ones were kept, these would be 200 000 and 2 000 000.
        assert!(opened(5000, 64) < 4 * 5000, "{}", opened(5000, 64));
        assert!(opened(5000, 6) < 20 * 5000, "{}", opened(5000, 6));
        assert!(opened(100_000, 64) < 5 * 100_000, "{}", opened(100_000, 64));
    }

    #[test]
    fn the_deepest_directory_stays_open() {
        assert_eq!(least_needed(&[0, 1, 2, 3]), 0);
        assert_eq!(least_needed(&[5, 9]), 0);
        // Closing 6 makes a gap of 2 at a distance of 4.
        assert_eq!(least_needed(&[1, 5, 6, 7, 10]), 2);
    }
}
