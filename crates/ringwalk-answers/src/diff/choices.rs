//! Which of the two snapshots, and how renamed files are found.

/// One of the two snapshots.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Which {
    /// The older one.
    Old,
    /// The newer one.
    New,
}

impl Which {
    /// Returns `old` or `new`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Old => "old",
            Self::New => "new",
        }
    }
}

/// How renamed files are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Renames {
    /// By inode number and time of birth.
    #[default]
    Inode,
    /// Not at all: a renamed file is removed and added.
    Off,
}
