//! Files with several hard links: which name is charged, and which directory holds all names.
//!
//! This is the rule "A file with several names counts once" of `docs/architecture.md`, for rows in
//! their order.

use super::pack::{Unpacked, Unpacker};
use super::sorter::{Sorted, Sorter};
use super::stage::Staged;
use ringwalk::identity::InodeHasher;
use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::io;

/// What is known of a file with several links.
#[derive(Clone, Copy, Debug)]
struct Link {
    /// The number of names seen.
    seen: u32,
    /// The rank of the directory of the first name.
    first: u64,
}

/// Decides about names of files with several links. Names come in the order of the rows.
///
/// A directory has a *rank*, from 1. The rank is larger than the ranks of all directories that were
/// entered before. 0 stands for no directory: the name is a root.
pub(super) enum Links<'s> {
    Table(Table),
    Sorted(SortedLinks<'s>),
}

/// What one more name of a file with several links means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Name {
    /// True if it is the first name.
    pub(super) is_first: bool,
    /// The depth of the lowest open directory below which all names lie. `None` as long as some
    /// names are missing, or if there is no such directory.
    pub(super) all_below: Option<usize>,
}

impl Name {
    /// `first` is the rank of the directory of the first name, if this is the last name.
    fn new(is_first: bool, first: Option<u64>, open: &[u64]) -> Self {
        // In the order of the rows, the lowest directory that holds the first and the last name
        // holds all names. The directory of the first name was entered after all open directories
        // with smaller ranks, and while they were open: the last of them is the one.
        let depth = |first| open.partition_point(|rank| *rank <= first).checked_sub(1);
        Self {
            is_first,
            all_below: first.and_then(depth),
        }
    }
}

impl<'s> Links<'s> {
    /// Creates a table, if it takes at most `memory` bytes for the links that are staged. Otherwise
    /// goes through all names, and sorts them.
    pub(super) fn new(staged: &'s Staged, memory: usize) -> io::Result<Self> {
        let needed = usize::try_from(staged.links).unwrap_or(usize::MAX);
        if needed.saturating_mul(Table::BYTES) <= memory {
            return Ok(Self::Table(Table::default()));
        }
        Ok(Self::Sorted(SortedLinks::new(staged, memory)?))
    }

    /// Notes one more name of a file, in the directory at the top of `open`. `open` has the ranks
    /// of the open directories, from the root.
    pub(super) fn add(&mut self, file: (u64, u64), nlink: u32, open: &[u64]) -> io::Result<Name> {
        match self {
            Self::Table(table) => Ok(table.add(file, nlink, open)),
            Self::Sorted(sorted) => sorted.next(open),
        }
    }
}

/// The files with several links that have been seen, by device and inode number.
#[derive(Debug, Default)]
pub(super) struct Table {
    seen: HashMap<(u64, u64), Link, BuildHasherDefault<InodeHasher>>,
}

impl Table {
    /// Bytes of a file. A table that grows is twice in memory.
    const BYTES: usize = 2 * size_of::<((u64, u64), Link)>();

    fn add(&mut self, file: (u64, u64), nlink: u32, open: &[u64]) -> Name {
        let top = open.last().copied().unwrap_or_default();
        let link = self.seen.entry(file).or_insert(Link {
            seen: 0,
            first: top,
        });
        link.seen += 1;
        let first = (link.seen == nlink).then_some(link.first);
        Name::new(link.seen == 1, first, open)
    }
}

/// What each name means, in the order of the names.
///
/// The names are sorted by file and position. There the first and the last name of a file are
/// found. Then they are sorted by position.
pub(super) struct SortedLinks<'s> {
    answers: Sorted<'s, 2>,
    position: u64,
}

