//! What the caller gives and receives.

use super::reason::Reason;
use super::roots::Roots;
use ringwalk_delete::TrashOptions;
use ringwalk_hash::FileVersion;

/// Files that had equal contents when they were read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// The file that stays. It is never changed, under none of its names.
    pub keep: File,
    /// The other files, each another inode.
    pub others: Vec<File>,
}

/// A regular file, as the search saw it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Its name.
    pub name: Name,
    /// Further names of the same inode that the action may change, too. A name that must stay, or
    /// is not known, is not among them.
    pub more_names: Vec<Name>,
    /// Its version when it was read.
    pub version: FileVersion,
}

impl Group {
    /// Takes a group that the search has found. The file to keep is the first live one. Files in
    /// references and files of snapshots are not among the others. For [`Action::Trash`], files in
    /// a trash are not among them either. `None` if no live file is left, or none that may be
    /// changed.
    pub fn of(found: &crate::Group, roots: &Roots, action: Action) -> Option<Self> {
        let mut live = found.copies.iter().filter(|copy| copy.snapshot.is_none());
        let keep = File::of(live.next()?, roots)?;
        let is_there = |copy: &crate::Copy| action == Action::Trash && copy.is_trash;
        let others = live.filter(|copy| !copy.is_reference && !is_there(copy));
        let others: Vec<File> = others.filter_map(|copy| File::of(copy, roots)).collect();
        (!others.is_empty()).then_some(Self { keep, others })
    }
}

impl File {
    fn of(copy: &crate::Copy, roots: &Roots) -> Option<Self> {
        let mut names = copy.names.iter().filter_map(|name| {
            Some(Name {
                root: roots.number(name.root())?,
                path: name.below().to_vec(),
            })
        });
        Some(Self {
            name: names.next()?,
            more_names: names.collect(),
            version: copy.version,
        })
    }

    /// Returns all names.
    pub fn names(&self) -> impl Iterator<Item = &Name> {
        std::iter::once(&self.name).chain(&self.more_names)
    }
}

/// A name of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// Number of the root in [`Roots`].
    pub root: usize,
    /// Path below the root. Empty if the root is the file.
    pub path: Vec<u8>,
}

/// What is done with the other files of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// They share the blocks of the file to keep. All files stay.
    Dedupe,
    /// They become names of the file to keep.
    Hardlink,
    /// Their names are removed.
    Delete,
    /// They are moved to the trash.
    Trash,
}

impl Action {
    /// Returns the word of the command line and of the log.
    pub fn word(self) -> &'static str {
        match self {
            Self::Dedupe => "dedupe",
            Self::Hardlink => "hardlink",
            Self::Delete => "delete",
            Self::Trash => "trash",
        }
    }
}

/// What to do, and where to.
#[derive(Clone, Debug)]
pub struct Settings {
    /// What is done.
    pub action: Action,
    /// The trash, for [`Action::Trash`].
    pub trash: TrashOptions,
}

/// A name that something was done with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Done {
    /// Number of the group in the call.
    pub group: usize,
    /// Number of the file in [`Group::others`].
    pub file: usize,
    /// Number of the name in [`File::names`]. `Dedupe` concerns all names, and says 0.
    pub name: usize,
}

/// Receives results while groups are worked on.
///
/// Each name is reported once, unless the work is cancelled or the log fails.
pub trait Observer {
    /// The action is done. `freed`: bytes that the file system got back. A name that is not the
    /// last one of its file frees none, and neither does a move to the trash.
    fn done(&mut self, what: Done, freed: u64);

    /// The name was left as it was, or as another program made it. The reason is text for the user.
    fn kept(&mut self, what: Done, reason: &Reason);

    /// Returns true if the work must stop. Called before each file.
    fn cancelled(&mut self) -> bool;
}

/// What was done, in numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Names with which the action was done.
    pub done: u64,
    /// Bytes that file systems got back.
    pub freed: u64,
    /// True if the file systems may have freed more than `freed`: files may have shared blocks with
    /// others.
    pub may_be_more: bool,
    /// True if they may have freed less: of some files it is not known whether they shared blocks.
    pub may_be_less: bool,
    /// Names that were kept.
    pub kept: u64,
    /// True if the observer ended the work before it was complete.
    pub is_cancelled: bool,
}
