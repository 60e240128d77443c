//! The sources of this version by name: one row each.
//!
//! Everything that names sources derives from these rows, or a test compares it with them: values
//! and help of `--source`, completions, the C library, the Python package, `ringwalk doctor`, the
//! man page, and the table of `docs/sources.md`. `ways.rs` says how each is opened.

use std::ffi::CStr;
use std::fmt;
use std::str::FromStr;

/// One source.
struct Row {
    /// The name that users type.
    name: &'static CStr,
    /// One line on what the source reads.
    help: &'static str,
    needs: SourceNeeds,
    /// Types of file systems, as in the mount table, that the source reads past the VFS.
    file_systems: &'static [&'static str],
}

/// Defines [`SourceChoice`] and the row of each variant.
macro_rules! sources {
    ($($(#[$meta:meta])* $variant:ident: $row:expr;)*) => {
        /// Which source a walk reads from.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum SourceChoice {
            $($(#[$meta])* $variant,)*
            /// Many directories at once, completed in any order, names and metadata together.
            #[cfg(test)]
            Shuffled,
            /// As `Module`, of a kernel that is not there.
            #[cfg(test)]
            Emulated(&'static crate::sources::Behaviour),
        }

        impl SourceChoice {
            /// All sources of this version, in the order in which lists show them.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            fn row(self) -> &'static Row {
                match self {
                    $(Self::$variant => {
                        static ROW: Row = $row;
                        &ROW
                    })*
                    #[cfg(test)]
                    Self::Shuffled | Self::Emulated(_) => &FOR_TESTS,
                }
            }
        }
    };
}

sources! {
    /// The cheapest that is allowed and right for the file system at hand.
    #[default]
    Auto: Row {
        name: c"auto",
        help: "the cheapest source that this kernel, user and file system allow",
        needs: SourceNeeds::Nothing,
        file_systems: &[],
    };
    /// Plain system calls, on any kernel, without privileges.
    Syscall: Row {
        name: c"syscall",
        help: "plain system calls, which always work",
        needs: SourceNeeds::Nothing,
        file_systems: &[],
    };
    /// Names and metadata of whole batches by the kernel module `ringwalk`.
    Module: Row {
        name: c"module",
        help: "names and metadata together by the kernel module",
        needs: SourceNeeds::Module,
        file_systems: &[],
    };
    /// Names and metadata of whole batches by operations of `io_uring`, in a kernel that has them.
    Ring: Row {
        name: c"ring",
        help: "names and metadata together by operations of io_uring",
        needs: SourceNeeds::PatchedKernel,
        file_systems: &[],
    };
    /// Inode tables and directory blocks of ext2, ext3 or ext4 from the block device, which must be
    /// readable.
    Ext4: Row {
        name: c"ext4",
        help: "inode tables and directories of ext2, ext3 or ext4 from the block device",
        needs: SourceNeeds::BlockDevice,
        file_systems: &["ext4", "ext3", "ext2"],
    };
    /// BULKSTAT of XFS, for metadata; needs `CAP_SYS_ADMIN`.
    Xfs: Row {
        name: c"xfs",
        help: "metadata of XFS by BULKSTAT",
        needs: SourceNeeds::SysAdmin,
        file_systems: &["xfs"],
    };
    /// `TREE_SEARCH_V2` of btrfs; needs `CAP_SYS_ADMIN`.
    Btrfs: Row {
        name: c"btrfs",
        help: "names and metadata of btrfs by tree search",
        needs: SourceNeeds::SysAdmin,
        file_systems: &["btrfs"],
    };
}

/// Sources for tests only.
#[cfg(test)]
static FOR_TESTS: Row = Row {
    name: c"test",
    help: "",
    needs: SourceNeeds::Nothing,
    file_systems: &[],
};

/// The requirements of a source besides read permission on the directories.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceNeeds {
    /// Nothing.
    Nothing,
    /// The kernel module, and read access to its device.
    Module,
    /// A kernel with the patches of this project.
    PatchedKernel,
    /// Read access to the block device of the file system.
    BlockDevice,
    /// The capability `CAP_SYS_ADMIN`.
    SysAdmin,
}

impl fmt::Display for SourceNeeds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Nothing => "nothing",
            Self::Module => "the kernel module, and read access to /dev/ringwalk",
            Self::PatchedKernel => "a kernel with the patches",
            Self::BlockDevice => "read access to the block device",
            Self::SysAdmin => "CAP_SYS_ADMIN",
        })
    }
}