impl<'s> SortedLinks<'s> {
    fn new(staged: &'s Staged, memory: usize) -> io::Result<Self> {
        let mut names = Sorter::new(&staged.spill, memory / 2);
        let mut position = 0;
        each_link(staged, |(device, inode), nlink, rank| {
            names.push([device, inode, position, rank, nlink.into()])?;
            position += 1;
            Ok(())
        })?;
        let mut names = names.into_sorted()?;
        let mut answers = Sorter::new(&staged.spill, memory / 4);
        let mut file = None;
        let (mut seen, mut first) = (0, 0);
        while let Some([device, inode, position, rank, nlink]) = names.next()? {
            if file != Some((device, inode)) {
                file = Some((device, inode));
                (seen, first) = (0, rank);
            }
            seen += 1;
            let holder = if seen == nlink { first } else { 0 };
            answers.push([position, holder << 1 | u64::from(seen == 1)])?;
        }
        drop(names);
        Ok(Self {
            answers: answers.into_sorted()?,
            position: 0,
        })
    }

    fn next(&mut self, open: &[u64]) -> io::Result<Name> {
        match self.answers.next()? {
            Some([position, answer]) if position == self.position => {
                self.position += 1;
                Ok(Name::new(answer & 1 == 1, Some(answer >> 1), open))
            }
            _ => Err(io::Error::other("the names of a file have changed")),
        }
    }
}

/// Calls `each` with every name of a file with several links, in the order of the rows: with the
/// file, the number of its links, and the rank of the directory.
fn each_link(
    staged: &Staged,
    mut each: impl FnMut((u64, u64), u32, u64) -> io::Result<()>,
) -> io::Result<()> {
    let mut next_rank = 1;
    staged.listing(0, 0)?.entries(|roots| {
        let mut unpacker = Unpacker::default();
        while let Some(root) = unpacker.next(roots) {
            let mut frames = Vec::new();
            if let Some(child) = root.child {
                frames.push((staged.listing(child, 0)?, next_rank));
                next_rank += 1;
            }
            while let Some((listing, _)) = frames.last_mut() {
                if let Some(child) = listing.next_child(|_| ())? {
                    frames.push((staged.listing(child, 0)?, next_rank));
                    next_rank += 1;
                } else if let Some((listing, rank)) = frames.pop() {
                    listing.entries(|entries| {
                        let mut unpacker = Unpacker::default();
                        while let Some(entry) = unpacker.next(entries) {
                            note(&entry, rank, &mut each)?;
                        }
                        Ok(())
                    })?;
                }
            }
            note(&root, 0, &mut each)?;
        }
        Ok(())
    })
}

fn note(
    entry: &Unpacked<'_>,
    rank: u64,
    each: &mut impl FnMut((u64, u64), u32, u64) -> io::Result<()>,
) -> io::Result<()> {
    match entry.link() {
        Some((file, nlink)) => each(file, nlink, rank),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_directory_that_holds_all_names() {
        let mut links = Table::default();
        // Root 0 with a (1), a/b (2), a/c (3) and d (4).
        let first = links.add((1, 5), 3, &[0, 1, 2]);
        assert_eq!((first.is_first, first.all_below), (true, None));
        let second = links.add((1, 5), 3, &[0, 1, 3]);
        assert_eq!((second.is_first, second.all_below), (false, None));
        assert_eq!(links.add((1, 5), 3, &[0, 1]).all_below, Some(1));
        assert_eq!(links.add((2, 5), 2, &[0, 1, 3]).all_below, None);
        assert_eq!(links.add((2, 5), 2, &[0, 4]).all_below, Some(0));
        assert_eq!(links.add((3, 5), 2, &[0, 4]).all_below, None);
        assert_eq!(links.add((3, 5), 2, &[0, 4]).all_below, Some(1));
    }

    #[test]
    fn names_in_other_roots_and_roots_have_no_directory_in_common() {
        let mut links = Table::default();
        links.add((1, 5), 2, &[1, 2]);
        assert_eq!(links.add((1, 5), 2, &[3]).all_below, None);
        // The first name is a root.
        links.add((1, 6), 2, &[]);
        assert_eq!(links.add((1, 6), 2, &[4]).all_below, None);
        links.add((1, 7), 2, &[5]);
        assert_eq!(links.add((1, 7), 2, &[]).all_below, None);
    }

    #[test]
    fn names_of_other_devices_are_of_other_files() {
        let mut links = Table::default();
        assert!(links.add((1, 5), 2, &[0]).is_first);
        assert!(links.add((2, 5), 2, &[0]).is_first);
        assert!(!links.add((1, 5), 2, &[0]).is_first);
    }
}
