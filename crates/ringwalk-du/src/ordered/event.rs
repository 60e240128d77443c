//! Events: the results of workers that need the order of the tree.

use ringwalk::Identity;

use crate::linked_files::LinkedFiles;
use crate::totals::Totals;

/// An event of a walk. Depths belong to the entry that an event is about: 0 for an operand.
#[derive(Debug)]
pub(crate) enum Event {
    /// A directory begins that counts once. It may have been seen before.
    Enter { depth: usize, identity: Identity },
    /// Some files of a directory, one after the other.
    Files {
        depth: usize,
        /// The lines of all of them.
        text: Vec<u8>,
        /// The files that count once.
        links: LinkedFiles,
    },
    /// Operands that are files and count each time.
    Operands(Totals),
    /// A directory ends.
    Leave(Box<Leave>),
}

/// The end of a directory.
#[derive(Debug)]
pub(crate) struct Leave {
    pub(crate) depth: usize,
    /// The totals of the directory itself and of its files that count each time. If its
    /// subdirectories have no events of their own, the files below them are included.
    pub(crate) totals: Totals,
    /// The files that count once. Used only if the subdirectories have no events of their own.
    pub(crate) links: LinkedFiles,
    /// The path. Empty if the directory has no line.
    pub(crate) path: Vec<u8>,
    /// The message about the failure to open the directory.
    pub(crate) complaint: Option<String>,
}
