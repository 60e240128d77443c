//! The rule of du: which files count, and how often.
//!
//! The rule judges each file for all three users: the ordered lines of `ringwalk du`, the sum of
//! Python's `du`, and the sum over the inodes of a whole file system. To change how hard links are
//! charged, change [`Rule::charge`] and nothing else.
//!
//! | file reached again by | counts |
//! |---|---|
//! | another of its names (hard link) | once |
//! | another operand, or a followed symbolic link | once |
//! | any of these, with `count_links` (`-l`) | each time |
//! | a mount of a directory within itself | once, always |
//!
//! A file that counts once counts the first time that it is reached. A sum of everything does not
//! depend on the order. Ordered lines are charged in the order of a depth-first walk
//! (`ordered/totals.rs`).
//!
//! `docs/architecture.md` lists what else counts a file with several names once, and why.

use std::ffi::CStr;

use ringwalk::{Batch, Entry, Errno, FileType, Follow, Metadata, Stay};
use rustix::fs::{AtFlags, CWD, statat};

use crate::location::{Located, lies_within_itself};
use crate::seen_inodes::SeenInodes;

/// The options that decide which files count.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rule {
    follow: Follow,
    one_file_system: bool,
    count_links: bool,
    several_operands: bool,
    /// Operands that are files with one link. Only another operand can reach them again.
    pub(crate) operand_files: SeenInodes,
}

/// The answer of [`Rule::judge`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The file counts.
    Counts(Charge),
    /// The file does not count, and the walk does not enter it.
    LeftOut,
    /// A symbolic link was to be followed and leads nowhere. This is an error of the user's tree.
    LeadsNowhere,
}

/// How often a file counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Charge {
    /// Each time that it is reached.
    EachTime,
    /// The first time that it is reached. The adapter keeps the set of seen inodes.
    Once,
}

impl Rule {
    /// Returns the rule for one operand whose links are followed as `follow` says.
    pub fn new(follow: Follow) -> Self {
        Self {
            follow,
            ..Self::default()
        }
    }

    /// Sets whether only files on the device of their operand count (`-x`).
    pub fn one_file_system(mut self, one_file_system: bool) -> Self {
        self.one_file_system = one_file_system;
        self
    }

    /// Sets whether a file counts each time that it is reached (`-l`).
    pub fn count_links(mut self, count_links: bool) -> Self {
        self.count_links = count_links;
        self
    }

    /// Sets whether there are several operands. One of them may then lie within another.
    pub fn several_operands(mut self, several_operands: bool) -> Self {
        self.several_operands = several_operands;
        self
    }

    /// Returns which symbolic links are followed.
    pub fn follow(&self) -> Follow {
        self.follow
    }

    /// Returns true if a file counts each time that it is reached.
    pub(crate) fn counts_links(&self) -> bool {
        self.count_links
    }

    /// Returns how often a file counts.
    #[inline]
    pub(crate) fn charge(&self, file: &Metadata) -> Charge {
        if self.count_links {
            return Charge::EachTime;
        }
        let is_directory = file.file_type() == FileType::Directory;
        let is_reached_again = self.follow == Follow::Always
            || (is_directory && self.several_operands)
            || (!is_directory && file.nlink().is_some_and(|links| links > 1))
            || (!self.operand_files.is_empty() && self.is_operand(file));
        if is_reached_again {
            Charge::Once
        } else {
            Charge::EachTime
        }
    }

    /// Returns how often a file counts in a sum over the inodes of a whole file system, where each
    /// file appears once, with all its names.
    pub(crate) fn times(&self, file: &Metadata) -> u64 {
        match self.charge(file) {
            Charge::Once => 1,
            // A directory has one name: its other links come from its subdirectories.
            Charge::EachTime if file.file_type() == FileType::Directory => 1,
            Charge::EachTime => u64::from(file.nlink().expect("a sweep reads whole inodes")),
        }
    }

    /// Judges an entry of a walk. The adapter prunes entries that do not count.
    #[inline]
    pub fn judge<S: Located>(&self, batch: &Batch<'_, S>, found: &Metadata) -> Verdict {
        if found.file_type() == FileType::Symlink && self.follows(batch) {
            return Verdict::LeadsNowhere;
        }
        if let Some(dir) = batch.dir() {
            if self.one_file_system && found.dev() != dir.state().location().device {
                return Verdict::LeftOut;
            }
            // Left out without an error: a tree without an end has no size.
            if lies_within_itself(dir, found, self.follow == Follow::Always) {
                return Verdict::LeftOut;
            }
        }
        Verdict::Counts(self.charge(found))
    }

