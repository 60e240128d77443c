//! A saved tree that is searched in place of the live file system: `--from`.

use ringwalk::{Fields, SavedTree};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::sync::Arc;

/// A saved tree, and what was saved beside its files.
pub struct SavedSearch {
    /// The tree.
    pub tree: Arc<dyn SavedTree>,
    /// The paths of its roots: the starting points if none is given.
    pub roots: Vec<OsString>,
    /// The names of users by their numbers.
    pub users: BTreeMap<u32, Vec<u8>>,
    /// The names of groups by their numbers.
    pub groups: BTreeMap<u32, Vec<u8>>,
    /// True if the names of all users and groups are known that have one.
    pub knows_names: bool,
    /// The types of file systems, by the mount ids in the metadata of the tree.
    pub file_systems: BTreeMap<u64, Vec<u8>>,
    /// True if the type of each file system is known.
    pub knows_types: bool,
}

/// Opens the saved tree with a name that the user gave, or returns a message about the failure.
pub type OpenSaved = fn(&OsStr) -> Result<Arc<SavedSearch>, String>;

impl fmt::Debug for SavedSearch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SavedSearch")
            .field("tree", &self.tree.describe())
            .field("roots", &self.roots)
            .finish_non_exhaustive()
    }
}

impl SavedSearch {
    /// Returns the number of the account with this name among `names`.
    pub(crate) fn number_of(names: &BTreeMap<u32, Vec<u8>>, name: &[u8]) -> Option<u32> {
        let mut found = names.iter().filter(|(_, known)| *known == name);
        found.next().map(|(number, _)| *number)
    }

    /// Returns the name of the first of these fields that is known of no file.
    pub(crate) fn missing(&self, fields: Fields) -> Option<&'static str> {
        let missing = fields - self.tree.fields();
        let mut names = NAMES.iter().filter(|(field, _)| missing.contains(*field));
        names.next().map(|(_, name)| *name)
    }
}

/// The names of fields in messages.
const NAMES: [(Fields, &str); 13] = [
    (Fields::TYPE, "types of files"),
    (Fields::MODE, "permissions"),
    (Fields::NLINK, "numbers of links"),
    (Fields::UID, "owners"),
    (Fields::GID, "groups"),
    (Fields::ATIME, "times of access"),
    (Fields::MTIME, "times of modification"),
    (Fields::CTIME, "times of change"),
    (Fields::INO, "inode numbers"),
    (Fields::SIZE, "sizes"),
    (Fields::BLOCKS, "allocated sizes"),
    (Fields::BTIME, "times of birth"),
    (Fields::MNT_ID, "file systems"),
];