/// Why a source cannot read a block device, and the remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceProblem {
    /// The problem.
    pub problem: String,
    /// The remedy for the user.
    pub remedy: &'static str,
}

impl SourceChoice {
    /// Returns the name that [`from_str`](Self::from_str) accepts.
    pub fn as_str(self) -> &'static str {
        self.as_c_str().to_str().unwrap_or_default()
    }

    /// Returns the same name, ended by NUL.
    pub fn as_c_str(self) -> &'static CStr {
        self.row().name
    }

    /// Returns the names of all sources.
    pub fn names() -> impl Iterator<Item = &'static str> {
        Self::ALL.iter().map(|source| source.as_str())
    }

    /// Returns one line on what the source reads.
    pub fn help(self) -> &'static str {
        self.row().help
    }

    /// Returns the requirements of the source.
    pub fn needs(self) -> SourceNeeds {
        self.row().needs
    }

    /// Returns the types of the file systems that the source reads, as in the mount table. Empty if
    /// it reads all types.
    pub fn file_systems(self) -> &'static [&'static str] {
        self.row().file_systems
    }
}

/// The error for a name that no source of this version has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownSource(String);

impl fmt::Display for UnknownSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = SourceChoice::names().collect();
        write!(
            f,
            "no source {:?} in this version; there are: {}",
            self.0,
            names.join(", ")
        )
    }
}

impl std::error::Error for UnknownSource {}

impl FromStr for SourceChoice {
    type Err = UnknownSource;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let mut all = Self::ALL.iter().copied();
        all.find(|known| known.as_str() == name)
            .ok_or_else(|| UnknownSource(name.to_owned()))
    }
}

impl fmt::Display for SourceChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    //! Unit tests of `registry.rs`: rows, and the texts that list sources.

    use super::*;

    #[test]
    fn every_name_reads_back_as_itself() {
        for source in SourceChoice::ALL.iter().copied() {
            assert_eq!(source.as_str().parse(), Ok(source));
            assert!(!source.as_str().is_empty() && !source.help().is_empty());
        }
        for name in ["SYSCALL", "", "rings", "test"] {
            let error = name.parse::<SourceChoice>().unwrap_err().to_string();
            assert!(error.contains(&format!("{name:?}")), "{error}");
            for known in SourceChoice::names() {
                assert!(error.contains(known), "{error}");
            }
        }
    }

    #[test]
    fn no_two_rows_are_the_same() {
        let sources = || SourceChoice::ALL.iter().copied();
        for (index, source) in sources().enumerate() {
            for other in sources().skip(index + 1) {
                assert_ne!(source.as_str(), other.as_str());
                let shares = |name| other.file_systems().contains(name);
                assert!(!source.file_systems().iter().any(shares));
            }
        }
    }

    /// Returns the cells of the row that has `name` in its first column.
    fn cells<'t>(text: &'t str, name: &str) -> Vec<&'t str> {
        let begin = format!("| `{name}` |");
        let mut rows = text.lines().filter(|line| line.starts_with(&begin));
        let row = rows.next().unwrap_or_else(|| panic!("no row of {name}"));
        row.trim_matches('|').split('|').map(str::trim).collect()
    }

    #[test]
    fn the_table_of_the_documentation_has_every_source() {
        let text = include_str!("../../../../docs/sources.md");
        for source in SourceChoice::ALL.iter().copied() {
            if source == SourceChoice::Auto {
                continue;
            }
            let cells = cells(text, source.as_str());
            let plain = |cell: &str| cell.replace('`', "");
            assert!(plain(cells[3]).starts_with(&source.needs().to_string()));
            if source.file_systems().is_empty() {
                assert_eq!(cells[2], "all");
            }
            for file_system in source.file_systems() {
                assert!(cells[2].to_lowercase().contains(file_system));
            }
        }
        let begins = |line: &&str| line.starts_with("| `") && line.contains("` |");
        let table = text
            .split("\n\n")
            .find(|part| part.contains("| `syscall` |"));
        let rows = table.unwrap().lines().filter(begins).count();
        assert_eq!(rows, SourceChoice::ALL.len() - 1, "rows of other sources");
    }
}