    /// Returns true if the links of this batch are followed.
    fn is_operand(&self, file: &Metadata) -> bool {
        let identity = file.identity();
        identity.is_some_and(|identity| self.operand_files.contains(identity))
    }

    fn follows<S>(&self, batch: &Batch<'_, S>) -> bool {
        match self.follow {
            Follow::Never => false,
            Follow::CommandLine => batch.dir().is_none(),
            Follow::Always => true,
        }
    }

    /// Returns true if a directory can be reached again and counts once.
    pub(crate) fn directories_count_once(&self) -> bool {
        !self.count_links && !self.is_one_tree()
    }

    /// Returns true if directories must be compared with the seen ones when the walk enters them,
    /// since links lead back into the tree and the walk would not end otherwise in useful time.
    pub(crate) fn compares_at_entry(&self) -> bool {
        !self.count_links && self.follow == Follow::Always
    }

    /// Returns true if nothing can be reached again but by another of its names.
    pub(crate) fn is_one_tree(&self) -> bool {
        !self.several_operands && self.follow != Follow::Always
    }

    /// Returns where a walk does not go on.
    pub fn stay(&self) -> Stay {
        if self.one_file_system {
            Stay::Device
        } else {
            Stay::Anywhere
        }
    }
}

/// Returns the reason why a symbolic link that was to be followed leads nowhere.
pub(crate) fn why_nowhere<S>(batch: &Batch<'_, S>, entry: &Entry<'_, S>) -> Errno {
    // The target may exist by now. The entry was still read without it.
    look(batch, entry.c_name()).err().unwrap_or(Errno::NOENT)
}

fn look<S>(batch: &Batch<'_, S>, name: &CStr) -> Result<(), Errno> {
    let fd = batch.fd().map_err(|error| error.errno())?.unwrap_or(CWD);
    statat(fd, name, AtFlags::NO_AUTOMOUNT).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ringwalk::{Fields, Identity};

    fn file(mode: u32, nlink: u32) -> Metadata {
        let mut file = Metadata::default();
        file.set_file_type(FileType::from_mode(mode));
        file.set_nlink(nlink);
        file.set_dev(1);
        file.set_ino(7);
        file
    }

    const REGULAR: u32 = 0o100_644;
    const DIRECTORY: u32 = 0o040_755;

    #[test]
    fn a_file_with_several_names_counts_once() {
        let rule = Rule::new(Follow::Never);
        assert_eq!(rule.charge(&file(REGULAR, 1)), Charge::EachTime);
        assert_eq!(rule.charge(&file(REGULAR, 2)), Charge::Once);
        assert_eq!(rule.times(&file(REGULAR, 3)), 1);
        assert_eq!(rule.charge(&file(DIRECTORY, 9)), Charge::EachTime);
        assert_eq!(rule.times(&file(DIRECTORY, 9)), 1);
    }

    /// Nothing in a saved tree without numbers of links is known to have a second name.
    #[test]
    fn a_file_whose_number_of_links_is_not_known_counts_each_time() {
        let mut file = file(REGULAR, 2);
        file.retain(Fields::TYPE | Fields::INO);
        assert_eq!(Rule::new(Follow::Never).charge(&file), Charge::EachTime);
    }

    #[test]
    fn with_count_links_each_name_counts() {
        let rule = Rule::new(Follow::Always)
            .several_operands(true)
            .count_links(true);
        for mode in [REGULAR, DIRECTORY] {
            assert_eq!(rule.charge(&file(mode, 3)), Charge::EachTime);
        }
        assert_eq!(rule.times(&file(REGULAR, 3)), 3);
        assert_eq!(rule.times(&file(DIRECTORY, 3)), 1);
        assert!(!rule.directories_count_once() && !rule.compares_at_entry());
    }

    #[test]
    fn followed_links_reach_everything_again() {
        let rule = Rule::new(Follow::Always);
        for mode in [REGULAR, DIRECTORY] {
            assert_eq!(rule.charge(&file(mode, 1)), Charge::Once);
        }
        assert!(rule.directories_count_once() && rule.compares_at_entry());
        let rule = Rule::new(Follow::CommandLine);
        assert_eq!(rule.charge(&file(REGULAR, 1)), Charge::EachTime);
    }

    #[test]
    fn operands_reach_directories_and_operands_again() {
        let mut rule = Rule::new(Follow::Never).several_operands(true);
        assert_eq!(rule.charge(&file(DIRECTORY, 2)), Charge::Once);
        assert_eq!(rule.charge(&file(REGULAR, 1)), Charge::EachTime);
        rule.operand_files.insert(Identity { dev: 1, ino: 7 });
        assert_eq!(rule.charge(&file(REGULAR, 1)), Charge::Once);
        assert!(rule.directories_count_once() && !rule.compares_at_entry());
    }
}
